//! Messages between two layers: their bytes, and what cannot be one.
//!
//! ```text
//! sender                             receiver
//! ANNOUNCE  envelope, length  ─────►  waits for its receive, or meets it (a short message: with its data, and that is all)
//! complete, if nothing is wanted ◄──  WANT    how much
//! DATA, DATA ...              ─────►  complete
//!
//! CANCEL                      ─────►  takes the announcement back, if it still waits
//! ends as cancelled           ◄─────  CANCELLED
//! ```

/// A communicator as its ranks' messages name it: its global id, and the endpoint of the receiving rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub gid: [u64; 2],
    pub endpoint: u16,
}

/// The announcement of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announce {
    pub to: Address,
    /// The sender's rank.
    pub source: i32,
    pub tag: i32,
    /// The sender's number of the operation.
    pub send: u64,
    pub len: u64,
    /// The data follows.
    pub is_whole: bool,
}

/// A message between two layers. Of DATA, and of a whole message, the rest is payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Announce(Announce),
    /// A receive met the announcement: send as many bytes to that operation of ours.
    Want {
        send: u64,
        receive: u64,
        bytes: u64,
    },
    Data {
        receive: u64,
        offset: u64,
    },
    Cancel {
        send: u64,
    },
    Cancelled {
        send: u64,
    },
}

/// Bytes of the longest frame, and of one in front of data.
pub const LONGEST: usize = 6 * 8;
pub const DATA_BYTES: usize = 3 * 8;

impl Frame {
    /// The words of the frame, and how many there are. The first names the kind.
    fn words(&self) -> ([u64; 6], usize) {
        let two = |a: i32, b: i32| u64::from(a.cast_unsigned()) << 32 | u64::from(b.cast_unsigned());
        match *self {
            Frame::Announce(a) => {
                let first = u64::from(a.to.endpoint) << 8 | u64::from(a.is_whole) << 24;
                ([first, a.to.gid[0], a.to.gid[1], two(a.source, a.tag), a.send, a.len], 6)
            }
            Frame::Want { send, receive, bytes } => ([1, send, receive, bytes, 0, 0], 4),
            Frame::Data { receive, offset } => ([2, receive, offset, 0, 0, 0], 3),
            Frame::Cancel { send } => ([3, send, 0, 0, 0, 0], 2),
            Frame::Cancelled { send } => ([4, send, 0, 0, 0, 0], 2),
        }
    }

    /// Writes the frame; returns the part of `out` that it takes.
    pub fn encode<'a>(&self, out: &'a mut [u8; LONGEST]) -> &'a [u8] {
        let (words, count) = self.words();
        for (place, word) in out.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        &out[..8 * count]
    }

    /// Reads a frame and what follows it. `None`: nobody who speaks this protocol wrote that.
    pub fn decode(bytes: &[u8]) -> Option<(Frame, &[u8])> {
        let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(8 * at..)?.first_chunk()?));
        let halves = |word: u64| ((word >> 32) as u32 as i32, word as u32 as i32);
        let first = word(0)?;
        let frame = match first & 0xff {
            0 => {
                let (source, tag) = halves(word(3)?);
                let to = Address { gid: [word(1)?, word(2)?], endpoint: (first >> 8) as u16 };
                let (send, len) = (word(4)?, word(5)?);
                Frame::Announce(Announce { to, source, tag, send, len, is_whole: first >> 24 & 1 != 0 })
            }
            1 => Frame::Want { send: word(1)?, receive: word(2)?, bytes: word(3)? },
            2 => Frame::Data { receive: word(1)?, offset: word(2)? },
            3 => Frame::Cancel { send: word(1)? },
            4 => Frame::Cancelled { send: word(1)? },
            _ => return None,
        };
        let rest = &bytes[8 * frame.words().1..];
        let fits = match frame {
            Frame::Announce(announce) => {
                rest.len() as u64 == if announce.is_whole { announce.len } else { 0 }
            }
            Frame::Data { .. } => true,
            _ => rest.is_empty(),
        };
        fits.then_some((frame, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_way_and_damaged_ones_are_refused() {
        let to = Address { gid: [u64::MAX - 1, 7], endpoint: 513 };
        let announce = Announce { to, source: 3, tag: -9, send: 1 << 40, len: 2, is_whole: false };
        let whole = Frame::Announce(Announce { is_whole: true, ..announce });
        let (want, data) =
            (Frame::Want { send: 1, receive: 2, bytes: 3 }, Frame::Data { receive: 9, offset: 8 });
        let (cancel, cancelled) = (Frame::Cancel { send: 5 }, Frame::Cancelled { send: 6 });
        for (frame, payload) in [
            (Frame::Announce(announce), &[][..]),
            (whole, &[7, 8]),
            (want, &[]),
            (data, &[1, 2, 3]),
            (cancel, &[]),
            (cancelled, &[]),
        ] {
            let mut out = [0; LONGEST];
            let bytes = frame.encode(&mut out);
            let message = [bytes, payload].concat();
            assert_eq!(Frame::decode(&message), Some((frame, payload)));
            (0..bytes.len())
                .for_each(|len| assert_eq!(Frame::decode(&message[..len]), None, "{frame:?}: {len}"));
            assert_eq!(Frame::decode(&[&message[..], &[1]].concat()).is_some(), frame == data);
            assert_eq!(Frame::decode(&[&[9], &message[1..]].concat()), None, "no such kind");
        }
    }
}
