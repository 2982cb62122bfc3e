//! Real logins: sshd on machines that are made up of namespaces (`machines.sh`), each with a network, host name, memory
//! and processes of its own. It needs root, sshd and the right to make namespaces, and says so where it leaves this out.

use crate::operators::printed;
use crate::support::{Job, KEEPERS, eventually, kill_together, mpirun, one_report, own_rank};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

struct Machines {
    folder: PathBuf,
    bridge: String,
    /// The first three numbers of the network's addresses: `.1` is the bridge, `.11` the first machine.
    network: String,
    count: usize,
}

impl Machines {
    /// Some reason why there are none.
    fn up(count: usize) -> Result<Machines, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can make machines".into());
        }
        for (program, option) in
            [("/usr/sbin/sshd", "-V"), ("ip", "-V"), ("unshare", "-V"), ("ssh-keygen", "-?")]
        {
            if Command::new(program).arg(option).output().is_err() {
                return Err(format!("{program} is not there"));
            }
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (own, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("machines-{own}-{number}"));
        std::fs::create_dir_all(&folder).expect("the build's folder");
        let letter = char::from(b'a' + number as u8);
        let bridge = format!("ox{}{letter}", own % 100_000);
        let network = format!("10.{}.{}", 100 + 50 * number + own / 250 % 50, own % 250);
        let machines = Machines { folder, bridge, network, count };
        let up = machines.script(&["up", &count.to_string()]);
        match up.status.success() {
            true => Ok(machines),
            false => Err(format!("machines cannot be made: {}", String::from_utf8_lossy(&up.stderr))),
        }
    }

    fn script(&self, words: &[&str]) -> std::process::Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jobs/machines.sh");
        Command::new("bash")
            .arg(script)
            .args(words)
            .env("W", &self.folder)
            .env("BR", &self.bridge)
            .env("NET", &self.network)
            .output()
            .expect("bash is there")
    }

    /// Changes this side's network.
    fn ip(&self, words: &str) {
        let done = Command::new("ip").args(words.split_whitespace()).output().expect("it is there");
        assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Changes a machine's network.
    fn ip_of(&self, machine: usize, words: &str) {
        self.ip(&format!("-n {}-{machine} {words}", self.bridge));
    }

    fn over(&self, hosts: &str, options: &str) -> Job {
        let mut job = mpirun(&format!("--host {hosts} {options}"));
        let agent = format!("ssh -F {}/ssh_config", self.folder.display());
        job.command.args(["--mca", "plm_ssh_agent", &agent]);
        job
    }

    /// Processes on a machine besides its sshd and what that makes for a login.
    fn processes(&self, machine: usize) -> Vec<(i32, String)> {
        let init = std::fs::read_to_string(self.folder.join(format!("m{machine}.pid"))).expect("written");
        let space = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let own = space(init.trim());
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("there is a /proc").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(pid) = name.parse::<i32>() else { continue };
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            if own.is_some() && space(&name) == own && !command.is_empty() && !command.contains("sshd") {
                found.push((pid, command));
            }
        }
        found
    }

    fn nothing_is_left(&self) {
        for machine in 1..=self.count {
            eventually(&format!("the end of everything on machine {machine}"), || {
                self.processes(machine).is_empty().then_some(())
            });
        }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.script(&["down"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn jobs_over_machines_by_real_logins() {
    let machines = match Machines::up(3) {
        Ok(machines) => machines,
        Err(why) => {
            eprintln!("left out: {why}");
            return;
        }
    };
    let role = |role: &str, options: &str| {
        let mut job = machines.over("m1:2,m2:1,m3:1", options);
        job.command.args(["-x", &format!("{}={role}", crate::support::ROLE)]).args(own_rank());
        job
    };
    // In a chain of logins, and each by mpirun.
    for options in ["--mca rml_base_radix 1", "--mca plm_ssh_no_tree_spawn 1"] {
        let ended = role("nodes", options).run();
        ended.expect(0, &[]);
        assert_eq!(ended.said().len(), 4, "{ended:?}");
        machines.nothing_is_left();
    }
    let ended = machines.over("m1,m2,m3", "").script("echo says: $(hostname)").run();
    ended.expect(0, &[]);
    assert_eq!(ended.said(), ["m1", "m2", "m3"]);
    // mpirun's own machine among them.
    machines.over("localhost,m2", "").script("true").run().expect(0, &[]);

    let family = |options: &str| {
        let script = "sleep 1111 & setsid sleep 2222 & exec sleep 3333";
        let job = machines.over("m1,m2,m3", options).script(script).start();
        for machine in 1..=3 {
            eventually("three sleeps", || {
                let sleeps =
                    machines.processes(machine).into_iter().filter(|(_, c)| c.starts_with("sleep ")).count();
                (sleeps == 3).then_some(())
            });
        }
        job
    };
    let kill = |machine: usize, whats: &[&str]| {
        let found = machines.processes(machine);
        let victims: Vec<i32> = found
            .iter()
            .filter(|(_, c)| whats.iter().any(|what| c.contains(what)))
            .map(|(pid, _)| *pid)
            .collect();
        assert!(victims.len() >= whats.len(), "{whats:?}: {found:?}");
        kill_together(&victims);
    };
    let everything: &[&str] = &[""];
    let keepers = KEEPERS.into_iter().chain([everything]).map(|whats| (whats, 1));
    let cases = [(&["sleep 3333"][..], 128 + 9)].into_iter().chain(keepers);
    for (number, (whats, status)) in cases.enumerate() {
        let job = family(["", "--mca rml_base_radix 1"][number % 2]);
        kill(2, whats);
        one_report(&job.wait_promptly(), status, &["m2"]);
        machines.nothing_is_left();
    }
    let mut job = family("--mca rml_base_radix 1");
    job.signal(Signal::KILL);
    job.child.wait().expect("a child of ours");
    machines.nothing_is_left();

    // The cable is pulled: both sides notice, and where daemons are in a chain those behind, too.
    let cable = |state: &str| machines.ip(&format!("link set {}-2 {state}", machines.bridge));
    for options in ["--mca rml_base_radix 1", ""] {
        let job = family(options);
        cable("down");
        one_report(&job.wait(), 1, &["node daemon on m2"]);
        machines.nothing_is_left();
        cable("up");
    }
    cable("down");
    // And now nothing comes back from there.
    let mut job = machines.over("m1,m2", "");
    job.command.args(["--mca", "plm_ssh_args", "-o ConnectTimeout=3"]);
    let ended = job.script("echo never").run();
    one_report(&ended, 1, &["node daemon on m2", "255"]);
    cable("up");
    std::thread::sleep(Duration::from_millis(100));
    machines.nothing_is_left();
}

/// Daemons that cannot reach each other, but mpirun: what their ranks ask goes by mpirun, and is told once to who wants to know.
#[test]
fn daemons_that_cannot_reach_each_other() {
    let machines = match Machines::up(3) {
        Ok(machines) => machines,
        Err(why) => {
            eprintln!("left out: {why}");
            return;
        }
    };
    let cards = |options: &str| {
        let mut job = machines.over("m1:2,m2:1,m3:1", &format!("--mca plm_ssh_no_tree_spawn 1 {options}"));
        job.command.args(["-x", &format!("{}=cards", crate::support::ROLE)]).args(own_rank());
        let ended = job.run();
        ended.expect(0, &[]);
        machines.nothing_is_left();
        ended.err.matches("cannot connect to the one on").count()
    };
    assert_eq!(cards("--verbose"), 0);
    let address = |machine: u32| format!("{}.{}", machines.network, 10 + machine);
    let refuse = |verb: &str| {
        for (from, to) in [(1, 2), (2, 1), (3, 1), (3, 2)] {
            machines.ip_of(from, &format!("route {verb} unreachable {}/32", address(to as u32)));
        }
    };
    refuse("add");
    assert_eq!((cards("--verbose"), cards("")), (1, 0));
    refuse("del");
    // Nothing comes back: it is given up after some time.
    let nobody = "lladdr 02:00:00:00:00:99 nud permanent";
    machines.ip_of(1, &format!("neigh replace {} dev eth0 {nobody}", address(2)));
    assert_eq!(cards("--verbose"), 1);
    machines.ip_of(1, &format!("neigh del {} dev eth0", address(2)));
}

/// Failures that keep a daemon from starting, caused by networks and by real logins.
#[test]
fn operators_mistakes_with_machines() {
    let machines = match Machines::up(2) {
        Ok(machines) => machines,
        Err(why) => {
            eprintln!("left out: {why}");
            return;
        }
    };
    let made = |key: &str, hosts: &str, options: &[&str], more: &[&str]| {
        let mut job = machines.over(hosts, "");
        job.command.args(options);
        printed(key, &job.script("echo never").run(), more);
        machines.nothing_is_left();
    };
    let ssh = |arguments: &'static str| ["--mca", "plm_ssh_args", arguments];
    // Nobody's address on a cable: whoever sends there hears nothing.
    let nobody = "lladdr 02:00:00:00:00:99 nud permanent";
    let (network, bridge) = (&machines.network, &machines.bridge);
    let first = format!("{network}.11");

    made("password", "m1", &ssh("-o PubkeyAuthentication=no"), &["m1", "publickey,password"]);
    made("name", "no-such-machine.invalid", &[], &["no-such-machine.invalid"]);
    made("host-key", "m1", &ssh("-o UserKnownHostsFile=/dev/null"), &["m1"]);
    made("no-sshd", "m1", &ssh("-p 2"), &["m1"]);
    made("no-oxmpid", "m1", &["--prefix", "/no/such"], &["m1"]);

    machines.ip(&format!("route add unreachable {first}/32"));
    made("no-route", "m2,m1", &[], &["node daemon on m1", &first]);
    machines.ip(&format!("route del unreachable {first}/32"));

    machines.ip(&format!("neigh replace {first} dev {bridge} {nobody}"));
    made("swallowed", "m1,m2", &ssh("-o ConnectTimeout=2"), &["node daemon on m1"]);
    machines.ip(&format!("neigh del {first} dev {bridge}"));
    // The machine's answers are lost.
    machines.ip_of(1, &format!("neigh replace {network}.1 dev eth0 {nobody}"));
    made("swallowed", "m1,m2", &ssh("-o ConnectTimeout=2"), &["node daemon on m1"]);
    machines.ip_of(1, &format!("neigh del {network}.1 dev eth0"));

    // Logins work, and mpirun is told to be at another of this side's addresses.
    let (other, address) = (format!("{bridge}-d"), format!("{network}.201"));
    machines.ip(&format!("link add {other} type bridge"));
    machines.ip(&format!("addr add {address}/32 dev {other}"));
    machines.ip(&format!("link set {other} up"));
    let mut there = ["--mca", "prte_if_include", &other, "--mca", "prte_startup_timeout", "12"];
    machines.over("m1,m2", &there.join(" ")).script("true").run().expect(0, &[]);
    machines.ip_of(1, &format!("route add unreachable {address}/32"));
    made("no-route-back", "m1,m2", &there, &["node daemon on m1", &address]);
    machines.ip_of(1, &format!("route del unreachable {address}/32"));
    machines.ip_of(1, &format!("neigh replace {address} dev eth0 {nobody}"));
    made("swallowed-back", "m1,m2", &there, &["node daemon on m1", &address]);
    machines.ip_of(1, &format!("neigh del {address} dev eth0"));
    there[2] = "lo";
    made("interface-back", "m1", &there, &["node daemon on m1"]);
    machines.ip(&format!("link del {other}"));

    // It was the network, each time.
    machines.over("m1,m2", "").script("true").run().expect(0, &[]);
    machines.nothing_is_left();
}
