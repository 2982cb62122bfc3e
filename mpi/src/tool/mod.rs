//! The tool information interface MPI_T (MPI 5.0 §15.3): control variables, performance variables,
//! categories, enumerations, events.
//!
//! **When.** Between MPI_T_init_thread and the matching MPI_T_finalize, which are counted, whatever MPI
//! itself does meanwhile: before MPI_Init, during, after MPI_Finalize. Before a runtime instance is there,
//! parameters are those of the registry, and what is written to them goes into the instance when it
//! starts ([`written`]); afterwards they are the instance's, also while it rests.
//!
//! **Indices** never change their meaning: what is found later is added behind.
//!
//! **Errors** are returned, no error handler hears of them. **Threads**: everything may be called by any
//! thread at any time; the locks here are leaves of this module, none is alive when a callback of the user
//! runs.
//!
//! Map: `cvar` (control variables) · `pvar` (which performance variables there are, and where their values
//! come from), `session` (handles on them) · `category` · `enumeration` · `event` (types, sources,
//! delivery), `event_calls` (their functions).

mod category;
mod cvar;
mod enumeration;
pub mod event;
mod event_calls;
mod pvar;
mod session;
mod window_pvar;

use crate::constants::*;
use crate::memory::write_text;
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_runtime::Instance;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use cvar::written;

/// Return value of a function of the tool interface.
type Res<T = ()> = Result<T, c_int>;

/// How many MPI_T_init_thread are without their MPI_T_finalize.
static USERS: Mutex<usize> = Mutex::new(0);
/// The runtime instance of this process, from its first start on.
static INSTANCE: RwLock<Option<Arc<Instance>>> = RwLock::new(None);

fn instance() -> Option<Arc<Instance>> {
    INSTANCE.read().clone()
}

/// A runtime instance was started.
pub fn started(instance: &Arc<Instance>) {
    session::started(instance, || *INSTANCE.write() = Some(instance.clone()));
}

/// Runs the body of a function, if the interface is in use.
fn call(body: impl FnOnce() -> Res) -> c_int {
    if *USERS.lock() == 0 {
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(code) => code,
    }
}

/// Stores what the user must take.
fn give<T>(at: *mut T, value: T) -> Res {
    crate::memory::write(at, "", value).map_err(|_| MPI_T_ERR_INVALID)
}

/// Stores what the user may leave out by a null pointer.
fn offer<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: not null, and the caller of the C function promises it points to such a value.
        unsafe { at.write(value) }
    }
}

/// Stores a text as MPI 5.0 §15.3.3 has it: `len` says how much room there is and gets what is needed; no
/// room, or no place: only that.
fn offer_text(at: *mut c_char, len: *mut c_int, text: &str) {
    if len.is_null() {
        return;
    }
    // SAFETY: not null, the user's number.
    let room = unsafe { len.read() };
    if !at.is_null() && room > 0 {
        // It is not null, so it is stored.
        let _ = write_text(at, "", text, room as usize);
    }
    offer(len, c_int::try_from(text.len() + 1).unwrap_or(c_int::MAX));
}

/// A name from the user.
fn name(at: *const c_char) -> Res<String> {
    if at.is_null() {
        return Err(MPI_T_ERR_INVALID);
    }
    // SAFETY: not null, terminated by the promise of the caller of the C function.
    Ok(unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// The element an index names.
fn at<T>(list: &[T], index: c_int) -> Res<&T> {
    usize::try_from(index).ok().and_then(|i| list.get(i)).ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// Fills the user's array with at most `room` indices.
fn offer_indices(found: &[usize], room: c_int, indices: *mut c_int) -> Res {
    let room = usize::try_from(room).map_err(|_| MPI_T_ERR_INVALID)?;
    let n = found.len().min(room);
    let places = crate::memory::slice_mut(indices, n, "").map_err(|_| MPI_T_ERR_INVALID)?;
    for (place, index) in places.iter_mut().zip(found) {
        *place = *index as c_int;
    }
    Ok(())
}

/// MPI's verbosity of a parameter's level from 1 to 9.
fn verbosity(level: u32) -> c_int {
    const LEVELS: [c_int; 9] = [
        MPI_T_VERBOSITY_USER_BASIC,
        MPI_T_VERBOSITY_USER_DETAIL,
        MPI_T_VERBOSITY_USER_ALL,
        MPI_T_VERBOSITY_TUNER_BASIC,
        MPI_T_VERBOSITY_TUNER_DETAIL,
        MPI_T_VERBOSITY_TUNER_ALL,
        MPI_T_VERBOSITY_MPIDEV_BASIC,
        MPI_T_VERBOSITY_MPIDEV_DETAIL,
        MPI_T_VERBOSITY_MPIDEV_ALL,
    ];
    LEVELS[level.clamp(1, 9) as usize - 1]
}

/// Numbers to objects. A number is used once, so a stale one is always told apart.
struct Handles<T> {
    objects: RwLock<BTreeMap<usize, Arc<T>>>,
}

/// Above what the standard fixes, and a multiple of 16 like the address a tool may take it for.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

impl<T> Handles<T> {
    const fn new() -> Handles<T> {
        Handles { objects: RwLock::new(BTreeMap::new()) }
    }
    fn insert(&self, object: T) -> usize {
        let number = NEXT.fetch_add(16, Ordering::Relaxed);
        self.objects.write().insert(number, Arc::new(object));
        number
    }
    fn get(&self, number: usize) -> Option<Arc<T>> {
        self.objects.read().get(&number).cloned()
    }
    fn remove(&self, number: usize) -> Option<Arc<T>> {
        self.objects.write().remove(&number)
    }
    fn all(&self) -> Vec<(usize, Arc<T>)> {
        self.objects.read().iter().map(|(n, o)| (*n, o.clone())).collect()
    }
    /// Forgets all; they are dropped when no guard is alive any more.
    fn clear(&self) {
        let gone = core::mem::take(&mut *self.objects.write());
        drop(gone);
    }
}

mpi_fn! {
    /// At any level that is asked for, calls of several threads at once are safe.
    fn MPI_T_init_thread(required: c_int, provided: *mut c_int) -> c_int {
        let known =
            [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE].contains(&required);
        if !known || provided.is_null() {
            return MPI_T_ERR_INVALID;
        }
        offer(provided, MPI_THREAD_MULTIPLE);
        *USERS.lock() += 1;
        MPI_SUCCESS
    }
}
mpi_fn! {
    fn MPI_T_finalize() -> c_int {
        {
            let mut users = USERS.lock();
            match *users {
                0 => return MPI_T_ERR_NOT_INITIALIZED,
                n => *users = n - 1,
            }
            if *users > 0 {
                return MPI_SUCCESS;
            }
        }
        cvar::forget();
        session::forget();
        event::forget();
        MPI_SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_and_its_length_told() {
        let mut room = [1 as c_char; 8];
        let mut len = 4;
        offer_text(room.as_mut_ptr(), &mut len, "abcdef");
        assert_eq!((len, room[..5].to_vec()), (7, b"abc\0\x01".map(|b| b as c_char).to_vec()));
        for (at, n) in [(room.as_mut_ptr(), 0), (core::ptr::null_mut(), 5)] {
            let mut len = n;
            offer_text(at, &mut len, "abcdef");
            assert_eq!((len, room[0]), (7, b'a' as c_char));
        }
        offer_text(room.as_mut_ptr(), core::ptr::null_mut(), "xyz");
        assert_eq!(room[0], b'a' as c_char);
    }

    #[test]
    fn handles_are_never_used_twice() {
        static H: Handles<u32> = Handles::new();
        let a = H.insert(1);
        assert_eq!(H.remove(a).as_deref(), Some(&1));
        let b = H.insert(2);
        assert!(a != b && H.get(a).is_none() && H.remove(a).is_none());
        assert_eq!(H.all().len(), 1);
    }
}
