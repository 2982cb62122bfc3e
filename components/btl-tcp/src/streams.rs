//! The streams of a context, by their slots.
//!
//! **Slots are used again.** Jobs come and go while a process runs, so the slot of a stream that was shut is given to the next new one. A stream that is
//! shut stays in its slot until then: whoever shut it may still look at it in the same turn.
//!
//! **Names.** A slot is good as long as its stream is not shut, and within a turn. Lanes, the tokens of the poller's events and the links of
//! requests are kept for longer, and are names: the slot and how many streams that had before. The name of a stream that has gone finds nobody.

use crate::stream::Stream;
use core::ops::{Index, IndexMut};
use std::collections::HashMap;

/// The name of a stream in its context; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamName {
    slot: u32,
    generation: u32,
}

impl StreamName {
    /// Tokens below are those of what is no stream.
    pub const FIRST_TOKEN: u64 = 3;

    /// The name as one word, which is not 0: the token of its events, the link of its requests.
    pub fn token(self) -> u64 {
        u64::from(self.generation) << 32 | (u64::from(self.slot) + Self::FIRST_TOKEN)
    }

    /// The name that has this token; `None`: it is no stream's.
    fn of_token(token: u64) -> Option<StreamName> {
        let slot = (token & u64::from(u32::MAX)).checked_sub(Self::FIRST_TOKEN)?;
        Some(StreamName { slot: slot as u32, generation: (token >> 32) as u32 })
    }
}

/// A place for one stream after the other.
struct Place {
    stream: Stream,
    generation: u32,
}

/// See the module's head.
#[derive(Default)]
pub struct Streams {
    places: Vec<Place>,
    /// Slots of streams that were shut.
    free: Vec<usize>,
    /// Slots of the others, by peer ([`Core::number`](crate::peer::Core)) and its context.
    by_peer: HashMap<(u64, u16), usize>,
}

fn key(stream: &Stream) -> (u64, u16) {
    (stream.core.number, stream.theirs)
}

impl Streams {
    /// Number of slots.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// All streams, shut ones among them.
    pub fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.places.iter().map(|place| &place.stream)
    }

    /// The stream to a peer's context, unless it is shut.
    pub fn find(&self, peer: u64, theirs: u16) -> Option<usize> {
        self.by_peer.get(&(peer, theirs)).copied()
    }

    /// The slot that the next new stream gets.
    pub fn next_slot(&self) -> usize {
        self.free.last().copied().unwrap_or(self.places.len())
    }

    /// Adds a stream, to which there is none like it, in [`Streams::next_slot`].
    pub fn add(&mut self, stream: Stream) -> usize {
        let key = key(&stream);
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.places[slot];
                *place = Place { stream, generation: place.generation.wrapping_add(1) };
                slot
            }
            None => {
                self.places.push(Place { stream, generation: 0 });
                self.places.len() - 1
            }
        };
        self.by_peer.insert(key, slot);
        slot
    }

    /// A stream was shut: its slot is free. Once or several times.
    pub fn free(&mut self, slot: usize) {
        let key = key(&self.places[slot].stream);
        if self.by_peer.get(&key) == Some(&slot) {
            self.by_peer.remove(&key);
            self.free.push(slot);
        }
    }

    /// The name of the stream in a slot.
    pub fn name(&self, slot: usize) -> StreamName {
        StreamName { slot: slot as u32, generation: self.places[slot].generation }
    }

    /// The slot of a stream; `None`: it has gone.
    #[inline]
    pub fn slot(&self, name: StreamName) -> Option<usize> {
        let slot = name.slot as usize;
        self.places.get(slot).filter(|place| place.generation == name.generation).map(|_| slot)
    }

    /// The slot of the stream of which an event tells; `None`: it has gone.
    pub fn slot_of_token(&self, token: u64) -> Option<usize> {
        self.slot(StreamName::of_token(token)?)
    }
}

impl Index<usize> for Streams {
    type Output = Stream;
    #[inline]
    fn index(&self, slot: usize) -> &Stream {
        &self.places[slot].stream
    }
}

impl IndexMut<usize> for Streams {
    #[inline]
    fn index_mut(&mut self, slot: usize) -> &mut Stream {
        &mut self.places[slot].stream
    }
}
