//! Attributes: values that users hang on communicators, datatypes and windows (MPI 5.0 §7.7).
//!
//! A keyval is a number into one process-wide list; what it stands for is counted, so attributes
//! outlive MPI_Comm_free_keyval as the standard wants, and while there is one the key can be used.
//! Freeing a key again through a copy of its number does nothing: numbers are not used again, so no other
//! key can be meant. User callbacks run without any lock: the lists
//! are copied first. Callbacks come as addresses, since 0 and 1 are sentinels and not functions.

use crate::constants::*;
use crate::error::{Failure, On, Res, call, call_on};
use crate::gate;
use crate::memory::{read, write};
use crate::types::{Comm, Datatype, Win};
use crate::{comm, datatype, errcode, win};
use core::ffi::c_int;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Copy callback of any kind of object: object, keyval, extra state, value in, value out, flag.
type Copy = unsafe extern "C-unwind" fn(usize, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
/// Delete callback: object, keyval, value, extra state.
type Delete = unsafe extern "C-unwind" fn(usize, c_int, usize, usize) -> c_int;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Comm,
    Datatype,
    Win,
}

struct Keyval {
    number: c_int,
    of: Of,
    /// Sentinel or address.
    copy: usize,
    delete: usize,
    extra: usize,
}

/// First number of a user's keyval; the predefined ones are below.
const FIRST: c_int = 1000;

/// A number that was given out.
enum Key {
    Used(Arc<Keyval>),
    /// By the user; its attributes may still be there.
    Freed(Of, Weak<Keyval>),
}

impl Key {
    fn freed(keyval: &Arc<Keyval>) -> Key {
        Key::Freed(keyval.of, Arc::downgrade(keyval))
    }
}

/// Keyvals by number minus FIRST. Numbers are not used again.
static KEYVALS: Mutex<Vec<Key>> = Mutex::new(Vec::new());

/// How many keyvals have not been freed.
pub fn keyvals() -> usize {
    KEYVALS.lock().iter().filter(|key| matches!(key, Key::Used(_))).count()
}

/// At the end of MPI: as if the user had freed them.
pub fn forget_keyvals() {
    for key in KEYVALS.lock().iter_mut() {
        if let Key::Used(keyval) = key {
            *key = Key::freed(keyval);
        }
    }
}

/// The attributes of one object, oldest first.
pub struct Attributes(Mutex<Vec<(Arc<Keyval>, usize)>>);

impl Default for Attributes {
    fn default() -> Self {
        Attributes::new()
    }
}

impl Keyval {
    fn create(of: Of, copy: usize, delete: usize, extra: usize) -> c_int {
        let mut all = KEYVALS.lock();
        let number = FIRST + all.len() as c_int;
        all.push(Key::Used(Arc::new(Keyval { number, of, copy, delete, extra })));
        number
    }

    fn find(number: c_int, of: Of) -> Res<Arc<Keyval>> {
        let at = usize::try_from(i64::from(number) - i64::from(FIRST)).ok();
        let all = KEYVALS.lock();
        match at.and_then(|at| all.get(at)) {
            Some(Key::Used(keyval)) if keyval.of == of => Ok(keyval.clone()),
            Some(Key::Used(keyval)) => {
                Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is for a {:?}", keyval.of))
            }
            Some(Key::Freed(was, keyval)) => match keyval.upgrade() {
                Some(keyval) if *was == of => Ok(keyval),
                _ => Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} was freed")),
            },
            None if is_predefined(number) => {
                Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is predefined and no {of:?} has it"))
            }
            None if number == MPI_KEYVAL_INVALID => {
                Failure::err(MPI_ERR_KEYVAL, "keyval is MPI_KEYVAL_INVALID")
            }
            None => Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is none")),
        }
    }

    fn was_freed(number: c_int, of: Of) -> bool {
        let at = usize::try_from(i64::from(number) - i64::from(FIRST)).ok();
        let all = KEYVALS.lock();
        at.and_then(|at| all.get(at)).is_some_and(|key| matches!(key, Key::Freed(was, _) if *was == of))
    }

    fn free(at: *mut c_int, of: Of) -> Res {
        let number = read(at, "keyval")?;
        changeable(number)?;
        if !Keyval::was_freed(number, of) {
            let keyval = Keyval::find(number, of)?;
            KEYVALS.lock()[(number - FIRST) as usize] = Key::freed(&keyval);
        }
        write(at, "keyval", MPI_KEYVAL_INVALID)
    }

    fn call_delete(&self, object: usize, value: usize) -> Res {
        if self.delete == MPI_NULL_DELETE_FN {
            return Ok(());
        }
        // SAFETY: the user gave it as a delete function; the sentinel is excluded.
        let function = unsafe { core::mem::transmute::<usize, Delete>(self.delete) };
        // SAFETY: called as the standard says.
        answer(gate::outside(|| unsafe { function(object, self.number, value, self.extra) }), "delete")
    }

    /// The value for a copy of the object, if there is to be one.
    fn call_copy(&self, object: usize, value: usize) -> Res<Option<usize>> {
        match self.copy {
            MPI_NULL_COPY_FN => Ok(None),
            MPI_DUP_FN => Ok(Some(value)),
            address => {
                // SAFETY: the user gave it as a copy function; sentinels are excluded.
                let function = unsafe { core::mem::transmute::<usize, Copy>(address) };
                let (mut new, mut flag) = (0, 0);
                // SAFETY: called as the standard says, with places that live here.
                let code = gate::outside(|| unsafe {
                    function(object, self.number, self.extra, value, &mut new, &mut flag)
                });
                answer(code, "copy")?;
                Ok((flag != 0).then_some(new))
            }
        }
    }
}

fn answer(code: c_int, which: &str) -> Res {
    match code {
        MPI_SUCCESS => Ok(()),
        code => Failure::err(code, format!("an attribute's {which} function returned {code}")),
    }
}

impl Attributes {
    pub const fn new() -> Attributes {
        Attributes(Mutex::new(Vec::new()))
    }

    fn get(&self, number: c_int) -> Option<usize> {
        self.0.lock().iter().find(|(k, _)| k.number == number).map(|(_, value)| *value)
    }

    fn set(&self, object: usize, keyval: Arc<Keyval>, value: usize) -> Res {
        if let Some(old) = self.get(keyval.number) {
            keyval.call_delete(object, old)?;
        }
        // To the end: the order of setting decides the order of deleting.
        let mut all = self.0.lock();
        all.retain(|(k, _)| k.number != keyval.number);
        all.push((keyval, value));
        Ok(())
    }

    fn delete(&self, object: usize, number: c_int) -> Res {
        let found = self.0.lock().iter().find(|(k, _)| k.number == number).cloned();
        let Some((keyval, value)) = found else { return Ok(()) };
        keyval.call_delete(object, value)?;
        self.0.lock().retain(|(k, _)| k.number != number);
        Ok(())
    }

    /// Before the object goes: all, the youngest first. What could not be deleted stays.
    pub fn delete_all(&self, object: usize) -> Res {
        loop {
            let last = self.0.lock().last().map(|(k, _)| k.number);
            match last {
                Some(number) => self.delete(object, number)?,
                None => return Ok(()),
            }
        }
    }

    /// For a duplicate of the object.
    pub fn copy_to(&self, object: usize, other: &Attributes) -> Res {
        let all = self.0.lock().clone();
        for (keyval, value) in all {
            if let Some(new) = keyval.call_copy(object, value)? {
                other.0.lock().push((keyval, new));
            }
        }
        Ok(())
    }
}

/// Values of the predefined attributes: what the user gets is a pointer to an int.
pub struct Predefined {
    tag_ub: c_int,
    host: c_int,
    io: c_int,
    wtime_is_global: c_int,
    universe_size: c_int,
    appnum: c_int,
}

/// Set once by MPI_Init; leaked, since users keep the pointers.
static PREDEFINED: Mutex<Option<&'static Predefined>> = Mutex::new(None);
static LAST_USED_CODE: core::sync::atomic::AtomicI32 = core::sync::atomic::AtomicI32::new(0);

/// Fixes the predefined attributes.
pub fn start(tag_ub: c_int, universe_size: c_int, appnum: c_int) {
    let values = Predefined {
        tag_ub,
        host: MPI_PROC_NULL,
        // Every rank can do what the language calls input and output.
        io: MPI_ANY_SOURCE,
        wtime_is_global: 0,
        universe_size,
        appnum,
    };
    *PREDEFINED.lock() = Some(Box::leak(Box::new(values)));
}

/// Address of a predefined attribute's value.
fn predefined(number: c_int) -> Option<usize> {
    let values = (*PREDEFINED.lock())?;
    let place: *const c_int = match number {
        MPI_TAG_UB => &values.tag_ub,
        MPI_HOST => &values.host,
        MPI_IO => &values.io,
        MPI_WTIME_IS_GLOBAL => &values.wtime_is_global,
        MPI_UNIVERSE_SIZE => &values.universe_size,
        MPI_APPNUM => &values.appnum,
        MPI_LASTUSEDCODE => {
            LAST_USED_CODE.store(errcode::last_used(), core::sync::atomic::Ordering::Relaxed);
            LAST_USED_CODE.as_ptr()
        }
        _ => return None,
    };
    Some(place as usize)
}

fn is_predefined(number: c_int) -> bool {
    (MPI_TAG_UB..=MPI_UNIVERSE_SIZE).contains(&number) || (MPI_WIN_BASE..=MPI_WIN_MODEL).contains(&number)
}

fn tell(found: Option<usize>, value: *mut usize, flag: *mut c_int) -> Res {
    if value.is_null() {
        return Failure::err(MPI_ERR_ARG, "attribute_val is a null pointer");
    }
    if let Some(found) = found {
        write(value, "attribute_val", found)?;
    }
    write(flag, "flag", found.is_some() as c_int)
}

fn changeable(number: c_int) -> Res {
    if is_predefined(number) {
        return Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is predefined and cannot be changed"));
    }
    Ok(())
}

fn create(of: Of, copy: usize, delete: usize, keyval: *mut c_int, extra_state: usize) -> Res {
    if keyval.is_null() {
        return Failure::err(MPI_ERR_ARG, "keyval is a null pointer");
    }
    write(keyval, "keyval", Keyval::create(of, copy, delete, extra_state))
}

mpi_fn! {
    fn MPI_Comm_create_keyval[c_int], MPI_Keyval_create[c_int]<_N>(copy: usize, delete: usize, keyval: *mut c_int, extra_state: usize) -> c_int {
        call(NAME, None, |_| create(Of::Comm, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Comm_free_keyval[c_int], MPI_Keyval_free[c_int]<_N>(keyval: *mut c_int) -> c_int {
        call(NAME, None, |_| Keyval::free(keyval, Of::Comm))
    }
}
mpi_fn! {
    fn MPI_Comm_set_attr[c_int], MPI_Attr_put[c_int]<_N>(comm: Comm, keyval: c_int, value: usize) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = comm::require(comm)?;
            changeable(keyval)?;
            object.attributes.set(comm.0, Keyval::find(keyval, Of::Comm)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_attr[c_int], MPI_Attr_get[c_int]<_N>(comm: Comm, keyval: c_int, value: *mut usize, flag: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = comm::require(comm)?;
            if let Some(found) = predefined(keyval) {
                return tell(Some(found), value, flag);
            }
            Keyval::find(keyval, Of::Comm)?;
            tell(object.attributes.get(keyval), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_delete_attr[c_int], MPI_Attr_delete[c_int]<_N>(comm: Comm, keyval: c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = comm::require(comm)?;
            changeable(keyval)?;
            Keyval::find(keyval, Of::Comm)?;
            object.attributes.delete(comm.0, keyval)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_keyval(copy: usize, delete: usize, keyval: *mut c_int, extra_state: usize) -> c_int {
        call(NAME, None, |_| create(Of::Datatype, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Type_free_keyval(keyval: *mut c_int) -> c_int {
        call(NAME, None, |_| Keyval::free(keyval, Of::Datatype))
    }
}
mpi_fn! {
    fn MPI_Type_set_attr(datatype: Datatype, keyval: c_int, value: usize) -> c_int {
        call(NAME, None, |_| {
            let attributes = datatype::attributes(datatype)?;
            attributes.set(datatype.0, Keyval::find(keyval, Of::Datatype)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_attr(datatype: Datatype, keyval: c_int, value: *mut usize, flag: *mut c_int) -> c_int {
        call(NAME, None, |_| {
            let attributes = datatype::attributes(datatype)?;
            Keyval::find(keyval, Of::Datatype)?;
            tell(attributes.get(keyval), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Type_delete_attr(datatype: Datatype, keyval: c_int) -> c_int {
        call(NAME, None, |_| {
            let attributes = datatype::attributes(datatype)?;
            Keyval::find(keyval, Of::Datatype)?;
            attributes.delete(datatype.0, keyval)
        })
    }
}
mpi_fn! {
    fn MPI_Win_create_keyval(copy: usize, delete: usize, keyval: *mut c_int, extra_state: usize) -> c_int {
        call(NAME, None, |_| create(Of::Win, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Win_free_keyval(keyval: *mut c_int) -> c_int {
        call(NAME, None, |_| Keyval::free(keyval, Of::Win))
    }
}
mpi_fn! {
    fn MPI_Win_set_attr(win: Win, keyval: c_int, value: usize) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = win::require(win)?;
            changeable(keyval)?;
            object.attributes.set(win.0, Keyval::find(keyval, Of::Win)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_attr(win: Win, keyval: c_int, value: *mut usize, flag: *mut c_int) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = win::require(win)?;
            if let Some(found) = object.predefined(keyval) {
                return tell(Some(found), value, flag);
            }
            Keyval::find(keyval, Of::Win)?;
            tell(object.attributes.get(keyval), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Win_delete_attr(win: Win, keyval: c_int) -> c_int {
        call_on(NAME, On::Win(win), |_| {
            let object = win::require(win)?;
            changeable(keyval)?;
            Keyval::find(keyval, Of::Win)?;
            object.attributes.delete(win.0, keyval)
        })
    }
}
