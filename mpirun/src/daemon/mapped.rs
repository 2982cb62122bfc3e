//! Looks into the memory of ranks that have not come for the library of another MPI.
//!
//! A program's file names the libraries that it is linked with (`program::other_mpi`); one that is loaded while it runs, as an
//! interpreter's module, or by a program that a script starts, is only seen in `/proc/PID/maps`, and only while the process lives. So
//! every rank that has not called MPI_Init is looked at, with what is below it: often at first, when programs load
//! their libraries, then seldom. A process that is done within [`FIRST`] may be missed.

use crate::program;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two looks in the beginning.
const FIRST: Duration = Duration::from_millis(50);
/// Looks before the time between them grows.
const OFTEN: u32 = 20;
/// Longest time between two looks.
const SELDOM: Duration = Duration::from_secs(10);
/// Most processes below a rank that are looked at.
const FAMILY: usize = 64;

/// The findings by rank, and the time of the next look.
pub(super) struct Mapped {
    /// `None`: all ranks have come, or ended, or were seen with another library.
    next: Option<Instant>,
    pause: Duration,
    looks: u32,
    /// Name of the library, by the rank's place on the node.
    found: HashMap<usize, String>,
    /// Libraries of our name that were looked at, and whether they are another MPI's.
    alike: HashMap<PathBuf, bool>,
}

impl Mapped {
    pub(super) fn new() -> Mapped {
        let (found, alike) = (HashMap::new(), HashMap::new());
        Mapped { next: Some(Instant::now() + FIRST), pause: FIRST, looks: 0, found, alike }
    }

    /// When ranks that have not come are to be looked at again. `None`: there are none.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Looks at ranks that have not come: their places and processes.
    pub(super) fn look(&mut self, all: Vec<(usize, u32)>) {
        let unseen: Vec<_> = all.into_iter().filter(|(local, _)| !self.found.contains_key(local)).collect();
        for &(local, pid) in &unseen {
            self.look_at(local, pid);
        }
        self.looks += 1;
        if self.looks > OFTEN {
            self.pause = (self.pause * 2).min(SELDOM);
        }
        self.next = (!unseen.is_empty()).then(|| Instant::now() + self.pause);
    }

    /// The library that a rank was seen with.
    pub(super) fn of(&self, local: usize) -> Option<String> {
        self.found.get(&local).cloned()
    }

    fn look_at(&mut self, local: usize, rank: u32) {
        let mut family = vec![rank];
        let mut at = 0;
        while let Some(&pid) = family.get(at) {
            if let Some(library) = self.library_in(pid) {
                self.found.insert(local, library);
                return;
            }
            let room = FAMILY.saturating_sub(family.len());
            family.extend(children(pid).into_iter().take(room));
            at += 1;
        }
    }

    /// The name of another MPI's library that a process has mapped.
    fn library_in(&mut self, pid: u32) -> Option<String> {
        let maps = BufReader::new(std::fs::File::open(format!("/proc/{pid}/maps")).ok()?);
        let mut lines = maps.split(b'\n').map_while(Result::ok);
        lines.find_map(|line| {
            // A path is all behind the first `/`.
            let path = line.iter().position(|&c| c == b'/').map(|at| String::from_utf8_lossy(&line[at..]))?;
            let name = path.rsplit('/').next()?;
            let is_other = program::is_other_mpi(name.as_bytes())
                || name.starts_with("libmpi_abi.so") && self.is_strange(Path::new(&*path));
            is_other.then(|| name.to_owned())
        })
    }

    /// Whether a library with the standard's name is another MPI's.
    fn is_strange(&mut self, library: &Path) -> bool {
        let strange = self.alike.entry(library.to_owned());
        *strange.or_insert_with(|| !program::is_own_library(library))
    }
}

/// The children of a process, by its threads.
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
