//! Numbers for handles of a library whose MPI_Comm_toint and its kin have no opposite: a table of the handles that such functions do not bring back.
//!
//! MPI 5.0 §20.3.2 has MPI_Comm_fromint give the handle of which MPI_Comm_toint gave the number. Intel MPI 2021.18's functions do so for predefined handles alone. A handle is an address, so one table does for
//! all kinds; an address that is a handle again has the number that it had.

use crate::abi::{Fint, Handle};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The highest four bits of their numbers: neither those of MPICH's handles nor those of `sections::pending`.
const MARK: u32 = 1;
const BITS: u32 = 28;

#[derive(Default)]
struct Table {
    handles: Vec<Handle>,
    numbers: HashMap<Handle, Fint>,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

fn table() -> MutexGuard<'static, Option<Table>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a handle that its library does not bring back.
#[cold]
pub fn number(handle: Handle) -> Fint {
    let mut guard = table();
    let Table { handles, numbers } = guard.get_or_insert_default();
    *numbers.entry(handle).or_insert_with(|| {
        handles.push(handle);
        assert!(handles.len() < 1 << BITS, "so many handles do not fit into memory");
        (MARK << BITS) as Fint + handles.len() as Fint - 1
    })
}

/// The handle of such a number; `None`: it is none.
#[inline]
pub fn handle(number: Fint) -> Option<Handle> {
    if number as u32 >> BITS != MARK {
        return None;
    }
    let place = (number as u32 & ((1 << BITS) - 1)) as usize;
    table().as_ref()?.handles.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_back_and_keep_their_numbers() {
        let all = [0x7f00_0000_1000, 0x7f00_0000_2000];
        let numbers = all.map(number);
        assert_ne!(numbers[0], numbers[1]);
        assert_eq!(numbers.map(handle), all.map(Some));
        assert_eq!(all.map(number), numbers);
        assert_eq!([0, 0x101, -1, 0x1fff_ffff].map(handle), [None; 4]);
    }
}
