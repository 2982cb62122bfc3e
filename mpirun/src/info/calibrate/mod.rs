//! `--calibrate FILE`: measures this machine and writes a tune file with what suits it.
//!
//! Every figure is that of a job of two processes which this program starts through `mpirun` beside it: they
//! are this program again (`rank.rs`), so nothing else is needed, and the parameters on trial are given
//! as they would be by a user. A question is one parameter and two ways of doing a thing; it is asked at sizes
//! that double, in turns (one way, the other, again), and the least of each counts, because what disturbs a
//! measurement makes it longer. Where it matters in whose cache a message lies, a message that nobody touches and one that
//! was just written are both measured, and the geometric mean of their times counts. The answer is the size from which on the second way is better at all sizes
//! asked ([`bench::from_which_on`]).
//!
//! Map: `rank` (what the two processes do) · `bench` (figures, by jobs) · `questions` (what is asked, and how) · `page` (the file).

mod bench;
mod page;
mod questions;
pub mod rank;

use super::answers::{Answer, AnswerSources};
use bench::Bench;
pub use bench::Effort;
use std::path::Path;
use std::time::{Duration, Instant};

/// More of the processors' time than this spent on others, and figures mean nothing.
const BUSY: f64 = 0.15;

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
pub fn answer(
    known: &AnswerSources,
    file: &Path,
    effort: Effort,
    even_if_busy: bool,
) -> Result<Answer, String> {
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
    let conditions = page::MeasuringConditions { busy, seconds: begun.elapsed().as_secs_f64(), cores };
    std::fs::write(file, page::text(&conditions, &found)).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut text = page::summary(&found);
    text +=
        &format!("{}: written in {:.0} s; mpirun --tune {0} reads it\n", file.display(), conditions.seconds);
    if busy > BUSY {
        text += "The machine was busy: do not trust these values.\n";
    }
    Ok(Answer { text, good: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_share_is_a_share() {
        let share = others_share().expect("/proc/stat");
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
