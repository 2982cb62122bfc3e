//! Where the data of a command is: in the segment, or in the client's private memory and copied here.

use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Part, Record, access, mode};
use crate::protocol::sys::Run;
use crate::stage::Stage;
use crate::state::{Server, Work, add};

/// A buffer as an MPI function takes it.
#[derive(Clone, Copy)]
pub struct Bound {
    pub at: *mut c_void,
    pub count: i64,
    pub dtype: Datatype,
}

/// Lists of a command whose blocks have counts of their own.
#[derive(Clone, Copy)]
pub struct Vector {
    pub counts: *const i64,
    pub displs: *const isize,
    pub types: *const usize,
}

/// Set in a record's flags: vectors have types, too.
const TYPES: u32 = 1;

impl Server {
    /// The two buffers of a command; what is in private memory and read by the operation has been copied.
    pub fn bind(&mut self, record: &Record, work: &mut Work) -> Result<[Bound; 2], c_int> {
        let first = self.bind_one(record, &record.first, 0, work)?;
        let second = self.bind_one(record, &record.second, 1, work)?;
        Ok([first, second])
    }

    fn bind_one(
        &mut self,
        record: &Record,
        part: &Part,
        which: usize,
        work: &mut Work,
    ) -> Result<Bound, c_int> {
        let dtype = part.dtype as usize;
        let at = match part.mode {
            mode::NONE => core::ptr::null_mut(),
            mode::IN_PLACE => IN_PLACE as *mut c_void,
            mode::MAPPED => {
                add(&self.control.counts.mapped, 1);
                self.here(part.addr).cast()
            }
            _ => {
                add(&self.control.counts.remote, 1);
                add(&self.control.counts.remote_bytes, part.bytes);
                let runs = match part.mode {
                    mode::REMOTE => vec![Run { addr: part.addr, bytes: part.bytes }],
                    _ => self.runs(record, which),
                };
                let total: u64 = runs.iter().map(|r| r.bytes).sum();
                let mut data = Vec::new();
                data.try_reserve_exact(total as usize).map_err(|_| ERR_NO_MEM)?;
                // Fresh pages are zeros already, and the operation or the copy writes what is used.
                data.resize(total as usize, 0);
                let stage = Stage { data, runs, written: part.access & access::WRITE != 0 };
                let stage = work.stages[which].insert(stage);
                if part.access & access::READ != 0 {
                    stage.read(self.pid)?;
                }
                stage.data.as_mut_ptr().cast()
            }
        };
        Ok(Bound { at, count: part.count, dtype })
    }

    /// Copies in once more: a persistent operation is started again.
    pub fn read_again(&self, record: &Record, work: &mut Work) -> Result<(), c_int> {
        for (part, stage) in [record.first, record.second].iter().zip(&mut work.stages) {
            if let Some(stage) = stage
                && part.access & access::READ != 0
            {
                stage.read(self.pid)?;
            }
        }
        Ok(())
    }

    /// The data that came goes to the client.
    pub fn write_back(&self, work: &Work, status: &Status) -> Result<(), c_int> {
        for stage in work.stages.iter().flatten().filter(|s| s.written) {
            let whole = stage.data.len() as u64;
            let came = if work.limited { received(status).min(whole) } else { whole };
            stage.write(self.pid, came)?;
        }
        Ok(())
    }

    fn words(&self, record: &Record) -> *const i64 {
        self.here(record.lists).cast_const().cast()
    }

    /// Words of one vector: counts and displacements, and types where the command says so.
    fn columns(record: &Record) -> usize {
        if record.flags & TYPES != 0 { 3 } else { 2 }
    }

    pub fn vector(&self, record: &Record, which: usize) -> Vector {
        let (sizes, columns) = ([record.args[0] as usize, record.args[1] as usize], Self::columns(record));
        // SAFETY: the client wrote the lists with these lengths.
        unsafe {
            let counts = self.words(record).add(if which == 0 { 0 } else { columns * sizes[0] });
            let displs = counts.add(sizes[which]);
            Vector { counts, displs: displs.cast(), types: displs.add(sizes[which]).cast() }
        }
    }

    fn runs(&self, record: &Record, which: usize) -> Vec<Run> {
        let args = &record.args;
        let vectors = Self::columns(record) * (args[0] + args[1]) as usize;
        let before = if which == 0 { 0 } else { 2 * args[2] as usize };
        let count = args[2 + which] as usize;
        // SAFETY: as above.
        let words =
            unsafe { core::slice::from_raw_parts(self.words(record).add(vectors + before), 2 * count) };
        words.chunks_exact(2).map(|w| Run { addr: w[0] as u64, bytes: w[1] as u64 }).collect()
    }
}

/// Bytes of a message.
fn received(status: &Status) -> u64 {
    let mut count = 0i64;
    // SAFETY: locals.
    unsafe { pmpi::MPI_Get_count_c(status, BYTE, &raw mut count) };
    count.max(0) as u64
}
