//! Processes that come and go while the instance runs: those of the job, and those of a second one.

use super::service::{answer_requests, is_answer, request};
use crate::harness::{Harness, Link, local_proc};
use crate::host::Arrived;
use crate::message::Msg;
use crate::setup::{Reach, Setup};
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_btl::{ProcInfo, cap};
use oxmpi_mca::{SharedSegment, Status};
use rustix::fs::{MemfdFlags, memfd_create};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

crate::check!(Life: a_second_job_comes_and_goes, an_unknown_segment_is_refused, processes_come_and_go);
crate::check!(Service: requests_of_a_second_job);

/// Everybody talks to everybody of the job.
fn talk(h: &Harness, seed: u64) {
    for (i, link) in h.links().into_iter().enumerate() {
        for ctx in 0..h.ranks[link.from].contexts().min(h.ranks[link.to].contexts()) {
            let (to, msg) = (&h.ranks[link.to].host, Msg::new(seed + i as u64, 24, 100));
            let before = to.arrived();
            h.push(link, ctx, &msg);
            h.settle(link.to, before + 1);
            let got = to.take();
            assert_eq!(
                (got[0].proc, got[0].ctx, &got[0].bytes),
                (link.from as u32, ctx, &msg.bytes()),
                "{}",
                h.name
            );
        }
    }
}

/// Endpoints are given back and asked for at any time, by one side or by both; what is sent then arrives as ever, and once.
fn processes_come_and_go(setup: &Setup) {
    let mut h = Harness::new(setup);
    let all: Vec<ProcInfo> = (0..h.ranks.len() as u32).map(local_proc).collect();
    let links = h.links();
    for round in 0..6 {
        talk(&h, 100 * round);
        let (name, leaves) =
            (h.name.clone(), |number: usize| round % 3 == 0 || number as u64 % 3 == round % 3);
        let parted: Vec<usize> = (0..h.ranks.len()).filter(|number| leaves(*number)).collect();
        for &number in &parted {
            let endpoints = std::mem::take(&mut h.ranks[number].endpoints);
            assert_eq!(h.ranks[number].del_procs(&endpoints), Status::OK, "{name}: del_procs");
        }
        (0..10).for_each(|_| _ = h.progress());
        for &number in &parted {
            let again = h.ranks[number].add_procs(&all);
            h.ranks[number].endpoints = again.unwrap_or_else(|s| panic!("{name}: add_procs again: {s}"));
        }
        assert_eq!(h.links(), links, "{name}: others are reached than before");
    }
    talk(&h, 1000);
}

/// Number of the meeting segment in the first job and in the second.
const NUMBERS: [u32; 2] = [1, 6];

/// Two jobs whose processes have places in one segment, those of the first job first.
struct Jobs {
    jobs: [Harness; 2],
    /// Ranks of each.
    ranks: usize,
    _meeting: OwnedFd,
}

/// A process as one of the other job, job number `job`, knows it.
fn index(job: usize, rank: usize, round: u32) -> u32 {
    1000 * (job as u32 + 1) + 100 * round + rank as u32
}

impl Jobs {
    fn new(setup: &Setup) -> Jobs {
        let jobs = [Harness::new(setup), Harness::new(setup)];
        let meeting = memfd_create("oxmpi-meeting", MemfdFlags::CLOEXEC).expect("memfd");
        let ranks = jobs[0].ranks.len();
        let places = (2 * ranks) as u32;
        for (number, job) in jobs.iter().enumerate() {
            for (place, rank) in (ranks * number..).zip(&job.ranks) {
                let (fd, local_rank) = (meeting.as_raw_fd(), place as u32);
                let segment =
                    SharedSegment { fd, local_rank, local_size: places, ..SharedSegment::default() };
                rank.host.set_segment(NUMBERS[number], Some(segment));
            }
        }
        Jobs { jobs, ranks, _meeting: meeting }
    }

    /// All processes of the other job, as those of `job` know them in a round.
    fn others(&self, job: usize, round: u32) -> Vec<ProcInfo> {
        let other = 1 - job;
        let info = |rank| ProcInfo {
            proc: index(other, rank, round),
            local_rank: (other * self.ranks + rank) as u32,
            local: 1,
            job: 1,
            segment: NUMBERS[job],
            ..ProcInfo::default()
        };
        (0..self.ranks).map(info).collect()
    }

    /// The processes of a job meet those of the other, whose endpoints stand behind those of its own from now on.
    fn meet(&mut self, job: usize, round: u32) {
        let others = self.others(job, round);
        for rank in &mut self.jobs[job].ranks {
            rank.host.set_guests(others.iter().map(|info| info.proc).collect());
            let endpoints = rank.add_procs(&others);
            let endpoints =
                endpoints.unwrap_or_else(|s| panic!("add_procs of another job: {s}: {}", rank.host.logged()));
            assert!(
                endpoints.iter().all(|endpoint| !endpoint.is_null()),
                "a process of another job is not reached"
            );
            rank.endpoints.extend(endpoints);
        }
    }

    /// They part from them.
    fn part(&mut self, job: usize) {
        for rank in &mut self.jobs[job].ranks {
            let gone = rank.endpoints.split_off(self.ranks);
            assert_eq!(rank.del_procs(&gone), Status::OK, "del_procs of another job");
            rank.host.set_guests(Vec::new());
        }
    }

    fn progress(&self) {
        self.jobs.iter().for_each(|h| _ = h.progress());
    }

    /// Progresses both until a rank has so many messages, and gives them.
    fn settle(&self, (job, rank): (usize, usize), count: usize) -> Vec<Arrived> {
        let (h, begun, mut got) = (&self.jobs[job], Instant::now(), Vec::new());
        while got.len() < count {
            self.progress();
            got.extend(h.ranks[rank].host.take());
            assert!(begun.elapsed() < h.patience, "{}: {} of {count} messages came", h.name, got.len());
        }
        (0..10).for_each(|_| self.progress());
        got.extend(h.ranks[rank].host.take());
        assert_eq!(got.len(), count, "{}: more messages arrived than were sent", h.name);
        got
    }

    /// Sends to rank `to` of the other job, progressing both while there is no room.
    fn push(&self, job: usize, from: usize, to: usize, ctx: u32, msg: &Msg) {
        let begun = Instant::now();
        loop {
            match self.jobs[job].ranks[from].send(self.ranks + to, ctx, msg) {
                Status::OK => return,
                Status::NO_RESOURCE => self.progress(),
                s => panic!("a message to another job was refused: {s}"),
            }
            assert!(begun.elapsed() < self.jobs[job].patience, "no room for a message to another job");
        }
    }

    /// Tries to send from rank 0 to rank 1 of the other job, which may not know the sender. False: there is no room before it does.
    fn tries(&self, job: usize, msg: &Msg) -> bool {
        match self.jobs[job].ranks[0].send(self.ranks + 1, 0, msg) {
            Status::OK => true,
            Status::NO_RESOURCE => false,
            s => panic!("a message to another job was refused: {s}"),
        }
    }

    /// Everybody talks to everybody of the other job, and what comes has the index of the round.
    fn talk(&self, round: u32) {
        for job in 0..2 {
            for (from, to) in (0..self.ranks).flat_map(|from| (0..self.ranks).map(move |to| (from, to))) {
                let rank = &self.jobs[job].ranks[from];
                let most = rank.btl.attrs().max_send_size as usize - 24;
                for (ctx, len) in
                    (0..rank.contexts()).flat_map(|ctx| [8, 400, 5000].map(|len| (ctx, len.min(most))))
                {
                    let msg = Msg::new(u64::from(round) + len as u64, 24, len);
                    self.push(job, from, to, ctx, &msg);
                    let got = self.settle((1 - job, to), 1);
                    assert_eq!(
                        (got[0].proc, got[0].ctx, got[0].tag),
                        (index(job, from, round), ctx, msg.tag)
                    );
                    assert!(got[0].bytes == msg.bytes(), "other bytes came than were sent");
                }
            }
        }
    }
}

/// Processes of a second job are added, talked to, taken back and added again, under other indices; the own job goes on as ever. A
/// message that is sent before its sender is known waits, and nothing of it is handed up behind `del_procs`.
fn a_second_job_comes_and_goes(setup: &Setup) {
    if !setup.grows {
        return;
    }
    assert!(setup.reach == Reach::Others, "a transport that grows reaches others");
    let mut jobs = Jobs::new(setup);
    for round in 0..3 {
        // One of the jobs is there first, and tries to talk at once.
        let early = round as usize % 2;
        jobs.meet(early, round);
        let (msg, late) = (Msg::new(7, 24, 30), (1 - early, 1));
        let sent = jobs.tries(early, &msg);
        assert_eq!(jobs.settle(late, 0), []);
        jobs.meet(1 - early, round);
        assert_eq!(jobs.settle(late, sent.into()).len(), usize::from(sent), "sent before it was known");
        jobs.talk(round);
        for h in &jobs.jobs {
            h.ranks.iter().for_each(|rank| rank.host.forget());
            talk(h, 50 + u64::from(round));
        }
        // The late one parts first, and hears nothing of what the other still sends until it knows it again.
        jobs.part(1 - early);
        let sent = jobs.tries(early, &msg);
        assert_eq!(jobs.settle(late, 0), []);
        jobs.meet(1 - early, round);
        let got = jobs.settle(late, sent.into());
        got.iter().for_each(|m| assert_eq!((m.proc, &m.bytes), (index(early, 0, round), &msg.bytes())));
        jobs.part(1 - early);
        jobs.part(early);
        (0..10).for_each(|_| jobs.progress());
        jobs.jobs.iter().for_each(|h| talk(h, 90 + u64::from(round)));
    }
}

/// A process whose segment the host does not know is an error, told by the transport, and the rank goes on.
fn an_unknown_segment_is_refused(setup: &Setup) {
    if !setup.grows {
        return;
    }
    let h = Harness::new(setup);
    let stranger =
        ProcInfo { proc: 4000, local_rank: 1, local: 1, job: 1, segment: 77, ..ProcInfo::default() };
    for rank in &h.ranks {
        let answer = rank.add_procs(&[stranger]);
        assert!(answer.is_err(), "{}: a process of a segment that does not exist is reached", h.name);
        let told = rank.host.logged();
        assert!(told.contains("77") && told.contains("4000"), "{}: nothing says which: {told}", h.name);
        // A process that is refused leaves nothing behind of those beside it.
        let beside = rank.add_procs(&[local_proc(0), local_proc(1), stranger]);
        assert!(beside.is_err(), "{}: a list with such a process", h.name);
    }
    talk(&h, 1);
}

/// Requests go to the service contexts of a second job, too, and the word that says so is seen behind progress.
fn requests_of_a_second_job(setup: &Setup) {
    if !setup.grows {
        return;
    }
    let mut jobs = Jobs::new(setup);
    if !jobs.jobs[0].ranks[0].can(cap::SERVICE) {
        return;
    }
    jobs.jobs.iter().for_each(answer_requests);
    for round in 0..2 {
        (0..2).for_each(|job| jobs.meet(job, round));
        for job in 0..2 {
            let (client, server) = (&jobs.jobs[job].ranks[0], &jobs.jobs[1 - job].ranks[1]);
            let pending = server.service_pending().cast::<AtomicU32>();
            // SAFETY: null, or a word that stays until `finalize`.
            let pending = unsafe { pending.as_ref() };
            for number in 0..40 {
                let msg = Msg::new(number, 0, 10 * number as usize);
                let link = Link { from: 0, to: jobs.ranks + 1 };
                assert_eq!(request(&jobs.jobs[job], link, 0, &msg), Status::OK, "a request to another job");
                let (begun, mut got) = (Instant::now(), Vec::new());
                while got.is_empty() {
                    jobs.progress();
                    if pending.is_none_or(|word| word.load(Ordering::SeqCst) != 0) {
                        server.serve();
                    }
                    got = client.host.take();
                    assert!(begun.elapsed() < jobs.jobs[job].patience, "no reply of another job");
                }
                let asked = server.host.take();
                assert_eq!((asked.len(), asked[0].proc), (1, index(job, 0, round)));
                assert_eq!((got.len(), got[0].proc), (1, index(1 - job, 1, round)));
                assert!(
                    asked[0].bytes == msg.bytes() && is_answer(&msg, got[0].tag, &got[0].bytes),
                    "{msg:?}"
                );
            }
        }
        (0..2).for_each(|job| jobs.part(job));
        jobs.progress();
        jobs.jobs.iter().flat_map(|h| &h.ranks).for_each(|rank| _ = rank.serve());
    }
}
