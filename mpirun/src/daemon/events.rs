//! Words of ranks on their connections, and their ends.

use super::ending::Phase;
use super::state::Daemon;
use crate::link::{Ending, Exchange, FromNode, Mpi, Stream};
use oxmpi_wireup::server::{Event, Membership};
use std::time::{Duration, Instant};

/// How long the end of a connection may come before the end of the process that mpirun started.
const VANISH: Duration = Duration::from_millis(500);

impl Daemon {
    /// Messages of the ranks on their connections.
    pub(super) fn hear_ranks(&mut self) {
        let mut events = match self.server.turn() {
            Ok(events) => events,
            Err(why) => {
                self.say(&FromNode::Failed(why.to_string()));
                self.phase.force();
                return;
            }
        };
        if events.iter().any(|event| matches!(event, Event::Abort { .. })) {
            // Another rank may have parted from a job before that, and be heard later.
            events.extend(self.server.turn().unwrap_or_default());
            events.sort_by_key(|event| !matches!(event, Event::Jobs { .. }));
        }
        for event in events {
            match event {
                Event::Joined { .. } | Event::Finalized { .. } => {}
                Event::Help { rank, component, topic, text } => {
                    self.say(&FromNode::Help { rank, component, topic, text });
                }
                Event::AllHere => self.enter_fence(),
                Event::Gone { rank } if self.several_nodes() => {
                    self.say(&FromNode::Exchange(Exchange::Gone { rank }));
                }
                Event::Gone { .. } => {}
                Event::Wanted { proc, key } => self.ask(proc, key),
                Event::Abort { rank, code, origin, message, peer } => {
                    // It says where it was before it says that.
                    self.report_crash(rank);
                    let pid = self.pid_of(rank);
                    self.say(&FromNode::Abort { rank, pid, code, origin, message, peer });
                }
                Event::Crash(crash) => self.crashes.note(crash),
                Event::Jobs { rank, request } => self.say(&FromNode::Jobs { rank, request }),
                Event::NeverCame { rank, pid, waiting } => {
                    self.say(&FromNode::NeverInit { rank, pid, waiting });
                }
                Event::Broken { rank, why } => {
                    let pid = self.pid_of(rank);
                    self.say(&FromNode::Broken { rank, pid, why });
                }
                Event::Left { finalized: true, .. } => {}
                Event::Left { rank, finalized: false } => {
                    if let Some(local) = self.place(rank).filter(|&local| self.ranks[local].running) {
                        self.vanishing.push((Instant::now() + VANISH, local));
                    }
                }
            }
        }
    }

    pub(super) fn ended(&mut self, local: usize, ending: Ending) {
        self.phase.note_progress();
        self.ranks[local].running = false;
        self.vanishing.retain(|(_, other)| *other != local);
        self.hear_ranks();
        for stream in Stream::ALL {
            self.drain(local, stream);
        }
        if ending != Ending::Exit(0) {
            self.report_crash(self.launch.local_ranks[local]);
        }
        let mpi = match self.server.membership(local) {
            Membership::Absent => Mpi::Never,
            Membership::Joined { .. } => Mpi::Inside,
            Membership::Finalized { .. } => Mpi::Finalized,
        };
        let (rank, pid) = (self.launch.local_ranks[local], self.ranks[local].number());
        if mpi == Mpi::Never
            && let Some(library) = self.other_mpi(local)
        {
            self.say(&FromNode::OtherMpi { rank, library });
        }
        self.say(&FromNode::Exited { rank, pid, ending, mpi });
        if mpi == Mpi::Never && self.phase == Phase::Running {
            if self.several_nodes() {
                self.say(&FromNode::Exchange(Exchange::Never { rank, pid }));
            }
            self.server.never_comes(rank, pid);
            self.hear_ranks();
        }
    }
}
