//! Libraries of other MPIs, which ranks that never come here are linked with or have loaded.
//!
//! A program's file tells what it is linked with. A library that an interpreter or the program itself has opened stands in the process's
//! map of memory, which is gone when its end is heard of. So ranks that have not come are looked at while they live: at a few
//! ages, and before the first few pieces of what they print are passed on. Processes that they have started are looked at, too.
//! Not seen is a library that was loaded and gone between two looks, and one that is linked in statically.

use crate::program;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Ages of the job at which ranks are looked at.
const AGES: [Duration; 8] = {
    let ms = Duration::from_millis;
    [ms(200), ms(600), ms(2000), ms(6000), ms(20_000), ms(60_000), ms(200_000), ms(600_000)]
};
/// Pieces of a rank's output before which it is looked at.
const PRINTS: u8 = 4;
/// Processes of one rank that are looked at.
const FAMILY: usize = 32;

/// The findings so far, and the looks that are left.
#[derive(Debug)]
pub struct Strangers {
    begin: Instant,
    /// So many of the ages are over.
    over: usize,
    /// Looks because of output, by place.
    prints: HashMap<usize, u8>,
    /// Libraries that ranks have loaded, by place.
    loaded: HashMap<usize, String>,
    /// Libraries that programs are linked with, by program, as far as it has been asked.
    linked: HashMap<u32, Option<String>>,
    /// Whose a library of the standard ABI is, by its file.
    files: HashMap<PathBuf, bool>,
}

impl Strangers {
    pub fn new() -> Strangers {
        let (prints, loaded, linked) = (HashMap::new(), HashMap::new(), HashMap::new());
        Strangers { begin: Instant::now(), over: 0, prints, loaded, linked, files: HashMap::new() }
    }

    /// When the next look at all is due.
    pub fn deadline(&self) -> Option<Instant> {
        AGES.get(self.over).map(|age| self.begin + *age)
    }

    /// True once for each age; one look does for all that have passed.
    pub fn due(&mut self, now: Instant) -> bool {
        let before = self.over;
        while self.deadline().is_some_and(|at| at <= now) {
            self.over += 1;
        }
        self.over > before
    }

    /// Whether a rank that prints is to be looked at.
    pub fn counts_print(&mut self, local: usize) -> bool {
        let prints = self.prints.entry(local).or_default();
        *prints += u8::from(*prints <= PRINTS);
        *prints <= PRINTS
    }

    /// The library that a rank has loaded, or, by `linked`, that its program is linked with, whose file is read once.
    pub fn library(
        &mut self,
        local: usize,
        program: u32,
        linked: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let loaded = self.loaded.get(&local).cloned();
        loaded.or_else(|| self.linked.entry(program).or_insert_with(linked).clone())
    }

    /// Looks at a rank's process and at what it has started, unless a library was found in it.
    pub fn look(&mut self, local: usize, pid: u32) {
        if self.loaded.contains_key(&local) {
            return;
        }
        let mut family = vec![pid];
        let mut at = 0;
        while let Some(&pid) = family.get(at).filter(|_| at < FAMILY) {
            let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
            if let Some(library) = other_mpi(&maps, |file| self.is_others(pid, file)) {
                self.loaded.insert(local, library);
                return;
            }
            // Older kernels may lack the list; then only the rank's own process is seen.
            let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            family.extend(children.iter().flat_map(|all| all.split_whitespace()).flat_map(str::parse::<u32>));
            at += 1;
        }
    }

    /// Is this library of the standard ABI, whose name all have, another's than ours?
    fn is_others(&mut self, pid: u32, file: &Path) -> bool {
        let within = file.strip_prefix("/").unwrap_or(file);
        *self.files.entry(file.to_owned()).or_insert_with(|| {
            program::is_others_abi(&Path::new(&format!("/proc/{pid}/root")).join(within)) == Some(true)
        })
    }
}

/// The name of another MPI's library in a process's map; `is_others` is asked about files of the standard ABI.
fn other_mpi(maps: &[u8], mut is_others: impl FnMut(&Path) -> bool) -> Option<String> {
    let mut before: &[u8] = b"";
    for line in maps.split(|&byte| byte == b'\n') {
        let Some(start) = line.iter().position(|&byte| byte == b'/') else { continue };
        let path = &line[start..];
        if path == std::mem::replace(&mut before, path) {
            continue;
        }
        let Some(name) = path.rsplit(|&byte| byte == b'/').next() else { continue };
        let abi = name.starts_with(b"libmpi_abi.so") && is_others(Path::new(OsStr::from_bytes(path)));
        if abi || program::is_other_mpi(name) {
            return Some(String::from_utf8_lossy(name).into_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0c000-55d0d000 r--p 00000000 fe:00 123                                /usr/bin/python3.11
7f1c0000-7f1d0000 rw-p 00000000 00:00 0
7f1d0000-7f1e0000 r--p 00000000 fe:00 456                                /opt/a b/lib/libmpi_abi.so.1
7f1e0000-7f1f0000 r-xp 00010000 fe:00 456                                /opt/a b/lib/libmpi_abi.so.1
7f1f0000-7f200000 r--p 00000000 fe:00 789                                /usr/lib/libmpi.so.40.30.4
7ffd0000-7ffe0000 rw-p 00000000 00:00 0                                  [stack]
";

    #[test]
    fn maps_name_libraries() {
        let mut asked = Vec::new();
        let ours = other_mpi(MAPS.as_bytes(), |file| {
            asked.push(file.to_owned());
            false
        });
        assert_eq!(ours.as_deref(), Some("libmpi.so.40.30.4"));
        assert_eq!(asked, [Path::new("/opt/a b/lib/libmpi_abi.so.1")]);
        assert_eq!(other_mpi(MAPS.as_bytes(), |_| true).as_deref(), Some("libmpi_abi.so.1"));
        assert_eq!(other_mpi(b"", |_| true), None);
        let own = std::fs::read("/proc/self/maps").expect("there is a /proc");
        assert_eq!(other_mpi(&own, |_| true), None);
    }

    #[test]
    fn ages_come_once() {
        let mut strangers = Strangers::new();
        let begin = strangers.begin;
        assert!(!strangers.due(begin));
        assert!(strangers.due(begin + AGES[0]) && !strangers.due(begin + AGES[0]));
        assert!(strangers.due(begin + AGES[3]), "late");
        assert_eq!(strangers.deadline(), Some(begin + AGES[4]));
        assert!(strangers.due(begin + AGES[7]));
        assert_eq!(strangers.deadline(), None);
    }
}
