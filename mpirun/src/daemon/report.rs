//! The report of a rank that has ended badly: where it was, with its stack.

use super::state::Daemon;
use crate::link::FromNode;
use crate::signals;
use crate::stacks::{self, Frames, Reader};
use oxmpi_wireup::server::Crash;
use std::time::Duration;

/// Longest report.
const LIMIT: usize = 256 << 10;

/// How long reading a stack may take.
const PATIENCE: Duration = Duration::from_secs(5);

impl Daemon {
    /// A rank has ended badly: says where it was, if it said so and nobody did before.
    pub(super) fn report_crash(&mut self, rank: u32) {
        let Some(crash) = self.crashes.by_rank.remove(&rank).filter(|_| !self.crashes.shown) else { return };
        self.crashes.shown = true;
        self.crashes.by_rank.clear();
        let report = describe(crash.clone());
        let report = match crash.to.split_once(':').unwrap_or((&crash.to, "")) {
            ("file", name) => write_file(if name.is_empty() { "stacktrace" } else { name }, &crash, &report),
            ("stdout", _) => {
                let text = format!("{report}\n").into_bytes();
                self.say(&FromNode::Output {
                    stream: crate::link::Stream::Out,
                    rank,
                    more: false,
                    bytes: text,
                });
                return;
            }
            _ => report,
        };
        self.say(&FromNode::Crashed { rank, report });
    }
}

fn describe(crash: Crash) -> String {
    let moment = crash.moment;
    let mut text = String::new();
    if moment.signal != 0 {
        text += &format!("{}: {}", signals::name(moment.signal), stacks::cause(&moment));
    }
    if moment.code > 0 && moment.signal != libc::SIGABRT {
        text += &format!("; fault address {:#x}", moment.address);
    }
    text += if text.is_empty() { "" } else { ". " };
    text += &format!("Thread {} of process {} was here:\n", moment.thread, crash.pid);
    text += &within(PATIENCE, move || {
        Reader::default().describe(&moment, &crash.stack, &crash.maps, Frames::All)
    })
    .unwrap_or_else(|| {
        format!("  #0  {:#018x}  (reading the files for its stack takes too long)\n", moment.ip)
    });
    text.truncate(text.floor_char_boundary(LIMIT));
    text
}

/// Does it on the side: what takes longer is left to itself. The job's output stands still meanwhile,
/// in pipes that lose nothing, and must not do so for as long as a slow file system likes.
fn within(patience: Duration, work: impl FnOnce() -> String + Send + 'static) -> Option<String> {
    let (here, there) = std::sync::mpsc::sync_channel(1);
    let worker = std::thread::Builder::new().name("stack".into());
    // Signals belong to the loop, whose mask threads inherit.
    worker.spawn(move || here.send(work())).ok()?;
    there.recv_timeout(patience).ok()
}

/// The report in a file of its own; what to say instead.
fn write_file(name: &str, crash: &Crash, report: &str) -> String {
    let name = format!("{name}.{}.{}", crash.rank, crash.pid);
    match std::fs::write(&name, report) {
        Ok(()) => format!("Where it was stands in {name}."),
        Err(why) => format!("{report}\n({name} cannot be written: {why})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_stack_has_a_limit() {
        assert_eq!(within(Duration::from_secs(60), || "found".into()).as_deref(), Some("found"));
        let (_wait, forever) = std::sync::mpsc::channel::<()>();
        let late = move || {
            let _ = forever.recv();
            String::new()
        };
        assert_eq!(within(Duration::from_millis(1), late), None);
    }
}
