//! Names of services at `ompi-server`: between jobs, by each way to name it, and when it is not there or dies.

use oxmpi_tests::{Job, leave_out, mpi};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about this MPI's server of names");
    }
    mpi().is_ours()
}

/// A server in the foreground, which ends with this.
struct Server {
    home: TempDir,
    child: Child,
}

impl Server {
    fn start() -> Server {
        let home = tempfile::tempdir().expect("a folder");
        let child = program(home.path())
            .args(["--no-daemonize", "-r"])
            .arg(home.path().join("uri"))
            .spawn()
            .expect("it is installed");
        let server = Server { home, child };
        eventually("the server's URI", || server.file().exists());
        server
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("uri")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child of ours");
    }

    /// A job of this user's that is told of the server so.
    fn job_by(&self, by: &str, ranks: usize, name: &str, words: &[&str]) -> Job {
        job(self.home.path(), by, ranks, name, words)
    }

    fn job(&self, ranks: usize, name: &str, words: &[&str]) -> Job {
        self.job_by(&format!("file:{}", self.file().display()), ranks, name, words)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(home: &Path) -> Command {
    let mut command = Command::new(mpi().bin("ompi-server"));
    command.env("HOME", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn job(home: &Path, by: &str, ranks: usize, name: &str, words: &[&str]) -> Job {
    Job::new(ranks).args(["--ompi-server", by]).program(name).args(words).env("HOME", home).weighs(2)
}

fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn touch(folder: &Path, name: &str) {
    std::fs::write(folder.join(name), "").expect("our folder");
}

#[test]
fn two_jobs_meet_by_a_service_at_a_server() {
    if !ours("names at a server") {
        return;
    }
    let server = Server::start();
    let publishes = server.job(1, "ports", &["publish", "a service"]).start();
    let looks = server.job(2, "ports", &["lookup", "a service"]).start();
    looks.wait().all_ok(2);
    publishes.wait().all_ok(1);
    assert!(!server.home.path().join(".oxmpi/names").exists(), "no name goes into a file");
}

#[test]
fn scopes_are_kept_and_names_are_one_s_own() {
    if !ours("scopes of names") {
        return;
    }
    let server = Server::start();
    let folder = server.home.path().to_str().expect("text").to_owned();
    let mut first = server.job(2, "names", &["scopes", &folder]).start();
    first.until("the names are published", || server.home.path().join("published").exists());
    let uri = std::fs::read_to_string(server.file()).expect("it is there");
    for by in [
        format!("file:{}", server.file().display()),
        uri.trim().to_owned(),
        format!("pid:{}", server.child.id()),
    ] {
        server.job_by(&by, 1, "names", &["other"]).run().all_ok(1);
    }
    touch(server.home.path(), "go on");
    first.wait().all_ok(2);
}

#[test]
fn a_name_goes_with_its_process() {
    if !ours("names of processes that die") {
        return;
    }
    let server = Server::start();
    let folder = server.home.path().to_str().expect("text").to_owned();
    let mut dies = server.job(1, "names", &["dies", &folder]).start();
    dies.until("the name is published", || server.home.path().join("published").exists());
    dies.launcher().signal(Signal::TERM);
    dies.wait().ended_with(128 + 15);
    server.job(1, "names", &["again"]).run().all_ok(1);
}

/// Stopped first: the look-up is under way when the server is killed, or the server is gone before.
#[test]
fn a_server_that_is_killed_is_an_error_and_no_wait() {
    if !ours("a server that is killed") {
        return;
    }
    for (under_way, kept) in [(false, false), (true, false), (true, true)] {
        let mut server = Server::start();
        let folder = server.home.path().to_str().expect("text").to_owned();
        let mut words = vec!["killed", &folder];
        words.extend(kept.then_some("kept"));
        let mut job = server.job(1, "names", &words).start();
        job.until("the job is up", || Path::new(&folder).join("up").exists());
        match under_way {
            true => server.signal(Signal::STOP),
            false => server.kill(),
        }
        touch(Path::new(&folder), "go on");
        if under_way {
            // Some time for the question to come so far; it is no error if it has not.
            std::thread::sleep(Duration::from_millis(300));
            server.kill();
        }
        job.wait().all_ok(1);
    }
}

#[test]
fn a_server_that_is_not_there_is_told_before_anything_starts() {
    if !ours("a server that is not there") {
        return;
    }
    let mut server = Server::start();
    let home = server.home.path().to_owned();
    let uri = std::fs::read_to_string(server.file()).expect("it is there");
    let refused = |home: &Path, by: &str, part: &str| {
        let ended = job(home, by, 1, "names", &["other"]).run().ended_with(1);
        assert!(ended.err.contains("--ompi-server") && ended.err.contains(part), "{by}: {}", ended.err);
    };
    refused(&home, "file:/no/such/file", "cannot be read");
    refused(&home, "here", "no URI");
    refused(&home, "pid:1", "process 1 is no server");
    // Somebody else's: without the key, and with another one.
    let other = tempfile::tempdir().expect("a folder");
    refused(other.path(), uri.trim(), "no key");
    let mut theirs =
        program(other.path()).args(["--no-daemonize", "-r", "-"]).spawn().expect("it is installed");
    let mut line = String::new();
    BufReader::new(theirs.stdout.take().expect("piped")).read_line(&mut line).expect("it says its URI");
    refused(other.path(), uri.trim(), "another user's");
    theirs.kill().expect("it runs");
    theirs.wait().expect("a child of ours");
    refused(other.path(), line.trim(), "no process has this port open");
    // Stopped: it is there, and says nothing.
    server.signal(Signal::STOP);
    refused(&home, uri.trim(), "does not answer");
    server.kill();
    refused(&home, uri.trim(), "no process has this port open");
    // It comes later, and is waited for.
    let later = home.join("later");
    let by = format!("file:{}", later.display());
    let mut waits = Job::new(1).args(["--wait-for-server", "--server-wait-time", "60", "--ompi-server", &by]);
    waits = waits.program("names").args(["again"]).env("HOME", &home).weighs(2);
    let waits = waits.start();
    server.child =
        program(&home).args(["--no-daemonize", "--report-uri"]).arg(&later).spawn().expect("installed");
    waits.wait().all_ok(1);
}

#[test]
fn in_the_background_and_by_its_number() {
    if !ours("a server in the background") {
        return;
    }
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("uri");
    // It must not keep what it was given: a shell would wait for it.
    let mut begun =
        program(home.path()).arg("-r").arg(format!("file:{}", file.display())).spawn().expect("installed");
    let (mut out, mut err) = (String::new(), String::new());
    begun.stdout.take().expect("piped").read_to_string(&mut out).expect("it closes it");
    begun.stderr.take().expect("piped").read_to_string(&mut err).expect("it closes it");
    assert!(
        begun.wait().expect("a child of ours").success() && out.is_empty() && err.is_empty(),
        "{out}{err}"
    );
    let entries: Vec<_> = std::fs::read_dir(home.path().join(".oxmpi/servers"))
        .expect("it was made")
        .map(|entry| entry.expect("readable").path())
        .collect();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    let pid = entry.extension().and_then(|pid| pid.to_str()).expect("a number").to_owned();
    for path in [&file, entry] {
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path).expect("it is there"));
        assert_eq!(mode & 0o777, 0o600, "{path:?}");
    }
    let secret = std::fs::read_to_string(home.path().join(".oxmpi/port-key")).expect("it was made");
    assert!(!std::fs::read_to_string(&file).expect("readable").contains(secret.trim()), "the URI is no key");
    job(home.path(), &format!("pid:{pid}"), 1, "names", &["again"]).run().all_ok(1);
    let number = Pid::from_raw(pid.parse().expect("a number")).expect("above 0");
    kill_process(number, Signal::TERM).expect("it runs");
    eventually("the server's files are gone", || !file.exists() && !entry.exists());
    eventually("the server's end", || !Path::new(&format!("/proc/{pid}")).exists());
}
