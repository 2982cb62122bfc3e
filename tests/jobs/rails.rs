//! A network that fails for good under a job with two: machines with a second cable.

use crate::machines::Machines;
use oxmpi_tests::{Job, leave_out, mpi};

/// Two machines with two networks. The first one is also that of the logins.
struct Rails {
    machines: Machines,
    networks: [String; 2],
}

impl Rails {
    /// Some reason why there are none.
    fn up() -> Result<Rails, String> {
        let machines = Machines::up("rl", 100, 2)?;
        // As far from the first network as `Machines` of other tests are.
        let second = machines.network.replacen("10.1", "10.2", 1);
        let rails = Rails { networks: [machines.network.clone(), second], machines };
        rails.second_cable();
        Ok(rails)
    }

    fn second_cable(&self) {
        let other = self.machines.space(2);
        self.machines.ip(1, &format!("link add eth1 type veth peer name eth1 netns {other}"));
        for machine in [1, 2] {
            self.machines.ip(machine, &format!("addr add {}.{machine}/24 dev eth1", self.networks[1]));
            self.machines.ip(machine, "link set eth1 up");
        }
        self.until("the second cable", || {
            [1, 2].iter().all(|m| self.machines.ip(*m, "link show eth1").contains(",UP,LOWER_UP>"))
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
                true => self.machines.ip(machine, "link set eth1 down"),
                false => self.machines.ip(
                    machine,
                    &format!("neigh replace {other} lladdr 02:00:00:00:00:99 dev eth1 nud permanent"),
                ),
            };
        }
    }

    /// A job with a rank on each machine, over both networks alone.
    fn job(&self) -> Job {
        let networks = format!("{}.0/24,{}.0/24", self.networks[0], self.networks[1]);
        self.machines
            .job("m1,m2")
            .args(["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", &networks])
            .args(["--mca", "btl_tcp_cut_timeout", "1000"])
    }
}

#[test]
fn a_network_that_is_cut_for_good_loses_nothing() {
    const TEST: &str = "a network that is cut for good";
    if !mpi().is_ours() {
        return leave_out(TEST, "about our own transports");
    }
    for pulled in [true, false] {
        let rails = match Rails::up() {
            Ok(rails) => rails,
            Err(why) => return leave_out(TEST, &why),
        };
        let [begun, cut] = ["begun", "cut"].map(|name| rails.machines.folder.join(name));
        let mut running = rails.job().program("rails").arg(&begun).arg(&cut).limit(200).start();
        running.until("messages over both networks", || begun.exists());
        rails.cut(pulled);
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
