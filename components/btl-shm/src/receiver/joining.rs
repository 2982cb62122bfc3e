//! Further segments come and go: the module maps them, and each context follows when it next looks.
//!
//! **The news.** The thread that changes the list of segments (`add_procs`, `del_procs`, any) sets this process's own ready bit in the first
//! segment's inbox of every context, a bit that no sender sets, and rings. A context that finds it looks at its further segments
//! from then on, in every turn, and first compares the version of the list ([`FurtherSegments::version`](crate::segment::joined::FurtherSegments::version)). So
//! a process that has no further segments never asks for them.
//!
//! **Parting.** Before anything of a further segment is looked at, the list is followed: of a process that has no endpoint any more nothing is
//! handed up, and what it sends lies in the segment until it has one again. The list may change while a context looks: a process parts, is known
//! again by another index, and sends. So the version is compared once more behind each look that finds a message, and a ring is left
//! as it is until the list has been followed (a context that only followed it before handed up messages of such a process by the index that it had before).

use crate::context::Context;
use crate::device::Shm;
use crate::receiver::footholds::Foothold;
use crate::ring::Mapped;
use crate::segment::doorbell::{self, ASLEEP};
use crate::segment::inbox::{InboxMem, ServiceMem};
use crate::segment::joined::{Fresh, Joined, NotAdded, Wanted};
use crate::segment::map::{Identity, Segment, SegmentError};
use crate::segment::ready;
use crate::segment::refused::explain;
use crate::service::inbox;
use crate::{sys, wire};
use oxmpi_btl::ProcInfo;
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::{SharedSegment, Status};
use std::sync::Arc;

impl Shm {
    /// Counts one more endpoint to a process of a further segment, which is mapped if it is not yet. Returns the peer's number and its segment;
    /// `None`: the process is this one. A segment that does not exist, or in which the process has no place, is an error, which is logged.
    pub(crate) fn join(&self, proc: &ProcInfo) -> Result<Option<(u32, Arc<Joined>)>, Status> {
        let (who, number) = (proc.proc, proc.segment);
        let refuse = |status: Status, why: &str| self.refuse(who, number, status, why);
        let there = self
            .host()
            .segment(number)
            .map_err(|status| refuse(status, &format!("there is no such segment ({})", status.name())))?;
        if proc.local_rank == there.local_rank {
            return Ok(None);
        }
        if there.local_size > wire::MAX_RANKS || there.local_rank >= there.local_size {
            return Err(refuse(Status::BAD_PARAM, "this process can have no place there"));
        }
        let file =
            sys::file_identity(there.fd).map_err(|errno| refuse(Status::INTERNAL, &errno.to_string()))?;
        let (place, me, ranks) = (proc.local_rank, there.local_rank, there.local_size);
        let wanted = Wanted { proc: who, number, file, place, me, ranks };
        let added = self.further.add(wanted, || self.enter(there));
        let (peer, joined) = added.map_err(|why| self.explain(&wanted, there, why))?;
        // It may have sent requests before anybody knew it here.
        self.relay_requests(&joined, Some(joined.place(peer)));
        self.tell_contexts();
        Ok(Some((peer, joined)))
    }

    /// Uncounts an endpoint to a peer of a further segment.
    pub(crate) fn take_leave(&self, peer: u32) {
        self.further.remove(peer);
        self.tell_contexts();
    }

    /// Maps a segment and enters it at our place.
    fn enter(&self, there: SharedSegment) -> Result<Fresh, SegmentError> {
        let me = there.local_rank;
        let segment = Segment::open(there.fd, there.local_size, self.contexts)?;
        let contexts = self.contexts.min(segment.layout().fifos);
        let (proc, pid, pid_namespace) = (self.host().job().rank, self.pid(), self.pid_namespace());
        segment.enter(me, Identity { proc, pid, contexts, pid_namespace, xpmem: self.offer })?;
        Ok(Fresh { segment, me })
    }

    /// Logs why a process of a further segment is not reached, and returns the status for that.
    fn explain(&self, wanted: &Wanted, there: SharedSegment, why: NotAdded) -> Status {
        let (status, why) = match why {
            NotAdded::Segment(error) => {
                let place = (wanted.number, there.local_rank, there.local_size);
                explain(self.host(), place, error)
            }
            NotAdded::Place => {
                let (place, places) = (wanted.place, there.local_size);
                (
                    Status::BAD_PARAM,
                    format!("place {place} of {places} is not its place, or is another process's"),
                )
            }
            NotAdded::Numbers => (Status::NO_RESOURCE, "there are no numbers left for its processes".into()),
        };
        self.refuse(wanted.proc, wanted.number, status, &why)
    }

    /// Logs that a process is not reached, and why; returns the status for that.
    fn refuse(&self, proc: u32, number: u32, status: Status, why: &str) -> Status {
        self.host().error(&format!("process {proc} lies in shared segment {number} of this node: {why}"));
        status
    }

    /// Has every context, and the service context, look at the list of segments.
    fn tell_contexts(&self) {
        let me = self.local_rank();
        for ctx in 0..self.contexts {
            let inbox = self.segment().inbox(me, ctx);
            ready::mark_again(&inbox, me);
            // SYNC POINT with `doorbell::arm`: our bit is set, and either this sees ASLEEP or that sees the bit.
            if inbox::ring(inbox.bell()) {
                sys::wake(inbox.bell());
            }
        }
        self.call_server();
    }

    /// Has the service context look at the list of segments and at all its inboxes.
    fn call_server(&self) {
        let inbox = self.segment().service_inbox(self.local_rank());
        if inbox::mark(&inbox, self.local_rank()) {
            sys::wake(inbox.bell());
        }
    }

    /// Calls the server if requests of a further segment may be there: the word that waiters look at is that of the first one. `from`: a
    /// place whose process may have asked before it was known.
    fn relay_requests(&self, joined: &Joined, from: Option<u32>) {
        let there = joined.segment.service_inbox(joined.me);
        if let Some(place) = from {
            let _ = inbox::mark(&there, place);
        }
        if inbox::any(&there) && !inbox::any(&self.segment().service_inbox(self.local_rank())) {
            self.call_server();
        }
    }

    /// Notes in a context that its further segments have to be looked at; it found the news.
    pub(super) fn hear(&self, cx: &mut Context) {
        cx.aside.set_further(true);
    }

    /// Gives a context a foothold in the segment of a peer that it is about to talk to. False: the segment has no words for such a context.
    pub(crate) fn meet(&self, cx: &mut Context, ctx: u32, peer: u32) -> bool {
        if cx.further.of(peer).is_some() {
            return true;
        }
        let Some(joined) = self.segment_of(peer).filter(|joined| ctx < joined.segment.layout().fifos) else {
            return false;
        };
        let Some(joined) = self.further.hold(joined.base()) else { return false };
        cx.further.all.push(Foothold::new(joined, ctx));
        cx.aside.set_further(true);
        true
    }

    /// Follows the list of segments, and calls the server where requests of further ones are there. Nothing of a further segment is out of
    /// its place.
    pub(super) fn follow(&self, cx: &mut Context, ctx: u32) {
        if self.further.version() != cx.further.version {
            self.renew(cx, ctx);
        }
        cx.further.all.iter().for_each(|foothold| self.relay_requests(&foothold.joined, None));
    }

    /// True: since the context followed the list it has changed, so that the index that is kept of a ring's process may be an earlier one.
    #[inline(always)]
    pub(super) fn is_out_of_date(&self, cx: &Context) -> bool {
        self.further.version() != cx.further.followed
    }

    /// Lets go the segments that are leaving, gets footholds in new ones, and drops the rings of processes that are not known any more.
    #[cold]
    #[inline(never)]
    fn renew(&self, cx: &mut Context, ctx: u32) {
        let holds: Vec<u32> = cx.further.all.iter().map(|foothold| foothold.joined.base()).collect();
        let changes = self.further.changes(&holds, |joined| ctx < joined.segment.layout().fifos);
        for base in changes.gone {
            self.drop_foothold(cx, base);
            self.further.let_go(base);
        }
        cx.further.all.extend(changes.new.into_iter().map(|joined| Foothold::new(joined, ctx)));
        for foothold in &mut cx.further.all {
            let joined = &foothold.joined;
            for ring in &mut foothold.rings {
                if ring.as_ref().is_some_and(|incoming| joined.proc(incoming.source) != Some(incoming.proc)) {
                    ring.take().iter().for_each(|incoming| incoming.leave());
                }
            }
        }
        cx.further.followed = changes.version;
        // If the barrier for that fails, the list is followed anew in each turn, and nobody sleeps meanwhile.
        if self.take_up_further(cx, ctx) {
            cx.further.version = changes.version;
        }
        cx.aside.set_further(!cx.further.all.is_empty());
    }

    /// True: further segments keep a context from sleeping; something has come there, or the list has changed.
    pub(super) fn is_awake_for_further(&self, cx: &Context) -> bool {
        cx.aside.has_further() && (cx.further.is_any_ready() || cx.further.version != self.further.version())
    }

    /// Drops all that a context keeps of the segment with that base.
    fn drop_foothold(&self, cx: &mut Context, base: u32) {
        let Some(at) = cx.further.all.iter().position(|foothold| foothold.joined.base() == base) else {
            return;
        };
        let foothold = cx.further.all.swap_remove(at);
        foothold.rings.iter().flatten().for_each(|incoming| incoming.leave());
        if foothold.armed {
            foothold.joined.count_armed(-1);
        }
        let unanswered = cx.requests.forget(|peer| foothold.joined.has(peer));
        cx.aside.end_requests(unanswered);
        if let Some(device) = &self.xpmem {
            cx.attached.forget_all(device.as_ref(), |peer| foothold.joined.has(peer));
        }
    }

    /// Announces the sleep of a context at the bells of its further segments. A full barrier follows, and then a look at the bits.
    pub(super) fn arm_further(&self, cx: &mut Context) {
        for foothold in &mut cx.further.all {
            if !core::mem::replace(&mut foothold.armed, true) && foothold.joined.count_armed(1) {
                foothold.inbox.bell().store(ASLEEP, Ordering::Relaxed);
            }
        }
    }

    /// Ends the sleep of a context that was announced there.
    pub(super) fn disarm_further(&self, cx: &mut Context) {
        for foothold in &mut cx.further.all {
            if core::mem::replace(&mut foothold.armed, false) {
                foothold.joined.count_armed(-1);
                doorbell::disarm::<Mapped>(&foothold.inbox, core::iter::empty(), self.barriers());
            }
        }
    }
}
