//! The end: what was sent goes out, good-bye is said, and for a short while what is on its way is waited for.
//!
//! A message is safe once its receiver's process has it (acknowledged), or once its receiver's kernel has: it stays readable there
//! when this process is gone. For the first we wait a moment only, since the receiver may compute; for the second as long as
//! a network may take. All contexts part together.

use crate::context::Context;
use crate::frame::Kind;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys;
use crate::turn::Parting;
use core::time::Duration;
use std::time::Instant;

/// For acknowledgements of what every kernel has confirmed.
const MOMENT: Duration = Duration::from_millis(20);
/// For the network.
const LONGEST: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Nothing is under way.
    Done,
    /// The receiver's kernel has it all.
    There,
    Under,
}

impl Tcp {
    /// Sends what is left on some contexts; `each` gives them one after the other.
    pub(crate) fn part(&self, mut each: impl FnMut(&mut dyn FnMut(&mut Context))) {
        let begun = Instant::now();
        each(&mut |cx| (0..cx.streams.len()).for_each(|slot| self.ask_now(cx, slot)));
        loop {
            let mut worst = State::Done;
            each(&mut |cx| {
                cx.note_event();
                self.turn(&mut Parting(cx));
                worst = cx.streams.iter().map(state).max().unwrap_or(State::Done).max(worst);
            });
            let spent = begun.elapsed();
            match worst {
                State::Done => break,
                State::There if spent > MOMENT => break,
                _ if spent > LONGEST => break,
                _ => std::thread::sleep(Duration::from_micros(100)),
            }
        }
        each(&mut |cx| {
            for slot in 0..cx.streams.len() {
                let s = &mut cx.streams[slot];
                if s.is_up() {
                    s.note(Kind::Bye);
                    self.flush(cx, slot);
                }
                self.shut(cx, slot);
            }
        });
    }

    /// Has the peer say how far it is.
    fn ask_now(&self, cx: &mut Context, slot: usize) {
        let s = &mut cx.streams[slot];
        if s.is_up() && !s.out.is_settled() {
            s.note(Kind::Question);
            self.flush(cx, slot);
        }
    }
}

fn state(s: &Stream) -> State {
    match &s.link {
        _ if s.out.is_settled() => State::Done,
        Link::Shut | Link::Idle => State::Done,
        Link::Up(fd) if s.out.unsent() == 0 && sys::in_flight(fd) == 0 => State::There,
        _ => State::Under,
    }
}
