//! Keyvals, and the attributes of one object: values that users hang on communicators, datatypes and windows.
//!
//! A keyval is a number into one process-wide list; what it stands for is counted, so attributes
//! outlive MPI_Comm_free_keyval as the standard wants, and while there is one the key can be used.
//! Freeing a key again through a copy of its number does nothing: numbers are not used again, so no other
//! key can be meant. User callbacks run without any lock: the lists
//! are copied first. Callbacks come as addresses, since 0 and 1 are sentinels and not functions.
//!
//! A keyval has the language of its callbacks, and a value that of who set it: a callback gets the value as its language reads it, and what a copy function
//! gives is a value of its language. A copy function that gives what it got copies the attribute as it is.

use super::value::{Language, Value};
use crate::call::gate;
use crate::call::memory::{Out, read, write};
use crate::constants::*;
use crate::error::{Failure, Res};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock, Weak};

/// Copy callback of any kind of object: object, keyval, extra state, value in, value out, flag.
type Copy = unsafe extern "C-unwind" fn(usize, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;

/// Delete callback: object, keyval, value, extra state.
type Delete = unsafe extern "C-unwind" fn(usize, c_int, usize, usize) -> c_int;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyvalKind {
    Comm,
    Datatype,
    Win,
}

pub struct Keyval {
    number: c_int,
    kind: KeyvalKind,
    /// Sentinel or address.
    copy: usize,
    delete: usize,
    extra: usize,
    /// Of the callbacks; C where nobody said another.
    language: OnceLock<Language>,
}

/// First number of a user's keyval; the predefined ones are below.
const FIRST: c_int = 1000;

/// A number that was given out.
enum Key {
    Used(Arc<Keyval>),
    /// By the user; its attributes may still be there.
    Freed(KeyvalKind, Weak<Keyval>),
}

impl Key {
    fn freed(keyval: &Arc<Keyval>) -> Key {
        Key::Freed(keyval.kind, Arc::downgrade(keyval))
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
pub struct Attributes(Mutex<Vec<(Arc<Keyval>, Value)>>);

impl Default for Attributes {
    fn default() -> Self {
        Attributes::new()
    }
}

impl Keyval {
    pub fn create(kind: KeyvalKind, copy: usize, delete: usize, extra: usize) -> c_int {
        let mut all = KEYVALS.lock();
        let number = FIRST + all.len() as c_int;
        let language = OnceLock::new();
        all.push(Key::Used(Arc::new(Keyval { number, kind, copy, delete, extra, language })));
        number
    }

    /// Says that the callbacks are of that language; once for each keyval.
    pub fn set_language(number: c_int, language: Language) -> Res {
        let kinds = [KeyvalKind::Comm, KeyvalKind::Datatype, KeyvalKind::Win];
        let keyval = kinds.into_iter().find_map(|kind| Keyval::find(number, kind).ok());
        let keyval = keyval.ok_or_else(|| {
            Failure::new(MPI_ERR_KEYVAL, format!("keyval {number} is none of the program's"))
        })?;
        let again = |_| Failure::new(MPI_ERR_KEYVAL, format!("the language of keyval {number} is known"));
        keyval.language.set(language).map_err(again)
    }

    fn language(&self) -> Language {
        self.language.get().copied().unwrap_or(Language::C)
    }

    pub fn find(number: c_int, kind: KeyvalKind) -> Res<Arc<Keyval>> {
        let at = usize::try_from(i64::from(number) - i64::from(FIRST)).ok();
        let all = KEYVALS.lock();
        match at.and_then(|at| all.get(at)) {
            Some(Key::Used(keyval)) if keyval.kind == kind => Ok(keyval.clone()),
            Some(Key::Used(keyval)) => {
                Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is for a {:?}", keyval.kind))
            }
            Some(Key::Freed(was, keyval)) => match keyval.upgrade() {
                Some(keyval) if *was == kind => Ok(keyval),
                _ => Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} was freed")),
            },
            None if is_predefined(number) => {
                Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is predefined and no {kind:?} has it"))
            }
            None if number == MPI_KEYVAL_INVALID => {
                Failure::err(MPI_ERR_KEYVAL, "keyval is MPI_KEYVAL_INVALID")
            }
            None => Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is none")),
        }
    }

    fn was_freed(number: c_int, kind: KeyvalKind) -> bool {
        let at = usize::try_from(i64::from(number) - i64::from(FIRST)).ok();
        let all = KEYVALS.lock();
        at.and_then(|at| all.get(at)).is_some_and(|key| matches!(key, Key::Freed(was, _) if *was == kind))
    }

    pub fn free(at: Out<c_int>, kind: KeyvalKind) -> Res {
        let number = read(at, "keyval")?;
        changeable(number)?;
        if !Keyval::was_freed(number, kind) {
            let keyval = Keyval::find(number, kind)?;
            KEYVALS.lock()[(number - FIRST) as usize] = Key::freed(&keyval);
        }
        write(at, "keyval", MPI_KEYVAL_INVALID)
    }

    fn call_delete(&self, entry: &mut Entry, object: usize, value: &Value) -> Res {
        if self.delete == MPI_NULL_DELETE_FN {
            return Ok(());
        }
        // SAFETY: the user gave it as a delete function; the sentinel is excluded.
        let function = unsafe { core::mem::transmute::<usize, Delete>(self.delete) };
        let given = value.seen_by(self.language());
        // SAFETY: called as the standard says.
        let code = gate::run_outside(entry, || unsafe { function(object, self.number, given, self.extra) });
        answer(code, "delete")
    }

    /// The value for a copy of the object, if there is to be one.
    fn call_copy(&self, entry: &mut Entry, object: usize, value: &Value) -> Res<Option<Value>> {
        match self.copy {
            MPI_NULL_COPY_FN => Ok(None),
            MPI_DUP_FN => Ok(Some(value.copy())),
            address => {
                // SAFETY: the user gave it as a copy function; sentinels are excluded.
                let function = unsafe { core::mem::transmute::<usize, Copy>(address) };
                let (mut new, mut flag) = (0, 0);
                let given = value.seen_by(self.language());
                // SAFETY: called as the standard says, with places that live here.
                let code = gate::run_outside(entry, || unsafe {
                    function(object, self.number, self.extra, given, &mut new, &mut flag)
                });
                answer(code, "copy")?;
                let made = || if new == given { value.copy() } else { Value::of(self.language(), new) };
                Ok((flag != 0).then(made))
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

    pub fn get(&self, number: c_int) -> Option<Value> {
        self.0.lock().iter().find(|(k, _)| k.number == number).map(|(_, value)| value.clone())
    }

    /// Sets a value as C does.
    pub fn set(&self, entry: &mut Entry, object: usize, keyval: Arc<Keyval>, value: usize) -> Res {
        if let Some(old) = self.get(keyval.number) {
            keyval.call_delete(entry, object, &old)?;
        }
        // To the end: the order of setting decides the order of deleting.
        let mut all = self.0.lock();
        all.retain(|(k, _)| k.number != keyval.number);
        all.push((keyval, Value::Address(value)));
        Ok(())
    }

    /// Says which language has set a value. `false`: there is none.
    pub fn set_language(&self, number: c_int, language: Language) -> bool {
        let mut all = self.0.lock();
        let found = all.iter_mut().find(|(k, _)| k.number == number);
        found.map(|(_, value)| *value = Value::of(language, value.seen_by(Language::Fortran))).is_some()
    }

    pub fn delete(&self, entry: &mut Entry, object: usize, number: c_int) -> Res {
        let found = self.0.lock().iter().find(|(k, _)| k.number == number).cloned();
        let Some((keyval, value)) = found else { return Ok(()) };
        keyval.call_delete(entry, object, &value)?;
        self.0.lock().retain(|(k, _)| k.number != number);
        Ok(())
    }

    /// Deletes all attributes before the object is freed, the youngest first. The first that cannot be deleted stays, with all older ones.
    pub fn delete_all(&self, entry: &mut Entry, object: usize) -> Res {
        loop {
            let last = self.0.lock().last().map(|(k, _)| k.number);
            match last {
                Some(number) => self.delete(entry, object, number)?,
                None => return Ok(()),
            }
        }
    }

    /// For a duplicate of the object.
    pub fn copy_to(&self, entry: &mut Entry, object: usize, other: &Attributes) -> Res {
        let all = self.0.lock().clone();
        for (keyval, value) in all {
            if let Some(new) = keyval.call_copy(entry, object, &value)? {
                other.0.lock().push((keyval, new));
            }
        }
        Ok(())
    }
}

fn is_predefined(number: c_int) -> bool {
    (MPI_TAG_UB..=MPI_UNIVERSE_SIZE).contains(&number) || (MPI_WIN_BASE..=MPI_WIN_MODEL).contains(&number)
}

/// Whether the program may set and delete attributes with this key.
pub fn changeable(number: c_int) -> Res {
    if is_predefined(number) {
        return Failure::err(MPI_ERR_KEYVAL, format!("keyval {number} is predefined and cannot be changed"));
    }
    Ok(())
}
