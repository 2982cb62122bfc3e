//! Daemons by srun in allocations of a Slurm whose nodes are all on this machine (`slurm.sh`). It needs root and Slurm's
//! programs, and says so where it leaves this out.

use crate::operators::printed;
use crate::support::{
    Job, KEEPERS, Process, Running, eventually, kill_together, mpirun, one_report, own_rank,
};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;

struct Slurm(PathBuf);

impl Slurm {
    fn up() -> Result<Slurm, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can run a Slurm of its own".into());
        }
        for program in ["slurmctld", "slurmd", "salloc", "srun"] {
            if Command::new(program).arg("-V").output().is_err() {
                return Err(format!("{program} is not there"));
            }
        }
        let slurm =
            Slurm(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("slurm-{}", std::process::id())));
        std::fs::create_dir_all(&slurm.0).expect("the build's folder");
        let port = (21_000 + std::process::id() % 900 * 10).to_string();
        let up = slurm.script(&["up", "3", &port]);
        match up.status.success() {
            true => Ok(slurm),
            false => Err(format!("no Slurm comes up: {}", String::from_utf8_lossy(&up.stderr))),
        }
    }

    fn script(&self, words: &[&str]) -> std::process::Output {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jobs/slurm.sh");
        Command::new("bash").arg(script).args(words).env("W", &self.0).output().expect("bash is there")
    }

    /// mpirun inside an allocation of three nodes with two slots each.
    fn job(&self, options: &str) -> Job {
        self.job_by(&[], options)
    }

    /// The same, by a program that starts it.
    fn job_by(&self, program: &[&str], options: &str) -> Job {
        let mut job = mpirun("");
        let inner = std::mem::replace(&mut job.command, Command::new("salloc"));
        job.command.args(["--quiet", "-N3", "--ntasks-per-node=2"]).args(program).arg(inner.get_program());
        job.command.args(options.split_whitespace()).env("SLURM_CONF", self.0.join("slurm.conf"));
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => job.command.env(name, value),
                None => job.command.env_remove(name),
            };
        }
        use std::process::Stdio;
        job.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        job
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.script(&["down"]);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn jobs_in_allocations() {
    let slurm = match Slurm::up() {
        Ok(slurm) => slurm,
        Err(why) => {
            eprintln!("left out: {why}");
            return;
        }
    };
    let nodes = "echo says: $OMPI_COMM_WORLD_RANK $SLURMD_NODENAME";
    let ended = slurm.job("").script(nodes).run();
    ended.expect(0, &[]);
    assert_eq!(ended.said(), ["0 n1", "1 n1", "2 n2", "3 n2", "4 n3", "5 n3"]);
    let ended = slurm.job("--map-by ppr:1:node").script(nodes).run();
    assert_eq!(ended.said(), ["0 n1", "1 n2", "2 n3"], "{ended:?}");
    let ended = slurm.job("--host n3,n1 --mca plm slurm").script(nodes).run();
    assert_eq!(ended.said(), ["0 n3", "1 n1"], "{ended:?}");
    let mut job = slurm.job("--host me@n3,n1.cluster.org").script(nodes);
    job.command.env("USER", "me");
    assert_eq!(job.run().said(), ["0 n3", "1 n1"]);
    printed("slurm-user", &slurm.job("--host him@n3").script("echo never").run(), &["him@n3"]);
    let mut job = slurm.job("");
    job.command.args(["-x", &format!("{}=nodes", crate::support::ROLE)]).args(own_rank());
    job.run().expect(0, &[]);

    for outside in ["--host elsewhere", "--host n1,elsewhere"] {
        printed("not-allocated", &slurm.job(outside).script("echo never").run(), &[]);
    }
    printed("slurm-no-oxmpid", &slurm.job("--prefix /no/such").script("echo never").run(), &[]);
    let without = slurm.job_by(&["/usr/bin/env", "PATH=/no/such"], "");
    printed("no-srun", &without.script("echo never").run(), &[]);
    one_report(
        &slurm.job("").script("test $OMPI_COMM_WORLD_RANK = 3 && exit 9; exec sleep 1111").run(),
        9,
        &["node n2"],
    );
    let family = || -> Running {
        let job = slurm.job("").script("sleep 1111 & setsid sleep 2222 & exec sleep 3333").start();
        eventually("eighteen sleeps", || {
            let sleeps =
                job.processes("sleep ").into_iter().filter(|p| p.command.starts_with("sleep ")).count();
            (sleeps == 18).then_some(())
        });
        job
    };
    let job = family();
    job.processes("sleep 3333")[2].kill(Signal::KILL);
    one_report(&job.wait_promptly(), 128 + 9, &["SIGKILL"]);
    for whats in KEEPERS {
        let job = family();
        let one = |what: &&str| {
            let own = |p: &Process| p.command.contains(what) && !p.command.starts_with("srun");
            let all: Vec<Process> = job.processes("oxmpid").into_iter().filter(own).collect();
            assert_eq!(all.len(), 3, "{all:?}");
            all[1].pid
        };
        kill_together(&whats.iter().map(one).collect::<Vec<_>>());
        one_report(&job.wait_promptly(), 1, &["node daemon on n"]);
    }
    let job = family();
    let launcher =
        job.processes("/mpirun ").into_iter().find(|p| !p.command.starts_with("salloc")).expect("it runs");
    launcher.kill(Signal::KILL);
    job.nothing_is_left();
}
