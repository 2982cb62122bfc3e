//! The end of everything below the daemon, in phases.
//!
//! *Running* → *Asked* (SIGTERM sent, the grace runs) → *Forced* (SIGKILL, again for whatever was
//! started meanwhile) → *Over*. *Over* means that the kernel says: this process has no child.
//! Nothing is missed by that, since everything the ranks started is below this process, and a
//! process that ends hands its children up to it.
//!
//! SIGKILL is sent to what was found in one look at /proc; a process that was being forked just
//! then is not among them. So the look is repeated whenever a child ends, and once in a while
//! besides, until there is none left. A process that even SIGKILL does not end (it hangs in the
//! kernel, on a dead file server mostly) is named and given up.

use crate::descendants;
use rustix::process::{Pid, Signal};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL, where mpirun does not say.
pub const GRACE: Duration = Duration::from_secs(1);
/// Between two looks for what is left.
const AGAIN: Duration = Duration::from_millis(100);
/// After which what does not end is given up.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Running,
    /// To be asked, with so much grace.
    Asking(Duration),
    Asked {
        force_at: Instant,
    },
    /// To be forced now.
    Forcing {
        since: Option<Instant>,
    },
    Forced {
        since: Instant,
        again_at: Instant,
    },
    /// No child is left.
    Over,
    /// No child is left and mpirun has been told.
    Said,
}

impl Phase {
    /// Ends everything politely; with no grace, by force. A shorter grace than before counts.
    pub fn ask(&mut self, grace: Duration) {
        match *self {
            _ if grace.is_zero() => self.force(),
            Phase::Running => *self = Phase::Asking(grace),
            Phase::Asked { force_at } => {
                *self = Phase::Asked { force_at: force_at.min(Instant::now() + grace) };
            }
            _ => {}
        }
    }

    pub fn force(&mut self) {
        if matches!(self, Phase::Running | Phase::Asking(_) | Phase::Asked { .. }) {
            *self = Phase::Forcing { since: None };
        }
    }

    /// A child has ended; others may have been handed to us.
    pub fn note_progress(&mut self) {
        if let Phase::Forced { since, .. } = *self {
            *self = Phase::Forcing { since: Some(since) };
        }
    }

    /// The kernel says that no child is left.
    pub fn childless(&mut self) {
        if !matches!(self, Phase::Running | Phase::Said) {
            *self = Phase::Over;
        }
    }

    /// True the first time it is asked at the end.
    pub fn say_done(&mut self) -> bool {
        let first = *self == Phase::Over;
        *self = Phase::Said;
        first
    }

    /// Does what is due. Some: what does not end even so.
    /// `kept`: children that are not the job's.
    pub fn advance(&mut self, now: Instant, kept: &[Pid]) -> Option<String> {
        match *self {
            Phase::Asking(grace) => {
                descendants::signal(Signal::TERM, kept);
                *self = Phase::Asked { force_at: now + grace };
            }
            Phase::Asked { force_at } if force_at <= now => *self = Phase::Forcing { since: None },
            Phase::Forced { since, again_at } if again_at <= now => {
                *self = Phase::Forcing { since: Some(since) };
            }
            _ => {}
        }
        let Phase::Forcing { since } = *self else { return None };
        let since = since.unwrap_or(now);
        let left = descendants::all_but(kept);
        if left.is_empty() {
            *self = Phase::Over;
            return None;
        }
        if now.saturating_duration_since(since) > PATIENCE {
            *self = Phase::Over;
            let pids: Vec<String> = left.iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
            return Some(format!("processes {} do not end even by SIGKILL", pids.join(", ")));
        }
        for pid in left {
            // Gone by now, or another user's.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        *self = Phase::Forced { since, again_at: now + AGAIN };
        None
    }

    pub fn deadline(&self) -> Option<Instant> {
        match *self {
            Phase::Asked { force_at } => Some(force_at),
            Phase::Forced { again_at, .. } => Some(again_at),
            _ => None,
        }
    }
}

/// Kills what can be found now, without waiting.
pub fn kill_all(kept: &[Pid]) {
    descendants::signal(Signal::KILL, kept);
}
