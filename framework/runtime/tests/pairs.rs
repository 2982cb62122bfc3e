//! Pairs of processes with different parameters: both have the same transports in the same order, and as many contexts; and what
//! they know of each other's hardware.

mod common;

use common::{Form, Thread, config, job};
use oxmpi_btl::BtlServices;
use oxmpi_mca::services::distance;
use oxmpi_mca::{Component, Host, OpenError, Params, ProcPlace, SliceRef, Status};
use oxmpi_runtime::{Config, Instance, Level};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The hosts that asked for the witness, by job and rank.
static HOSTS: Mutex<Option<HashMap<(u64, u32), Host>>> = Mutex::new(None);

/// Offers no transport and keeps its host.
struct Witness;

impl Component for Witness {
    type Module = oxmpi_btl::BtlModule;
    const NAME: &'static str = "witness";

    fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<Self::Module>), OpenError> {
        let key = (host.job().job_id, host.job().rank);
        HOSTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(key, host);
        Err(OpenError::not_available("it only looks"))
    }
}

oxmpi_mca::component! {
    component: Witness,
    symbol: oxmpi_component_btl_pairs_witness,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "witness",
    aliases: [],
    params: &[],
    help: "",
}

fn with(params: &[(&str, &str)]) -> Config {
    let mut config = config(Form::LinkedIn, Level::Multiple, params);
    config.builtin.push(btl_template::descriptor());
    config.builtin.push(descriptor());
    config
}

fn place(instance: &Instance, proc: u32) -> ProcPlace {
    let key = (instance.job().job_id, instance.job().rank);
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let host = *hosts.as_ref().and_then(|h| h.get(&key)).expect("the component was opened");
    let mut place = ProcPlace::default();
    assert_eq!((host.services().place_of)(host.table().instance, proc, &mut place), Status::OK);
    place
}

/// Names and widths of the transports that reach a process, best first.
fn reach(instance: &Instance, proc: u32) -> Vec<(String, u32)> {
    // SAFETY: valid as long as the instance.
    let services: &BtlServices = unsafe { &*instance.btl_services_for_rma() };
    let mut out = SliceRef { ptr: std::ptr::null(), len: 0 };
    assert_eq!((services.reach)(services.instance, proc, &mut out), Status::OK);
    // SAFETY: the host's list.
    unsafe { out.get() }.iter().map(|r| (r.btl().name().to_owned(), r.width)).collect()
}

fn meet(instance: &Instance) {
    assert_eq!(Thread::main(instance).barrier(&instance.world()), Status::OK);
}

/// Runs a job whose ranks have different parameters, and gives what each rank says of each.
fn said<T: Send + PartialEq + std::fmt::Debug>(
    sets: &[&[(&str, &str)]],
    say: impl Fn(&Instance, u32) -> T + Sync,
) -> HashMap<(u32, u32), T> {
    let (next, all) = (Mutex::new(sets.iter()), Mutex::new(HashMap::new()));
    let ranks = sets.len() as u32;
    let make = || with(next.lock().expect("nobody panics with it").next().expect("one for each"));
    job(ranks, make, |instance| {
        let me = instance.job().rank;
        let words: Vec<T> = (0..ranks).map(|proc| say(instance, proc)).collect();
        let words = (0..ranks).map(|proc| (me, proc)).zip(words);
        all.lock().expect("as above").extend(words);
        meet(instance);
    });
    all.into_inner().expect("nobody panicked")
}

#[test]
fn both_sides_have_one_header_transport_and_one_width() {
    let wide = [("runtime_num_cris", "6"), ("btl", "shm,self,template")];
    let narrow =
        [("runtime_num_cris", "3"), ("btl_shm_virtual_device_count", "2"), ("btl", "shm,self,template")];
    // The transport that the others prefer most is the last choice here.
    let other = [
        ("runtime_num_cris", "5"),
        ("btl_template_exclusivity", "65535"),
        ("btl_shm_exclusivity", "0"),
        ("btl", "shm,self,template"),
    ];
    let alone = [("runtime_num_cris", "4"), ("btl", "template,self")];
    let all = said(&[&wide, &narrow, &other, &alone], reach);
    assert_eq!(all.len(), 16);
    for ((from, to), reached) in &all {
        assert_eq!(reached, &all[&(*to, *from)], "{from} and {to}: {all:?}");
        assert_eq!(reached[0].0 == "self", from == to, "{all:?}");
    }
    // Which rank has which parameters is chance; what there is of each kind is not.
    let widths = |name: &str, pairs: fn(u32, u32) -> bool| {
        let firsts = all.iter().filter(|((a, b), reached)| pairs(*a, *b) && reached[0].0 == name);
        let mut widths: Vec<u32> = firsts.map(|(_, reached)| reached[0].1).collect();
        widths.sort_unstable();
        widths
    };
    assert_eq!(widths("self", |a, b| a == b), [3, 4, 5, 6], "{all:?}");
    // The first process of a node says how many contexts of shm there are at most.
    let shm = widths("shm", |a, b| a < b);
    assert!(shm[..2] == [2, 2] && (2..=5).contains(&shm[2]) && shm.len() == 3, "{all:?}");
    assert_eq!(widths("template", |a, b| a < b), [3, 4, 4], "with the one that has no shm: {all:?}");
}

#[test]
fn hardware_is_known_from_the_first_contact_on() {
    let every = distance::SAME_SOCKET | distance::SAME_NUMA | distance::SAME_CACHE | distance::SAME_CORE;
    let far = |instance: &Instance, proc| {
        let before = place(instance, proc).distance;
        reach(instance, proc);
        (before, place(instance, proc).distance)
    };
    let all = said(&[&[], &[], &[]], far);
    for ((from, to), (before, after)) in all {
        assert_eq!(before & after, before, "what is known stays true");
        if from == to {
            assert_eq!((before, after), (every, every));
        }
    }
}

#[test]
fn processes_bound_to_one_processor_share_its_core() {
    // Where the kernel says nothing about cores, nothing is known.
    let known = std::path::Path::new("/sys/devices/system/cpu/cpu0/topology/core_cpus_list").exists();
    let all = Mutex::new(Vec::new());
    let bound = || {
        // SAFETY: an all-zero set is a valid one; both calls are of the calling thread, which is this rank.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
            let first = (0..libc::CPU_SETSIZE as usize).find(|cpu| libc::CPU_ISSET(*cpu, &set)).expect("one");
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(first, &mut set);
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
        }
        with(&[])
    };
    job(2, bound, |instance| {
        let other = 1 - instance.job().rank;
        reach(instance, other);
        all.lock().expect("nobody panics with it").push(place(instance, other).distance);
        meet(instance);
    });
    let all = all.into_inner().expect("nobody panicked");
    if known {
        assert_eq!(all.iter().filter(|bits| **bits & distance::SAME_CORE != 0).count(), 2, "{all:?}");
    } else {
        eprintln!("left out: the kernel does not say which processors share a core");
    }
}
