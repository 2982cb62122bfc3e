//! Messages that nobody receives take bounded memory at the receiver; all of them come in the end, in order.

use oxmpi_mca::Status;
use oxmpi_pml::mode;

const MESSAGES: usize = 16_384;
const BYTES: usize = 3000;
/// Bytes that may lie at the receiver: much less than was sent.
const BOUND: u64 = (MESSAGES * BYTES) as u64 / 2;

crate::check!(unexpected_floods_are_bounded, ranks: 2, |job| {
    let c = job.world();
    job.ping(&c, 0, 1, 1);
    let mut data = vec![7u8; BYTES];
    data[..8].copy_from_slice(&[0; 8]);
    let all: Vec<Vec<u8>> = (0..MESSAGES).map(|n| [&(n as u64).to_le_bytes(), &data[8..]].concat()).collect();
    let before = job.delivered(1);
    let sends: Vec<_> = all.iter().map(|d| job.rank(0).isend(c[0], d, 1, 1, mode::STANDARD)).collect();
    for _ in 0..1000 {
        job.turn();
    }
    let lies = job.delivered(1) - before;
    assert!(lies < BOUND, "{lies} bytes lie at a receiver that receives nothing");
    // Another communicator's messages, small ones, get through.
    for n in 0..MESSAGES as u64 {
        let mut buf = vec![0; BYTES];
        let req = job.rank(1).irecv(c[1], &mut buf, 0, 1);
        assert_eq!(job.wait(req).bytes, BYTES as u64);
        assert_eq!(buf[..8], n.to_le_bytes(), "message {n}");
    }
    sends.into_iter().for_each(|req| assert_eq!(job.wait(req).error, Status::OK));
});
