//! Attributes of communicators and windows of endpoints: kept here, with the functions of their keys.
//!
//! A key lives until the program has freed it and no communicator has a value of it (MPI 5.0 §7.7.2). The library is told to free it only
//! then, so that it gives the number to no other key meanwhile.

use super::comm::{self, EpComm};
use super::{error, lock};
use crate::abi::*;
use crate::pmpi;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Functions of a key as the program gave them.
#[derive(Clone, Copy)]
struct Key {
    copy: usize,
    delete: usize,
    extra: usize,
    /// Communicators of endpoints that have a value.
    uses: usize,
    freed: bool,
}

type Copy = unsafe extern "C" fn(Comm, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(Comm, c_int, usize, usize) -> c_int;

const KEYVAL_INVALID: c_int = 0;
const NULL_COPY: usize = 0;
const DUP_COPY: usize = 1;
const PREDEFINED: core::ops::RangeInclusive<c_int> = TAG_UB..=507;

/// Keys of one kind of object.
pub struct Keys {
    known: Mutex<Option<HashMap<c_int, Key>>>,
    /// The library's function that frees one.
    free: unsafe fn(*mut c_int) -> c_int,
}

static KEYS: Keys = Keys { known: Mutex::new(None), free: pmpi::MPI_Comm_free_keyval };
/// Keys of windows; their values are those of the windows' communicators.
pub static WINDOW_KEYS: Keys = Keys { known: Mutex::new(None), free: pmpi::MPI_Win_free_keyval };

impl Keys {
    fn key(&self, keyval: c_int) -> Option<Key> {
        lock(&self.known).as_ref().and_then(|k| k.get(&keyval).copied())
    }

    /// Changes a key; the library frees one that nobody needs any more.
    fn change(&self, keyval: c_int, change: impl FnOnce(&mut Key)) {
        let mut keys = lock(&self.known);
        let Some(keys) = keys.as_mut() else { return };
        let Some(key) = keys.get_mut(&keyval) else { return };
        change(key);
        if key.freed && key.uses == 0 {
            keys.remove(&keyval);
            let mut number = keyval;
            // SAFETY: a key that the library made. It calls nothing of the program's here.
            unsafe { (self.free)(&raw mut number) };
        }
    }

    /// Remembers a key that the library has made.
    fn remember(&self, keyval: c_int, copy: usize, delete: usize, extra: usize) {
        let key = Key { copy, delete, extra, uses: 0, freed: false };
        lock(&self.known).get_or_insert_default().insert(keyval, key);
    }

    /// Sets a value; the old one is deleted. MPI_ERR_KEYVAL: nobody made the key.
    pub fn put(&self, ep: &EpComm, keyval: c_int, value: usize) -> Result<(), c_int> {
        if self.key(keyval).is_none() {
            return Err(ERR_KEYVAL);
        }
        // In use before the old value goes, which may be the last.
        self.change(keyval, |key| key.uses += 1);
        if let Err(class) = self.delete(ep, keyval) {
            self.change(keyval, |key| key.uses -= 1);
            return Err(class);
        }
        lock(&ep.attributes).insert(keyval, value);
        Ok(())
    }

    /// Calls the delete function and removes the value, if there is one. No lock is held in the call.
    pub fn delete(&self, ep: &EpComm, keyval: c_int) -> Result<(), c_int> {
        let Some(value) = lock(&ep.attributes).get(&keyval).copied() else { return Ok(()) };
        if let Some(key) = self.key(keyval)
            && key.delete != 0
        {
            // SAFETY: the program gave this function for this purpose.
            let error = unsafe {
                let delete: Delete = core::mem::transmute(key.delete);
                delete(ep.shown.load(Ordering::Relaxed), keyval, value, key.extra)
            };
            if error != SUCCESS {
                return Err(ERR_OTHER);
            }
        }
        if lock(&ep.attributes).remove(&keyval).is_some() {
            self.change(keyval, |key| key.uses -= 1);
        }
        Ok(())
    }

    /// Before the object is freed.
    pub fn delete_all(&self, ep: &EpComm) -> Result<(), c_int> {
        let keys: Vec<c_int> = lock(&ep.attributes).keys().rev().copied().collect();
        keys.into_iter().try_for_each(|keyval| self.delete(ep, keyval))
    }
}

macro_rules! free { ($keys:ident: $($name:ident),+) => {$(
    mpi! {
        fn $name(keyval: *mut c_int) {
            if $keys.key(*keyval).is_none_or(|key| key.freed) {
                return pmpi::$name(keyval);
            }
            $keys.change(*keyval, |key| key.freed = true);
            *keyval = KEYVAL_INVALID;
            SUCCESS
        }
    }
)+} }

// fn [MPI_Comm_free_keyval, MPI_Keyval_free, MPI_Win_free_keyval]
free!(KEYS: MPI_Comm_free_keyval, MPI_Keyval_free);
free!(WINDOW_KEYS: MPI_Win_free_keyval);

macro_rules! create {
    ($keys:ident: $($name:ident),+) => {$(
        mpi! {
            fn $name(copy: usize, delete: usize, keyval: *mut c_int, extra: *mut c_void) {
                let error = pmpi::$name(copy, delete, keyval, extra);
                if error == SUCCESS {
                    $keys.remember(*keyval, copy, delete, extra as usize);
                }
                error
            }
        }
    )+};
}

// fn [MPI_Comm_create_keyval, MPI_Keyval_create, MPI_Win_create_keyval]
create!(KEYS: MPI_Comm_create_keyval, MPI_Keyval_create);
create!(WINDOW_KEYS: MPI_Win_create_keyval);

/// Before a communicator is freed.
pub fn delete_all(ep: &EpComm) -> Result<(), c_int> {
    KEYS.delete_all(ep)
}

/// To a duplicate.
pub fn copy(from: &'static EpComm, to: &'static EpComm) -> Result<(), c_int> {
    let all: Vec<(c_int, usize)> = lock(&from.attributes).iter().map(|(k, v)| (*k, *v)).collect();
    for (keyval, value) in all {
        let Some(key) = KEYS.key(keyval) else { continue };
        let (mut new, mut flag) = (value, 1);
        match key.copy {
            NULL_COPY => continue,
            DUP_COPY => (),
            // SAFETY: the program gave this function for this purpose. No lock is held.
            function => unsafe {
                let function: Copy = core::mem::transmute(function);
                if function(from.handle, keyval, key.extra, value, &raw mut new, &raw mut flag) != SUCCESS {
                    return Err(ERR_OTHER);
                }
            },
        }
        if flag != 0 {
            KEYS.change(keyval, |key| key.uses += 1);
            lock(&to.attributes).insert(keyval, new);
        }
    }
    Ok(())
}

/// # Safety
/// `value` and `flag` are the program's places.
unsafe fn get(ep: &EpComm, keyval: c_int, value: *mut c_void, flag: *mut c_int) -> Result<(), c_int> {
    // SAFETY: the caller's promise.
    unsafe {
        if PREDEFINED.contains(&keyval) {
            // Those of the world.
            return match pmpi::MPI_Comm_get_attr(COMM_WORLD, keyval, value, flag) {
                SUCCESS => Ok(()),
                _ => Err(ERR_KEYVAL),
            };
        }
        let found = lock(&ep.attributes).get(&keyval).copied();
        *flag = found.is_some().into();
        if let Some(found) = found {
            *value.cast::<usize>() = found;
        }
    }
    Ok(())
}

// Predefined attributes are the job's world's; no other communicator need have them.
macro_rules! getters { ($($name:ident),+) => {$(
    mpi! {
        fn $name(comm: Comm, keyval: c_int, value: *mut c_void, flag: *mut c_int) {
            match comm::find(comm) {
                Some(ep) => error::answer(ep, stringify!($name), get(ep, keyval, value, flag)),
                None if PREDEFINED.contains(&keyval) => pmpi::$name(comm, keyval, value, flag),
                None => pmpi::$name(comm::native(comm), keyval, value, flag),
            }
        }
    }
)+} }

// fn [MPI_Comm_get_attr, MPI_Attr_get]
getters!(MPI_Comm_get_attr, MPI_Attr_get);

on_endpoints! {
    fn [MPI_Comm_set_attr] (comm: Comm, keyval: c_int, value: *mut c_void) on comm, ep { KEYS.put(ep, keyval, value as usize) }
}

on_endpoints! {
    fn [MPI_Attr_put] (comm: Comm, keyval: c_int, value: *mut c_void) on comm, ep { KEYS.put(ep, keyval, value as usize) }
}

on_endpoints! {
    fn [MPI_Comm_delete_attr] (comm: Comm, keyval: c_int) on comm, ep { KEYS.delete(ep, keyval) }
}

on_endpoints! {
    fn [MPI_Attr_delete] (comm: Comm, keyval: c_int) on comm, ep { KEYS.delete(ep, keyval) }
}
