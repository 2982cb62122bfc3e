//! The files that ranks' output goes to.
//!
//! All of them are made before anything runs, so that a folder that cannot be written is known then.
//! At most [`OPEN`] are open at once: a job has more ranks than a process has descriptors.

use crate::cli::output::Output as Presentation;
use crate::link::Stream;
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

const OPEN: usize = 256;

/// One rank's output.
pub type Source = (u32, Stream);

#[derive(Debug)]
pub struct OutputFiles {
    paths: BTreeMap<(u32, usize), PathBuf>,
    open: HashMap<(u32, usize), File>,
    /// Files that took no more.
    lost: Vec<(u32, usize)>,
}

impl OutputFiles {
    /// Makes them empty. None: none are wanted.
    pub fn make(
        how: &Presentation,
        host_of: &dyn Fn(u32) -> String,
        ranks: u32,
    ) -> Result<Option<OutputFiles>, String> {
        if how.dir.is_some() && how.file.is_some() {
            return Err("--output has both dir= and file=; give one of them".into());
        }
        if how.dir.is_none() && how.file.is_none() {
            return Ok(None);
        }
        let mut files = OutputFiles { paths: BTreeMap::new(), open: HashMap::new(), lost: Vec::new() };
        files.add(how, 1, 0, ranks, host_of)?;
        Ok(Some(files))
    }

    /// Makes those of a job, whose processes are numbered from `base` on, empty.
    pub fn add(
        &mut self,
        how: &Presentation,
        job: u32,
        base: u32,
        ranks: u32,
        host_of: &dyn Fn(u32) -> String,
    ) -> Result<(), String> {
        let width = ranks.saturating_sub(1).to_string().len();
        for (rank, stream) in (0..ranks).flat_map(|rank| Stream::ALL.map(|stream| (rank, stream))) {
            let Some(path) = path(how, &host_of(rank), (job, rank), width, stream) else { return Ok(()) };
            let made = match path.parent() {
                Some(folder) => std::fs::create_dir_all(folder).and_then(|()| File::create(&path)),
                None => File::create(&path),
            };
            made.map_err(|why| format!("{}: {why}", path.display()))?;
            self.paths.insert((base + rank, stream.index()), path);
        }
        Ok(())
    }

    /// Forgets those of a job that has gone.
    pub fn forget(&mut self, base: u32, ranks: u32) {
        let is_other = |process: u32| process.checked_sub(base).is_none_or(|rank| rank >= ranks);
        self.paths.retain(|(process, _), _| is_other(*process));
        self.open.retain(|(process, _), _| is_other(*process));
        self.lost.retain(|(process, _)| is_other(*process));
    }

    /// Writes it all. Err: this file has taken its last byte; said once.
    pub fn write(&mut self, (rank, stream): Source, bytes: &[u8]) -> Result<(), String> {
        let key = (rank, stream.index());
        let Some(path) = self.paths.get(&key).filter(|_| !self.lost.contains(&key)) else { return Ok(()) };
        if self.open.len() >= OPEN && !self.open.contains_key(&key) {
            self.open.clear();
        }
        let file = match self.open.entry(key) {
            std::collections::hash_map::Entry::Occupied(there) => Ok(there.into_mut()),
            std::collections::hash_map::Entry::Vacant(place) => {
                OpenOptions::new().append(true).open(path).map(|file| place.insert(file))
            }
        };
        let done = file.and_then(|file| file.write_all(bytes));
        done.map_err(|why| {
            self.open.remove(&key);
            self.lost.push(key);
            format!("{}: {why}", path.display())
        })
    }
}

fn path(
    how: &Presentation,
    host: &str,
    (job, rank): (u32, u32),
    width: usize,
    stream: Stream,
) -> Option<PathBuf> {
    let (short, long) = match stream {
        Stream::Out => ("out", "stdout"),
        Stream::Err => ("err", "stderr"),
    };
    if let Some(folder) = &how.dir {
        return Some(folder.join(format!("{job}/rank.{rank:0width$}/{long}")));
    }
    let name = how.file.as_ref()?;
    let mut name = match how.pattern {
        true => fill(&name.to_string_lossy(), host, (job, rank), width).into(),
        false => name.as_os_str().to_owned(),
    };
    name.push(if how.pattern { format!(".{short}") } else { format!(".{job}.{rank}.{short}") });
    Some(name.into())
}

fn fill(pattern: &str, host: &str, (job, rank): (u32, u32), width: usize) -> String {
    let mut filled = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match (c == '%').then(|| rest.next()) {
            None => filled.push(c),
            Some(Some('r')) => filled += &rank.to_string(),
            Some(Some('R')) => filled += &format!("{rank:0width$}"),
            Some(Some('h')) => filled += host,
            Some(Some('n')) => filled += &job.to_string(),
            Some(Some('%')) | Some(None) => filled.push('%'),
            Some(Some(other)) => filled.extend(['%', other]),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn names() {
        let of = |how: &Presentation, stream| path(how, "here", (1, 7), 2, stream).expect("a file");
        let named = |name: &str, pattern| Presentation {
            file: Some(name.into()),
            pattern,
            ..Presentation::default()
        };
        assert_eq!(of(&named("a/log", false), Stream::Out), Path::new("a/log.1.7.out"));
        assert_eq!(of(&tree("d".into()), Stream::Err), Path::new("d/1/rank.07/stderr"));
        assert_eq!(of(&named("%h-%R-%r-%n-%%%x%", true), Stream::Err), Path::new("here-07-7-1-%%x%.err"));
    }

    fn tree(folder: PathBuf) -> Presentation {
        Presentation { dir: Some(folder), ..Presentation::default() }
    }

    #[test]
    fn more_files_than_descriptors() {
        let folder = tempfile::tempdir().expect("a folder");
        let how = tree(folder.path().join("deep/er"));
        let ranks = OPEN as u32;
        let mut files =
            OutputFiles::make(&how, &|_| "here".into(), ranks).expect("writable").expect("wanted");
        for round in 0..2 {
            for rank in 0..ranks {
                let line = format!("{round} of {rank}\n");
                files.write((rank, Stream::Out), line.as_bytes()).expect("room");
                files.write((rank, Stream::Err), b"x").expect("room");
            }
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join("deep/er/1").join(name));
        assert_eq!(read("rank.017/stdout").expect("there"), "0 of 17\n1 of 17\n");
        assert_eq!(read("rank.255/stderr").expect("there"), "xx");
    }

    #[test]
    fn a_full_disk_is_said_once() {
        let (paths, open, lost) = (BTreeMap::new(), HashMap::new(), Vec::new());
        let mut files = OutputFiles { paths, open, lost };
        files.paths.insert((0, 0), "/dev/full".into());
        let why = files.write((0, Stream::Out), b"x").expect_err("it is full");
        assert!(why.contains("/dev/full"), "{why}");
        files.write((0, Stream::Out), b"x").expect("said before");
    }
}
