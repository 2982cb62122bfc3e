//! One of mpirun's own outputs: what is to be written, and writing that never waits.
//!
//! Standard output belongs to others, too (a shell, another program of a pipeline), so its open
//! file must not be made non-blocking. Instead it is written only when `poll` says that it takes
//! something, and no more at once than a pipe or a terminal takes then without waiting. A pipe is
//! asked not to wait in the write itself besides (RWF_NOWAIT): another writer may have been
//! quicker.

use crate::link::Stream;
use rustix::fd::BorrowedFd;
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::io::ReadWriteFlags;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Bytes that a pipe that is ready takes without waiting (PIPE_BUF on Linux).
const PIPE_PIECE: usize = 4096;
/// A file never makes wait.
const FILE_PIECE: usize = 256 << 10;

#[derive(Debug)]
pub struct Sink {
    fd: BorrowedFd<'static>,
    piece: usize,
    /// A pipe whose writes can be asked not to wait.
    no_wait: bool,
    closed: bool,
    queue: VecDeque<Item>,
    /// The last byte that was queued ends a line.
    fresh: bool,
}

#[derive(Debug)]
struct Item {
    bytes: Vec<u8>,
    written: usize,
    credit: Option<Credit>,
}

/// Bytes that a daemon counts against the window of a rank's output until they have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    pub rank: u32,
    pub stream: Stream,
    pub bytes: usize,
}

/// The sink takes nothing any more.
#[derive(Debug)]
pub struct ClosedSink {
    /// Bytes that the daemon counts and nobody will write.
    pub credits: Vec<Credit>,
    pub why: Errno,
}

impl Sink {
    pub fn new(stream: Stream) -> Sink {
        let fd = match stream {
            Stream::Out => rustix::stdio::stdout(),
            Stream::Err => rustix::stdio::stderr(),
        };
        let kind = rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
        Sink {
            fd,
            piece: if kind == Ok(FileType::RegularFile) { FILE_PIECE } else { PIPE_PIECE },
            no_wait: kind == Ok(FileType::Fifo),
            closed: false,
            queue: VecDeque::new(),
            fresh: true,
        }
    }

    pub fn fd(&self) -> BorrowedFd<'static> {
        self.fd
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn pending(&self) -> usize {
        self.queue.iter().map(|item| item.bytes.len() - item.written).sum()
    }

    /// Whether what is queued next begins a line.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub fn push(&mut self, bytes: Vec<u8>, credit: Option<Credit>) {
        if let Some(&last) = bytes.last().filter(|_| !self.closed) {
            self.fresh = last == b'\n';
            self.queue.push_back(Item { bytes, written: 0, credit });
        }
    }

    /// Writes once. Returns what is through with that.
    pub fn write(&mut self) -> Result<Option<Credit>, ClosedSink> {
        let Some(item) = self.queue.front_mut() else { return Ok(None) };
        let rest = &item.bytes[item.written..];
        let piece = &rest[..rest.len().min(self.piece)];
        let done = match self.no_wait {
            // The offset means: where the file stands, as for any pipe.
            true => rustix::io::pwritev2(self.fd, &[IoSlice::new(piece)], u64::MAX, ReadWriteFlags::NOWAIT),
            false => rustix::io::write(self.fd, piece),
        };
        match done {
            Ok(n) => {
                item.written += n;
                let through = item.written == item.bytes.len();
                Ok(if through { self.queue.pop_front().and_then(|item| item.credit) } else { None })
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(None),
            // An older kernel, or an odd pipe: poll's word has to do.
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::SPIPE) if self.no_wait => {
                self.no_wait = false;
                Ok(None)
            }
            Err(why) => {
                self.closed = true;
                let credits = self.queue.drain(..).filter_map(|item| item.credit).collect();
                Err(ClosedSink { credits, why })
            }
        }
    }

    /// As if all had been written.
    #[cfg(test)]
    pub fn forget(&mut self) {
        self.queue.clear();
    }

    /// Everything that is queued.
    #[cfg(test)]
    pub fn queued(&self) -> Vec<u8> {
        self.queue.iter().flat_map(|item| item.bytes[item.written..].to_vec()).collect()
    }
}
