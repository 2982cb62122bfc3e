//! The MPI calls that a rank's threads are in, read from the page on which the library records them
//! (`mpi/src/call/watching.rs`, in jobs with `--report-state-on-timeout`).
//!
//! The process has no part in it: the page is found in its map of memory and read through /proc. Nothing on it is
//! trusted; a text that is being written is skipped or shown as far as it goes.

use crate::stacks::image::Image;
use std::os::unix::fs::FileExt;

/// The page's name, and its layout: slots of a thread's number, a text's length, and the text.
const NAME: &str = "memfd:oxmpi-calls";
const SLOT: usize = 1024;
const SLOTS: usize = 64;

/// The calls that the threads of a process are in, as the end of a sentence; None: nothing is recorded.
pub fn of(pid: u32) -> Option<String> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).ok()?;
    let range = Image::parse(&maps).range_of(NAME)?;
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut page = vec![0; SLOT * SLOTS];
    memory.read_exact_at(&mut page, range.start).ok()?;
    Some(describe(&page))
}

fn describe(page: &[u8]) -> String {
    let calls: Vec<(u32, String)> = page.chunks_exact(SLOT).filter_map(call).collect();
    match &calls[..] {
        [] => "; it is in no MPI call".into(),
        [(_, call)] => format!("; it is in {call}"),
        many => {
            let all: Vec<String> =
                many.iter().map(|(thread, call)| format!("thread {thread} is in {call}")).collect();
            format!("; {}", all.join("; "))
        }
    }
}

/// Thread and text of a slot that is in use.
fn call(slot: &[u8]) -> Option<(u32, String)> {
    let number = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
    let (thread, length) = (number(0), number(4) as usize);
    let text = slot.get(8..8 + length.min(SLOT - 8)).filter(|text| !text.is_empty())?;
    let text = String::from_utf8_lossy(text);
    Some((thread, text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_and_not_trusted() {
        let mut page = vec![0; 3 * SLOT];
        assert_eq!(describe(&page), "; it is in no MPI call");
        let mut put = |slot: usize, thread: u32, length: u32, text: &[u8]| {
            let at = slot * SLOT;
            page[at..at + 4].copy_from_slice(&thread.to_le_bytes());
            page[at + 4..at + 8].copy_from_slice(&length.to_le_bytes());
            page[at + 8..at + 8 + text.len()].copy_from_slice(text);
        };
        put(1, 7, 8, b"MPI_Recv");
        assert_eq!(describe(&page), "; it is in MPI_Recv");
        let mut put = |slot: usize, thread: u32, length: u32, text: &[u8]| {
            let at = slot * SLOT;
            page[at..at + 4].copy_from_slice(&thread.to_le_bytes());
            page[at + 4..at + 8].copy_from_slice(&length.to_le_bytes());
            page[at + 8..at + 8 + text.len()].copy_from_slice(text);
        };
        put(2, 9, u32::MAX, b"\x1b[31m");
        let text = describe(&page);
        assert!(text.starts_with("; thread 7 is in MPI_Recv; thread 9 is in ?[31m"), "{text}");
        assert!(!text.contains('\x1b') && text.len() < 4 * SLOT);
    }
}
