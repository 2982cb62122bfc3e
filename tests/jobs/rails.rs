//! A network that fails for good under a job with two: machines of namespaces (`mpirun/tests/jobs/machines.sh`) with a second cable.
//! It needs root, sshd and the right to make namespaces, and says so where it leaves this out.

use oxmpi_tests::{Job, in_path, leave_out, mpi, root};
use std::path::PathBuf;
use std::process::Command;

/// Two machines with two networks. The first one is also that of the logins.
struct Machines {
    folder: PathBuf,
    bridge: String,
    networks: [String; 2],
}

impl Machines {
    /// Some reason why there are none.
    fn up() -> Result<Machines, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can make machines".into());
        }
        if !std::path::Path::new("/usr/sbin/sshd").exists() || !in_path("ip") || !in_path("ssh-keygen") {
            return Err("sshd, ip or ssh-keygen is not there".into());
        }
        let own = std::process::id();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rails-{own}"));
        std::fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        let networks = [100, 200].map(|first| format!("10.{}.{}", first + own / 250 % 50, own % 250));
        let machines = Machines { folder, bridge: format!("rl{}", own % 100_000), networks };
        let up = machines.script(&["up", "2"]);
        if !up.status.success() {
            return Err(format!("machines cannot be made: {}", String::from_utf8_lossy(&up.stderr)));
        }
        machines.second_cable();
        Ok(machines)
    }

    fn script(&self, words: &[&str]) -> std::process::Output {
        Command::new("bash")
            .arg(root().join("mpirun/tests/jobs/machines.sh"))
            .args(words)
            .env("W", &self.folder)
            .env("BR", &self.bridge)
            .env("NET", &self.networks[0])
            .output()
            .expect("bash is there")
    }

    /// `ip` on a machine.
    fn ip(&self, machine: usize, words: &str) -> String {
        let space = format!("{}-{machine}", self.bridge);
        let done =
            Command::new("ip").args(["-n", &space]).args(words.split(' ')).output().expect("it is there");
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    fn second_cable(&self) {
        self.ip(1, &format!("link add eth1 type veth peer name eth1 netns {}-2", self.bridge));
        for machine in [1, 2] {
            self.ip(machine, &format!("addr add {}.{machine}/24 dev eth1", self.networks[1]));
            self.ip(machine, "link set eth1 up");
        }
        self.until("the second cable", || {
            [1, 2].iter().all(|m| self.ip(*m, "link show eth1").contains(",UP,LOWER_UP>"))
        });
    }

    fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let begin = std::time::Instant::now();
        while !so() {
            assert!(begin.elapsed().as_secs() < 20, "waited 20 s for {what}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Both ends of the second cable are pulled, or what goes over it is swallowed (it goes to an address that nobody has).
    fn cut(&self, pulled: bool) {
        for machine in [1, 2] {
            let other = format!("{}.{}", self.networks[1], 3 - machine);
            match pulled {
                true => self.ip(machine, "link set eth1 down"),
                false => self.ip(
                    machine,
                    &format!("neigh replace {other} lladdr 02:00:00:00:00:99 dev eth1 nud permanent"),
                ),
            };
        }
    }

    /// A job with a rank on each machine, over both networks alone.
    fn job(&self) -> Job {
        let networks = format!("{}.0/24,{}.0/24", self.networks[0], self.networks[1]);
        let agent = format!("ssh -F {}/ssh_config", self.folder.display());
        Job::of(Command::new(mpi().bin("mpirun")))
            .args(["--host", "m1,m2", "--bind-to", "none", "--mca", "plm_ssh_agent", &agent])
            .args(["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", &networks])
            .args(["--mca", "btl_tcp_cut_timeout", "1000"])
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.script(&["down"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_network_that_is_cut_for_good_loses_nothing() {
    const TEST: &str = "a network that is cut for good";
    if !mpi().is_ours() {
        return leave_out(TEST, "about our own transports");
    }
    for pulled in [true, false] {
        let machines = match Machines::up() {
            Ok(machines) => machines,
            Err(why) => return leave_out(TEST, &why),
        };
        let [begun, cut] = ["begun", "cut"].map(|name| machines.folder.join(name));
        let mut running = machines.job().program("rails").arg(&begun).arg(&cut).limit(200).start();
        running.until("messages over both networks", || begun.exists());
        machines.cut(pulled);
        std::fs::write(&cut, "").expect("the folder is ours");
        let ended = running.wait();
        assert!(
            ended.err.contains("The network of interface eth1 does not reach process"),
            "{}",
            ended.shown
        );
        ended.all_ok(2);
    }
}
