//! Values in force in a process, told by the functions of [`Settings`] that the module is made with.

use crate::params::*;
use oxmpi_mca::resolve::bytes;
use oxmpi_mca::{Answers, Params, Process, Refused, processor};

/// Functions that find out what opening the component would find out.
pub struct Found {
    /// /dev/xpmem can be used.
    pub xpmem: fn() -> bool,
    /// Contexts of a process with so many communication resources.
    pub contexts: fn(&Settings, u32) -> u32,
}

/// Writes the values in force of this component's parameters, and the reasons for them, into `answers`; see
/// `Component::resolve`.
pub fn tell(
    process: &Process<'_>,
    params: Params<'_>,
    found: &Found,
    answers: &mut Answers<'_>,
) -> Result<(), Refused> {
    let settings = Settings::read(params)?;
    let all =
        Values { settings, params, ranks: process.job.local_size, shared: process.job.oversubscribed != 0 };
    all.limits(answers);
    all.copies(answers, found.xpmem);
    all.rings(answers, (found.contexts)(&settings, process.num_cris), process.num_cris);
    all.waiting(answers);
    Ok(())
}

/// The parameters of a process and the facts about its node that decide their values in force.
struct Values<'a> {
    settings: Settings,
    params: Params<'a>,
    ranks: u32,
    /// More processes than cores.
    shared: bool,
}

impl Values<'_> {
    /// Whether a parameter (by its number) is 0, so that the component chooses the value.
    fn is_automatic(&self, param: usize) -> bool {
        self.params.int(param) == 0
    }
    /// Whether contiguous payload is copied into rings by the processor's string instruction.
    fn string_copies(&self) -> bool {
        self.settings.limits.string < usize::MAX
    }
    /// A half sentence with the size of the first context's rings and the number of processes, for reasons.
    fn ring(&self) -> String {
        format!("ring_size is {} with {}", bytes(1 << self.settings.ring_log2(self.ranks)), self.node())
    }
    /// The number of processes on the node as words, for reasons.
    fn node(&self) -> String {
        match self.ranks {
            0 | 1 => "one process on the node".into(),
            n => format!("{n} processes on the node"),
        }
    }

    /// Tells the message sizes in force: `eager_limit`, `rndv_eager_limit` and `max_send_size`.
    fn limits(&self, answers: &mut Answers<'_>) {
        let (s, ranks) = (&self.settings, self.ranks);
        let most = bytes(s.max_send_size(ranks));
        if self.is_automatic(EAGER_LIMIT) {
            let part = match self.string_copies() {
                true => {
                    "an eighth of ring_size up to 64k, or a sixteenth up to 256k if that is more, and a header"
                }
                false => "a sixteenth of ring_size, between 12k and 32k",
            };
            let because = format!("0: {part}, not above max_send_size ({most}); {}", self.ring());
            answers.tell(EAGER_LIMIT, s.eager_limit(ranks), because);
        }
        if self.is_automatic(RNDV_EAGER_LIMIT) {
            let because = match self.string_copies() {
                true => "0: eager_limit, because messages are not read from the sender's memory but copied by string".into(),
                false => format!("0: 16k and a header, not above max_send_size ({most})"),
            };
            answers.tell(RNDV_EAGER_LIMIT, s.rndv_eager_limit(ranks), because);
        }
        if self.is_automatic(MAX_SEND_SIZE) {
            let part = match self.string_copies() {
                true => {
                    "an eighth of ring_size up to 64k, or a sixteenth up to 256k if that is more, and a header"
                }
                false => "an eighth of ring_size up to 64k and a header",
            };
            let ring = self.ring();
            let because = format!("0: {part}, at least 32k, eager_limit and rndv_eager_limit; {ring}");
            answers.tell(MAX_SEND_SIZE, s.max_send_size(ranks), because);
        }
    }

    /// Tells how payload is copied: single-copy mechanism, least size for a read of the sender's memory, stores past
    /// the cache, string copies. `xpmem` finds out whether /dev/xpmem can be used.
    fn copies(&self, answers: &mut Answers<'_>, xpmem: fn() -> bool) {
        let s = &self.settings;
        let wishes_map = matches!(s.mechanism, Mechanism::Auto | Mechanism::Xpmem);
        let mapped = wishes_map && xpmem();
        let because = match s.mechanism {
            Mechanism::Auto if mapped => "auto: /dev/xpmem can be used",
            Mechanism::Auto => "auto: /dev/xpmem cannot be used here",
            Mechanism::Xpmem if !mapped => "xpmem was asked for, and /dev/xpmem cannot be used here",
            _ => "",
        };
        let place = match s.mechanism {
            _ if mapped => 1,
            Mechanism::None => 3,
            _ => 2,
        };
        // SAFETY: static text.
        let name = unsafe { MECHANISMS[place].get() }.unwrap_or_default();
        answers.tell(SINGLE_COPY_MECHANISM, name, because);

        let from = s.min_get(self.shared, mapped);
        let value = i64::try_from(from).unwrap_or(i64::MAX);
        let never = "never: messages are copied through shared memory";
        match (s.mechanism, self.is_automatic(MIN_GET_SIZE)) {
            (Mechanism::None, _) => {
                answers.tell(MIN_GET_SIZE, value, format!("{never}, because single_copy_mechanism is none"));
            }
            (_, false) => {}
            _ if from == u64::MAX => {
                let because = format!("0: {never}, because two copies by string are faster than one by cma");
                answers.tell(MIN_GET_SIZE, value, because);
            }
            _ if self.shared => {
                answers.tell(MIN_GET_SIZE, value, "0: 16k, because more processes than cores run");
            }
            _ => answers.tell(MIN_GET_SIZE, value, "0: 8k, from where on one copy beats two"),
        }

        let written = |limit: usize| limit.min(NEVER);
        if self.is_automatic(NONTEMPORAL_MIN) {
            let because = match processor::is_amd() {
                true => "0: 2k, because the processor is one of AMD's",
                false => "0: never, because the processor is not one of AMD's",
            };
            answers.tell(NONTEMPORAL_MIN, written(s.limits.past), because);
        }
        if self.is_automatic(STRING_MIN) {
            let because = match processor::string_takes_lines_whole() {
                true => "0: 1k, because the processor is one of AMD's with fast string instructions (ERMS)",
                false => {
                    "0: never, because the processor is not one of AMD's with fast string instructions (ERMS)"
                }
            };
            answers.tell(STRING_MIN, written(s.limits.string), because);
        }
    }

    /// Tells ring size, number of contexts (`count`) and number of watched rings in force; `num_cris` is the runtime's
    /// number of CRIs.
    fn rings(&self, answers: &mut Answers<'_>, count: u32, num_cris: u32) {
        let (s, ranks) = (&self.settings, self.ranks);
        let (first, further) = (1_u64 << s.ring_log2(ranks), 1_u64 << s.further_ring_log2(ranks));
        let further = match first == further {
            true => String::new(),
            false => format!("; {} for each further context", bytes(further)),
        };
        let how = match (s.ring_size, self.string_copies()) {
            (0, true) => format!(
                "0: 4m, a quarter of that for each doubling of the processes, at least 64k, with {}",
                self.node()
            ),
            (0, false) => format!(
                "0: 512k, half of that for each doubling of the processes, at least 64k, with {}",
                self.node()
            ),
            (size, _) if size == first => String::new(),
            (size, _) => format!(
                "{}, rounded up to a power of two that holds max_send_size ({})",
                bytes(size),
                bytes(s.max_send_size(ranks))
            ),
        };
        answers.tell(RING_SIZE, first, how + &further);

        let because = match s.contexts {
            0 => format!(
                "0: as many as the process has communication resources (runtime_num_cris is {num_cris})"
            ),
            n if n > count => {
                format!("{n}, but the process has no more communication resources (runtime_num_cris)")
            }
            _ => String::new(),
        };
        answers.tell(VIRTUAL_DEVICE_COUNT, count, because);

        if s.watched.is_none() {
            let because = match self.shared {
                true => "-1: none, because more processes than cores run",
                false => "-1: four, because no more processes than cores run",
            };
            answers.tell(WATCHED_RINGS, s.watched(self.shared), because);
        }
    }

    /// Tells the values in force for waiting: least size of a shared read, and longest pause before a look for an
    /// answer.
    fn waiting(&self, answers: &mut Answers<'_>) {
        let s = &self.settings;
        let none = "none, because more processes than cores run";
        let assist = s.assist_min(self.shared);
        let value = if assist == u64::MAX { 0 } else { assist };
        match self.is_automatic(ASSIST_MIN) {
            true => answers.as_set(ASSIST_MIN, "0: never"),
            false if self.shared => {
                answers.tell(ASSIST_MIN, value, "never, because more processes than cores run")
            }
            false => {}
        }
        match self.is_automatic(ANSWER_PAUSE) {
            true => answers.as_set(ANSWER_PAUSE, "0: none"),
            false if self.shared => answers.tell(ANSWER_PAUSE, s.answer_pause(self.shared), none),
            false => {}
        }
    }
}
