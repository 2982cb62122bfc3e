//! Real logins: sshd on machines that are made up of namespaces (`machines.sh`), each with a network, host name, memory
//! and processes of its own. It needs root, sshd and the right to make namespaces, and says so where it leaves this out.

use crate::support::{Ended, Job, KEEPERS, eventually, kill_together, mpirun, own_rank};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

struct Machines {
    folder: PathBuf,
    bridge: String,
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
        let own = std::process::id();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("machines-{own}"));
        std::fs::create_dir_all(&folder).expect("the build's folder");
        let machines = Machines { folder, bridge: format!("ox{}", own % 100_000), count };
        let up = machines.script(&["up", &count.to_string()]);
        match up.status.success() {
            true => Ok(machines),
            false => Err(format!("machines cannot be made: {}", String::from_utf8_lossy(&up.stderr))),
        }
    }

    fn script(&self, words: &[&str]) -> std::process::Output {
        let own = std::process::id();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jobs/machines.sh");
        Command::new("bash")
            .arg(script)
            .args(words)
            .env("W", &self.folder)
            .env("BR", &self.bridge)
            .env("NET", format!("10.{}.{}", 100 + own / 250 % 100, own % 250))
            .output()
            .expect("bash is there")
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

fn one_report(ended: &Ended, status: i32, parts: &[&str]) {
    ended.expect(status, parts);
    let reports = ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2;
    assert_eq!(reports, 1, "{ended:?}");
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

    let family = || {
        let script = "sleep 1111 & setsid sleep 2222 & exec sleep 3333";
        let job = machines.over("m1,m2,m3", "").script(script).start();
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
    for (whats, status) in [(&["sleep 3333"][..], 128 + 9)].into_iter().chain(keepers) {
        let job = family();
        kill(2, whats);
        one_report(&job.wait_promptly(), status, &["m2"]);
        machines.nothing_is_left();
    }
    let mut job = family();
    job.signal(Signal::KILL);
    job.child.wait().expect("a child of ours");
    machines.nothing_is_left();

    // The cable is pulled: both sides notice.
    let job = family();
    let cable = |state: &str| {
        let link = format!("{}-2", machines.bridge);
        let set = Command::new("ip").args(["link", "set", &link, state]).status();
        assert!(set.is_ok_and(|status| status.success()));
    };
    cable("down");
    one_report(&job.wait(), 1, &["node daemon on m2"]);
    machines.nothing_is_left();
    // And now nothing comes back from there.
    let mut job = machines.over("m1,m2", "");
    job.command.args(["--mca", "plm_ssh_args", "-o ConnectTimeout=3"]);
    let ended = job.script("echo never").run();
    one_report(&ended, 1, &["node daemon on m2", "255"]);
    cable("up");
    std::thread::sleep(Duration::from_millis(100));
    machines.nothing_is_left();
}
