//! Starting a job, waiting for it with a limit, and finding what it left.

use oxmpi_tests::Places;
use rustix::process::{Pid, Signal};
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// For one job, on a machine that does much else.
const LIMIT: Duration = Duration::from_secs(100);
/// From a failure to its report and the end of everything.
pub const PROMISED: Duration = Duration::from_secs(10);
const MARK: &str = "OXMPI_TEST_MARK";
/// Name of the variable that says which role the rank program plays.
pub const ROLE: &str = "OXMPI_TEST_ROLE";

/// A job to be started.
pub struct Job {
    pub command: Command,
    mark: String,
}

/// `mpirun` with these arguments, separated by blanks.
pub fn mpirun(arguments: &str) -> Job {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // A program that a shell starts in its background ignores ^C, one started by nohup the terminal's end, and mpirun would inherit that.
    for signal in [libc::SIGINT, libc::SIGHUP] {
        // SAFETY: the default is valid for every signal, and this program handles none.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
    command.args(arguments.split_whitespace());
    command.env(MARK, &mark).env_remove("MPIEXEC_TIMEOUT");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Job { command, mark }
}

impl Job {
    /// A shell script as the program.
    pub fn script(mut self, script: &str) -> Job {
        self.command.args(["/bin/sh", "-c", script]);
        self
    }

    /// The rank program of this test binary, in a role.
    pub fn role(mut self, role: &str) -> Job {
        self.command.env(ROLE, role).args(own_rank());
        self
    }

    /// A shell script that may start the rank program as `$RANK`.
    pub fn script_with_role(mut self, script: &str, role: &str) -> Job {
        self.command.env(ROLE, role).env("RANK", own_rank().join(" "));
        self.script(script)
    }

    pub fn start(mut self) -> Running {
        let places = Places::for_launcher(&self.command);
        let mut child = self.command.spawn().expect("mpirun is there");
        let out = collect(child.stdout.take());
        let err = collect(child.stderr.take());
        Running { child, mark: self.mark, out, err, _places: Some(places) }
    }

    /// A job that the test has started itself.
    pub fn watch(self, child: Child) -> Running {
        Running { child, mark: self.mark, out: None, err: None, _places: None }
    }

    /// Nobody reads what it prints, unless the test does.
    pub fn start_without_reading(mut self) -> Running {
        let places = Places::for_launcher(&self.command);
        let child = self.command.spawn().expect("mpirun is there");
        Running { child, mark: self.mark, out: None, err: None, _places: Some(places) }
    }

    /// Runs to the end.
    pub fn run(self) -> Ended {
        self.start().wait()
    }
}

/// The command line that makes this test binary a rank.
pub fn own_rank() -> [String; 4] {
    let own = std::env::current_exe().expect("this binary has a path");
    [own.to_str().expect("text").into(), "rank::rank".into(), "--exact".into(), "--nocapture".into()]
}

fn collect(from: Option<impl Read + Send + 'static>) -> Option<JoinHandle<String>> {
    let mut from = from?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    }))
}

/// A job that runs.
pub struct Running {
    pub child: Child,
    mark: String,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
    /// Of the machine's, which bound the jobs beside each other.
    _places: Option<Places>,
}

/// A job that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Running {
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).expect("mpirun runs");
    }

    /// Processes of the job whose command line contains `what`, mpirun itself left out, and so is a child of it that has not
    /// begun its own program yet: that has mpirun's command line, in which the job's program stands, long before that runs.
    pub fn processes(&self, what: &str) -> Vec<Process> {
        let own = self.child.id().cast_signed();
        let launcher = command_line(own);
        let is_other = |p: &Process| p.pid != own && Some(&p.command) != launcher.as_ref();
        marked(&self.mark).into_iter().filter(|p| is_other(p) && p.command.contains(what)).collect()
    }

    /// mpirun itself.
    pub fn launcher(&self) -> Process {
        Process { pid: self.child.id().cast_signed(), command: "mpirun".into() }
    }

    /// Waits until there are `count` of them.
    pub fn wait_for(&self, what: &str, count: usize) -> Vec<Process> {
        eventually(&format!("{count} processes with {what:?}"), || {
            let found = self.processes(what);
            (found.len() == count).then_some(found)
        })
    }

    pub fn wait(mut self) -> Ended {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                break status;
            }
            if begin.elapsed() > LIMIT {
                let left = marked(&self.mark);
                let _ = self.child.kill();
                panic!("the job did not end in {LIMIT:?}; running: {left:?}");
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        self.nothing_is_left();
        let text =
            |from: Option<JoinHandle<String>>| from.map_or_else(String::new, |t| t.join().expect("read"));
        Ended { status, out: text(self.out.take()), err: text(self.err.take()) }
    }

    /// Waits for the end, which has been caused: ten seconds are what users are promised.
    pub fn wait_promptly(self) -> Ended {
        let begin = Instant::now();
        let ended = self.wait();
        assert!(begin.elapsed() < PROMISED, "it took {:?}: {ended:?}", begin.elapsed());
        ended
    }

    /// Nothing of the job runs any more, soon.
    pub fn nothing_is_left(&self) {
        eventually("the end of everything the job started", || marked(&self.mark).is_empty().then_some(()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only after a failed test is there anything.
        for process in marked(&self.mark) {
            process.kill(Signal::KILL);
        }
    }
}

impl Ended {
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("mpirun was killed: {self:?}"))
    }

    /// Checks the exit status, and that standard error has these parts.
    pub fn expect(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code(), code, "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is missing: {self:?}");
        }
    }

    /// How often mpirun reported something.
    pub fn reports(&self) -> usize {
        self.err.lines().filter(|line| line.starts_with("-----")).count() / 2
    }

    /// Lines that the rank program printed, sorted.
    pub fn said(&self) -> Vec<&str> {
        let mut lines: Vec<&str> =
            self.out.lines().filter_map(|line| line.split_once("says: ")).map(|l| l.1).collect();
        lines.sort_unstable();
        lines
    }
}

/// One report with these parts, and this status.
pub fn one_report(ended: &Ended, status: i32, parts: &[&str]) {
    ended.expect(status, parts);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// A process of a job.
#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub command: String,
}

impl Process {
    pub fn kill(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid).expect("a process has a number");
        let _ = rustix::process::kill_process(pid, signal);
    }

    /// The letter of its state; None: it is gone.
    pub fn state(&self) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        stat.rsplit(") ").next()?.chars().next()
    }

    /// Resident memory in KiB.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

/// Kills these at once: none of them does anything when it notices the end of another.
pub fn kill_together(pids: &[i32]) {
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in pids {
            let pid = Pid::from_raw(*pid).expect("a process has a number");
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Command lines of a daemon and its guards on another machine, in all sets of which a part is left.
pub const KEEPERS: [&[&str]; 6] = [
    &["oxmpid --guarded"],
    &["oxmpid --guard-again"],
    &["oxmpid --remote"],
    &["oxmpid --guarded", "oxmpid --guard-again"],
    &["oxmpid --guarded", "oxmpid --remote"],
    &["oxmpid --guard-again", "oxmpid --remote"],
];

fn marked(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("there is a /proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|&c| c == 0).any(|variable| variable == wanted.as_bytes()) {
            found.push(Process { pid, command: command_line(pid).unwrap_or_default() });
        }
    }
    found
}

/// None: it is gone.
fn command_line(pid: i32) -> Option<String> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(String::from_utf8_lossy(&words).replace('\0', " ")).filter(|words| !words.is_empty())
}

/// A port at which nobody listens, below those that the kernel gives to whoever does not ask for one: no other test's
/// socket gets it meanwhile.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id() % 1000 * 10;
    for _ in 0..10_000 {
        let port = 10_000 + ((first + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000) as u16;
        if std::net::TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return port;
        }
    }
    panic!("no port between 10000 and 19999 is free");
}

/// Waits until there is an answer.
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < LIMIT, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
