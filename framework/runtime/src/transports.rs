//! Which transports reach a process (Open MPI's BML), and registered memory: the services of [`BtlServices`](oxmpi_btl::BtlServices).
//!
//! **Reach.** Endpoints are the host's, so that PML and OSC share them. They are made at the first question about a
//! process, by the modules in order of exclusivity: those of the highest exclusivity that reach it, and no lower ones. That order, and
//! how many contexts there are, follow from the cards of both processes (`services/card.rs`), so both have one header transport for both
//! directions; modules that the other process has not are left out. Where a component has several modules it decides itself which talks to
//! which of the peer's (`BtlTable::partner`), by their networks; the host only makes the order alike. The answer is kept until the instance ends, or the process has parted; the
//! list of a process never changes, so its address may be kept, too.
//!
//! **Receives.** The pairing of cards is the same at both ends, so what no transport reaches never sends either. A receive that names such
//! a process would be waited for in vain, so those of the library's own protocols (collectives, plans, constructors of communicators, windows,
//! and both halves of MPI_Sendrecv) are refused when they are posted ([`Communicator::can_come_from`]). A point-to-point receive of the user's is not
//! looked at: nothing is added to a message's path. Asking costs a load and a bit where the process was reached before; else an endpoint is
//! made, which the first message from there would do, too, and nothing is connected.
//!
//! **A call that fails** is followed to its end. A rank that is not reached by some other may well be waited for by those that it
//! reaches, so collectives, plans and constructors go on with their pattern, and send what ends a receive with an error
//! (`PmlTable::send_failure`) in place of each message that rests on what is missing. The two halves of MPI_Sendrecv belong to the
//! program: where the send is refused the receive is cancelled and then waited for, since its buffer is the user's and nobody may be left
//! to send.
//!
//! **Registration** is in `registration.rs`.
//!
//! The lock of the table is a leaf but for the modules' `add_procs` and the exchange of addresses, which take no
//! lock of the library's. It is taken off a message's path only.

use crate::dynamic::profile::{job_of, rank_of};
use crate::objects::{Communicator, Instance};
use crate::services::card::{Paired, candidates, choose};
use oxmpi_btl::{BtlHandle, Endpoint, ProcInfo, ProcList, Reach, SAME_NUMBER};
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{SliceRef, Status};
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::ptr::null_mut;

impl Instance {
    /// The transports that reach a process, best first; asks the modules at the first call. UNREACHABLE: there is none,
    /// which is not kept.
    pub(crate) fn reach(&self, proc: u32) -> Result<SliceRef<Reach>, Status> {
        if self.name_of(proc).is_none() {
            return Err(Status::BAD_PARAM);
        }
        let mut all = self.transports().reached.lock();
        let reached = match all.entry(proc) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let found = self.ask_modules(proc)?;
                // Not kept: what is missing may come to be, and the error is told each time.
                if found.is_empty() {
                    return Err(Status::UNREACHABLE);
                }
                place.insert(found.into())
            }
        };
        // The box stays where it is until the instance ends.
        Ok(SliceRef { ptr: reached.as_ptr(), len: reached.len() })
    }

    /// Checks that a transport reaches a process, and remembers that for good. UNREACHABLE: none does, which a help text
    /// told.
    fn check_reached(&self, proc: u32) -> Result<(), Status> {
        if self.is_stranger(proc) {
            return self.reach(proc).map(|_| ());
        }
        let words = self.job().job_size.div_ceil(u64::BITS) as usize;
        let known = self.transports().known.get_or_init(|| (0..words).map(|_| AtomicU64::new(0)).collect());
        let bit = 1 << (proc % u64::BITS);
        let word = known.get((proc / u64::BITS) as usize).ok_or(Status::BAD_PARAM)?;
        if word.load(Ordering::Relaxed) & bit == 0 {
            self.reach(proc)?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Asks the BTL modules for endpoints of a process, in order of exclusivity, until those of the highest that reach
    /// it are found. Empty: none reaches it, which is shown as a help text.
    fn ask_modules(&self, proc: u32) -> Result<Vec<Reach>, Status> {
        let own = self.own_card();
        let card = self.card_of(proc)?;
        let info = self.info_of(proc);
        let btls = self.parts().map_or(&[][..], |parts| parts.btls());
        // A process without a card is taken to be as this one.
        let other = card.as_ref().unwrap_or(&own);
        let candidates =
            candidates(&own, other, |at| btls.get(at).is_some_and(|b| b.can(oxmpi_btl::cap::PARTNER)));
        let lacks = (0..).zip(btls).filter(|(at, _)| candidates.iter().all(|c| c.module != *at));
        let mut tried: Vec<String> =
            lacks.map(|(_, b)| format!("{} (that process has it not)", b.name())).collect();
        let choice = choose((&own, other), self.comes_before(proc), &candidates, |at| {
            let btl = btls.get(at)?;
            let mut endpoint: *mut Endpoint = null_mut();
            let list = ProcList::of(std::slice::from_ref(&info));
            // SAFETY: a verb for any thread, with a list of one and a place for its endpoint.
            let status = unsafe { (btl.add_procs)(btl.state, list, &mut endpoint) };
            if status.is_err() || endpoint.is_null() {
                let why = if status.is_err() { status.name() } else { "does not reach it" };
                tried.push(format!("{} ({why})", btl.name()));
                return None;
            }
            // SAFETY: the endpoint was made above.
            let partner = unsafe { btl.partner(endpoint) };
            Some(((btl, endpoint), (partner != SAME_NUMBER).then_some(partner as usize)))
        });
        for (btl, endpoint) in choice.spare {
            // SAFETY: made above, and nobody has got it.
            unsafe { (btl.del_procs)(btl.state, SliceRef { ptr: &endpoint, len: 1 }) };
        }
        let reach = |(p, (btl, endpoint)): (Paired, (&BtlHandle, *mut Endpoint))| Reach {
            btl,
            endpoint,
            width: p.width,
            reserved: 0,
        };
        let found: Vec<Reach> = choice.pairs.into_iter().map(reach).collect();
        if found.is_empty() {
            let tried = if tried.is_empty() { "none".to_owned() } else { tried.join(", ") };
            let topic = if proc == self.job().rank { "unreachable-self" } else { "unreachable" };
            let who = if self.is_stranger(proc) { self.describe_process(proc) } else { proc.to_string() };
            let args = [&*who, &*self.job().rank.to_string(), &*tried];
            self.show_help(oxmpi_loading::log::HOST, oxmpi_loading::help::HOST, topic, &args);
        }
        Ok(found)
    }

    /// A process as transports are told of it.
    fn info_of(&self, proc: u32) -> ProcInfo {
        let at = self.is_stranger(proc).then(|| self.strangers().whereabouts(proc)).flatten();
        match at {
            None => {
                let place = self.place_of(proc);
                let (node, local_rank, local) = (place.node, place.local_rank, place.local);
                ProcInfo { proc, node, local_rank, local, job: 0, segment: 0 }
            }
            Some(at) => {
                let (segment, place) = at.segment.unwrap_or((0, at.local_rank));
                let local = at.segment.is_some().into();
                ProcInfo { proc, node: at.node, local_rank: place, local, job: at.job, segment }
            }
        }
    }

    /// Whether this process comes before that one in an order that is the same in all processes.
    fn comes_before(&self, proc: u32) -> bool {
        let order = |proc| self.name_of(proc).map(|name| (job_of(&name), rank_of(&name)));
        order(self.job().rank) < order(proc)
    }

    /// Gives the endpoints of a process back that is known no more. Nobody uses one any more. `is_freed`: nor does the point-to-point layer keep
    /// the address of their list.
    pub(crate) fn unreach(&self, proc: u32, is_freed: bool) {
        let Some(reached) = self.transports().reached.lock().remove(&proc) else { return };
        for r in &reached {
            let (btl, endpoint) = (r.btl(), r.endpoint);
            // SAFETY: made by the module's `add_procs`; it leaves the table here, and nobody uses it any more.
            unsafe { (btl.del_procs)(btl.state, SliceRef { ptr: &endpoint, len: 1 }) };
        }
        if !is_freed {
            std::mem::forget(reached);
        }
    }
}

impl Communicator {
    /// Checks that messages can come from a rank, one that messages may name. UNREACHABLE: no transport reaches it, which
    /// a help text told. A wildcard is not looked at.
    pub fn can_come_from(&self, rank: i32) -> Result<(), Status> {
        let peers = self.remote_group().unwrap_or(self.group()).members();
        match usize::try_from(rank).ok().and_then(|rank| peers.get(rank)) {
            Some(member) => self.instance().check_reached(member.proc),
            None => Ok(()),
        }
    }
}

/// The instance of a call.
macro_rules! at {
    ($ctx:expr) => {
        // SAFETY: components pass `BtlServices::instance`, which lives as long as they do.
        unsafe { &*($ctx as *const Instance) }
    };
}

/// Service: stores the transports that reach a process at `out`, best first.
pub(crate) extern "C" fn reach(ctx: *mut c_void, proc: u32, out: *mut SliceRef<Reach>) -> Status {
    match at!(ctx).reach(proc) {
        Ok(reached) => {
            // SAFETY: the caller's out pointer.
            unsafe { *out = reached };
            Status::OK
        }
        Err(status) => status,
    }
}
