//! A component that keeps what its `open` got, so that tests do what components do with it: take CRIs, for one.
#![allow(dead_code, reason = "every test binary uses its own part of this")]

use oxmpi_coll::{Coll, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, Params};
use oxmpi_runtime::Instance;
use std::sync::Mutex;

/// By job and rank. Tables live as long as their instance.
static HOSTS: Mutex<Vec<((u64, u32), Host)>> = Mutex::new(Vec::new());

/// The host that the component of that rank got.
pub fn of(instance: &Instance) -> Host {
    let name = (instance.job().job_id, instance.job().rank);
    let hosts = HOSTS.lock().expect("no panic");
    hosts.iter().rev().find(|(of, _)| *of == name).expect("the component was opened").1
}

struct Keeper;

impl Coll for Keeper {
    type Module = ();
    fn query(&self, _: &CollComm) -> Option<(i32, ())> {
        None
    }
    const TABLE: CollTable = EMPTY;
}

const EMPTY: CollTable = CollTable {
    size: size_of::<CollTable>() as u32,
    version: 1,
    barrier: None,
    bcast: None,
    reduce: None,
    allreduce: None,
    allgather: None,
    gather: None,
    scatter: None,
    alltoall: None,
    gatherv: None,
    scatterv: None,
    allgatherv: None,
    alltoallv: None,
    alltoallw: None,
    scan: None,
    exscan: None,
    reduce_scatter: None,
    reduce_scatter_block: None,
    neighbor_allgather: None,
    neighbor_allgatherv: None,
    neighbor_alltoall: None,
    neighbor_alltoallv: None,
    neighbor_alltoallw: None,
};

impl Component for Keeper {
    type Module = CollModule;
    const NAME: &'static str = "keeper";
    fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let name = (host.job().job_id, host.job().rank);
        HOSTS.lock().expect("no panic").push((name, host));
        Ok((1, vec![oxmpi_coll::module(Keeper)]))
    }
}

oxmpi_mca::component! {
    component: Keeper,
    symbol: oxmpi_component_coll_keeper,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "keeper",
    aliases: [],
    params: &[],
    help: "",
}
