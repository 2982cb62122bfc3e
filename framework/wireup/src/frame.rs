//! Bytes to frames and back: `u32 length, u8 kind, payload`, little-endian; the length counts the
//! payload. Nothing here knows what a kind means.
//!
//! **Bounds.** A receiver says how long a payload it takes; a longer length is refused when its
//! four bytes are there, before anything is kept for it. Text and lists inside a payload carry
//! their own lengths, which are compared with the bytes that are really left, so no length that a
//! peer chose ever decides how much memory is taken.

use std::fmt;

/// Bytes in front of every payload.
pub const HEADER: usize = 5;

/// The bytes that arrived are no frame of this protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A payload longer than the receiver takes.
    TooLong { length: u64, limit: usize },
    /// The payload ends in the middle of a field.
    Short { field: &'static str },
    /// The payload goes on after its last field.
    Trailing { bytes: usize },
    /// A text is not UTF-8.
    Text { field: &'static str },
    /// A field has a value that it cannot have.
    Value { field: &'static str, value: u64 },
    /// A kind of frame that this end does not receive.
    Kind(u8),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong { length, limit } => {
                write!(f, "a payload of {length} bytes where at most {limit} are taken")
            }
            Malformed::Short { field } => write!(f, "it ends inside its field '{field}'"),
            Malformed::Trailing { bytes } => write!(f, "{bytes} bytes follow its last field"),
            Malformed::Text { field } => write!(f, "its field '{field}' is not UTF-8 text"),
            Malformed::Value { field, value } => write!(f, "its field '{field}' cannot be {value}"),
            Malformed::Kind(kind) => write!(f, "kind {kind:#04x} is not one this end receives"),
        }
    }
}

impl std::error::Error for Malformed {}

/// One whole frame, still in the buffer it arrived in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub kind: u8,
    pub payload: &'a [u8],
}

/// Collects bytes as they arrive and gives whole frames back.
#[derive(Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes before this position have been given out.
    start: usize,
    limit: usize,
}

impl Inbox {
    /// Takes payloads of at most `limit` bytes.
    pub fn new(limit: usize) -> Inbox {
        Inbox { bytes: Vec::new(), start: 0, limit }
    }

    /// From now on takes payloads of at most `limit` bytes.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Appends bytes that arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes that arrived and are not part of a frame given out.
    pub fn pending(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Gives the next whole frame; `None`: it has not arrived. After an error the stream cannot be read on, since
    /// nobody knows where the next frame starts.
    #[expect(clippy::should_implement_trait, reason = "a lending iterator, which Iterator cannot be")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, Malformed> {
        let rest = &self.bytes[self.start..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length);
        let limit = self.limit;
        let payload_len = usize::try_from(length)
            .ok()
            .filter(|&n| n <= limit)
            .ok_or(Malformed::TooLong { length: length.into(), limit })?;
        let Some((&kind, rest)) = rest.split_first() else { return Ok(None) };
        let Some(payload) = rest.get(..payload_len) else { return Ok(None) };
        self.start += HEADER + payload_len;
        Ok(Some(Frame { kind, payload }))
    }
}

/// Builds one frame.
#[derive(Debug)]
pub struct Builder {
    bytes: Vec<u8>,
}

impl Builder {
    /// Begins a frame of this kind.
    pub fn new(kind: u8) -> Builder {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&[0, 0, 0, 0, kind]);
        Builder { bytes }
    }

    /// Appends a byte.
    pub fn u8(mut self, value: u8) -> Builder {
        self.bytes.push(value);
        self
    }

    /// Appends a number of 32 bits.
    pub fn u32(mut self, value: u32) -> Builder {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Appends a signed number of 32 bits.
    pub fn i32(self, value: i32) -> Builder {
        self.u32(value.cast_unsigned())
    }

    /// Appends a number of 64 bits.
    pub fn u64(mut self, value: u64) -> Builder {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Bytes without a length: the field has a fixed size, or is the last one.
    pub fn raw(mut self, value: &[u8]) -> Builder {
        self.bytes.extend_from_slice(value);
        self
    }

    /// Bytes with their length in front. Longer ones than a frame can say are cut off at the
    /// frame's own length, which `finish` then reports.
    pub fn bytes(self, value: &[u8]) -> Builder {
        self.count(value.len()).raw(value)
    }

    /// Appends a text with its length in front.
    pub fn text(self, value: &str) -> Builder {
        self.bytes(value.as_bytes())
    }

    /// Appends the number of items that follow.
    pub fn count(self, value: usize) -> Builder {
        // Saturates: the frame's own length then does not fit either, and `finish` says so.
        self.u32(u32::try_from(value).unwrap_or(u32::MAX))
    }

    /// Completes the frame with its length and returns its bytes; an error where the payload is too long.
    pub fn finish(mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.bytes.len() - HEADER;
        let Ok(coded) = u32::try_from(length) else {
            return Err(Malformed::TooLong { length: length as u64, limit: u32::MAX as usize });
        };
        self.bytes[..4].copy_from_slice(&coded.to_le_bytes());
        Ok(self.bytes)
    }
}

/// Takes the fields of one payload, front to back.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Begins to read a payload at its first byte.
    pub fn new(payload: &'a [u8]) -> Fields<'a> {
        Fields { rest: payload }
    }

    /// Takes a field of `N` bytes; an error where fewer are left.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::Short { field })?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Takes a byte.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array(field)?))
    }

    /// Takes a number of 32 bits.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// Takes a signed number of 32 bits.
    pub fn i32(&mut self, field: &'static str) -> Result<i32, Malformed> {
        Ok(i32::from_le_bytes(self.array(field)?))
    }

    /// Takes a number of 64 bits.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// Takes a byte that is 0 or 1.
    pub fn bool(&mut self, field: &'static str) -> Result<bool, Malformed> {
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed::Value { field, value: other.into() }),
        }
    }

    /// Takes bytes with their length in front.
    pub fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], Malformed> {
        let length = self.u32(field)? as usize;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Short { field })?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes a text with its length in front, which must be UTF-8.
    pub fn text(&mut self, field: &'static str) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes(field)?).map_err(|_| Malformed::Text { field })
    }

    /// A list whose items take at least `smallest` bytes each. The items are collected as they
    /// are read, so the number that the peer gave takes no memory by itself.
    pub fn list<T>(
        &mut self,
        field: &'static str,
        smallest: usize,
        mut item: impl FnMut(&mut Fields<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32(field)? as usize;
        if count > self.rest.len() / smallest.max(1) {
            return Err(Malformed::Short { field });
        }
        (0..count).map(|_| item(self)).collect()
    }

    /// Takes all bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Checks that no bytes are left.
    pub fn finish(self) -> Result<(), Malformed> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(Malformed::Trailing { bytes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(kind: u8, payload: &[u8]) -> Vec<u8> {
        Builder::new(kind).raw(payload).finish().expect("short enough")
    }

    #[test]
    fn a_length_above_the_limit_is_refused_before_its_bytes_arrive() {
        let mut inbox = Inbox::new(10);
        inbox.extend(&11u32.to_le_bytes());
        assert_eq!(inbox.next(), Err(Malformed::TooLong { length: 11, limit: 10 }));
    }

    #[test]
    fn a_list_cannot_be_longer_than_its_bytes() {
        let payload = u32::MAX.to_le_bytes();
        let mut fields = Fields::new(&payload);
        assert_eq!(fields.list("ranks", 4, |f| f.u32("rank")), Err(Malformed::Short { field: "ranks" }));
    }

    #[test]
    fn what_follows_the_last_field_is_noticed() {
        let mut fields = Fields::new(&[1, 0, 0, 0, 9]);
        assert_eq!(fields.u32("a"), Ok(1));
        assert_eq!(fields.finish(), Err(Malformed::Trailing { bytes: 1 }));
    }

    proptest! {
        #[test]
        fn frames_survive_any_cut(
            frames in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..200)), 0..20),
            cuts in prop::collection::vec(1usize..97, 1..40),
        ) {
            let mut stream = Vec::new();
            for (kind, payload) in &frames {
                stream.extend(framed(*kind, payload));
            }
            let mut inbox = Inbox::new(200);
            let mut seen = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                inbox.extend(now);
                rest = later;
                while let Some(frame) = inbox.next().expect("well-formed") {
                    seen.push((frame.kind, frame.payload.to_vec()));
                }
            }
            prop_assert_eq!(seen, frames);
            prop_assert_eq!(inbox.pending(), 0);
        }

        #[test]
        fn any_bytes_give_frames_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut inbox = Inbox::new(64);
            inbox.extend(&bytes);
            while let Ok(Some(frame)) = inbox.next() {
                prop_assert!(frame.payload.len() <= 64);
            }
        }
    }
}
