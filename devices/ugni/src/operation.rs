//! Operations that a process has under way: what is posted, and what its completion does.

use crate::cq::Cq;
use crate::domain::Ep;
use crate::entry::{Entry, Source};
use crate::layouts::MemHandle;
use crate::memory::{self, Access};
use crate::numbers::{event, mode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// A piece of what is sent.
pub enum Piece {
    Bytes(Vec<u8>),
    /// Memory of the program's, which is read when the frame is made.
    Memory {
        address: u64,
        length: u64,
    },
}

impl Piece {
    fn length(&self) -> u64 {
        match self {
            Piece::Bytes(b) => b.len() as u64,
            Piece::Memory { length, .. } => *length,
        }
    }
}

pub enum Work {
    Put {
        source: Vec<Piece>,
        /// Address and value of eight bytes that are written behind the data.
        sync: Option<(u64, u64)>,
    },
    Get {
        to: Access,
    },
    Amo {
        command: i32,
        operands: [u64; 2],
        /// Where the old value goes.
        to: Option<Access>,
    },
    CqWrite {
        value: u64,
    },
}

/// An event at the target.
#[derive(Clone, Copy)]
pub struct RemoteEvent {
    pub data: u32,
    pub message: bool,
}

/// Events by which a program learns of an operation.
pub struct Completion {
    pub ep: Arc<Ep>,
    pub cq: Arc<Cq>,
    pub tid: u32,
    pub kind: u64,
    /// Event when the source is read.
    pub local: bool,
    /// Event when the target has answered.
    pub global: bool,
    /// Data of the events.
    pub data: u32,
    /// The chain that this is an element of: the last one that ends tells the program.
    pub chain: Option<Arc<Chain>>,
}

/// A chain of operations with one completion.
pub struct Chain {
    pub left: AtomicUsize,
    /// The first status that is not OKAY.
    pub worst: AtomicU8,
}

impl Chain {
    /// Ends an element. `None`: others are under way.
    fn end(&self, status: u8) -> Option<u8> {
        if status != 0 {
            self.worst.store(status, Ordering::Relaxed);
        }
        (self.left.fetch_sub(1, Ordering::AcqRel) == 1).then(|| self.worst.load(Ordering::Relaxed))
    }
}

pub struct Operation {
    /// Node and instance that it goes to.
    pub target: (u32, u32),
    pub inst: u32,
    pub cookie: u32,
    pub handle: MemHandle,
    pub address: u64,
    pub length: u64,
    pub work: Work,
    pub event: Option<RemoteEvent>,
    pub bulk: bool,
    pub in_order: bool,
    pub completion: Option<Completion>,
    pub modes: u32,
    /// Bytes that have gone out.
    pub sent: u64,
    /// Fails with this status, though all else goes well (a planned fault, or a source that is not there).
    pub fault: u8,
    /// Times that it may be sent again where it is lost.
    pub retries: u32,
}

impl Operation {
    /// Reads up to `to.len()` bytes of a put's source from where it stands: how many.
    pub fn read_source(&self, to: &mut [u8]) -> Result<usize, u8> {
        let Work::Put { source, .. } = &self.work else { return Ok(0) };
        let mut skip = self.sent;
        let mut done = 0;
        for piece in source {
            let have = piece.length();
            if skip >= have {
                skip -= have;
                continue;
            }
            let n = (have - skip).min((to.len() - done) as u64) as usize;
            match piece {
                Piece::Bytes(b) => to[done..done + n].copy_from_slice(&b[skip as usize..skip as usize + n]),
                Piece::Memory { address, .. } => memory::read(address + skip, &mut to[done..done + n])?,
            }
            (done, skip) = (done + n, 0);
            if done == to.len() {
                break;
            }
        }
        Ok(done)
    }

    fn entry(&self, c: &Completion, status: u8) -> Entry {
        // The data of local events of posts differs by device; programs go by the request (GNI_GetCompleted).
        let source = if self.bulk { Source::Bte } else { Source::Ssid };
        Entry { data: c.data.into(), tid: c.tid, kind: c.kind, source, status }
    }

    /// The source of a bulk put may be used again.
    pub fn source_read(&self) {
        if let Some(c) = &self.completion
            && c.local
        {
            c.cq.push(self.entry(c, 0));
        }
    }

    /// Ends the operation with a status: tells the program, or ends the process where its domain wants that.
    pub fn end(self, status: u8) {
        let status = if status == 0 { self.fault } else { status };
        if status != 0 {
            crate::counters::add(crate::counters::Counter::Errors, 1);
            if self.modes & mode::ERR_ALL_KILL != 0 {
                eprintln!(
                    "libugni emulation: a transaction to node {} instance {} failed with status {status:#x}",
                    self.target.0, self.target.1
                );
                std::process::abort();
            }
        }
        let Some(c) = &self.completion else { return };
        let status = match &c.chain {
            None => status,
            Some(chain) => match chain.end(status) {
                Some(worst) => worst,
                None => return,
            },
        };
        c.ep.ended();
        if status != 0 && c.kind == event::SMSG {
            c.ep.state().broken = true;
        }
        // A get's local event is the one that says that its data is there.
        let is_put = matches!(self.work, Work::Put { .. });
        if c.local && !is_put && status == 0 {
            c.cq.push(self.entry(c, 0));
        }
        if c.global || status != 0 {
            c.cq.push(self.entry(c, status));
        }
    }
}
