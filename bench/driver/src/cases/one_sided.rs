//! One-sided operations by several threads: put and get by kind of synchronisation (Hjelm et al., *Improving MPI Multi-threaded RMA Communication
//! Performance*, ICPP 2018, tables 1 to 5 and figure 1), our two components and other libraries beside each other.
//!
//! One job measures all sizes; the picture shows some numbers of threads, the table has all. `bench/rma/tables.py` makes the
//! paper's tables of it.

use crate::case::{Case, Point, Series, Sizes};
use crate::program::Program;

/// Our components.
pub const COMPONENTS: [&str; 2] = ["rdma", "pt2pt"];

/// Bytes of all threads together.
const BYTES: [u64; 9] = [8, 64, 512, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304];
/// On both sides of a border between classes.
const QUICK_BYTES: [u64; 2] = [64, 65536];
/// Threads whose lines are drawn.
const DRAWN: [u64; 3] = [1, 8, 64];

case!(601, |sizes| matrix(sizes, "rma-put-fence", "put", "fence"));
case!(602, |sizes| matrix(sizes, "rma-put-lock", "put", "lock"));
case!(603, |sizes| matrix(sizes, "rma-put-lock_all", "put", "lock_all"));
case!(604, |sizes| matrix(sizes, "rma-put-pscw", "put", "pscw"));
case!(605, |sizes| matrix(sizes, "rma-put-flush", "put", "flush"));
case!(606, |sizes| matrix(sizes, "rma-get-fence", "get", "fence"));
case!(607, |sizes| matrix(sizes, "rma-get-lock", "get", "lock"));
case!(608, |sizes| matrix(sizes, "rma-get-lock_all", "get", "lock_all"));
case!(609, |sizes| matrix(sizes, "rma-get-pscw", "get", "pscw"));
case!(610, |sizes| matrix(sizes, "rma-get-flush", "get", "flush"));

fn matrix(sizes: &Sizes, name: &'static str, operation: &'static str, way: &'static str) -> Case {
    let bytes = if sizes.quick { QUICK_BYTES.to_vec() } else { BYTES.to_vec() };
    let list = bytes.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let effort = if sizes.quick { "-i 3 -d 8 -v" } else { "-i 100 -m 6" };
    let mut series = Vec::new();
    for &threads in &sizes.origins {
        let job = Point::new(2, format!("-o {operation} -s {way} -t {threads} -l {list} {effort}"));
        for component in COMPONENTS {
            let label = format!("{component}, {threads} threads");
            let drawn = component == "rdma" && (DRAWN.contains(&threads) || sizes.quick);
            series
                .push(Series::sweep(label, bytes[0], job.clone().with("osc", component)).ours().drawn(drawn));
        }
        let line = Series::sweep(format!("{threads} threads"), bytes[0], job).theirs().dashed();
        series.push(line.drawn(DRAWN.contains(&threads)));
    }
    Case {
        name,
        figure: "1, tables 1 to 5 (RMA)",
        title: format!("MPI_{} of threads, {way}", if operation == "put" { "Put" } else { "Get" }),
        program: Program::OneSided,
        x: "bytes of all threads",
        xs: bytes,
        unit: "MiB/s",
        log_x: true,
        log_y: true,
        series,
        ratios: Vec::new(),
        iterations: Some(1),
    }
}
