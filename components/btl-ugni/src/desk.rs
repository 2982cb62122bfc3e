//! The desk: datagrams of the first device, one for whoever comes and a line of offers to each process.

use crate::abi::DATAGRAM;
use crate::nic::{Calls, Ep, Nic};
use crate::peer::Core;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Identifier of the datagram for whoever comes, and the bit of those to a given process.
pub const ANYBODY: u64 = 0;
pub const DIRECTED: u64 = 1 << 63;

type Place = Box<[u8; DATAGRAM]>;

/// Datagrams of the first device.
pub struct Desk {
    pub anybody: Ep,
    /// Where the library leaves what came.
    pub place: Place,
    pub is_posted: bool,
    pub lines: Vec<Line>,
    pub by_proc: HashMap<u32, usize>,
}

/// Offers to a process.
pub struct Line {
    pub core: Arc<Core>,
    pub ep: Ep,
    pub place: Place,
    pub is_under_way: bool,
    /// The first one is under way.
    pub offers: VecDeque<[u8; DATAGRAM]>,
}

impl Desk {
    pub fn new(nic: &Arc<Nic>) -> Result<Desk, String> {
        let anybody = nic.lock().ep(None, None);
        let anybody = anybody.map_err(|c| format!("an endpoint for datagrams: {}", nic.api.code_text(c)))?;
        let place = Box::new([0; DATAGRAM]);
        let mut desk = Desk { anybody, place, is_posted: false, lines: Vec::new(), by_proc: HashMap::new() };
        desk.listen(&nic.lock());
        if desk.is_posted { Ok(desk) } else { Err("the datagram for whoever comes is refused".into()) }
    }

    /// Posts the datagram for whoever comes.
    pub fn listen(&mut self, calls: &Calls<'_>) {
        if !self.is_posted {
            // SAFETY: the place lives until the endpoint is ended.
            let posted = unsafe {
                calls.post_datagram(&self.anybody, &[0; DATAGRAM], self.place.as_mut_ptr(), ANYBODY)
            };
            self.is_posted = posted.is_ok();
        }
    }

    /// Posts the datagram for whoever comes anew. A process that posts again before its last datagram was collected here is passed by
    /// by the one that waits, and is met by one that is posted later.
    pub fn listen_again(&mut self, calls: &Calls<'_>) {
        calls.cancel_datagram(&self.anybody, ANYBODY);
        self.is_posted = false;
        self.listen(calls);
        // Refused: the old one is over and waits to be collected.
        self.is_posted = true;
    }

    /// Ends all datagrams.
    pub fn close(&mut self, calls: &Calls<'_>) {
        calls.cancel_datagram(&self.anybody, ANYBODY);
        calls.end(&self.anybody);
        for (n, line) in self.lines.drain(..).enumerate() {
            if line.is_under_way {
                calls.cancel_datagram(&line.ep, DIRECTED | n as u64);
            }
            calls.end(&line.ep);
        }
        self.by_proc.clear();
    }
}
