//! What ranks said when a signal came, until it is known whether it ended them.

use super::Daemon;
use crate::link::FromNode;
use crate::signals;
use crate::stacks::{self, Reader};
use oxmpi_runtime::wireup::server::Crash;
use std::collections::HashMap;

/// Longest report.
const LIMIT: usize = 256 << 10;

#[derive(Debug, Default)]
pub struct Crashes {
    by_rank: HashMap<u32, Crash>,
    /// One stack per job is enough; others are mostly the same mistake.
    shown: bool,
}

impl Crashes {
    pub fn note(&mut self, crash: Crash) {
        if !self.shown {
            self.by_rank.insert(crash.rank, crash);
        }
    }
}

impl Daemon {
    /// A rank has ended badly: says where it was, if it said so and nobody did before.
    pub(super) fn report_crash(&mut self, local: usize) {
        let rank = self.launch.local_ranks[local];
        let Some(crash) = self.crashes.by_rank.remove(&rank).filter(|_| !self.crashes.shown) else { return };
        self.crashes.shown = true;
        self.crashes.by_rank.clear();
        let report = describe(&crash);
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

fn describe(crash: &Crash) -> String {
    let moment = &crash.moment;
    let name = signals::name(moment.signal);
    let mut text = format!("{name}: {}", stacks::cause(moment));
    if moment.code > 0 && moment.signal != libc::SIGABRT {
        text += &format!("; fault address {:#x}", moment.address);
    }
    text += &format!(". Thread {} of process {} was here:\n", moment.thread, crash.pid);
    text += &Reader::default().describe(moment, &crash.stack, &crash.maps);
    text.truncate(text.floor_char_boundary(LIMIT));
    text
}

/// The report in a file of its own; what to say instead.
fn write_file(name: &str, crash: &Crash, report: &str) -> String {
    let name = format!("{name}.{}.{}", crash.rank, crash.pid);
    match std::fs::write(&name, report) {
        Ok(()) => format!("Where it was stands in {name}."),
        Err(why) => format!("{report}\n({name} cannot be written: {why})"),
    }
}
