//! Two jobs on one node, in one process: each has its segment, and they meet in a further one, leave it, and come again.
#![cfg(not(loom))]

mod common;

use common::*;
use oxmpi_btl::ProcInfo;
use oxmpi_mca::{SharedSegment, Status};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, memfd_create};
use std::time::{Duration, Instant};

/// Number of the meeting segment, as each job has it.
const IN_FIRST: u32 = 1;
const IN_SECOND: u32 = 4;

/// Segment of both jobs: places 0 and 1 are the first job's, the others the second's.
struct Meeting {
    fd: OwnedFd,
}

const FIRST: u32 = 2;
const SECOND: u32 = 3;

impl Meeting {
    fn new(name: &str) -> Meeting {
        Meeting { fd: memfd_create(name, MemfdFlags::CLOEXEC).expect("memfd") }
    }

    fn at(&self, place: u32) -> SharedSegment {
        let (fd, local_size) = (self.fd.as_raw_fd(), FIRST + SECOND);
        SharedSegment { fd, local_rank: place, local_size, ..SharedSegment::default() }
    }

    /// Gives a place to each rank of both jobs.
    fn invite(&self, first: &[Rank], second: &[Rank]) {
        first.iter().for_each(|rank| rank.give_segment(IN_FIRST, self.at(rank.local)));
        second.iter().for_each(|rank| rank.give_segment(IN_SECOND, self.at(FIRST + rank.local)));
    }
}

/// A process of the other job: local rank `local` of the first or the second, as the one that reaches it sees it.
fn first(local: u32) -> ProcInfo {
    ProcInfo {
        proc: 2000 + local,
        local_rank: local,
        local: 1,
        job: 1,
        segment: IN_SECOND,
        ..ProcInfo::default()
    }
}

fn second(local: u32, proc: u32) -> ProcInfo {
    let (local_rank, default) = (FIRST + local, ProcInfo::default());
    ProcInfo { proc: proc + local, local_rank, local: 1, job: 1, segment: IN_FIRST, ..default }
}

/// Counts the mappings of a file of that name in this process.
fn mappings(name: &str) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    maps.lines().filter(|line| line.contains(&format!("/memfd:{name} "))).count()
}

/// Sends one message of each size, and checks that it comes from `proc`.
fn talk(from: &Rank, ep: PeerEndpoint, to: &Rank, proc: u32) {
    for len in [0, 8, 56, 300, 4000, 30_000] {
        let (header, payload) = (bytes(len as u64, 24), bytes(len as u64 + 1, len));
        assert_eq!(from.send(ep, 7, &header, &payload), Status::OK, "{len} bytes");
        let got = to.drain();
        assert_eq!(got.len(), 1, "{len} bytes to {}: {:?}", to.local, to.reports());
        assert_eq!((got[0].proc, got[0].ctx, got[0].tag), (proc, 0, 7));
        assert_eq!(got[0].bytes, [header, payload].concat());
    }
}

/// Both ways between all ranks of both jobs; endpoints are given back.
fn meet(ours: &[Rank], theirs: &[Rank], procs: u32) {
    for a in ours {
        for b in theirs {
            let to = a.reach(second(b.local, procs)).expect("reachable");
            let back = b.reach(first(a.local)).expect("reachable");
            talk(a, to, b, 2000 + a.local);
            talk(b, back, a, procs + b.local);
            a.part(to);
            b.part(back);
        }
    }
}

fn jobs() -> (Vec<Rank>, Vec<Rank>) {
    (Node::new(FIRST).all(&[]), Node::new(SECOND).all(&[]))
}

#[test]
fn a_second_job_comes_leaves_and_comes_again() {
    let ours = Node::new(FIRST).all(&[]);
    let at_home = || {
        let to = ours[0].to(1);
        talk(&ours[0], to, &ours[1], job_rank(0));
        ours[0].part(to);
    };
    // The same file under the same number, then another one.
    let (meeting, other) = (Meeting::new("meeting"), Meeting::new("other"));
    for (round, meeting) in [&meeting, &meeting, &other].into_iter().enumerate() {
        let theirs = Node::new(SECOND).all(&[]);
        meeting.invite(&ours, &theirs);
        at_home();
        meet(&ours, &theirs, 1000 + 10 * round as u32);
        // All at once, and what one says does not come to another.
        let all: Vec<_> =
            theirs.iter().map(|b| ours[0].reach(second(b.local, 500)).expect("reachable")).collect();
        let backs: Vec<_> = theirs.iter().map(|b| b.reach(first(0)).expect("reachable")).collect();
        all.iter()
            .zip(&theirs)
            .for_each(|(to, b)| assert_eq!(ours[0].send(*to, b.local as u8, b"all", b""), Status::OK));
        theirs
            .iter()
            .for_each(|b| assert_eq!(b.drain().iter().map(|m| m.tag).collect::<Vec<_>>(), [b.local as u8]));
        talk(&theirs[2], backs[2], &ours[0], 502);
        all.into_iter().for_each(|to| ours[0].part(to));
        drop(theirs);
        ours.iter().for_each(|rank| assert_eq!(rank.drain(), []));
        assert_eq!(
            mappings("meeting") + mappings("other"),
            0,
            "round {round}: nothing of it is mapped any more"
        );
        at_home();
    }
    ours.iter().for_each(|rank| assert!(rank.reports().errors.is_empty(), "{:?}", rank.reports()));
}

#[test]
fn a_message_waits_until_its_sender_is_known() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("early"));
    meeting.invite(&ours, &theirs);
    let (a, b) = (&ours[0], &theirs[0]);
    let back = b.reach(first(0)).expect("reachable");
    let say = |tag| assert_eq!(b.send(back, tag, b"head", b"er"), Status::OK);
    let heard = || a.drain().iter().map(|m| (m.proc, m.tag)).collect::<Vec<_>>();
    // Before its segment is known here, and before it is, where another process of the segment is known.
    say(1);
    assert_eq!(heard(), []);
    let other = a.reach(second(1, 1000)).expect("reachable");
    assert_eq!(heard(), []);
    say(2);
    assert_eq!(heard(), []);
    let to = a.reach(second(0, 1000)).expect("reachable");
    assert_eq!(heard(), [(1000, 1), (1000, 2)]);
    // Of a process that was taken back nothing is handed up, until it is known again, by whatever index.
    a.part(to);
    say(3);
    assert_eq!(heard(), []);
    let (to, twice) = (a.reach(second(0, 77)).expect("again"), a.reach(second(0, 77)).expect("twice"));
    assert_eq!(heard(), [(77, 3)]);
    a.part(to);
    say(4);
    assert_eq!(heard(), [(77, 4)], "one endpoint is left");
    a.part(twice);
    a.part(other);
    say(5);
    assert_eq!(heard(), []);
    assert_eq!(mappings("early"), mappings_of(b), "this rank has left it");
    a.reach(second(0, 78)).expect("again");
    assert_eq!(heard(), [(78, 5)]);
}

/// Mappings of the meeting segment that a rank keeps which alone has it: those that are left when it is asked.
fn mappings_of(rank: &Rank) -> usize {
    rank.drain();
    mappings("early")
}

#[test]
fn what_does_not_exist_is_refused_with_its_cause() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("refused"));
    let (a, proc) = (&ours[0], second(0, 1000));
    let refused = |proc: ProcInfo, status: Status, why: &str| {
        assert_eq!(a.try_reach(proc).map(|_| ()), Err(status));
        let errors = std::mem::take(&mut a.reports().errors);
        let said = format!("process {} lies in shared segment {} of this node: ", proc.proc, proc.segment);
        assert!(errors.iter().any(|e| e.starts_with(&said) && e.contains(why)), "{errors:?}");
    };
    refused(proc, Status::NOT_FOUND, "there is no such segment");
    meeting.invite(&ours, &theirs);
    refused(ProcInfo { segment: 9, ..proc }, Status::NOT_FOUND, "there is no such segment");
    refused(ProcInfo { local_rank: 5, ..proc }, Status::BAD_PARAM, "place 5 of 5");
    assert!(a.reach(ProcInfo { local_rank: 0, ..proc }).is_none(), "itself");
    assert!(a.reach(ProcInfo { local: 0, ..proc }).is_none(), "another node");
    let _known = a.reach(proc).expect("reachable");
    refused(ProcInfo { proc: 3, ..proc }, Status::BAD_PARAM, "place 2 of 5");
    // A segment with another number of places, and one that somebody else has entered at our place.
    a.give_segment(2, SharedSegment { local_size: 6, ..meeting.at(0) });
    let small = Meeting::new("small");
    theirs[0].give_segment(IN_SECOND, SharedSegment { local_size: 3, ..small.at(0) });
    theirs[0].reach(ProcInfo { local_rank: 1, ..first(1) }).expect("reachable");
    a.give_segment(3, SharedSegment { local_size: 4, ..small.at(1) });
    refused(ProcInfo { segment: 3, ..proc }, Status::NOT_SUPPORTED, "processes, this one");
    a.give_segment(3, SharedSegment { local_size: 3, ..small.at(0) });
    refused(
        ProcInfo { segment: 3, ..proc },
        Status::BAD_PARAM,
        "local rank 0 is already in shared segment 3",
    );
    a.give_segment(3, SharedSegment { local_rank: 3, local_size: 3, ..small.at(0) });
    refused(ProcInfo { segment: 3, ..proc }, Status::BAD_PARAM, "this process can have no place there");
    a.give_segment(3, SharedSegment { fd: -1, ..small.at(1) });
    refused(ProcInfo { segment: 3, ..proc }, Status::INTERNAL, "");
}

/// The first job's rank comes back at another place of the same segment before its contexts have let the first one go.
#[test]
fn a_rank_comes_back_at_another_place() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("seats"));
    meeting.invite(&ours, &theirs);
    let (a, b) = (&ours[0], &theirs[0]);
    let to = a.reach(second(0, 1000)).expect("reachable");
    talk_to(a, to, b, first(0));
    a.part(to);
    a.give_segment(IN_FIRST, meeting.at(1));
    let to = a.reach(second(0, 1000)).expect("reachable");
    talk_to(a, to, b, ProcInfo { local_rank: 1, ..first(7) });
    a.part(to);
    drop(theirs);
    assert_eq!((a.drain(), mappings("seats")), (vec![], 0));
}

/// One way, to a rank that knows the sender for so long.
fn talk_to(from: &Rank, ep: PeerEndpoint, to: &Rank, sender: ProcInfo) {
    let back = to.reach(sender).expect("reachable");
    talk(from, ep, to, sender.proc);
    to.part(back);
}

#[test]
fn contexts_that_the_segment_has_not_are_refused() {
    let meeting = Meeting::new("contexts");
    let ours = Node { cris: 2, ..Node::new(FIRST) }.all(&[]);
    let theirs = Node::new(SECOND).all(&[]);
    meeting.invite(&ours, &theirs);
    // The one with fewer contexts is there first.
    let back = theirs[0].reach(first(0)).expect("reachable");
    let to = ours[0].reach(second(0, 1000)).expect("reachable");
    assert_eq!(ours[0].send_on(to, 1, 1, b"head", b"er"), Status::NOT_SUPPORTED);
    talk(&ours[0], to, &theirs[0], 2000);
    talk(&theirs[0], back, &ours[0], 1000);
    ours[0].progress_on(1);
    let (mut here, there) = (vec![0; 1 << 20], bytes(5, 1 << 20));
    assert_eq!(ours[0].rma(false, to, &mut here, there.as_ptr() as u64), Status::OK);
    assert!(here == there);
}

#[test]
fn a_sleeper_is_woken_by_both_jobs_and_by_their_coming() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("sleep"));
    meeting.invite(&ours, &theirs);
    let (a, b) = (&ours[0], &theirs[0]);
    let patience = Duration::from_secs(20);
    let word = a.arm(0).expect("nothing is there");
    let to = a.reach(second(0, 1000)).expect("reachable");
    assert!(sleep(word, patience), "the news wake");
    a.disarm(0);
    assert_eq!(a.drain(), []);
    let back = b.reach(first(0)).expect("reachable");
    let words = a.arm_all(0).expect("nothing is there");
    assert_eq!(words.len(), 2, "a bell for each segment");
    assert_eq!(b.send(back, 1, b"head", b"er"), Status::OK);
    assert!(sleep(words[1], patience), "a message of the other job wakes");
    a.disarm(0);
    assert!(a.arm_all(0).is_none(), "it is there");
    a.disarm(0);
    assert_eq!(a.drain().len(), 1);
    let words = a.arm_all(0).expect("nothing is there");
    let home = ours[1].to(0);
    assert_eq!(ours[1].send(home, 1, b"head", b"er"), Status::OK);
    assert!(sleep(words[0], patience), "a message of the own job wakes");
    a.disarm(0);
    assert_eq!(a.drain().len(), 1);
    a.part(to);
    a.drain();
    assert_eq!(a.arm_all(0).expect("nothing is there").len(), 1);
    a.disarm(0);
}

/// While a message is handed up its process parts, is known by another index and sends: the next message waits for the turn that knows it.
#[test]
fn a_process_is_known_anew_while_a_message_is_handed_up() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("anew"));
    meeting.invite(&ours, &theirs);
    let [a, b] = [&ours[0], &theirs[0]].map(std::ptr::from_ref);
    let (before, back) =
        (ours[0].reach(second(0, 500)).expect("reachable"), theirs[0].reach(first(0)).expect("reachable"));
    let again = move |message: &Arrived| {
        if message.bytes == [1] {
            // SAFETY: both ranks live until the hook is taken away.
            let (a, b) = unsafe { (&*a, &*b) };
            a.part(before);
            a.try_reach(second(0, 600)).expect("added").expect("reachable");
            assert_eq!(b.send(back, 1, &[2], b""), Status::OK);
        }
    };
    *ours[0].record.hook.borrow_mut() = Some(Box::new(again));
    assert_eq!(theirs[0].send(back, 1, &[1], b""), Status::OK);
    let got = ours[0].drain();
    *ours[0].record.hook.borrow_mut() = None;
    let got: Vec<_> = got.iter().map(|message| (message.proc, message.bytes[0])).collect();
    assert_eq!(got, [(500, 1), (600, 2)], "{:?}", ours[0].reports());
}

/// Ends threads that look at it, also where the test fails.
struct Stop<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

/// One thread progresses a rank all the time, one serves requests, another has the rank meet and part from a process that talks to it.
#[test]
fn processes_come_and_go_while_a_rank_progresses() {
    let ((ours, theirs), meeting) = (jobs(), Meeting::new("threads"));
    meeting.invite(&ours, &theirs);
    struct Shared<'a>(&'a Rank);
    // SAFETY: one thread calls the verbs of its context, one that of the service context, and one `add_procs` and `del_procs`, which are for any
    // thread.
    unsafe impl Sync for Shared<'_> {}
    let (a, b) = (Shared(&ours[0]), &theirs[0]);
    let back = b.reach(first(0)).expect("reachable");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let heard = std::sync::atomic::AtomicU32::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|threads| {
        let (shared, stop, heard) = (&a, &stop, &heard);
        let ends = Stop(stop);
        threads.spawn(move || {
            while !stop.load(order) {
                shared.0.progress();
                for message in shared.0.record.arrived.take() {
                    // The index under which it is known then says the round.
                    assert_eq!(message.bytes, message.proc.to_le_bytes());
                    heard.fetch_add(1, order);
                }
                std::thread::yield_now();
            }
        });
        threads.spawn(move || {
            let serve = shared.0.table.service_progress.expect("service_progress");
            while !stop.load(order) {
                // SAFETY: the module's function and state; this thread alone has the service context.
                assert_eq!(unsafe { serve(shared.0.module.state) }, 0, "nobody asks for anything");
                std::thread::yield_now();
            }
        });
        for round in 0..300 {
            let to = a.0.try_reach(second(0, round)).expect("added").expect("reachable");
            for _ in 0..3 {
                assert_eq!(b.send(back, 1, &round.to_le_bytes(), b""), Status::OK);
            }
            let begun = Instant::now();
            while heard.load(order) < 3 * (round + 1) {
                assert!(
                    begun.elapsed() < Duration::from_secs(60),
                    "round {round}: {} came",
                    heard.load(order)
                );
                std::thread::yield_now();
            }
            a.0.part(to);
        }
        drop(ends);
    });
    assert!(a.0.reports().errors.is_empty(), "{:?}", a.0.reports());
}
