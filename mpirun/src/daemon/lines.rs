//! One output of one rank: bytes in, whole lines out.
//!
//! What several ranks print must not be mixed inside a line, so the beginning of a line waits here
//! for its rest. A line may be as long as it likes up to [`LONGEST`]; a longer one is sent on in
//! pieces, because something has to give and a rank must not be able to take memory without bound.

use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

/// The longest line that is never cut.
pub const LONGEST: usize = 256 << 10;
/// What is read at once.
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

/// The reading end of a rank's standard output or standard error.
#[derive(Debug)]
pub struct Output {
    pipe: OwnedFd,
    /// The beginning of a line, and since when it waits.
    held: Vec<u8>,
    since: Option<Instant>,
}

impl Output {
    pub fn new(pipe: OwnedFd) -> Result<Output, Errno> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Output { pipe, held: Vec::new(), since: None })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads once. The bytes are whole lines, or the last ones, or a piece of a very long line.
    pub fn read(&mut self) -> (Vec<u8>, State) {
        let mut buffer = [0; CHUNK];
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.pipe, &mut buffer[..])) {
            Ok(0) => (self.take_rest(), State::Ended),
            Ok(n) => (self.add(&buffer[..n]), State::More),
            Err(Errno::AGAIN) => (Vec::new(), State::Empty),
            Err(_) => (self.take_rest(), State::Ended),
        }
    }

    fn add(&mut self, bytes: &[u8]) -> Vec<u8> {
        let whole = match bytes.iter().rposition(|&c| c == b'\n') {
            Some(at) => at + 1,
            None if self.held.len() + bytes.len() > LONGEST => bytes.len(),
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
        out
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
        (Output::new(read).expect("a pipe can be made not to block"), write)
    }

    fn write(to: &OwnedFd, text: &[u8]) {
        assert_eq!(rustix::io::write(to, text), Ok(text.len()));
    }

    /// What comes at the end. Another test that is starting a program may have a copy of the pipe
    /// for a moment.
    fn last(output: &mut Output) -> Vec<u8> {
        loop {
            match output.read() {
                (bytes, State::Ended) => return bytes,
                (bytes, _) => assert_eq!(bytes, b""),
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_beginning_of_a_line_waits_for_its_rest() {
        let (mut output, pipe) = pair();
        assert_eq!(output.read(), (vec![], State::Empty));
        write(&pipe, b"one\ntw");
        assert_eq!(output.read(), (b"one\n".to_vec(), State::More));
        assert!(output.waiting_since().is_some());
        write(&pipe, b"o\n");
        assert_eq!(output.read(), (b"two\n".to_vec(), State::More));
        assert!(output.waiting_since().is_none());
        write(&pipe, b"last");
        assert_eq!(output.read(), (vec![], State::More));
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
            seen += output.read().0.len();
            assert!(output.held.len() <= LONGEST);
        }
        drop(pipe);
        assert_eq!(seen + last(&mut output).len(), written);
        assert!(seen > 0);
    }
}
