//! MPI_Init, MPI_Finalize: the process becomes a client, and its proxies end.

use super::state::{self, Client, client};
use super::{comm, create, heap, lock, request, window};
use crate::abi::*;
use crate::hello::{self, CLIENT, Hello};
use crate::pmpi;
use crate::protocol::record::op;
use crate::protocol::settings::settings;
use crate::protocol::sync::Ordering;
use std::io::Write;

mpi! {
    fn MPI_Init(argc: *mut c_int, argv: *mut c_void) {
        match pmpi::MPI_Init(argc, argv) {
            SUCCESS => begin(),
            error => error,
        }
    }
}

mpi! {
    fn MPI_Init_thread(argc: *mut c_int, argv: *mut c_void, required: c_int, provided: *mut c_int) {
        match pmpi::MPI_Init_thread(argc, argv, required, provided) {
            SUCCESS => begin(),
            error => error,
        }
    }
}

fn begin() -> c_int {
    match meet() {
        Ok(()) => SUCCESS,
        Err(why) => {
            report!("{why}");
            // SAFETY: MPI has just been initialised.
            unsafe { pmpi::MPI_Abort(COMM_WORLD, ERR_OTHER) }
        }
    }
}

/// Meets the other processes; without proxies in the job everything stays the library's.
fn meet() -> Result<(), String> {
    let settings = settings().as_ref()?;
    let heap = heap::heap().as_ref()?;
    // SAFETY: the header was written when the segment was made.
    let cookie = unsafe { (*heap.segment.header()).cookie };
    let mine = Hello { fd: heap.fd, cookie, size: heap.segment.size as u64, ..Hello::new(CLIENT) };
    let job = hello::exchange(mine)?;
    request::begin()?;
    let mut world = COMM_WORLD;
    if job.clients.len() < job.hellos.len() {
        // SAFETY: collective over the world: the proxies make a communicator of their own.
        let error =
            unsafe { pmpi::MPI_Comm_split(COMM_WORLD, CLIENT as c_int, job.rank as c_int, &raw mut world) };
        if error != SUCCESS {
            return Err("cannot make the application's world".into());
        }
        // SAFETY: a string, and a communicator made above.
        unsafe { pmpi::MPI_Comm_set_name(world, c"MPI_COMM_WORLD".as_ptr()) };
    }
    comm::begin(world)?;
    window::begin()?;
    state::begin(heap, job, settings, world);
    if settings.world {
        let mut handle = COMM_NULL;
        // SAFETY: a place for one handle.
        let error = unsafe { create::MPIX_Comm_create_endpoints(world, 1, INFO_NULL, &raw mut handle) };
        if error != SUCCESS {
            return Err("OXMPI_EP_WORLD: there is no proxy for every process".into());
        }
        comm::set_world(handle);
        if let Some(world) = comm::find(handle) {
            *lock(&world.name) = b"MPI_COMM_WORLD".to_vec();
        }
    }
    Ok(())
}

mpi! {
    fn MPI_Finalize() {
        if let Some(client) = client() {
            end(client);
        }
        pmpi::MPI_Finalize()
    }
}

fn end(client: &'static Client) {
    request::bury_sends();
    comm::set_world(COMM_WORLD);
    let mut world = client.world;
    if world != COMM_WORLD {
        // Nobody's messages are under way any more when the proxies end.
        // SAFETY: the application's world.
        unsafe {
            pmpi::MPI_Barrier(world);
            pmpi::MPI_Comm_free(&raw mut world);
        }
    }
    for proxy in &client.proxies {
        // The proxy answers before it leaves.
        let _ = comm::run(client, proxy, op::QUIT, |_| (), |_| Ok(()));
    }
    if client.report {
        report(client);
    }
}

fn report(client: &Client) {
    for proxy in &client.proxies {
        let (c, there) = (&proxy.counts, &proxy.control.counts);
        let get = |counter: &crate::protocol::sync::AtomicU64| counter.load(Ordering::Relaxed);
        let line = format!(
            "oxmpi-ep: rank {} proxy {}: {} commands; buffers: {} mapped, {} in records, {} bounced ({} bytes), {} copied by \
             the proxy ({} bytes); client slept {} times, proxy {} times, {} turns\n",
            client.rank,
            proxy.number,
            get(&there.commands),
            get(&c.mapped),
            get(&c.inline),
            get(&c.bounced),
            get(&c.bounced_bytes),
            get(&there.remote),
            get(&there.remote_bytes),
            get(&c.sleeps),
            get(&there.sleeps),
            get(&there.turns),
        );
        // In one piece, whoever else writes.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}
