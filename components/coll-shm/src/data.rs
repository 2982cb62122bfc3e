//! Data of one call, vouched for where it comes in: elements of the user's buffers ([`Source`], [`Place`]), and packed bytes ([`Room`]) in shared or
//! temporary memory. They say that memory is there and may be used, no more: several of them may name the same bytes.

use crate::protocol::Result;
use core::marker::PhantomData;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Elements that may be read.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    at: *const u8,
    count: u64,
    dtype: &'a TypeDesc,
}

/// Elements that may be written.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    at: *mut u8,
    count: u64,
    dtype: &'a TypeDesc,
}

/// Bytes that may be read and written.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    at: *mut u8,
    len: u64,
    memory: PhantomData<&'a [u8]>,
}

/// Bytes of packed data in `count` elements. BAD_PARAM: more than MPI can count.
fn packed(dtype: &TypeDesc, count: u64) -> Result<u64> {
    dtype.packed.checked_mul(count).filter(|bytes| *bytes <= i64::MAX as u64).ok_or(Status::BAD_PARAM)
}

/// Bytes from the first element to the one of number `disp`.
fn distance(dtype: &TypeDesc, disp: i64) -> isize {
    disp.wrapping_mul(dtype.extent) as isize
}

/// Copies bytes line by line by ordinary loads and stores, where the C library would copy longer ones by the processor's string instruction. Where the
/// target lies a little higher in its page than the source, AMD's processors take each load of that for one of what it has just stored, and need ten times as
/// long; cells and users' buffers often lie so.
///
/// # Safety
/// Both have `len` bytes, which are the same or do not overlap.
#[inline]
unsafe fn copy_bytes(from: *const u8, to: *mut u8, len: usize) {
    type Line = [u128; 4];
    const LINE: usize = size_of::<Line>();
    let mut done = 0;
    while len - done >= LINE {
        // SAFETY: inside both, by the caller's promise; a line is read before it is written.
        unsafe {
            to.add(done).cast::<Line>().write_unaligned(from.add(done).cast::<Line>().read_unaligned())
        };
        done += LINE;
    }
    // SAFETY: the caller's promise; less than a line is left.
    unsafe { copy_short(from.add(done), to.add(done), len - done) };
}

/// Copies less than a line by its first and its last bytes, which may be the same ones, without a call.
///
/// # Safety
/// As [`copy_bytes`], of less than 64 bytes.
#[inline]
unsafe fn copy_short(from: *const u8, to: *mut u8, len: usize) {
    /// # Safety
    /// Both have `len` bytes, of which there are those of one `T` or more and at most those of two.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len - size_of::<T>();
        // SAFETY: inside both; all is read before anything is written.
        unsafe {
            let (head, tail) =
                (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(head);
            to.add(last).cast::<T>().write_unaligned(tail);
        }
    }
    debug_assert!(len < 64, "less than a line");
    // SAFETY: the caller's promise; each has so many bytes.
    unsafe {
        match len {
            0 => {}
            1 => *to = *from,
            2..4 => ends::<u16>(from, to, len),
            4..8 => ends::<u32>(from, to, len),
            8..16 => ends::<u64>(from, to, len),
            16..32 => ends::<u128>(from, to, len),
            _ => ends::<[u128; 2]>(from, to, len),
        }
    }
}

/// Copies bytes into shared memory, whose lines were last in the caches of those who read them. The string instruction of AMD's processors writes lines as a
/// whole, whose old contents nobody fetches; not so where it would be slow, as [`copy_bytes`] has it.
///
/// # Safety
/// As [`copy_bytes`].
#[inline]
unsafe fn copy_in(from: *const u8, to: *mut u8, len: usize) {
    /// Shorter data is copied before the instruction has begun.
    const STRING: usize = 1024;
    /// Targets that lie so much higher in their page are slow.
    const NEAR: usize = 128;
    let higher = to.addr().wrapping_sub(from.addr()) % 4096;
    if len >= STRING && !(1..=NEAR).contains(&higher) {
        // SAFETY: the caller's promise.
        unsafe { by_string(from, to, len) };
    } else {
        // SAFETY: as above.
        unsafe { copy_bytes(from, to, len) };
    }
}

/// # Safety
/// As [`copy_bytes`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn by_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise; the direction flag is clear at every call and stays so.
    unsafe {
        core::arch::asm!("rep movsb", inout("rcx") len => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
}

/// This processor has no string instruction.
///
/// # Safety
/// As [`copy_bytes`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
unsafe fn by_string(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy_bytes(from, to, len) }
}

impl<'a> Source<'a> {
    /// # Safety
    /// For `'a` the call may read `count` elements of the type at `at`.
    pub unsafe fn new(at: *const u8, count: u64, dtype: &'a TypeDesc) -> Source<'a> {
        Source { at, count, dtype }
    }
    /// Bytes of its packed data. BAD_PARAM: more than MPI can count.
    pub fn bytes(self) -> Result<u64> {
        packed(self.dtype, self.count)
    }
    /// Its address where its elements lie side by side, so that they are their packed data.
    pub fn contiguous(self) -> Option<*const u8> {
        self.dtype.is_contiguous().then_some(self.at)
    }
    /// Its bytes, where its elements lie side by side; to be read alone.
    pub fn readable(self) -> Option<Room<'a>> {
        let len = self.bytes().ok()?;
        self.contiguous().map(|at| Room { at: at.cast_mut(), len, memory: PhantomData })
    }
    /// The first elements, so many. Panics where there are fewer.
    pub fn first(self, count: u64) -> Source<'a> {
        assert!(count <= self.count, "{count} of {}", self.count);
        Source { count, ..self }
    }
    /// The elements behind the first `skip` ones. Panics where there are fewer.
    pub fn from(self, skip: u64) -> Source<'a> {
        assert!(skip <= self.count, "{skip} of {}", self.count);
        let at = self.at.wrapping_offset(distance(self.dtype, skip.cast_signed()));
        Source { at, count: self.count - skip, ..self }
    }
    /// `count` elements from the one of number `disp` on.
    ///
    /// # Safety
    /// They are among those for which `new` promised, or as `new` would have it.
    pub unsafe fn at(self, disp: i64, count: u64) -> Source<'a> {
        Source { at: self.at.wrapping_offset(distance(self.dtype, disp)), count, ..self }
    }
    /// Packs the bytes from `from` on that fill a room. Panics where there are not so many.
    pub fn pack_part(self, from: u64, into: Room<'_>) {
        let bytes = self.bytes().unwrap_or(0);
        assert!(from <= bytes && into.len <= bytes - from, "{} bytes from {from} on, of {bytes}", into.len);
        // SAFETY: elements are there and so is the room (`new` of both); a room is no part of the user's buffers.
        unsafe {
            match self.contiguous() {
                Some(at) => copy_in(at.add(from as usize), into.at, into.len as usize),
                None => _ = oxmpi_datatype::pack(self.dtype, self.count, self.at, from, into.at, into.len),
            }
        }
    }
    /// Packs all of it into the first bytes of a room. Panics where that is too small.
    #[inline]
    pub fn pack(self, into: Room<'_>) -> Result {
        let bytes = self.bytes()?;
        assert!(bytes <= into.len, "{bytes} bytes into {}", into.len);
        // SAFETY: elements are there and so is the room (`new` of both); a room is no part of the user's buffers.
        unsafe {
            match self.contiguous() {
                Some(at) => copy_in(at, into.at, bytes as usize),
                None => _ = oxmpi_datatype::pack(self.dtype, self.count, self.at, 0, into.at, bytes),
            }
        }
        Ok(())
    }
}

impl<'a> Place<'a> {
    /// # Safety
    /// For `'a` the call may read and write `count` elements of the type at `at`.
    pub unsafe fn new(at: *mut u8, count: u64, dtype: &'a TypeDesc) -> Place<'a> {
        Place { at, count, dtype }
    }
    /// Bytes of its packed data. BAD_PARAM: more than MPI can count.
    pub fn bytes(self) -> Result<u64> {
        packed(self.dtype, self.count)
    }
    /// The elements as they are.
    pub fn source(self) -> Source<'a> {
        Source { at: self.at, count: self.count, dtype: self.dtype }
    }
    /// `count` elements from the one of number `disp` on.
    ///
    /// # Safety
    /// They are among those for which `new` promised, or as `new` would have it.
    pub unsafe fn at(self, disp: i64, count: u64) -> Place<'a> {
        Place { at: self.at.wrapping_offset(distance(self.dtype, disp)), count, ..self }
    }
    /// Block number `nth` of equal ones of `count` elements. Panics where there is no such block.
    pub fn block(self, nth: u32, count: u64) -> Place<'a> {
        let first = u64::from(nth) * count;
        assert!(first + count <= self.count, "{count} from {first} on, of {}", self.count);
        // SAFETY: inside, as was just seen.
        unsafe { self.at(first.cast_signed(), count) }
    }
    /// Its bytes, where its elements lie side by side.
    pub fn room(self) -> Result<Option<Room<'a>>> {
        let len = self.bytes()?;
        Ok(self.dtype.is_contiguous().then_some(Room { at: self.at, len, memory: PhantomData }))
    }
    /// Unpacks bytes to where the packed data has them from byte `from` on. Panics where that is beyond its end.
    #[inline]
    pub fn unpack(self, from: u64, bytes: Room<'_>) -> Result {
        let total = self.bytes()?;
        assert!(from <= total && bytes.len <= total - from, "{} bytes at {from} of {total}", bytes.len);
        // SAFETY: elements are there and so are the bytes (`new` of both), which are no part of the user's buffer.
        unsafe {
            if self.dtype.is_contiguous() {
                copy_bytes(bytes.at, self.at.add(from as usize), bytes.len as usize);
            } else {
                oxmpi_datatype::unpack(self.dtype, self.count, self.at, from, bytes.at, bytes.len);
            }
        }
        Ok(())
    }
    /// Copies data of the same signature here, unless it is this very place. Data longer than the place is cut: false.
    pub fn take(self, from: Source<'_>) -> Result<bool> {
        if from.at == self.at.cast_const() {
            return Ok(true);
        }
        let (wanted, room) = (from.bytes()?, self.bytes()?);
        let total = wanted.min(room);
        match from.dtype.is_contiguous() && self.dtype.is_contiguous() {
            // SAFETY: both have as much data, which does not overlap, as MPI demands of the user.
            true => unsafe { copy_bytes(from.at, self.at, total as usize) },
            false => self.take_in_pieces(from, total),
        }
        Ok(wanted <= room)
    }
    /// Copies the first bytes of data, `total` of them, by way of memory on the stack, which costs as much as a short collective.
    #[cold]
    #[inline(never)]
    fn take_in_pieces(self, from: Source<'_>, total: u64) {
        let (mut piece, mut done) = ([0u8; 4096], 0);
        while done < total {
            let len = (total - done).min(piece.len() as u64);
            // SAFETY: both have as much data, which does not overlap, as MPI demands of the user; a piece is as large as it says.
            unsafe {
                oxmpi_datatype::pack(from.dtype, from.count, from.at, done, piece.as_mut_ptr(), len);
                oxmpi_datatype::unpack(self.dtype, self.count, self.at, done, piece.as_ptr(), len);
            }
            done += len;
        }
    }
}

impl<'a> Room<'a> {
    /// # Safety
    /// For `'a` the call may read and write `len` bytes at `at`.
    pub unsafe fn new(at: *mut u8, len: u64) -> Room<'a> {
        Room { at, len, memory: PhantomData }
    }
    /// Temporary memory.
    pub fn of(bytes: &'a mut [u64]) -> Room<'a> {
        Room { at: bytes.as_mut_ptr().cast(), len: size_of_val(bytes) as u64, memory: PhantomData }
    }
    pub fn len(self) -> u64 {
        self.len
    }
    /// The address of its first byte.
    pub fn start(self) -> *mut u8 {
        self.at
    }
    /// Its bytes `from..from + len`. Panics where there are not so many.
    #[inline]
    pub fn part(self, from: u64, len: u64) -> Room<'a> {
        assert!(from <= self.len && len <= self.len - from, "{len} from {from} on, of {}", self.len);
        Room { at: self.at.wrapping_add(from as usize), len, ..self }
    }
    /// Copies the bytes of a room, all of them, to the first ones here, which are in shared memory.
    pub fn put(self, from: Room<'_>) {
        assert!(from.len <= self.len, "{} bytes into {}", from.len, self.len);
        // SAFETY: both are there (`new`), and are different memory: users' buffers or temporary memory, and a cell.
        unsafe { copy_in(from.at, self.at, from.len as usize) };
    }
    /// Copies another room's bytes, all of them, to the first ones here.
    #[inline]
    pub fn copy(self, from: Room<'_>) {
        assert!(from.len <= self.len, "{} bytes into {}", from.len, self.len);
        // SAFETY: both are there (`new`); they may be the same.
        unsafe { copy_bytes(from.at, self.at, from.len as usize) };
    }
}

/// Temporary memory of at least `len` bytes, aligned to 8. OUT_OF_MEMORY: there is not so much.
pub fn memory(len: u64) -> Result<Vec<u64>> {
    let words = usize::try_from(len.div_ceil(8)).map_err(|_| Status::OUT_OF_MEMORY)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(words).map_err(|_| Status::OUT_OF_MEMORY)?;
    memory.resize(words, 0);
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_all_bytes_and_no_others() {
        let from: Vec<u8> = (1..=200).collect();
        for len in 0..from.len() {
            for copy in [copy_bytes, copy_in] {
                let mut to = [0u8; 201];
                // SAFETY: both have as many bytes, and do not overlap.
                unsafe { copy(from.as_ptr(), to.as_mut_ptr(), len) };
                assert_eq!((&to[..len], to[len]), (&from[..len], 0), "{len} bytes");
            }
        }
    }
}
