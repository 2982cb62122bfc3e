//! One output of one rank: bytes in, whole lines out.
//!
//! Output of several ranks must not be mixed inside a line, so the beginning of a line waits here
//! for its rest. A line may be as long as it likes up to [`LONGEST`]; a longer one is sent on in
//! pieces, because something has to give and a rank must not be able to take memory without bound.

use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The longest line that is never cut.
pub const LONGEST: usize = 256 << 10;
/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Something was read; there may be more.
    More,
    /// Nothing is there now.
    Empty,
    /// Nothing will come any more.
    Ended,
}

/// Result of one look at an output.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Vec<u8>,
    /// The rest of the last line is still to come, and will be sent on as it comes.
    pub more: bool,
}

/// The reading end of a rank's standard output or standard error.
#[derive(Debug)]
pub struct Output {
    pipe: OwnedFd,
    /// Bytes sent on and not written yet, by mpirun's word.
    pub unwritten: usize,
    /// The daemon's epoll has it.
    pub watched: bool,
    /// Nothing is held back.
    raw: bool,
    /// More was promised of the line whose beginning was sent on.
    promised: bool,
    /// The beginning of a line, and since when it waits.
    held: Vec<u8>,
    since: Option<Instant>,
}

impl Output {
    pub fn new(pipe: OwnedFd, raw: bool) -> Result<Output, Errno> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Output { pipe, unwritten: 0, watched: false, raw, promised: false, held: Vec::new(), since: None })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads once. The bytes are whole lines, or the last ones, or a piece of a very long line.
    pub fn read(&mut self) -> (Piece, State) {
        let mut buffer = [0; CHUNK];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.pipe, &mut buffer[..])) {
            Ok(n) if n > 0 => (self.add(&buffer[..n]), State::More),
            Err(Errno::AGAIN) => (Piece { bytes: Vec::new(), more: false }, State::Empty),
            Ok(_) | Err(_) => (Piece { bytes: self.take_rest(), more: false }, State::Ended),
        }
    }

    fn add(&mut self, bytes: &[u8]) -> Piece {
        let mut more = false;
        let whole = match bytes.iter().rposition(|&c| c == b'\n') {
            _ if self.raw => bytes.len(),
            Some(at) => at + 1,
            None if self.held.len() + bytes.len() > LONGEST => {
                more = true;
                bytes.len()
            }
            None => 0,
        };
        let out = match whole {
            0 => Vec::new(),
            _ => {
                let mut out = std::mem::take(&mut self.held);
                out.extend_from_slice(&bytes[..whole]);
                out
            }
        };
        self.held.extend_from_slice(&bytes[whole..]);
        self.since = (!self.held.is_empty()).then(Instant::now);
        if !out.is_empty() {
            self.promised = more;
        }
        Piece { bytes: out, more }
    }

    /// The launcher waits for the rest of a line.
    pub fn has_promised(&self) -> bool {
        self.promised
    }

    /// When the waiting beginning of a line last grew.
    pub fn waiting_since(&self) -> Option<Instant> {
        self.since
    }

    /// The beginning of a line, without waiting for its rest.
    pub fn take_rest(&mut self) -> Vec<u8> {
        self.since = None;
        std::mem::take(&mut self.held)
    }

    pub fn into_rest(mut self) -> Vec<u8> {
        self.take_rest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Output, OwnedFd) {
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (read, write) = rustix::pipe::pipe_with(flags).expect("a pipe");
        (Output::new(read, false).expect("a pipe can be made not to block"), write)
    }

    fn piece(bytes: &[u8]) -> Piece {
        Piece { bytes: bytes.to_vec(), more: false }
    }

    fn write(to: &OwnedFd, text: &[u8]) {
        assert_eq!(rustix::io::write(to, text), Ok(text.len()));
    }

    /// The output that comes at the end. Another test that is starting a program may have a copy of the pipe
    /// for a moment.
    fn last(output: &mut Output) -> Vec<u8> {
        loop {
            match output.read() {
                (piece, State::Ended) => return piece.bytes,
                (piece, _) => assert_eq!(piece.bytes, b""),
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_beginning_of_a_line_waits_for_its_rest() {
        let (mut output, pipe) = pair();
        assert_eq!(output.read(), (piece(b""), State::Empty));
        write(&pipe, b"one\ntw");
        assert_eq!(output.read(), (piece(b"one\n"), State::More));
        assert!(output.waiting_since().is_some());
        write(&pipe, b"o\n");
        assert_eq!(output.read(), (piece(b"two\n"), State::More));
        assert!(output.waiting_since().is_none());
        write(&pipe, b"last");
        assert_eq!(output.read(), (piece(b""), State::More));
        drop(pipe);
        assert_eq!(last(&mut output), b"last");
    }

    #[test]
    fn a_line_without_end_takes_bounded_memory() {
        let (mut output, pipe) = pair();
        let piece = [b'x'; 32 << 10];
        let (mut written, mut seen) = (0, 0);
        for _ in 0..64 {
            write(&pipe, &piece);
            written += piece.len();
            let (piece, _) = output.read();
            assert_eq!(piece.more, !piece.bytes.is_empty());
            seen += piece.bytes.len();
            assert!(output.held.len() <= LONGEST);
        }
        drop(pipe);
        assert_eq!(seen + last(&mut output).len(), written);
        assert!(seen > 0);
    }
}
