//! Sources of modules, some of which are chosen by a program that the compiler builds and that is run.
//!
//! That a compiler accepts a source proves nothing about what its programs do, so a question to it is a program that prints `ok`. One that cannot be built, run or
//! ended in time has the answer no: the other source is right for every compiler. The answer is kept beside the modules, with its reason.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that leaves out the questions.
pub const DESCRIPTORS: &str = "OXMPI_FORTRAN_DESCRIPTORS";

/// A line of the list of sources: `NAME`, or `PROBE ? NAME : NAME`.
pub enum Source {
    Plain(PathBuf),
    Asked { probe: PathBuf, yes: PathBuf, no: PathBuf },
}

impl Source {
    /// Reads a line.
    pub fn of(folder: &Path, line: &str) -> Source {
        let path = |name: &str| folder.join(name.trim());
        let asked = line.split_once('?').and_then(|(probe, names)| Some((probe, names.split_once(':')?)));
        match asked {
            Some((probe, (yes, no))) => Source::Asked { probe: path(probe), yes: path(yes), no: path(no) },
            None => Source::Plain(path(line)),
        }
    }
}

/// Whether programs are asked at all: what the variable says.
///
/// # Errors
/// A sentence, where it says neither yes nor no.
pub fn are_asked(value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("" | "yes") => Ok(true),
        Some("no") => Ok(false),
        Some(other) => Err(format!("{DESCRIPTORS} is {other}, which is neither yes nor no")),
    }
}

/// A program that asks: the command that compiles it, up to the source, where it is built, and the folder of the libraries.
pub struct Probe<'a> {
    pub program: &'a Path,
    pub words: &'a [String],
    pub flags: &'a [OsString],
    pub folder: &'a Path,
    pub libraries: &'a Path,
}

/// The longest time that such a program may run; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

impl Probe<'_> {
    /// Builds and runs the program. `Err`: the reason why the answer is no.
    pub fn ask(&self, source: &Path) -> Result<(), String> {
        let built = self.folder.join("probe");
        let answer = self.build(source, &built).and_then(|()| run(&built));
        let _ = fs::remove_file(&built);
        answer
    }

    fn build(&self, source: &Path, built: &Path) -> Result<(), String> {
        let glued = |flag: &str| {
            let mut word = OsString::from(flag);
            word.push(self.libraries);
            word
        };
        let mut command = Command::new(self.program);
        command.args(self.words).args(self.flags).arg("-O2").arg(source).arg("-o").arg(built);
        command.args([glued("-L"), glued("-Wl,-rpath,")]).args(["-lmpifort_abi", "-lmpi_abi"]);
        let ended = command.current_dir(self.folder).stdin(Stdio::null()).output();
        let ended = ended.map_err(|e| format!("it cannot be built: {e}"))?;
        if ended.status.success() {
            return Ok(());
        }
        Err(format!(
            "it cannot be built: {}\n{}",
            ended.status,
            String::from_utf8_lossy(&ended.stderr).trim()
        ))
    }
}

fn run(built: &Path) -> Result<(), String> {
    let mut command = Command::new(built);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("it cannot be run: {e}"))?;
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {} seconds", PATIENCE.as_secs()));
            }
            Ok(Some(_)) => break,
            Err(e) => return Err(format!("it cannot be waited for: {e}")),
        }
    }
    // The program has ended, so all that it wrote is in the pipe.
    let ended = child.wait_with_output().map_err(|e| format!("it cannot be read: {e}"))?;
    let said = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    match ended.status.success() && said == "ok" {
        true => Ok(()),
        false => Err(format!("{}; it said: {said}", ended.status)),
    }
}
