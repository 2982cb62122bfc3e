//! Structures of a window that other processes see: cards, leaders' records, state words, regions. Versioned by the job's
//! build: all processes of a job run one version of the component, which the host's exchange of components makes sure of.
//!
//! Everything lies in memory that peers read by loads or by a transport's get, in the byte order of the machine.

use oxmpi_osc_support::{RemoteRegistration, TRANSPORTS};

/// Data that a rank's peers need to know. The window's memory of a dynamic one is in its regions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Card {
    pub base: u64,
    /// Address of the rank's state words in its own address space.
    pub state: u64,
    pub data: [RemoteRegistration; TRANSPORTS],
    pub states: [RemoteRegistration; TRANSPORTS],
    /// The last two only where ranks differ: see [`CardLayout`].
    pub bytes: u64,
    pub disp_unit: i64,
}

impl Card {
    pub const EMPTY: Card = Card {
        base: 0,
        state: 0,
        data: [RemoteRegistration::NONE; TRANSPORTS],
        states: [RemoteRegistration::NONE; TRANSPORTS],
        bytes: 0,
        disp_unit: 1,
    };
}

/// How cards lie in memory: without what is the same at all ranks of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardLayout {
    /// Of each rank; `None`: they differ.
    pub bytes: Option<u64>,
    pub disp_unit: Option<i64>,
}

impl CardLayout {
    /// Bytes that every card has.
    const HEAD: usize = core::mem::offset_of!(Card, bytes);

    pub fn stride(self) -> u64 {
        let words = u64::from(self.bytes.is_none()) + u64::from(self.disp_unit.is_none());
        CardLayout::HEAD as u64 + 8 * words
    }

    /// # Safety
    /// `to` is aligned for a word and has room for a card.
    pub unsafe fn write(self, card: &Card, to: *mut u8) {
        let bytes = self.bytes.is_none().then_some(card.bytes);
        let unit = self.disp_unit.is_none().then_some(card.disp_unit.cast_unsigned());
        // SAFETY: the caller's promise.
        unsafe {
            core::ptr::copy_nonoverlapping((&raw const *card).cast::<u8>(), to, CardLayout::HEAD);
            let words: *mut u64 = to.add(CardLayout::HEAD).cast();
            for (i, word) in bytes.into_iter().chain(unit).enumerate() {
                words.add(i).write(word);
            }
        }
    }

    /// The card that these bytes are; there are [`CardLayout::stride`] of them. Panics if there are fewer.
    pub fn read(self, from: &[u8]) -> Card {
        let (head, words) = from.split_at(CardLayout::HEAD);
        let mut words = words.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        let mut next = || words.next().unwrap_or_else(|| panic!("a card is shorter than its stride"));
        let mut card = Card::EMPTY;
        card.bytes = self.bytes.unwrap_or_else(&mut next);
        card.disp_unit = self.disp_unit.unwrap_or_else(|| next().cast_signed());
        // SAFETY: as many bytes are there; any are a card's.
        unsafe {
            core::ptr::copy_nonoverlapping(head.as_ptr(), (&raw mut card).cast::<u8>(), head.len());
        }
        card
    }
}

/// Where a group of ranks has its cards: in its leader's memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Leader {
    /// In the window.
    pub rank: u32,
    pub reserved: u32,
    /// Address of the first card in the leader's address space.
    pub cards: u64,
    pub registrations: [RemoteRegistration; TRANSPORTS],
}

impl Leader {
    pub const EMPTY: Leader =
        Leader { rank: 0, reserved: 0, cards: 0, registrations: [RemoteRegistration::NONE; TRANSPORTS] };
}

/// Memory that is attached to a dynamic window.
///
/// A region that was read is checked by [`Head`] afterwards, so any bytes are one.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub bytes: u64,
    pub registrations: [RemoteRegistration; TRANSPORTS],
}

impl Region {
    pub const BYTES: u64 = size_of::<Region>() as u64;

    /// The region that these bytes are; there are [`Region::BYTES`] of them. Panics if there are fewer.
    pub fn of(bytes: &[u8]) -> Region {
        assert!(bytes.len() >= size_of::<Region>());
        // SAFETY: as many bytes are there; any are a region's.
        unsafe { bytes.as_ptr().cast::<Region>().read_unaligned() }
    }
}

/// How many regions there are, and a version that changes where one goes: in one word, so that both are read as they were at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head(pub u64);

impl Head {
    const COUNT_BITS: u32 = 24;
    /// One version more.
    pub const STEP: u64 = 1 << Head::COUNT_BITS;

    pub fn count(self) -> u64 {
        self.0 & (Head::STEP - 1)
    }

    pub fn version(self) -> u64 {
        self.0 >> Head::COUNT_BITS
    }

    /// Regions change places.
    pub fn is_changing(self) -> bool {
        self.version() & 1 == 1
    }
}

/// State words of a rank, by index; those that different ranks write often lie in lines of their own.
pub mod word {
    /// Of rank 0 alone: exclusive locks of anybody in the low half, lock_all's of anybody in the high half.
    pub const GLOBAL: u64 = 0;
    /// The rank's lock: [`super::EXCLUSIVE`], or how many share it.
    pub const LOCAL: u64 = 8;
    /// Attempts at the rank's lock that were refused, those from far in the low half and those from near in the high half: whoever takes it
    /// over and over lets them pass.
    pub const REFUSED: u64 = 9;
    /// Accumulates that share the lock in the low half, those that want it alone in the high half.
    pub const ACCUMULATE: u64 = 16;
    /// MPI_Win_complete's that no MPI_Win_wait has used up.
    pub const COMPLETES: u64 = 24;
    /// The list of attached regions: [`super::Head`].
    pub const REGIONS: u64 = 32;
    /// The first counters of notifications; the others lie behind the posts.
    pub const NOTIFY: u64 = 34;
    /// A bit for each rank that has posted to this one.
    pub const POSTS: u64 = 40;

    /// Whether windows on the same memory share the word: what makes their accumulates atomic to each other, and the list of regions.
    pub fn is_shared(word: u64) -> bool {
        word == ACCUMULATE || (32..NOTIFY).contains(&word)
    }
}

/// In [`word::LOCAL`].
pub const EXCLUSIVE: u64 = 1 << 63;
/// In [`word::ACCUMULATE`]: one who wants it alone.
pub const ALONE: u64 = 1 << 32;
/// In [`word::GLOBAL`]: one lock_all.
pub const ONE_ALL: u64 = 1 << 32;

/// The size of a rank's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLayout {
    posts: u64,
    pub notify: u64,
    pub max_regions: u64,
}

/// Counters of notifications that have places between other words.
const NEAR_NOTIFY: u64 = word::POSTS - word::NOTIFY;

impl StateLayout {
    /// `max_regions`: 0 but for dynamic windows. `notify`: counters of notifications.
    pub fn new(ranks: u32, max_regions: u32, notify: u32) -> StateLayout {
        StateLayout {
            posts: u64::from(ranks.div_ceil(64)).next_multiple_of(8),
            notify: notify.into(),
            max_regions: max_regions.into(),
        }
    }

    /// The word of a counter of notifications, if there is such a one.
    pub fn notification(&self, counter: u32) -> Option<u64> {
        let counter = u64::from(counter);
        match counter.checked_sub(NEAR_NOTIFY) {
            _ if counter >= self.notify => None,
            None => Some(word::NOTIFY + counter),
            Some(behind) => Some(word::POSTS + self.posts + behind),
        }
    }

    /// Where a region lies, in bytes.
    pub fn region(&self, at: u64) -> u64 {
        let notify = self.notify.saturating_sub(NEAR_NOTIFY).next_multiple_of(8);
        (word::POSTS + self.posts + notify) * 8 + at * Region::BYTES
    }

    /// Bytes of a rank's state: whole pairs of lines.
    pub fn bytes(&self) -> u64 {
        self.region(self.max_regions).next_multiple_of(128)
    }
}

const _: () = {
    assert!(size_of::<RemoteRegistration>() == 64);
    assert!(size_of::<Card>() == 32 + 2 * TRANSPORTS * 64);
    assert!(size_of::<Leader>() == 16 + TRANSPORTS * 64);
    assert!(size_of::<Region>() == 16 + TRANSPORTS * 64);
    assert!(Head::STEP > crate::params::MOST_REGIONS as u64);
};

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_osc_support::HANDLE;

    #[test]
    fn state_grows_with_ranks_and_regions_alone() {
        assert_eq!(StateLayout::new(1, 0, 0).bytes(), 384);
        assert_eq!(StateLayout::new(512, 0, 6).bytes(), 384);
        assert_eq!(StateLayout::new(513, 0, 1).bytes(), 512);
        assert_eq!(StateLayout::new(1, 0, 7).bytes(), 512);
        let dynamic = StateLayout::new(4, 64, 20);
        assert_eq!(dynamic.region(1) - dynamic.region(0), Region::BYTES);
        assert!(dynamic.bytes() >= dynamic.region(64));
    }

    #[test]
    fn cards_have_what_differs() {
        let mut card = Card { base: 7, state: 9, bytes: 80, disp_unit: -8, ..Card::EMPTY };
        card.states[TRANSPORTS - 1].handle[HANDLE - 1] = 5;
        for (layout, stride) in [
            (CardLayout { bytes: None, disp_unit: None }, 416),
            (CardLayout { bytes: Some(80), disp_unit: None }, 408),
            (CardLayout { bytes: None, disp_unit: Some(-8) }, 408),
            (CardLayout { bytes: Some(80), disp_unit: Some(-8) }, 400),
        ] {
            assert_eq!(layout.stride(), stride);
            let mut room = [u64::MAX; 53];
            let at: *mut u8 = room.as_mut_ptr().cast();
            // SAFETY: room for one.
            unsafe { layout.write(&card, at) };
            let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let read = layout.read(&bytes[..stride as usize]);
            assert_eq!((read.base, read.state, read.bytes, read.disp_unit), (7, 9, 80, -8));
            assert_eq!(read.states[TRANSPORTS - 1].handle[HANDLE - 1], 5);
            assert!(room[stride as usize / 8..].iter().all(|word| *word == u64::MAX), "behind its end");
        }
    }

    #[test]
    fn counters_have_words_of_their_own() {
        let layout = StateLayout::new(700, 3, 30);
        let words: Vec<u64> = (0..30).filter_map(|counter| layout.notification(counter)).collect();
        assert_eq!((words.len(), layout.notification(30)), (30, None));
        let posts = word::POSTS..word::POSTS + 16;
        for (i, at) in words.iter().enumerate() {
            assert!(!words[..i].contains(at) && !posts.contains(at) && !word::is_shared(*at), "{at}");
            assert!(*at >= word::NOTIFY && at * 8 < layout.region(0), "{at}");
        }
    }
}
