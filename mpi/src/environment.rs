//! Start and end, thread levels, clocks, names, memory (MPI 5.0 §9, §11.2 to §11.6).

use crate::abi_fortran;
use crate::attr::predefined;
use crate::call::gate::GATE;
use crate::call::memory::{Out, write, write_made, write_text};
use crate::call::process::{self, Process};
use crate::call::{crash, installation, leftovers, local_requests, stdio, users, watching};
use crate::comm::lifetime;
use crate::constants::*;
use crate::dynamic::parent;
use crate::error::{ErrorObject, Failure, Res, call, call_any_time, call_outside, raise_without_call};
use crate::session::WORLD;
use crate::types::{Aint, Comm, Info};
use crate::{buffered, comm, info, tool};
use core::ffi::{c_char, c_int, c_void};
use oxmpi_runtime::{Config, Instance, Level};
use oxmpi_wireup as wireup;

/// Starts the runtime for the first user of MPI in this process.
pub fn make(level: Level) -> Res<Process> {
    abi_fortran::fix_types();
    watching::start();
    let places = installation::places();
    let config = Config {
        component_dirs: places.components().into_iter().collect(),
        builtin: installation::builtin(),
        level,
        wireup: wireup::Source::Environment,
        places,
        params: tool::written(),
        gate: Some(&GATE),
    };
    let instance = Instance::start(config)?;
    tool::started(&instance);
    let check = instance.param("mpi_param_check").and_then(|p| p.value.as_bool()).unwrap_or(true);
    crash::install(&instance).map_err(|why| Failure::new(MPI_ERR_OTHER, why))?;
    stdio::publish();
    instance.tell_before_abort(crash::tell);
    let done = local_requests::Pool::new(&instance)?;
    let facts = instance.facts();
    let appnum = facts.app().map_or(0, |(number, _)| number as c_int);
    predefined::start(instance.max_tag(), facts.universe.max(facts.size) as c_int, appnum);
    Ok(Process::new(instance, check, done))
}

/// Starts the world.
fn start(level: Level) -> Res {
    let process = users::enter(WORLD, level, make)?;
    lifetime::install(MPI_COMM_WORLD, process.instance.world(), "MPI_COMM_WORLD");
    lifetime::install(MPI_COMM_SELF, process.instance.self_comm(), "MPI_COMM_SELF");
    let arguments: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let mut env = info::info_of(&arguments);
    env.set("maxprocs", &process.instance.job().job_size.to_string());
    env.set("soft", &process.instance.job().job_size.to_string());
    env.set("host", &process.instance.processor_name());
    env.set("thread_level", level_name(process.level()));
    if let Some((_, app)) = process.instance.facts().app() {
        as_started(&mut env, app);
    }
    info::set_env(env);
    parent::meet(process)
}

/// The name of a thread level.
pub fn level_name(level: c_int) -> &'static str {
    match level {
        MPI_THREAD_MULTIPLE => "MPI_THREAD_MULTIPLE",
        MPI_THREAD_SERIALIZED => "MPI_THREAD_SERIALIZED",
        MPI_THREAD_FUNNELED => "MPI_THREAD_FUNNELED",
        _ => "MPI_THREAD_SINGLE",
    }
}

/// The launcher's facts about this rank's program (MPI 5.0 §11.2.1).
fn as_started(env: &mut oxmpi_runtime::Info, app: &wireup::AppFacts) {
    for key in ["maxprocs", "soft"] {
        env.set(key, &app.ranks.to_string());
    }
    env.set("argv", info::cut(&app.arguments.join(" ")));
    let texts = [
        ("command", &app.command),
        ("soft", &app.soft),
        ("host", &app.host),
        ("arch", &app.arch),
        ("wdir", &app.wdir),
        ("file", &app.file),
    ];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        env.set(key, info::cut(text));
    }
}

fn init(name: &'static str, level: Level) -> c_int {
    if !process::begin() {
        let when = match process::phase() {
            process::ENDED => "after MPI_Finalize; the world cannot be started again",
            _ => "a second time",
        };
        return raise_without_call(
            name,
            ErrorObject::Nothing,
            Failure::new(MPI_ERR_OTHER, format!("called {when}")),
        );
    }
    watching::start();
    let _inside = watching::on().then(|| watching::enter(name, &[]));
    match start(level) {
        Ok(()) => {
            process::running();
            MPI_SUCCESS
        }
        Err(failure) => {
            process::give_up();
            raise_without_call(name, ErrorObject::Nothing, failure)
        }
    }
}

mpi_fn! {
    any_time fn MPI_Init(argc: Out<c_int>, argv: Out<*mut *mut c_char>) -> c_int {
        // Nothing is taken from the arguments: the launcher speaks through the environment.
        let _ = (argc, argv);
        init(NAME, Level::Single)
    }
}
mpi_fn! {
    any_time fn MPI_Init_thread(argc: Out<c_int>, argv: Out<*mut *mut c_char>, required: c_int, provided: Out<c_int>) -> c_int {
        let _ = (argc, argv);
        let level = match required {
            n if n <= MPI_THREAD_SINGLE => Level::Single,
            n if n <= MPI_THREAD_FUNNELED => Level::Funneled,
            n if n <= MPI_THREAD_SERIALIZED => Level::Serialized,
            _ => Level::Multiple,
        };
        match init(NAME, level) {
            MPI_SUCCESS => call_outside(NAME, None, |process| write(provided, "provided", process.level())),
            code => code,
        }
    }
}
mpi_fn! {
    /// Attributes of the predefined communicators go first, while MPI still works for their callbacks.
    fn MPI_Finalize() -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            if !process::ending() {
                let when = match process::phase() {
                    process::BEFORE | process::STARTING => "before MPI_Init",
                    _ => "a second time",
                };
                return Failure::err(MPI_ERR_OTHER, format!("called {when}"));
            }
            for which in [MPI_COMM_SELF, MPI_COMM_WORLD] {
                if let Err(refused) = comm::require(Comm(which)).and_then(|c| c.attributes.delete_all(entry, which)) {
                    process::not_ending();
                    return Err(refused);
                }
            }
            buffered::finish(process, entry, WORLD);
            users::leave(process, entry, WORLD, |last| {
                leftovers::take_down(process, WORLD, last);
                lifetime::uninstall(process);
                process.instance.end_world();
                // From here on MPI_Finalized is true; an error has no handler but the initial one.
                process::ended();
            })
        })
    }
}
mpi_fn! {
    any_time fn MPI_Initialized(flag: Out<c_int>) -> c_int {
        let started = process::phase() >= process::RUNNING;
        call_any_time(NAME, || write(flag, "flag", started as c_int))
    }
}
mpi_fn! {
    any_time fn MPI_Finalized(flag: Out<c_int>) -> c_int {
        let ended = process::phase() == process::ENDED;
        call_any_time(NAME, || write(flag, "flag", ended as c_int))
    }
}
mpi_fn! {
    any_time fn MPI_Query_thread(provided: Out<c_int>) -> c_int {
        call_outside(NAME, None, |process| write(provided, "provided", process.level()))
    }
}
mpi_fn! {
    any_time fn MPI_Is_thread_main(flag: Out<c_int>) -> c_int {
        call_outside(NAME, None, |_| write(flag, "flag", process::is_main_thread() as c_int))
    }
}
mpi_fn! {
    /// Ends all processes of the job, whatever the communicator, as the standard permits.
    any_time fn MPI_Abort(comm: Comm, errorcode: c_int) -> c_int {
        stdio::flush();
        match process::current() {
            Some(process) => {
                let on = comm::get(comm).map_or_else(|| "no communicator".to_string(), |object| object.describe());
                process.instance.abort(errorcode, "", &format!("MPI_Abort was called with code {errorcode} (on {on})"))
            }
            None => {
                oxmpi_system::reportln!("oxmpi: MPI_Abort was called with code {errorcode} while MPI was not running.");
                std::process::exit(errorcode.clamp(1, 255))
            }
        }
    }
}
mpi_fn! {
    any_time fn MPI_Get_processor_name(name: Out<c_char>, resultlen: Out<c_int>) -> c_int {
        call_outside(NAME, None, |process| {
            let value = process.instance.processor_name();
            // SAFETY: the standard has the caller pass `name` with room for MPI_MAX_PROCESSOR_NAME bytes.
            let n = unsafe { write_text(name, "name", &value, MPI_MAX_PROCESSOR_NAME as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
mpi_fn! {
    /// The kinds of hardware that MPI_Comm_split_type knows, and whether this process is bound to one of each.
    any_time fn MPI_Get_hw_resource_info(hw_info: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            let mut known = oxmpi_runtime::Info::new();
            known.set("mpi_shared_memory", "true");
            for (kind, bound) in wireup::hardware::bound_to(0).iter().enumerate() {
                known.set(&wireup::hardware::uri(kind), if bound.is_some() { "true" } else { "false" });
            }
            write_made(hw_info, "hw_info", || info::adopt(known))
        })
    }
}

/// Seconds since some time in the past, never going back.
#[inline(always)]
fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

mpi_fn! {
    any_time fn MPI_Wtime() -> f64 {
        seconds()
    }
}
mpi_fn! {
    any_time fn MPI_Wtick() -> f64 {
        let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 1 };
        // SAFETY: a place for the answer; the clock exists on every Linux.
        unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut tick) };
        tick.tv_sec as f64 + tick.tv_nsec as f64 * 1e-9
    }
}
mpi_fn! {
    /// The standard's variable arguments are never looked at, so their absence here is not seen.
    any_time fn MPI_Pcontrol(level: c_int) -> c_int {
        let _ = level;
        MPI_SUCCESS
    }
}

/// Alignment asked for by the standard's info key, or a cache line.
pub fn alignment(hints: Info) -> Res<usize> {
    let hints = info::optional(hints)?;
    let Some(text) = hints.as_ref().and_then(|h| h.get("mpi_minimum_memory_alignment")) else {
        return Ok(64);
    };
    match text.parse::<usize>() {
        Ok(n) if n.is_power_of_two() => Ok(n.max(64)),
        _ => Failure::err(
            MPI_ERR_INFO_VALUE,
            format!("mpi_minimum_memory_alignment is {text}, no power of two"),
        ),
    }
}

mpi_fn! {
    any_time fn MPI_Alloc_mem(size: Aint, info: Info, baseptr: Out<*mut c_void>) -> c_int {
        call_outside(NAME, None, |_| {
            let Ok(bytes) = usize::try_from(size) else {
                return Failure::err(MPI_ERR_ARG, format!("size is {size}"));
            };
            let align = alignment(info)?;
            let mut memory = core::ptr::null_mut();
            // SAFETY: a place for the answer; the alignment is a power of two and of pointer size.
            if unsafe { libc::posix_memalign(&mut memory, align, bytes.max(1)) } != 0 {
                return Failure::err(MPI_ERR_NO_MEM, format!("there are no {bytes} bytes"));
            }
            write(baseptr, "baseptr", memory)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Free_mem(base: *mut c_void) -> c_int {
        call_outside(NAME, None, |_| {
            // SAFETY: null, or from MPI_Alloc_mem by the user's promise.
            unsafe { libc::free(base) };
            Ok(())
        })
    }
}
