//! Bytes that a connection of btl-tcp brings before and after its peer has proved itself, from anybody.
#![no_main]

use btl_tcp::fuzz::{Card, Challenge, Header, Hello, Proof, Welcome, with_right_sum, whole_stream};

/// A message that is understood says the same when it is written again.
fn again<const N: usize, M: PartialEq + std::fmt::Debug, E: std::fmt::Debug>(
    bytes: &[u8],
    decode: impl Fn(&[u8; N]) -> Result<M, E>,
    encode: impl Fn(&M) -> [u8; N],
) {
    let mut whole = [0; N];
    let len = bytes.len().min(N);
    whole[..len].copy_from_slice(&bytes[..len]);
    with_right_sum(&mut whole);
    if let Ok(message) = decode(&whole) {
        assert_eq!(decode(&encode(&message)).expect("understood before"), message, "it changes on the way");
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    match which % 7 {
        0 => again(bytes, Hello::decode, Hello::encode),
        1 => again(bytes, Challenge::decode, Challenge::encode),
        2 => again(bytes, Proof::decode, Proof::encode),
        3 => again(bytes, Welcome::decode, Welcome::encode),
        4 => again(bytes, Header::decode, Header::encode),
        5 => {
            if let Ok(card) = Card::decode(bytes) {
                assert_eq!(Card::decode(&card.encode()), Ok(card), "it changes on the way");
            }
        }
        _ => {
            // Headers whose checksums are right, or nothing would get beyond them.
            let mut bytes = bytes.to_vec();
            for frame in bytes.chunks_mut(64) {
                if let Some(head) = frame.first_chunk_mut::<32>() {
                    with_right_sum(head);
                }
            }
            let (got, _) = whole_stream(&bytes, || 1 + usize::from(which));
            assert!(got.iter().all(|(_, message)| message.len() <= bytes.len()));
        }
    }
});
