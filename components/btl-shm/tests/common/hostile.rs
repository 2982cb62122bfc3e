//! A peer that writes anything into the node's memory: what drives `exchange.rs` and the fuzzer (`fuzz/` at the root).

use super::{Node, PeerEndpoint, Rank, bytes};
use core::ffi::c_void;
use oxmpi_mca::Status;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const RING: &[(&str, &str)] = &[("ring_size", "128k")];

/// All memory of the node, as the hostile peer has it.
struct Memory {
    base: *mut u8,
    len: usize,
}

impl Memory {
    fn of(node: &Node) -> Memory {
        let len = rustix::fs::fstat(&node.fd).expect("fstat").st_size as usize;
        // SAFETY: a new mapping.
        let base = unsafe {
            mmap(
                core::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &node.fd,
                0,
            )
        };
        Memory { base: base.expect("mmap").cast(), len }
    }

    /// Writes a word, at a multiple of its size.
    fn write(&self, at: usize, word: u64) {
        let at = at % self.len / 8 * 8;
        // SAFETY: within the mapping; tests are single-threaded, so nobody reads it meanwhile.
        unsafe { self.base.add(at).cast::<u64>().write(word) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped in `of`, and not used any more.
        let _ = unsafe { munmap(self.base.cast::<c_void>(), self.len) };
    }
}

/// Ranks 0 and 1 talk; a third party writes words into the memory between them, as the bytes say. The words may be
/// any: no crash, and what a rank hands up is no longer than a message can be. Seven bytes are a step: what to do,
/// and where and what to write.
pub fn any_words(history: &[u8]) {
    let node = Node::new(2);
    let ranks = node.all(RING);
    let to: Vec<PeerEndpoint> = vec![ranks[0].to(1), ranks[1].to(0)];
    let talk = |from: usize, len: usize| {
        // Its memory may be full of nonsense: any answer will do, but a real one.
        let status = ranks[from].send(to[from], 1, b"header", &bytes(len as u64, len));
        assert_ne!(status, Status::BAD_PARAM);
    };
    talk(0, 8);
    talk(1, 5000);
    take(&ranks);
    let memory = Memory::of(&node);
    // Where something is: the header area, and both rings' first page, lines and bulk.
    let header = memory.len.saturating_sub(2 * RING_BYTES);
    for step in history.chunks(7) {
        let mut s = [0u8; 7];
        s[..step.len()].copy_from_slice(step);
        let value = u64::from(u32::from_le_bytes([s[3], s[4], s[5], s[6]]));
        let word = match s[0] >> 5 {
            // A flag word of the first lap or the second, of any kind and length.
            0..=3 => (1 + u64::from(s[0] >> 5 & 1)) << 44 | u64::from(s[6] & 7) << 40 | value & 0xff_ffff,
            4 => value,
            5 => value << 32 | value,
            6 => u64::MAX - value,
            _ => value * 64,
        };
        let offset = usize::from(u16::from_le_bytes([s[1], s[2]]));
        match s[0] & 7 {
            0 | 1 => take(&ranks),
            2 => talk(usize::from(s[1] & 1), offset % 9000),
            // A ring's heads and its notification word.
            3 => memory.write(header + usize::from(s[2] & 1) * RING_BYTES + usize::from(s[1] % 16) * 8, word),
            // A line's first words, near the beginning.
            4 | 5 => {
                let line = usize::from(s[1] % 16);
                let at = header + usize::from(s[2] & 1) * RING_BYTES + 4096 + line * 64;
                memory.write(at + usize::from(s[2] >> 1 & 3) * 8, word);
            }
            // The header area, and anywhere.
            6 => memory.write(4096 + offset % header.max(1), word),
            _ => memory.write(offset * 64, word),
        }
    }
    take(&ranks);
}

/// Bytes of a ring of 128 KiB: a page, a quarter for lines, the bulk, the cell.
const RING_BYTES: usize = 4096 + (32 << 10) + (128 << 10) + (36 << 10);

/// Some progress on both sides.
fn take(ranks: &[Rank]) {
    for rank in ranks {
        for _ in 0..3 {
            rank.progress();
        }
        for message in rank.record.arrived.take() {
            assert!(message.bytes.len() <= 64 << 10, "{} bytes", message.bytes.len());
        }
    }
}
