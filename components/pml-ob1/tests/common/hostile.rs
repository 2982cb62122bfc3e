//! A peer that says anything: what drives `robustness.rs` and the fuzzer (`fuzz/` at the root).

use super::{Setup, World, pattern};
use oxmpi_pml::mode;

/// Cuts bytes into messages: a length (up to 127) in front of each; with the highest bit set the processes also
/// get to work before the next one comes.
fn messages(mut bytes: &[u8]) -> Vec<(&[u8], bool)> {
    let mut all = Vec::new();
    while let Some((&first, rest)) = bytes.split_first() {
        let (message, rest) = rest.split_at(usize::from(first & 0x7f).min(rest.len()));
        all.push((message, first & 0x80 != 0));
        bytes = rest;
    }
    all
}

/// Process 1 sends these messages to process 0, which has a send and two receives under way with it. Any messages
/// may come: no crash, no write outside a buffer, one complaint at most, and behind it no send is pending. (Reading
/// is off: an address is a peer's word by nature; the transport checks it.)
pub fn any_messages(bytes: &[u8]) {
    let w = World::new(Setup { offers_get: false, offers_vector: false, ..Setup::default() });
    let c = w.world();
    let data = pattern(20_000, 1);
    let mut buf = vec![0xAA; 3000];
    let s = w.isend(c[0], &data, 1, 0, mode::STANDARD);
    let r = w.irecv(c[0], &mut buf[..1000], 1, 0);
    let any = w.irecv(c[0], &mut [], 1, oxmpi_pml::ANY_TAG);
    for (message, work) in messages(bytes) {
        w.inject(1, 0, message);
        if work {
            w.progress_one(0);
        }
    }
    for _ in 0..20 {
        w.progress_one(0);
    }
    assert!(buf[1000..].iter().all(|&b| b == 0xAA), "written behind the end of a buffer");
    let errors = w.errors(0);
    assert!(errors.len() <= 1, "{errors:?}");
    if !errors.is_empty() {
        assert!(s.is_complete(), "{errors:?}, and the send to that peer is still pending");
    }
    for q in [s, r, any] {
        q.release();
    }
}
