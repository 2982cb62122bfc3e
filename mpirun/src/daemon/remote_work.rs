//! A daemon's further work where mpirun is on another machine: it serves the daemons below it, takes standard input that
//! comes in frames, and looks whether those to whom it has links still answer.

use super::relay;
use super::remote_state::RemoteState;
use super::state::{self, BELOW, Daemon};
use crate::direct::Links;
use crate::failed;
use crate::link::{DownMessage, Exchange, FromNode, INPUT, Passed, ToNode};
use crate::remote::socket;
use crate::remote::subtree::Subtree;
use oxmpi_wireup::frame::Malformed;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::Pid;
use std::time::Instant;

impl Daemon {
    /// Where mpirun is on another machine.
    pub(super) fn live_remotely(&mut self, remote: Option<RemoteState>) -> Result<(), String> {
        if let Some(below) = remote.as_ref().and_then(|remote| remote.below.as_ref()) {
            epoll::add(&self.epoll, below, EventData::new_u64(BELOW), EventFlags::IN)
                .map_err(failed("cannot wait for other daemons"))?;
        }
        self.remote = remote;
        Ok(())
    }

    /// Tells what of the wire-up went over its links, if that is asked for.
    pub(super) fn write_counts(&self) {
        crate::link::write_counts(&format!("node{}", self.launch.node), || {
            let below = self.remote.as_ref().and_then(|remote| remote.below.as_ref());
            let below = below.map(Subtree::counts).unwrap_or_default();
            let direct = self.direct.as_ref().map(Links::counts).unwrap_or_default();
            let [received, received_bytes, sent, sent_bytes] = self.server.traffic();
            let ranks = format!("{sent} {sent_bytes} {received} {received_bytes}");
            format!("up {}\nbelow {below}\ndirect {direct}\nranks {ranks}\n", self.link.counts())
        });
    }

    /// Nobody is left to talk to: end everything at once.
    pub(super) fn lose_mpirun(&mut self) {
        if self.linked {
            self.linked = false;
            let _ = epoll::delete(&self.epoll, &self.link);
            for rank in &mut self.ranks {
                rank.outputs = [None, None];
            }
            self.write_counts();
            self.remote.iter_mut().for_each(RemoteState::lose_mpirun);
            self.direct.iter_mut().for_each(Links::clear);
            self.phase.force();
        }
    }

    fn below(&mut self) -> Option<&mut Subtree> {
        self.remote.as_mut()?.below.as_mut()
    }

    fn pass_up(&mut self, all: Vec<Passed>) {
        if self.linked {
            all.iter().for_each(|passed| {
                // A frame that came can be sent.
                let _ = self.link.send(passed);
            });
        }
    }

    /// Messages of daemons below go up.
    pub(super) fn hear_below(&mut self) {
        if let Some(turn) = self.below().map(Subtree::turn) {
            self.pass_up(turn.up);
        }
    }

    /// Listens to those below, or not.
    pub(super) fn watch_below(&self, heard: bool) {
        if let Some(below) = self.remote.as_ref().and_then(|remote| remote.below.as_ref()) {
            let flags = if heard { EventFlags::IN } else { EventFlags::empty() };
            let _ = epoll::modify(&self.epoll, below, EventData::new_u64(BELOW), flags);
        }
    }

    /// Messages that came for daemons below; those that are for this one, too, are returned.
    pub(super) fn hand_down(&mut self, down: DownMessage) -> Result<Option<ToNode>, Malformed> {
        relay::hand_down(self.below(), down)
    }

    /// All ranks of this node have come to the fence. It is said when all below have.
    pub(super) fn enter_fence(&mut self) {
        if self.below().is_none_or(Subtree::enter_fence) {
            self.say(&FromNode::Exchange(Exchange::Fence));
        }
    }

    /// Looks, when it is time to, whether those at the links' other ends still answer.
    pub(super) fn look_at_links(&mut self, now: Instant) {
        let Some(remote) = self.remote.as_mut().filter(|remote| remote.look_at <= now) else {
            return;
        };
        remote.look_at = now + socket::LOOK;
        let lost = remote.below.as_mut().map(|below| below.look(now)).unwrap_or_default();
        self.pass_up(lost);
        if self.linked && socket::deaf(&self.link) {
            self.lose_mpirun();
        }
    }

    /// A piece of standard input; an empty one is the end.
    pub(super) fn take_input(&mut self, bytes: Vec<u8>) {
        let Some(remote) = &mut self.remote else { return };
        let Some(input) = &mut remote.input else { return };
        if input.queue.len() + bytes.len() > INPUT {
            self.say(&FromNode::Failed("mpirun sent more standard input than agreed".into()));
            return self.phase.force();
        }
        input.ended |= bytes.is_empty();
        input.queue.extend(bytes);
        self.give_own_input();
    }

    pub(super) fn give_own_input(&mut self) {
        let Some(input) = self.remote.as_mut().and_then(|remote| remote.input.as_mut()) else {
            return;
        };
        let (given, goes_on) = input.give();
        // Waited for only while there is something to give, and added once.
        let _ = epoll::delete(&self.epoll, &input.pipe);
        if goes_on && !input.queue.is_empty() {
            let _ = epoll::add(&self.epoll, &input.pipe, EventData::new_u64(state::INPUT), EventFlags::OUT);
        }
        if !goes_on && let Some(remote) = &mut self.remote {
            remote.input = None;
        }
        if given > 0 || !goes_on {
            let bytes = u32::try_from(given).unwrap_or(u32::MAX);
            self.say(&FromNode::Took { bytes, over: !goes_on });
        }
    }

    /// Children that are not the job's.
    pub(super) fn kept(&self) -> Vec<Pid> {
        self.remote.as_ref().map_or_else(Vec::new, RemoteState::agents)
    }
}
