//! Hints of info objects as bytes that client and proxy exchange: each key and its value, both with a zero behind them.
#![allow(dead_code, reason = "each side uses its part")]

use crate::abi::*;
use crate::pmpi;
use core::ffi::CStr;

/// Writes all hints of an info object, or nothing for MPI_INFO_NULL.
pub fn pack(info: Info) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut count = 0;
    // SAFETY: the caller's handle, and locals of the lengths that the standard asks for.
    unsafe {
        if info == INFO_NULL || pmpi::MPI_Info_get_nkeys(info, &raw mut count) != SUCCESS {
            return bytes;
        }
        for n in 0..count {
            let (mut key, mut value) = ([0u8; MAX_INFO_KEY + 1], [0u8; MAX_INFO_VAL + 1]);
            let (mut length, mut flag) = (value.len() as c_int, 0);
            let (k, v) = (key.as_mut_ptr().cast(), value.as_mut_ptr().cast());
            if pmpi::MPI_Info_get_nthkey(info, n, k) != SUCCESS
                || pmpi::MPI_Info_get_string(info, k, &raw mut length, v, &raw mut flag) != SUCCESS
                || flag == 0
            {
                continue;
            }
            for text in [&key[..], &value[..]] {
                bytes.extend(text.iter().take_while(|c| **c != 0));
                bytes.push(0);
            }
        }
    }
    bytes
}

/// The pairs of what `pack` wrote.
pub fn pairs(bytes: &[u8]) -> Vec<(&CStr, &CStr)> {
    let mut texts = bytes.split_inclusive(|c| *c == 0).filter_map(|t| CStr::from_bytes_with_nul(t).ok());
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (texts.next(), texts.next()) {
        pairs.push((key, value));
    }
    pairs
}

/// A new info object with these hints, the caller's to free.
pub fn info_of(pairs: &[(&CStr, &CStr)]) -> Info {
    let mut info = INFO_NULL;
    // SAFETY: a local, and strings that end with a zero.
    unsafe {
        if pmpi::MPI_Info_create(&raw mut info) != SUCCESS {
            return INFO_NULL;
        }
        for (key, value) in pairs {
            pmpi::MPI_Info_set(info, key.as_ptr(), value.as_ptr());
        }
    }
    info
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn keys_and_values_come_in_pairs() {
        assert_eq!(pairs(b"a\0b\0c\0\0"), [(c"a", c"b"), (c"c", c"")]);
        assert!(pairs(b"").is_empty() && pairs(b"alone\0").is_empty());
    }
}
