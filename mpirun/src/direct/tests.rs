//! Direct links over real sockets: daemons that ask each other, strangers, breaks.

use super::*;
use crate::link::Message;
use crate::remote::hand::Hand;
use oxmpi_wireup::frame::Inbox;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn secret(byte: u8) -> Secret {
    Secret::from_bytes([byte; 32])
}

fn listen() -> (TcpListener, Vec<SocketAddr>) {
    let listener = socket::listen(&[]).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    (listener, vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))])
}

/// Daemons of a job, one on each node, with these secrets.
fn daemons(secrets: &[u8]) -> Vec<Links> {
    let (listeners, doors): (Vec<_>, Vec<_>) = secrets.iter().map(|_| listen()).unzip();
    let doors = Doors::new(doors);
    let all = (0..).zip(listeners).zip(secrets);
    all.map(|((node, listener), byte)| {
        Links::new(node, 7, secret(*byte), doors.clone(), Some(listener)).expect("sockets")
    })
    .collect()
}

fn question(proc: u32) -> Question {
    Question { proc, key: "card".into() }
}

/// Answers all that is asked of a daemon.
fn answer(links: &mut Links, heard: Vec<Heard>) -> Vec<Heard> {
    let mut left = Vec::new();
    for heard in heard {
        match heard {
            Heard::Ask { caller, proc, key } => {
                let values = vec![(proc, Some(vec![proc as u8; 100_000]))];
                links.answer(caller, Exchange::Answer { to: 0, proc, key, values, whole: true });
            }
            other => left.push(other),
        }
    }
    left
}

/// Turns of all until `count` things are heard by the first.
fn turns(all: &mut [Links], count: usize) -> Vec<Heard> {
    let (begun, mut heard) = (Instant::now(), Vec::new());
    while heard.len() < count {
        for (node, links) in all.iter_mut().enumerate() {
            let came = links.turn();
            let left = answer(links, came);
            if node == 0 {
                heard.extend(left.into_iter().filter(|heard| !matches!(heard, Heard::Refused(_))));
            }
        }
        assert!(begun.elapsed() < LONG, "waited for {count}, heard {heard:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
    heard
}

#[test]
fn daemons_ask_each_other() {
    let mut all = daemons(&[1, 1, 1]);
    for (node, proc) in [(1, 10), (2, 20), (1, 11)] {
        assert_eq!(all[0].ask(node, question(proc)), []);
    }
    let mut procs: Vec<u32> = turns(&mut all, 3)
        .into_iter()
        .map(|heard| match heard {
            Heard::Answer { proc, key, values, whole: true } if key == "card" => {
                assert_eq!(values, [(proc, Some(vec![proc as u8; 100_000]))]);
                proc
            }
            other => panic!("{other:?}"),
        })
        .collect();
    procs.sort_unstable();
    assert_eq!(procs, [10, 11, 20]);
    // Over links that are there: three messages to make each, and two for each question.
    all[0].ask(1, question(12));
    turns(&mut all, 1);
    let (own, other) = (all[0].counts(), all[1].counts());
    assert_eq!((own.sent.messages, own.received.messages), (2 + 4, 4 + 4));
    assert_eq!((other.sent.messages, other.received.messages), (2 + 3, 1 + 3));
}

#[test]
fn a_node_without_a_door_is_asked_by_the_tree() {
    let (listener, door) = listen();
    let mut links =
        Links::new(0, 7, secret(1), Doors::new(vec![door, Vec::new()]), Some(listener)).expect("sockets");
    assert_eq!(links.ask(1, question(3)), [Heard::ByTree(question(3))]);
}

/// Told once: the second goes by the tree without a word.
#[test]
fn what_cannot_be_reached_is_told_once() {
    let mut all = daemons(&[1, 1, 2]);
    // Nobody listens any more.
    let gone = all[1].door.take();
    drop(gone);
    all[0].ask(1, question(1));
    let heard = turns(&mut all, 2);
    assert!(matches!(&heard[0], Heard::Cannot { node: 1, .. }), "{heard:?}");
    assert_eq!(heard[1], Heard::ByTree(question(1)));
    // Somebody who does not know the secret.
    all[0].ask(2, question(2));
    assert_eq!(turns(&mut all, 1), [Heard::ByTree(question(2))]);
    assert_eq!(all[0].ask(2, question(3)), [Heard::ByTree(question(3))]);
}

#[test]
fn a_question_under_way_outlives_its_link() {
    let mut all = daemons(&[1, 1]);
    all[0].ask(1, question(1));
    let begun = Instant::now();
    // It is heard, and not answered.
    while !all[1].turn().iter().any(|heard| matches!(heard, Heard::Ask { proc: 1, .. })) {
        assert_eq!(all[0].turn(), []);
        assert!(begun.elapsed() < LONG, "the question does not come");
    }
    all.truncate(1);
    assert_eq!(turns(&mut all, 1), [Heard::ByTree(question(1))]);
}

#[test]
fn strangers_hear_nothing_and_disturb_nobody() {
    let mut all = daemons(&[1, 1]);
    let at = all[1].doors.of(1)[0];
    let _silent = TcpStream::connect(at).expect("it listens");
    let mut loud = TcpStream::connect(at).expect("it listens");
    loud.write_all(&[0xff; 5000]).expect("room");
    // One that answers the challenge with a proof of its own making, and asks.
    let mut liar = TcpStream::connect(at).expect("it listens");
    let false_answer = Hand::Answer { node: 0, challenge: [1; 32], proof: [2; 32] };
    liar.write_all(&false_answer.encode().expect("short")).expect("room");
    let ask = Direct(Exchange::Ask { from: 0, proc: 1, key: "card".into() });
    liar.write_all(&ask.encode().expect("short")).expect("room");
    liar.set_nonblocking(true).expect("a socket");
    let (begun, mut bytes) = (Instant::now(), Vec::new());
    loop {
        let heard = all[1].turn();
        let told =
            heard.iter().all(|heard| matches!(heard, Heard::Refused(text) if text.contains("127.0.0.1")));
        assert!(told, "a stranger is listened to: {heard:?}");
        let mut buffer = [0; 4096];
        match liar.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {}
            // It was closed with words unread.
            Err(_) => break,
        }
        assert!(begun.elapsed() < LONG, "the stranger is kept");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut inbox = Inbox::new(4096);
    inbox.extend(&bytes);
    let mut said = Vec::new();
    while let Some(frame) = inbox.next().expect("sound") {
        said.push(Hand::decode(frame).expect("the handshake's"));
    }
    let refused = matches!(&said[..], [Hand::Challenge(_), Hand::Refused(why)] if why.contains("secret"));
    assert!(refused || said.len() < 2, "{said:?}");
    all[0].ask(1, question(5));
    assert!(matches!(&turns(&mut all, 1)[..], [Heard::Answer { proc: 5, .. }]));
}

/// More callers than there are places: those out of use make room, and all are answered.
#[test]
fn a_door_has_a_bound() {
    let callers = door::MOST + 40;
    let (listener, at) = listen();
    let doors = Doors::new(vec![at; 1]);
    let mut asked = Links::new(0, 7, secret(1), doors.clone(), Some(listener)).expect("sockets");
    let mut all: Vec<Links> = (1..=callers as u32)
        .map(|node| Links::new(node, 7, secret(1), doors.clone(), None).expect("sockets"))
        .collect();
    for links in &mut all {
        assert_eq!(links.ask(0, question(3)), []);
        let begun = Instant::now();
        loop {
            let came = asked.turn();
            assert_eq!(answer(&mut asked, came), []);
            let heard = links.turn();
            if matches!(&heard[..], [Heard::Answer { proc: 3, .. }]) {
                break;
            }
            assert_eq!(heard, []);
            assert!(begun.elapsed() < LONG, "it is not answered");
        }
    }
    let open = all.iter_mut().filter_map(|links| {
        links.turn();
        (!links.lines.is_empty()).then_some(())
    });
    assert!(open.count() <= door::MOST);
}

/// Each word of a peer is an exchange of ours or is refused.
#[test]
fn only_questions_and_answers_go_over_a_link() {
    for exchange in [Exchange::Fence, Exchange::Gone { rank: 1 }, Exchange::Never { rank: 1, pid: 2 }] {
        let bytes = Direct(exchange).encode().expect("short");
        let mut inbox = Inbox::new(100);
        inbox.extend(&bytes);
        assert!(Direct::decode(inbox.next().expect("sound").expect("whole")).is_err());
    }
}
