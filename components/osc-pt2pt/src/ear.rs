//! The listener of a rank: carries out what origins ask on the memory that is exposed, in whichever thread serves them, so also while this rank's own computes.
//!
//! It takes the lock of that memory, as whoever carries out records of messages and operations of this rank itself: so all are atomic to each other, all elements of one at
//! once. Nobody waits or calls the host with it. It needs nothing of the window's state.
//!
//! A question has its records carried out in their order, and is counted then: records of messages that come behind so many questions of their origin look at the count.

use crate::deed::{answer_of, carry_out};
use crate::wire::{Record, STATUS, asker, flag, room_of, write_status};
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_mca::Status;
use oxmpi_osc_support::{Carrier, Exposed};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Ear {
    exposed: Arc<Mutex<Exposed>>,
    /// Questions that were carried out, by their origin.
    heard: Box<[AtomicU64]>,
    /// Memory that is registered, so that questions have a place to name; nobody uses it.
    place: AtomicU64,
}

impl Ear {
    pub fn new(exposed: Arc<Mutex<Exposed>>, ranks: u32) -> Ear {
        let heard = (0..ranks).map(|_| AtomicU64::new(0)).collect();
        Ear { exposed, heard, place: AtomicU64::new(0) }
    }

    /// Address and length of the memory to register.
    pub fn place(&self) -> (*mut u8, u64) {
        (self.place.as_ptr().cast(), size_of::<AtomicU64>() as u64)
    }

    /// How many questions of a rank were carried out; what they did is seen.
    pub fn heard(&self, rank: u32) -> u64 {
        // SYNC POINT with `carry_out`.
        self.heard.get(rank as usize).map_or(0, |count| count.load(Ordering::Acquire))
    }

    fn carry_out_all(&self, records: &[u8], answer: &mut [u8]) -> Result<(), Status> {
        if expected_answer(records) != Some(answer.len()) {
            return Err(Status::BAD_PARAM);
        }
        let (first, mut answer) = answer.split_at_mut(STATUS);
        let (mut rest, mut failed) = (records, Status::OK);
        let exposed = self.exposed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((record, len)) = Record::first(rest) {
            rest = &rest[len..];
            let own = answer_of(&record.head).ok().flatten();
            let (mine, behind) = answer.split_at_mut(own.map_or(0, room_of));
            answer = behind;
            let (status, old) = mine.split_at_mut(own.map_or(0, |_| STATUS));
            let done = on_memory(&exposed, &record, &mut old[..own.unwrap_or(0)]);
            match own {
                Some(_) => write_status(done, status),
                None if failed.is_ok() => failed = done,
                None => {}
            }
        }
        write_status(failed, first);
        Ok(())
    }
}

/// Bytes of the answer to these records; `None`: some are no operations whose data stands in them.
fn expected_answer(records: &[u8]) -> Option<usize> {
    let (mut rest, mut len) = (records, STATUS);
    while !rest.is_empty() {
        let (record, record_len) = Record::first(rest)?;
        if record.head.flags & !flag::GIVES != 0 || record.head.len > u32::MAX.into() {
            return None;
        }
        let own = answer_of(&record.head).ok()?.map_or(0, room_of);
        (len, rest) = (len.checked_add(own)?, &rest[record_len..]);
    }
    Some(len)
}

/// Carries one out: RMA_RANGE where its blocks are not exposed, BAD_PARAM where it makes no sense.
fn on_memory(exposed: &Exposed, record: &Record<'_>, old: &mut [u8]) -> Status {
    let Some(runs) = record.runs() else { return Status::BAD_PARAM };
    let Some(blocks) = exposed.find(&runs) else { return Status::RMA_RANGE };
    carry_out(&record.head, &blocks, record.data, old).map_or(Status::BAD_PARAM, |()| Status::OK)
}

impl Carrier for Ear {
    unsafe fn carry_out(&self, question: &[u8], answer: &mut [u8]) -> Result<(), Status> {
        let (rank, records) = asker(question).ok_or(Status::BAD_PARAM)?;
        let heard = self.heard.get(rank as usize).ok_or(Status::BAD_PARAM)?;
        let done = self.carry_out_all(records, answer);
        // One that is refused has had its turn, too. SYNC POINT with `heard`.
        heard.fetch_add(1, Ordering::Release);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Head, begin_question, kind, layout_of, take_status};
    use oxmpi_datatype::kernel::op;
    use oxmpi_datatype::{Base, Run};
    use oxmpi_osc::Memory;

    /// A window of its own, and what its listener answers.
    struct Window {
        memory: Box<[u64; 8]>,
        ear: Ear,
    }

    fn record(head: Head, runs: &[Run], data: &[u8], out: &mut Vec<u8>) {
        let layout = layout_of(runs);
        Head { runs: runs.len() as u32, layout: layout.len() as u32, ..head }.write(out);
        out.extend_from_slice(&layout);
        out.extend_from_slice(data);
    }

    fn head(kind: u8, code: u32, disp: i64, len: u64) -> Head {
        let gives = !matches!(kind, kind::GET | kind::SWAP);
        let flags = if gives { flag::GIVES } else { 0 };
        Head { kind, flags, code: code as u16, word: Base::U64.0, disp, len, ..Head::default() }
    }

    impl Window {
        fn new() -> Window {
            let mut memory = Box::new([10u64; 8]);
            let whole = Memory { base: memory.as_mut_ptr().expose_provenance(), bytes: 64 };
            // SAFETY: it stays in its box as long as this.
            let exposed = unsafe { Exposed::whole(whole) };
            Window { memory, ear: Ear::new(Arc::new(Mutex::new(exposed)), 2) }
        }

        fn ask(&self, rank: u32, records: &[u8], answer: usize) -> (Status, Vec<u8>) {
            let mut question = Vec::new();
            begin_question(rank, &mut question);
            question.extend_from_slice(records);
            let mut answer = vec![0; answer];
            // SAFETY: one thread.
            let done = unsafe { self.ear.carry_out(&question, &mut answer) };
            (done.err().unwrap_or(Status::OK), answer)
        }

        fn now(&self) -> [u64; 8] {
            // SAFETY: the listener writes behind our back.
            unsafe { self.memory.as_ptr().cast::<[u64; 8]>().read_volatile() }
        }
    }

    #[test]
    fn records_are_carried_out_in_order_and_answered_together() {
        let (window, mut records) = (Window::new(), Vec::new());
        let word = |value: u64| value.to_ne_bytes();
        record(head(kind::PUT, op::REPLACE, 8, 8), &[], &word(5), &mut records);
        record(head(kind::FETCH, op::SUM, 8, 8), &[], &word(2), &mut records);
        record(head(kind::ACCUMULATE, op::SUM, 8, 8), &[], &word(1), &mut records);
        let strided = [Run { disp: 0, len: 4, count: 2, stride: 8 }];
        record(head(kind::GET, 0, 0, 8), &strided, &[], &mut records);
        record(head(kind::SWAP, 0, 8, 8), &[], &[word(8), word(77)].concat(), &mut records);
        let (status, answer) = window.ask(1, &records, 8 + 3 * 16);
        let words: Vec<u64> = answer.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        assert_eq!(status, Status::OK);
        assert_eq!(words, [0, 0, 5, 0, 10 | 8 << 32, 0, 8]);
        assert_eq!(window.now()[..3], [10, 77, 10]);
        assert_eq!((window.ear.heard(0), window.ear.heard(1), window.ear.heard(9)), (0, 1, 0));
    }

    #[test]
    fn memory_that_is_not_exposed_is_told_of_one_by_one() {
        let (window, mut records) = (Window::new(), Vec::new());
        record(head(kind::PUT, op::REPLACE, 60, 8), &[], &[1; 8], &mut records);
        record(head(kind::GET, 0, -8, 8), &[], &[], &mut records);
        record(head(kind::GET, 0, 56, 8), &[], &[], &mut records);
        let (status, answer) = window.ask(0, &records, 8 + 2 * 16);
        let told = |at: usize| take_status(&answer[at..]).expect("a status").0;
        assert_eq!(
            (status, told(0), told(8), told(24)),
            (Status::OK, Status::RMA_RANGE, Status::RMA_RANGE, Status::OK)
        );
        assert_eq!((window.now(), &answer[32..]), ([10; 8], &10u64.to_ne_bytes()[..]));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_nothing_is_done() {
        let window = Window::new();
        let mut put = Vec::new();
        record(head(kind::PUT, op::REPLACE, 8, 8), &[], &[1; 8], &mut put);
        let refused = |bytes: &[u8], answer| {
            let records = [&put[..], bytes].concat();
            assert_eq!(window.ask(0, &records, answer).0, Status::BAD_PARAM);
        };
        refused(&[0; 3], 8);
        refused(&put[..put.len() - 1], 8);
        refused(&[], 16);
        refused(&[], 0);
        let mut other = Vec::new();
        record(head(kind::FLUSH, 0, 0, 0), &[], &[], &mut other);
        refused(&other, 8);
        for flag in [flag::GIVES_APART, flag::TAKES_APART, flag::NOTIFIES] {
            other.clear();
            record(Head { flags: flag, ..head(kind::PUT, op::REPLACE, 8, 8) }, &[], &[], &mut other);
            refused(&other, 8);
        }
        assert_eq!(window.now(), [10; 8]);
        assert_eq!(window.ask(2, &put, 8).0, Status::BAD_PARAM, "no such rank");
        // An operation that the type has not is none.
        other.clear();
        record(head(kind::ACCUMULATE, 4711, 8, 8), &[], &[1; 8], &mut other);
        let (status, answer) = window.ask(0, &other, 8);
        assert_eq!((status, take_status(&answer).map(|told| told.0)), (Status::OK, Some(Status::BAD_PARAM)));
        assert_eq!(window.now(), [10; 8]);
    }

    #[test]
    fn any_bytes_are_carried_out_or_refused() {
        let (window, mut state) = (Window::new(), 1u64);
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..60)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 56) as u8 & if state >> 40 & 7 == 0 { 15 } else { 1 }
                })
                .collect();
            let _ = window.ask(0, &bytes, 8 + 16 * (state as usize % 3));
        }
    }
}
