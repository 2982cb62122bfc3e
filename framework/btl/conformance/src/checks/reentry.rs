//! Receive callbacks that send.

use crate::harness::Harness;
use crate::host::Arrived;
use crate::message::Msg;
use crate::rank::Rank;
use crate::setup::Setup;
use oxmpi_mca::Status;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

crate::check!(Reentry: callback_floods, callback_may_send);

/// Messages that a callback wanted to send and found no room for, in order; later ones queue behind.
type Backlog = Arc<Mutex<VecDeque<(usize, u32, Msg)>>>;

fn send_or_keep(rank: &Rank, backlog: &Backlog, to: usize, ctx: u32, msg: Msg) {
    // Taken only when a transport delivers inside `send`, which the host has noted; the answer is lost.
    let Ok(mut queue) = backlog.try_lock() else { return };
    if !queue.is_empty() || rank.send_held(to, ctx, &msg) != Status::OK {
        queue.push_back((to, ctx, msg));
    }
}

fn drain(rank: &Rank, backlog: &Backlog) {
    let mut queue = backlog.lock().expect("backlog");
    while let Some(&(to, ctx, msg)) = queue.front() {
        if rank.send(to, ctx, &msg) != Status::OK {
            return;
        }
        queue.pop_front();
    }
}

/// A job whose callbacks answer: `answer` says what to send for what came in.
fn run(
    setup: &Setup,
    start: &[Msg],
    total: u64,
    answer: impl Fn(&Arrived) -> Vec<Msg> + Clone + Send + Sync + 'static,
) {
    let h = Harness::new(setup);
    let link = h.link();
    let backlogs: Vec<Backlog> = h.ranks.iter().map(|_| Backlog::default()).collect();
    // The rank that a hook reaches, as an address: ranks live in `h`, which outlives the hooks (see drop).
    for (rank, backlog) in h.ranks.iter().zip(&backlogs) {
        let (this, backlog, answer) = (rank as *const Rank as usize, backlog.clone(), answer.clone());
        rank.set_hook(move |got| {
            // SAFETY: `h.ranks` does not move while `h` lives, and its drop takes the hooks away.
            let rank = unsafe { &*(this as *const Rank) };
            for msg in answer(got) {
                send_or_keep(rank, &backlog, got.proc as usize, got.ctx, msg);
            }
        });
    }
    for msg in start {
        h.push(link, 0, msg);
    }
    let all = || h.ranks.iter().map(|r| r.host.arrived()).sum::<u64>();
    let (mut last, mut since) = (0, std::time::Instant::now());
    while all() < total {
        h.progress();
        for (rank, backlog) in h.ranks.iter().zip(&backlogs) {
            drain(rank, backlog);
        }
        if all() != last {
            (last, since) = (all(), std::time::Instant::now());
        }
        assert!(since.elapsed() < h.patience, "{}: {} of {total} messages arrived", h.name, all());
    }
    for _ in 0..10 {
        h.progress();
    }
    assert_eq!(all(), total, "{}: more arrived than were sent", h.name);
    h.assert_clean();
}

/// How often a message is answered still: its length says it.
fn turns_left(got: &Arrived) -> u64 {
    got.bytes.len() as u64 - 16
}

/// A long conversation held by callbacks alone; the stack stays flat because nothing nests.
fn callback_may_send(setup: &Setup) {
    const TURNS: u64 = 3000;
    let turn = Arc::new(AtomicU64::new(0));
    run(setup, &[Msg::new(0, 16, 100)], TURNS + 1, move |_| {
        let n = turn.fetch_add(1, Ordering::Relaxed);
        if n < TURNS { vec![Msg::new(n, 16, (n % 90) as usize)] } else { vec![] }
    });
}

/// Every message makes two smaller ones, until there is more than fits: callbacks meet NO_RESOURCE.
fn callback_floods(setup: &Setup) {
    const DEPTH: u64 = 14;
    // A message with n turns left has 16 + n bytes and makes two of n - 1.
    let total = (1 << (DEPTH + 1)) - 1;
    run(setup, &[Msg::new(7, 16, DEPTH as usize)], total, |got| {
        let left = turns_left(got);
        if left == 0 { vec![] } else { vec![Msg::new(left, 16, left as usize - 1); 2] }
    });
}
