//! The end: what was sent goes out, good-bye is said, and for a short while what is on its way is waited for.
//!
//! A message is safe once its receiver's process has it (acknowledged), or once its receiver's kernel has: it stays readable there
//! when this process is gone. For the first we wait a moment only, since the receiver may compute; for the second as long as
//! a network may take.

use crate::context::Context;
use crate::frame::Kind;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys;
use core::time::Duration;
use std::sync::Arc;
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
    /// Sends what is left, everywhere.
    pub(crate) fn part(&self) {
        let begun = Instant::now();
        let all: Vec<&Context> = self.contexts.iter().chain([&self.service]).collect();
        for cx in &all {
            cx.closing.set(true);
            cx.all().iter().for_each(|s| self.ask_now(cx, s));
        }
        loop {
            let mut worst = State::Done;
            for cx in &all {
                cx.note_event();
                self.turn(cx);
                worst = cx.all().iter().map(state).max().unwrap_or(State::Done).max(worst);
            }
            let spent = begun.elapsed();
            match worst {
                State::Done => break,
                State::There if spent > MOMENT => break,
                _ if spent > LONGEST => break,
                _ => std::thread::sleep(Duration::from_micros(100)),
            }
        }
        for cx in &all {
            for s in cx.all() {
                if s.is_up() {
                    s.out.borrow_mut().note(Kind::Bye, s.at.get());
                    self.flush(cx, &s);
                }
                self.shut(cx, &s);
                s.link.replace(Link::Shut);
            }
        }
    }

    /// Has the peer say how far it is.
    fn ask_now(&self, cx: &Context, s: &Stream) {
        if s.is_up() && !s.out.borrow().is_settled() {
            s.out.borrow_mut().note(Kind::Question, s.at.get());
            self.flush(cx, s);
        }
    }
}

fn state(s: &Arc<Stream>) -> State {
    let settled = s.out.borrow().is_settled();
    match &*s.link.borrow() {
        _ if settled => State::Done,
        Link::Shut | Link::Idle => State::Done,
        Link::Up(fd) if s.out.borrow().unsent() == 0 && sys::in_flight(fd) == 0 => State::There,
        _ => State::Under,
    }
}
