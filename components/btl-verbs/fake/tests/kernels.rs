//! Kernels of Scalable Communication Endpoints over the verbs alone, in every category and checked: a product of matrices in global arrays (tiles are
//! read, and results written, by one-sided operations) and a 5-point stencil (halos are written to the neighbours), of 16 threads in 1 to 16 ranks.
//!
//! Each thread has the endpoint that the category gives it and takes no lock of its own, save around the one pair of MPI+threads; the device ends the
//! process where two threads meet on what is promised to one.

mod common;

use common::{CATEGORIES, Category, Made, Taken, make, now};
use core::ffi::{c_int, c_void};
use oxmpi_verbs_abi::numbers::{access, qp_mask, qp_state, send_flags, wc_status, wr_opcode};
use oxmpi_verbs_abi::*;
use std::ptr::null_mut;
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn ibv_modify_qp(qp: *mut Qp, attr: *mut QpAttr, mask: c_int) -> c_int;
    fn ibv_reg_mr(pd: *mut Pd, addr: *mut c_void, len: usize, access: c_int) -> *mut Mr;
    fn ibv_dereg_mr(mr: *mut Mr) -> c_int;
}

const THREADS: usize = 4;
const ALL: u32 = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_READ;

fn connect(qp: *mut Qp, to: *mut Qp) {
    let mut a = QpAttr {
        port_num: 1,
        qp_access_flags: ALL,
        path_mtu: 3,
        // SAFETY: alive.
        dest_qp_num: unsafe { (*to).qp_num },
        max_rd_atomic: 4,
        max_dest_rd_atomic: 4,
        min_rnr_timer: 1,
        timeout: 14,
        retry_cnt: 7,
        rnr_retry: 7,
        ah_attr: AhAttr { is_global: 1, port_num: 1, ..AhAttr::default() },
        ..QpAttr::default()
    };
    use qp_mask::*;
    for (state, mask) in [
        (qp_state::INIT, PKEY_INDEX | PORT | ACCESS_FLAGS),
        (qp_state::RTR, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER),
        (qp_state::RTS, TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC),
    ] {
        a.qp_state = state;
        // SAFETY: alive, and attributes.
        assert_eq!(unsafe { ibv_modify_qp(qp, &mut a, (STATE | mask) as c_int) }, 0);
    }
}

/// Numbers in memory that the device reads and writes.
struct Array {
    words: Vec<f64>,
    mr: *mut Mr,
}

impl Array {
    fn new(pd: *mut Pd, mut words: Vec<f64>) -> Array {
        // SAFETY: the memory outlives its registration.
        let mr = unsafe { ibv_reg_mr(pd, words.as_mut_ptr().cast(), size_of_val(&words[..]), ALL as c_int) };
        assert!(!mr.is_null());
        Array { words, mr }
    }
    fn at(&self, index: usize) -> u64 {
        self.words[index..].as_ptr() as u64
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: once, with nothing under way.
        assert_eq!(unsafe { ibv_dereg_mr(self.mr) }, 0);
    }
}

/// A thread's endpoint.
struct Endpoint<'a> {
    qp: *mut Qp,
    pd: *mut Pd,
    /// Where the pair is all threads'.
    lock: Option<&'a Mutex<()>>,
}

// SAFETY: one thread has it; what several have is behind the lock, or has the library's.
unsafe impl Send for Endpoint<'_> {}

impl Endpoint<'_> {
    /// One operation on whole numbers, and its completion.
    fn run(&self, opcode: u32, local: (u64, *mut Mr), remote: (u64, *mut Mr), count: usize) {
        let _held = self.lock.map(|lock| lock.lock().expect("no thread has failed"));
        // SAFETY: objects that are there, and the slots of the context's table.
        unsafe {
            let mut sge = Sge { addr: local.0, length: 8 * count as u32, lkey: (*local.1).lkey };
            let mut wr = SendWr {
                wr_id: local.0,
                next: null_mut(),
                sg_list: &mut sge,
                num_sge: 1,
                opcode,
                send_flags: send_flags::SIGNALED,
                imm_data: 0,
                wr: SendTarget { rdma: RdmaTarget { remote_addr: remote.0, rkey: (*remote.1).rkey } },
                others: [0; 7],
            };
            let ops = &(*(*self.qp).context).ops;
            let post: unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int =
                core::mem::transmute(ops[op::POST_SEND]);
            let poll: unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int =
                core::mem::transmute(ops[op::POLL_CQ]);
            assert_eq!(post(self.qp, &mut wr, &mut null_mut()), 0);
            let begun = Instant::now();
            let mut wc = Wc::default();
            while poll((*self.qp).send_cq, 1, &mut wc) == 0 {
                assert!(begun.elapsed() < Duration::from_secs(60), "no completion comes");
                std::thread::yield_now();
            }
            assert_eq!((wc.wr_id, wc.status), (local.0, wc_status::SUCCESS));
        }
    }
}

/// Endpoints of a category, each connected to a pair of somebody who has the global memory and does nothing.
struct Job {
    made: Made,
    owner: Made,
    mine: Vec<*mut Qp>,
    category: Category,
}

impl Job {
    fn new(category: Category) -> Job {
        let (made, mine) = make(category, THREADS, true);
        let mut owner = Made::default();
        let mut distinct = mine.clone();
        distinct.dedup();
        // SAFETY: objects of the device.
        unsafe {
            let context = owner.context();
            for qp in distinct {
                let there = owner.pair(context, owner.pds[0]);
                connect(qp, there);
                connect(there, qp);
            }
        }
        Job { made, owner, mine, category }
    }

    /// Runs a thread on each endpoint.
    fn run(&self, work: impl Fn(usize, &Endpoint<'_>) + Sync) {
        let lock = Mutex::new(());
        std::thread::scope(|s| {
            for (number, qp) in self.mine.iter().enumerate() {
                let pd = self.made.pds[if self.category == Category::MpiEverywhere { number } else { 0 }];
                let lock = (self.category == Category::MpiThreads).then_some(&lock);
                let endpoint = Endpoint { qp: *qp, pd, lock };
                let work = &work;
                s.spawn(move || work(number, &endpoint));
            }
        });
    }

    fn end(self) {
        self.made.free();
        self.owner.free();
    }
}

/// Matrices of so many tiles of so many numbers, in each direction; a tile is one piece of memory.
const TILES: usize = 4;
const TILE: usize = 8;
const WORDS: usize = TILE * TILE;

/// Where an element lies.
fn place(row: usize, column: usize) -> usize {
    (row / TILE * TILES + column / TILE) * WORDS + row % TILE * TILE + column % TILE
}

fn product(category: Category) {
    let job = Job::new(category);
    let n = TILES * TILE;
    let of = |f: fn(usize, usize) -> usize| {
        let mut words = vec![0.0; n * n];
        (0..n).for_each(|r| (0..n).for_each(|c| words[place(r, c)] = f(r, c) as f64));
        Array::new(job.owner.pds[0], words)
    };
    let (a, b) = (of(|r, c| (3 * r + c) % 11), of(|r, c| (r + 5 * c) % 7));
    let c = of(|_, _| 0);
    // Global memory as the threads name it: address of a tile, and key.
    struct Global(u64, *mut Mr);
    // SAFETY: an address and a key.
    unsafe impl Sync for Global {}
    impl Global {
        fn tile(&self, row: usize, column: usize) -> (u64, *mut Mr) {
            (self.0 + 8 * (row * TILES + column) as u64 * WORDS as u64, self.1)
        }
    }
    let global = |array: &Array| Global(array.at(0), array.mr);
    let (ga, gb, gc) = (global(&a), global(&b), global(&c));
    job.run(|number, endpoint| {
        // One registration for each of the three buffers, as the client of global arrays has them.
        let buffer = || Array::new(endpoint.pd, vec![0.0; WORDS]);
        let (x, y, mut z) = (buffer(), buffer(), buffer());
        for tile in (number..TILES * TILES).step_by(THREADS) {
            let (row, column) = (tile / TILES, tile % TILES);
            z.words.fill(0.0);
            for k in 0..TILES {
                endpoint.run(wr_opcode::RDMA_READ, (x.at(0), x.mr), ga.tile(row, k), WORDS);
                endpoint.run(wr_opcode::RDMA_READ, (y.at(0), y.mr), gb.tile(k, column), WORDS);
                // SAFETY: the device has written them, and is done.
                let of = |array: &Array, at: usize| unsafe { array.words.as_ptr().add(at).read_volatile() };
                for r in 0..TILE {
                    for c in 0..TILE {
                        z.words[r * TILE + c] +=
                            (0..TILE).map(|i| of(&x, r * TILE + i) * of(&y, i * TILE + c)).sum::<f64>();
                    }
                }
            }
            endpoint.run(wr_opcode::RDMA_WRITE, (z.at(0), z.mr), gc.tile(row, column), WORDS);
        }
    });
    for r in 0..n {
        for col in 0..n {
            let due: usize = (0..n).map(|k| (3 * r + k) % 11 * ((k + 5 * col) % 7)).sum();
            // SAFETY: written by the device, which is done.
            let got = unsafe { c.words.as_ptr().add(place(r, col)).read_volatile() };
            assert_eq!(got, due as f64, "{category:?}: element {r}, {col}");
        }
    }
    drop((a, b, c));
    job.end();
}

const ROWS: usize = 3;
const COLUMNS: usize = 16;
const STEPS: usize = 8;

/// One step of a row from those above and below it.
fn relax(above: &[f64], row: &[f64], below: &[f64], out: &mut [f64]) {
    out.copy_from_slice(row);
    for c in 1..row.len() - 1 {
        out[c] = (above[c] + below[c] + row[c - 1] + row[c + 1] + row[c]) / 5.0;
    }
}

fn first(row: usize, column: usize) -> f64 {
    ((7 * row + 3 * column) % 13) as f64
}

/// Endpoints of a rank with so many threads: two pairs for each, one to each neighbour, on one completion queue.
fn two_each(category: Category, threads: usize) -> (Made, Vec<[*mut Qp; 2]>) {
    let mut made = Made::default();
    // SAFETY: objects of the device.
    let two = |made: &mut Made, context, pds: [*mut Pd; 2]| unsafe {
        let cq = made.queue(context);
        pds.map(|pd| made.pair_on(cq, pd))
    };
    // SAFETY: as above.
    let mine = unsafe {
        let context = made.context();
        let pd = made.pds[0];
        match category {
            Category::MpiEverywhere => (0..threads)
                .map(|t| {
                    let context = if t == 0 { context } else { made.context() };
                    let pd = made.pds[t];
                    two(&mut made, context, [pd; 2])
                })
                .collect(),
            Category::MpiThreads => vec![two(&mut made, context, [pd; 2]); threads],
            Category::Static => (0..threads).map(|_| two(&mut made, context, [pd; 2])).collect(),
            _ => {
                let (sharing, sets) = match category {
                    Category::SharedDynamic => (2, 1),
                    Category::Dynamic => (1, 1),
                    _ => (1, 2),
                };
                let mut mine = Vec::new();
                for set in 0..threads * sets {
                    let pds = [(); 2].map(|()| made.domain(sharing));
                    let pairs = two(&mut made, context, pds);
                    if set % sets == 0 {
                        mine.push(pairs);
                    }
                }
                mine
            }
        }
    };
    (made, mine)
}

/// What they take: the closed forms for a rank.
fn closed_form(category: Category, t: u64) -> Taken {
    let (contexts, qps, cqs, tds, pages) = match category {
        Category::MpiEverywhere => (t, 2 * t, t, 0, 8 * t),
        Category::TwiceDynamic => (1, 4 * t, 2 * t, 4 * t, 8 + 4 * t),
        Category::Dynamic => (1, 2 * t, t, 2 * t, 8 + 2 * t),
        Category::SharedDynamic => (1, 2 * t, t, 2 * t, 8 + t),
        Category::Static => (1, 2 * t, t, 0, 8),
        Category::MpiThreads => (1, 2, 1, 0, 8),
    };
    let kilobytes = 256 * contexts + 80 * qps + 9 * cqs;
    Taken { contexts, qps, cqs, tds, pages, registers: 2 * pages, used: 0, kilobytes }
}

fn difference(after: Taken, before: Taken) -> Taken {
    Taken {
        contexts: after.contexts - before.contexts,
        qps: after.qps - before.qps,
        cqs: after.cqs - before.cqs,
        tds: after.tds - before.tds,
        pages: after.pages - before.pages,
        registers: after.registers - before.registers,
        used: 0,
        kilobytes: after.kilobytes - before.kilobytes,
    }
}

/// The grid as threads of all ranks name it: a block of rows for each, with a row for the halo above and below.
struct Grid(u64, *mut Mr);
// SAFETY: an address and a key.
unsafe impl Sync for Grid {}
impl Grid {
    fn row(&self, block: usize, row: usize) -> (u64, *mut Mr) {
        (self.0 + 8 * ((block * (ROWS + 2) + row) * COLUMNS) as u64, self.1)
    }
    /// A copy of a row that nobody writes now.
    fn copy(&self, block: usize, row: usize) -> Vec<f64> {
        let at = self.row(block, row).0 as *const f64;
        // SAFETY: inside the block.
        (0..COLUMNS).map(|c| unsafe { at.add(c).read_volatile() }).collect()
    }
}

/// A thread: computes its block, and writes its edges into its neighbours' halos.
fn relax_block(n: usize, blocks: usize, grid: &Grid, barrier: &Barrier, endpoints: [Endpoint<'_>; 2]) {
    let mut edges = [0, 1].map(|way: usize| Array::new(endpoints[way].pd, vec![0.0; COLUMNS]));
    for _ in 0..STEPS {
        let rows: Vec<Vec<f64>> = (0..ROWS + 2).map(|r| grid.copy(n, r)).collect();
        let mut new = vec![0.0; COLUMNS];
        // Everybody has read before anybody writes.
        barrier.wait();
        for r in 1..=ROWS {
            relax(&rows[r - 1], &rows[r], &rows[r + 1], &mut new);
            let at = grid.row(n, r).0 as *mut f64;
            // SAFETY: rows of this thread's own block, which nobody else touches.
            new.iter().enumerate().for_each(|(c, v)| unsafe { at.add(c).write_volatile(*v) });
        }
        let below = Some(n + 1).filter(|below| *below < blocks);
        for (way, own, neighbour, halo) in [(0, 1, n.checked_sub(1), ROWS + 1), (1, ROWS, below, 0)] {
            let Some(neighbour) = neighbour else { continue };
            edges[way].words.copy_from_slice(&grid.copy(n, own));
            let local = (edges[way].at(0), edges[way].mr);
            endpoints[way].run(wr_opcode::RDMA_WRITE, local, grid.row(neighbour, halo), COLUMNS);
        }
        barrier.wait();
    }
}

/// So many ranks of so many threads, whose endpoints are the category's.
fn stencil(category: Category, ranks: usize, threads: usize) {
    let blocks = ranks * threads;
    let before = now();
    let made: Vec<_> = (0..ranks).map(|_| two_each(category, threads)).collect();
    let one = closed_form(category, threads as u64);
    let n = ranks as u64;
    let due = Taken {
        contexts: n * one.contexts,
        qps: n * one.qps,
        cqs: n * one.cqs,
        tds: n * one.tds,
        pages: n * one.pages,
        registers: n * one.registers,
        used: 0,
        kilobytes: n * one.kilobytes,
    };
    assert_eq!(difference(now(), before), due, "{category:?}, {ranks}.{threads}");
    let mut owner = Made::default();
    // SAFETY: objects of the device.
    unsafe {
        let context = owner.context();
        for (_, mine) in &made {
            let mut distinct: Vec<*mut Qp> = mine.concat();
            distinct.sort();
            distinct.dedup();
            for qp in distinct {
                let there = owner.pair(context, owner.pds[0]);
                connect(qp, there);
                connect(there, qp);
            }
        }
    }
    let rows = (0..blocks).flat_map(|block| (0..ROWS + 2).map(move |r| block * ROWS + r));
    let words = rows.flat_map(|row| (0..COLUMNS).map(move |c| first(row, c))).collect();
    let array = Array::new(owner.pds[0], words);
    let (grid, barrier) = (Grid(array.at(0), array.mr), Barrier::new(blocks));
    let locks: Vec<Mutex<()>> = (0..ranks).map(|_| Mutex::new(())).collect();
    std::thread::scope(|s| {
        for (rank, (made, mine)) in made.iter().enumerate() {
            for (thread, pairs) in mine.iter().enumerate() {
                let pd = made.pds[if category == Category::MpiEverywhere { thread } else { 0 }];
                let lock = (category == Category::MpiThreads).then_some(&locks[rank]);
                let endpoints = pairs.map(|qp| Endpoint { qp, pd, lock });
                let (grid, barrier) = (&grid, &barrier);
                s.spawn(move || relax_block(rank * threads + thread, blocks, grid, barrier, endpoints));
            }
        }
    });
    // The same by one.
    let all = blocks * ROWS + 2;
    let mut whole: Vec<Vec<f64>> = (0..all).map(|r| (0..COLUMNS).map(|c| first(r, c)).collect()).collect();
    for _ in 0..STEPS {
        let old = whole.clone();
        (1..all - 1).for_each(|r| relax(&old[r - 1], &old[r], &old[r + 1], &mut whole[r]));
    }
    for n in 0..blocks {
        for r in 1..=ROWS {
            assert_eq!(grid.copy(n, r), whole[n * ROWS + r], "{category:?}: block {n}, row {r}");
        }
    }
    drop(array);
    made.into_iter().for_each(|(made, _)| made.free());
    owner.free();
}

#[test]
fn kernels_are_right_in_every_category() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe {
        std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=k{},uar=static,patched=1", std::process::id()))
    };
    for category in CATEGORIES {
        product(category);
        for (ranks, threads) in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)] {
            stencil(category, ranks, threads);
        }
    }
}
