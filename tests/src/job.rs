//! One job: started, bounded, read, and cleared away.

use crate::mpi::{Flavour, mpi};
use crate::places::Places;
use crate::processes::{MARK, Process, marked};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A job to be started.
pub struct Job {
    command: Command,
    limit: Duration,
    /// Ranks and threads that want a core; `None`: by the arguments.
    weight: Option<usize>,
    mark: String,
    folder: TempDir,
}

/// A job that has been started. Dropping it kills whatever is left of it.
pub struct Running {
    child: Child,
    limit: Duration,
    mark: String,
    folder: TempDir,
    shown: String,
    /// Given back when its processes are gone.
    _places: Places,
}

/// A job that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit status of the launcher, or 128 + signal.
    pub status: i32,
    pub out: String,
    pub err: String,
    /// The command that was run, for messages.
    pub shown: String,
}

impl Job {
    /// `mpirun -n RANKS` of the MPI under test; options and the program follow with [`Job::arg`].
    pub fn new(ranks: usize) -> Job {
        Job::of(mpi().launcher(ranks))
    }

    /// Any command, with the same care.
    pub fn of(mut command: Command) -> Job {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // A process that a shell starts in its background ignores ^C, one that nohup starts the terminal's end, and so would mpirun.
        for signal in [libc::SIGINT, libc::SIGHUP] {
            // SAFETY: the default is valid for every signal, and this program handles none.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let target = crate::root().join("target");
        fs::create_dir_all(&target).expect("target can be written");
        let folder = TempDir::new_in(target).expect("target can be written");
        let scratch = folder.path().join("tmp");
        fs::create_dir(&scratch).expect("a fresh folder can be written");
        // Temporary files of the job are all seen there.
        command.env(MARK, &mark).env("TMPDIR", scratch).stdin(Stdio::null());
        // A developer's own settings are not under test.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OXMPI_MCA_")
                || name.to_string_lossy().starts_with("OMPI_MCA_")
            {
                command.env_remove(name);
            }
        }
        Job { command, limit: Duration::from_secs(300), weight: None, mark, folder }
    }

    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Job {
        self.command.arg(argument);
        self
    }

    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Job {
        self.command.args(arguments);
        self
    }

    /// A test program of `tests/programs`, compiled now if it has not been.
    pub fn program(self, name: &str) -> Job {
        let path = mpi().program(name);
        self.arg(path)
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Job {
        self.command.env(name, value);
        self
    }

    /// How many of the machine's places the job takes, 0 for one that only builds; otherwise one for each rank.
    pub fn weighs(mut self, places: usize) -> Job {
        self.weight = Some(places);
        self
    }

    /// Generous: the machine may be busy. It counts from the job's start, not while the job waits for a place. The default is five minutes.
    pub fn limit(mut self, seconds: u64) -> Job {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// A folder of the job's own, gone with it.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Waits for the job's places and starts it.
    pub fn start(mut self) -> Running {
        let places = self.weight.map_or_else(|| Places::for_launcher(&self.command), Places::take);
        // Files rather than pipes: nobody has to read while the job runs, and a process that
        // outlives its launcher does not keep us waiting for the end of a pipe.
        let file =
            |name: &str| File::create(self.folder.path().join(name)).expect("a fresh folder can be written");
        let (out, err) = (file("out"), file("err"));
        let shown = format!("{:?}", self.command);
        let child = self.command.stdout(out).stderr(err).spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {shown}: {error}"));
        Running { child, limit: self.limit, mark: self.mark, folder: self.folder, shown, _places: places }
    }

    /// Starts it and waits for its end.
    pub fn run(self) -> Ended {
        self.start().wait()
    }
}

impl Running {
    /// The launcher's process.
    pub fn launcher(&self) -> Process {
        Process { pid: self.child.id().cast_signed(), name: "launcher".into(), state: '?' }
    }

    /// Every process of the job.
    pub fn processes(&self) -> Vec<Process> {
        marked(&self.mark)
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Waits until so many ranks of the program `hang` have written their files into the job's folder.
    pub fn until_up(&mut self, ranks: usize) {
        let folder = self.folder();
        self.until("all ranks are up", || (0..ranks).all(|rank| folder.join(format!("rank{rank}")).exists()));
    }

    /// A rank's process, by the file that `hang` has written.
    pub fn rank(&self, rank: usize) -> Process {
        let text = fs::read_to_string(self.folder().join(format!("rank{rank}"))).expect("it is up");
        Process { pid: text.trim().parse().expect("a number"), name: format!("rank {rank}"), state: '?' }
    }

    /// Waits until `what` is so, or panics at the limit with what the job said so far.
    pub fn until(&mut self, what: &str, mut so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !so() {
            if let Ok(Some(status)) = self.child.try_wait() {
                // All that it does it has done by now.
                if so() {
                    return;
                }
                panic!("{} ended ({status}) before {what}\n{}", self.shown, self.said());
            }
            assert!(began.elapsed() < self.limit, "{}: waited for {what}\n{}", self.shown, self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A file of the job's folder; empty: it is not there.
    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.path().join(name)).unwrap_or_default()).into_owned()
    }

    fn said(&self) -> String {
        format!("--- stdout\n{}--- stderr\n{}", self.read("out"), self.read("err"))
    }

    /// Waits for the launcher's end; panics at the limit.
    pub fn wait(self) -> Ended {
        self.wait_keeping().0
    }

    /// The same, with a look at the job's folder before it is gone.
    pub fn wait_with(self, look: impl FnOnce()) -> Ended {
        let (ended, _running) = self.wait_keeping();
        look();
        ended
    }

    /// The same, with the job's folder kept.
    fn wait_keeping(mut self) -> (Ended, Running) {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if began.elapsed() < self.limit => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) => panic!("{} was not done after {:?}\n{}", self.shown, self.limit, self.said()),
                Err(error) => panic!("{}: {error}", self.shown),
            }
        };
        let text = |name| {
            let bytes = fs::read(self.folder.path().join(name)).expect("the file was made at the start");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let ended =
            Ended { status: code(status), out: text("out"), err: text("err"), shown: self.shown.clone() };
        (ended, self)
    }

    /// Waits for the launcher's end, then until nothing of the job lives any more and asserts that
    /// it kept no file. The ends of many processes take a moment, and longer where they get little of the machine.
    pub fn wait_and_leave_nothing(self) -> Ended {
        let mark = self.mark.clone();
        let scratch = self.folder.path().join("tmp");
        // Keeps the folder until it has been looked at: `wait` would drop it.
        let (mut ended, running) = self.wait_keeping();
        let began = Instant::now();
        loop {
            let left = marked(&mark);
            if left.is_empty() {
                break;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{}: left behind {left:?}\n{}",
                ended.shown,
                ended.err
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let kept: Vec<_> =
            fs::read_dir(&scratch).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default();
        assert!(kept.is_empty(), "{}: left files {kept:?}", ended.shown);
        // Those that outlived the launcher may have said something since.
        (ended.out, ended.err) = (running.read("out"), running.read("err"));
        ended
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(-1)
}

impl Drop for Running {
    fn drop(&mut self) {
        // Killed twice, because a process may be starting another while we look.
        for _ in 0..2 {
            for process in marked(&self.mark) {
                process.signal(Signal::KILL);
            }
        }
        // Reaps the launcher; it has been killed or has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Ended with 0, and no rank complained.
    #[track_caller]
    pub fn passed(self) -> Ended {
        assert_eq!(self.status, 0, "{}\n--- stdout\n{}--- stderr\n{}", self.shown, self.out, self.err);
        self
    }

    /// Ended with this status.
    #[track_caller]
    pub fn ended_with(self, status: i32) -> Ended {
        assert_eq!(self.status, status, "{}\n--- stdout\n{}--- stderr\n{}", self.shown, self.out, self.err);
        self
    }

    /// Ended by the death of a rank, by SIGKILL, with one report, which is of that.
    #[track_caller]
    pub fn is_one_report(self, rank: usize, node: &str) {
        let ended = self.ended_with(137);
        let reports = ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2;
        assert_eq!(reports, 1, "{}", ended.err);
        assert!(ended.err.contains(&format!("Rank {rank} on node {node}")), "{}", ended.err);
    }

    /// Ended, and not well.
    #[track_caller]
    pub fn failed(self) -> Ended {
        assert_ne!(self.status, 0, "{}\n--- stdout\n{}--- stderr\n{}", self.shown, self.out, self.err);
        self
    }

    /// The program's last word was this many ranks saying "ok".
    #[track_caller]
    pub fn all_ok(self, ranks: usize) -> Ended {
        let ended = self.passed();
        // Our launcher forwards whole lines; others may put two ranks' words into one.
        let ok = match mpi().flavour {
            Flavour::Ours => ended.out.lines().filter(|line| *line == "ok").count(),
            _ => ended.out.matches("ok").count(),
        };
        assert_eq!(ok, ranks, "{}: ranks that said ok\n--- stdout\n{}", ended.shown, ended.out);
        ended
    }
}
