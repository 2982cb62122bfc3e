//! The host's own parameters, and how a component's declarations become the values it gets.

use crate::accept::accepted::Accepted;
use crate::counters;
use crate::error::{Error, ErrorKind};
use crate::file_params;
use crate::implementation;
use crate::values::{HostParams, Keeping, LeavePinned, Progress, ShowLoadErrors, Values};
use oxmpi_mca::host::cri_mode;
use oxmpi_mca::params::param_flag;
use oxmpi_mca_params::{Declaration, Kind, ParamError, Places, Reader, Resolver, Scope, Sources, Value};
use std::path::PathBuf;

/// Turns without an event before a waiting thread yields its core.
const SPINS: &str = "10000";
/// Turns with a yield before it sleeps.
const YIELDS: &str = "500";
/// Microseconds that a yield may take: more than ranks take that wait for each other, less than a time slice.
const YIELD_LIMIT: &str = "400";

/// Seconds in which a job that has opened a port accepts.
const CONNECT_TIMEOUT: &str = "600";

/// Words of the standard's launch key of this name (MPI 5.0 §9.3).
const INITIAL_ERRHANDLERS: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

/// How messages find their resource instance, by the index of the enumerator.
const ASSIGNMENTS: [&str; 3] = ["stream", "dedicated", "round_robin"];
/// Ways of threads to progress instances, likewise: the indices are those of [`Progress`].
const PROGRESS: [&str; 5] = ["concurrent", "serial", "one_lock", "dedicated_then_all", "round_robin"];

/// How threads wait among others, likewise.
const WAITS: [&str; 2] = ["sync", "race"];

/// Trust in memory that was registered, likewise.
const WATCHES: [&str; 2] = ["userfaultfd", "trusted"];

/// Lists the declarations of the host's own parameters, those of mpirun that only parameter sources look at included.
fn declarations() -> Vec<Declaration> {
    let d = Declaration::new;
    let about_sources = vec![
        d("mca", "base", "param_files", Kind::Text, "", "Parameter files, separated by commas, to read instead of etc/oxmpi-mca-params.* and ~/.oxmpi/mca-params.*; the leftmost wins; none: no files. Set it, in the environment or on the command line, to run without the settings of the site or the user").level(6),
        d("mca", "base", "param_file_path", Kind::Text, "", "Directories, separated by colons, in which --tune and -am look for a bare name; empty: share/oxmpi/profiles of the installation, then the current one. Set it where a site has profiles of its own").level(6),
        d("mca", "base", "param_file_prefix", Kind::Text, "", "Parameter files or profiles, separated by commas, as for mpirun -am. Set it in place of that option").level(6),
        d("mca", "base", "envar_file_prefix", Kind::Text, "", "Parameter files or profiles, separated by commas, as for mpirun --tune. Set it to give a profile to a program that is started without mpirun").level(6),
        d("mca", "base", "env_list", Kind::Text, "", "Environment variables for the ranks, NAME or NAME=VALUE, separated by semicolons. Set it in a parameter file instead of mpirun -x").level(6),
        d("plm", "", "", Kind::Text, "", "How mpirun starts the daemons of a job's nodes: ssh (or rsh) on the nodes themselves; slurm by srun inside an allocation; manual prints, for each node, the command to run there; local (or isolated) starts them on mpirun's own machine, one for each name in --host and hostfiles, as nodes without shared memory between them; empty: slurm inside a Slurm allocation, ssh elsewhere, and only mpirun's own daemon where no other machine is named. Set it to local to try a program on several nodes without having them").level(6).choices(&["ssh", "rsh", "slurm", "manual", "local", "isolated"]),
        d("plm", "ssh", "agent", Kind::Text, "ssh : rsh", "Programs that start a daemon on another node, with their arguments, separated by colons: the first that is installed is used, followed by the node and a command. Set it where ssh has another name or is wrapped").level(2).synonyms(&["plm_rsh_agent"]),
        d("plm", "ssh", "args", Kind::Text, "", "Further arguments for the agent, before the node's name, which take precedence over mpirun's own BatchMode and ConnectTimeout. Set it for a port, a key or an option of ssh").level(6).synonyms(&["plm_rsh_args"]),
        d("plm", "ssh", "num_concurrent", Kind::Unsigned, "128", "Agents that mpirun runs at the same time. Lower it where the login service refuses so many at once").level(7).range(1, 65536).synonyms(&["plm_rsh_num_concurrent"]),
        d("plm", "ssh", "no_tree_spawn", Kind::Bool, "false", "mpirun starts the daemons of all nodes itself instead of in a tree. Set it where nodes cannot log in to each other").level(6).synonyms(&["plm_rsh_no_tree_spawn"]),
        d("plm", "ssh", "delay", Kind::Unsigned, "0", "Seconds between two agents that mpirun starts. Raise it where a login service limits how often it is asked").level(7).range(0, 3600).synonyms(&["plm_rsh_delay"]),
        d("plm", "ssh", "pass_libpath", Kind::Text, "", "Folders to put before LD_LIBRARY_PATH on other nodes. Set it where the program's libraries are in different places there").level(6).synonyms(&["plm_rsh_pass_libpath"]),
        d("plm", "ssh", "pass_environ_mca_params", Kind::Bool, "true", "Parameters in mpirun's environment are passed on to other nodes. Set it to false where they are meant for mpirun's node only").level(6).synonyms(&["plm_rsh_pass_environ_mca_params"]),
        d("plm", "slurm", "args", Kind::Text, "", "Further arguments for srun. Set it for an option that every srun on the cluster needs").level(6),
        d("prte", "", "launch_agent", Kind::Text, "", "Command that starts a daemon on another node; empty: oxmpid where it is on mpirun's own, or below --prefix. Set it to wrap the daemon, or where it is in different places").level(6).synonyms(&["orte_launch_agent"]),
        d("prte", "", "startup_timeout", Kind::Unsigned, "60", "Seconds within which all daemons have to start and connect; 0: no limit. Raise it for very many nodes or slow logins").level(6).range(0, 86_400).synonyms(&["orte_startup_timeout"]),
        d("prte", "", "if_include", Kind::Text, "", "Interfaces, or networks as 10.0.0.0/8, separated by commas, at which mpirun, or the daemon that starts others, is reached by daemons; empty: all that are not loopback. Set it where some networks do not reach the nodes").level(2).synonyms(&["oob_tcp_if_include"]),
        d("prte", "", "if_exclude", Kind::Text, "", "Interfaces or networks that daemons do not connect to; not together with prte_if_include. Set it for bridges of containers and the like").level(6).synonyms(&["oob_tcp_if_exclude"]),
        d("prte", "", "dynamic_ipv4_ports", Kind::Text, "", "Ports, as 46000-46100,47000, on which mpirun, and daemons that start others, listen during the start, with IPv6 as well; empty: the system chooses. Set it where a firewall lets only some through").level(6).synonyms(&["oob_tcp_dynamic_ipv4_ports", "oob_tcp_static_ipv4_ports", "prte_static_ipv4_ports"]),
        d("prte", "", "default_hostfile", Kind::Text, "", "Hostfile for jobs that name no nodes. Set it where jobs always run on the same nodes").level(6).synonyms(&["orte_default_hostfile"]),
        d("rml", "base", "radix", Kind::Unsigned, "32", "Width of the tree in which daemons are started: the number of daemons that mpirun, and each daemon in turn, starts by ssh. Lower it where logins are expensive").level(7).range(1, 4096).synonyms(&["routed_radix", "prte_rml_radix"]),
    ];
    let others = vec![
        d("mca", "base", "component_path", Kind::Text, "", "Directories with components, separated by colons, searched before the library's own. Set it to use components that are installed elsewhere").level(6),
        d("mca", "base", "component_show_load_errors", Kind::Text, "none", "Components of which a failure to load is reported even if nobody asked for them: all, none, or a list of framework or framework/component, with ^ in front for all but these. Set it where a component is missing for no visible reason").level(6).choices(&["all", "none", "a list of framework or framework/component"]),
        d("runtime", "", "num_cris", Kind::Unsigned, "0", "Communication resource instances (CRIs) of a process, contexts in each transport that threads use independently; 0: one below MPI_THREAD_MULTIPLE, else 16, or 64 shared among the processes of the node where these are more than 4, or as many as there are cores for each of them if that is more. Raise it to the number of threads that communicate at once, lower it to save memory; messages go on at most 64, one-sided operations on all").level(4).range(0, 128),
        d("runtime", "", "cri_assignment", Kind::Enum, "stream", "How messages are assigned to CRIs once several threads send: stream by communicator and tag, so that messages are received in sequence; dedicated by the sending thread; round_robin in turn; with the last two, unless mpi_assert_allow_overtaking is given, messages carry sequence numbers by which the receiver orders them. Set it to dedicated where all threads send with one tag in one communicator").one_of(&ASSIGNMENTS).level(4),
        d("runtime", "", "progress", Kind::Enum, "concurrent", "How waiting threads progress CRIs: with concurrent each thread progresses one that no other thread is progressing, its own first; with serial one thread at a time progresses all of them, and others go on; the other three are published ways that these are measured against: with one_lock threads wait for one lock and then progress all; with dedicated_then_all each tries the CRI of its own, and where that brought nothing all in turn until one brings something; with round_robin the first is the next one in turn as well. Set it to serial where many threads wait and few messages arrive").one_of(&PROGRESS).level(4),
        d("runtime", "", "max_threads_in_progress", Kind::Unsigned, "0", "Most threads of a process that make progress at once at MPI_THREAD_MULTIPLE; one more finds nothing done and goes on; 0: no limit. Lower it to measure what threads beside each other gain").level(9).range(0, 1_000_000).synonyms(&["opal_max_thread_in_progress"]),
        d("runtime", "", "wait", Kind::Enum, "sync", "How threads wait at MPI_THREAD_MULTIPLE: sync: one of them progresses and the others sleep until their own requests are complete; race: each polls its requests and contends for progress, with runtime_progress one_lock by waiting for one lock. Set it to race only to measure what sync gains").one_of(&WAITS).level(9),
        d("runtime", "", "connect_timeout", Kind::Unsigned, CONNECT_TIMEOUT, "Seconds that MPI_Comm_connect waits at a port where nobody calls MPI_Comm_accept, before it fails with MPI_ERR_PORT; the info key timeout of a call is used in its place; 0: no limit. Raise it where the job that accepts may have to wait for its start longer than that").level(6).range(0, 1_000_000_000),
        d("mpi", "", "yield_when_idle", Kind::Bool, "false", "A waiting thread yields its core at once instead of polling first, as always when the node is oversubscribed. Set it where other programs or threads need the cores on which ranks wait").level(5),
        d("mpi", "", "spin_count", Kind::Unsigned, SPINS, "Calls of progress without an event after which a waiting thread yields its core between calls. Raise it where each thread has a core of its own, lower it where others need the core").level(7).range(1, 1_000_000_000),
        d("mpi", "", "yield_count", Kind::Unsigned, YIELDS, "Calls of progress with a yield after which a waiting thread blocks until a message arrives. Lower it where cores are shared, raise it for latency").level(7).range(0, 1_000_000_000),
        d("mpi", "", "yield_limit", Kind::Unsigned, YIELD_LIMIT, "Longest yield, in microseconds, of a single-threaded process when the node is oversubscribed or with mpi_yield_when_idle; after two longer ones within a short time, during which other programs than the job's had the cores, its waits block until a message arrives instead of yielding; 0: no limit. Raise it where other programs on the node are short").level(9).range(0, 1_000_000),
        d("mpi", "", "task_min_size", Kind::Size, "1m", "Smallest number of bytes for which packing, unpacking and reductions are shared with threads that wait in the library (MPI_THREAD_MULTIPLE, node not oversubscribed); 0: never. Raise it where waiting threads are woken for too little").level(7),
        d("mpi", "", "initial_errhandler", Kind::Enum, "mpi_errors_are_fatal", "Initial error handler of MPI_COMM_WORLD and MPI_COMM_SELF, which is also called for errors while neither exists. Set it to mpi_errors_return for a program that looks at return codes from the start").one_of(&INITIAL_ERRHANDLERS).level(6),
        d("mpi", "", "show_handle_leaks", Kind::Bool, "false", "Every rank prints in MPI_Finalize the MPI objects that the program has not freed. Set it to find leaks").level(6),
        d("mpi", "", "param_check", Kind::Bool, "true", "MPI functions check their arguments. Set it to false to save a few instructions in each call of a program that is known to be right").level(6),
        d("mpi", "", "permit_singletons", Kind::Bool, "false", "Processes that srun or another launcher has started together, and not mpirun, each start MPI alone, as rank 0 of 1, instead of ending with an error in MPI_Init, and the status of mpirun stays 0 where its processes had the library of another MPI. Set it to true for parameter sweeps, whose processes do not communicate").level(6),
        d("mpi", "", "leave_pinned", Kind::Int, "-1", "Memory that was registered with a device for one operation stays registered for the next: -1 where the system reports when it is unmapped, 0 never, 1 as -1 with a warning where the system does not; transports that need no registration, such as shared memory and TCP, ignore it. Set it to 0 for a program that makes guard pages (MADV_GUARD_INSTALL) of memory that it sends from again later, or that handles page faults of such memory by userfaultfd itself").range(-1, 1).level(6),
        d("rcache", "base", "max_entries", Kind::Unsigned, "4096", "Most registrations that are kept; the least recently used are evicted first. Lower it where a device supports few").range(1, 1 << 20).level(7),
        d("rcache", "base", "max_bytes", Kind::Size, "0", "Most bytes of memory that stay registered; registered memory cannot be swapped out; 0: as much as the device allows. Lower it where other programs of the node need the memory").level(6),
        d("rcache", "base", "watch", Kind::Enum, "userfaultfd", "How the library learns that registered memory was unmapped: by userfaultfd, with which the kernel reports munmap, mremap, brk and madvise, or trusted, not at all. Set it to trusted only where userfaultfd is not permitted and programs release no memory before MPI_Finalize; other programs would send wrong data").one_of(&WATCHES).level(5),
        d("opal", "", "signal", Kind::Text, "6,7,8,11", "Comma-separated numbers of signals on which a process prints a stack trace; :complain after a number reports if the program had installed its own handler before. Set it where the program or a tool handles such signals itself").level(6),
        d("opal", "", "stacktrace_output", Kind::Text, "stderr", "Where stack traces are printed: none, stdout, stderr, file (stacktrace.RANK.PID), file:NAME (NAME.RANK.PID). Set it to a file where many ranks print at once").level(6).choices(&["none", "stdout", "stderr", "file", "file:NAME"]),
        d("opal", "", "abort_print_stack", Kind::Bool, "false", "A process that aborts the job, by MPI_Abort or a fatal error, prints a stack trace to opal_stacktrace_output. Set it to find the call that failed").level(6).synonyms(&["mpi_abort_print_stack"]),
        d("opal", "", "abort_delay", Kind::Int, "0", "Seconds that a process waits before it aborts the job, after printing its host and process number; negative: for ever. Raise it to attach a debugger").level(6).range(-1, i64::from(i32::MAX)).synonyms(&["mpi_abort_delay"]),
        d("mpi", "", "spc_attach", Kind::List, "", "Software performance counters to keep: names, or all. Set it to read counters by MPI_T from the start, or with mpi_spc_dump_enabled").level(6).choices(&counters::choices()),
        d("mpi", "", "spc_dump_enabled", Kind::Bool, "false", "Every rank prints its software performance counters in MPI_Finalize. Set it with mpi_spc_attach to see how a program communicates").level(6),
    ];
    // Ranks choose components by it.
    let equal_in_all = [
        d("coll", "base", "prepare_after", Kind::Unsigned, "100", "Blocking collectives of a communicator that other components serve before one that has to be prepared, as coll_shm has to get memory, is prepared for it. Raise it where many communicators are made for a few collectives each, lower it to have the preparation at once").level(7).range(0, 1_000_000_000),
    ];
    // A tool may still write the others before the library starts.
    let others = others.into_iter().chain(file_params::declarations()).map(|d| d.scope(Scope::LOCAL));
    about_sources.into_iter().chain(equal_in_all).chain(others).collect()
}

/// Parameters that an instance looks at while it runs, besides the frameworks' verbosity.
pub const LIVE: [&str; 4] = ["mpi_yield_when_idle", "mpi_spin_count", "mpi_yield_count", "mpi_yield_limit"];

/// Reads a declared parameter as a number without sign; 0: there is no such number, and numbers that do not fit are the
/// largest that does.
fn number(resolver: &Resolver, name: &str) -> u32 {
    let n = resolver.get(name).and_then(|r| r.value.as_i64()).unwrap_or(0);
    u32::try_from(n).unwrap_or(u32::MAX)
}
/// Reads a declared parameter as a truth value; false: there is no such one.
fn flag(resolver: &Resolver, name: &str) -> bool {
    resolver.get(name).and_then(|r| r.value.as_bool()).unwrap_or(false)
}
/// Reads a declared parameter as a text; empty: there is no such one.
fn text<'a>(resolver: &'a Resolver, name: &str) -> &'a str {
    resolver.get(name).and_then(|r| r.value.as_str()).unwrap_or("")
}

/// Reads a parameter of the host's outside any instance, from all sources, for the little that MPI must know before it
/// is started and after it has ended. `None`: no such parameter, or a value that is none. `places`: where the
/// installation's parameter files are.
pub fn outside(name: &str, places: &Places) -> Option<Value> {
    let mut resolver = Sources::read(Reader::Process, std::env::vars_os(), places, &[]).resolver;
    let declaration = declarations().into_iter().find(|d| d.full_name == name)?;
    resolver.declare(declaration).ok().map(|resolved| resolved.value.clone())
}

/// Declares the host's own parameters and reads their values; the first wrong value is an error.
pub fn host_params(resolver: &mut Resolver) -> Result<HostParams, Error> {
    match declare_host(resolver).into_iter().next() {
        Some(why) => Err(why),
        None => Ok(read_host(resolver)),
    }
}

/// Declares the host's own parameters and returns an error for each wrong value.
pub fn declare_host(resolver: &mut Resolver) -> Vec<Error> {
    let mut wrong: Vec<Error> =
        declarations().into_iter().filter_map(|d| resolver.declare(d).err()).map(Error::from).collect();
    if let Err(name) = attached(resolver) {
        let origin = resolver.get("mpi_spc_attach").map(|r| r.origin.to_string()).unwrap_or_default();
        let message = format!(
            "parameter mpi_spc_attach: from {origin}, there is no software performance counter {name:?}"
        );
        wrong.push(Error::new(ErrorKind::Other, message));
    }
    wrong.extend(implementation::declare(resolver));
    wrong
}

/// Reads the counters that `mpi_spc_attach` names, as flags by counter; empty: none is named. `Err`: the name that is
/// no counter.
fn attached(resolver: &Resolver) -> Result<Vec<bool>, String> {
    match resolver.get("mpi_spc_attach").map(|r| &r.value) {
        Some(Value::List { items, .. }) if !items.is_empty() => counters::attached(items),
        _ => Ok(Vec::new()),
    }
}

/// Reads the values of the host's own parameters, which have been declared.
pub fn read_host(resolver: &Resolver) -> HostParams {
    let path = text(resolver, "mca_base_component_path");
    HostParams {
        num_cris: number(resolver, "runtime_num_cris"),
        cri_modes: cri_modes(resolver),
        progress: progress(resolver),
        most_in_progress: number(resolver, "runtime_max_threads_in_progress"),
        race: resolver.get("runtime_wait").and_then(|r| r.value.as_i64()) == Some(1),
        permit_singletons: flag(resolver, "mpi_permit_singletons"),
        yield_when_idle: flag(resolver, "mpi_yield_when_idle"),
        spins: number(resolver, "mpi_spin_count"),
        yields: number(resolver, "mpi_yield_count"),
        yield_limit: number(resolver, "mpi_yield_limit"),
        task_min: task_min(resolver),
        spc_dump: flag(resolver, "mpi_spc_dump_enabled"),
        spc_attach: attached(resolver).unwrap_or_default(),
        component_path: path.split(':').filter(|p| !p.is_empty()).map(PathBuf::from).collect(),
        show_load_errors: show_load_errors(text(resolver, "mca_base_component_show_load_errors")),
        abort_stack: flag(resolver, "opal_abort_print_stack"),
        prepare_after: number(resolver, "coll_base_prepare_after"),
        abort_delay: resolver.get("opal_abort_delay").and_then(|r| r.value.as_i64()).unwrap_or(0),
        keeping: keeping(resolver),
        connect_timeout: number(resolver, "runtime_connect_timeout"),
        files: file_params::read(resolver),
    }
}

/// Reads how registered memory is kept (`mpi_leave_pinned`, `rcache_base_…`).
fn keeping(resolver: &Resolver) -> Keeping {
    let number_of = |name| resolver.get(name).and_then(|r| r.value.as_i64()).unwrap_or(0);
    Keeping {
        leave_pinned: match number_of("mpi_leave_pinned") {
            0 => LeavePinned::Never,
            1 => LeavePinned::Asked,
            _ => LeavePinned::Auto,
        },
        entries: number(resolver, "rcache_base_max_entries"),
        bytes: u64::try_from(number_of("rcache_base_max_bytes")).unwrap_or(0),
        trusted: number_of("rcache_base_watch") == 1,
    }
}

/// Reads assignment and progress of CRIs as bits of [`cri_mode`].
fn cri_modes(resolver: &Resolver) -> u32 {
    let index = |name| resolver.get(name).and_then(|r| r.value.as_i64()).unwrap_or(0);
    let assignment = match index("runtime_cri_assignment") {
        1 => cri_mode::DEDICATED,
        2 => cri_mode::ROUND_ROBIN,
        _ => 0,
    };
    let is_serial = matches!(progress(resolver), Progress::Serial | Progress::OneLock);
    assignment | if is_serial { cri_mode::SERIAL_PROGRESS } else { 0 }
}

/// Reads how threads progress CRIs among each other.
fn progress(resolver: &Resolver) -> Progress {
    match resolver.get("runtime_progress").and_then(|r| r.value.as_i64()) {
        Some(1) => Progress::Serial,
        Some(2) => Progress::OneLock,
        Some(3) => Progress::DedicatedThenAll,
        Some(4) => Progress::RoundRobin,
        _ => Progress::Concurrent,
    }
}

/// Reads from how many bytes on packing is shared with waiting threads; `u64::MAX`: never.
fn task_min(resolver: &Resolver) -> u64 {
    let bytes = resolver.get("mpi_task_min_size").and_then(|r| r.value.as_i64()).unwrap_or(0);
    u64::try_from(bytes).ok().filter(|n| *n > 0).unwrap_or(u64::MAX)
}

/// Parses the value of `mca_base_component_show_load_errors`.
fn show_load_errors(text: &str) -> ShowLoadErrors {
    match text.trim().to_ascii_lowercase().as_str() {
        "all" | "true" | "yes" | "1" => ShowLoadErrors::All,
        "" | "none" | "false" | "no" | "0" => ShowLoadErrors::None,
        list => {
            let stripped = list.trim_start_matches('^');
            let items = stripped.split(',').map(str::trim).filter(|i| !i.is_empty()).map(str::to_owned);
            ShowLoadErrors::Some { negated: stripped.len() != list.len(), items: items.collect() }
        }
    }
}

/// Declares the parameters of an accepted component and resolves them, in the order of declaration. `Err`: the first
/// wrong one.
pub fn component_params(resolver: &mut Resolver, component: &Accepted) -> Result<Values, ParamError> {
    let mut resolved = Vec::new();
    for declaration in declarations_of(component) {
        resolved.push(resolver.declare(declaration?)?.clone());
    }
    Ok(Values::new(resolved))
}

/// The declarations of an accepted component, in their order.
fn declarations_of(component: &Accepted) -> Vec<Result<Declaration, ParamError>> {
    let of = |decl| {
        // SAFETY: `accept` has looked at every pointer and length of the declarations.
        unsafe { Declaration::from_abi(component.framework.name(), component.name, &component.aliases, decl) }
    };
    let mut all: Vec<Result<Declaration, ParamError>> = component.params.iter().map(of).collect();
    for at in 1..all.len() {
        let names_a_file = component.params[at - 1].flags & param_flag::FILE_OF_NEXT != 0;
        let next = all[at].as_ref().ok().map(|next| next.full_name.clone());
        if let (true, Ok(file)) = (names_a_file, &mut all[at - 1]) {
            file.text_for = next;
        }
    }
    all
}

/// Declares the parameters of an accepted component and returns everything that is wrong with them or their values.
pub fn declare_component(resolver: &mut Resolver, component: &Accepted) -> Vec<ParamError> {
    let mut wrong = Vec::new();
    for declaration in declarations_of(component) {
        if let Err(why) = declaration.and_then(|d| resolver.declare(d).map(drop)) {
            wrong.push(why);
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_settings() {
        let mut resolver = Resolver::new().with([
            ("mca_base_component_path", "/a:/b"),
            ("mpi_yield_when_idle", "1"),
            ("mpi_spc_attach", "send,recv"),
        ]);
        let p = host_params(&mut resolver).expect("good values");
        assert_eq!(p.component_path, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert!(p.yield_when_idle && !p.spc_dump && p.num_cris == 0 && p.cri_modes == 0);
        assert_eq!(p.spc_attach.iter().filter(|a| **a).count(), 2);
        let set = [
            ("runtime_cri_assignment", "round_robin"),
            ("runtime_progress", "serial"),
            ("runtime_wait", "race"),
        ];
        assert!(!p.race);
        let p = host_params(&mut Resolver::new().with(set)).expect("good values");
        assert_eq!(p.cri_modes, cri_mode::ROUND_ROBIN | cri_mode::SERIAL_PROGRESS);
        assert!(p.race && p.progress == Progress::Serial && p.most_in_progress == 0);
        let named = ["one_lock", "dedicated_then_all", "round_robin"];
        let meant = [Progress::OneLock, Progress::DedicatedThenAll, Progress::RoundRobin];
        for (name, meant) in named.into_iter().zip(meant) {
            let set = [("runtime_progress", name), ("opal_max_thread_in_progress", "3")];
            let p = host_params(&mut Resolver::new().with(set)).expect("good values");
            let serial = if name == "one_lock" { cri_mode::SERIAL_PROGRESS } else { 0 };
            assert_eq!((p.progress, p.most_in_progress, p.cri_modes), (meant, 3, serial));
        }
        let usual = Keeping { leave_pinned: LeavePinned::Auto, entries: 4096, bytes: 0, trusted: false };
        assert_eq!(p.keeping, usual);
        let set =
            [("mpi_leave_pinned", "1"), ("rcache_base_max_bytes", "3k"), ("rcache_base_watch", "trusted")];
        let p = host_params(&mut Resolver::new().with(set)).expect("good values");
        let asked = Keeping { leave_pinned: LeavePinned::Asked, bytes: 3072, trusted: true, ..usual };
        assert_eq!(p.keeping, asked);
        for (name, bad) in
            [("runtime_num_cris", "129"), ("mpi_spc_attach", "nothing"), ("mpi_spin_count", "x")]
        {
            let e = host_params(&mut Resolver::new().with([(name, bad)])).expect_err(name);
            assert!(e.message.contains(name) && e.message.contains(bad), "{e}");
        }
    }

    #[test]
    fn whose_load_errors_are_shown() {
        let shown = |text: &str| {
            let s = show_load_errors(text);
            [s.wants("btl", "shm"), s.wants("btl", "tcp"), s.wants("coll", "basic")]
        };
        assert_eq!(shown("all"), [true; 3]);
        assert_eq!(shown("none"), [false; 3]);
        assert_eq!(shown("btl/shm,coll"), [true, false, true]);
        assert_eq!(shown("^btl"), [false, false, true]);
    }
}
