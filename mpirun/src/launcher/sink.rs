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

/// What a pipe that is ready takes without waiting (PIPE_BUF on Linux).
const PIPE_PIECE: usize = 4096;
/// A file never makes wait.
const FILE_PIECE: usize = 256 << 10;

#[derive(Debug)]
pub struct Sink {
    fd: BorrowedFd<'static>,
    piece: usize,
    /// A pipe whose writes can be asked not to wait.
    no_wait: bool,
    terminal: bool,
    closed: bool,
    queue: VecDeque<Item>,
}

#[derive(Debug)]
struct Item {
    bytes: Vec<u8>,
    written: usize,
    /// The daemon counts these bytes against its window.
    counted: bool,
}

/// The sink takes nothing any more.
#[derive(Debug)]
pub struct Lost {
    /// Bytes that the daemon counts and that nobody will write.
    pub counted: usize,
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
            terminal: rustix::termios::isatty(fd),
            closed: false,
            queue: VecDeque::new(),
        }
    }

    pub fn fd(&self) -> BorrowedFd<'static> {
        self.fd
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal
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

    pub fn push(&mut self, bytes: Vec<u8>, counted: bool) {
        if !self.closed && !bytes.is_empty() {
            self.queue.push_back(Item { bytes, written: 0, counted });
        }
    }

    /// Writes once. Returns how many of the bytes the daemon counts.
    pub fn write(&mut self) -> Result<usize, Lost> {
        let Some(item) = self.queue.front_mut() else { return Ok(0) };
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
                let counted = if item.counted { n } else { 0 };
                if item.written == item.bytes.len() {
                    self.queue.pop_front();
                }
                Ok(counted)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(0),
            // An older kernel, or an odd pipe: poll's word has to do.
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS | Errno::SPIPE) if self.no_wait => {
                self.no_wait = false;
                Ok(0)
            }
            Err(why) => {
                self.closed = true;
                let left = self.queue.drain(..).filter(|item| item.counted);
                let counted = left.map(|item| item.bytes.len() - item.written).sum();
                Err(Lost { counted, why })
            }
        }
    }
}
