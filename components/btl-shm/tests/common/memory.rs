//! The node's memory as a file.

use super::Node;

/// Offset of the rings in the segment, found from outside: everything behind the header area.
pub fn first_ring(node: &Node) -> u64 {
    let size = rustix::fs::fstat(&node.fd).expect("stat").st_size as u64;
    let mut next = [0; 8];
    rustix::io::pread(&node.fd, &mut next, 64).expect("read");
    size - u64::from_le_bytes(next)
}

pub fn poke(node: &Node, at: u64, bytes: &[u8]) {
    assert_eq!(rustix::io::pwrite(&node.fd, bytes, at), Ok(bytes.len()));
}

pub fn peek(node: &Node, at: u64) -> u32 {
    let mut word = [0; 4];
    assert_eq!(rustix::io::pread(&node.fd, &mut word, at), Ok(4));
    u32::from_le_bytes(word)
}
