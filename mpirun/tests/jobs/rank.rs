//! The rank program: this test binary, started by mpirun with a role in its environment.
//!
//! It is a test by its form only. Without a role it does nothing; with one it plays it and exits
//! before the test harness can say anything about it.

use crate::support::{ROLE, own_rank};
use crate::tally::{KEY, VALUE};
use oxmpi_wireup::{Client, Polled, RANK_VARIABLE, SECRET_VARIABLE, SOCKET_VARIABLE};
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, exit};
use std::time::Duration;

#[test]
fn rank() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (role, argument) = role.split_once(' ').unwrap_or((&role, ""));
    exit(play(role, argument));
}

fn say(text: impl std::fmt::Display) {
    // One write, so that a line is a line for whoever collects it.
    let line = format!("\nsays: {text}\n");
    std::io::stdout().write_all(line.as_bytes()).expect("mpirun reads");
}

fn join() -> Client {
    match Client::from_environment() {
        Ok(client) => client.expect("mpirun set the environment"),
        Err(why) => {
            say(format_args!("refused: {why}"));
            exit(3);
        }
    }
}

/// From now on so many threads that compute are on the calling thread's core.
fn share_one_core_with(threads: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).expect("the kernel says");
    let core = (0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).expect("one at least");
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).expect("it is allowed");
    for _ in 0..threads {
        std::thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
    }
}

/// Computes until the calling thread has had a core for so long.
fn use_core_for(time: Duration) {
    use rustix::time::{ClockId, clock_gettime};
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("no time is below 0");
    let end = used() + time;
    while used() < end {}
}

fn play(role: &str, argument: &str) -> i32 {
    match role {
        "facts" => facts(&join()),
        "exchange" => exchange(&join()),
        "nodes" => nodes(&join()),
        "late" => late(&join()),
        "blame" => blame(&join(), argument),
        "fence" => _ = join().fence(),
        "cards" => cards(&join()),
        "ask" => ask(&join()),
        "leave" => drop(join()),
        "abort" => {
            let client = join();
            client.fence().expect("all come");
            if client.facts().rank == 1 {
                assert!(client.abort(argument.parse().expect("a code"), "", "no more flour"));
            }
            stay();
        }
        "report" => {
            let client = join();
            let reports = client.facts().rank == 1;
            if reports {
                share_one_core_with(6);
            }
            client.fence().expect("all come");
            if reports {
                use_core_for(Duration::from_millis(600));
                eprintln!("end of 1");
            }
            exit(23);
        }
        "stay" => {
            let client = join();
            say(client.facts().rank);
            tell_up(&client);
            stay();
        }
        "crash" => {
            let client = join();
            client.fence().expect("all come");
            if client.facts().rank == 1 {
                std::process::abort();
            }
            // The other's end is an error here, not a wait for ever.
            client.fence().expect_err("rank 1 is gone");
            stay();
        }
        "help" => {
            let client = join();
            assert!(client.help("btl-test", "no-flour", "There is no flour."));
            client.finalized();
        }
        "twice" => twice(&join()),
        "stranger" => stranger(argument),
        "garbage" => garbage(),
        "impossible" => impossible(),
        other => panic!("no role is called {other:?}"),
    }
    0
}

fn stay() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1000));
    }
}

fn facts(client: &Client) {
    let f = client.facts();
    say(format_args!(
        "rank {} of {}, {} of {} on node {} of {}, job {:x}, crowded {}, ranks {:?}, params {:?}",
        f.rank,
        f.size,
        f.local_rank,
        f.local_size(),
        f.node,
        f.node_names.len(),
        u64::from(f.job_id != 0),
        f.oversubscribed,
        f.local_ranks,
        f.params
    ));
    assert!(f.keeper_pid != 0 && f.cores > 0 && f.node_names[f.node as usize] == f.hostname);
    client.finalized();
}

/// Everybody publishes, everybody asks everybody; the segment is one and the same.
fn exchange(client: &Client) {
    let (me, size) = (client.facts().rank, client.facts().size);
    let segment = std::fs::File::from(client.segment().try_clone_to_owned().expect("a descriptor"));
    if me == 0 {
        segment.set_len(4096).expect("it can grow");
    }
    client.put("card", format!("card of {me}").as_bytes());
    client.put("large", &vec![me as u8; 60_000]);
    client.commit().expect("short enough");
    client.fence().expect("all come");
    for other in 0..size {
        let card = client.get(other, "card").expect("an answer");
        assert_eq!(card, Some(format!("card of {other}").into_bytes()));
        assert_eq!(client.get(other, "large").expect("an answer"), Some(vec![other as u8; 60_000]));
    }
    assert_eq!(client.get(me, "nothing").expect("an answer"), None);
    segment.write_all_at(&[1 + me as u8], u64::from(me)).expect("it has 4096 bytes");
    for _ in 0..20 {
        client.fence().expect("all come");
    }
    let mut seen = vec![0; size as usize];
    segment.read_exact_at(&mut seen, 0).expect("it has 4096 bytes");
    assert_eq!(seen, (1..=size as u8).collect::<Vec<_>>());
    shared(client);
    say(format_args!("job {:x}", client.facts().job_id));
    client.finalized();
}

/// The ranks of a node get one memory by one key, new memory when nobody has it any more, and a node's is no other's.
fn shared(client: &Client) {
    let f = client.facts();
    let (me, here) = (f.local_rank, f.local_size());
    for round in 0..3 {
        let (memory, first) = client.share("memory", 4096).expect("there is memory");
        let memory = std::fs::File::from(memory);
        memory.set_len(4096).expect("it can grow");
        let own = 1 + f.rank as u8;
        let mut before = [9];
        memory.read_exact_at(&mut before, me.into()).expect("it has 4096 bytes");
        assert_eq!(before, [0], "it is new, round {round}");
        memory.write_all_at(&[own], me.into()).expect("it has 4096 bytes");
        memory.write_all_at(&[first.into()], 100 + u64::from(me)).expect("it has 4096 bytes");
        let why = client.share("memory", 4097).expect_err("another size");
        assert_eq!(why.kind, oxmpi_wireup::ErrorKind::OtherSize, "{why}");
        client.fence().expect("all come");
        let mut seen = vec![0; here as usize];
        memory.read_exact_at(&mut seen, 0).expect("it has 4096 bytes");
        let ranks: Vec<u8> = f.local_ranks.iter().map(|rank| 1 + *rank as u8).collect();
        assert_eq!(seen, ranks, "the ranks of this node and no others");
        memory.read_exact_at(&mut seen, 100).expect("it has 4096 bytes");
        assert_eq!(seen.iter().sum::<u8>(), 1, "one is the first");
        client.give_up("memory");
        client.fence().expect("all come");
    }
    if me == 0 {
        // Memory that a rank has not given up when it leaves is freed with it.
        client.share("left", 1).expect("there is memory");
    }
}

/// Values cross nodes and change at fences; memory stays inside of a node.
fn nodes(client: &Client) {
    let (me, size) = (client.facts().rank, client.facts().size);
    let segment = std::fs::File::from(client.segment().try_clone_to_owned().expect("a descriptor"));
    segment.set_len(4096).expect("it can grow");
    segment.write_all_at(&[1 + me as u8], u64::from(me)).expect("it has 4096 bytes");
    for round in 0..20 {
        client.put("card", format!("card {round} of {me}").as_bytes());
        client.commit().expect("short enough");
        client.fence().expect("all come");
        for other in (0..size).map(|n| (n + me) % size) {
            let card = client.get(other, "card").expect("an answer");
            assert_eq!(card, Some(format!("card {round} of {other}").into_bytes()));
            assert_eq!(client.get(other, "nothing").expect("an answer"), None);
        }
        // All questions go out before any answer is waited for.
        let mut open: Vec<u32> = (0..size).collect();
        while !open.is_empty() {
            open.retain(|other| match client.try_get(*other, "card", 100).expect("no error") {
                Polled::Waits => true,
                polled => {
                    let card = format!("card {round} of {other}").into_bytes();
                    assert_eq!(polled, Polled::Value(Some(card)));
                    false
                }
            });
            std::thread::yield_now();
        }
        // Before the next round changes them.
        client.fence().expect("all come");
    }
    assert_eq!(client.get(size, "card").expect("an answer"), None);
    let mut seen = vec![0; size as usize];
    segment.read_exact_at(&mut seen, 0).expect("it has 4096 bytes");
    let here = |rank: &u32| client.facts().local_ranks.contains(rank);
    let wanted: Vec<u8> = (0..size).map(|rank| if here(&rank) { 1 + rank as u8 } else { 0 }).collect();
    assert_eq!(seen, wanted, "the ranks of this node share memory, and no others");
    shared(client);
    say(format_args!("job {:x}", client.facts().job_id));
    client.finalized();
}

/// Everybody publishes once and asks everybody, between two fences.
fn cards(client: &Client) {
    client.put(KEY, &[client.facts().rank as u8; VALUE]);
    client.commit().expect("the daemon takes it");
    client.fence().expect("all come");
    for proc in 0..client.facts().size {
        let value = client.get(proc, KEY).expect("the daemon answers");
        assert_eq!(value, Some(vec![proc as u8; VALUE]));
    }
    client.fence().expect("all come");
    client.finalized();
}

/// Tells the test that this rank has come so far, if it wants to know.
fn tell_up(client: &Client) {
    if let Some(folder) = std::env::var_os("UP") {
        let name = client.facts().rank.to_string();
        std::fs::write(std::path::Path::new(&folder).join(name), "").expect("the test's folder");
    }
}

/// Asks all others for what nobody has, again and again, until the test has seen enough.
fn ask(client: &Client) {
    client.put(KEY, &[client.facts().rank as u8; VALUE]);
    client.commit().expect("the daemon takes it");
    client.fence().expect("all come");
    let folder = std::path::PathBuf::from(std::env::var_os("UP").expect("the test's folder"));
    for round in 0.. {
        for proc in 0..client.facts().size {
            let value = client.get(proc, KEY).expect("the daemon answers");
            assert_eq!(value, Some(vec![proc as u8; VALUE]));
            assert_eq!(client.get(proc, &format!("nothing {round}")).expect("the daemon answers"), None);
        }
        if round == 0 {
            tell_up(client);
        }
        if folder.join("end").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    client.finalized();
}

/// Asks for what a rank has published when its process is gone.
fn late(client: &Client) {
    client.put("pid", &std::process::id().to_le_bytes());
    client.put("value", format!("value of {}", client.facts().rank).as_bytes());
    client.commit().expect("short enough");
    client.fence().expect("all come");
    if client.facts().rank == 0 {
        let pid = client.get(1, "pid").expect("an answer").expect("it was put");
        let pid = u32::from_le_bytes(pid.try_into().expect("four bytes"));
        crate::support::eventually("the end of rank 1", || {
            (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(())
        });
        let value = client.get(1, "value").expect("an answer").expect("it was put");
        say(String::from_utf8_lossy(&value));
    }
    client.finalized();
}

/// Rank 2 dies a moment after the others say that it has, or does not die.
fn blame(client: &Client, dies: &str) {
    client.fence().expect("all come");
    if client.facts().rank != 2 {
        assert!(client.abort_for(9, "an error in a test", "rank 2 is odd", Some(2)));
        exit(9);
    }
    if dies == "2" {
        std::thread::sleep(Duration::from_millis(200));
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    stay();
}

/// A child with our environment wants our place.
fn twice(client: &Client) {
    if std::env::var_os("OXMPI_TEST_CHILD").is_none() {
        let [program, arguments @ ..] = own_rank();
        let child = Command::new(program).args(arguments).env("OXMPI_TEST_CHILD", "1").status();
        assert_eq!(child.expect("this binary").code(), Some(3), "the child is refused");
        client.finalized();
    }
}

/// Connections that do not show the secret: nobody gets anything, and the job goes on.
fn stranger(how: &str) {
    let client = join();
    let [program, arguments @ ..] = own_rank();
    let mut child = Command::new(program);
    child.args(arguments).env(ROLE, "facts").env(RANK_VARIABLE, "1");
    match how {
        "secret" => child.env(SECRET_VARIABLE, "0".repeat(64)),
        "user" => child.uid(65534).gid(65534),
        other => panic!("no stranger is called {other:?}"),
    };
    if client.facts().rank == 0 {
        assert_eq!(child.status().expect("this binary").code(), Some(3), "the stranger is refused");
    }
    client.fence().expect("all come");
    client.finalized();
}

fn connect() -> UnixStream {
    let name = std::env::var(SOCKET_VARIABLE).expect("mpirun set it");
    let address = SocketAddr::from_abstract_name(name).expect("a name");
    UnixStream::connect_addr(&address).expect("the daemon listens")
}

fn garbage() {
    let client = join();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(client.facts().rank);
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut kept = Vec::new();
    for round in 0..300 {
        let mut socket = connect();
        let bytes: Vec<u8> = (0..random() % 600).map(|_| random() as u8).collect();
        // The daemon may have hung up in the middle.
        let _ = socket.write_all(&bytes);
        if round % 3 == 0 {
            kept.push(socket); // and one that never says anything more
        }
    }
    let mut answer = Vec::new();
    let mut socket = connect();
    let _ = socket.write_all(&[0xff; 64]);
    let _ = socket.read_to_end(&mut answer);
    assert!(String::from_utf8_lossy(&answer).contains("impossible frame"), "{answer:?}");
    client.fence().expect("the job goes on");
    client.finalized();
    drop(kept);
}

/// A rank that says what a rank cannot say.
fn impossible() {
    let secret = std::env::var(SECRET_VARIABLE).expect("mpirun set it");
    let rank: u32 = std::env::var(RANK_VARIABLE).expect("mpirun set it").parse().expect("a number");
    let secret: Vec<u8> =
        (0..32).map(|i| u8::from_str_radix(&secret[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect();
    let mut hello = vec![44, 0, 0, 0, 1];
    hello.extend(oxmpi_wireup::VERSION.to_le_bytes());
    hello.extend(secret);
    hello.extend(rank.to_le_bytes());
    hello.extend(std::process::id().to_le_bytes());
    let mut socket = connect();
    socket.write_all(&hello).expect("the daemon listens");
    socket.read_exact(&mut [0; 5]).expect("facts");
    if rank == 1 {
        socket.write_all(&[0, 0, 0, 0, 0x99]).expect("the daemon listens");
    }
    stay();
}
