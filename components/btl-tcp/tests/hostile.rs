//! Strangers, liars and peers that break the protocol: refused or closed, by name, and the job goes on where it can.

mod common;

use btl_tcp::fuzz::{Challenge, Header, Hello, Kind, Refusal};
use common::{Caller, hello, job, pair};
use oxmpi_btl_conformance::{Harness, Link, Msg, Setup};
use oxmpi_mca::{ProcName, Status};
use std::time::{Duration, Instant};

fn logged(h: &Harness, what: &str) {
    let log = h.ranks[0].host.logged();
    assert!(log.contains(what), "no \"{what}\" in:\n{log}");
}

#[test]
fn garbage_is_turned_away_and_named() {
    let (h, to) = job(pair());
    let mut caller = Caller::new(&h, to);
    let from = caller.socket.local_addr().expect("bound").to_string();
    caller.say(b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n");
    assert_eq!(caller.hear::<1>(), None, "a stranger is answered nothing");
    logged(&h, &format!("a connection from {from} was refused: it does not speak this protocol"));
    // One that says nothing costs nothing but its place.
    let silent: Vec<_> = (0..50).map(|_| Caller::new(&h, to)).collect();
    let mut honest = Caller::new(&h, to);
    assert_eq!(honest.prove(&hello(&h), true).map(|w| w.refusal), Some(Refusal::None));
    drop(silent);
    assert_eq!(h.ranks[0].host.failures(), [], "nobody failed");
}

#[test]
fn who_does_not_know_the_secret_is_refused() {
    let (h, to) = job(pair());
    let welcome = Caller::new(&h, to).prove(&hello(&h), false);
    assert_eq!(welcome.map(|w| w.refusal), Some(Refusal::Secret));
    logged(&h, "does not know the job's secret");
    // Nothing of that touches the process in whose name it was.
    assert_eq!(Caller::new(&h, to).prove(&hello(&h), true).map(|w| w.refusal), Some(Refusal::None));
}

fn refusal(h: &Harness, to: std::net::SocketAddr, hello: &Hello) -> Option<Refusal> {
    let mut caller = Caller::new(h, to);
    caller.say(&hello.encode());
    Some(Challenge::decode(&caller.hear()?).expect("a challenge").refusal)
}

#[test]
fn names_contexts_and_versions_are_checked() {
    let (h, to) = job(pair());
    let good = hello(&h);
    let mut other = good.to;
    other.bytes[0] ^= 1;
    for (wrong, due) in [
        (Hello { from: ProcName { bytes: [3; 16] }, ..good }, Refusal::Name),
        (Hello { to: other, ..good }, Refusal::Name),
        (Hello { from: good.to, ..good }, Refusal::Name),
        (Hello { to_ctx: 1, ..good }, Refusal::Context),
        (Hello { to_rail: 99, ..good }, Refusal::Context),
        (Hello { from_ctx: u16::MAX, to_ctx: u16::MAX, ..good }, Refusal::Context),
    ] {
        assert_eq!(refusal(&h, to, &wrong), Some(due), "{wrong:?}");
    }
    let mut old = good.encode();
    old[4] = 77;
    let mut caller = Caller::new(&h, to);
    caller.say(&old);
    assert_eq!(
        Challenge::decode(&caller.hear().expect("an answer")).map(|c| c.refusal),
        Ok(Refusal::Version)
    );
    logged(&h, "it speaks version 77 of the protocol");
    // A call that comes late, behind a newer one.
    let mut first = Caller::new(&h, to);
    assert_eq!(first.prove(&Hello { attempt: 5, ..good }, true).map(|w| w.refusal), Some(Refusal::None));
    let late = Caller::new(&h, to).prove(&Hello { attempt: 5, ..good }, true);
    assert_eq!(late.map(|w| w.refusal), Some(Refusal::Stale));
}

/// A frame that violates the protocol closes the peer, and the failure names the violation.
#[test]
fn broken_frames_close_the_peer_by_name() {
    let good = Header { len: 0, kind: Kind::Message, tag: 9, sum: None, position: 0, acked: 0 };
    let cases: [(&str, Header); 5] = [
        ("a message longer than any", Header { len: 1 << 25, ..good }),
        ("an acknowledgement of what was never sent", Header { acked: 4096, ..good }),
        ("an acknowledgement of what was never sent", Header { kind: Kind::Ack, acked: 8, ..good }),
        ("a message of a kind that does not belong on its stream", Header { kind: Kind::Request, ..good }),
        ("a message of a kind that does not belong on its stream", Header { kind: Kind::Reply, ..good }),
    ];
    for (what, header) in cases {
        let (h, to) = job(pair());
        h.ranks[0].host.let_peers_fail();
        let mut caller = Caller::new(&h, to);
        caller.prove(&hello(&h), true).expect("welcome");
        caller.say(&header.encode());
        assert_eq!(caller.hear::<1>(), None, "{what}: the connection ends");
        h.send_until_refused(Link { from: 0, to: 1 }, Duration::from_secs(20));
        assert_eq!(h.ranks[0].host.failures(), [(1, Status::PEER_FAILED)], "{what}");
        assert_eq!(h.ranks[0].host.arrived(), 0, "{what}: nothing is handed up");
    }
}

/// Damage on the way is no reason to give a peer up.
#[test]
fn damaged_frames_end_the_connection_only() {
    let (h, to) = job(pair());
    let good = Header { len: 0, kind: Kind::Message, tag: 9, sum: None, position: 0, acked: 0 }.encode();
    let mut bad = good;
    bad[9] ^= 4;
    let mut caller = Caller::new(&h, to);
    caller.prove(&hello(&h), true).expect("welcome");
    caller.say(&bad);
    assert_eq!(caller.hear::<1>(), None, "the connection ends");
    // A newer call goes on, and what was whole comes once.
    let mut caller = Caller::new(&h, to);
    caller.prove(&Hello { attempt: 2, ..hello(&h) }, true).expect("welcome");
    caller.say(&good);
    let begun = Instant::now();
    while h.ranks[0].host.arrived() == 0 {
        h.ranks[0].progress(0);
        assert!(begun.elapsed() < Duration::from_secs(20), "it never comes");
    }
    assert_eq!(h.ranks[0].host.failures(), []);
}

/// A process that nobody answers for is a failure after the time for it, and the sentence says where it was called.
#[test]
fn who_stays_away_has_failed() {
    let nobody = {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        closed.local_addr().expect("bound").to_string()
    };
    let h = Harness::open(&pair().param("relay", &nobody).param("retry_timeout", "300")).expect("it opens");
    let rank = &h.ranks[1];
    rank.host.let_peers_fail();
    let begun = Instant::now();
    loop {
        match rank.send(0, 0, &Msg::new(1, 24, 8)) {
            Status::PEER_FAILED => break,
            status => assert_eq!(status, Status::NO_RESOURCE),
        }
        rank.progress(0);
        assert!(begun.elapsed() < Duration::from_secs(20), "it is never given up");
    }
    assert_eq!(rank.host.failures(), [(0, Status::PEER_FAILED)]);
}

/// Values that cannot work are refused by name.
#[test]
fn wrong_parameters_are_named() {
    let refused = |setup: Setup, what: &str| {
        let why = Harness::open(&setup).err().unwrap_or_else(|| panic!("{what}: it opens"));
        assert!(why.contains(what), "no \"{what}\" in {why}");
    };
    refused(pair().param("if_include", "nowhere0"), "btl_tcp_if_include names nowhere0");
    refused(pair().param("if_include", "10.0.0.0/99"), "10.0.0.0/99 is neither");
    refused(pair().param("if_include", "lo").param("if_exclude", "eth7"), "both set");
    refused(pair().param("disable_family", "5"), "btl_tcp_disable_family is 5");
    refused(pair().param("window", "100000"), "no power of two");
    refused(pair().param("eager_limit", "2m"), "btl_tcp_eager_limit is 2097152");
    refused(pair().param("relay", "here"), "btl_tcp_relay is here");
    // Both families, several links, and a range of ports.
    for (name, value) in
        [("disable_family", "4"), ("disable_family", "6"), ("links", "3"), ("if_include", "lo")]
    {
        drop(Harness::new(&pair().connects().param(name, value)));
    }
    let ports = pair().connects().param("port_min_v4", "41000").param("port_range_v4", "2000");
    drop(Harness::new(&ports.param("disable_family", "6")));
}
