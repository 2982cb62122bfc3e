//! Objects and tables of the library as arrays of words, and tables with other functions in them.
//!
//! Every object begins with a head of three words, the third of which names the table of general functions; tables of its own follow. A table begins with
//! its length in bytes. The places below are those of libfabric 1.17 and of all later versions, whose structures only grow at their ends.

/// Words of objects that name a table.
pub mod object {
    pub const GENERAL: usize = 2;
    /// Of a fabric, a domain, a completion queue.
    pub const OWN: usize = 3;
    /// Of an endpoint.
    pub const MESSAGES: usize = 5;
    pub const REMOTE: usize = 6;
}

/// Words of tables.
pub mod op {
    pub const BIND: usize = 2;
    pub const DOMAIN: usize = 1;
    pub const TRYWAIT: usize = 5;
    pub const CQ_OPEN: usize = 2;
    pub const ENDPOINT: usize = 3;
    pub const CQ_READ: usize = 1;
    pub const CQ_READERR: usize = 3;
    pub const RECV: usize = 1;
    pub const SEND: usize = 4;
    pub const INJECT: usize = 7;
    pub const RMA_READ: usize = 1;
    pub const RMA_WRITEMSG: usize = 6;
}

/// Words of a description and of its parts.
pub mod info {
    pub const NEXT: usize = 0;
    pub const TX: usize = 9;
    pub const RX: usize = 10;
    pub const TX_INJECT: usize = 5;
    pub const SIZE: usize = 6;
}

/// The function at a word of a table of an object. `None`: there is no such table or function.
///
/// # Safety
/// An object of the library, and the place of a table in it.
pub unsafe fn function(object: *mut usize, table: usize, op: usize) -> Option<usize> {
    // SAFETY: the caller's promise.
    let table = unsafe { *object.add(table) } as *const usize;
    // SAFETY: null, or a table that begins with its length in bytes.
    let is_there = !table.is_null() && op < unsafe { *table } / size_of::<usize>();
    // SAFETY: a word of the table.
    is_there.then(|| unsafe { *table.add(op) }).filter(|address| *address != 0)
}

/// Gives an object a copy of one of its tables with these functions in it, for as long as the process lives.
///
/// # Safety
/// An object of the library that nobody else has yet, the place of a table in it, and functions of the right types at words of that table.
pub unsafe fn replace(object: *mut usize, table: usize, functions: &[(usize, usize)]) {
    // SAFETY: the caller's promise.
    let place = unsafe { object.add(table) };
    // SAFETY: as above.
    let old = unsafe { *place } as *const usize;
    if old.is_null() {
        return;
    }
    // SAFETY: a table begins with its length in bytes.
    let words = unsafe { core::slice::from_raw_parts(old, *old / size_of::<usize>()) };
    let mut new = words.to_vec();
    for (op, address) in functions {
        // A function that a provider leaves out stays out.
        if let Some(word) = new.get_mut(*op).filter(|word| **word != 0) {
            *word = *address;
        }
    }
    // SAFETY: the object is written to by nobody else.
    unsafe { *place = Box::leak(new.into_boxed_slice()).as_ptr() as usize };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_as_far_as_it_goes() {
        let table: [usize; 3] = [24, 7, 0];
        let mut object: [usize; 4] = [0, 0, 0, table.as_ptr() as usize];
        let at = object.as_mut_ptr();
        // SAFETY: an object with a table of three words.
        unsafe {
            replace(at, 3, &[(1, 8), (2, 9), (5, 10)]);
            assert_eq!((function(at, 3, 1), function(at, 3, 2), function(at, 3, 5)), (Some(8), None, None));
            assert_eq!(function(at, 2, 1), None, "no table");
        }
        assert_eq!(table, [24, 7, 0], "the old one stays");
    }
}
