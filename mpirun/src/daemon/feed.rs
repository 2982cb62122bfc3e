//! Standard input for several ranks: each gets a copy.
//!
//! One chunk at a time: the next is read when every rank that still reads has taken this one. So
//! memory is bounded, nothing is lost, and the slowest reader sets the pace; a rank that has
//! closed its end, or has ended, is not waited for.

use crate::failed;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub struct Feed {
    source: OwnedFd,
    /// A file has something at any time and cannot be waited for.
    is_file: bool,
    chunk: Vec<u8>,
    readers: Vec<Reader>,
    ended: bool,
}

#[derive(Debug)]
struct Reader {
    pipe: OwnedFd,
    taken: usize,
    gone: bool,
}

/// Events that the feed waits for.
#[derive(Debug, PartialEq, Eq)]
pub enum Wait {
    /// Something to read.
    Source,
    /// Somebody who takes: these places in the order of `add`.
    Readers(Vec<usize>),
    /// Everything has been given, or nobody takes anything any more.
    Over,
}

impl Feed {
    /// From this process's standard input.
    pub fn new() -> Result<Feed, String> {
        let stdin = rustix::stdio::stdin();
        let source =
            rustix::io::fcntl_dupfd_cloexec(stdin, 3).map_err(failed("cannot keep standard input"))?;
        let kind = fstat(&source).map(|stat| FileType::from_raw_mode(stat.st_mode));
        let is_file = kind == Ok(FileType::RegularFile);
        Ok(Feed { source, is_file, chunk: Vec::new(), readers: Vec::new(), ended: false })
    }

    /// One more reader; what is returned is its standard input.
    pub fn add(&mut self) -> Result<OwnedFd, Errno> {
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&write, true)?;
        self.readers.push(Reader { pipe: write, taken: 0, gone: false });
        Ok(read)
    }

    pub fn source(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }

    pub fn reader(&self, place: usize) -> BorrowedFd<'_> {
        self.readers[place].pipe.as_fd()
    }

    /// Does what can be done without waiting: until a reader has no room, or nothing comes.
    pub fn turn(&mut self) -> Wait {
        loop {
            self.give();
            let waiting: Vec<usize> = (0..self.readers.len()).filter(|&i| self.wants(i)).collect();
            if !waiting.is_empty() {
                return Wait::Readers(waiting);
            }
            if self.ended || self.readers.iter().all(|reader| reader.gone) {
                return Wait::Over;
            }
            if !self.ready() {
                return Wait::Source;
            }
            self.read();
        }
    }

    fn wants(&self, place: usize) -> bool {
        let reader = &self.readers[place];
        !reader.gone && reader.taken < self.chunk.len()
    }

    fn ready(&self) -> bool {
        let now = Timespec::default();
        let mut fds = [PollFd::new(&self.source, PollFlags::IN)];
        self.is_file || poll(&mut fds, Some(&now)) == Ok(1)
    }

    fn read(&mut self) {
        self.chunk.resize(CHUNK, 0);
        match rustix::io::read(&self.source, &mut self.chunk[..]) {
            Ok(n) if n > 0 => self.chunk.truncate(n),
            Err(Errno::INTR | Errno::AGAIN) => self.chunk.clear(),
            // The end, or a source that cannot be read.
            _ => {
                self.chunk.clear();
                self.ended = true;
            }
        }
        self.readers.iter_mut().for_each(|reader| reader.taken = 0);
    }

    fn give(&mut self) {
        for reader in self.readers.iter_mut().filter(|reader| !reader.gone) {
            while reader.taken < self.chunk.len() {
                match rustix::io::write(&reader.pipe, &self.chunk[reader.taken..]) {
                    Ok(n) => reader.taken += n,
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    Err(_) => {
                        reader.gone = true;
                        break;
                    }
                }
            }
        }
    }
}
