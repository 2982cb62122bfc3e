//! Memory of the program that others reach through a window.
//!
//! Blocks of the segment's heap are shared with the proxies as they are. Private memory elsewhere (heap, stack, static) becomes
//! shared where it is: its pages are copied into a block of the heap, and the block is mapped over them, so addresses and
//! contents stay and the proxy maps the same pages (`replace`).
//!
//! Mappings stay when the window is freed; `/proc/self/maps` tells which pages are the segment's, and blocks that are
//! mapped nowhere any more are freed.

use super::heap::{self, Heap, MOVED, Moved, Moves};
use super::lock;
use super::replace::{Outcome, replace};
use std::os::unix::fs::MetadataExt;

const PAGE: usize = 4096;
const TRIES: usize = 8;

/// Memory as the proxy maps it: address, bytes, offset in the segment. Empty for a block of the heap.
pub type Runs = Vec<[i64; 3]>;

/// One line of `/proc/self/maps`.
#[derive(Debug, PartialEq)]
struct Mapping {
    start: usize,
    end: usize,
    access: String,
    offset: usize,
    inode: u64,
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let hex = |text| usize::from_str_radix(text, 16).ok();
    let (access, offset) = (words.next()?.to_owned(), hex(words.next()?)?);
    Some(Mapping { start: hex(start)?, end: hex(end)?, access, offset, inode: words.nth(1)?.parse().ok()? })
}

fn mappings() -> Vec<Mapping> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines().filter_map(mapping).collect()
}

/// Makes memory reachable by proxies, or says why it cannot be.
pub fn expose(heap: &Heap, at: *mut u8, bytes: usize) -> Result<Runs, &'static str> {
    if bytes == 0 || heap::holds(at, bytes) {
        return Ok(Runs::new());
    }
    let mut moved = lock(&MOVED);
    let inode = std::fs::metadata(format!("/proc/self/fd/{}", heap.fd)).map_or(0, |m| m.ino());
    let all = mappings();
    free_unmapped(&mut moved, heap, &all, inode);
    let (first, last) = (at as usize & !(PAGE - 1), (at as usize + bytes).next_multiple_of(PAGE));
    let mut next = first;
    let mut runs = Runs::new();
    let overlap = all.iter().filter(|m| m.start < last && m.end > first);
    for piece in overlap {
        let (start, end) = (piece.start.max(first), piece.end.min(last));
        if start != next {
            break;
        }
        let offset = match piece.access.as_str() {
            "rw-s" if piece.inode == inode => piece.offset + (start - piece.start),
            "rw-p" | "rwxp" => share(&mut moved, heap, start, end - start)?,
            "rw-s" => return Err("it is a mapping that the program shares with others already"),
            _ => return Err("it cannot be read and written"),
        };
        match runs.last_mut() {
            Some([at, bytes, from]) if *at + *bytes == start as i64 && *from + *bytes == offset as i64 => {
                *bytes += (end - start) as i64;
            }
            _ => runs.push([start as i64, (end - start) as i64, offset as i64]),
        }
        next = end;
    }
    if next == last { Ok(runs) } else { Err("nothing is mapped there") }
}

/// Puts shared pages with the same contents in the place of private ones; gives their offset in the segment.
fn share(moved: &mut Moves, heap: &Heap, start: usize, bytes: usize) -> Result<usize, &'static str> {
    let block = heap::allocate(bytes, PAGE);
    if block.is_null() {
        return Err("the shared heap is full");
    }
    let offset = block as usize - heap.segment.base as usize;
    let again = || replace(start as *mut u8, block, bytes, heap.fd, offset as u64);
    // A thread that was about to end could not be held, and is gone the next time.
    let outcome = (0..TRIES).map(|_| again()).find(|o| *o != Outcome::Runs).unwrap_or(Outcome::Runs);
    if outcome != Outcome::Done {
        // SAFETY: allocated above, and nobody has seen it.
        unsafe { heap::free(block) };
        return Err(match outcome {
            Outcome::Runs => {
                "it is private, and the system does not let other threads be held while it is made shared"
            }
            _ => "it is private, and the system does not map anything over it",
        });
    }
    moved.push(Moved { at: start, bytes, block: block as usize });
    Ok(offset)
}

/// Frees blocks that the program has unmapped since.
fn free_unmapped(moved: &mut Moves, heap: &Heap, all: &[Mapping], inode: u64) {
    let base = heap.segment.base as usize;
    moved.retain(|Moved { bytes, block, .. }| {
        let from = block - base;
        let seen = |m: &Mapping| {
            let to = m.offset + (m.end - m.start);
            m.inode == inode && m.start != base && m.offset < from + bytes && from < to
        };
        let mapped = all.iter().any(seen);
        if !mapped {
            // SAFETY: its pages are mapped nowhere else, and no window has them any more.
            unsafe { heap::free(*block as *mut u8) };
        }
        mapped
    });
}

#[cfg(test)]
mod tests {
    use super::{Mapping, mapping};

    #[test]
    fn lines_of_mappings_are_read() {
        let line = "7f00-7fff rw-s 00001000 00:01 42   /memfd:oxmpi-ep (deleted)";
        let access = "rw-s".to_owned();
        let wanted = Mapping { start: 0x7f00, end: 0x7fff, access, offset: 0x1000, inode: 42 };
        assert_eq!(mapping(line), Some(wanted));
        assert_eq!(mapping("what is this"), None);
    }
}
