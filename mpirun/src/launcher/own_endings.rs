//! The time between a rank's bad end and SIGTERM for the others, in which those that are ending by the same mistake finish
//! their reports (AddressSanitizer's take a while).
//!
//! It is over when no rank has written to standard error for [`SILENCE`]; one that always writes there gets [`MOST`].

use crate::link::Stream;
use std::time::{Duration, Instant};

/// Without a word on standard error a rank is not taken to be reporting.
const SILENCE: Duration = Duration::from_secs(1);
/// From the bad end on, at most.
const MOST: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct OwnEndings {
    /// When it is over if nothing more is written, and in any case.
    running: Option<(Instant, Instant)>,
}

impl OwnEndings {
    pub fn begin(&mut self, now: Instant) {
        self.running.get_or_insert((now + SILENCE, now + MOST));
    }

    /// A rank has written something.
    pub fn note_output(&mut self, stream: Stream, now: Instant) {
        if let (Stream::Err, Some((over, latest))) = (stream, &mut self.running) {
            *over = (now + SILENCE).min(*latest);
        }
    }

    pub fn end(&mut self) {
        self.running = None;
    }

    /// When the others are to be ended.
    pub fn deadline(&self) -> Option<Instant> {
        self.running.map(|(over, _)| over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reports_has_more_time_but_not_for_ever() {
        let mut time = OwnEndings::default();
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        time.note_output(Stream::Err, start);
        assert_eq!(time.deadline(), None, "nobody has failed");
        time.begin(start);
        assert_eq!(time.deadline(), Some(after(1000)));
        time.begin(after(500));
        assert_eq!(time.deadline(), Some(after(1000)), "a second bad end gives no more");
        time.note_output(Stream::Err, after(900));
        assert_eq!(time.deadline(), Some(after(1900)));
        time.note_output(Stream::Out, after(1500));
        assert_eq!(time.deadline(), Some(after(1900)));
        time.note_output(Stream::Err, after(4800));
        assert_eq!(time.deadline(), Some(after(5000)));
        time.end();
        assert_eq!(time.deadline(), None);
    }
}
