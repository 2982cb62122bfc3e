//! The one table of options: what mpirun reads, what its help says, and what
//! `docs/mpirun-options.md` says of each against Open MPI 5.
//!
//! clap is built from it, and so is the document; a test runs the document's lines.

/// For whom an option speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole job: stands before the first program.
    Job,
    /// One program of the job; may differ from program to program.
    App,
}

/// How it stands with Open MPI 5's option of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Same,
    Different(&'static str),
    /// Known, and refused with this reason.
    Missing(&'static str),
    /// A spelling of MPICH's.
    Mpich,
}

/// May an option be given more than once?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Once,
    Many,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// The long name, and the key its values are asked for by.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub short: &'static [char],
    /// Names of its values, one each.
    pub values: &'static [&'static str],
    pub times: Times,
    pub scope: Scope,
    pub section: &'static str,
    pub standing: Standing,
    pub help: &'static str,
}

impl Opt {
    const fn new(
        section: &'static str,
        scope: Scope,
        name: &'static str,
        values: &'static [&'static str],
        help: &'static str,
    ) -> Opt {
        Opt {
            name,
            aliases: &[],
            short: &[],
            values,
            times: Times::Once,
            scope,
            section,
            standing: Standing::Same,
            help,
        }
    }
    const fn short(mut self, short: &'static [char]) -> Opt {
        self.short = short;
        self
    }
    const fn alias(mut self, aliases: &'static [&'static str]) -> Opt {
        self.aliases = aliases;
        self
    }
    const fn many(mut self) -> Opt {
        self.times = Times::Many;
        self
    }
    const fn differs(mut self, why: &'static str) -> Opt {
        self.standing = Standing::Different(why);
        self
    }
    const fn missing(mut self, why: &'static str) -> Opt {
        self.standing = Standing::Missing(why);
        self
    }
    const fn mpich(mut self) -> Opt {
        self.standing = Standing::Mpich;
        self
    }

    /// Shown by plain `--help`.
    pub fn is_shown(&self) -> bool {
        !matches!(self.standing, Standing::Missing(_)) && self.section != OLD && self.section != MPICH
    }
}

/// Options that are read into `cli::output` and that the launcher does not carry out; it refuses
/// them by what they were read into.
pub const NOT_CARRIED_OUT: &[&str] = &["xml"];

/// Why those are refused.
pub const NOT_YET: &str = "not implemented yet";

impl Opt {
    /// How it stands today.
    pub fn standing(&self) -> Standing {
        match NOT_CARRIED_OUT.contains(&self.name) {
            true => Standing::Missing(NOT_YET),
            false => self.standing,
        }
    }
}

pub const PROCESSES: &str = "Processes";
pub const PLACES: &str = "Where they run";
pub const SETTING: &str = "Environment and parameters";
pub const STREAMS: &str = "Input and output";
pub const CONTROL: &str = "Control";
/// Open MPI 4's spellings, which Open MPI 5 still reads.
pub const OLD: &str = "Earlier spellings";
pub const MPICH: &str = "MPICH's spellings";

use Scope::{App, Job};

const REMOTE: &str = "files are never copied to nodes";
const OPEN_MPI_4: &str = "Open MPI 4 has it, Open MPI 5 a persistent launcher in its place";
const NO_DVM: &str = "there is no persistent launcher (DVM); each mpirun starts its own daemons";
const NO_SESSION: &str = "a job has no session directory";
const NO_TABLE: &str = "there is no table of transports by pairs of ranks; mpi-info lists the transports";
const NO_PMIX: &str = "PMIx is not used";
const NO_RESTART: &str = "failed processes are never restarted";

/// All options, in the order in which help shows them.
pub const OPTIONS: &[Opt] = &[
    Opt::new(PROCESSES, App, "np", &["N"], "Number of processes to run [default: one per slot]")
        .alias(&["n"])
        .short(&['n', 'c'])
        .differs("more processes than cores are allowed unless slots are given or :NOOVERSUBSCRIBE says no"),
    Opt::new(PROCESSES, Job, "npernode", &["N"], "Run N processes on each node")
        .short(&['N'])
        .alias(&["ppn"]),
    Opt::new(PROCESSES, Job, "app", &["FILE"], "Read programs and their options from an appfile, one per line; a line that ends in \\ goes on in the next")
        .alias(&["configfile"])
        .differs("options on the command line are used as well; Open MPI ignores them"),
    Opt::new(PROCESSES, App, "wdir", &["FOLDER"], "Working directory of the processes").alias(&["wd"]),
    Opt::new(PROCESSES, App, "path", &["FOLDERS"], "Folders to search for the program before PATH"),
    Opt::new(PROCESSES, App, "pset", &["NAME"], "")
        .missing("the only process sets are mpi://WORLD and mpi://SELF"),
    Opt::new(PROCESSES, App, "soft", &["NUMBERS"], "Acceptable numbers of processes (info key soft of MPI)"),
    Opt::new(PROCESSES, App, "arch", &["NAME"], "Architecture (info key arch of MPI): refused unless it is this machine's")
        .differs("Open MPI accepts and ignores it"),
    Opt::new(PROCESSES, App, "file", &["FILE"], "Value of the info key file of MPI_INFO_ENV"),
    Opt::new(PLACES, App, "host", &["HOSTS"], "Nodes: NAME[:SLOTS],... (NAME:* for all cores)")
        .short(&['H'])
        .many(),
    Opt::new(PLACES, App, "hostfile", &["FILE"], "Nodes from a file: NAME [slots=N] [max_slots=N]")
        .alias(&["machinefile"])
        .many(),
    Opt::new(
        PLACES,
        Job,
        "default-hostfile",
        &["FILE"],
        "Nodes when neither --host nor --hostfile names any",
    ),
    Opt::new(
        PLACES,
        Job,
        "map-by",
        &["POLICY"],
        "Map processes by slot, node, core, ... (--help map-by)",
    ),
    Opt::new(PLACES, Job, "rank-by", &["POLICY"], "Rank processes by slot, node, fill, span (--help rank-by)"),
    Opt::new(
        PLACES,
        Job,
        "bind-to",
        &["OBJECT"],
        "Bind processes to none, hwthread, core, ... (--help bind-to)",
    )
    .differs("slot too, as once; without it one or two processes get a core, more a NUMA node where it fits"),
    Opt::new(PLACES, Job, "report-bindings", &[], "Report on standard error what each process is bound to"),
    Opt::new(
        PLACES,
        Job,
        "display",
        &["WHAT"],
        "Show allocation, map, map-devel, bind, topo, cpus [:parseable]",
    )
    .many()
    .differs("the layout of the lines is ours; bindings are written as Open MPI writes them"),
    Opt::new(PLACES, Job, "rankfile", &["FILE"], "Exact places: rank N=HOST slot=LIST"),
    Opt::new(PLACES, Job, "oversubscribe", &[], "Allow more processes than slots"),
    Opt::new(PLACES, Job, "nooversubscribe", &[], "Refuse more processes than slots")
        .alias(&["no-oversubscribe"]),
    Opt::new(PLACES, Job, "use-hwthread-cpus", &[], "Count hardware threads as slots, also for pe=N"),
    Opt::new(PLACES, Job, "do-not-launch", &[], "Plan and display only"),
    Opt::new(
        SETTING,
        App,
        "x",
        &["NAME[=VALUE]"],
        "Export a variable to the processes; NAME* exports all such",
    )
    .short(&['x'])
    .many(),
    Opt::new(SETTING, App, "set-env", &["NAME=VALUE"], "The same as -x NAME=VALUE").many(),
    Opt::new(SETTING, App, "unset-env", &["NAME"], "Remove a variable from their environment; NAME* removes all such").many(),
    Opt::new(
        SETTING,
        App,
        "append-env",
        &["NAME[C]", "VALUE"],
        "Append VALUE to a variable, with C between them",
    )
    .many(),
    Opt::new(
        SETTING,
        App,
        "prepend-env",
        &["NAME[C]", "VALUE"],
        "Prepend VALUE to a variable, with C between them",
    )
    .many(),
    Opt::new(SETTING, App, "mca", &["NAME", "VALUE"], "Set a parameter; see mpi-info for their names").many(),
    Opt::new(SETTING, App, "omca", &["NAME", "VALUE"], "The same as --mca").many(),
    Opt::new(SETTING, Job, "gmca", &["NAME", "VALUE"], "Set a parameter of every program of the job")
        .alias(&["gomca"])
        .many(),
    Opt::new(SETTING, Job, "prtemca", &["NAME", "VALUE"], "Set a parameter of the launcher (--help prtemca)")
        .many()
        .differs("the placement defaults and parameters about starting daemons are read; others are refused, because PRRTE is not the launcher"),
    Opt::new(SETTING, Job, "pmixmca", &["NAME", "VALUE"], "").many().missing(NO_PMIX),
    Opt::new(SETTING, Job, "gpmixmca", &["NAME", "VALUE"], "").many().missing(NO_PMIX),
    Opt::new(SETTING, Job, "tune", &["FILES"], "Parameters from files, separated by commas")
        .alias(&["am", "amca"])
        .many(),
    Opt::new(SETTING, Job, "prefix", &["FOLDER"], "Where this MPI is installed on the nodes")
        .alias(&["pmix-prefix", "app-pmix-prefix"])
        .differs("sets the ranks' PATH and LD_LIBRARY_PATH on this node, too; without it the installation is where mpirun's own is"),
    Opt::new(SETTING, Job, "noprefix", &[], "Nodes find oxmpid and libraries by their own PATH and LD_LIBRARY_PATH, and processes here by mpirun's")
        .alias(&["no-app-prefix"]),
    Opt::new(SETTING, Job, "initial-errhandler", &["NAME"], "")
        .missing("processes start with MPI_ERRORS_ARE_FATAL and set another themselves"),
    Opt::new(SETTING, Job, "memory-alloc-kinds", &["KINDS"], "")
        .missing("kinds are asked for by the info key mpi_memory_alloc_kinds of a session")
        .alias(&["mpi-memory-alloc-kinds"]),
    Opt::new(SETTING, Job, "display-comm", &[], "").missing(NO_TABLE),
    Opt::new(SETTING, Job, "display-comm-finalize", &[], "").missing(NO_TABLE),
    Opt::new(SETTING, Job, "gpu-support", &["BOOL"], "").missing("there is no GPU support to switch"),
    Opt::new(STREAMS, Job, "output", &["WHAT"], "tag, timestamp, merge, dir=, file=, ... (--help output)")
        .many(),
    Opt::new(STREAMS, Job, "stdin", &["RANKS"], "Ranks that get standard input: one, all, none [default: 0]")
        .differs("all: each rank gets its copy; a list of ranks as well"),
    Opt::new(
        STREAMS,
        Job,
        "stream-buffering",
        &["N"],
        "How ranks buffer their output: 0 not at all, 1 by lines, 2 fully [default: 1]",
    )
    .differs("holds from the start of the program, for C, C++, Python and gfortran; 0 leaves standard error as it is"),
    Opt::new(STREAMS, Job, "xterm", &["RANKS"], "")
        .missing("mpirun does not open windows; `mpirun -n N xterm -e PROGRAM` does"),
    Opt::new(
        CONTROL,
        Job,
        "timeout",
        &["[D:H:M:]SECONDS"],
        "Time limit of the job; exit status 110 when it has passed",
    ),
    Opt::new(
        CONTROL,
        Job,
        "spawn-timeout",
        &["[D:H:M:]SECONDS"],
        "Time limit of the start of the job, and of each that its processes start",
    )
    .differs(
        "exit status 110 when the first job has not started in time; a later one ends then and MPI_Comm_spawn fails, \
         also where its processes do not come to MPI_Init",
    ),
    Opt::new(CONTROL, Job, "get-stack-traces", &[], "At the time limit, show a stack trace of each process"),
    Opt::new(
        CONTROL,
        Job,
        "report-state-on-timeout",
        &[],
        "At the time limit, show in which MPI call each process is",
    ),
    Opt::new(
        CONTROL,
        Job,
        "runtime-options",
        &["WHAT"],
        "error-nonzero-status, donotlaunch, timeout=, ... (--help runtime-options)",
    )
    .many()
    .differs("those that ask for restarts, notifications or PMIx are refused with the reason"),
    Opt::new(
        CONTROL,
        Job,
        "forward-signals",
        &["SIGNALS"],
        "Signals that mpirun passes on besides the usual ones, or none",
    )
    .differs("those that end the job (INT, TERM, HUP, QUIT) cannot be among them"),
    Opt::new(CONTROL, Job, "report-pid", &["WHERE"], "Print mpirun's process number: - + or a file"),
    Opt::new(
        CONTROL,
        Job,
        "ompi-server",
        &["WHERE"],
        "Names of services are at the ompi-server with this URI, or file:FILE with its URI, or pid:PID",
    )
    .differs(OPEN_MPI_4),
    Opt::new(CONTROL, Job, "wait-for-server", &[], "Wait for the --ompi-server to come").differs(OPEN_MPI_4),
    Opt::new(CONTROL, Job, "server-wait-time", &["SECONDS"], "How long --wait-for-server waits (10)")
        .differs(OPEN_MPI_4),
    Opt::new(CONTROL, Job, "allow-run-as-root", &[], "Accepted: root may run jobs")
        .differs("root is not refused"),
    Opt::new(CONTROL, Job, "personality", &["NAME"], "Accepted: ompi").differs("ompi is the only one"),
    Opt::new(CONTROL, Job, "enable-recovery", &[], "").missing(NO_RESTART),
    Opt::new(CONTROL, Job, "disable-recovery", &[], "Accepted: failed processes are never restarted"),
    Opt::new(CONTROL, Job, "max-restarts", &["N"], "").missing(NO_RESTART),
    Opt::new(CONTROL, Job, "continuous", &[], "").missing(NO_RESTART),
    Opt::new(CONTROL, Job, "with-ft", &["KIND"], "Fault tolerance: only none")
        .differs("only none; there is no fault tolerance yet"),
    Opt::new(
        CONTROL,
        Job,
        "report-child-jobs-separately",
        &[],
        "mpirun's exit status is that of the first job, whatever becomes of jobs that its processes start",
    ),
    Opt::new(CONTROL, Job, "show-progress", &[], "").missing("there is no progress report of the launch"),
    Opt::new(CONTROL, Job, "stop-on-exec", &[], "").missing("processes cannot be stopped for a debugger"),
    Opt::new(CONTROL, Job, "stop-in-init", &["RANKS"], "").missing("processes cannot be stopped for a debugger"),
    Opt::new(CONTROL, Job, "stop-in-app", &["RANKS"], "").missing("processes cannot be stopped for a debugger"),
    Opt::new(CONTROL, Job, "launch-agent", &["PROGRAM"], "Program to start on other nodes in place of oxmpid"),
    Opt::new(CONTROL, Job, "max-vm-size", &["N"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "hetero-nodes", &[], "Accepted: each node reports its own topology"),
    Opt::new(CONTROL, Job, "add-host", &["HOSTS"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "add-hostfile", &["FILE"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "dvm", &["WHERE"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "dvm-master-uri", &["URI"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "no-ready-msg", &[], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "report-uri", &["WHERE"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "system-server", &[], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "set-sid", &[], "").missing("the node daemon always has a session of its own"),
    Opt::new(CONTROL, Job, "singleton", &["ID"], "").missing(NO_DVM),
    Opt::new(CONTROL, Job, "keepalive", &["PIPE"], "").missing(
        "a job ends with the process that started mpirun if that kills it; there is no pipe to watch",
    ),
    Opt::new(CONTROL, Job, "tmpdir", &["FOLDER"], "").missing(NO_SESSION),
    Opt::new(CONTROL, Job, "set-cwd-to-session-dir", &[], "").missing(NO_SESSION),
    Opt::new(CONTROL, Job, "preload-files", &["FILES"], "").missing(REMOTE),
    Opt::new(CONTROL, Job, "preload-binary", &[], "").short(&['s']).missing(REMOTE),
    Opt::new(CONTROL, Job, "debug-daemons", &[], "").missing("daemons have no debugging output"),
    Opt::new(CONTROL, Job, "debug-daemons-file", &[], "").missing("daemons have no debugging output"),
    Opt::new(
        CONTROL,
        Job,
        "leave-session-attached",
        &[],
        "Accepted: daemons always keep their standard error",
    ),
    Opt::new(CONTROL, Job, "quiet", &[], "Print errors only").short(&['q']).many(),
    Opt::new(CONTROL, Job, "verbose", &[], "Print more").short(&['v']).many(),
    Opt::new(OLD, Job, "pernode", &[], "--map-by ppr:1:node"),
    Opt::new(OLD, Job, "npersocket", &["N"], "--map-by ppr:N:package").alias(&["npackage"]),
    Opt::new(OLD, Job, "ppr", &["LIST"], "--map-by ppr:LIST"),
    Opt::new(OLD, Job, "bynode", &[], "--map-by node"),
    Opt::new(OLD, Job, "bycore", &[], "--map-by core"),
    Opt::new(OLD, Job, "byslot", &[], "--map-by slot"),
    Opt::new(OLD, Job, "bind-to-core", &[], "--bind-to core"),
    Opt::new(OLD, Job, "bind-to-socket", &[], "--bind-to package"),
    Opt::new(OLD, Job, "cpus-per-proc", &["N"], "--map-by :pe=N").alias(&["cpus-per-rank"]),
    Opt::new(OLD, Job, "cpu-set", &["LIST"], "--map-by pe-list=LIST").alias(&["cpu-list"]),
    Opt::new(OLD, Job, "nolocal", &[], "--map-by :NOLOCAL").differs("always refused: --host and --hostfile name the nodes"),
    Opt::new(OLD, Job, "display-map", &[], "--display map"),
    Opt::new(OLD, Job, "display-devel-map", &[], "--display map-devel"),
    Opt::new(OLD, Job, "display-topo", &[], "--display topo"),
    Opt::new(OLD, Job, "display-allocation", &[], "--display allocation")
        .alias(&["display-devel-allocation"]),
    Opt::new(OLD, Job, "tag-output", &[], "--output tag"),
    Opt::new(OLD, Job, "timestamp-output", &[], "--output timestamp"),
    Opt::new(OLD, Job, "merge-stderr-to-stdout", &[], "--output merge-stderr-to-stdout"),
    Opt::new(OLD, Job, "output-directory", &["FOLDER"], "--output dir=FOLDER"),
    Opt::new(OLD, Job, "output-filename", &["FILE"], "--output file=FILE"),
    Opt::new(OLD, Job, "xml", &[], "--output xml"),
    Opt::new(OLD, Job, "fwd-environment", &[], "Processes on other nodes have all of mpirun's environment, as those on its own"),
    Opt::new(MPICH, App, "env", &["NAME", "VALUE"], "-x NAME=VALUE").many().mpich(),
    Opt::new(MPICH, App, "envlist", &["NAMES"], "Only these variables of mpirun's environment").mpich(),
    Opt::new(MPICH, App, "envall", &[], "All of mpirun's environment, as always").mpich(),
    Opt::new(MPICH, App, "envnone", &[], "Nothing of mpirun's environment").mpich(),
    Opt::new(MPICH, Job, "genv", &["NAME", "VALUE"], "-x NAME=VALUE for every program").many().mpich(),
    Opt::new(MPICH, Job, "genvlist", &["NAMES"], "-envlist for every program").mpich(),
    Opt::new(MPICH, Job, "genvall", &[], "All of mpirun's environment, as always").mpich(),
    Opt::new(MPICH, Job, "genvnone", &[], "-envnone for every program").mpich(),
    Opt::new(MPICH, App, "hosts", &["HOSTS"], "--host, all slots of each").many().mpich(),
    Opt::new(MPICH, App, "f", &["FILE"], "--hostfile FILE; NAME:N is NAME slots=N")
        .short(&['f'])
        .many()
        .mpich(),
    Opt::new(MPICH, Job, "prepend-rank", &[], "Put the rank before each line")
        .alias(&["l"])
        .short(&['l'])
        .mpich(),
    Opt::new(MPICH, Job, "usize", &["N"], "Size of the universe").mpich(),
];
