//! A stream's connection: what waits goes out by it, it is taken off where it ends, and another is put on.
//!
//! **A process of another job may part from this one while both go on** (MPI_Comm_disconnect). Each tells the other once its host knows that one no
//! more, and a stream is shut when both have told: neither loses what the other, which may part later, still has to say.

use crate::context::Context;
use crate::frame::Kind;
use crate::rail::Tcp;
use crate::stream::Link;
use crate::sys::{self, Interest};
use core::mem::replace;
use core::time::Duration;
use oxmpi_mca::{Status, StrRef};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Messages join others that wait for the socket, or for the end of the turn, up to so many bytes: what waits goes by one call of
/// the system. Beyond that it is known that the network takes no more.
pub(crate) const JOINED: u64 = 32 << 10;
/// The process with the higher name leaves the first call to the other for so long.
const COURTESY: Duration = Duration::from_millis(20);
/// Connections without a single whole frame after which a process counts as failed.
const BARREN: u32 = 200;
/// No acknowledgement is told before so many bytes.
const LEAST_TOLD: u64 = 4096;

impl Tcp {
    /// Sends what waits on a stream: at once, but for what is sent inside of a turn, such as answers to what came. That goes
    /// together at the turn's end, unless it is much.
    pub(crate) fn flush_soon(&self, cx: &mut Context, slot: usize) {
        if cx.inside && cx.streams[slot].out.unsent() < JOINED {
            cx.send_late(slot);
        } else {
            self.flush(cx, slot);
        }
    }

    /// Sends what waits on a stream, as far as its socket takes it.
    pub(crate) fn flush(&self, cx: &mut Context, slot: usize) {
        cx.take_back(slot);
        let token = cx.streams.name(slot).token();
        let s = &mut cx.streams[slot];
        let Link::Up(fd) = &s.link else { return };
        if s.broken {
            return;
        }
        if s.out.unsent() > 0 {
            s.wrote = Some(Instant::now());
        }
        let flushed = s.out.flush(|pieces| match pieces {
            [piece] => sys::write(fd, piece),
            _ => sys::write_pieces(fd, pieces),
        });
        let wants = if matches!(flushed, Ok(false)) { Interest::Both } else { Interest::Read };
        let changed = replace(&mut s.interest, wants) != wants;
        let unheard = changed && cx.poller.change(fd, token, wants).is_err();
        if flushed.is_err() || unheard {
            s.broken = true;
            cx.list(slot);
        }
    }

    /// Takes the connection off a stream.
    pub(crate) fn disconnect(&self, cx: &mut Context, slot: usize, then: Link) {
        cx.take_back(slot);
        let s = &mut cx.streams[slot];
        if let Link::Up(fd) = replace(&mut s.link, then) {
            cx.poller.remove(&fd);
        }
        s.inn.forget();
        s.broken = false;
    }

    /// Ends a stream for good. Its slot is free for another, and its memory goes: a process may see many others come and go.
    pub(crate) fn shut(&self, cx: &mut Context, slot: usize) {
        self.disconnect(cx, slot, Link::Shut);
        let s = &mut cx.streams[slot];
        s.inn.release();
        let kept = s.out.give_up();
        s.out.release();
        cx.released.extend(kept.map(|done| (done, Status::PEER_FAILED)));
        cx.streams.free(slot);
    }

    /// Goes on with the end of a stream to a process that is known no more; true: it is shut.
    pub(crate) fn part_from(&self, cx: &mut Context, slot: usize) -> bool {
        let s = &mut cx.streams[slot];
        match &s.link {
            // Messages that were sent before still have to go.
            Link::Resting(_) | Link::Calling(_) if !s.out.is_settled() => return false,
            Link::Up(_) => {
                if !replace(&mut s.told_parted, true) {
                    s.note(Kind::Part);
                }
                self.flush(cx, slot);
                let s = &cx.streams[slot];
                if !s.they_parted || s.out.unsent() > 0 {
                    return false;
                }
            }
            _ => {}
        }
        self.shut(cx, slot);
        true
    }

    /// The connection is broken: it is made again.
    pub(crate) fn lost(&self, cx: &mut Context, slot: usize, why: String) {
        let s = &mut cx.streams[slot];
        self.host.debug(&format!("the connection with process {} broke: {why}", s.core.proc));
        let now = Instant::now();
        let mark = (s.inn.reached(), s.out.settled_to());
        let trouble = &mut s.trouble;
        trouble.barren = if mark == trouble.mark { trouble.barren + 1 } else { 0 };
        trouble.last = why;
        if trouble.barren > BARREN {
            let why = format!("{BARREN} connections brought nothing ({})", trouble.last);
            return self.fail(cx, slot, &why);
        }
        let pause = if trouble.barren > 3 { COURTESY * 2 } else { Duration::ZERO };
        let pause = if s.core.first { pause } else { pause + COURTESY };
        self.disconnect(cx, slot, Link::Resting(now + pause));
        cx.wake_at(now + pause);
    }

    /// The process is given up: everybody is told, once.
    pub(crate) fn fail(&self, cx: &mut Context, slot: usize, why: &str) {
        self.shut(cx, slot);
        let core = cx.streams[slot].core.clone();
        core.loss.declare(|| {
            let message = format!("connection of btl tcp given up: {why}");
            let failed = self.host.services().peer_failed;
            failed(self.host.table().instance, core.proc, Status::PEER_FAILED, StrRef::of(&message));
        });
    }

    /// A connection is there, both sides have proved themselves, and `out` is where the peer is.
    pub(crate) fn connection_proved(&self, cx: &mut Context, slot: usize, fd: OwnedFd, their_window: u32) {
        let token = cx.streams.name(slot).token();
        // One that we called is in the set already.
        let known = cx
            .poller
            .change(&fd, token, Interest::Read)
            .or_else(|_| cx.poller.add(&fd, token, Interest::Read));
        if let Err(e) = known {
            return self.lost(cx, slot, e.to_string());
        }
        let window = u64::from(their_window).min(self.settings.window as u64);
        let s = &mut cx.streams[slot];
        s.tell_after = (window / 8).max(LEAST_TOLD);
        s.told = s.at();
        s.interest = Interest::Read;
        s.broken = false;
        (s.trouble.since, s.trouble.calls, s.trouble.silent) = (None, 0, 0);
        s.trouble.mark = (s.inn.reached(), s.out.settled_to());
        (s.told_parted, s.they_parted) = (false, false);
        s.link = Link::Up(fd);
        self.flush(cx, slot);
        cx.list(slot);
    }
}
