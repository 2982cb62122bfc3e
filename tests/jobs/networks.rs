//! Machines whose networks differ in number and order, and with one that looks common and is not.

use crate::machines::Machines;
use oxmpi_tests::{Ended, leave_out, mpi};
use std::process::Command;

/// Three machines. By index of the interface, without the one of the logins:
///
/// | machine | networks |
/// |---|---|
/// | m1 | `spare` that nobody else has, `docker0` 172.17.0.1, `eth1` |
/// | m2 | `docker0` 172.17.0.2 that leads nowhere, `eth1` |
/// | m3 | `docker0` 172.17.0.2 on one wire with m1, `eth1` |
struct Networks {
    machines: Machines,
}

impl Networks {
    /// Some reason why there are none.
    fn up() -> Result<Networks, String> {
        let networks = Networks { machines: Machines::up("nt", 0, 3)? };
        let machines = &networks.machines;
        machines.ip(1, "link add spare type veth peer name spare1");
        machines.ip(1, "addr add 192.0.2.1/24 dev spare");
        machines.ip(1, &format!("link add docker0 type veth peer name docker0 netns {}", machines.space(3)));
        machines.ip(2, "link add docker0 type veth peer name docker1");
        for (machine, address) in [(1, "172.17.0.1"), (2, "172.17.0.2"), (3, "172.17.0.2")] {
            machines.ip(machine, &format!("addr add {address}/16 dev docker0"));
            networks.cable(machine);
        }
        for (machine, names) in
            [(1, &["spare", "spare1", "docker0"][..]), (2, &["docker0", "docker1"]), (3, &["docker0"])]
        {
            names.iter().for_each(|name| drop(machines.ip(machine, &format!("link set {name} up"))));
        }
        Ok(networks)
    }

    /// A second cable to the machines' switch, with a network of its own.
    fn cable(&self, machine: usize) {
        let space = self.machines.space(machine);
        let (bridge, _) = space.rsplit_once('-').expect("as the machines are named");
        let here = format!("{space}b");
        for words in [
            format!("link add {here} type veth peer name eth1 netns {space}"),
            format!("link set {here} master {bridge} up"),
        ] {
            let done = Command::new("ip").args(words.split(' ')).output().expect("it is there");
            assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
        }
        self.machines.ip(machine, &format!("addr add 198.18.7.{machine}/24 dev eth1"));
        self.machines.ip(machine, "link set eth1 up");
    }

    /// A job over TCP alone, a rank on each machine, at the same ports everywhere: messages flow, and nobody is alarmed.
    fn passes(&self, hosts: &str, program: &str) -> Ended {
        self.runs(hosts, program, "warn")
    }

    fn runs(&self, hosts: &str, program: &str, verbose: &str) -> Ended {
        let job =
            self.machines.job(hosts).args(["--mca", "btl", "tcp,self", "--mca", "btl_base_verbose", verbose]);
        let job = job.args(["--mca", "btl_tcp_if_exclude", "127.0.0.1/8,eth0"]);
        let job =
            job.args(["--mca", "btl_tcp_port_min_v4", "21000", "--mca", "btl_tcp_port_range_v4", "100"]);
        let ended = job.program(program).limit(120).run();
        for alarm in ["does not reach", "refused", "has failed", "no transport"] {
            assert!(!ended.err.contains(alarm), "{hosts}, {program}: {}", ended.shown);
        }
        ended.all_ok(hosts.split(',').count())
    }
}

#[test]
fn machines_with_different_networks_talk() {
    const TEST: &str = "machines with different networks";
    if !mpi().is_ours() {
        return leave_out(TEST, "about our own transports");
    }
    let networks = match Networks::up() {
        Ok(networks) => networks,
        Err(why) => return leave_out(TEST, &why),
    };
    // The process on m3 answers where m1 takes 172.17.0.2 for m2.
    let ended = networks.runs("m1,m2,m3", "ring", "debug");
    for said in ["calls another one at our address", "the network of docker0 is not used for process"] {
        assert!(ended.err.contains(said), "no {said:?} in {}", ended.shown);
    }
    networks.passes("m3,m2,m1", "collectives");
    // Nobody answers there.
    networks.machines.ip(3, "link set docker0 down");
    networks.passes("m1,m2", "protocols");
    // One network against three, and against another number.
    networks.machines.ip(2, "link set docker0 down");
    networks.passes("m1,m2", "ring");
    networks.passes("m2,m1", "protocols");
}
