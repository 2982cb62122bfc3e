//! Streams cut into pieces, damaged, with bytes missing, and made up by somebody hostile: frames come out as they went in, or a fault.

use crate::check;
use crate::fault::Fault;
use crate::frame::{Header, Kind};
use crate::inbound::whole_stream;
use proptest::prelude::*;

fn stream(lens: &[usize], sum: bool) -> Vec<u8> {
    let mut all = Vec::new();
    for (i, &len) in lens.iter().enumerate() {
        let message: Vec<u8> = (0..len).map(|b| (b * 3 + i) as u8).collect();
        let sum = sum.then(|| check::sum(&message));
        let position = all.len() as u64;
        let h = Header { len: len as u32, kind: Kind::Message, tag: i as u8, sum, position, acked: 0 };
        all.extend_from_slice(&h.encode());
        all.extend_from_slice(&message);
        all.resize(all.len().next_multiple_of(8), 0);
    }
    all
}

proptest! {
    #[test]
    fn frames_come_out_as_they_went_in(lens in prop::collection::vec(0..4096usize, 0..20), step in 1..5000usize) {
        let (got, fault) = whole_stream(&stream(&lens, true), || step);
        prop_assert_eq!(fault, None);
        prop_assert_eq!(got.iter().map(|(_, m)| m.len()).collect::<Vec<_>>(), lens);
    }

    /// With checksums no damaged message comes out, wherever the damage is.
    #[test]
    fn damage_is_never_delivered(
        lens in prop::collection::vec(0..300usize, 1..8),
        hits in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
    ) {
        let good = stream(&lens, true);
        let (clean, _) = whole_stream(&good, || 512);
        let mut bad = good.clone();
        for (at, xor) in hits {
            bad[at.index(good.len())] ^= xor;
        }
        let (got, _) = whole_stream(&bad, || 512);
        prop_assert!(got.len() <= clean.len());
        prop_assert_eq!(&got[..], &clean[..got.len()]);
    }

    /// Swallowed bytes are seen: what comes out is a beginning of what went in.
    #[test]
    fn gaps_are_never_delivered(
        lens in prop::collection::vec(0..300usize, 1..8),
        from in any::<prop::sample::Index>(), gone in 1..600usize,
    ) {
        let good = stream(&lens, true);
        let (clean, _) = whole_stream(&good, || 512);
        let from = from.index(good.len());
        let bad = [&good[..from], &good[(from + gone).min(good.len())..]].concat();
        let (got, _) = whole_stream(&bad, || 512);
        prop_assert_eq!(&got[..], &clean[..got.len()]);
    }

    /// For anything that a peer writes, with headers whose checksums are right, too: no panic, no read beyond.
    #[test]
    fn hostile_bytes_have_an_answer(
        blocks in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..80), any::<[u8; 28]>(), any::<bool>()), 0..10),
    ) {
        let mut all = Vec::new();
        for (bytes, head, small) in blocks {
            let mut head = head;
            head[4] %= 10;
            if small {
                head[2..4].fill(0);
                head[6..16].fill(0);
            }
            all.extend_from_slice(&head);
            all.extend_from_slice(&check::sum(&head).to_le_bytes());
            all.extend_from_slice(&bytes);
        }
        whole_stream(&all, || 100);
    }
}

/// The end of a message is swallowed and its sender, which gets no answer, asks.
#[test]
fn a_question_in_a_message_shows_a_gap() {
    let good = stream(&[10, 3000], true);
    let question =
        Header { len: 0, kind: Kind::Question, tag: 0, sum: None, position: good.len() as u64, acked: 0 };
    for gone in [33, 500, 2999] {
        let bad = [&good[..good.len() - gone], &question.encode()].concat();
        let (got, fault) = whole_stream(&bad, || 512);
        assert_eq!((got.len(), fault), (1, Some(Fault::Damaged("a message whose end is missing"))));
    }
    // A message that is not whole yet may have anything in it.
    assert_eq!(whole_stream(&good[..good.len() - 33], || 512).1, None);
}

#[test]
fn faults_are_told_apart() {
    let fault = |h: Header| whole_stream(&h.encode(), || 512).1;
    let good = Header { len: 0, kind: Kind::Message, tag: 0, sum: None, position: 0, acked: 0 };
    assert_eq!(fault(good), None);
    assert!(matches!(fault(Header { len: 4097, ..good }), Some(Fault::Hostile(_))));
    assert!(matches!(fault(Header { position: 8, ..good }), Some(Fault::Damaged(_))));
    assert!(matches!(fault(Header { position: 8, kind: Kind::Question, ..good }), Some(Fault::Damaged(_))));
    assert_eq!(fault(Header { position: 8, kind: Kind::Ack, ..good }), None);
}
