//! A file system that takes and gives less than it is asked for, is interrupted, refuses, fails, is slow, or answers in another order.

use crate::served::{Behaviour, Work};
use crate::server::{Answer, Server};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A fault of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Less is transferred than was asked for.
    Short,
    /// The number of the system's error.
    Fails(i32),
    /// The number of the system's error, of writes alone.
    WriteFails(i32),
    Slow,
    /// The question that came last is answered first.
    Reordered,
}

/// Questions wait so long for others that may overtake them.
const DELAY: Duration = Duration::from_millis(1);

#[derive(Clone)]
pub struct Faulty {
    shared: Arc<Shared>,
}

struct Shared {
    server: Server,
    fault: Fault,
    every: u64,
    count: AtomicU64,
    queue: Mutex<Option<Vec<Work>>>,
    due: Condvar,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Option<Vec<Work>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws a number for a question that has the fault.
    fn hit(&self) -> Option<u64> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        mixed.is_multiple_of(self.every).then_some(mixed / self.every)
    }
}

/// Answers questions in its order, until there will be no more.
fn answer_later(shared: &Shared) {
    loop {
        let mut queue = shared.queue();
        while queue.as_ref().is_some_and(Vec::is_empty) {
            queue = shared.due.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        std::thread::sleep(DELAY);
        let work = match &mut *shared.queue() {
            None => return,
            Some(list) if shared.fault == Fault::Reordered => list.pop(),
            Some(list) => Some(list.remove(0)),
        };
        if let Some(work) = work {
            work();
        }
    }
}

impl Faulty {
    /// A file system of which one of `every` questions has the fault.
    pub fn new(fault: Fault, every: u64) -> Faulty {
        let shared = Shared {
            server: Server::default(),
            fault,
            every,
            count: AtomicU64::new(0),
            queue: Mutex::new(Some(Vec::new())),
            due: Condvar::new(),
        };
        let shared = Arc::new(shared);
        if matches!(fault, Fault::Slow | Fault::Reordered) {
            let its = shared.clone();
            std::thread::spawn(move || answer_later(&its));
        }
        Faulty { shared }
    }

    /// No more questions are answered late.
    pub fn end(&self) {
        *self.shared.queue() = None;
        self.shared.due.notify_all();
    }

    /// Whether any question had the fault.
    pub fn asked(&self) -> u64 {
        self.shared.count.load(Ordering::Relaxed)
    }
}

impl Behaviour for Faulty {
    fn server(&self) -> &Server {
        &self.shared.server
    }

    fn read(&self, file: u64, offset: u64, len: usize) -> Answer<Vec<u8>> {
        let len = match (self.shared.fault, self.shared.hit()) {
            (Fault::Fails(errno), Some(_)) => return Err(errno),
            // The end of a file alone is no byte.
            (Fault::Short, Some(drawn)) => 1 + drawn as usize % len.max(1),
            _ => len,
        };
        self.shared.server.read(file, offset, len)
    }

    fn write(&self, file: u64, offset: u64, data: &[u8]) -> Answer<usize> {
        let len = match (self.shared.fault, self.shared.hit()) {
            (Fault::Fails(errno) | Fault::WriteFails(errno), Some(_)) => return Err(errno),
            (Fault::Short, Some(drawn)) => (1 + drawn as usize % data.len().max(1)).min(data.len()),
            _ => data.len(),
        };
        self.shared.server.write(file, offset, &data[..len]).map(|()| len)
    }

    fn resize(&self, file: u64, bytes: u64) -> Answer<()> {
        self.shared.server.resize(file, bytes)
    }

    fn length(&self, file: u64) -> Answer<u64> {
        self.shared.server.with(file, |stored| stored.bytes.len() as u64)
    }

    fn opened(&self, _: u64) -> Answer<()> {
        Ok(())
    }

    fn flush(&self, _: u64) -> Answer<()> {
        Ok(())
    }

    fn carry(&self, work: Work) {
        if !matches!(self.shared.fault, Fault::Slow | Fault::Reordered) {
            return work();
        }
        let refused = match &mut *self.shared.queue() {
            Some(list) => {
                list.push(work);
                None
            }
            None => Some(work),
        };
        self.shared.due.notify_one();
        if let Some(work) = refused {
            work();
        }
    }
}
