//! The parameters, and what follows from them.

use crate::copy::Limits;
use crate::ring::largest_slot;
use crate::wire::{self, slot};
use oxmpi_mca::{ParamDecl, ParamKind, Params, Refused, StrRef, processor};

pub const EAGER_LIMIT: usize = 0;
pub const RNDV_EAGER_LIMIT: usize = 1;
pub const MAX_SEND_SIZE: usize = 2;
pub const MIN_GET_SIZE: usize = 3;
const LATENCY: usize = 4;
const BANDWIDTH: usize = 5;
const EXCLUSIVITY: usize = 6;
pub const VIRTUAL_DEVICE_COUNT: usize = 7;
pub const RING_SIZE: usize = 8;
pub const WATCHED_RINGS: usize = 9;
pub const SINGLE_COPY_MECHANISM: usize = 10;
pub const NONTEMPORAL_MIN: usize = 11;
pub const ASSIST_MIN: usize = 12;
pub const ANSWER_PAUSE: usize = 13;
pub const STRING_MIN: usize = 14;

/// Values of the parameter `single_copy_mechanism`, in the order of [`Mechanism`].
pub const MECHANISMS: &[StrRef] =
    &[StrRef::new("auto"), StrRef::new("xpmem"), StrRef::new("cma"), StrRef::new("none")];

/// Most rings that a context watches.
pub const MAX_WATCHED: usize = 4;
/// Ring size where nothing else is said, for up to [`FULL_SIZE_RANKS`] ranks; with more, the rings into
/// one process together stay as large as that, so that they stay in its caches.
const AUTO_RING: u64 = 512 << 10;
/// Processes on a node up to which rings have their full size.
const FULL_SIZE_RANKS: u64 = 2;
/// Ring size where copies go by string and nothing else is said: rows of long messages are faster where the lines that
/// will be written next lie in no core's own cache any more (`bench/results/btl-shm.md`); the bulks of the rings of a
/// node's first contexts together stay below 25M.
const AUTO_STRING_RING: u64 = 4 << 20;
/// Smallest ring size where nothing else is said.
const LEAST_AUTO_RING: u64 = 64 << 10;
/// One copy by the receiver beats two through the ring from here on; where ranks share cores, and a copy
/// through the ring wakes nobody, a little later.
const AUTO_MIN_GET: u64 = 8 << 10;
/// Least size of a message that is read from the sender's memory where more processes than cores run.
const SHARED_CORES_MIN_GET: u64 = 16 << 10;
/// Largest message size that a parameter may name.
const LARGEST_MESSAGE: i64 = 64 << 20;
/// The largest value of what is a size from which on something is done.
pub const NEVER: usize = 1 << 40;
/// Bounds of the eager limit where nothing else is said, and its part of a ring, in which several such messages find room.
/// Measured (Sapphire Rapids, half round trips in microseconds through the ring and read from the sender's memory):
/// 16 KiB that each side has written before 4.2 and 8.6, 32 KiB 6.6 and 14.0, because what is read then comes out of the
/// sender's cache; of a message that nobody writes the reader keeps a copy, and they take 3.7 and 4.3, 5.6 and 5.1.
const AUTO_EAGER: core::ops::RangeInclusive<u64> = 12 << 10..=32 << 10;
/// The eager limit's part of a ring where nothing else is said: one in so many.
const AUTO_EAGER_PART: u64 = 16;
/// Bounds of the largest message where nothing else is said: it may be copied or read, as turns out to be faster.
const AUTO_MAX_SEND: core::ops::RangeInclusive<u64> = 32 << 10..=(64 << 10) + HEADER;
/// The largest message's part of a ring where nothing else is said: one in so many.
const AUTO_MAX_SEND_PART: u64 = 8;
/// Most payload of one message where copies go by string, whose rings are larger.
const AUTO_STRING_SEND: u64 = 256 << 10;
/// The largest message's part of a ring where copies go by string: one in so many.
const AUTO_STRING_SEND_PART: u64 = 16;
/// Number of the largest messages for which a further context's ring has room at least.
const FEWEST_IN_A_RING: u64 = 4;
/// Most bytes of a header.
pub const HEADER: u64 = wire::MOST_AROUND;
/// Smallest message size, other than 0, that a parameter may name.
const LEAST_EAGER: u64 = 256;
/// Bytes that go with a rendezvous request where nothing else is said.
const AUTO_RNDV_EAGER: u64 = (16 << 10) + HEADER;

/// The parameters of this component; the constants above are their indices.
pub static DECLARATIONS: &[ParamDecl] = &[
    ParamDecl::new(
        "eager_limit",
        ParamKind::SIZE,
        4,
        "0",
        "Largest message, header included, that is sent eagerly, without a rendezvous, at least 256; 0: a sixteenth of btl_shm_ring_size, at least 12k (32k with two processes on the node), with string copies (btl_shm_string_min) an eighth of it up to 64k and a sixteenth above that, at most 256k. Raise it where senders of medium messages wait for receives that are posted late, lower it where many messages wait unreceived",
    )
    .range(0, LARGEST_MESSAGE),
    ParamDecl::new(
        "rndv_eager_limit",
        ParamKind::SIZE,
        6,
        "0",
        "Bytes of a longer message, header included, that are sent with its rendezvous request, at least 256; 0: 16k and a header, or btl_shm_eager_limit where messages are not read from the sender's memory. Lower it where receives are mostly posted late",
    )
    .range(0, LARGEST_MESSAGE),
    ParamDecl::new(
        "max_send_size",
        ParamKind::SIZE,
        6,
        "0",
        "Largest message, header included, that is copied through shared memory in one piece; longer ones are read from the sender's memory or copied in pieces of half that; 0: an eighth of btl_shm_ring_size and a header, between 32k and 64k, with string copies (btl_shm_string_min) a sixteenth up to 256k if that is more. Raise it where processes may not read each other's memory and messages are long",
    )
    .range(0, LARGEST_MESSAGE),
    ParamDecl::new(
        "min_get_size",
        ParamKind::SIZE,
        6,
        "0",
        "Smallest message that the receiver reads from the sender's memory, where btl_shm_single_copy_mechanism permits; 0: 16k when the node is oversubscribed, else 8k, and never by cma where string copies (btl_shm_string_min) are used, which are faster. Raise it where mpi-info --calibrate finds copies through shared memory faster",
    )
    .range(0, i64::MAX),
    ParamDecl::new("latency", ParamKind::UNSIGNED, 8, "1", "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first. Set it where transports are ranked wrongly")
        .range(0, u32::MAX as i64),
    ParamDecl::new(
        "bandwidth",
        ParamKind::UNSIGNED,
        8,
        "20000",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among transports of one exclusivity. Set it where another transport shares messages within the node",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "exclusivity",
        ParamKind::UNSIGNED,
        8,
        "65535",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Lower it to prefer another transport within a node",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "virtual_device_count",
        ParamKind::UNSIGNED,
        6,
        "0",
        "Contexts, each with rings of its own, that threads use independently; 0: as many as the runtime has CRIs; the first process of a node sets the most that any process there may have. Lower it to save memory where many threads share few",
    )
    .range(0, wire::MAX_FIFOS as i64),
    ParamDecl::new(
        "ring_size",
        ParamKind::SIZE,
        6,
        "0",
        "Bytes of the ring from one process to another, allocated at their first message and rounded up to a power of two that holds btl_shm_max_send_size; 0: 512k with two processes on the node, half of that with each doubling of their number, at least 64k, for further contexts a quarter instead of half, with string copies (btl_shm_string_min) 4m and a quarter with each doubling. Lower it to save memory on nodes with many processes, raise it where senders wait for receivers",
    )
    .range(0, 1 << wire::MAX_RING_LOG2),
    ParamDecl::new(
        "watched_rings",
        ParamKind::INT,
        9,
        "-1",
        "Busy rings that a process polls one by one, whose senders need no atomic operation while going to sleep takes a system call more; -1: four, or none when the node is oversubscribed. Set it to 0 where processes often sleep",
    )
    .range(-1, MAX_WATCHED as i64),
    ParamDecl::new(
        "single_copy_mechanism",
        ParamKind::ENUM,
        3,
        "auto",
        "How a process reads and writes the memory of another directly: xpmem (mapped by the kernel module of that name), cma (process_vm_readv and process_vm_writev), none, or auto, which is xpmem where /dev/xpmem can be used, else cma. Set it to none where a container or a security policy forbids such access, or to compare",
    )
    .one_of(MECHANISMS),
    ParamDecl::new(
        "nontemporal_min",
        ParamKind::SIZE,
        9,
        "0",
        "Smallest contiguous payload that is copied into the ring with stores that bypass the cache; 0: 2k on AMD's processors, else never. Set it where mpi-info --calibrate finds such stores faster",
    )
    .range(0, NEVER as i64),
    ParamDecl::new(
        "assist_min",
        ParamKind::SIZE,
        9,
        "64k",
        "Smallest message of which the sender, while it waits, copies a part itself; 0: never, as always where the node is oversubscribed. Raise it where senders have other messages to serve meanwhile",
    )
    .range(0, NEVER as i64),
    ParamDecl::new(
        "answer_pause",
        ParamKind::UNSIGNED,
        9,
        "1000",
        "Longest pause, in nanoseconds, between a message and the first poll for its answer, adapted to how long answers take; 0: none, as always where the node is oversubscribed or several threads make calls. Set it to 0 to poll at once",
    )
    .range(0, 1_000_000),
    ParamDecl::new(
        "string_min",
        ParamKind::SIZE,
        9,
        "0",
        "Smallest contiguous payload that is copied into the ring by the processor's string instruction, before btl_shm_nontemporal_min is looked at; 0: 1k on AMD's processors with fast string instructions (ERMS), which write whole lines without fetching them from another core, else never. Set it where mpi-info --calibrate finds such copies faster",
    )
    .range(0, NEVER as i64),
];

/// Bytes from which on copies go past the cache where nothing is said: 2 KiB on AMD's processors, else never.
/// Measured: on one AMD processor (Zen) 4 KiB go through the ring in 0.9 us past the cache and in 0.75 or 2.5 us
/// otherwise, as the machine pleases. On one of Intel's (Sapphire Rapids) 64 KiB and 1 MiB go at 0.7 to 1.0 times the
/// rate past the cache, from whichever cache they come and whether or not the receiver reads them
/// (`bench/results/btl-shm.md` has the table).
fn auto_nontemporal_min() -> usize {
    if processor::is_amd() { 2 << 10 } else { usize::MAX }
}

/// Bytes from which on copies go by string where nothing is said: 1 KiB on AMD's processors with fast string
/// instructions, else never. Measured on one of AMD's (Zen 5), whose cores lay in one group that shares a cache or in
/// two: copies into the ring, and all of what follows, are as fast or faster by string from 1 KiB on, up to four
/// times, in either state (`bench/results/btl-shm.md` has the table).
fn auto_string_min() -> usize {
    if processor::string_takes_lines_whole() { 1 << 10 } else { usize::MAX }
}

/// The limit that a parameter's value stands for: 0 is `automatic`, [`NEVER`] and above `usize::MAX`.
fn from_which_on(value: usize, automatic: impl FnOnce() -> usize) -> usize {
    match value {
        0 => automatic(),
        NEVER.. => usize::MAX,
        size => size,
    }
}

/// How memory of another process is copied directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// XPMEM if there is, else CMA.
    Auto,
    /// The same, but the user hears of it where there is none.
    Xpmem,
    Cma,
    None,
}

impl Mechanism {
    /// Returns the mechanism whose name has this index in [`MECHANISMS`]; an index outside the list means `none`.
    fn of(place: i64) -> Mechanism {
        match place {
            0 => Mechanism::Auto,
            1 => Mechanism::Xpmem,
            2 => Mechanism::Cma,
            _ => Mechanism::None,
        }
    }
}

/// The smallest ring, as a power of two, in which messages of `message` bytes always find room.
fn ring_with(message: u64) -> u32 {
    let mut log2 = wire::MIN_RING_LOG2;
    while largest_slot(1 << log2) < slot(message) {
        log2 += 1;
    }
    log2
}

/// Values of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// 0: automatic.
    pub eager_limit: u64,
    /// 0: automatic.
    pub rndv_eager_limit: u64,
    /// 0: automatic.
    pub max_send_size: u64,
    pub min_get_size: u64,
    pub latency: u32,
    pub bandwidth: u32,
    pub exclusivity: u32,
    /// 0: automatic.
    pub contexts: u32,
    /// 0: automatic.
    pub ring_size: u64,
    /// `None`: automatic.
    pub watched: Option<usize>,
    pub mechanism: Mechanism,
    pub limits: Limits,
    /// In bytes; the largest number if never.
    pub assist_min: u64,
    /// In steps of about a nanosecond.
    pub answer_pause: u32,
}

impl Settings {
    /// Reads the parameters. An error: limits that do not fit each other, or are too small for any message.
    pub fn read(p: Params<'_>) -> Result<Settings, Refused> {
        let settings = Settings {
            eager_limit: p.size(EAGER_LIMIT) as u64,
            rndv_eager_limit: p.size(RNDV_EAGER_LIMIT) as u64,
            max_send_size: p.size(MAX_SEND_SIZE) as u64,
            min_get_size: p.size(MIN_GET_SIZE) as u64,
            latency: p.int(LATENCY) as u32,
            bandwidth: p.int(BANDWIDTH) as u32,
            exclusivity: p.int(EXCLUSIVITY) as u32,
            contexts: p.int(VIRTUAL_DEVICE_COUNT) as u32,
            ring_size: p.size(RING_SIZE) as u64,
            watched: usize::try_from(p.int(WATCHED_RINGS)).ok(),
            mechanism: Mechanism::of(p.int(SINGLE_COPY_MECHANISM)),
            limits: Limits {
                string: from_which_on(p.size(STRING_MIN), auto_string_min),
                past: from_which_on(p.size(NONTEMPORAL_MIN), auto_nontemporal_min),
            },
            assist_min: match p.size(ASSIST_MIN) {
                0 => u64::MAX,
                size => size as u64,
            },
            answer_pause: p.int(ANSWER_PAUSE) as u32,
        };
        let Settings { eager_limit, rndv_eager_limit, max_send_size, .. } = settings;
        for (param, name, value) in [
            (EAGER_LIMIT, "eager_limit", eager_limit),
            (RNDV_EAGER_LIMIT, "rndv_eager_limit", rndv_eager_limit),
            (MAX_SEND_SIZE, "max_send_size", max_send_size),
        ] {
            if (1..LEAST_EAGER).contains(&value) {
                let takes = format!("0 (automatic) or {LEAST_EAGER} to {LARGEST_MESSAGE}");
                return Err(Refused::bad(param, format!("btl_shm_{name} is {value}; it takes {takes}")));
            }
            if max_send_size != 0 && value > max_send_size {
                let why = "which is more than btl_shm_max_send_size";
                let why = format!("btl_shm_{name} is {value}, {why} ({max_send_size}); raise that, too");
                return Err(Refused::bad(param, why));
            }
        }
        Ok(settings)
    }

    /// Bytes of the largest message, header included, that is sent without a rendezvous, with `ranks` processes on the
    /// node.
    pub fn eager_limit(&self, ranks: u32) -> u64 {
        match self.eager_limit {
            0 if self.limits.string < usize::MAX => {
                // In pieces, of which one is copied out while the next is copied in, and nobody waits for an answer.
                (self.part_of_ring(ranks).max(*AUTO_EAGER.start()) + HEADER).min(self.max_send_size(ranks))
            }
            0 => {
                let part = (1 << self.ring_log2(ranks)) / AUTO_EAGER_PART;
                part.clamp(*AUTO_EAGER.start(), *AUTO_EAGER.end()).min(self.max_send_size(ranks))
            }
            size => size,
        }
    }

    /// Bytes of a message above [`Settings::eager_limit`], header included, that are sent with the request of its
    /// rendezvous; with `ranks` processes on the node.
    pub fn rndv_eager_limit(&self, ranks: u32) -> u64 {
        match self.rndv_eager_limit {
            0 if self.limits.string < usize::MAX => self.eager_limit(ranks),
            0 => AUTO_RNDV_EAGER.min(self.max_send_size(ranks)),
            size => size,
        }
    }

    /// Bytes of the largest message, header included, that is sent at all, with `ranks` processes on the node.
    pub fn max_send_size(&self, ranks: u32) -> u64 {
        match self.max_send_size {
            0 => {
                let part = self.part_of_ring(ranks) + HEADER;
                let part = part.min(largest_slot(1 << self.further_ring_log2(ranks)));
                part.max(*AUTO_MAX_SEND.start()).max(self.least_max_send())
            }
            size => size,
        }
    }

    /// Bytes of payload of one message that go through a ring where nothing is said of it.
    fn part_of_ring(&self, ranks: u32) -> u64 {
        let ring = 1 << self.ring_log2(ranks);
        let part = (ring / AUTO_MAX_SEND_PART).min(AUTO_MAX_SEND.end() - HEADER);
        if self.limits.string < usize::MAX {
            part.max((ring / AUTO_STRING_SEND_PART).min(AUTO_STRING_SEND))
        } else {
            part
        }
    }

    /// Lower bound of the largest message's size: the parameter; where that is 0, both eager limits and 32 KiB.
    fn least_max_send(&self) -> u64 {
        match self.max_send_size {
            0 => self.eager_limit.max(self.rndv_eager_limit).max(*AUTO_MAX_SEND.start()),
            size => size,
        }
    }

    /// Bytes of bulk of a ring of the first context, as a power of two, with `ranks` processes on the node.
    pub fn ring_log2(&self, ranks: u32) -> u32 {
        let ranks = u64::from(ranks).max(FULL_SIZE_RANKS);
        let usual = AUTO_RING * FULL_SIZE_RANKS / ranks;
        let string = AUTO_STRING_RING * FULL_SIZE_RANKS * FULL_SIZE_RANKS / (ranks * ranks);
        self.log2_of(if self.limits.string < usize::MAX { usual.max(string) } else { usual })
    }

    /// Bytes of bulk of a ring of any other context, as a power of two: each pair of processes has such rings for each
    /// context that its threads use, so they shrink with the square of `ranks`, and take about the same part of the
    /// node's memory for any number.
    pub fn further_ring_log2(&self, ranks: u32) -> u32 {
        let part = self.part_of_ring(ranks);
        let ranks = (ranks as u64).max(FULL_SIZE_RANKS);
        let usual = AUTO_RING * FULL_SIZE_RANKS * FULL_SIZE_RANKS / (ranks * ranks);
        self.log2_of(if part > *AUTO_MAX_SEND.end() { usual.max(FEWEST_IN_A_RING * part) } else { usual })
    }

    /// Size of a ring as a power of two: the parameter, or `automatic` bytes where that is 0, and large enough for the
    /// largest message.
    fn log2_of(&self, automatic: u64) -> u32 {
        let wish = match self.ring_size {
            0 => automatic.max(LEAST_AUTO_RING),
            size => size,
        };
        let mut log2 = wish.next_power_of_two().trailing_zeros().max(ring_with(self.least_max_send()));
        log2 = log2.max(wire::MIN_RING_LOG2);
        log2.min(wire::MAX_RING_LOG2)
    }

    /// The smallest ring, as a power of two, in which the largest message always finds room.
    pub fn min_ring_log2(&self, ranks: u32) -> u32 {
        ring_with(self.max_send_size(ranks))
    }

    /// Longest pause before a look for an answer, in steps of about a nanosecond; none where more processes than cores
    /// run, since the core is better left to others.
    pub fn answer_pause(&self, oversubscribed: bool) -> u32 {
        if oversubscribed { 0 } else { self.answer_pause }
    }

    /// Bytes from which on a read is shared with its source; `u64::MAX`: never.
    pub fn assist_min(&self, oversubscribed: bool) -> u64 {
        if oversubscribed { u64::MAX } else { self.assist_min }
    }

    /// Bytes from which on a message is read from the sender's memory; `u64::MAX`: never. `mapped`: that memory can be
    /// mapped through XPMEM.
    pub fn min_get(&self, oversubscribed: bool, mapped: bool) -> u64 {
        match self.min_get_size {
            _ if self.mechanism == Mechanism::None => u64::MAX,
            0 if oversubscribed => SHARED_CORES_MIN_GET,
            0 if self.limits.string < usize::MAX && !mapped => u64::MAX,
            0 => AUTO_MIN_GET,
            size => size,
        }
    }

    /// Number of rings that a context watches at most.
    pub fn watched(&self, oversubscribed: bool) -> usize {
        self.watched.unwrap_or(if oversubscribed { 0 } else { MAX_WATCHED }).min(MAX_WATCHED)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::Status;

    fn settings(max_send_size: u64, ring_size: u64) -> Settings {
        Settings {
            eager_limit: 4096,
            rndv_eager_limit: 4096,
            max_send_size,
            min_get_size: 1,
            latency: 0,
            bandwidth: 0,
            exclusivity: 0,
            contexts: 0,
            ring_size,
            watched: None,
            mechanism: Mechanism::Cma,
            limits: Limits { string: usize::MAX, past: 4096 },
            assist_min: 1 << 16,
            answer_pause: 1000,
        }
    }

    #[test]
    fn rings_hold_the_largest_message_and_shrink_on_large_nodes() {
        let s = settings(32 << 10, 0);
        assert_eq!(s.ring_log2(2), 19);
        assert_eq!(s.ring_log2(4), 18);
        assert_eq!(s.ring_log2(8), 17);
        assert_eq!(s.ring_log2(16), 16);
        assert_eq!(s.ring_log2(64), 16);
        assert_eq!(s.ring_log2(4096), 16);
        assert_eq!([2, 3, 4, 8, 64].map(|ranks| s.further_ring_log2(ranks)), [19, 18, 17, 16, 16]);
        assert_eq!(settings(32 << 10, 100_000).ring_log2(2), 17);
        assert_eq!(settings(32 << 10, 100_000).further_ring_log2(8), 17, "as the user said");
        assert_eq!(settings(256, 1).ring_log2(2), 12);
        assert_eq!(settings(LARGEST_MESSAGE as u64, 0).ring_log2(2), 27);
        for max in [256, 2943, 2944, 2945, 32768, 1 << 20, LARGEST_MESSAGE as u64] {
            let log2 = settings(max, 1).ring_log2(2);
            assert!(largest_slot(1 << log2) >= slot(max));
            assert!(log2 == wire::MIN_RING_LOG2 || largest_slot(1 << (log2 - 1)) < slot(max));
        }
    }

    #[test]
    fn several_eager_messages_find_room_in_a_ring() {
        let auto = Settings { eager_limit: 0, ..settings(32 << 10, 0) };
        assert_eq!([2, 4, 8, 64].map(|ranks| auto.eager_limit(ranks) >> 10), [32, 16, 12, 12]);
        let all = Settings { max_send_size: 0, ..auto };
        for ranks in [2, 4] {
            let (eager, most) = (all.eager_limit(ranks), all.max_send_size(ranks));
            assert_eq!(most, 2 * eager + HEADER, "a payload of a round size goes with its header");
            assert!(8 * (most - HEADER) <= 1 << all.ring_log2(ranks), "several find room");
        }
        assert_eq!([8, 64].map(|ranks| all.max_send_size(ranks)), [32 << 10; 2]);
        for ranks in 1..100 {
            let least = all.min_ring_log2(ranks);
            assert!(least <= all.ring_log2(ranks) && least <= all.further_ring_log2(ranks), "{ranks}");
        }
        assert_eq!([2, 4, 8, 64].map(|ranks| all.min_ring_log2(ranks)), [18, 17, 16, 16]);
        let wide = Settings { eager_limit: 200 << 10, ..all };
        assert_eq!((wide.max_send_size(64), wide.ring_log2(64)), (200 << 10, 19));
        assert_eq!(Settings { eager_limit: 0, ..settings(2048, 0) }.eager_limit(2), 2048);
        assert_eq!(Settings { eager_limit: 5000, ..auto }.eager_limit(64), 5000, "as the user said");
    }

    #[test]
    fn rings_are_large_where_copies_go_by_string() {
        let limits = Limits { string: 1024, ..Limits::NONE };
        let auto = Settings { eager_limit: 0, rndv_eager_limit: 0, limits, ..settings(0, 0) };
        assert_eq!(
            [1, 2, 3, 4, 8, 16, 4096].map(|ranks| auto.ring_log2(ranks)),
            [22, 22, 21, 20, 18, 16, 16]
        );
        assert_eq!([2, 3, 4, 8, 16].map(|ranks| auto.eager_limit(ranks) >> 10), [256, 128, 64, 32, 12]);
        assert_eq!([2, 3, 4, 8, 16].map(|ranks| auto.further_ring_log2(ranks)), [20, 19, 17, 16, 16]);
        for ranks in [2, 3, 4, 8, 16] {
            let eager = auto.eager_limit(ranks);
            assert!(eager == auto.rndv_eager_limit(ranks) && eager <= auto.max_send_size(ranks), "{ranks}");
            assert!(4 * (eager - HEADER) <= 1 << auto.ring_log2(ranks), "several find room: {ranks}");
            let memory = u64::from(ranks * (ranks - 1)) << auto.ring_log2(ranks);
            assert!(memory <= 25 << 20, "{ranks} ranks: {memory}");
        }
        assert_eq!(auto.max_send_size(2), (256 << 10) + HEADER);
        assert_eq!(Settings { ring_size: 512 << 10, ..auto }.ring_log2(2), 19, "as the user said");
    }

    #[test]
    fn nothing_is_watched_where_processes_take_turns() {
        assert_eq!(settings(256, 0).watched(false), 4);
        assert_eq!(settings(256, 0).watched(true), 0);
        assert_eq!(Settings { watched: Some(2), ..settings(256, 0) }.watched(true), 2);
    }

    #[test]
    fn the_senders_memory_is_read_where_cores_are_shared() {
        let s = settings(256, 0);
        let of = |s: Settings| {
            [(false, false), (true, false), (false, true)].map(|(shared, mapped)| s.min_get(shared, mapped))
        };
        assert_eq!(of(s), [1; 3], "as the user said");
        let auto = Settings { min_get_size: 0, ..s };
        assert_eq!(of(auto), [AUTO_MIN_GET, SHARED_CORES_MIN_GET, AUTO_MIN_GET]);
        let strings = Settings { limits: Limits { string: 1024, ..Limits::NONE }, ..auto };
        assert_eq!(
            of(strings),
            [u64::MAX, SHARED_CORES_MIN_GET, AUTO_MIN_GET],
            "two copies are faster there"
        );
        assert_eq!(of(Settings { mechanism: Mechanism::None, ..auto }), [u64::MAX; 3]);
    }

    #[test]
    fn limits_fit_each_other() {
        let value = |int| oxmpi_mca::ParamValue {
            kind: ParamKind::INT,
            reserved: 0,
            int,
            double: 0.0,
            text: StrRef::EMPTY,
        };
        let mut values: Vec<_> =
            [16384, 16384, 32768, 16384, 1, 2, 3, 0, 0, -1, 0, 0, 65536, 700, 0].map(value).into();
        assert_eq!(values.len(), DECLARATIONS.len());
        let read = Settings::read(Params(&values)).expect("defaults");
        assert_eq!((read.max_send_size, read.watched, read.mechanism), (32768, None, Mechanism::Auto));
        assert_eq!((read.answer_pause(false), read.answer_pause(true)), (700, 0));
        assert_eq!(read.limits, Limits { string: auto_string_min(), past: auto_nontemporal_min() });
        values[EAGER_LIMIT] = value(40000);
        let refused = Settings::read(Params(&values)).expect_err("more than a message can hold");
        assert_eq!((refused.status, refused.param), (Status::BAD_PARAM, EAGER_LIMIT));
        assert!(refused.why.contains("btl_shm_eager_limit") && refused.why.contains("32768"));
        values[EAGER_LIMIT] = value(255);
        let refused = Settings::read(Params(&values)).expect_err("less than a header may take");
        assert!(refused.why.contains("btl_shm_eager_limit is 255; it takes 0"), "{}", refused.why);
        for good in [0, 256] {
            values[EAGER_LIMIT] = value(good);
            Settings::read(Params(&values)).unwrap_or_else(|e| panic!("{}", e.why));
        }
    }
}
