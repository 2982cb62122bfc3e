//! Two ranks talk through a relay that cuts, stalls, trickles, swallows and corrupts: every message comes once, in order and
//! as it was sent. A few seconds each; `OXMPI_RELAY_SECONDS=600 cargo test -p btl-tcp --test relay` for longer.
//!
//! `OXMPI_RELAY_JOB='mpirun … --mca btl_tcp_relay RELAY … PROGRAM'` runs a whole job through the relay once for each kind of mischief, with its address in the place
//! of `RELAY`: with parameters as [`PARAMS`] has them, and `btl_tcp_checksum` where bytes are lost or wrong.

mod common;

use common::relay::{Mischief, Relay};
use oxmpi_btl_conformance::{Harness, Kept, Msg, PLACED_TAGS, Rank, Setup};
use oxmpi_mca::Status;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CONTEXTS: u32 = 2;

/// Parameters with which faults are found soon.
const PARAMS: [(&str, &str); 2] = [("handshake_timeout", "400000"), ("retry_timeout", "60000")];

fn seconds() -> Duration {
    let text = std::env::var("OXMPI_RELAY_SECONDS").unwrap_or_default();
    Duration::from_secs(text.parse().unwrap_or(2))
}

/// The message with a number: mostly small, now and then long, which has a place.
fn message(number: u64, largest: usize) -> Msg {
    let payload = match number % 16 {
        15 => (number as usize * 7919) % largest,
        k => k as usize * 40,
    };
    let placed = PLACED_TAGS[number as usize / 16 % PLACED_TAGS.len()];
    let tag = if number % 16 == 15 { placed } else { (number % 251) as u8 };
    Msg { tag, ..Msg::new(number, 24, payload) }
}

/// State that both sides of a run share.
struct Run {
    over: AtomicBool,
    /// By rank and context: messages sent, once sending is over.
    sent: [[AtomicU64; CONTEXTS as usize]; 2],
    /// Sides that have sent all.
    done: AtomicU64,
    received: AtomicU64,
    /// Sides that have got all, and to which the end of all that they sent was told.
    quiet: AtomicU64,
}

/// One rank: sends on every context until time is up, and checks what comes; ends when all has come.
fn play(rank: &Rank, me: usize, run: &Run, patience: Duration) {
    let other = 1 - me;
    let largest = rank.btl.attrs().max_send_size as usize - 24;
    let (mut sent, mut next) = ([0u64; CONTEXTS as usize], [0u64; CONTEXTS as usize]);
    let (mut told, mut last) = (false, Instant::now());
    let mut kept = Vec::new();
    loop {
        let over = run.over.load(Ordering::Relaxed);
        for ctx in 0..CONTEXTS {
            let number = &mut sent[ctx as usize];
            if !told {
                match send(rank, other, ctx, message(*number, largest), &mut kept) {
                    Status::OK | Status::PENDING => *number += 1,
                    Status::NO_RESOURCE => {}
                    status => panic!("rank {me}: send: {status}\n{}", rank.host.logged()),
                }
            }
            rank.progress(ctx);
        }
        kept.retain_mut(|kept: &mut Box<Kept>| !kept.is_over());
        for got in rank.host.take() {
            let due = message(next[got.ctx as usize], largest);
            let right = got.tag == due.tag && got.bytes == due.bytes();
            assert!(right, "rank {me}, context {}: not message {}", got.ctx, next[got.ctx as usize]);
            next[got.ctx as usize] += 1;
            last = Instant::now();
        }
        if over && !told {
            (0..CONTEXTS as usize).for_each(|c| run.sent[me][c].store(sent[c], Ordering::SeqCst));
            run.done.fetch_add(1, Ordering::SeqCst);
            told = true;
        }
        if over && run.done.load(Ordering::SeqCst) == 2 {
            let due: Vec<u64> = run.sent[other].iter().map(|n| n.load(Ordering::SeqCst)).collect();
            if next[..] == due[..] {
                run.received.fetch_add(1, Ordering::SeqCst);
                break;
            }
            let stuck = last.elapsed() > patience;
            assert!(!stuck, "rank {me} has {next:?} of {due:?}, and nothing comes\n{}", rank.host.logged());
        }
        std::thread::yield_now();
    }
    // The other side may still want acknowledgements, or its messages sent again.
    let mut quiet = false;
    while run.quiet.load(Ordering::SeqCst) < 2 && last.elapsed() < 2 * patience {
        (0..CONTEXTS).for_each(|ctx| _ = rank.progress(ctx));
        kept.retain_mut(|kept| !kept.is_over());
        if !quiet && kept.is_empty() && run.received.load(Ordering::SeqCst) == 2 {
            quiet = true;
            run.quiet.fetch_add(1, Ordering::SeqCst);
        }
    }
    assert!(kept.is_empty(), "the end of messages is not told that have come\n{}", rank.host.logged());
}

/// Offers a message; every other long one stays where it is until its end is told.
#[expect(clippy::vec_box, reason = "the transport knows them by their address")]
fn send(rank: &Rank, to: usize, ctx: u32, msg: Msg, all: &mut Vec<Box<Kept>>) -> Status {
    if msg.seed % 32 != 31 {
        return rank.send(to, ctx, &msg);
    }
    let mut kept = Kept::new(msg);
    let status = kept.send(rank, to, ctx);
    if status == Status::PENDING {
        all.push(kept);
    }
    status
}

/// A transport says so of a connection that goes on there.
const RESUMED: &str = "goes on inside of a message";

fn placed_by(h: &Harness) -> u64 {
    h.ranks.iter().map(|rank| rank.host.places.count().0).sum()
}

fn through(mischief: Mischief, checksum: bool) {
    let relay = Relay::new(mischief);
    let setup = Setup::new(btl_tcp::descriptor())
        .ranks(2)
        .cris(CONTEXTS)
        .threaded(true)
        .param("relay", &relay.at.to_string())
        .param("checksum", if checksum { "1" } else { "0" });
    let setup = PARAMS.iter().fold(setup, |setup, (name, value)| setup.param(name, value));
    let h = Harness::open(&setup).unwrap_or_else(|e| panic!("{e}"));
    let run = Run {
        over: AtomicBool::new(false),
        sent: Default::default(),
        done: AtomicU64::new(0),
        received: AtomicU64::new(0),
        quiet: AtomicU64::new(0),
    };
    std::thread::scope(|threads| {
        for me in 0..2 {
            let (rank, run) = (&h.ranks[me], &run);
            threads.spawn(move || play(rank, me, run, Duration::from_secs(30)));
        }
        let begun = Instant::now();
        std::thread::sleep(seconds());
        // On a busy machine a connection may last no longer than it takes to make it.
        while placed_by(&h) == 0 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        run.over.store(true, Ordering::SeqCst);
    });
    let total: u64 = run.sent.iter().flatten().map(|n| n.load(Ordering::SeqCst)).sum();
    let (connections, acts) = relay.counts();
    let placed = placed_by(&h);
    let resumed: usize = h.ranks.iter().map(|rank| rank.host.logged().matches(RESUMED).count()).sum();
    eprintln!(
        "{mischief:?}: {total} messages, {placed} placed, {connections} connections, {resumed} inside of a message, {acts} acts of mischief"
    );
    assert!(total > 0 && acts > 0 && placed > 0, "nothing happened, so this proved nothing");
    h.assert_clean();
}

#[test]
fn connections_are_cut() {
    through(Mischief::Cut(Duration::from_millis(100)), false);
    through(Mischief::Cut(Duration::from_secs(1)), false);
}

#[test]
fn bytes_stall_and_trickle() {
    through(Mischief::Stall, false);
    through(Mischief::Trickle, false);
}

#[test]
fn bytes_are_swallowed() {
    through(Mischief::Swallow, true);
}

#[test]
fn bytes_are_wrong() {
    through(Mischief::Corrupt, true);
}

#[test]
fn everything_at_once() {
    through(Mischief::All, true);
}

/// See the file's text.
#[test]
fn a_job_ends_as_without_a_relay() {
    let Ok(job) = std::env::var("OXMPI_RELAY_JOB") else {
        eprintln!("left out: OXMPI_RELAY_JOB names no job");
        return;
    };
    let cut = Mischief::Cut(Duration::from_secs(1));
    let lossy = [Mischief::Swallow, Mischief::Corrupt, Mischief::All];
    for mischief in [cut, Mischief::Stall, Mischief::Trickle].iter().chain(&lossy) {
        let relay = Relay::new(*mischief);
        let text = job.replace("RELAY", &relay.at.to_string());
        let mut command = std::process::Command::new("sh");
        let checksum = if lossy.contains(mischief) { "1" } else { "0" };
        command.args(["-c", &text]).env("OXMPI_MCA_btl_tcp_checksum", checksum);
        for (name, value) in PARAMS {
            command.env(format!("OXMPI_MCA_btl_tcp_{name}"), value);
        }
        let ended = command.status().expect("a shell");
        let (connections, acts) = relay.counts();
        eprintln!("{mischief:?}: {connections} connections, {acts} acts of mischief");
        assert!(ended.success() && acts > 0, "{mischief:?}: {ended}");
    }
}
