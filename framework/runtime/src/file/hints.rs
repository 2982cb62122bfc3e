//! Hints of a file: what is known of an info object, and what is in force (MPI 5.0 §14.2.8). Keys and spellings are `oxmpi_files`'.
//!
//! A site's hints, of the file that the environment variable ROMIO_HINTS names, or else of `/etc/romio-hints`, stand behind those of the program. Each rank reads it for itself.

use super::layout::Layout;
use super::object::File;
use crate::info::Info;
use crate::objects::Instance;
use oxmpi_files::config::hints_file;
use oxmpi_files::hints::{Choice, Hints, Taken};
use oxmpi_fs::{keeps, mode};
use oxmpi_loading::error::Error;
use oxmpi_mca::Entry;
use oxmpi_mca::sync::unmodelled::Ordering;
use std::path::Path;
use std::sync::Arc;

/// The file of a site's hints where the environment names none.
const SITE: &str = "/etc/romio-hints";

/// Bytes of a window of sieved writes where no hint says it.
const WRITE_WINDOW: u64 = 512 << 10;

/// A rank's hints ask for sieved writes.
const ASKS: u64 = 1;
/// A rank has the file open past the system's cache.
const PASSES_BY: u64 = 2;

/// The hints of an info object that are known, and the site's behind them; what is not known is reported by the ranks that the parameter `io_ompio_verbose_info_parsing` names.
pub(super) fn of(instance: &Instance, rank: u32, info: &Info) -> Hints {
    let mut hints = Hints::default();
    let tells = match instance.host_params().files.tells_hints {
        0 => false,
        1 => rank == 0,
        _ => true,
    };
    let tell = |key: &str, value: &str, taken: Taken| {
        let why = match taken {
            Taken::Kept => return,
            Taken::Unknown => "nobody knows it",
            Taken::Malformed => "its value is malformed",
            Taken::ReadOnly => "the library alone tells it",
        };
        if tells {
            instance.logger().always(&format!("hint {key} = {value} of a file is passed over: {why}"));
        }
    };
    for (key, value) in info.iter() {
        tell(key, value, hints.set(key, value));
    }
    let path = std::env::var_os("ROMIO_HINTS").unwrap_or_else(|| SITE.into());
    if let Ok(text) = std::fs::read(&path) {
        for (key, value) in hints_file(&String::from_utf8_lossy(&text)) {
            tell(key, value, hints.set_default(key, value));
        }
    }
    hints
}

/// How a file is written and read, as far as hints ask for it.
#[derive(Clone, Copy)]
pub(super) struct Practice {
    /// Writes are sieved.
    pub sieves: bool,
    /// Reads and writes pass the system's cache by.
    pub direct: (bool, bool),
}

/// Hints that the library decides, with their values. Of the practice only what is not as `hints` ask.
pub(super) fn actual(
    hints: &Hints,
    layout: &Layout,
    path: &Path,
    kept: u32,
    (factor, unit): (u64, u64),
    practice: Practice,
) -> Vec<(&'static str, String)> {
    let (aggregators, buffer) = layout.told();
    let list: Vec<String> = aggregators.iter().map(u32::to_string).collect();
    let mut actual = vec![
        ("cb_nodes", aggregators.len().to_string()),
        ("cb_buffer_size", buffer.to_string()),
        ("filename", path.to_string_lossy().into_owned()),
        ("romio_aggregator_list", list.join(" ")),
    ];
    for (key, value) in [("striping_factor", factor), ("striping_unit", unit)] {
        if value > 0 {
            actual.push((key, value.to_string()));
        }
    }
    let asks = |key| hints.flag(key) == Some(true);
    for (key, asked, is, [no, yes]) in [
        ("romio_ds_write", hints.sieve_writes(), practice.sieves, ["disable", "enable"]),
        ("direct_read", asks("direct_read"), practice.direct.0, ["false", "true"]),
        ("direct_write", asks("direct_write"), practice.direct.1, ["false", "true"]),
    ] {
        if asked != is {
            actual.push((key, if is { yes } else { no }.to_owned()));
        }
    }
    if kept & keeps::COHERENT != 0 {
        actual.push(("romio_visibility_immediate", "true".to_owned()));
    }
    actual
}

impl File {
    /// Bytes that a read may use at once for holes between pieces, 0: the component's own measure; `None`: holes are not read.
    pub(super) fn sieve(&self) -> Option<u64> {
        let state = self.state.lock();
        match state.hints.choice("romio_ds_read") {
            Some(Choice::Disable) => None,
            _ => Some(state.hints.positive("ind_rd_buffer_size").unwrap_or(0)),
        }
    }

    /// Bytes of a window of sieved writes at most; `None`: writes take no locks and leave holes alone. An error where a write with holes is to be sieved and locks do not exclude all ranks.
    pub(super) fn sieving(&self, has_holes: bool) -> Result<Option<u64>, Error> {
        if !self.sieves.load(Ordering::Acquire) || self.amode & mode::SEQUENTIAL != 0 {
            return Ok(None);
        }
        match (self.locks_exclude(), has_holes) {
            (true, _) => {
                let asked = self.state.lock().hints.positive("ind_wr_buffer_size");
                Ok(Some(asked.unwrap_or(WRITE_WINDOW)))
            }
            (false, true) => Err(self.lacks_locks()),
            (false, false) => Ok(None),
        }
    }

    /// As ranks tell each other: whether this rank's hints ask for sieved writes, and whether it passes the system's cache by.
    pub(super) fn about_sieving(&self) -> u64 {
        let asks = self.state.lock().hints.sieve_writes();
        let passes_by = self.direct() != (false, false);
        (u64::from(asks) * ASKS) | (u64::from(passes_by) * PASSES_BY)
    }

    /// Settles whether writes are sieved, from all ranks' words: rank 0 asks for it, and nobody passes the cache by. Such a file was opened without the hint; windows reach into pages
    /// that others write, and the system cannot keep its cache right where one goes through it and another past it.
    pub(super) fn settle_sieving(&self, ranks: impl Iterator<Item = u64>) {
        let mut ranks = ranks.peekable();
        let asks = ranks.peek().is_some_and(|first| first & ASKS != 0);
        let sieves = asks && ranks.all(|rank| rank & PASSES_BY == 0);
        self.sieves.store(sieves, Ordering::Release);
    }

    /// Whether reads, and writes, pass the system's cache by, as far as pieces are aligned. A rank that has not opened the file yet tells what it will ask for.
    fn direct(&self) -> (bool, bool) {
        self.presence.get().map_or((self.place.how.direct_read, self.place.how.direct_write), |here| {
            (here.disk.passes_by(mode::RDONLY), here.disk.passes_by(mode::WRONLY))
        })
    }

    /// The hints in force, as MPI_File_get_info tells them.
    pub fn info(&self) -> Info {
        let (hints, layout) = {
            let state = self.state.lock();
            (state.hints.clone(), Arc::clone(&state.layout))
        };
        let mut info = Info::new();
        let practice = Practice { sieves: self.sieves.load(Ordering::Acquire), direct: self.direct() };
        let actual = actual(&hints, &layout, &self.path, self.keeps, self.striping, practice);
        for (key, value) in hints.in_force(&actual) {
            info.set(&key, &value);
        }
        info
    }

    /// MPI_File_set_info of all ranks: hints that may change while a file is open. `None`: this rank has none, since its argument was wrong.
    pub fn set_info(&self, entry: &mut Entry, info: Option<&Info>) -> Result<(), Error> {
        if let Some(info) = info {
            self.take_hints(info);
        }
        // A rank that goes on finds the others' hints in force.
        let told = self.comm.tell_all(entry, &[self.about_sieving()])?;
        self.settle_sieving(told.iter().copied());
        Ok(())
    }

    /// Takes further hints.
    pub(super) fn take_hints(&self, info: &Info) {
        let mut state = self.state.lock();
        for (key, value) in info.iter() {
            state.hints.set(key, value);
        }
    }
}
