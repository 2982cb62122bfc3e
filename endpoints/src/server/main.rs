//! `oxmpi-ep-server`: a proxy. One single-threaded rank of the job that carries out the MPI calls of one endpoint of a client.
//!
//! `state` (what a proxy has) · `run` (the loop: commands, pending operations, idle) · `agreement`, `agree`, `agreed` (what all do together, and when) ·
//! `buffers`, `stage` (where a command's data is) · `messages`, `collective`, `communicators`, `types` (what each command does) ·
//! `windows`, `views`, `lock_queue`, `locks`, `epochs`, `onesided`, `window_commands` (windows) · `errors`.

#[macro_use]
#[path = "../report.rs"]
mod report;

#[path = "../abi.rs"]
#[allow(dead_code, reason = "each side uses its part")]
mod abi;
mod agree;
mod agreed;
mod agreement;
mod buffers;
mod collective;
mod communicators;
mod create;
mod epochs;
mod errors;
mod finish;
#[path = "../hello.rs"]
mod hello;
#[path = "../hints.rs"]
mod hints;
mod lists;
mod lock_queue;
mod locks;
mod messages;
mod onesided;
#[path = "../pmpi.rs"]
mod pmpi;
#[path = "../protocol/mod.rs"]
mod protocol;
mod run;
mod stage;
mod state;
mod types;
mod views;
mod window_commands;
mod windows;

use abi::*;
use agreement::Creations;
use errors::abort;
use hello::{Hello, Job, PROXY};
use protocol::segment::Header;
use protocol::settings::{Cpus, settings};
use protocol::sys;
use std::collections::HashMap;
use std::ffi::CString;
use std::process::exit;

fn main() {
    if let Err(why) = load() {
        fail(&why);
    }
    // SAFETY: no arguments; once, and before every other MPI function.
    unsafe { pmpi::MPI_Init(core::ptr::null_mut(), core::ptr::null_mut()) };
    for comm in [COMM_WORLD, COMM_SELF] {
        // SAFETY: predefined handles. Errors are the client's to hear of.
        unsafe { pmpi::MPI_Comm_set_errhandler(comm, ERRORS_RETURN) };
    }
    let mut server = serve().unwrap_or_else(|why| abort(&why));
    server.run();
    // SAFETY: the client has told all proxies to end.
    unsafe { pmpi::MPI_Finalize() };
}

fn fail(why: &str) -> ! {
    report!("a proxy: {why}");
    exit(1);
}

/// Loads the job's MPI library: the one OXMPI_EP_MPI names, the one the system finds, or that of the own install.
fn load() -> Result<(), String> {
    let mut places = Vec::new();
    match std::env::var("OXMPI_EP_MPI") {
        Ok(path) if !path.is_empty() => places.push(path),
        _ => {
            places.push("libmpi_abi.so.1".to_owned());
            if let Ok(own) = std::env::current_exe() {
                let prefix = own.parent().and_then(|bin| bin.parent());
                places.extend(prefix.map(|p| p.join("lib/libmpi_abi.so.1").display().to_string()));
            }
        }
    }
    for place in &places {
        let Ok(name) = CString::new(place.as_str()) else { continue };
        // SAFETY: a library's initialisers are trusted as those of a linked one.
        if !unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null() {
            return match pmpi::is_there() {
                true => Ok(()),
                false => Err(format!("{place} is no library with the MPI standard ABI")),
            };
        }
    }
    Err(format!("found no MPI library: tried {}; OXMPI_EP_MPI names one", places.join(", ")))
}

/// Meets the other ranks, finds this proxy's client and opens its memory.
fn serve() -> Result<state::Server, String> {
    let settings = settings().as_ref()?;
    let mine = Hello { asynchronous: settings.asynchronous.into(), ..Hello::new(PROXY) };
    let job = hello::exchange(mine)?;
    let mut proxies = COMM_NULL;
    // SAFETY: collective over the world: the clients make their own world of it.
    unsafe { pmpi::MPI_Comm_split(COMM_WORLD, PROXY as c_int, job.rank as c_int, &raw mut proxies) };
    let Some((client, number)) = job.served(job.rank) else {
        return Err("this job has no process that loads liboxmpi_ep.so".into());
    };
    pin(&job, &settings.cpus)?;
    let hello = job.hellos[job.clients[client]];
    let (file, segment) = hello.open()?;
    let header = segment.header();
    // SAFETY: the client wrote the header before it said hello; one word of its memory is read for a try.
    let (base, reach) = unsafe {
        let mut seen = 0u64;
        let run = sys::Run { addr: (*header).base + core::mem::offset_of!(Header, cookie) as u64, bytes: 8 };
        let copied = sys::copy(hello.pid, (&raw mut seen).cast(), &[run], true);
        ((*header).base, settings.cma && copied.is_ok() && seen == hello.cookie)
    };
    let control = segment.control(number);
    control.reach.store(if reach { 1 } else { 2 }, protocol::sync::Ordering::Release);
    let crowded = job.neighbors() > sys::processors();
    let pace = state::Pace::new(settings.spin.unwrap_or(if crowded { 0 } else { 2000 }), crowded);
    let world_ranks = (0..job.hellos.len()).filter(|r| job.hellos[*r].role == PROXY);
    let creations = Creations::new(proxies, world_ranks.map(|r| r as c_int).collect(), hello::tag_limit());
    let memory = state::ClientMemory { segment, base, file, foreign: HashMap::new(), views: Vec::new() };
    Ok(state::Server::new(memory, job, number, hello.pid, settings.asynchronous, pace, creations))
}

/// Moves this process to its processor, where the setting has one for it.
fn pin(job: &Job, cpus: &Cpus) -> Result<(), String> {
    let node = job.hellos[job.rank].node;
    let proxies = |hellos: &[Hello]| hellos.iter().filter(|h| h.role == PROXY && h.node == node).count();
    let (before, all) = (proxies(&job.hellos[..job.rank]), proxies(&job.hellos));
    let Some(cpu) = cpus.of(before, all, &sys::allowed()) else { return Ok(()) };
    // SAFETY: a local set, and a processor below its size.
    let result = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    match result {
        0 => Ok(()),
        _ => Err(format!("OXMPI_EP_PROXY_CPUS: processor {cpu}: {}", std::io::Error::last_os_error())),
    }
}
