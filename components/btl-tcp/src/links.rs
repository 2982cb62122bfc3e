//! A stream's connection: what waits goes out by it, it is taken off where it ends, and another is put on.

use crate::context::{Context, STREAMS};
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys::{self, Interest};
use core::time::Duration;
use oxmpi_mca::{Status, StrRef};
use std::os::fd::OwnedFd;
use std::sync::Arc;
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
    pub(crate) fn flush_soon(&self, cx: &Context, s: &Stream) {
        if cx.inside.get() && s.out.borrow().unsent() < JOINED {
            cx.send_late(s);
        } else {
            self.flush(cx, s);
        }
    }

    /// Sends what waits on a stream, as far as its socket takes it.
    pub(crate) fn flush(&self, cx: &Context, s: &Stream) {
        let link = s.link.borrow();
        let Link::Up(fd) = &*link else { return };
        if s.broken.get() {
            return;
        }
        let flushed = s.out.borrow_mut().flush(|bytes| sys::write(fd, bytes));
        let wants = match flushed {
            Ok(true) => Interest::Read,
            Ok(false) => Interest::Both,
            Err(_) => {
                s.broken.set(true);
                cx.list(s);
                Interest::Read
            }
        };
        if s.interest.replace(wants) != wants && cx.poller.change(fd, STREAMS + s.slot as u64, wants).is_err()
        {
            s.broken.set(true);
            cx.list(s);
        }
    }

    /// Takes the connection off a stream.
    pub(crate) fn disconnect(&self, cx: &Context, s: &Stream, then: Link) {
        if let Link::Up(fd) = s.link.replace(then) {
            cx.poller.remove(&fd);
        }
        s.inn.borrow_mut().forget();
        s.broken.set(false);
    }

    pub(crate) fn shut(&self, cx: &Context, s: &Stream) {
        self.disconnect(cx, s, Link::Shut);
    }

    /// The connection is broken: it is made again.
    pub(crate) fn lost(&self, cx: &Context, s: &Arc<Stream>, why: String) {
        self.host.debug(&format!("the connection with process {} broke: {why}", s.core.proc));
        let now = Instant::now();
        let (pause, barren) = {
            let mut trouble = s.trouble.borrow_mut();
            let mark = (s.at.get(), s.out.borrow().settled_to());
            trouble.barren = if mark == trouble.mark { trouble.barren + 1 } else { 0 };
            trouble.last = why;
            let pause = if trouble.barren > 3 { COURTESY * 2 } else { Duration::ZERO };
            (if s.core.first { pause } else { pause + COURTESY }, trouble.barren)
        };
        if barren > BARREN {
            let why = s.trouble.borrow().last.clone();
            return self.fail(cx, s, &format!("{BARREN} connections brought nothing ({why})"));
        }
        self.disconnect(cx, s, Link::Resting(now + pause));
        cx.wake_at(now + pause);
    }

    /// The process is given up: everybody is told, once.
    pub(crate) fn fail(&self, cx: &Context, s: &Stream, why: &str) {
        self.shut(cx, s);
        s.core.loss.declare(|| {
            let message = format!("connection of btl tcp given up: {why}");
            let failed = self.host.services().peer_failed;
            failed(self.host.table().instance, s.core.proc, Status::PEER_FAILED, StrRef::of(&message));
        });
    }

    /// A connection is there, both sides have proved themselves, and `out` is where the peer is.
    pub(crate) fn connection_proved(&self, cx: &Context, s: &Arc<Stream>, fd: OwnedFd, their_window: u32) {
        let token = STREAMS + s.slot as u64;
        // One that we called is in the set already.
        let known = cx
            .poller
            .change(&fd, token, Interest::Read)
            .or_else(|_| cx.poller.add(&fd, token, Interest::Read));
        if let Err(e) = known {
            return self.lost(cx, s, e.to_string());
        }
        let window = u64::from(their_window).min(self.settings.window as u64);
        s.tell_after.set((window / 8).max(LEAST_TOLD));
        s.told.set(s.at.get());
        s.interest.set(Interest::Read);
        s.broken.set(false);
        {
            let mut trouble = s.trouble.borrow_mut();
            (trouble.since, trouble.calls) = (None, 0);
            trouble.mark = (s.at.get(), s.out.borrow().settled_to());
        }
        s.link.replace(Link::Up(fd));
        self.flush(cx, s);
        cx.list(s);
    }
}
