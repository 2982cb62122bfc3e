//! Third-party transports under the whole library: found as files by their names, chosen by parameter, and
//! carrying the messages of ranks.

use crate::support::{compile_c, fabric, scratch};
use oxmpi_mca::{Entry, MsgStatus, Status};
use oxmpi_runtime::{Config, Envelope, Instance, RecvBuffer, SendBuffer};
use oxmpi_tests::root;
use oxmpi_wireup::{Client, Source};
use std::path::PathBuf;

const SIZES: [usize; 9] = [0, 1, 8, 100, 4000, 5000, 40_000, 300_000, 3_000_000];

/// Sends every size from rank 0 to `to`, which is told what to expect by its own number.
fn exchange(instance: &Instance, to: u32) {
    let byte = oxmpi_testing::data::byte();
    let (world, mut entry) = (instance.world(), Entry::among());
    for (tag, size) in SIZES.into_iter().enumerate() {
        let data: Vec<u8> = (0..size).map(|i| (i * 7 + tag) as u8).collect();
        let mut sent = None;
        if world.rank() == 0 {
            // SAFETY: readable until the request is complete, which is waited for below.
            let out = unsafe { SendBuffer::new(data.as_ptr(), size as u64, byte) };
            let req = world.isend(&mut entry, out, Envelope::new(to as i32, tag as i32));
            sent = Some(req.unwrap_or_else(|e| panic!("isend of {size} bytes: {e}")));
        }
        if world.rank() == to {
            let (mut got, mut status) = (vec![0u8; size], MsgStatus::EMPTY);
            // SAFETY: ours alone during the call.
            let place = unsafe { RecvBuffer::new(got.as_mut_ptr(), size as u64, byte) };
            let answer = world.recv(&mut entry, place, Envelope::new(0, tag as i32), &mut status);
            assert_eq!((answer, status.error, status.bytes), (Status::OK, Status::OK, size as u64));
            assert!(got == data, "{size} bytes came with other bytes");
        }
        if let Some(req) = sent {
            instance.wait(&mut entry, req);
            // SAFETY: complete, and ours until released.
            unsafe { req.release(&mut entry) };
        }
    }
}

fn config(wireup: Source, btl: &str, dirs: Vec<PathBuf>) -> Config {
    Config {
        component_dirs: dirs,
        builtin: vec![
            pml_ob1::descriptor(),
            coll_basic::descriptor(),
            btl_self::descriptor(),
            btl_template::descriptor(),
        ],
        wireup,
        params: vec![("btl".into(), btl.into())],
        ..Config::default()
    }
}

#[test]
fn a_c_component_carries_the_messages_of_a_rank() {
    let dir = scratch("whole");
    compile_c(&root().join("tests/plugins/c/btl_cloop.c"), &dir.join("libbtl_cloop.so"), &[]);
    let config = config(Source::Singleton, "cloop", vec![dir]);
    let instance = Instance::start(config).unwrap_or_else(|e| panic!("{e}"));
    exchange(&instance, 0);
    instance.finalize().unwrap_or_else(|e| panic!("{e}"));
}

/// Runs two ranks in this process over a transport and btl-self.
fn two_ranks(btl: &str, dirs: &[PathBuf], params: &[(&str, &str)]) {
    let clients = Client::local_job(2).unwrap_or_else(|e| panic!("{e}"));
    std::thread::scope(|threads| {
        for client in clients {
            threads.spawn(move || {
                let mut config = config(Source::Given(client), btl, dirs.to_vec());
                config.params.extend(params.iter().map(|(name, value)| ((*name).into(), (*value).into())));
                let instance = Instance::start(config).unwrap_or_else(|e| panic!("{e}"));
                exchange(&instance, 1);
                instance.finalize().unwrap_or_else(|e| panic!("{e}"));
            });
        }
    });
}

#[test]
fn the_template_carries_the_messages_of_two_ranks() {
    two_ranks("template,self", &[], &[]);
}

/// Loaded from its folder, under several shapes.
#[test]
fn the_fabric_carries_the_messages_of_two_ranks() {
    let dirs = [fabric().parent().expect("a folder").to_path_buf()];
    let shapes: [&[(&str, &str)]; 4] = [
        &[],
        &[("btl_fabric_verbs", "none"), ("btl_fabric_sleep", "descriptor")],
        &[("btl_fabric_seed", "11"), ("btl_fabric_completion", "late"), ("btl_fabric_outstanding", "2")],
        &[
            ("btl_fabric_min_rma_size", "0"),
            ("btl_fabric_rma_limit", "64k"),
            ("btl_fabric_shared_queue", "1"),
        ],
    ];
    for shape in shapes {
        two_ranks("fabric,self", &dirs, shape);
    }
}
