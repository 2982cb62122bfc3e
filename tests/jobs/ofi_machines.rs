//! Jobs over btl-ofi between machines that have a network each (namespaces on one switch): addresses of the provider for TCP have to be
//! those that reach the other machine, and nothing but the network joins the ranks.

use crate::machines::Machines;
use crate::ofi::{PROVIDER, library};
use oxmpi_tests::{Job, leave_out};

/// Two machines, and the library that their ranks open.
struct Pair {
    machines: Machines,
    library: String,
}

impl Pair {
    /// `None`: there are none, and the reason was printed.
    fn up(test: &str) -> Option<Pair> {
        let library = library(test)?;
        // Numbers of addresses that no other test's switch has.
        match Machines::up("of", 200, 2) {
            Ok(machines) => Some(Pair { machines, library }),
            Err(why) => {
                leave_out(test, &why);
                None
            }
        }
    }

    /// A job of this many ranks, by turns on one machine and the other, with parameters.
    fn job(&self, ranks: usize, params: &[(&str, &str)]) -> Job {
        let each = ranks.div_ceil(2);
        let job = self.machines.job(&format!("m1:{each},m2:{each}"));
        let mut job = job.args(["-n", &ranks.to_string(), "--map-by", "node", "--mca", "btl", "ofi,self"]);
        let ours = [("btl_ofi_library", self.library.as_str()), ("btl_ofi_provider_include", PROVIDER)];
        for (name, value) in ours.iter().chain(params) {
            job = job.args(["--mca", name, value]);
        }
        job.limit(300)
    }
}

#[test]
fn machines_talk_over_ofi() {
    let Some(pair) = Pair::up("machines over btl-ofi") else { return };
    messages(&pair);
    windows(&pair);
    // The death of a rank is told by the launcher, of its machine.
    pair.job(3, &[]).program("sends").arg("1").start().wait_and_leave_nothing().is_one_report(1, "m2");
}

fn messages(pair: &Pair) {
    for (program, ranks) in [
        ("ring", 4),
        ("requests", 2),
        ("datatypes", 4),
        ("wildcards", 3),
        ("protocols", 2),
        ("collectives", 4),
    ] {
        pair.job(ranks, &[]).program(program).run().all_ok(ranks);
    }
    for assignment in ["dedicated", "round_robin"] {
        let cris = [("runtime_num_cris", "4"), ("runtime_cri_assignment", assignment)];
        pair.job(2, &cris).program("order").args(["4", "60"]).run().all_ok(2);
        pair.job(2, &cris).program("threads").arg("4").run().all_ok(2);
    }
}

/// Puts and gets are the provider's.
fn windows(pair: &Pair) {
    let rdma = ("osc", "rdma");
    for program in ["rma", "rma_passive", "rma_errors"] {
        pair.job(4, &[rdma]).program(program).run().all_ok(4);
    }
    pair.job(4, &[rdma]).program("rma_random").args(["60", "12", "3", "2"]).run().all_ok(4);
    pair.job(2, &[rdma, ("runtime_num_cris", "4")]).program("rma_threads").run().all_ok(2);
    for component in ["rdma", "pt2pt"] {
        pair.job(2, &[("osc", component)]).program("rma_order").args(["1", "40", "2"]).run().all_ok(2);
    }
}
