//! A line on the terminal that says which case runs, how far it is, and how long the rest may take, from the mean time of a job so far.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The state of a study.
#[derive(Debug)]
pub struct Progress {
    began: Instant,
    cases: usize,
    case: usize,
    name: String,
    /// Of the case.
    jobs: usize,
    ended: usize,
    /// Of cases that have not begun.
    left: usize,
    /// Jobs that ran, of all cases.
    ran: usize,
    /// The most that a case takes.
    share: Option<Duration>,
    terminal: bool,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            began: Instant::now(),
            cases: 0,
            case: 0,
            name: String::new(),
            jobs: 0,
            ended: 0,
            left: 0,
            ran: 0,
            share: None,
            terminal: std::io::stderr().is_terminal(),
        }
    }
}

impl Progress {
    pub fn begin(&mut self, cases: usize, jobs: usize, share: Option<Duration>) {
        *self = Progress { cases, left: jobs, share, terminal: self.terminal, ..Progress::default() };
    }

    /// The next case begins.
    pub fn case(&mut self, name: &str, jobs: usize) {
        self.case += 1;
        self.left = self.left.saturating_sub(jobs);
        (self.jobs, self.ended) = (jobs, 0);
        name.clone_into(&mut self.name);
        self.show(!self.terminal);
    }

    /// A job has ended.
    pub fn job(&mut self) {
        self.ended += 1;
        self.ran += 1;
        self.show(false);
    }

    pub fn end(&mut self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
        }
    }

    /// The rest, by the mean of the jobs that ran; none before the first.
    fn estimate(&self, gone: Duration) -> Option<Duration> {
        if self.ran == 0 {
            return None;
        }
        let jobs = self.jobs.saturating_sub(self.ended) + self.left;
        let by_jobs = gone.mul_f64(jobs as f64 / self.ran as f64);
        let cases = (self.cases + 1).saturating_sub(self.case) as u32;
        Some(self.share.map_or(by_jobs, |share| by_jobs.min(share * cases)))
    }

    fn line(&self, gone: Duration) -> String {
        let left = match self.estimate(gone) {
            Some(left) => format!("about {} left", time(left)),
            None => "no estimate yet".to_owned(),
        };
        format!(
            "[{}/{}] {}: {} of {} jobs, {} gone, {left}",
            self.case,
            self.cases,
            self.name,
            self.ended.min(self.jobs),
            self.jobs,
            time(gone)
        )
    }

    fn show(&self, whole: bool) {
        let line = self.line(self.began.elapsed());
        match (self.terminal, whole) {
            (true, _) => {
                eprint!("\r\x1b[2K{line}");
                // A line that cannot be shown is no reason to stop.
                let _ = std::io::stderr().flush();
            }
            (false, true) => eprintln!("{line}"),
            (false, false) => {}
        }
    }
}

/// Minutes and seconds.
fn time(of: Duration) -> String {
    let seconds = of.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_by_the_mean() {
        let mut progress = Progress { terminal: false, ..Progress::default() };
        progress.begin(2, 30, None);
        progress.case("fig3.5", 10);
        assert!(progress.line(Duration::ZERO).ends_with("no estimate yet"));
        for _ in 0..5 {
            progress.job();
        }
        let line = progress.line(Duration::from_secs(50));
        assert_eq!(line, "[1/2] fig3.5: 5 of 10 jobs, 0:50 gone, about 4:10 left");
        progress.share = Some(Duration::from_secs(8));
        assert!(progress.line(Duration::from_secs(50)).ends_with("about 0:16 left"));
    }
}
