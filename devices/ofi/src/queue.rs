//! A completion queue whose completions are late, overtake each other, or are failures.

use crate::faults::Faults;
use core::ffi::c_void;
use std::collections::VecDeque;
use std::time::Instant;

/// Error numbers of the library, negative as its functions answer them.
pub const AGAIN: isize = -11;
pub const AVAIL: isize = -259;

/// Flags of completions.
const READ: usize = 1 << 8;
const WRITE: usize = 1 << 9;
const RECV: usize = 1 << 10;
const SEND: usize = 1 << 11;

/// A completion in the format of messages: context, flags, length.
pub type Entry = [usize; 3];

pub type ReadCall = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> isize;
pub type ReadErrCall = unsafe extern "C" fn(*mut c_void, *mut c_void, u64) -> isize;

/// A completion that waits to be reported.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Instant,
    entry: Entry,
    failed: bool,
}

pub struct Queue {
    pub read: ReadCall,
    pub readerr: ReadErrCall,
    waiting: VecDeque<Waiting>,
    /// The message that the next one overtakes, and reads that brought nothing since.
    aside: Option<(Waiting, u32)>,
    /// Sends, puts and gets without a completion.
    pub under_way: usize,
    /// Sends since the queue was read.
    pub unread: u64,
}

/// Reads in vain behind which a message that nobody has overtaken is reported.
const PATIENCE: u32 = 20;

impl Queue {
    pub fn new(read: ReadCall, readerr: ReadErrCall) -> Queue {
        Queue { read, readerr, waiting: VecDeque::new(), aside: None, under_way: 0, unread: 0 }
    }

    /// Something waits to be reported, so nobody may sleep.
    pub fn holds_something(&self) -> bool {
        !self.waiting.is_empty() || self.aside.is_some()
    }

    /// Takes what the library has reported. `sends` and `messages` count those of the process.
    pub fn take(&mut self, entries: &[Entry], faults: &Faults, sends: &mut u64, messages: &mut u64) {
        for &entry in entries {
            let mut waiting = Waiting { due: Instant::now() + faults.late, entry, failed: false };
            if entry[1] & (SEND | READ | WRITE) != 0 && entry[1] & RECV == 0 {
                self.under_way = self.under_way.saturating_sub(1);
            }
            if entry[1] & SEND != 0 {
                *sends += 1;
                waiting.failed = faults.fails(*sends);
            }
            let is_message = entry[1] & RECV != 0;
            *messages += u64::from(is_message);
            let is_aside = faults.overtaken > 0 && messages.is_multiple_of(faults.overtaken);
            if is_message && is_aside && self.aside.is_none() {
                self.aside = Some((waiting, 0));
                continue;
            }
            self.waiting.push_back(waiting);
            if is_message {
                self.waiting.extend(self.aside.take().map(|(first, _)| first));
            }
        }
        if entries.is_empty()
            && let Some((_, reads)) = &mut self.aside
        {
            *reads += 1;
            if *reads > PATIENCE {
                self.waiting.extend(self.aside.take().map(|(first, _)| first));
            }
        }
    }

    /// The next completions that are due. `Err`: the next one is a failure.
    pub fn report(&mut self, most: usize) -> Result<Vec<Entry>, ()> {
        let (mut out, now) = (Vec::new(), Instant::now());
        while out.len() < most {
            match self.waiting.front() {
                Some(first) if first.due <= now && !first.failed => out.push(first.entry),
                Some(first) if first.due <= now && out.is_empty() => return Err(()),
                _ => break,
            }
            self.waiting.pop_front();
        }
        Ok(out)
    }

    /// The failure that is due, as the library tells one: words of fi_cq_err_entry. `None`: it is the library's own.
    pub fn failure(&mut self, code: i32) -> Option<[usize; 10]> {
        let first = self.waiting.front().filter(|first| first.failed && first.due <= Instant::now())?;
        let [context, flags, len] = first.entry;
        self.waiting.pop_front();
        Some([context, flags, len, 0, 0, 0, 0, code as u32 as usize, 0, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn nothing(_: *mut c_void, _: *mut c_void, _: usize) -> isize {
        AGAIN
    }
    unsafe extern "C" fn no_failure(_: *mut c_void, _: *mut c_void, _: u64) -> isize {
        AGAIN
    }

    fn took(faults: &str, flags: &[usize]) -> Queue {
        let faults = Faults::parse(faults).expect("faults");
        let mut queue = Queue::new(nothing, no_failure);
        let entries: Vec<Entry> = flags.iter().enumerate().map(|(n, flags)| [n, *flags, 8]).collect();
        queue.take(&entries, &faults, &mut 0, &mut 0);
        queue
    }

    fn contexts(queue: &mut Queue) -> Vec<usize> {
        queue.report(99).expect("no failure").iter().map(|entry| entry[0]).collect()
    }

    #[test]
    fn messages_are_overtaken_and_nothing_else() {
        let mut queue = took("overtaken=2", &[RECV, SEND, RECV, SEND, RECV, RECV]);
        assert_eq!(contexts(&mut queue), [0, 1, 3, 4, 2], "the fourth message waits for one to overtake it");
        assert!(queue.holds_something());
        let faults = Faults::default();
        (0..=PATIENCE).for_each(|_| queue.take(&[], &faults, &mut 0, &mut 0));
        assert_eq!(contexts(&mut queue), [5], "or for nothing to come");
        assert!(!queue.holds_something());
    }

    #[test]
    fn a_failure_is_told_in_its_place() {
        let mut queue = took("error=2,code=5", &[SEND, RECV, SEND, SEND]);
        assert_eq!(contexts(&mut queue), [0, 1]);
        assert!(queue.report(9).is_err());
        let told = queue.failure(5).expect("ours");
        assert_eq!((told[0], told[7]), (2, 5));
        assert!(queue.failure(5).is_none());
        assert_eq!(contexts(&mut queue), [3]);
        let mut queue = took("late=60000", &[SEND]);
        assert!(contexts(&mut queue).is_empty() && queue.holds_something());
    }
}
