//! One table leads from the kind of a message to its handler ([`Handlers`]).
//!
//! **A header is never trusted**: indices, ranks, lengths, offsets and request ids are checked here, in `incoming.rs` or by the handler
//! before they are used, and what fails closes the peer with a sentence that says what was wrong.

use crate::communicators::comm::Comm;
use crate::communicators::index::{CommTable, Found};
use crate::long::registration::are_handles;
use crate::receive::incoming::{Incoming, STAMPED};
use crate::receive::receiver::Receiver;
use crate::wire::{self, Arrived, Prefix, flag, kind};
use oxmpi_mca::CriGuard;

/// The function that handles messages of one kind, under the lock of the CRI that they came on. `None`: the header is cut off.
type Handler = fn(&Receiver, &mut CriGuard<'_>, &Arrived<'_>) -> Option<()>;

/// The handlers of all kinds. `TIMED`: match time is measured.
struct Handlers<const TIMED: bool>;

impl<const TIMED: bool> Handlers<TIMED> {
    /// The table, by the kind's number; no message has the other numbers.
    const BY_KIND: [Option<Handler>; kind::END] = {
        let mut table: [Option<Handler>; kind::END] = [None; kind::END];
        table[kind::MATCH as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::RNDV as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::RGET as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::RPUT as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::RUNS as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::SKIP as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::FAILURE as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::CANCEL as usize] = Some(Receiver::on_matching::<TIMED>);
        table[kind::CANCELLED as usize] = Some(Receiver::on_cancelled);
        table[kind::ACK as usize] =
            Some(|receiver, held, arrived| receiver.transfers().on_ack(held, arrived));
        table[kind::FRAG as usize] =
            Some(|receiver, held, arrived| receiver.transfers().on_fragment(held, arrived));
        table[kind::PUT as usize] =
            Some(|receiver, held, arrived| receiver.transfers().on_put(held, arrived));
        table[kind::FIN as usize] =
            Some(|receiver, held, arrived| receiver.transfers().on_fin(held, arrived));
        table[kind::CREDIT as usize] =
            Some(|receiver, held, arrived| receiver.peers().on_credit(held, arrived));
        table[kind::CID as usize] = Some(Receiver::on_index);
        table[kind::SWITCH as usize] = Some(Receiver::on_switch);
        table[kind::OPEN as usize] = Some(Receiver::on_open);
        table
    };
}

impl Receiver {
    /// Admits a plain message with a stamp or a number. `false`: it is another message, and nothing happened.
    #[inline(always)]
    fn handle_ordered<const TIMED: bool>(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) -> bool {
        const NUMBERED: u16 = kind::MATCH as u16 | (flag::NUMBERED as u16) << 8;
        let Some((header, payload)) = data.split_first_chunk::<{ wire::MATCH_BYTES }>() else { return false };
        let [head, key, order_key] = wire::match_words(header);
        if head as u16 != STAMPED && head as u16 != NUMBERED {
            return false;
        }
        let (comms, mut held) = self.comms.beside(held);
        let Found::Comm(comm) = comms.find(head) else { return false };
        let inc = Incoming::plain(key, order_key, payload, proc, held.ctx());
        if head as u16 == STAMPED {
            self.arrive_stamped::<TIMED>(&mut held, comm, &inc);
        } else {
            self.arrive_numbered::<TIMED>(&mut held, comm, &inc);
        }
        true
    }

    /// Handles any message by the table; one that makes no sense closes the peer.
    #[inline(never)]
    pub fn handle_other<const TIMED: bool>(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        if self.handle_ordered::<TIMED>(held, data, proc) {
            return;
        }
        let Some(arrived) = Arrived::read(data, proc) else {
            return self.peers().bad_header(held, proc, "a message shorter than any header");
        };
        let kind = wire::kind_of(arrived.head);
        let Some(handler) = Handlers::<TIMED>::BY_KIND.get(usize::from(kind)).copied().flatten() else {
            return self.peers().bad_header(held, proc, &format!("type {kind}, which does not exist"));
        };
        if handler(self, held, &arrived).is_none() {
            self.peers().bad_header(held, proc, "a header that is cut off");
        }
    }

    /// Handles a message that is matched, in all its forms, and CANCEL. `None`: the header is cut off.
    fn on_matching<const TIMED: bool>(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { head, rest, data, proc } = *arrived;
        let flags = wire::flags_of(head);
        let (inc, prefix) = Incoming::read(head, rest, proc, held.ctx())?;
        let wrong = inc.what_is_wrong(flags);
        let of_handle = || (inc.kind == kind::RGET).then(|| self.wrong_handle(held, &inc)).flatten();
        if let Some(wrong) = wrong.or_else(of_handle) {
            self.peers().bad_header(held, proc, wrong);
            return Some(());
        }
        let (comms, mut held) = self.comms.beside(held);
        let held = &mut *held;
        if let Some(comm) = self.destination(held, comms, head, prefix.as_ref(), data, &inc) {
            if inc.kind == kind::CANCEL {
                self.withdraw(held, comm, &inc);
            } else if flags & flag::NUMBERED != 0 {
                self.arrive_numbered::<TIMED>(held, comm, &inc);
            } else if flags & flag::STAMPED != 0 {
                self.arrive_stamped::<TIMED>(held, comm, &inc);
            } else {
                self.arrive::<TIMED>(held, comm, &inc);
            }
        }
        Some(())
    }

    /// The first thing about an RGET's address and registration handles that cannot be, in words; `None`: they are
    /// sound.
    fn wrong_handle(&self, held: &mut CriGuard<'_>, inc: &Incoming<'_>) -> Option<&'static str> {
        let Ok(peer) = self.peers().flow(inc.proc, held.ctx(), held.entry()) else {
            return Some("an offer that cannot be answered");
        };
        match inc.address() {
            None => Some("an offer to read without an address"),
            Some((addr, _)) if addr.checked_add(inc.msg_len).is_none() => Some("an address range that wraps"),
            Some((_, handles)) if !are_handles(peer, handles.len()) => {
                Some("registration handles of another length than the transport's")
            }
            Some(_) => None,
        }
    }

    /// The communicator of a message. `None`: the message was kept until there is one, dropped, or refused.
    fn destination<'a>(
        &self,
        held: &mut CriGuard<'_>,
        comms: &'a CommTable,
        head: u64,
        prefix: Option<&Prefix>,
        data: &[u8],
        inc: &Incoming<'_>,
    ) -> Option<&'a Comm> {
        let Some(prefix) = prefix else {
            match comms.find(head) {
                Found::Comm(comm) => return Some(comm),
                Found::NotYet | Found::Gone if inc.kind == kind::CANCEL => self.withdraw_stray(held, inc),
                Found::NotYet => self.keep_orphan(held, inc.proc, data),
                Found::Gone => self.drop_message(held, inc),
                Found::Nonsense => {
                    self.peers().bad_header(held, inc.proc, "a communicator nobody told it of")
                }
            }
            return None;
        };
        if prefix.version != wire::VERSION {
            let what = format!("wire version {}, this process speaks {}", prefix.version, wire::VERSION);
            self.peers().bad_header(held, inc.proc, &what);
            return None;
        }
        match comms.find_gid(prefix.gid, wire::endpoint_of(head)) {
            Some(comm) => {
                self.answer_prefix(held, comm, wire::source_of(inc.key), inc.proc, prefix);
                Some(comm).filter(|_| !self.peers().is_closed(inc.proc))
            }
            None => {
                match inc.kind {
                    kind::CANCEL => self.withdraw_stray(held, inc),
                    _ => self.keep_orphan(held, inc.proc, data),
                }
                None
            }
        }
    }

    /// Discards a message whose communicator is gone.
    fn drop_message(&self, held: &mut CriGuard<'_>, inc: &Incoming<'_>) {
        self.instance().host().debug(&format!(
            "dropped {} bytes from process {} for a communicator that is gone",
            inc.msg_len, inc.proc
        ));
        self.discard_message(held, inc);
    }
}
