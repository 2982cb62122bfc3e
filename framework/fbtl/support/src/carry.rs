//! A transfer carried out in the calling thread, by calls that wait for the file.

use crate::batches::{Cursor, Extent, MOST_BYTES};
use crate::sieve::{Sieving, Window};
use crate::sys;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_fbtl::{Job, Opened, Piece};
use oxmpi_fs::error::system;
use oxmpi_mca::Status;
use rustix::io::Errno;
use std::os::fd::RawFd;

/// The alignment of transfers past the cache in this direction, where the file has any.
pub fn unit(file: &Opened, is_write: bool) -> Option<u64> {
    let has = if is_write { file.direct_writes } else { file.direct_reads };
    (has && file.direct_fd.is_some()).then_some(file.direct_unit)
}

/// The descriptor for a batch.
pub fn descriptor(file: &Opened, direct: bool) -> RawFd {
    match file.direct_fd {
        Some(fd) if direct => fd,
        _ => file.fd,
    }
}

/// The end of a step.
enum Step {
    /// More may follow.
    On,
    /// The operation's result.
    End(Status),
}

/// Carries out a transfer: the operation's status and bytes. `stop` set: it ends early, between two calls. The job is the caller's to end.
pub fn carry_out(job: &Job, file: &Opened, sieving: &Sieving, stop: &AtomicBool) -> (Status, u64) {
    let mut carrier = Carrier {
        job,
        file,
        unit: unit(file, job.is_write()),
        at: Cursor::default(),
        extents: Vec::new(),
        window: Vec::new(),
    };
    let measure = job.may_sieve().then(|| sieving.measure(job.sieve_bytes()));
    loop {
        // It says nothing about other memory.
        if stop.load(Ordering::Relaxed) {
            return (Status::NOT_AVAILABLE, carrier.at.whole());
        }
        let window = measure.and_then(|measure| sieving.window(job.pieces(), &carrier.at, measure));
        let step = match window {
            Some(window) => carrier.sieve(window),
            None => carrier.batch(),
        };
        match step {
            Step::On => {}
            Step::End(Status::OK) => return (Status::OK, carrier.at.total()),
            Step::End(status) => return (status, carrier.at.whole()),
        }
    }
}

struct Carrier<'a> {
    job: &'a Job,
    file: &'a Opened,
    unit: Option<u64>,
    at: Cursor,
    extents: Vec<Extent>,
    /// Memory for a window, of which only the capacity counts: the system writes it before it is read.
    window: Vec<u8>,
}

impl Carrier<'_> {
    /// One vectored call.
    fn batch(&mut self) -> Step {
        let pieces = self.job.pieces();
        let Some(batch) = self.at.batch(pieces, self.unit, u64::MAX, &mut self.extents) else {
            return Step::End(Status::OK);
        };
        let is_write = self.job.is_write();
        let fd = descriptor(self.file, batch.direct);
        // SAFETY: memory of the job's pieces, which is the component's while the job lives, in the job's direction.
        match unsafe { sys::transfer(fd, is_write, &self.extents, batch.offset) } {
            // The end of the file. A write of nothing would be asked for again for ever.
            Ok(0) => Step::End(if is_write { system(Errno::IO.raw_os_error()) } else { Status::OK }),
            Ok(bytes) => {
                self.at.advance(pieces, bytes);
                Step::On
            }
            Err(Errno::INTR) => Step::On,
            Err(Errno::AGAIN) => {
                sys::wait_for(fd, is_write);
                Step::On
            }
            Err(errno) => Step::End(system(errno.raw_os_error())),
        }
    }

    /// Reads a window, and copies its pieces.
    fn sieve(&mut self, window: Window) -> Step {
        let len = window.len as usize;
        // Without the memory pieces are read one by one.
        if self.window.try_reserve_exact(len).is_err() {
            return self.batch();
        }
        let mut done = 0;
        while done < len {
            let extent = Extent {
                memory: self.window.as_mut_ptr().wrapping_add(done),
                len: (len - done).min(MOST_BYTES as usize),
            };
            // SAFETY: memory of the window's, which has room for `len` bytes.
            match unsafe { sys::transfer(self.file.fd, false, &[extent], window.offset + done as u64) } {
                Ok(0) => break,
                Ok(bytes) => done += bytes as usize,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => sys::wait_for(self.file.fd, false),
                // Whose piece it is only a call for each tells.
                Err(_) => return self.one_by_one(window),
            }
        }
        self.copy(window, done as u64)
    }

    /// Copies what was read of a window.
    fn copy(&mut self, window: Window, done: u64) -> Step {
        let (first, pieces) = (self.at.place().0, self.job.pieces());
        let mut copied = 0;
        let mut step = Step::On;
        for piece in &pieces[first..first + window.pieces] {
            let from = piece.offset - window.offset;
            let there = done.saturating_sub(from).min(piece.len);
            // SAFETY: the piece's memory, which is the component's while the job lives, is not the window's, and so many bytes of the window were read from `from` on.
            unsafe {
                let source = self.window.as_ptr().add(from.min(done) as usize);
                core::ptr::copy_nonoverlapping(source, piece.memory, there as usize);
            }
            copied += there;
            if there < piece.len {
                step = Step::End(Status::OK);
                break;
            }
        }
        self.at.advance(pieces, copied);
        step
    }

    /// Transfers the pieces of a window, each by itself.
    fn one_by_one(&mut self, window: Window) -> Step {
        let first = self.at.place().0;
        let pieces: &[Piece] = self.job.pieces();
        let end: u64 =
            self.at.total() + pieces[first..first + window.pieces].iter().map(|p| p.len).sum::<u64>();
        while self.at.total() < end {
            if let end @ Step::End(_) = self.batch() {
                return end;
            }
        }
        Step::On
    }
}
