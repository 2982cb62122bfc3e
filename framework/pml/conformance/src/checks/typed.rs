//! Data in pieces, at either end or both, in every size.

use crate::data::{byte, pattern, strided};
use oxmpi_mca::Status;
use oxmpi_pml::mode;

/// Blocks of 10 bytes, 16 apart.
fn packed(bytes: &[u8], blocks: usize) -> Vec<u8> {
    bytes.chunks(16).take(blocks).flat_map(|c| c[..10].to_vec()).collect()
}

crate::check!(typed, ranks: 2, |job| {
    let c = job.world();
    for blocks in [1usize, 5, 300, 9000] {
        let ty = strided(10, blocks as u64, 16);
        let (data, flat) = (pattern(blocks * 16, 1), blocks * 10);
        for (send_pieces, recv_pieces) in [(true, false), (false, true), (true, true)] {
            let mut buf = vec![0xAA; blocks * 16];
            let source = match send_pieces {
                true => (&data[..], ty, 1),
                false => (&data[..flat], byte(), flat as u64),
            };
            let s = job.rank(0).isend_typed(c[0], source, (1, 1), mode::STANDARD);
            let r = match recv_pieces {
                true => job.rank(1).irecv_typed(c[1], (&mut buf, ty, 1), (0, 1)),
                false => job.rank(1).irecv(c[1], &mut buf[..flat], 0, 1),
            };
            let status = job.wait(r);
            assert_eq!((status.error, status.bytes), (Status::OK, flat as u64));
            job.wait(s);
            let of = |bytes: &[u8], pieces| if pieces { packed(bytes, blocks) } else { bytes[..flat].to_vec() };
            assert!(of(&data, send_pieces) == of(&buf, recv_pieces), "{blocks} blocks");
            if recv_pieces {
                // The last block ends the element.
                let gaps = buf.chunks(16).take(blocks - 1).all(|c| c[10..].iter().all(|&b| b == 0xAA));
                assert!(gaps, "written between the pieces");
            }
        }
    }
});
