//! Links that daemons of a job make for themselves: what a rank asks of another node goes there and back without mpirun.
//!
//! **Doors.** Every daemon of a job over several machines listens, says where when it comes, and all addresses travel with the job
//! (`remote::doors`). It is another port than the one at which daemons come at the start, which is free again when they are there; the
//! one on mpirun's machine gets it from mpirun. Where mpirun has all daemons on its own machine there are no doors.
//!
//! **Calls.** The first question for a node has a link made to it (`line`): all its addresses are tried at once, and the first that answers
//! as that daemon of this job is kept. Both prove that they know the job's secret by challenge and answer (`shake`), over the numbers of both
//! nodes and the job, so a daemon of another job is a stranger like any other; nothing but those frames is read before. Questions
//! go from the caller to the door alone. How many links there are, which are closed, and what goes through the tree instead is
//! decided in [`Table`], which has no sockets.
//!
//! **Bounds.** A daemon makes at most [`table::MOST`] links and takes at most [`door::MOST`]; callers beyond wait in the
//! socket's queue until one is out of use. A caller that asks and does not read is not listened to.
//!
//! **Ends.** A link that breaks is no news: mpirun hears of the death of a daemon by the tree, and questions that were under way go there, too. A
//! peer that is silent for good is noticed as on any link (`remote::socket`).
//!
//! Everything is in one epoll, which whoever owns this waits for; nothing here blocks, and nothing here has threads.

mod door;
mod events;
mod identity;
mod line;
mod shake;
pub mod table;

use crate::link::{Counts, Direct, Exchange};
use crate::remote::doors::Doors;
use crate::remote::socket;
use door::{Door, Said};
use events::{GUEST, LINE, LISTENER};
use identity::DaemonIdentity;
use line::{Line, Turned};
use oxmpi_wireup::Secret;
use rustix::event::epoll;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;
pub use table::{Question, Step, Table};

/// A daemon's links to daemons of other nodes.
#[derive(Debug)]
pub struct Links {
    epoll: OwnedFd,
    own: DaemonIdentity,
    doors: Doors,
    door: Option<Door>,
    lines: BTreeMap<u32, Line>,
    table: Table,
    look_at: Instant,
    /// Of lines that are gone.
    counts: Counts,
    /// That a link cannot be made was said.
    told: bool,
}

/// Something for the owner.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A daemon asks for a value of this node; answered by [`Links::answer`] to this caller.
    Ask { caller: u64, proc: u32, key: String },
    /// Values of another node.
    Answer { proc: u32, key: String, values: Vec<(u32, Option<Vec<u8>>)>, whole: bool },
    /// To be asked through the tree.
    ByTree(Question),
    /// A link cannot be made, the first of all that cannot: to which node, and why.
    Cannot { node: u32, why: String },
    /// Somebody who is no daemon of this job was refused: who, and why.
    Refused(String),
}

impl Links {
    /// Of the daemon of this node. `listener`: where it listens, by one of the addresses that others have of it.
    pub fn new(
        node: u32,
        job: u64,
        secret: Secret,
        doors: Doors,
        listener: Option<TcpListener>,
    ) -> std::io::Result<Links> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let own = DaemonIdentity { node, job, secret };
        let door = listener.map(|listener| Door::new(listener, own.clone(), epoll.as_fd())).transpose()?;
        let now = Instant::now();
        Ok(Links {
            epoll,
            own,
            doors,
            door,
            lines: BTreeMap::new(),
            table: Table::new(table::MOST, now),
            look_at: now + socket::LOOK,
            counts: Counts::default(),
            told: false,
        })
    }

    /// Asks a node for a value. The outcome is to be dealt with at once.
    pub fn ask(&mut self, node: u32, question: Question) -> Vec<Heard> {
        if self.doors.of(node).is_empty() {
            return vec![Heard::ByTree(question)];
        }
        let steps = self.table.want(node, question, Instant::now());
        let mut heard = Vec::new();
        self.take_steps(steps, &mut heard);
        heard
    }

    /// Values of this node for one who has asked; one that is gone needs none.
    pub fn answer(&mut self, caller: u64, answer: Exchange) {
        if let Some(door) = &mut self.door {
            door.answer(caller, answer, self.epoll.as_fd());
        }
    }

    /// Does all there is to do.
    pub fn turn(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        let mut ready = Vec::with_capacity(64);
        let none = rustix::event::Timespec::default();
        let mut wait = || epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut ready), Some(&none));
        // Where it cannot be waited for, nothing comes, and the time limits hold.
        while let Err(Errno::INTR) = wait() {}
        for event in &ready {
            let number = event.data.u64();
            match (number & 3, number >> 2) {
                (LISTENER, _) => self.accept(),
                (GUEST, caller) => self.hear_guest(caller, &mut heard),
                (LINE, number) => self.hear_line((number >> 8) as u32, number as u8, &mut heard),
                _ => {}
            }
        }
        let refusals = self.door.as_mut().map(Door::refusals).unwrap_or_default();
        heard.extend(refusals.into_iter().map(Heard::Refused));
        heard
    }

    /// Does what is due: ends silent links, unused ones, attempts that take too long.
    pub fn look(&mut self, now: Instant) -> Vec<Heard> {
        let mut heard = Vec::new();
        if now < self.look_at {
            return heard;
        }
        self.look_at = now + socket::LOOK;
        if let Some(door) = &mut self.door {
            door.look(now, self.epoll.as_fd());
        }
        let over: Vec<(u32, String)> =
            self.lines.iter().filter_map(|(node, line)| Some((*node, line.is_over(now)?))).collect();
        for (node, why) in over {
            self.lose(node, &why, &mut heard);
        }
        let steps = self.table.expire(now);
        self.take_steps(steps, &mut heard);
        heard
    }

    /// When `look` is due, while there is something to look at.
    pub fn deadline(&self) -> Option<Instant> {
        let quiet =
            self.lines.is_empty() && self.table.is_quiet() && self.door.as_ref().is_none_or(Door::is_quiet);
        (!quiet).then_some(self.look_at)
    }

    /// mpirun is gone: so are we, for all.
    pub fn clear(&mut self) {
        self.door = None;
        self.lines.clear();
        self.table.give_up();
    }

    /// Messages of the wire-up that went over links of this daemon's making, and of others'.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts;
        self.lines.values().for_each(|line| counts.join(line.counts()));
        self.door.iter().for_each(|door| counts.join(door.counts()));
        counts
    }

    fn accept(&mut self) {
        if let Some(door) = &mut self.door {
            door.accept(self.epoll.as_fd());
        }
    }

    fn hear_guest(&mut self, caller: u64, heard: &mut Vec<Heard>) {
        let Some(door) = &mut self.door else { return };
        for Said { proc, key } in door.hear(caller, self.epoll.as_fd()) {
            heard.push(Heard::Ask { caller, proc, key });
        }
    }

    fn hear_line(&mut self, node: u32, attempt: u8, heard: &mut Vec<Heard>) {
        let Some(line) = self.lines.get_mut(&node) else { return };
        match line.turn(attempt, &self.own, self.epoll.as_fd()) {
            Turned::Waits => {}
            Turned::Over(why) => self.lose(node, &why, heard),
            Turned::Opened => {
                let steps = self.table.opened(node, Instant::now());
                self.take_steps(steps, heard);
                self.hear_line(node, attempt, heard);
            }
            Turned::Heard { words, over } => {
                for Direct(exchange) in words {
                    if !self.take_answer(node, exchange, heard) {
                        return self.lose(node, "it answers what nobody has asked", heard);
                    }
                }
                if let Some(why) = over {
                    self.lose(node, &why, heard);
                }
            }
        }
    }

    /// False: that is no answer to a question of this daemon's.
    fn take_answer(&mut self, node: u32, exchange: Exchange, heard: &mut Vec<Heard>) -> bool {
        let Exchange::Answer { proc, key, values, whole, .. } = exchange else { return false };
        let question = Question { proc, key };
        let Some(steps) = self.table.answered(node, &question, Instant::now()) else { return false };
        let Question { proc, key } = question;
        heard.push(Heard::Answer { proc, key, values, whole });
        self.take_steps(steps, heard);
        true
    }

    fn lose(&mut self, node: u32, why: &str, heard: &mut Vec<Heard>) {
        let Some(line) = self.lines.remove(&node) else { return };
        self.counts.join(line.counts());
        if !line.is_open() && !std::mem::replace(&mut self.told, true) {
            heard.push(Heard::Cannot { node, why: why.to_owned() });
        }
        let steps = self.table.lost(node, Instant::now());
        self.take_steps(steps, heard);
    }

    fn take_steps(&mut self, steps: Vec<Step>, heard: &mut Vec<Heard>) {
        for step in steps {
            match step {
                Step::ByTree(question) => heard.push(Heard::ByTree(question)),
                Step::Close(node) => {
                    if let Some(line) = self.lines.remove(&node) {
                        self.counts.join(line.counts());
                    }
                }
                Step::Ask(node, Question { proc, key }) => {
                    let word = Direct(Exchange::Ask { from: self.own.node, proc, key });
                    if let Some(line) = self.lines.get_mut(&node) {
                        line.send(node, &word, self.epoll.as_fd());
                    }
                }
                Step::Connect(node) => {
                    let line = Line::begin(node, self.doors.of(node), self.epoll.as_fd());
                    // One that failed at once is heard of when it is served first.
                    let failed = line.failed();
                    self.lines.insert(node, line);
                    if let Some(why) = failed {
                        self.lose(node, &why, heard);
                    }
                }
            }
        }
    }
}

impl AsFd for Links {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

#[cfg(test)]
mod tests;
