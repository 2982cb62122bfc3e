//! The output of a step's command, led through a pipe to ours: the lines about failures are kept for the summary, since
//! a reader of a long log often sees its end alone.

use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Words of a line that tells of a failure: of the test harness, of a panic, of cargo and of the compiler.
const WORDS: [&str; 6] = ["panicked at", "... FAILED", "a rank panicked", "signal:", "error:", "error["];
/// How many lines after such a one belong to it.
const AFTER: usize = 12;
/// The most lines kept, and of each line the most characters.
const MOST_LINES: usize = 150;
const MOST_CHARACTERS: usize = 300;
/// How long the end of the output may take once the command has ended: what it left behind may hold the pipe.
const PATIENCE: Duration = Duration::from_secs(2);

/// The lines kept so far, and how many of the next lines belong to them.
#[derive(Debug, Default)]
struct Kept {
    lines: Vec<String>,
    follow: usize,
}

impl Kept {
    fn take(&mut self, line: &str) {
        if WORDS.iter().any(|word| line.contains(word)) {
            self.follow = AFTER + 1;
        }
        if self.follow > 0 && self.lines.len() < MOST_LINES {
            self.follow -= 1;
            self.lines.push(line.chars().take(MOST_CHARACTERS).collect());
        }
    }
}

/// Hears a command: see the file's head.
#[derive(Debug)]
pub struct Transcript {
    kept: Arc<Mutex<Kept>>,
    reader: JoinHandle<()>,
}

impl Transcript {
    /// Leads both outputs of `command` through a pipe. The command must be dropped before [`Transcript::lines`], since
    /// it holds the pipe open.
    pub fn of(command: &mut Command) -> std::io::Result<Transcript> {
        let (output, input) = std::io::pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        let kept = Arc::default();
        let reader = std::thread::spawn({
            let kept = Arc::clone(&kept);
            move || copy(output, &kept)
        });
        Ok(Transcript { kept, reader })
    }

    /// The lines about failures, once the command has ended.
    pub fn lines(self) -> Vec<String> {
        let end = Instant::now() + PATIENCE;
        while !self.reader.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).lines)
    }
}

/// Copies to our own output until the last writer is gone.
fn copy(output: PipeReader, kept: &Mutex<Kept>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        // A closed output of ours is no reason to stop the command.
        let _ = std::io::stdout().write_all(&line);
        let text = String::from_utf8_lossy(&line);
        kept.lock().unwrap_or_else(PoisonError::into_inner).take(text.trim_end());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_failures_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "seq 50; echo 'thread x panicked at y' >&2; echo left; seq 50"]);
        let transcript = Transcript::of(&mut command).expect("a pipe");
        assert!(command.status().expect("sh").success());
        drop(command);
        let lines = transcript.lines();
        assert_eq!(lines.len(), AFTER + 1);
        assert_eq!(lines[..3], ["thread x panicked at y", "left", "1"]);
    }

    #[test]
    fn a_pipe_held_by_others_is_not_waited_for() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 30 & echo 'error: the end'"]);
        let transcript = Transcript::of(&mut command).expect("a pipe");
        command.status().expect("sh");
        drop(command);
        assert_eq!(transcript.lines(), ["error: the end"]);
    }
}
