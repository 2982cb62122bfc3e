//! Further segments come and go: the module maps them, and each context follows when it next looks.
//!
//! **The news.** Whoever changes the list of segments (`add_procs`, `del_procs`, in any thread) sets this process's own ready bit in the first
//! segment's inbox of every context, a bit that no sender sets, and rings. A context that finds it looks at its further segments
//! from then on, in every turn, and first compares the version of the list ([`Homes::version`](crate::segment::home::Homes::version)). So
//! a process that has no further segments never asks for them.
//!
//! **Parting.** Before anything of a further segment is looked at, the list is followed: of a process that has no endpoint any more nothing is
//! handed up, and what it sends lies in the segment until it has one again.

use crate::context::Context;
use crate::device::Shm;
use crate::receiver::further::Lodging;
use crate::ring::Mapped;
use crate::segment::doorbell::{self, ASLEEP};
use crate::segment::home::{Entered, Home, Wanted};
use crate::segment::inbox::{InboxMem, ServiceMem};
use crate::segment::map::{Identity, Segment};
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
    pub(crate) fn join(&self, proc: &ProcInfo) -> Result<Option<(u32, Arc<Home>)>, Status> {
        let (who, number) = (proc.proc, proc.segment);
        let refuse = |status: Status, why: &str| {
            self.host().error(&format!("process {who} lies in shared segment {number} of this node: {why}"));
            status
        };
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
        let wanted = Wanted { proc: who, number, file, place: proc.local_rank };
        let added = self.homes.add(wanted, || self.enter(number, there));
        let (peer, home) = added.map_err(|status| {
            let (place, places) = (proc.local_rank, there.local_size);
            refuse(status, &format!("place {place} of {places} cannot be used ({})", status.name()))
        })?;
        // What it asked for before anybody knew it here.
        self.relay_requests(&home, Some(home.place(peer)));
        self.tell_contexts();
        Ok(Some((peer, home)))
    }

    /// Uncounts an endpoint to a peer of a further segment.
    pub(crate) fn part(&self, peer: u32) {
        self.homes.remove(peer);
        self.tell_contexts();
    }

    /// Maps segment `number` and enters it at our place.
    fn enter(&self, number: u32, there: SharedSegment) -> Result<Entered, Status> {
        let (me, ranks) = (there.local_rank, there.local_size);
        let refused = |error| {
            let (status, why) = explain(self.host(), (number, me, ranks), error);
            self.host().error(&why);
            status
        };
        let segment = Segment::open(there.fd, ranks, self.contexts).map_err(refused)?;
        let contexts = self.contexts.min(segment.layout().fifos);
        let (proc, pid, pid_namespace) = (self.host().job().rank, self.pid(), self.pid_namespace());
        let who = Identity { proc, pid, contexts, pid_namespace, xpmem: self.offer };
        segment.enter(me, who).map_err(refused)?;
        Ok(Entered { segment, me })
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
    fn relay_requests(&self, home: &Home, from: Option<u32>) {
        let there = home.segment.service_inbox(home.me);
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

    /// Gives a context its part of the segment of a peer that it is about to talk to. False: the segment has no words for such a context.
    pub(crate) fn meet(&self, cx: &mut Context, ctx: u32, peer: u32) -> bool {
        if cx.further.of(peer).is_some() {
            return true;
        }
        let Some(home) = self.home(peer).filter(|home| ctx < home.segment.layout().fifos) else {
            return false;
        };
        let Some(home) = self.homes.hold(home.base()) else { return false };
        cx.further.all.push(Lodging::new(home, ctx));
        cx.aside.set_further(true);
        true
    }

    /// Follows the list of segments, and calls the server where requests of further ones are there. Nothing of a further segment is out of
    /// its place.
    pub(super) fn follow(&self, cx: &mut Context, ctx: u32) {
        if self.homes.version() != cx.further.version {
            self.renew(cx, ctx);
        }
        cx.further.all.iter().for_each(|lodging| self.relay_requests(&lodging.home, None));
    }

    /// Lets go the segments that are leaving, takes part in new ones, and drops the rings of processes that are not known any more.
    #[cold]
    #[inline(never)]
    fn renew(&self, cx: &mut Context, ctx: u32) {
        let holds: Vec<u32> = cx.further.all.iter().map(|lodging| lodging.home.base()).collect();
        let changes = self.homes.changes(&holds, |home| ctx < home.segment.layout().fifos);
        for base in changes.gone {
            self.drop_lodging(cx, base);
            self.homes.let_go(base);
        }
        cx.further.all.extend(changes.new.into_iter().map(|home| Lodging::new(home, ctx)));
        for lodging in &mut cx.further.all {
            let home = &lodging.home;
            for ring in &mut lodging.rings {
                if ring.as_ref().is_some_and(|incoming| home.proc(incoming.source) != Some(incoming.proc)) {
                    ring.take().iter().for_each(|incoming| incoming.leave());
                }
            }
        }
        if self.take_up_further(cx, ctx) {
            cx.further.version = changes.version;
        } else {
            self.host()
                .error("membarrier worked once and then no more: rings of another job are looked for again");
        }
        cx.aside.set_further(!cx.further.all.is_empty());
    }

    /// Drops all that a context keeps of the segment with that base.
    fn drop_lodging(&self, cx: &mut Context, base: u32) {
        let Some(at) = cx.further.all.iter().position(|lodging| lodging.home.base() == base) else { return };
        let lodging = cx.further.all.swap_remove(at);
        lodging.rings.iter().flatten().for_each(|incoming| incoming.leave());
        if lodging.armed {
            lodging.home.count_armed(-1);
        }
        let unanswered = cx.requests.forget(|peer| lodging.home.has(peer));
        cx.aside.end_requests(unanswered);
        if let Some(device) = &self.xpmem {
            cx.attached.forget_all(device.as_ref(), |peer| lodging.home.has(peer));
        }
    }

    /// Announces the sleep of a context at the bells of its further segments. A full barrier follows, and then a look at the bits.
    pub(super) fn arm_further(&self, cx: &mut Context) {
        for lodging in &mut cx.further.all {
            if !core::mem::replace(&mut lodging.armed, true) && lodging.home.count_armed(1) {
                lodging.inbox.bell().store(ASLEEP, Ordering::Relaxed);
            }
        }
    }

    /// Ends the sleep of a context that was announced there.
    pub(super) fn disarm_further(&self, cx: &mut Context) {
        for lodging in &mut cx.further.all {
            if core::mem::replace(&mut lodging.armed, false) {
                lodging.home.count_armed(-1);
                doorbell::disarm::<Mapped>(&lodging.inbox, core::iter::empty(), self.barriers());
            }
        }
    }
}
