//! The suite every collective component must pass, with the algorithms that are taken by default; and the checks of each operation with each of its
//! algorithms, with segments that are short enough for the data of checks to have some.

use oxmpi_coll_conformance::{Setup, run_named, suite};

fn setup() -> Setup {
    Setup::new(coll_tuned::descriptor()).param("operations", "all")
}

suite!(setup());

/// Names of an operation's algorithms, from the enumerators of its parameter.
fn algorithms(operation: &str) -> Vec<&'static str> {
    // SAFETY: the component's static descriptor and what it points to.
    unsafe {
        let wanted = format!("{operation}_algorithm");
        let mut params = (*coll_tuned::descriptor()).params.get().iter();
        let param = params.find(|param| param.name.get() == Some(&wanted)).expect("a parameter");
        param
            .enumerators
            .get()
            .iter()
            .map(|name| name.get().expect("a name"))
            .filter(|name| *name != "ignore")
            .collect()
    }
}

/// Runs checks with every algorithm of an operation.
fn with_each(operation: &str, checks: &[&str]) {
    let named = |what: &str| format!("{operation}_algorithm{what}");
    for algorithm in algorithms(operation) {
        let setup = setup()
            .ranks(9)
            .param(&named(""), algorithm)
            .param(&named("_segmentsize"), "24")
            .param(&named("_tree_fanout"), "3")
            .param(&named("_chain_fanout"), "2");
        eprintln!("{operation} {algorithm}");
        checks.iter().for_each(|check| run_named(&setup, check));
    }
}

macro_rules! matrix {
    ($($test:ident $operation:ident: $($check:ident)*;)*) => {
        $(
            #[test]
            fn $test() {
                with_each(stringify!($operation), &[$(stringify!($check)),*]);
            }
        )*
    };
}

matrix! {
    each_allgather allgather: allgather dies_in_allgather unreachable_in_allgather;
    each_allgatherv allgatherv: allgatherv dies_in_allgatherv unreachable_in_allgatherv;
    each_allreduce allreduce: allreduce agreement dies_in_allreduce unreachable_in_allreduce;
    each_alltoall alltoall: alltoall dies_in_alltoall unreachable_in_alltoall;
    each_alltoallv alltoallv: alltoallv dies_in_alltoallv unreachable_in_alltoallv;
    each_barrier barrier: barrier dies_in_barrier unreachable_in_barrier;
    each_bcast bcast: bcast dies_in_bcast unreachable_in_bcast;
    each_exscan exscan: scan_and_exscan dies_in_exscan unreachable_in_exscan;
    each_gather gather: gather dies_in_gather unreachable_in_gather;
    each_reduce reduce: reduce dies_in_reduce unreachable_in_reduce;
    each_reduce_scatter reduce_scatter: reduce_scatter dies_in_reduce_scatter unreachable_in_reduce_scatter;
    each_reduce_scatter_block reduce_scatter_block:
        reduce_scatter dies_in_reduce_scatter_block unreachable_in_reduce_scatter_block;
    each_scan scan: scan_and_exscan dies_in_scan unreachable_in_scan;
    each_scatter scatter: scatter dies_in_scatter unreachable_in_scatter;
}
