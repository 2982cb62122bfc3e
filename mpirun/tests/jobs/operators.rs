//! Mistakes of operators: what each prints is a row of the second table of `docs/mistakes.md`, and each row is made, here with
//! ssh's words put into the mouth of an agent of the tests or by a peer that answers wrongly, in `machines` and `slurm` by real
//! networks, logins and allocations.

use crate::remote::{LOGIN, Room};
use crate::support::{Ended, eventually, free_port, mpirun};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A row of the table: what is printed, and mpirun's exit status.
struct Row {
    key: String,
    parts: Vec<String>,
    status: i32,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("docs/mistakes.md")).expect("the page is there");
    let (_, text) = text.split_once("## Mistakes of operators").expect("the page has this part");
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Key"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" |").map(str::trim).collect();
        let [key, _, printed, status] = cells[..] else { panic!("not four cells: {line}") };
        let parts = printed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let key = key.trim_start_matches("| ").to_owned();
        Row { key, parts, status: status.parse().expect("a status") }
    })
    .collect()
}

/// This job made the mistake with this key: it printed what the table says, in one report if it failed, and these parts.
pub fn printed(key: &str, ended: &Ended, more: &[&str]) {
    let row = table().into_iter().find(|row| row.key == key);
    let row = row.unwrap_or_else(|| panic!("docs/mistakes.md has no {key}"));
    let parts: Vec<&str> = row.parts.iter().map(String::as_str).chain(more.iter().copied()).collect();
    ended.expect(row.status, &parts);
    assert_eq!(ended.reports(), usize::from(row.status != 0), "{key}: {ended:?}");
    if row.status != 0 {
        assert_eq!(ended.out, "", "{key}: something ran");
    }
}

#[test]
fn every_row_is_made() {
    let files = ["operators.rs", "machines.rs", "slurm.rs"];
    let read = |file: &&str| std::fs::read_to_string(folder().join("mpirun/tests/jobs").join(file));
    let sources: String = files.iter().map(|file| read(file).expect("it is there")).collect();
    let rows = table();
    assert!(rows.len() >= 20, "the table is not read");
    for row in rows {
        let made = [format!("(\"{}\", ", row.key), format!("\n            \"{}\",\n", row.key)];
        assert!(made.iter().any(|made| sources.contains(made)), "{} is made nowhere", row.key);
        assert!(!row.parts.is_empty(), "{}", row.key);
    }
}

/// Every way in which a daemon does not come: one paragraph each, and nothing is left.
#[test]
fn daemons_that_do_not_come() {
    let say = |words: &str| format!("echo '{words}' >&2; exit 255");
    let line = |change: &str| format!("exec 3<&0; {{ sed -u '{change}' <&3; }} | {{ {LOGIN}\n}}; exit $?");
    let secret = format!("s/ secret=[0-9a-f]* / secret={} /", "0".repeat(64));
    for (key, before, options) in [
        ("password", say("u@far: Permission denied (publickey,password)."), ""),
        ("name", say("ssh: Could not resolve hostname far: Name or service not known"), ""),
        ("no-route", say("ssh: connect to host far port 22: No route to host"), ""),
        ("swallowed", say("ssh: connect to host far port 22: Connection timed out"), ""),
        ("host-key", say("Host key verification failed."), ""),
        ("no-sshd", say("ssh: connect to host far port 22: Connection refused"), ""),
        ("no-oxmpid", String::new(), "--prefix /no/such"),
        ("version", line("s/^oxmpi-boot [^ ]* /oxmpi-boot 99.0.0 /"), ""),
        ("build", line("s/^oxmpi-boot \\([^ ]*\\) [^ ]* /oxmpi-boot \\1 0123456789abcdef /"), ""),
        ("blocked", line("s/ to=[^ ]* / to=127.0.0.1:1 /"), ""),
        ("secret", line(&secret), ""),
        ("silent", "exec sleep 1111".to_owned(), "--mca prte_startup_timeout 2"),
        ("login-ends", "echo nothing to do >&2; exit 0".to_owned(), ""),
        ("other-program", String::new(), "--mca prte_launch_agent /bin/false"),
        ("interface", String::new(), "--mca prte_if_include nosuch0"),
        ("no-agent", String::new(), "--mca plm_ssh_agent no-such-agent"),
    ] {
        let room = Room::new(&before);
        let agent = match options.contains("plm_ssh_agent") {
            true => String::new(),
            false => format!("--mca plm_ssh_agent {}", room.agent().display()),
        };
        let ended = mpirun(&format!("--host far:1 {agent} {options}")).script("echo never").run();
        printed(key, &ended, &[]);
    }
}

/// One that was to be started by another daemon is named.
#[test]
fn a_failure_deep_in_the_tree_is_told() {
    let refused = "ssh: connect to host c port 22: Connection refused";
    let room = Room::new(&format!("case $1 in c) echo '{refused}' >&2; exit 255;; esac"));
    let ended = room.over("a,b,c,d", "--mca rml_base_radix 1").script("echo never").run();
    printed("no-sshd", &ended, &["node daemon on c", "1 other nodes"]);
}

/// The node has an `oxmpid` for another kind of processor.
#[test]
fn a_daemon_for_another_processor() {
    let room = Room::new("");
    let file = room.home("oxmpid");
    // The head of a program for RISC-V.
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.resize(16, 0);
    elf.extend_from_slice(&[2, 0, 243, 0, 1, 0, 0, 0]);
    elf.resize(64, 0);
    std::fs::write(&file, elf).expect("a fresh folder");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("our file");
    let options = format!("--mca prte_launch_agent {}", file.display());
    let ended = room.over("far:1", &options).script("echo never").run();
    printed("processor", &ended, &[file.to_str().expect("text")]);
}

#[test]
fn a_port_that_is_taken() {
    let room = Room::new("");
    let taken = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    let port = taken.local_addr().expect("bound").port();
    let _sixth = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port));
    let options = format!("--mca oob_tcp_dynamic_ipv4_ports {port}");
    printed("port", &room.over("far:1", &options).script("echo never").run(), &[&port.to_string()]);
    // A range with another one will do.
    let more = format!("--mca prte_dynamic_ipv4_ports {port},20000-32000");
    room.over("far:1", &more).script("true").run().expect(0, &[]);
}

/// The first word of a link: a challenge from mpirun, which says of which version of the link it is.
fn challenge(version: u8) -> Vec<u8> {
    let mut frame = vec![40, 0, 0, 0, 0xd1];
    frame.extend_from_slice(b"oxmpilk");
    frame.push(version);
    frame.extend_from_slice(&[7; 32]);
    frame
}

/// The answer of node 1's daemon, of a version of the link, without the secret.
fn answer(version: u8) -> Vec<u8> {
    let mut frame = vec![76, 0, 0, 0, 0xd2];
    frame.extend_from_slice(b"oxmpilk");
    frame.push(version);
    frame.extend_from_slice(&1_u32.to_le_bytes());
    frame.extend_from_slice(&[7; 64]);
    frame
}

/// Somebody who listens where the daemon looks for mpirun, and what he says: a first word, and one to an answer.
struct Impostor {
    port: u16,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Impostor {
    fn new(first: Vec<u8>, second: Vec<u8>) -> Impostor {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let serve = move || {
            for stream in listener.incoming() {
                if seen.load(Ordering::Acquire) {
                    return;
                }
                let mut stream = stream.expect("somebody calls");
                // The daemon may be gone meanwhile.
                let _ = stream.write_all(&first);
                let mut heard = [0; 81];
                if stream.read_exact(&mut heard).is_ok() {
                    let _ = stream.write_all(&second);
                }
                let _ = stream.read_to_end(&mut Vec::new());
            }
        };
        Impostor { port, over, thread: Some(std::thread::spawn(serve)) }
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        self.thread.take().map(JoinHandle::join);
    }
}

/// Somebody else answers in mpirun's place; the daemon finds out by itself.
#[test]
fn somebody_else_in_mpiruns_place() {
    let mut welcome = vec![32, 0, 0, 0, 0xd3];
    welcome.extend_from_slice(&[7; 32]);
    for (key, first, second) in [
        ("impostor", challenge(b'1'), welcome),
        ("other-service", b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), Vec::new()),
        ("link-version", challenge(b'2'), Vec::new()),
        ("mute", Vec::new(), Vec::new()),
    ] {
        let impostor = Impostor::new(first, second);
        let port = impostor.port;
        let change = format!("s/ to=[^ ]* / to=127.0.0.1:{port} /; s/ patience=[0-9]*/ patience=3/");
        let room = Room::new(&format!("exec 3<&0; {{ sed -u '{change}' <&3; }} | {{ {LOGIN}\n}}; exit $?"));
        let ended = room.over("far:1", "").script("echo never").run();
        printed(key, &ended, &[&format!("127.0.0.1:{port}")]);
    }
}

/// Strangers at mpirun's port cost the job nothing, and are named.
#[test]
fn strangers_are_refused() {
    let room = Room::new("while ! test -e $room/go; do sleep 0.05; done");
    let port = free_port();
    let options = format!("--mca prte_dynamic_ipv4_ports {port}");
    let job = room.over("far:1", &options).script("echo says: well").start();
    let connect = || eventually("mpirun's port", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    let mut garbage = connect();
    garbage.write_all(&[0xff; 2000]).expect("it listens");
    for (version, why) in [(b'1', "does not know the job's secret"), (b'2', "version 2 of the link")] {
        let mut liar = connect();
        let mut asked = [0; 45];
        liar.read_exact(&mut asked).expect("a challenge");
        assert_eq!(asked[..13], challenge(b'1')[..13]);
        liar.write_all(&answer(version)).expect("it listens");
        let mut rest = Vec::new();
        let _ = liar.read_to_end(&mut rest);
        assert!(String::from_utf8_lossy(&rest).contains(why), "{rest:?}");
    }
    let _silent: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    std::fs::write(room.home("go"), "").expect("a folder");
    let ended = job.wait();
    printed("garbage", &ended, &["127.0.0.1"]);
    printed("stranger", &ended, &[]);
    printed("other-daemon", &ended, &[]);
    assert_eq!(ended.said(), ["well"]);
}
