//! Machines made up of namespaces (`mpirun/tests/jobs/machines.sh`), each with a real sshd. They need root, sshd and the right to
//! make namespaces.

use oxmpi_tests::{Job, in_path, mpi, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Machines `m1`, `m2` and so on, in one network; taken down when dropped.
pub struct Machines {
    pub folder: PathBuf,
    bridge: String,
    /// The first three numbers of their addresses.
    pub network: String,
}

impl Machines {
    /// Some reason why there are none. `letters` begin the names of what is made, of two tests that run at once two; `first`
    /// (of 50) is the least second number of the addresses.
    pub fn up(letters: &str, first: u32, count: usize) -> Result<Machines, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can make machines".into());
        }
        if !Path::new("/usr/sbin/sshd").exists() || !in_path("ip") || !in_path("ssh-keygen") {
            return Err("sshd, ip or ssh-keygen is not there".into());
        }
        let own = std::process::id();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{letters}-{own}"));
        std::fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        let network = format!("10.{}.{}", first + own / 250 % 50, own % 250);
        let machines = Machines { folder, bridge: format!("{letters}{}", own % 100_000), network };
        let up = machines.script(&["up", &count.to_string()]);
        match up.status.success() {
            true => Ok(machines),
            false => Err(format!("machines cannot be made: {}", String::from_utf8_lossy(&up.stderr))),
        }
    }

    fn script(&self, words: &[&str]) -> Output {
        Command::new("bash")
            .arg(root().join("mpirun/tests/jobs/machines.sh"))
            .args(words)
            .env("W", &self.folder)
            .env("BR", &self.bridge)
            .env("NET", &self.network)
            .output()
            .expect("bash is there")
    }

    /// The network namespace of a machine.
    pub fn space(&self, machine: usize) -> String {
        format!("{}-{machine}", self.bridge)
    }

    /// Daemons of mpirun that run on a machine, by their process numbers here.
    pub fn daemons(&self, machine: usize) -> Vec<i32> {
        let space = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let init = std::fs::read_to_string(self.folder.join(format!("m{machine}.pid"))).unwrap_or_default();
        let Some(own) = space(init.trim()) else { return Vec::new() };
        let is_daemon = |pid: &str| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = words.split(|&byte| byte == 0);
            let program = words.next().unwrap_or_default();
            program.ends_with(b"/oxmpid") && words.next() == Some(b"--remote")
        };
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let all = all.filter_map(|entry| entry.file_name().into_string().ok());
        let there = all.filter(|pid| space(pid).as_ref() == Some(&own) && is_daemon(pid));
        there.filter_map(|pid| pid.parse().ok()).collect()
    }

    /// `ip` on a machine.
    pub fn ip(&self, machine: usize, words: &str) -> String {
        let done = Command::new("ip")
            .args(["-n", &self.space(machine)])
            .args(words.split(' '))
            .output()
            .expect("it is there");
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// A job over machines, which mpirun logs in to.
    pub fn job(&self, hosts: &str) -> Job {
        let agent = format!("ssh -F {}/ssh_config", self.folder.display());
        Job::of(Command::new(mpi().bin("mpirun"))).args([
            "--host",
            hosts,
            "--bind-to",
            "none",
            "--mca",
            "plm_ssh_agent",
            &agent,
        ])
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.script(&["down"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
