//! mpirun's way to a server of names: by what `--ompi-server` says, and a call there before anything is started.

use super::register;
use crate::help::paragraph;
use oxmpi_wireup::Secret;
use oxmpi_wireup::services::{Question, Reply, Request, ServerUri};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a server may take to answer, where nobody says how long to wait for one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks for a server that is waited for, in nanoseconds.
const AGAIN: i64 = 50_000_000;
/// Longest file that is read for a URI.
const LONGEST: u64 = 4096;

/// The server that the user means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The value of `--ompi-server`: a URI, `file:FILE`, `pid:PID`.
    pub text: String,
    /// It may come later, within this time.
    pub wait: Option<Duration>,
}

/// The URI of the server, which has answered. An error is a paragraph for the user.
pub fn find(wanted: &Wanted) -> Result<String, String> {
    let until = Instant::now() + wanted.wait.unwrap_or(PATIENCE);
    loop {
        match read(&wanted.text).and_then(|uri| call(&uri, until).map(|()| uri.to_string())) {
            Ok(uri) => return Ok(uri),
            Err(why) if wanted.wait.is_none() || Instant::now() >= until => {
                return Err(paragraph("ompi-server", &[&wanted.text, &why]));
            }
            Err(_) => std::thread::sleep(Duration::from_nanos(AGAIN.unsigned_abs())),
        }
    }
}

/// The URI that is meant; an error says why there is none.
fn read(text: &str) -> Result<ServerUri, String> {
    let strip = |key: &str| {
        let head = text.get(..key.len()).filter(|head| head.eq_ignore_ascii_case(key))?;
        text.get(head.len()..)
    };
    if let Some(path) = strip("file:") {
        return of_file(Path::new(path));
    }
    if let Some(number) = strip("pid:") {
        let pid = number.parse::<u32>().map_err(|_| format!("{number:?} is no process number"))?;
        let path: PathBuf =
            register::file_of(pid).ok_or("HOME is not set, so there are no files of servers")?;
        return of_file(&path)
            .map_err(|why| format!("process {pid} is no server of this user's on this machine: {why}"));
    }
    ServerUri::parse(text)
        .ok_or_else(|| "that is no URI of ompi-server's, and no file:FILE or pid:PID".to_owned())
}

fn of_file(path: &Path) -> Result<ServerUri, String> {
    let cannot = |why: std::io::Error| format!("{} cannot be read: {why}", path.display());
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    std::io::Read::read_to_string(&mut std::io::Read::take(file, LONGEST), &mut text).map_err(cannot)?;
    let line = text.lines().next().unwrap_or_default();
    ServerUri::parse(line).ok_or_else(|| format!("{} has no URI of ompi-server's in it", path.display()))
}

/// Asks the server for a name that nobody has, so that it is known to answer.
fn call(uri: &ServerUri, until: Instant) -> Result<(), String> {
    // The user's key proves who this is; there is no tree that the server could belong to.
    let none = Secret::from_bytes([0; Secret::BYTES]);
    let request = Request::Lookup { service: String::new() };
    let mut question = Question::new(uri, &none, None, &request).map_err(|why| why.message)?;
    loop {
        match question.turn().map_err(|why| why.message)? {
            Some(Reply::Absent | Reply::Port(_)) => return Ok(()),
            Some(other) => return Err(format!("it answers {other:?} to a question")),
            None if Instant::now() >= until => return Err("it does not answer".into()),
            None => {
                let fds = question.fds();
                let mut fds: Vec<PollFd<'_>> =
                    fds.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
                // The next look follows in any case.
                let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: AGAIN }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_server_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("uri");
        let missing = find(&Wanted { text: format!("file:{}", file.display()), wait: None });
        assert!(missing.expect_err("there is none").contains("cannot be read"));
        std::fs::write(&file, "no uri\n").expect("writable");
        let wrong = find(&Wanted { text: format!("FILE:{}", file.display()), wait: None });
        assert!(wrong.expect_err("no uri").contains("no URI"));
        for (text, why) in
            [("pid:x", "process number"), ("here", "no URI"), ("oxmpi1:x", "no URI"), ("", "no URI")]
        {
            let wanted = Wanted { text: text.into(), wait: Some(Duration::from_millis(60)) };
            let said = find(&wanted).expect_err("no server");
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
