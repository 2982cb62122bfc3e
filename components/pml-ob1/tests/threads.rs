//! Several threads of each process at once, at THREAD_MULTIPLE: nothing lost, nothing overtaken, every
//! completion seen, whichever thread progresses.

mod common;

use common::*;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{ANY_SOURCE, RecvArgs, SendArgs, mode};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

/// What one thread of one process needs.
struct Caller<'a> {
    w: &'a World,
    comm: Comm,
    thread: ThreadCtx,
}

// SAFETY: the world's shared parts are behind locks, and the communicator and the module may be used from
// every thread: that is what is tested.
unsafe impl Send for Caller<'_> {}

impl Caller<'_> {
    fn thread(&self) -> *mut ThreadCtx {
        &raw const self.thread as *mut ThreadCtx
    }
    fn isend(&self, data: &[u8], dst: i32, tag: i32, mode: u32) -> *mut RequestHeader {
        let (t, s) = self.w.table(self.comm.proc);
        let args =
            SendArgs { thread: self.thread(), ..self.w.send_args(self.comm, bytes(data), dst, tag, mode) };
        let mut req = null_mut();
        assert_eq!((t.isend)(s, &args, &mut req), Status::PENDING);
        req
    }
    fn irecv(&self, buf: &mut [u8], src: i32, tag: i32) -> *mut RequestHeader {
        let (t, s) = self.w.table(self.comm.proc);
        let n = buf.len() as u64;
        let args =
            RecvArgs { thread: self.thread(), ..self.w.recv_args(self.comm, buf, byte(), n, src, tag) };
        let mut req = null_mut();
        assert_eq!((t.irecv)(s, &args, &mut req), Status::PENDING);
        req
    }
    fn wait(&self, req: *mut RequestHeader) -> MsgStatus {
        let (t, s) = self.w.table(self.comm.proc);
        // SAFETY: headers live for ever.
        let header = unsafe { &*req };
        let mut turns = 0u64;
        while !header.completion.is_complete() {
            if (t.progress)(s, self.thread()) == 0 {
                std::thread::yield_now();
            }
            turns += 1;
            assert!(turns < 50_000_000, "stuck");
        }
        let status = header.status;
        // SAFETY: operations live for ever.
        (unsafe { &*header.ops }.release)(req);
        status
    }
}

const SIZES: [usize; 7] = [0, 8, 64, 100, 3000, 9000, 50_000];

fn run(setup: Setup, threads: u32, rounds: usize, body: impl Fn(&Caller<'_>, i32, usize) + Sync) {
    let w = World::new(Setup { threaded: true, ..setup });
    let comms = w.world();
    let finished = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for comm in &comms {
            for index in 0..threads {
                let thread = ThreadCtx { cri: 0, index, counters: null_mut(), host_private: null_mut() };
                let caller = Caller { w: &w, comm: *comm, thread };
                let (body, finished) = (&body, &finished);
                scope.spawn(move || {
                    let caller = caller;
                    body(&caller, index as i32, rounds);
                    finished.fetch_add(1, Ordering::Release);
                });
            }
        }
    });
    // What the scope's end means already, in words that a sanitizer sees.
    assert_eq!(finished.load(Ordering::Acquire), 2 * threads);
    w.settle();
    w.assert_clean();
    for p in 0..2 {
        assert_eq!(w.in_flight(p), 0);
    }
}

/// Every thread talks to its twin in the other process, both ways, on its own tag.
fn twins(caller: &Caller<'_>, tag: i32, rounds: usize) {
    let (me, other) = (caller.comm.proc as u64, 1 - caller.comm.proc as i32);
    for round in 0..rounds {
        let len = SIZES[(round + tag as usize) % SIZES.len()];
        let seed = |who: u64| who * 1_000_000 + round as u64 * 100 + tag as u64 + 1;
        let data = pattern(len, seed(me));
        let mut buf = vec![0; len];
        let m = if round % 5 == 0 { mode::SYNCHRONOUS } else { mode::STANDARD };
        let (s, r);
        if round % 2 == 0 {
            r = caller.irecv(&mut buf, other, tag);
            s = caller.isend(&data, other, tag, m);
        } else {
            s = caller.isend(&data, other, tag, m);
            r = caller.irecv(&mut buf, ANY_SOURCE, tag);
        }
        assert_eq!(caller.wait(r).bytes, len as u64);
        caller.wait(s);
        assert!(buf == pattern(len, seed(1 - me)), "round {round} of tag {tag}");
    }
}

#[test]
fn twins_by_copies() {
    run(Setup { offers_get: false, room: 8, ..Setup::default() }, 4, 400, twins);
}

#[test]
fn twins_by_reading() {
    run(
        Setup { min_get: 5000, get: Get::Later, get_limit: 20_000, room: 8, ..Setup::default() },
        4,
        400,
        twins,
    );
}

#[test]
fn twins_with_little_credit() {
    run(Setup { credit: 5000, room: 64, ..Setup::default() }, 4, 400, twins);
}

/// All threads of process 0 send numbered messages with one tag; all threads of process 1 receive them. What
/// one thread receives of one sender must be in the order of sending.
#[test]
fn shared_tag_keeps_the_order_of_each_sender() {
    run(Setup { room: 16, ..Setup::default() }, 3, 3000, |caller, index, rounds| {
        if caller.comm.proc == 0 {
            for i in 0..rounds as u32 {
                let mut data = [0u8; 8];
                data[0] = index as u8;
                data[4..].copy_from_slice(&i.to_le_bytes());
                let s = caller.isend(&data, 1, 7, mode::STANDARD);
                caller.wait(s);
            }
        } else {
            let mut last = [-1i64; 3];
            for _ in 0..rounds {
                let mut buf = [0u8; 8];
                let r = caller.irecv(&mut buf, 0, 7);
                caller.wait(r);
                let i = u32::from_le_bytes([buf[4], buf[5], buf[6], buf[7]]) as i64;
                assert!(i > last[buf[0] as usize], "a message was overtaken or came twice");
                last[buf[0] as usize] = i;
            }
        }
    });
}

/// Requests released while other threads complete them come back to their pool.
#[test]
fn released_while_others_complete() {
    run(Setup { room: 16, ..Setup::default() }, 3, 2000, |caller, tag, rounds| {
        let other = 1 - caller.comm.proc as i32;
        let data = vec![tag as u8; 5000];
        for _ in 0..rounds {
            let mut buf = vec![0; data.len()];
            let s = caller.isend(&data, other, tag, mode::STANDARD);
            // SAFETY: operations live for ever; the buffer outlives the flush below.
            (unsafe { &*(*s).ops }.release)(s);
            let r = caller.irecv(&mut buf, other, tag);
            caller.wait(r);
            assert!(buf == data);
        }
        let (t, s) = caller.w.table(caller.comm.proc);
        while (t.flush)(s) != Status::OK {
            std::thread::yield_now();
        }
    });
}
