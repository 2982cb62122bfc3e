//! Operations on a window of one process.

use crate::process::Win;
use core::ptr::{null, null_mut};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_mca::Status;
use oxmpi_osc::{OscTable, RmaArgs};

/// An operation, all of whose bytes are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Put,
    /// With a request, which is complete when the call returns or when progress says so.
    PutWithRequest,
    Get,
    /// Of single bytes, added.
    Accumulate,
    /// Of bytes, added; with old values.
    GetAccumulate,
}

impl Win {
    /// Puts a byte to a rank, which the component meets with that if it did not know it.
    pub fn put(&self, rank: u32) {
        let mut byte = [1u8];
        self.issue(Operation::Put, rank, 0, &mut byte);
        self.flush(rank);
    }

    /// Adds ones to so many bytes of a rank; all of it has ended behind.
    pub fn accumulate(&self, rank: u32, bytes: u64) {
        self.issue(Operation::Accumulate, rank, 0, &mut vec![1; bytes as usize]);
        self.flush(rank);
    }

    /// Starts an operation on as many bytes as `data` has, from displacement `disp` on, in words of eight bytes. `data` has the bytes that it gives
    /// and gets those that it takes; it stays until a flush.
    pub fn issue(&self, what: Operation, rank: u32, disp: i64, data: &mut [u8]) {
        let (window, table, thread) = self.verbs();
        let sum = OpDesc {
            size: size_of::<OpDesc>() as u32,
            code: op::SUM,
            commutative: 1,
            reserved: 0,
            user: None,
            ctx: null_mut(),
        };
        let at = data.as_mut_ptr();
        let count = data.len() as u64;
        let byte: *const TypeDesc = &self.byte;
        let args = RmaArgs {
            thread,
            origin: at,
            origin_count: count,
            origin_type: byte,
            result: null_mut(),
            result_count: 0,
            result_type: null(),
            compare: null(),
            target: rank,
            reserved: 0,
            disp,
            target_count: count,
            target_type: byte,
            op: &sum,
        };
        let mut request = null_mut();
        let OscTable { put, get, accumulate, get_accumulate, .. } = *table;
        let status = match what {
            Operation::Put => put(window, &args, null_mut()),
            Operation::PutWithRequest => put(window, &args, &mut request),
            Operation::Get => get(window, &args, null_mut()),
            Operation::Accumulate => accumulate(window, &args, null_mut()),
            Operation::GetAccumulate => {
                let args = RmaArgs { result: at, result_count: count, result_type: byte, ..args };
                get_accumulate(window, &args, null_mut())
            }
        };
        assert_eq!(status, Status::OK, "{what:?}");
        if !request.is_null() {
            // SAFETY: the component's, given back once: the operation goes on.
            unsafe { ((*(*request).ops).release)(request, thread) };
        }
    }

    pub fn flush(&self, rank: u32) {
        let (window, table, thread) = self.verbs();
        assert_eq!((table.flush)(window, thread, rank, 0), Status::OK);
    }

    pub fn flush_local(&self, rank: u32) {
        let (window, table, thread) = self.verbs();
        assert_eq!((table.flush)(window, thread, rank, 1), Status::OK);
    }

    /// Sets [`oxmpi_osc::hint`]s.
    pub fn set_hints(&self, hints: u32) {
        let (window, table, _) = self.verbs();
        assert_eq!((table.set_hints)(window, hints, oxmpi_osc::ordering::ALL), Status::OK);
    }

    /// This rank's memory, which is everybody's.
    pub fn memory(&self) -> &[u64] {
        &self.base
    }
}
