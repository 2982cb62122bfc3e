//! The ranks' output and input on their way through the daemon.
//!
//! Each output has a window of its own (`link`): what is full is taken out of the epoll until
//! mpirun has written some of it, and holds up nobody else.

use super::feed::Wait;
use super::lines;
use super::relay::BACKLOG;
use super::state::{Daemon, FEED, OUTPUTS, PROMPT, SERVER};
use crate::failed;
use crate::link::{FromNode, Stream};
use rustix::event::epoll::{self, EventData, EventFlags};
use std::time::Instant;

impl Daemon {
    /// Has the epoll report what a rank prints.
    pub(super) fn watch_output(&mut self, local: usize, stream: Stream) -> Result<(), String> {
        let Some(output) = &mut self.ranks[local].outputs[stream.index()] else { return Ok(()) };
        let token = OUTPUTS + 2 * local as u64 + stream.index() as u64;
        output.watched = true;
        epoll::add(&self.epoll, output.fd(), EventData::new_u64(token), EventFlags::IN)
            .map_err(failed("cannot wait for a rank's output"))
    }

    pub(super) fn has_room(&self, local: usize, stream: Stream) -> bool {
        let output = self.ranks.get(local).and_then(|rank| rank.outputs[stream.index()].as_ref());
        output.is_none_or(|output| output.unwritten < self.window)
    }

    /// mpirun has written some.
    pub(super) fn note_written(&mut self, rank: u32, stream: Stream, bytes: u64) {
        let Some(local) = self.place(rank) else { return };
        if let Some(output) = &mut self.ranks[local].outputs[stream.index()] {
            output.unwritten = output.unwritten.saturating_sub(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
    }

    pub(super) fn read_output(&mut self, output: u64) {
        let local = (output / 2) as usize;
        let stream = Stream::ALL[(output % 2) as usize];
        if self.has_room(local, stream) {
            // It may be its last word.
            if self.strangers.counts_print(local) {
                self.look_for_stranger(local);
            }
            self.forward(local, stream);
        }
    }

    /// Reads one output once and sends on what is whole. True: there may be more.
    pub(super) fn forward(&mut self, local: usize, stream: Stream) -> bool {
        let Some(output) = self.ranks.get_mut(local).and_then(|rank| rank.outputs[stream.index()].as_mut())
        else {
            return false;
        };
        let (piece, state) = output.read();
        output.unwritten += piece.bytes.len();
        let rank = self.launch.local_ranks[local];
        if state == lines::State::Ended {
            let promised = output.has_promised();
            self.ranks[local].outputs[stream.index()] = None;
            self.end_output(rank, stream, promised, piece.bytes);
        } else {
            self.send_output(rank, stream, piece.more, piece.bytes);
        }
        state == lines::State::More
    }

    /// The last words of an output; without any, that no more comes, if more was promised.
    pub(super) fn end_output(&mut self, rank: u32, stream: Stream, promised: bool, bytes: Vec<u8>) {
        match promised && self.linked {
            true => self.say(&FromNode::Output { stream, rank, more: false, bytes }),
            false => self.send_output(rank, stream, false, bytes),
        }
    }

    fn send_output(&mut self, rank: u32, stream: Stream, more: bool, bytes: Vec<u8>) {
        if let (Stream::Err, false, Some(time)) = (stream, bytes.is_empty(), &mut self.own_endings) {
            time.note_words();
        }
        if !bytes.is_empty() && self.linked {
            self.say(&FromNode::Output { stream, rank, more, bytes });
        }
    }

    /// Reads one output as long as there is something and its window is open.
    pub(super) fn drain(&mut self, local: usize, stream: Stream) {
        while self.has_room(local, stream) && self.forward(local, stream) {}
    }

    /// Outputs with a full window are not looked at, and ranks not heard while mpirun does not
    /// take what is said.
    pub(super) fn pause_and_resume(&mut self) {
        for local in 0..self.ranks.len() {
            for stream in Stream::ALL {
                let room = self.has_room(local, stream);
                let Some(output) = &mut self.ranks[local].outputs[stream.index()] else { continue };
                let done = match (room, output.watched) {
                    (true, false) => self.watch_output(local, stream),
                    (false, true) => {
                        // Taken out altogether: a closed pipe is reported whatever is asked for.
                        output.watched = false;
                        epoll::delete(&self.epoll, output.fd()).map_err(|why| why.to_string())
                    }
                    _ => Ok(()),
                };
                debug_assert!(done.is_ok(), "{done:?}");
            }
        }
        let heard = self.link.unsent() < BACKLOG;
        if heard != self.server_watched {
            self.server_watched = heard;
            let flags = if heard { EventFlags::IN } else { EventFlags::empty() };
            let _ = epoll::modify(&self.epoll, self.server.as_fd(), EventData::new_u64(SERVER), flags);
            self.watch_below(heard);
        }
    }

    /// The beginning of a line that has waited long enough, for a user who looks on.
    pub(super) fn show_prompts(&mut self, now: Instant) {
        for local in 0..self.ranks.len() {
            for stream in Stream::ALL {
                let Some(output) = &mut self.ranks[local].outputs[stream.index()] else { continue };
                if output.waiting_since().is_some_and(|since| since + PROMPT <= now) {
                    let (bytes, more) = (output.take_rest(), output.has_promised());
                    output.unwritten += bytes.len();
                    let rank = self.launch.local_ranks[local];
                    self.send_output(rank, stream, more, bytes);
                }
            }
        }
    }

    /// Copies standard input to its readers as far as they take it. The descriptor that is waited for next
    /// is put into the epoll set for one event.
    pub(super) fn give_input(&mut self) {
        let Some(feed) = &mut self.feed else { return };
        let once = EventFlags::ONESHOT;
        let watch = |fd, flags: EventFlags| {
            let data = EventData::new_u64(FEED);
            // It is there already, disarmed, or comes now.
            let known = epoll::modify(&self.epoll, fd, data, flags | once);
            known.or_else(|_| epoll::add(&self.epoll, fd, data, flags | once))
        };
        let done = match feed.turn() {
            Wait::Source => watch(feed.source(), EventFlags::IN),
            Wait::Readers(all) => {
                all.into_iter().try_for_each(|place| watch(feed.reader(place), EventFlags::OUT))
            }
            Wait::Over => {
                self.feed = None;
                Ok(())
            }
        };
        if done.is_err() {
            // Without it nobody would ever be waited for: they see the end of their input.
            self.feed = None;
        }
    }
}
