//! `--calibrate FILE`: measures this machine and writes a tune file with what suits it.
//!
//! Every figure is that of a job of two processes which this program starts through `mpirun` beside it: they
//! are this program again (`rank.rs`), so nothing else is needed, and the parameters on trial are given
//! as they would be by a user. A question is one parameter and two ways of doing a thing; it is asked at sizes
//! that double, in turns (one way, the other, again), and the least of each counts, because what disturbs a
//! measurement makes it longer. Where it matters in whose cache a message lies, a message that nobody touches and one that
//! was just written are both measured, and the geometric mean of their times counts. The answer is the size from which on the second way is better at all sizes
//! asked ([`from_which_on`]).
//!
//! Map: `rank` (what the two processes do) · `questions` (what is asked, and how) · `page` (the file).

mod page;
mod questions;
pub mod rank;

use super::known::{Answer, Known};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long one measurement takes, and how often it is made.
#[derive(Clone, Copy)]
pub struct Effort {
    milliseconds: u32,
    rounds: u32,
}

impl Effort {
    pub fn of(quick: bool) -> Effort {
        if quick { Effort { milliseconds: 4, rounds: 1 } } else { Effort { milliseconds: 60, rounds: 3 } }
    }
}

/// More of the processors' time than this spent on others, and figures mean nothing.
const BUSY: f64 = 0.15;
/// One way must be better by this much to be chosen.
const CLEARLY: f64 = 0.97;
/// A job of two processes that measures for a blink.
const LIMIT: Duration = Duration::from_secs(60);

/// Subject of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Half a round trip of `bytes`.
    RoundTrip,
    /// The same and what programs do besides: each side writes what it sends before and reads what came.
    Used,
    /// The same for `bytes` in pieces of that many, at both ends.
    Pieces(u64),
}

/// One pair of figures: microseconds at a size, each way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub size: u64,
    pub one: f64,
    pub other: f64,
}

/// The least size from which on the other way is clearly better, wherever it was asked.
pub fn from_which_on(points: &[Point]) -> Option<u64> {
    let better = points.iter().rev().take_while(|p| p.other < p.one * CLEARLY).last();
    better.map(|p| p.size)
}

/// Where figures come from.
pub struct Bench {
    mpirun: std::path::PathBuf,
    own: std::path::PathBuf,
    effort: Effort,
}

impl Bench {
    /// One figure, in microseconds.
    fn measure(&self, kind: Kind, size: u64, parameters: &[(&str, String)]) -> Result<f64, String> {
        let (what, piece) = match kind {
            Kind::RoundTrip => ("round-trip", 0),
            Kind::Used => ("used", 0),
            Kind::Pieces(piece) => ("pieces", piece),
        };
        let mut command = Command::new(&self.mpirun);
        command.args(["-n", "2", "--bind-to", "core"]);
        for (name, value) in parameters {
            command.args(["--mca", name, value]);
        }
        command.arg(&self.own).args(["--calibrate-rank", what]);
        command.args([size, piece, u64::from(self.effort.milliseconds)].map(|n| n.to_string()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|e| format!("{}: {e}", self.mpirun.display()))?;
        let ended = wait(child)?;
        let said = String::from_utf8_lossy(&ended.stdout);
        let figure = said.lines().last().and_then(|line| line.trim().parse::<f64>().ok());
        match figure.filter(|f| ended.status.success() && *f > 0.0) {
            Some(figure) => Ok(figure),
            None => {
                let why = String::from_utf8_lossy(&ended.stderr);
                Err(format!("a measurement failed ({}): {}", ended.status, why.trim()))
            }
        }
    }

    /// Both ways at every size, in turns.
    fn compare(
        &self,
        sizes: &[u64],
        kind: impl Fn(u64) -> (Kind, u64),
        one: impl Fn(u64) -> Vec<(&'static str, String)>,
        other: impl Fn(u64) -> Vec<(&'static str, String)>,
    ) -> Result<Vec<Point>, String> {
        let mut points = Vec::new();
        for &size in sizes {
            let mut point = Point { size, one: f64::MAX, other: f64::MAX };
            let (kind, bytes) = kind(size);
            for _ in 0..self.effort.rounds {
                point.one = point.one.min(self.measure(kind, bytes, &one(size))?);
                point.other = point.other.min(self.measure(kind, bytes, &other(size))?);
            }
            points.push(point);
        }
        Ok(points)
    }
}

/// Waits for a job, but not for ever.
fn wait(mut child: std::process::Child) -> Result<std::process::Output, String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return child.wait_with_output().map_err(|e| e.to_string()),
            Ok(None) if begun.elapsed() > LIMIT => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("a measurement did not end within {} s", LIMIT.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(why) => return Err(why.to_string()),
        }
    }
}

/// Which part of the processors' time others use.
fn others_share() -> Option<f64> {
    let read = || {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let all: Vec<u64> =
            text.lines().next()?.split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
        // user nice system idle iowait …
        Some((all.iter().take(8).sum::<u64>(), all.get(3)? + all.get(4)?))
    };
    let before = read()?;
    std::thread::sleep(Duration::from_millis(500));
    let after = read()?;
    let total = after.0.checked_sub(before.0).filter(|&t| t > 0)?;
    Some(1.0 - after.1.saturating_sub(before.1) as f64 / total as f64)
}

/// The whole of it.
pub fn answer(known: &Known, file: &Path, effort: Effort, even_if_busy: bool) -> Result<Answer, String> {
    let prefix = known.places.prefix.as_deref().ok_or("this program does not know its installation")?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    if cores < 2 {
        return Err("two processes with a core each are measured, and this process may use one core".into());
    }
    let busy = others_share().unwrap_or(0.0);
    if busy > BUSY && !even_if_busy {
        return Err(format!(
            "this machine is busy ({:.0} % of its processors' time is others'), and what would be measured \
             means nothing; wait, or add --even-if-busy",
            busy * 100.0
        ));
    }
    let own = std::env::current_exe().map_err(|e| format!("cannot find my own file: {e}"))?;
    let bench = Bench { mpirun: prefix.join("bin/mpirun"), own, effort };
    let begun = Instant::now();
    let found = questions::ask(&bench)?;
    let about = page::About { busy, seconds: begun.elapsed().as_secs_f64(), cores };
    std::fs::write(file, page::text(&about, &found)).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut text = page::summary(&found);
    text += &format!("{}: written in {:.0} s; mpirun --tune {0} reads it\n", file.display(), about.seconds);
    if busy > BUSY {
        text += "The machine was busy: do not trust these values.\n";
    }
    Ok(Answer { text, good: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_way_must_be_better_from_there_on() {
        let points = |figures: &[(u64, f64, f64)]| -> Vec<Point> {
            figures.iter().map(|&(size, one, other)| Point { size, one, other }).collect()
        };
        assert_eq!(
            from_which_on(&points(&[(1, 1.0, 2.0), (2, 2.0, 2.5), (4, 4.0, 3.0), (8, 8.0, 4.0)])),
            Some(4)
        );
        assert_eq!(from_which_on(&points(&[(1, 1.0, 0.5), (2, 2.0, 1.0)])), Some(1));
        assert_eq!(from_which_on(&points(&[(1, 1.0, 0.5), (2, 2.0, 2.0)])), None, "not at the largest");
        assert_eq!(from_which_on(&points(&[(1, 1.0, 0.5), (2, 1.0, 2.0), (4, 4.0, 3.0)])), Some(4));
        assert_eq!(from_which_on(&points(&[(1, 1.0, 0.99)])), None, "not clearly");
        assert_eq!(from_which_on(&[]), None);
    }

    #[test]
    fn others_share_is_a_share() {
        let share = others_share().expect("/proc/stat");
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
