//! How a proxy reaches the data of a command.
//!
//! 1. Data that lies in the segment is used where it is; a derived datatype is rebuilt in the proxy.
//! 2. Dense data of at least OXMPI_EP_CMA_MIN bytes elsewhere is copied by the proxy (process_vm_readv, process_vm_writev), where
//!    the system allows it.
//! 3. Everything else is copied here into the segment before, and out of it after the command: small data into the record, more
//!    into a block of the heap. Data with gaps is packed.
//!
//! Data that is not in the segment, and dense data of derived datatypes, goes as bytes: the standard's packed form of
//! homogeneous systems is the data without gaps. Only reductions keep the type of their elements.

use super::buffers::{Buffer, Piece, Staged};
use super::datatype::{self, Info};
use super::heap;
use super::slot::Slot;
use super::state::Words;
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{INLINE, Part, access, mode};
use crate::protocol::sync::Ordering;

/// Lists that go with a command.
#[derive(Default)]
pub struct Lists {
    words: [Vec<i64>; 2],
    lengths: [usize; 2],
    types: bool,
    runs: [Vec<i64>; 2],
}

/// Which buffer of the command, what the proxy does with it, and whether elements keep their type.
#[derive(Clone, Copy)]
pub struct Use {
    pub which: usize,
    pub access: u32,
    pub typed: bool,
    /// The data is copied now, wherever it lies: the program may change it before the operation is complete.
    pub copied: bool,
}

impl Slot {
    /// Makes both buffers of a command reachable. `counts` are those of MPI_Reduce_scatter.
    pub fn place_both(
        &mut self,
        first: (Buffer, u32),
        second: (Buffer, u32),
        typed: bool,
        counts: Option<&[i64]>,
    ) -> Result<(), c_int> {
        // Types in one list need a column in both.
        let types = matches!(first.0, Buffer::Types { .. }) || matches!(second.0, Buffer::Types { .. });
        let mut lists = Lists { types, ..Lists::default() };
        for (which, (buffer, access)) in [first, second].into_iter().enumerate() {
            self.place(buffer, Use { which, access, typed, copied: false }, &mut lists)?;
        }
        if let Some(counts) = counts {
            lists.vector(1, counts, counts, None);
        }
        lists.attach(self)
    }

    /// Makes a buffer reachable.
    pub fn place(&mut self, buffer: Buffer, used: Use, lists: &mut Lists) -> Result<(), c_int> {
        let part = match buffer {
            Buffer::None(count, dtype) => {
                Part { mode: mode::NONE, count, dtype: dtype as u64, ..Part::default() }
            }
            Buffer::InPlace => Part { mode: mode::IN_PLACE, dtype: BYTE as u64, ..Part::default() },
            Buffer::Plain { at, count, times, dtype } => self.plain(at, count, times, dtype, used)?,
            Buffer::Blocks { at, counts, displs, dtype } => {
                self.blocks(at, &counts, &displs, dtype, used, lists)?
            }
            Buffer::Types { at, counts, displs, types } => {
                self.typed(at, &counts, &displs, &types, used, lists)?
            }
        };
        let record = self.record();
        match used.which {
            0 => record.first = part,
            _ => record.second = part,
        }
        Ok(())
    }

    fn plain(
        &mut self,
        at: *mut u8,
        count: i64,
        times: i64,
        dtype: Datatype,
        used: Use,
    ) -> Result<Part, c_int> {
        let mut info = datatype::info(dtype)?;
        let elements = count * times;
        let keeps = is_predefined(dtype);
        if used.typed && !info.dense {
            // A pair with a gap: elements are copied with it.
            info = Info { size: info.extent, true_extent: info.extent, dense: true, ..info };
        }
        let bytes = elements * info.size;
        let unit = if keeps && info.dense { 1 } else { info.size };
        let dtype_there = if keeps && info.dense { dtype } else { BYTE } as u64;
        let part = |mode, addr: *const u8| Part {
            mode,
            access: used.access,
            addr: addr as u64,
            count: count * unit,
            dtype: dtype_there,
            bytes: bytes as u64,
        };
        if bytes == 0 {
            let count = if used.typed { count } else { 0 };
            return Ok(Part { count, ..part(mode::MAPPED, core::ptr::null()) });
        }
        if !used.copied && info.dense && heap::holds(at, bytes as usize) {
            self.proxy.counts.mapped.fetch_add(1, Ordering::Relaxed);
            return Ok(part(mode::MAPPED, at));
        }
        if !used.copied
            && !info.dense
            && within(at, elements, &info)
            && let Some(there) = datatype::there(self.client, self.proxy, dtype)
        {
            self.proxy.counts.mapped.fetch_add(1, Ordering::Relaxed);
            return Ok(Part { count, dtype: there, ..part(mode::MAPPED, at) });
        }
        if !used.copied && info.dense && self.is_reachable(bytes) {
            return Ok(part(mode::REMOTE, at));
        }
        let (size, extent) = (info.size, info.extent);
        let piece = Piece {
            offset: 0,
            user: at,
            count: elements,
            dtype,
            bytes: bytes as usize,
            packed: !info.dense,
            size,
            extent,
        };
        let memory = self.stage(used, Some(piece), Vec::new(), bytes as usize)?;
        Ok(part(mode::MAPPED, memory))
    }

    /// Is the data to be copied by the proxy?
    fn is_reachable(&self, bytes: i64) -> bool {
        let reach = || self.proxy.control.reach.load(Ordering::Acquire) == 1;
        let reachable = bytes as usize >= self.client.cma_min && reach();
        if reachable {
            self.proxy.counts.remote.fetch_add(1, Ordering::Relaxed);
        }
        reachable
    }

    /// Staging memory for these pieces, filled if data goes.
    fn stage(
        &mut self,
        used: Use,
        mut one: Option<Piece>,
        mut many: Vec<Piece>,
        bytes: usize,
    ) -> Result<*mut u8, c_int> {
        let inline = bytes <= INLINE && !self.inline_used;
        let memory = if inline {
            self.inline_used = true;
            self.proxy.counts.inline.fetch_add(1, Ordering::Relaxed);
            self.record().inline.as_mut_ptr()
        } else {
            self.proxy.counts.bounced.fetch_add(1, Ordering::Relaxed);
            self.proxy.counts.bounced_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            heap::allocate(bytes, 64)
        };
        if memory.is_null() {
            return Err(ERR_NO_MEM);
        }
        for piece in one.iter_mut().chain(&mut many).filter(|p| p.packed) {
            let mut own = DATATYPE_NULL;
            // SAFETY: the program's datatype. It may free its handle while the data is on its way.
            if unsafe { pmpi::MPI_Type_dup(piece.dtype, &raw mut own) } != SUCCESS {
                return Err(ERR_TYPE);
            }
            piece.dtype = own;
        }
        let (goes, comes) = (used.access & access::READ != 0, used.access & access::WRITE != 0);
        let staged = Staged { memory, block: !inline, goes, comes, one, many };
        staged.collect();
        self.staged[used.which] = Some(staged);
        Ok(memory)
    }

    fn blocks(
        &mut self,
        at: *mut u8,
        counts: &[i64],
        displs: &[i64],
        dtype: Datatype,
        used: Use,
        lists: &mut Lists,
    ) -> Result<Part, c_int> {
        let info = datatype::info(dtype)?;
        let block = |i: usize| at.wrapping_offset((displs[i] * info.extent) as isize);
        let filled = || (0..counts.len()).filter(|i| counts[*i] > 0 && info.size > 0);
        let mapped = heap::holds(at, 0) && filled().all(|i| within(block(i), counts[i], &info));
        if mapped
            && let Some((unit, stride, there)) = match (info.dense, is_predefined(dtype)) {
                (true, false) => Some((info.size, info.extent, BYTE as u64)),
                _ => datatype::there(self.client, self.proxy, dtype).map(|there| (1, 1, there)),
            }
        {
            self.proxy.counts.mapped.fetch_add(1, Ordering::Relaxed);
            let scaled = |list: &[i64], by: i64| list.iter().map(|v| v * by).collect::<Vec<i64>>();
            lists.vector(used.which, &scaled(counts, unit), &scaled(displs, stride), None);
            return Ok(Part {
                mode: mode::MAPPED,
                access: used.access,
                addr: at as u64,
                dtype: there,
                ..Part::default()
            });
        }
        let user: Vec<(*mut u8, Datatype, Info)> =
            (0..counts.len()).map(|i| (block(i), dtype, info)).collect();
        self.scattered(counts, &user, used, lists)
    }

    fn typed(
        &mut self,
        at: *mut u8,
        counts: &[i64],
        displs: &[i64],
        types: &[Datatype],
        used: Use,
        lists: &mut Lists,
    ) -> Result<Part, c_int> {
        let mut user = Vec::with_capacity(counts.len());
        for (i, dtype) in types.iter().enumerate() {
            // Types of empty blocks need not be valid.
            let (dtype, info) = match counts[i] {
                0 => (BYTE, datatype::info(BYTE)?),
                _ => (*dtype, datatype::info(*dtype)?),
            };
            user.push((at.wrapping_offset(displs[i] as isize), dtype, info));
        }
        self.scattered(counts, &user, used, lists)
    }

    /// Blocks that are staged one behind the other, as bytes.
    fn scattered(
        &mut self,
        counts: &[i64],
        user: &[(*mut u8, Datatype, Info)],
        used: Use,
        lists: &mut Lists,
    ) -> Result<Part, c_int> {
        let bytes: Vec<i64> = counts.iter().zip(user).map(|(c, (_, _, info))| c * info.size).collect();
        let mut offset = 0;
        let offsets: Vec<i64> = bytes
            .iter()
            .map(|b| {
                offset += b;
                offset - b
            })
            .collect();
        let total = offset;
        lists.vector(used.which, &bytes, &offsets, Some(&vec![BYTE; counts.len()]));
        let part = Part {
            mode: mode::MAPPED,
            access: used.access,
            dtype: BYTE as u64,
            bytes: total as u64,
            ..Part::default()
        };
        if total == 0 {
            return Ok(part);
        }
        let filled = || (0..counts.len()).filter(|i| bytes[*i] > 0);
        if filled().all(|i| user[i].2.dense) && self.is_reachable(total) {
            lists.runs[used.which] = filled().flat_map(|i| [user[i].0 as i64, bytes[i]]).collect();
            return Ok(Part { mode: mode::RUNS, ..part });
        }
        let pieces = filled().map(|i| Piece {
            offset: offsets[i] as usize,
            user: user[i].0,
            count: counts[i],
            dtype: user[i].1,
            bytes: bytes[i] as usize,
            packed: !user[i].2.dense,
            size: user[i].2.size,
            extent: user[i].2.extent,
        });
        let memory = self.stage(used, None, pieces.collect(), total as usize)?;
        Ok(Part { addr: memory as u64, ..part })
    }
}

/// Does all data of these elements lie in the segment, and their address, too?
fn within(at: *mut u8, elements: i64, info: &Info) -> bool {
    if info.extent < 0 || !heap::holds(at, 0) {
        return false;
    }
    let first = at.wrapping_offset(info.true_lb as isize);
    heap::holds(first, ((elements - 1) * info.extent + info.true_extent).max(0) as usize)
}

impl Lists {
    /// Counts, displacements and, where the command has them, types of one buffer.
    pub fn vector(&mut self, which: usize, counts: &[i64], displs: &[i64], types: Option<&[Datatype]>) {
        let words = &mut self.words[which];
        words.extend_from_slice(counts);
        words.extend_from_slice(displs);
        if self.types {
            words.extend(types.unwrap_or(&[]).iter().map(|t| *t as i64));
        }
        self.lengths[which] = counts.len();
    }

    /// Gives them to the command.
    pub fn attach(self, slot: &mut Slot) -> Result<(), c_int> {
        let record = slot.record();
        record.flags = self.types.into();
        let lengths = [self.lengths[0], self.lengths[1], self.runs[0].len() / 2, self.runs[1].len() / 2];
        for (arg, length) in record.args.iter_mut().zip(lengths) {
            *arg = length as i64;
        }
        let [a, b] = self.words;
        let [c, d] = self.runs;
        let words: Vec<i64> = [a, b, c, d].concat();
        if !words.is_empty() {
            let words = Words::new(&words)?;
            record.lists = words.address();
            slot.lists = Some(words);
        }
        Ok(())
    }
}
