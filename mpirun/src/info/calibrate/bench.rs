//! Figures: jobs of two processes that are started, measured, and compared both ways.

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

/// One way must be better by this much to be chosen.
pub const CLEARLY: f64 = 0.97;

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
    pub(super) mpirun: std::path::PathBuf,
    pub(super) own: std::path::PathBuf,
    pub(super) effort: Effort,
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
    pub fn compare(
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
}
