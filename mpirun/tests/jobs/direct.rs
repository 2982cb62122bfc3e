//! Links that daemons make for themselves: who uses them, what strangers get, and what is left when a daemon is killed with some open.

use crate::remote::Room;
use crate::support::{Job, KEEPERS, Process, eventually, free_port, kill_together, one_report, own_rank};
use crate::tally::{counts, read};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::Duration;

fn role(mut job: Job, role: &str, up: &Path) -> Job {
    let role = format!("{}={role}", crate::support::ROLE);
    job.command.args(["-x", &role, "-x", &format!("UP={}", up.display())]).args(own_rank());
    job
}

fn until_up(folder: &Path, ranks: usize) {
    eventually(&format!("{ranks} ranks"), || {
        (0..ranks).all(|rank| folder.join(rank.to_string()).exists()).then_some(())
    });
}

/// mpirun's own machine, too: each daemon calls the others, and is called by them.
#[test]
fn every_daemon_calls_and_is_called() {
    let room = Room::new("");
    let folder = tempfile::tempdir().expect("a folder");
    let mut job = room.over("localhost:2,a:2,b:1", "--bind-to none");
    job.command.env("OXMPI_LINK_COUNTS", folder.path());
    role(job, "cards", folder.path()).run().expect(0, &[]);
    for node in 0..3 {
        let counted = counts(&read(folder.path(), &format!("node{node}"))["direct"]);
        // As a caller an answer to the challenge and a question to each other; as one that is called a challenge, a welcome, values.
        assert_eq!(
            (counted.sent.messages, counted.received.messages),
            (2 * 2 + 2 * 3, 2 * 3 + 2 * 2),
            "node {node}"
        );
    }
}

/// Connections of strangers are refused by name, and cost the job nothing.
#[test]
fn strangers_at_a_door_are_refused() {
    let room = Room::new("");
    let folder = tempfile::tempdir().expect("a folder");
    let first = free_port();
    let job = room.over("a:1,b:1", &format!("--mca prte_dynamic_ipv4_ports {first}-{}", first + 5));
    let job = role(job, "ask", folder.path()).start();
    until_up(folder.path(), 2);
    let mut doors = 0;
    for port in first..=first + 5 {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
        doors += 1;
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        // A frame of the right form that is no answer to the challenge.
        let frame = [&[4_u8, 0, 0, 0, 0xd3][..], b"else"].concat();
        stream.write_all(&frame).expect("it listens");
        // A challenge comes, and why it is refused; then the end.
        let mut said = Vec::new();
        // It may be reset, with what was said unread.
        let _ = stream.read_to_end(&mut said);
    }
    assert!(doors >= 2, "{doors} of two daemons listen");
    std::fs::write(folder.path().join("end"), "").expect("our folder");
    let ended = job.wait();
    ended.expect(0, &["a connection from 127.0.0.1 is refused"]);
    assert_eq!(ended.reports(), 0, "{ended:?}");
}

/// Ranks ask each other without an end, over direct links, while a daemon is killed.
#[test]
fn a_killed_daemon_with_links_open_is_one_report() {
    for (which, whats) in KEEPERS.into_iter().enumerate() {
        let room = Room::new("");
        let folder = tempfile::tempdir().expect("a folder");
        let options = ["", "--mca rml_base_radix 1"][which % 2];
        let job = role(room.over("a:2,b:1,c:1", options), "ask", folder.path()).start();
        until_up(folder.path(), 4);
        let victim = |what: &&str| {
            let own = |p: &Process| {
                p.command.contains(what) && !p.command.starts_with("sh ") && !p.command.contains("agent")
            };
            let all: Vec<_> = job.processes("oxmpid").into_iter().filter(own).collect();
            assert_eq!(all.len(), 3, "{all:?}");
            all[which % 3].pid
        };
        kill_together(&whats.iter().map(victim).collect::<Vec<_>>());
        one_report(&job.wait_promptly(), 1, &["node daemon on"]);
    }
}
