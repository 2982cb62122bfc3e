//! Progress, what waits for room, and sleeping.

use crate::guarded::{FIFO, Held};
use crate::module::Ob1;
use crate::peer::Peer;
use crate::request::State;
use core::sync::atomic::Ordering;
use oxmpi_btl::{WaitWord, cap};
use oxmpi_mca::Status;

impl Ob1 {
    /// Takes what the transports have and sends what waits. With threads, whoever does not get the
    /// lock leaves: somebody else is doing it.
    #[inline(always)]
    pub fn poll(&self) -> i32 {
        if self.threaded() { self.poll_threaded() } else { self.poll_as(false) }
    }
    #[inline(never)]
    fn poll_threaded(&self) -> i32 {
        self.poll_as(true)
    }

    #[inline(always)]
    pub fn poll_as(&self, threaded: bool) -> i32 {
        let Some(guard) = Held::try_take(&self.host, FIFO, threaded) else {
            self.host.cri(FIFO).lock_misses.fetch_add(1, Ordering::Relaxed);
            return 0;
        };
        let held = &guard.held;
        // SAFETY: accepted handles live as long as the instance.
        let mut events = match unsafe { self.lone.load(Ordering::Relaxed).as_ref() } {
            Some(btl) => (btl.progress)(btl.state, FIFO),
            None => self.poll_several(),
        };
        if self.backlog.with(held, |b| !b.is_empty()) {
            events += self.drain(held);
        }
        events
    }

    #[inline(never)]
    fn poll_several(&self) -> i32 {
        let active = self.transports().iter().filter(|t| self.is_active(t));
        active.map(|t| (t.btl.progress)(t.btl.state, FIFO)).sum()
    }

    /// Offers what waits to the transports again; returns how many messages went out.
    #[inline(never)]
    fn drain(&self, held: &Held<'_>) -> i32 {
        let mut events = 0;
        for i in (0..self.backlog.with(held, |b| b.len())).rev() {
            let peer = self.backlog.with(held, |b| b[i]);
            // SAFETY: peers stay until `finalize`.
            let peer = unsafe { &*peer };
            events += self.drain_peer(held, peer);
            if peer.is_idle(held) {
                self.backlog.with(held, |b| b.swap_remove(i));
                self.forget(peer);
            }
        }
        events
    }

    /// Control messages first (others wait for them), then sends in order, then long messages.
    fn drain_peer(&self, held: &Held<'_>, peer: &Peer) -> i32 {
        let mut events = 0;
        if !peer.drain_control(held, self) {
            return events;
        }
        while let Some(req) = peer.queue.with(held, |q| q.pop_front()) {
            peer.queued.set(peer.queued.get() - 1);
            match self.issue(held, peer, req) {
                Status::NO_RESOURCE => {
                    req.state.set(State::Queued);
                    peer.queue.with(held, |q| q.push_front(req));
                    peer.queued.set(peer.queued.get() + 1);
                    return events;
                }
                error if error.is_err() => {
                    self.fail(held, req, Status::PEER_FAILED);
                    self.peer_failed(held, peer, error);
                    return events;
                }
                _ => events += 1,
            }
        }
        let before = peer.streams.with(held, |q| q.len());
        self.drain_streams(held, peer);
        events += before.saturating_sub(peer.streams.with(held, |q| q.len())) as i32;
        events
    }

    /// PENDING while anything waits for room, or sends that were released are under way.
    pub fn flush_queues(&self) -> Status {
        self.poll();
        let held = Held::take(&self.host, FIFO, self.threaded());
        let waiting = self.backlog.with(&held, |b| !b.is_empty());
        if waiting || self.pools.detached.load(Ordering::Relaxed) != 0 { Status::PENDING } else { Status::OK }
    }

    /// Arms the transports through which something may come. One word can be slept on, so two such
    /// transports mean NOT_SUPPORTED, as does one that cannot wake a sleeper. Nobody announces room in
    /// a full transport: with anything waiting for that, nobody sleeps.
    pub fn arm_transports(&self, word: &mut WaitWord) -> Status {
        let held = Held::take(&self.host, FIFO, self.threaded());
        if self.backlog.with(&held, |b| !b.is_empty()) {
            return Status::PENDING;
        }
        let mut words = 0;
        let mut verdict = Status::OK;
        for (i, t) in self.transports().iter().enumerate().filter(|(_, t)| self.is_active(t)) {
            let (btl, own) = (t.btl, t.own);
            if btl.caps & cap::SLEEP == 0 {
                if own {
                    continue;
                }
                verdict = Status::NOT_SUPPORTED;
                break;
            }
            let mut w = WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 };
            self.armed.with(&held, |a| *a |= 1 << i);
            match (btl.arm)(btl.state, FIFO, &mut w) {
                Status::OK if own => {}
                Status::OK => {
                    *word = w;
                    words += 1;
                }
                other => {
                    verdict = other;
                    break;
                }
            }
        }
        if verdict.is_ok() && words != 1 {
            verdict = Status::NOT_SUPPORTED;
        }
        if !verdict.is_ok() {
            self.disarm_all(&held);
        }
        verdict
    }

    pub fn disarm_transports(&self) {
        self.disarm_all(&Held::take(&self.host, FIFO, self.threaded()));
    }

    fn disarm_all(&self, held: &Held<'_>) {
        let armed = self.armed.with(held, core::mem::take);
        for (_, t) in self.transports().iter().enumerate().filter(|(i, _)| armed & 1 << i != 0) {
            (t.btl.disarm)(t.btl.state, FIFO);
        }
    }
}
