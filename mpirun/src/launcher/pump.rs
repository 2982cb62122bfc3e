//! Standard input on its way to another node: from a pipe of the feed into frames of the link.
//!
//! No more is under way than [`INPUT`] bytes, so a rank that does not read holds up its own standard input and nothing
//! else: not the link, and not what a daemon keeps.

use crate::link::INPUT;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

#[derive(Debug)]
pub struct Pump {
    /// None: it has ended, or nobody takes any more.
    source: Option<OwnedFd>,
    under_way: usize,
}

impl Pump {
    pub fn new(source: OwnedFd) -> Result<Pump, String> {
        rustix::io::ioctl_fionbio(&source, true).map_err(crate::failed("cannot read standard input"))?;
        Ok(Pump { source: Some(source), under_way: 0 })
    }

    /// The next piece. Empty: the end, said once.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        let room = (INPUT - self.under_way).min(64 << 10);
        let source = self.source.as_ref().filter(|_| room > 0)?;
        let mut piece = vec![0; room];
        loop {
            match rustix::io::read(source, &mut piece[..]) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                Ok(n) if n > 0 => {
                    piece.truncate(n);
                    self.under_way += n;
                    return Some(piece);
                }
                _ => {
                    self.source = None;
                    return Some(Vec::new());
                }
            }
        }
    }

    /// The other node has taken so much, or takes no more.
    pub fn note_taken(&mut self, bytes: u32, over: bool) {
        self.under_way = self.under_way.saturating_sub(bytes as usize);
        if over {
            self.source = None;
        }
    }

    /// Events to wait for, where there is room for more.
    pub fn fd(&self) -> Option<PollFd<'_>> {
        let source = self.source.as_ref().filter(|_| self.under_way < INPUT)?;
        Some(PollFd::new(source, PollFlags::IN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_under_way_than_agreed() {
        let (read, write) = rustix::pipe::pipe().expect("a pipe");
        let mut pump = Pump::new(read).expect("a pipe");
        assert_eq!(pump.next(), None);
        let mut sent = 0;
        while sent < INPUT {
            rustix::io::write(&write, &[7; 4096]).expect("room");
            sent += pump.next().expect("something").len();
        }
        rustix::io::write(&write, b"more").expect("room");
        assert!(pump.next().is_none() && pump.fd().is_none());
        pump.note_taken(10, false);
        assert_eq!(pump.next(), Some(b"more".to_vec()));
        drop(write);
        assert_eq!((pump.next(), pump.next()), (Some(Vec::new()), None));
    }
}
