//! Messages that are read to their place, out of streams that are cut, damaged and begun again.

use crate::check;
use crate::fault::Fault;
use crate::frame::{HEADER, Header, Kind, room};
use crate::inbound::Inbound;
use crate::placed::PLACED_FROM;
use oxmpi_btl::PayloadPlace;
use proptest::prelude::*;

const LARGEST: usize = 64 << 10;
/// Bytes of the messages' own header.
const UPPER: usize = 24;

fn message(i: usize, len: usize) -> Vec<u8> {
    (0..len).map(|b| (b * 7 + i * 13 + b / 251) as u8).collect()
}

fn stream(lens: &[usize], sum: bool) -> Vec<u8> {
    let mut all = Vec::new();
    for (i, &len) in lens.iter().enumerate() {
        let message = message(i, len);
        let sum = sum.then(|| check::sum(&message));
        let position = all.len() as u64;
        let h = Header { len: len as u32, kind: Kind::Message, tag: i as u8, sum, position, acked: 0 };
        all.extend_from_slice(&h.encode());
        all.extend_from_slice(&message);
        all.resize(all.len().next_multiple_of(8), 0);
    }
    all
}

/// The bytes that the next connection brings to a receiver: from where it has come to on, behind a Resumption where that is inside of a frame.
fn rest_of(wire: &[u8], inn: &Inbound) -> Vec<u8> {
    let (edge, from) = (inn.position() as usize, inn.reached() as usize);
    if from == edge {
        return wire[from..].to_vec();
    }
    let sum = Some(check::sum(&wire[edge..from]));
    let first = Header { len: 0, kind: Kind::Resumption, tag: 0, sum, position: from as u64, acked: 0 };
    [&first.encode()[..], &wire[from..]].concat()
}

/// A receiver whose long messages have places.
struct Receiver {
    inn: Inbound,
    memory: Vec<u8>,
    /// Messages, whole; of one that went nowhere its header.
    got: Vec<Vec<u8>>,
    placed: usize,
    /// Its operations are over.
    over: bool,
    /// Messages that were claimed: each gets its number as its name, where they are.
    claims: Option<u64>,
}

impl Receiver {
    fn new() -> Receiver {
        let mut inn = Inbound::new(1024, LARGEST);
        inn.place_from(PLACED_FROM);
        Receiver {
            inn,
            memory: vec![0xee; LARGEST + 64],
            got: Vec::new(),
            placed: 0,
            over: false,
            claims: None,
        }
    }

    fn place(&mut self) -> Option<PayloadPlace> {
        (!self.over).then_some(PayloadPlace { header: UPPER as u64, at: self.memory.as_mut_ptr() })
    }

    /// Takes frames off a wire that brings as many bytes at a time as `cut` says.
    fn take(&mut self, mut wire: &[u8], mut cut: impl FnMut() -> usize) -> Result<(), Fault> {
        loop {
            while let Some(frame) = self.inn.next()? {
                let (header, mut message) = (frame.header, frame.message.to_vec());
                if self.inn.is_placing() {
                    self.placed += 1;
                    if self.inn.place_of_front().is_some() {
                        message.extend_from_slice(&self.memory[..header.len as usize - UPPER]);
                    }
                }
                if header.kind.is_in_stream() {
                    self.got.push(message);
                }
                self.inn.count(&header);
                self.inn.pass(&header);
            }
            if wire.is_empty() {
                return Ok(());
            }
            let place = self.place();
            if self.inn.is_placing() {
                // SAFETY: the place is the receiver's own memory, which has room for the longest message.
                unsafe { self.inn.place_again(place) };
            } else if let Some(header) = self.inn.asks_for_place()
                && let Some(place) = place
            {
                self.claims = self.claims.map(|claims| claims + 1);
                // SAFETY: as above.
                unsafe { self.inn.place(&header, place, self.claims.unwrap_or(0)) };
            }
            let mut most = cut().max(1);
            let mut read = |first: &mut [u8], second: &mut [u8]| {
                let mut n = 0;
                for into in [first, second] {
                    let len = most.min(into.len()).min(wire.len());
                    into[..len].copy_from_slice(&wire[..len]);
                    (wire, most, n) = (&wire[len..], most - len, n + len);
                }
                Ok(n)
            };
            let filled = match (self.inn.is_resuming(), self.inn.is_placing()) {
                (true, _) => self.inn.fill_resumption(|into| read(&mut [], into)),
                // SAFETY: as above.
                (_, true) => unsafe { self.inn.fill_place(read) },
                _ => self.inn.fill(|into| read(&mut [], into)),
            };
            assert!(matches!(filled, Ok(n) if n > 0), "there is always room for something");
            // SAFETY: as above.
            unsafe { self.inn.go_on() }?;
        }
    }
}

fn lens() -> impl Strategy<Value = Vec<usize>> {
    let len = prop_oneof![0..400usize, PLACED_FROM - 20..PLACED_FROM + 20, PLACED_FROM..LARGEST];
    prop::collection::vec(len, 1..8)
}

proptest! {
    /// Long ones to their place and short ones from the buffer, as they were sent and in their order, however the stream is cut.
    #[test]
    fn all_come_whole(lens in lens(), steps in prop::collection::vec(1..70_000usize, 1..8), sum in any::<bool>()) {
        let (mut receiver, mut turn) = (Receiver::new(), 0);
        let taken = receiver.take(&stream(&lens, sum), || { turn += 1; steps[turn % steps.len()] });
        prop_assert_eq!(taken, Ok(()));
        for (i, &len) in lens.iter().enumerate() {
            prop_assert!(receiver.got[i] == message(i, len), "message {} of {} bytes", i, len);
        }
        prop_assert_eq!(receiver.got.len(), lens.len());
    }

    /// A connection breaks at any byte: the next one goes on there inside of a long frame, and at the beginning of another.
    #[test]
    fn a_broken_connection_goes_on_in_place(lens in lens(), breaks in prop::collection::vec(any::<prop::sample::Index>(), 1..5), step in 500..70_000usize) {
        let wire = stream(&lens, true);
        let mut receiver = Receiver::new();
        for at in breaks {
            let rest = rest_of(&wire, &receiver.inn);
            let until = at.index(rest.len() + 1);
            let before = receiver.inn.reached();
            prop_assert_eq!(receiver.take(&rest[..until], || step), Ok(()));
            receiver.inn.forget();
            let (position, reached) = (receiver.inn.position(), receiver.inn.reached());
            prop_assert!(before <= reached, "nothing comes twice of a long frame");
            prop_assert!(reached == position || receiver.inn.is_resuming());
        }
        prop_assert_eq!(receiver.take(&rest_of(&wire, &receiver.inn), || step), Ok(()));
        for (i, &len) in lens.iter().enumerate() {
            prop_assert!(receiver.got[i] == message(i, len), "message {} of {} bytes", i, len);
        }
        prop_assert_eq!(receiver.got.len(), lens.len());
    }

    /// With checksums no damaged message is handed up, wherever the damage is; what is sent again is right.
    #[test]
    fn damage_is_never_handed_up(lens in lens(), at in any::<prop::sample::Index>(), xor in 1..=255u8, step in 500..70_000usize) {
        let wire = stream(&lens, true);
        let mut bad = wire.clone();
        let at = at.index(bad.len());
        bad[at] ^= xor;
        let mut receiver = Receiver::new();
        // Damage in the padding behind a message is none.
        if receiver.take(&bad, || step).is_err() {
            receiver.inn.distrust();
        }
        receiver.inn.forget();
        prop_assert_eq!(receiver.take(&rest_of(&wire, &receiver.inn), || step), Ok(()));
        for (i, &len) in lens.iter().enumerate() {
            prop_assert!(receiver.got[i] == message(i, len), "message {} of {} bytes", i, len);
        }
    }

    /// Bytes are missing in a long frame, or wrong, when its connection breaks, and nothing has a checksum but the Resumption.
    #[test]
    fn what_a_connection_goes_on_with_is_checked(
        from in 0..30_000usize, gone in 0..3000usize, more in 300..2000usize, step in 500..70_000usize, places in any::<bool>(),
    ) {
        let wire = stream(&[10, 40_000, 77], false);
        let begun = room(10) + HEADER + 200 + from;
        let bad = [&wire[..begun], &wire[begun + gone..begun + gone + more]].concat();
        let mut receiver = Receiver::new();
        receiver.inn.place_from(if places { PLACED_FROM } else { 0 });
        prop_assert_eq!(receiver.take(&bad, || step), Ok(()));
        receiver.inn.forget();
        prop_assert_eq!(receiver.inn.reached(), bad.len() as u64);
        let next = receiver.take(&rest_of(&wire, &receiver.inn), || step);
        prop_assert_eq!(next.is_err(), gone > 0);
        if next.is_err() {
            receiver.inn.distrust();
            receiver.inn.forget();
            prop_assert_eq!(receiver.inn.reached(), room(10) as u64, "the frame comes again whole");
            prop_assert_eq!(receiver.take(&rest_of(&wire, &receiver.inn), || step), Ok(()));
        }
        for (i, len) in [10, 40_000, 77].into_iter().enumerate() {
            prop_assert!(receiver.got[i] == message(i, len), "message {} of {} bytes", i, len);
        }
    }

    /// A message that was claimed is placed, and claimed once, though bytes of it are swallowed and its connection breaks.
    #[test]
    fn a_claimed_message_comes_once(
        breaks in prop::collection::vec((0..40_000usize, 0..3000usize, any::<bool>()), 1..6), step in 500..70_000usize,
    ) {
        let wire = stream(&[10, 40_000, 77], false);
        let mut receiver = Receiver::new();
        receiver.claims = Some(0);
        prop_assert_eq!(receiver.take(&wire[..room(10) + HEADER + 700], || 200), Ok(()));
        prop_assert_eq!(receiver.inn.name_of_front(), 1);
        for (len, gone, damaged) in breaks {
            receiver.inn.forget();
            prop_assert!(receiver.inn.is_resuming());
            let rest = rest_of(&wire, &receiver.inn);
            // The Resumption stays, and the end of the message does not come.
            let at = HEADER + len.min((rest.len() - HEADER).saturating_sub(room(77) + 5000));
            let end = (at + gone + 1000).min(rest.len() - room(77) - 8).max(at);
            let bad = [&rest[..at], &rest[(at + gone).min(end)..end]].concat();
            if receiver.take(&bad, || step).is_err() || damaged {
                receiver.inn.distrust();
            }
            prop_assert_eq!(receiver.inn.name_of_front(), 1);
        }
        receiver.inn.forget();
        if receiver.take(&rest_of(&wire, &receiver.inn), || step).is_err() {
            receiver.inn.distrust();
            receiver.inn.forget();
            prop_assert_eq!(receiver.take(&rest_of(&wire, &receiver.inn), || step), Ok(()));
        }
        prop_assert_eq!((receiver.claims, receiver.placed), (Some(1), 1));
        for (i, len) in [10, 40_000, 77].into_iter().enumerate() {
            prop_assert!(receiver.got[i] == message(i, len), "message {} of {} bytes", i, len);
        }
    }

    /// Behind the end of its operation nothing is written, and the stream goes on.
    #[test]
    fn what_has_no_place_any_more_goes_nowhere(at in any::<prop::sample::Index>(), step in 500..70_000usize) {
        let wire = stream(&[100, 40_000, 77], true);
        let first = room(100);
        let until = first + 200 + at.index(39_000);
        let mut receiver = Receiver::new();
        prop_assert_eq!(receiver.take(&wire[..until], || 300), Ok(()));
        prop_assert!(receiver.inn.is_placing());
        receiver.over = true;
        let before = receiver.memory.clone();
        prop_assert_eq!(receiver.take(&wire[until..], || step), Ok(()));
        prop_assert!(receiver.memory == before);
        prop_assert_eq!(receiver.placed, 1);
        prop_assert_eq!(&receiver.got[1], &message(1, 40_000)[..UPPER]);
        prop_assert_eq!(&receiver.got[2], &message(2, 77));
    }
}

/// The end of a message is swallowed and its sender, which gets no answer, asks.
#[test]
fn a_question_in_a_placed_message_shows_a_gap() {
    let wire = stream(&[10, 40_000], true);
    let position = wire.len() as u64;
    let question = Header { len: 0, kind: Kind::Question, tag: 0, sum: None, position, acked: 0 };
    for over in [false, true] {
        for gone in [33, 500, 30_000] {
            let mut receiver = Receiver::new();
            let kept = &wire[..wire.len() - gone];
            assert_eq!(receiver.take(kept, || 700), Ok(()));
            receiver.over = over;
            let asked = receiver.take(&question.encode(), || 700);
            assert_eq!(asked, Err(Fault::Damaged("a message whose end is missing")), "{gone} bytes");
        }
    }
}

/// A message that is as good as here is not asked about.
#[test]
fn a_message_that_is_nearly_whole_is_copied() {
    let wire = stream(&[20_000], false);
    let mut inn = Inbound::new(LARGEST, LARGEST);
    inn.place_from(PLACED_FROM);
    let filled = inn.fill(|into| {
        into[..20_000].copy_from_slice(&wire[..20_000]);
        Ok(20_000)
    });
    assert!(filled.is_ok() && inn.asks_for_place().is_none());
}
