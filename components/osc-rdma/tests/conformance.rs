//! The suite every one-sided component must pass: with both schemes of locks, and with accumulates of each element by itself and under the lock.

use oxmpi_harness::{Setup, run_all, suite};

suite!(Setup::new(osc_rdma::descriptor()).whole());

#[test]
fn conformance_on_demand() {
    run_all(&Setup::new(osc_rdma::descriptor()).whole().param("osc_rdma_locking_mode", "on_demand"));
}

#[test]
fn conformance_under_the_lock() {
    run_all(&Setup::new(osc_rdma::descriptor()).whole().param("osc_rdma_accumulate_granularity", "4k"));
}

#[test]
fn conformance_by_elements() {
    run_all(&Setup::new(osc_rdma::descriptor()).whole().param("osc_rdma_accumulate_granularity", "8"));
}
