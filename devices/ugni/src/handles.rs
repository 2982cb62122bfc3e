//! Table of the objects that a program holds handles of. A handle is a number, so one that is stale or foreign is found out.

use crate::cq::{Channel, Cq};
use crate::domain::{Cdm, Ep, Nic};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

pub enum Object {
    Cdm(Arc<Cdm>),
    Nic(Arc<Nic>),
    Ep(Arc<Ep>),
    Cq(Arc<Cq>),
    Channel(Arc<Channel>),
}

#[derive(Default)]
struct HandleTable {
    objects: HashMap<usize, Object>,
    last: usize,
}

fn table() -> MutexGuard<'static, HandleTable> {
    static TABLE: OnceLock<Mutex<HandleTable>> = OnceLock::new();
    TABLE.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// A new handle. It is no address, so a program that looks behind it fails at once.
pub fn reserve() -> usize {
    let mut t = table();
    t.last += 16;
    0x4000_0000 + t.last
}

pub fn insert(handle: usize, object: Object) {
    table().objects.insert(handle, object);
}

pub fn remove(handle: *mut c_void) -> Option<Object> {
    table().objects.remove(&(handle as usize))
}

macro_rules! lookups {
    ($($name:ident $variant:ident $ty:ty;)*) => {
        $(pub fn $name(handle: *mut c_void) -> Option<Arc<$ty>> {
            match table().objects.get(&(handle as usize)) {
                Some(Object::$variant(o)) => Some(o.clone()),
                _ => None,
            }
        })*
    };
}

lookups! {
    cdm Cdm Cdm;
    nic Nic Nic;
    ep Ep Ep;
    cq Cq Cq;
    channel Channel Channel;
}
