//! The arguments of a call with sections, replaced by those of a call with the same data in memory.
//!
//! A rule for each buffer says which arguments are about it (`xtask/src/generate/fortran/buffers.rs`). Rules leave contiguous buffers alone, and arguments that C refuses:
//! negative counts, MPI_DATATYPE_NULL. A call that cannot be made in C is refused here, before anything is done.

use super::blocks::{Blocks, equal, several};
use super::compose::{Mapped, compose};
use super::descriptor::{self, Descriptor};
use super::mpi::{DATATYPE_NULL, Datatype, ERR_BUFFER, Made};
use super::pending;
use super::section::Section;
use super::stage::{Direction, Image};
use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::kept::{self, Own};
use crate::kinds::{self, Kind};
use crate::sentinels::is_in_place;
use core::ffi::{c_int, c_void};

/// A buffer as it came, and the address that C gets.
#[derive(Clone, Copy)]
pub struct Actual {
    descriptor: *const Descriptor,
    pub address: *mut c_void,
}

impl Actual {
    /// # Safety
    /// The argument of a procedure, as long as the value is used.
    pub unsafe fn of(descriptor: *const Descriptor) -> Actual {
        // SAFETY: the caller's promise.
        Actual { descriptor, address: unsafe { descriptor::address(descriptor) } }
    }

    pub fn is_in_place(&self) -> bool {
        is_in_place(self.address)
    }

    fn move_by(&mut self, bytes: i64) {
        self.address = self.address.wrapping_byte_offset(bytes as isize);
    }
}

/// Kinds of INTEGER for counts and displacements.
pub trait Number: Copy + Send + 'static {
    const ONE: Self;
    fn get(self) -> i64;
    /// `None`: this kind has no such number.
    fn of(value: i64) -> Option<Self>;
}

macro_rules! numbers {
    ($($n:ty)*) => { $(
        impl Number for $n {
            const ONE: $n = 1;
            fn get(self) -> i64 {
                self as i64
            }
            fn of(value: i64) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )* };
}
numbers!(c_int i64 isize);

/// The arguments that were replaced.
#[derive(Default)]
pub struct Strided {
    refused: Option<c_int>,
    types: Vec<Made>,
    images: Vec<Image>,
    /// Numbers for the call, and arrays until the operation is complete.
    values: Vec<Own>,
    arrays: Vec<Own>,
    /// The call has arrays of datatypes, which are kept, too.
    has_types: bool,
    /// The place of the operation's request, and whether it is to be started first.
    request: Option<(*mut Fint, bool)>,
}

/// Rules are called with arguments of a procedure, whose caller promises what the standard asks; buffers and the places that arguments are moved to live until [`Strided::done`].
impl Strided {
    /// The operation has a request.
    pub fn later(&mut self, request: &*mut Fint) {
        self.request = Some((*request, false));
    }

    /// The operation has a persistent request.
    pub fn started_later(&mut self, request: &*mut Fint) {
        self.request = Some((*request, true));
    }

    /// So many of a datatype.
    ///
    /// # Safety
    /// As [`Strided`] says, here and below.
    pub unsafe fn data<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
    ) {
        // SAFETY: the caller's promise.
        let Some((section, of, n)) = (unsafe { self.all_of(buffer, **count, **datatype) }) else { return };
        let mapped = compose(&section, 0, n, &of);
        if let Some(Mapped { at, datatype: made }) = self.or_refuse(mapped) {
            buffer.move_by(at);
            if let Some(made) = made {
                *count = self.single();
                *datatype = self.datatype(made);
            }
        }
    }

    /// One of a datatype, which has no count.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn one(&mut self, buffer: &mut Actual, datatype: &mut *const Fint) {
        // SAFETY: the caller's promise.
        let Some((section, of, _)) = (unsafe { self.all_of(buffer, 1i64, **datatype) }) else { return };
        match compose(&section, 0, 1, &of) {
            Ok(Mapped { at, datatype: None }) => buffer.move_by(at),
            Ok(_) => self.refuse(ERR_BUFFER),
            Err(code) => self.refuse(code),
        }
    }

    /// Memory that is used for something else than the data of a call.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn whole(&mut self, buffer: &mut Actual) {
        // SAFETY: the caller's promise.
        if unsafe { self.section(buffer) }.is_some() {
            self.refuse(ERR_BUFFER);
        }
    }

    /// Bytes that are read.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn bytes_from<N: Number>(&mut self, buffer: &mut Actual, size: &mut *const N) {
        // SAFETY: the caller's promise.
        unsafe { self.bytes(buffer, **size, Direction::From) }
    }

    /// Bytes that are written.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn bytes_into<N: Number>(&mut self, buffer: &mut Actual, size: &mut *const N) {
        // SAFETY: the caller's promise.
        unsafe { self.bytes(buffer, **size, Direction::Into) }
    }

    unsafe fn bytes<N: Number>(&mut self, buffer: &mut Actual, size: N, direction: Direction) {
        const BYTE: Fint = 0x247;
        // SAFETY: the caller's promise.
        if let Some((section, of, n)) = unsafe { self.all_of(buffer, size, BYTE) } {
            // SAFETY: as above.
            unsafe { self.stage(buffer, section, &of, vec![(0, n)], direction) }
        }
    }

    /// Operands of a reduction.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn reduced_from(&mut self, buffer: &mut Actual, datatype: &mut *const Fint, elements: i64) {
        // SAFETY: the caller's promise.
        unsafe { self.reduced(buffer, **datatype, elements, Direction::From) }
    }

    /// Results of a reduction, which may be operands, too.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn reduced_into(&mut self, buffer: &mut Actual, datatype: &mut *const Fint, elements: i64) {
        // SAFETY: the caller's promise.
        unsafe { self.reduced(buffer, **datatype, elements, Direction::Into) }
    }

    unsafe fn reduced(&mut self, buffer: &mut Actual, datatype: Fint, elements: i64, direction: Direction) {
        // SAFETY: the caller's promise.
        if let Some((section, of, n)) = unsafe { self.all_of(buffer, elements, datatype) } {
            // SAFETY: as above.
            unsafe { self.stage(buffer, section, &of, vec![(0, n)], direction) }
        }
    }

    /// Blocks for so many processes, which follow each other.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn blocks_from<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        processes: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(buffer, count, datatype, processes, Direction::From) }
    }

    /// Blocks of so many processes, which follow each other.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn blocks_into<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        processes: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.blocks(buffer, count, datatype, processes, Direction::Into) }
    }

    /// So many partitions that are sent, each when it is ready.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn partitions_from<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        partitions: &mut *const c_int,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.partitions(buffer, count, datatype, **partitions, Direction::From) }
    }

    /// So many partitions that are received.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn partitions_into<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        partitions: &mut *const c_int,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.partitions(buffer, count, datatype, **partitions, Direction::Into) }
    }

    unsafe fn partitions<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        partitions: c_int,
        direction: Direction,
    ) {
        let before = self.images.len();
        // SAFETY: the caller's promise.
        unsafe {
            self.blocks(buffer, count, datatype, usize::try_from(partitions).unwrap_or(0), direction);
        }
        let images = self.images.split_off(before);
        self.images.extend(images.into_iter().map(Image::by_parts));
    }

    unsafe fn blocks<N: Number>(
        &mut self,
        buffer: &mut Actual,
        count: &mut *const N,
        datatype: &mut *const Fint,
        processes: usize,
        direction: Direction,
    ) {
        let processes = processes as i64;
        // SAFETY: the caller's promise.
        let Some((section, of, n)) = (unsafe { self.all_of(buffer, **count, **datatype) }) else { return };
        if processes == 0 {
            return;
        }
        let found = equal(&section, n, &of, processes);
        match self.or_refuse(found) {
            None => {}
            Some(Blocks::AsIs(at)) => buffer.move_by(at),
            Some(Blocks::Each(made) | Blocks::Several(made, _)) => {
                *count = self.single();
                *datatype = self.datatype(made);
            }
            Some(Blocks::Single(at, made)) => {
                buffer.move_by(at);
                *count = self.single();
                *datatype = self.datatype(made);
            }
            Some(Blocks::None) => {
                let blocks = (0..processes).map(|i| (i * n * of.extent, n)).collect();
                // SAFETY: as above.
                unsafe { self.stage(buffer, section, &of, blocks, direction) }
            }
        }
    }

    /// Blocks for so many processes, of their own counts and displacements.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn vector_from<N: Number, D: Number>(
        &mut self,
        buffer: &mut Actual,
        counts: &mut *mut N,
        displacements: &mut *mut D,
        datatype: &mut *const Fint,
        processes: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.vector(buffer, counts, displacements, datatype, processes, Direction::From) }
    }

    /// Blocks of so many processes, of their own counts and displacements.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn vector_into<N: Number, D: Number>(
        &mut self,
        buffer: &mut Actual,
        counts: &mut *mut N,
        displacements: &mut *mut D,
        datatype: &mut *const Fint,
        processes: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.vector(buffer, counts, displacements, datatype, processes, Direction::Into) }
    }

    unsafe fn vector<N: Number, D: Number>(
        &mut self,
        buffer: &mut Actual,
        counts: &mut *mut N,
        displacements: &mut *mut D,
        datatype: &mut *const Fint,
        processes: usize,
        direction: Direction,
    ) {
        // SAFETY: the caller's promise: as many as there are processes.
        let given = unsafe { pairs(*counts, *displacements, processes) };
        let most = given.iter().map(|(count, _)| *count).max().unwrap_or(0);
        if given.iter().any(|(count, _)| *count < 0) {
            return;
        }
        // SAFETY: as above.
        let Some((section, of, _)) = (unsafe { self.all_of(buffer, most, **datatype) }) else { return };
        let found = several(&section, &given, &of);
        match self.or_refuse(found) {
            None => {}
            Some(Blocks::AsIs(at)) => buffer.move_by(at),
            Some(Blocks::Each(made)) => *datatype = self.datatype(made),
            Some(Blocks::Several(made, each)) => {
                *counts = self.array(given.iter().map(|(count, _)| count / each));
                *displacements = self.array(given.iter().map(|(_, at)| at / each));
                *datatype = self.datatype(made);
            }
            Some(Blocks::Single(at, made)) => {
                buffer.move_by(at);
                *counts = self.array(given.iter().map(|(count, _)| i64::from(*count > 0)));
                *displacements = self.array(given.iter().map(|_| 0));
                *datatype = self.datatype(made);
            }
            Some(Blocks::None) => {
                let used = given.iter().filter(|(count, _)| *count > 0);
                let blocks = used.map(|(count, at)| (at * of.extent, *count)).collect();
                // SAFETY: as above.
                unsafe { self.stage(buffer, section, &of, blocks, direction) }
            }
        }
    }

    /// Blocks of their own counts, displacements in bytes, and datatypes.
    ///
    /// # Safety
    /// As above.
    pub unsafe fn each<N: Number, D: Number>(
        &mut self,
        buffer: &mut Actual,
        counts: &mut *mut N,
        displacements: &mut *mut D,
        datatypes: &mut *mut Fint,
        processes: usize,
    ) {
        // SAFETY: the caller's promise.
        let Some(section) = (unsafe { self.section(buffer) }) else { return };
        // SAFETY: as above: as many as there are processes.
        let given = unsafe { pairs(*counts, *displacements, processes) };
        // SAFETY: as above.
        let mut types: Vec<Fint> = (0..processes).map(|i| unsafe { *datatypes.add(i) }).collect();
        let mut new = given.clone();
        for (i, (count, from)) in given.into_iter().enumerate() {
            if count <= 0 {
                continue;
            }
            let Some(of) = self.bounds_of(types[i]) else { continue };
            let mapped = compose(&section, from, count, &of);
            match self.or_refuse(mapped) {
                None => return,
                Some(Mapped { at, datatype: None }) if D::of(at).is_some() => new[i].1 = at,
                Some(Mapped { at, datatype }) => {
                    let made = match datatype {
                        Some(made) if D::of(at).is_some() => Ok((at, made)),
                        Some(made) => moved(at, 1, made.handle()),
                        None => moved(at, count, of.handle),
                    };
                    let Some((at, made)) = self.or_refuse(made) else { return };
                    new[i] = (1, at);
                    types[i] = kinds::Datatype::number(made.handle());
                    self.types.push(made);
                }
            }
        }
        self.has_types = true;
        *counts = self.array(new.iter().map(|(count, _)| *count));
        *displacements = self.array(new.iter().map(|(_, at)| *at));
        *datatypes = types.as_mut_ptr();
        self.values.push(Box::new(types));
    }

    /// Ends the rules: an error, if the call cannot be made; else images are filled for it.
    pub fn begin(&mut self) -> Option<c_int> {
        let is_for_later = matches!(self.request, Some((_, true)));
        if self.refused.is_none() && !is_for_later {
            // SAFETY: the data of a call are the library's until it is complete.
            self.images.iter_mut().for_each(|image| unsafe { image.fill() });
        }
        self.refused
    }

    /// Ends the call.
    ///
    /// # Safety
    /// As above; `code` is C's answer, and the request is there if that is no error.
    pub unsafe fn done(self, code: c_int) {
        match self.request {
            None => {
                // SAFETY: as in `begin`.
                self.images.iter().for_each(|image| unsafe { image.give_back() });
            }
            Some((place, is_persistent)) if code == SUCCESS => {
                // SAFETY: the caller's place.
                unsafe {
                    if !self.images.is_empty() {
                        let request = kinds::Request::handle(*place);
                        *place = pending::register(request, self.images, self.arrays, !is_persistent);
                    } else if !self.arrays.is_empty() {
                        kept::keep(*place, self.arrays, self.has_types);
                    }
                }
            }
            Some(_) => {}
        }
    }

    fn refuse(&mut self, code: c_int) {
        self.refused.get_or_insert(code);
    }

    fn or_refuse<T>(&mut self, answer: Result<T, c_int>) -> Option<T> {
        answer.map_err(|code| self.refuse(code)).ok()
    }

    /// The section of a buffer that is not contiguous and has elements.
    unsafe fn section(&mut self, buffer: &Actual) -> Option<Section> {
        // SAFETY: the caller's promise.
        let read = unsafe {
            if descriptor::is_contiguous(buffer.descriptor) {
                return None;
            }
            Section::of(buffer.descriptor)
        };
        let section = self.or_refuse(read.map_err(|_| ERR_BUFFER))?;
        (section.run > 0).then_some(section)
    }

    /// The same with the datatype and the count, if there is something to be done about them.
    unsafe fn all_of<N: Number>(
        &mut self,
        buffer: &Actual,
        count: N,
        datatype: Fint,
    ) -> Option<(Section, Datatype, i64)> {
        if count.get() <= 0 {
            return None;
        }
        // SAFETY: the caller's promise.
        let section = unsafe { self.section(buffer) }?;
        Some((section, self.bounds_of(datatype)?, count.get()))
    }

    /// `None`: it has no data, or is none.
    fn bounds_of(&mut self, datatype: Fint) -> Option<Datatype> {
        let handle = kinds::Datatype::handle(datatype);
        if handle == DATATYPE_NULL {
            return None;
        }
        let asked = Datatype::of(handle);
        self.or_refuse(asked).filter(|of| of.size > 0)
    }

    /// The count 1, in place of one of the call.
    fn single<N: Number>(&mut self) -> *const N {
        let own = Box::new(N::ONE);
        let place: *const N = &*own;
        self.values.push(own);
        place
    }

    fn array<N: Number>(&mut self, values: impl Iterator<Item = i64>) -> *mut N {
        // A number that the call's kind has not: the call is not made, so nobody reads the array.
        let own: Result<Vec<N>, c_int> = values.map(|value| N::of(value).ok_or(ERR_BUFFER)).collect();
        let mut own = self.or_refuse(own).unwrap_or_default();
        let place = own.as_mut_ptr();
        self.arrays.push(Box::new(own));
        place
    }

    fn datatype(&mut self, made: Made) -> *const Fint {
        let own = Box::new(kinds::Datatype::number(made.handle()));
        let place: *const Fint = &*own;
        self.values.push(own);
        self.types.push(made);
        place
    }

    /// Replaces the buffer by an image.
    unsafe fn stage(
        &mut self,
        buffer: &mut Actual,
        section: Section,
        of: &Datatype,
        blocks: Vec<(i64, i64)>,
        direction: Direction,
    ) {
        let ends =
            blocks.iter().map(|(from, count)| (from + of.bounds(*count).0, from + of.bounds(*count).1));
        if ends.clone().any(|(low, high)| low < 0 || high > section.len()) {
            return self.refuse(ERR_BUFFER);
        }
        // SAFETY: the caller's promise: the buffer is there until the operation is complete.
        let made = unsafe { Image::new(section, buffer.address, of, blocks, direction) };
        if let Some(mut image) = self.or_refuse(made) {
            buffer.address = image.address();
            self.images.push(image);
        }
    }
}

/// Counts and displacements.
unsafe fn pairs<N: Number, D: Number>(
    counts: *const N,
    displacements: *const D,
    len: usize,
) -> Vec<(i64, i64)> {
    // SAFETY: the caller's promise: both arrays have so many.
    (0..len).map(|i| unsafe { ((*counts.add(i)).get(), (*displacements.add(i)).get()) }).collect()
}

/// So many of a datatype at a displacement that is too large for the call's kind of integer: one datatype, at 0.
fn moved(at: i64, count: i64, of: Handle) -> Result<(i64, Made), c_int> {
    let mut moved = Made::hindexed(&[count], &[at], of)?;
    moved.commit()?;
    Ok((0, moved))
}
