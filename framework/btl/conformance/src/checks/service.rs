//! Service links: requests that are answered, where they are offered.

use crate::harness::{Harness, Link};
use crate::message::Msg;
use crate::rank::Rank;
use crate::setup::Setup;
use crate::waiting::Waits;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use oxmpi_btl::{SERVICE_CTX, cap};
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Service: every_request_has_one_reply, requests_of_several_contexts, requests_are_bounded,
    too_large_requests_are_refused, servers_are_woken);

/// A server that was not woken looks by itself after this long.
const NAP: Duration = Duration::from_secs(3);

/// A job whose ranks answer each request by as many bytes, each one changed. None: the component has no service links.
fn serving(setup: &Setup) -> Option<Harness> {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::SERVICE) {
        return None;
    }
    answer_requests(&h);
    Some(h)
}

/// Opens the service contexts of a job whose transport has them, and has each request answered as [`serving`] says.
pub(super) fn answer_requests(h: &Harness) {
    for rank in &h.ranks {
        for _ in 0..2 {
            assert_eq!(rank.service_open(), Status::OK, "{}: open", h.name);
        }
        let this = core::ptr::from_ref(rank) as usize;
        rank.set_hook(move |got| {
            if got.ctx != SERVICE_CTX {
                return;
            }
            // SAFETY: `h.ranks` does not move while `h` lives, and its drop takes the hooks away.
            let rank = unsafe { &*(this as *const Rank) };
            let mut answer = got.bytes.clone();
            answer.iter_mut().for_each(|b| *b = !*b);
            let status = raw(got.tag ^ 1, &answer, |desc| rank.service_reply(got.link, desc));
            if status != Status::OK {
                rank.host.violation(format!("service_reply: {status}"));
            }
        });
    }
}

/// Calls `send` with a message of these bytes, the first up to 16 as header.
fn raw<R>(tag: u8, bytes: &[u8], send: impl FnOnce(&oxmpi_btl::SendDesc) -> R) -> R {
    let (header, payload) = bytes.split_at(bytes.len().min(16));
    send(&oxmpi_btl::SendDesc {
        tag: tag.into(),
        hdr_len: header.len() as u32,
        hdr: header.as_ptr(),
        payload: payload.as_ptr(),
        len: payload.len() as u64,
        pack: None,
        pack_ctx: core::ptr::null_mut(),
    })
}

pub(super) fn request(h: &Harness, link: Link, ctx: u32, msg: &Msg) -> Status {
    let rank = &h.ranks[link.from];
    let send = |desc: &_| rank.service_request(link.to, ctx, desc);
    rank.on(ctx, || raw(msg.tag, &msg.bytes(), send))
}

pub(super) fn is_answer(msg: &Msg, tag: u8, bytes: &[u8]) -> bool {
    tag == msg.tag ^ 1 && bytes.len() == msg.total() && bytes.iter().zip(msg.bytes()).all(|(a, b)| *a == !b)
}

/// Requests of every size come out of the service context alone, and their replies out of the context that asked.
fn every_request_has_one_reply(setup: &Setup) {
    let Some(h) = serving(setup) else { return };
    let limit = h.ranks[0].btl.attrs().service_limit as usize;
    for link in h.links() {
        let (server, client) = (&h.ranks[link.to], &h.ranks[link.from]);
        for (i, total) in [0, 1, 15, 16, 17, 100, limit / 2, limit - 1, limit].into_iter().enumerate() {
            let msg = Msg::new(i as u64 + 40, 0, total.min(limit));
            let before = (server.host.arrived(), client.host.arrived());
            assert_eq!(request(&h, link, 0, &msg), Status::OK, "{}: a first request", h.name);
            (0..3).for_each(|_| _ = server.progress_all());
            assert_eq!(
                server.host.arrived(),
                before.0,
                "{}: a request came out of an ordinary context",
                h.name
            );
            let begun = Instant::now();
            while client.host.arrived() == before.1 {
                server.serve();
                client.progress(0);
                assert!(begun.elapsed() < h.patience, "{}: no reply to {msg:?}", h.name);
            }
            (0..5).for_each(|_| _ = server.serve() + client.progress_all());
            let (asked, got) = (server.host.take(), client.host.take());
            assert_eq!((asked.len(), got.len()), (1, 1), "{}: requests and replies", h.name);
            assert_eq!((asked[0].proc, got[0].proc), (link.from as u32, link.to as u32), "{}", h.name);
            assert!(asked[0].tag == msg.tag && asked[0].bytes == msg.bytes(), "{}: {msg:?}: request", h.name);
            assert!(
                got[0].ctx == 0 && is_answer(&msg, got[0].tag, &got[0].bytes),
                "{}: {msg:?}: reply",
                h.name
            );
        }
    }
}

/// Threads with a context each ask one server; messages go over the same contexts meanwhile.
fn requests_of_several_contexts(setup: &Setup) {
    const EACH: u64 = 150;
    let Some(h) = serving(&setup.clone().threaded(true)) else { return };
    let link = h.link();
    let client = &h.ranks[link.from];
    let contexts = client.contexts();
    let over = AtomicU32::new(0);
    std::thread::scope(|threads| {
        for ctx in 0..contexts {
            let (h, over) = (&h, &over);
            threads.spawn(move || {
                let begun = Instant::now();
                for i in 0..EACH {
                    let msg = Msg { tag: ctx as u8 * 2, ..Msg::new(i, 0, 24 + (i % 50) as usize) };
                    while request(h, link, ctx, &msg) != Status::OK {
                        client.progress(ctx);
                        std::thread::yield_now();
                        assert!(begun.elapsed() < 3 * h.patience, "{}: no room for requests", h.name);
                    }
                    client.progress(ctx);
                }
                over.fetch_add(1, Ordering::SeqCst);
            });
        }
        let begun = Instant::now();
        while over.load(Ordering::SeqCst) < contexts || client.host.arrived() < EACH * contexts as u64 {
            h.ranks[link.to].serve();
            if over.load(Ordering::SeqCst) == contexts {
                client.progress_all();
            }
            std::thread::yield_now();
            if begun.elapsed() > 3 * h.patience {
                // The scope ends by the threads' own patience.
                break;
            }
        }
    });
    (0..10).for_each(|_| _ = h.ranks[link.to].serve() + client.progress_all());
    let got = client.host.take();
    assert_eq!(got.len() as u64, EACH * contexts as u64, "{}: replies", h.name);
    for ctx in 0..contexts {
        let mut seen: Vec<&[u8]> =
            got.iter().filter(|m| m.tag == (ctx as u8 * 2) ^ 1).map(|m| &m.bytes[..]).collect();
        let own = got.iter().filter(|m| m.tag == (ctx as u8 * 2) ^ 1).all(|m| m.ctx == ctx);
        assert!(own, "{}: a reply came on another context than {ctx}", h.name);
        let mut due: Vec<Vec<u8>> = (0..EACH)
            .map(|i| Msg::new(i, 0, 24 + (i % 50) as usize).bytes().iter().map(|b| !b).collect())
            .collect();
        seen.sort_unstable();
        due.sort_unstable();
        assert!(seen == due, "{}: replies of context {ctx}", h.name);
    }
}

/// A server that does not look bounds its requesters, whose progress then brings replies and room.
fn requests_are_bounded(setup: &Setup) {
    const MOST: u64 = 100_000;
    let Some(h) = serving(setup) else { return };
    let link = h.link();
    let (server, client) = (&h.ranks[link.to], &h.ranks[link.from]);
    let mut replies = 0;
    for round in 0..3 {
        let mut taken = 0;
        loop {
            match request(&h, link, 0, &Msg::new(taken, 0, 40)) {
                Status::OK => taken += 1,
                Status::NO_RESOURCE => break,
                s => panic!("{}: a request was refused: {s}", h.name),
            }
            assert!(taken < MOST, "{}: requests without an answer are not bounded", h.name);
        }
        assert!(taken > 0, "{}: round {round}: no room for any request", h.name);
        // Ordinary messages are not held up by that.
        h.push(link, 0, &Msg::new(round, 24, 8));
        replies += taken;
        let begun = Instant::now();
        while client.host.arrived() < replies {
            server.serve();
            client.progress(0);
            assert!(
                begun.elapsed() < h.patience,
                "{}: {} of {replies} replies",
                h.name,
                client.host.arrived()
            );
        }
        server.progress(0);
    }
    (0..5).for_each(|_| _ = server.serve() + client.progress(0));
    assert_eq!(client.host.arrived(), replies, "{}: more replies than requests", h.name);
}

/// More than `service_limit` is refused for good, and later requests are answered.
fn too_large_requests_are_refused(setup: &Setup) {
    let Some(h) = serving(setup) else { return };
    let (link, limit) = (h.link(), h.ranks[0].btl.attrs().service_limit as usize);
    for total in [limit + 1, limit * 2 + 100] {
        let s = request(&h, link, 0, &Msg::new(1, 0, total));
        assert!(s.is_err() && s != Status::NO_RESOURCE, "{}: a request of {total} bytes: {s}", h.name);
    }
    assert_eq!(request(&h, link, 0, &Msg::new(2, 0, limit)), Status::OK, "{}", h.name);
    let begun = Instant::now();
    while h.ranks[link.from].host.arrived() == 0 {
        h.ranks[link.to].serve();
        h.ranks[link.from].progress(0);
        assert!(begun.elapsed() < h.patience, "{}: no reply behind a refusal", h.name);
    }
}

/// A server that sleeps whenever nothing is there answers each request in time; its word says when something is there.
fn servers_are_woken(setup: &Setup) {
    const ROUNDS: u64 = 400;
    let Some(h) = serving(setup) else { return };
    if !h.ranks[0].can(cap::SERVICE_SLEEP) {
        return;
    }
    let Some(link) = h.links().into_iter().find(|l| l.from != l.to) else { return };
    let (server, client) = (&h.ranks[link.to], &h.ranks[link.from]);
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                let waits = Waits::arm_service(server);
                if waits.status == Status::OK {
                    assert!(!waits.is_empty(), "{}: nothing would wake a server", h.name);
                    waits.sleep(NAP);
                }
                server.service_disarm();
                server.serve();
            }
        });
        // Also when this panics the server ends: it looks every few seconds.
        let _over = SetAtEnd(&over);
        for i in 0..ROUNDS {
            let (msg, begun) = (Msg::new(i, 0, 32), Instant::now());
            while request(&h, link, 0, &msg) != Status::OK {
                client.progress(0);
            }
            while client.host.arrived() == i {
                client.progress(0);
                std::thread::yield_now();
                assert!(
                    begun.elapsed() < NAP - Duration::from_secs(1),
                    "{}: request {i} woke nobody",
                    h.name
                );
            }
            if i % 7 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
        over.store(true, Ordering::SeqCst);
        // The server's last sleep.
        while request(&h, link, 0, &Msg::new(1, 0, 32)) != Status::OK {
            client.progress(0);
        }
    });
    let pending = server.service_pending();
    (0..10).for_each(|_| _ = server.serve() + client.progress(0));
    if !pending.is_null() {
        // SAFETY: valid until `finalize`.
        let word = unsafe { AtomicU32::from_ptr(pending.cast_mut()) };
        assert_eq!(request(&h, link, 0, &Msg::new(1, 0, 32)), Status::OK);
        assert_ne!(
            word.load(Ordering::SeqCst),
            0,
            "{}: a request is there, but its word does not say so",
            h.name
        );
        (0..10).for_each(|_| _ = server.serve() + client.progress(0));
    }
}

/// Sets a flag when the scope is left, by a panic too.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
