//! The proxy's loop.
//!
//! Commands are taken in order and started as nonblocking operations; those that are not complete at once are **pending**. Pending
//! operations are tested in every round (asynchronous progress), or only while a thread of the client waits or has just tested
//! (progress in calls). A round that found nothing leads to a pause, then to a yield, then to a sleep: of a second at most where
//! nothing is to be polled, and of 50 microseconds to a millisecond where something is. A command wakes the proxy from
//! either.

use crate::abi::*;
use crate::errors::{abort, class};
use crate::pmpi;
use crate::protocol::record::op;
use crate::protocol::sync::Ordering;
use crate::protocol::{doze, sys};
use crate::state::{Server, Work, add};
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);
const SLEEP: Duration = Duration::from_secs(1);

impl Server {
    pub fn run(&mut self) {
        sys::sharp_timers();
        let mut vain = 0;
        let mut nap = NAP;
        let mut looked = Instant::now();
        while !self.quit {
            if self.take_commands() | self.turn() {
                (vain, nap) = (0, NAP);
                continue;
            }
            vain += 1;
            let polls = self.polls();
            if vain < self.pace.spin {
                core::hint::spin_loop();
            } else if vain < self.pace.spin + self.pace.yields[usize::from(polls)] {
                std::thread::yield_now();
            } else {
                self.sleep(polls, nap);
                nap = (nap + nap / 4).min(LONGEST_NAP);
                if looked.elapsed() > SLEEP {
                    looked = Instant::now();
                    if !sys::alive(self.pid) {
                        abort(&format!("the client, process {}, is gone", self.pid));
                    }
                }
            }
        }
    }

    fn sleep(&mut self, polls: bool, nap: Duration) {
        self.control.doze.announce();
        if self.take_commands() || self.polls() != polls {
            self.control.doze.awake();
            return;
        }
        add(&self.control.counts.sleeps, 1);
        sys::wait(self.control.doze.word(), doze::ASLEEP, if polls { nap } else { SLEEP });
        self.control.doze.awake();
    }

    /// Is there something to poll for now? Always for a communicator that is being made: its thread waits, but perhaps for another
    /// of the proxies that make it.
    fn polls(&self) -> bool {
        let pending = !self.works.is_empty() || !self.probes.is_empty();
        let asked = || {
            self.control.waiters.load(Ordering::Acquire) > 0 || self.control.poke.load(Ordering::Acquire) != 0
        };
        // Others reach into windows whenever they like.
        self.creations.are_pending() || !self.windows.is_empty() || pending && (self.asynchronous || asked())
    }

    fn take_commands(&mut self) -> bool {
        let mut taken = 0;
        while taken < 64
            && let Some(index) = self.control.ring.pop()
        {
            taken += 1;
            self.execute(index);
        }
        if taken > 0 {
            add(&self.control.counts.commands, taken);
        }
        taken > 0
    }

    fn execute(&mut self, index: u32) {
        // SAFETY: the client published the record, and leaves it alone until it is done.
        let record = unsafe { &mut *self.record(index) };
        match record.op & !op::PERSISTENT {
            op::QUIT => {
                self.quit = true;
                self.complete(index, SUCCESS);
            }
            op::NOTHING => self.complete(index, SUCCESS),
            op::START | op::REQUEST_FREE | op::CANCEL => self.control_request(index, record),
            op::SEND..=op::MPROBE => self.message(index, record),
            op::BARRIER..=op::NEIGHBOR_ALLTOALLW => self.collective(index, record),
            op::COMM_DUP..=op::DIST_GRAPH => self.communicator(index, record),
            op::TYPE_CREATE..=op::TYPE_FREE => self.datatype(index, record),
            op::COMM_SET_INFO | op::COMM_GET_INFO => self.communicator(index, record),
            op::WIN_CREATE..=op::WIN_SYNC => self.window(index, record),
            op::PUT..=op::COMPARE_AND_SWAP => self.one_sided(index, record),
            unknown => abort(&format!("a command of unknown kind {unknown}")),
        }
    }

    fn turn(&mut self) -> bool {
        if !self.polls() {
            return false;
        }
        if !self.asynchronous {
            self.control.poke.store(0, Ordering::Relaxed);
        }
        add(&self.control.counts.turns, 1);
        self.test_pending() | self.test_probes() | self.turn_creations()
    }

    fn test_pending(&mut self) -> bool {
        let count = self.requests.len();
        if count == 0 {
            return false;
        }
        self.indices.resize(count, 0);
        self.statuses.resize(count, Status::default());
        let mut completed = 0;
        // SAFETY: both lists have room for all.
        let result = unsafe {
            pmpi::MPI_Testsome(
                count as c_int,
                self.requests.as_mut_ptr(),
                &raw mut completed,
                self.indices.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        if completed <= 0 {
            return false;
        }
        let mut done: Vec<(usize, Status, c_int)> = (0..completed as usize)
            .map(|i| {
                let error = if class(result) == ERR_IN_STATUS { self.statuses[i].error } else { SUCCESS };
                (self.indices[i] as usize, self.statuses[i], class(error))
            })
            .collect();
        // From the end, so that what moves into a gap has been looked at.
        done.sort_unstable_by_key(|d| core::cmp::Reverse(d.0));
        let finished: Vec<(Work, Status, c_int)> = done
            .into_iter()
            .map(|(at, status, error)| {
                self.requests.swap_remove(at);
                (self.works.swap_remove(at), status, error)
            })
            .collect();
        for (work, status, error) in finished.into_iter().rev() {
            self.finish(work, status, error);
        }
        true
    }

    fn test_probes(&mut self) -> bool {
        let waiting = core::mem::take(&mut self.probes);
        let before = waiting.len();
        for index in waiting {
            // SAFETY: the record is pending, so it is the proxy's.
            let record = unsafe { &mut *self.record(index) };
            if !self.probe(index, record) {
                self.probes.push(index);
            }
        }
        self.probes.len() < before
    }
}
