//! Enumerations (MPI 5.0 §15.3.5): names for the values of a variable of type MPI_INT. They stay for ever.

use super::arguments::{give, offer_text};
use super::users::{Res, call};
use crate::call::memory::Out;
use crate::constants::*;
use core::ffi::{c_char, c_int};
use parking_lot::RwLock;

struct Enumeration {
    name: String,
    items: Vec<(c_int, String)>,
}

static ALL: RwLock<Vec<Enumeration>> = RwLock::new(Vec::new());
/// Handles are numbers from here on, apart from those of all other kinds.
const FIRST: usize = 0x4000_0000;

/// The handle of the enumeration of this name, which has these items.
pub fn of<'a>(name: &str, items: impl Iterator<Item = (c_int, &'a str)>) -> usize {
    let mut all = ALL.write();
    let place = all.iter().position(|e| e.name == name).unwrap_or_else(|| {
        let items = items.map(|(value, name)| (value, name.to_owned())).collect();
        all.push(Enumeration { name: name.to_owned(), items });
        all.len() - 1
    });
    FIRST + place
}

fn with(handle: usize, body: impl FnOnce(&Enumeration) -> Res) -> Res {
    let all = ALL.read();
    let found = handle.checked_sub(FIRST).and_then(|place| all.get(place));
    body(found.ok_or(MPI_T_ERR_INVALID_HANDLE)?)
}

mpi_fn! {
    fn MPI_T_enum_get_info(enumtype: usize, num: Out<c_int>, name: Out<c_char>, name_len: Out<c_int>) -> c_int {
        call(|| with(enumtype, |e| {
            give(num, e.items.len() as c_int)?;
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, &e.name) };
            Ok(())
        }))
    }
}
mpi_fn! {
    /// MPI_T_ERR_INVALID_ITEM, which earlier versions had for an index out of range, is deprecated since MPI 4.0.
    fn MPI_T_enum_get_item(enumtype: usize, indx: c_int, value: Out<c_int>, name: Out<c_char>, name_len: Out<c_int>) -> c_int {
        call(|| with(enumtype, |e| {
            let item = usize::try_from(indx).ok().and_then(|i| e.items.get(i));
            let (number, word) = item.ok_or(MPI_T_ERR_INVALID_INDEX)?;
            give(value, *number)?;
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, word) };
            Ok(())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_enumeration() {
        let a = of("a", [(1, "one"), (2, "two")].into_iter());
        assert_eq!(of("a", [].into_iter()), a);
        assert_ne!(of("b", [].into_iter()), a);
        assert_eq!(with(0, |_| Ok(())), Err(MPI_T_ERR_INVALID_HANDLE));
        with(a, |e| {
            assert_eq!(e.items[1], (2, "two".to_owned()));
            Ok(())
        })
        .unwrap();
    }
}
