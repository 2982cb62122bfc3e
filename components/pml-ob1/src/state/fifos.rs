//! The FIFO of a message, as a function of communicator, sending and receiving endpoint, and tag.

use oxmpi_pml::{CommDesc, NO_HINT};

/// Shards that (communicator, tag) is spread over; the same in all processes of a job (`spread.rs`).
pub const SHARDS: u32 = crate::receive::place::MOST as u32;

/// Gives the CRI whose FIFO carries a message once there are several. All messages that an exact-tag receive can match
/// must share one, so this is a function of communicator, rank that sends, rank that receives (in their `salt`) and tag
/// alone; low tag bits count, so that consecutive tags never collide. `width`: how many FIFOs the two processes have.
#[inline(always)]
pub fn fifo_of(salt: u32, tag: i32, width: u32) -> u32 {
    FIFOS.get(width as usize).map_or(FIFO, |fifos| fifos[shard_of(salt, tag)].into())
}

/// Gives the shard of a tag on a communicator (in the `salt`), below [`SHARDS`].
#[inline(always)]
pub fn shard_of(salt: u32, tag: i32) -> usize {
    salt.wrapping_add(tag as u32) as usize % SHARDS as usize
}

/// The FIFO by width and shard: dividing takes longer than looking it up.
static FIFOS: [[u8; SHARDS as usize]; 65] = {
    let mut fifos = [[0; SHARDS as usize]; 65];
    let mut width = 1;
    while width < fifos.len() {
        let mut shard = 0;
        while shard < SHARDS as usize {
            fifos[width][shard] = (shard % width) as u8;
            shard += 1;
        }
        width += 1;
    }
    fifos
};

/// The FIFO that everything starts on, and the only one of calls that are alone.
pub const FIFO: u32 = 0;

/// A communicator's part in the choice of FIFOs, as one of its ranks sees it: where its salts begin, and the CRI that
/// its messages prefer.
pub struct Fifos {
    /// The salt of messages to endpoint 0.
    base: u32,
    /// The CRI that this rank's messages prefer, or [`NO_HINT`].
    hint: u32,
    /// This rank's endpoint.
    endpoint: u16,
    /// Its ranks are endpoints: a process has several.
    endpoints: bool,
}

impl Fifos {
    /// Reads a communicator's part in the choice of FIFOs from its description.
    pub fn of(desc: &CommDesc) -> Fifos {
        Fifos {
            base: salt_of(desc),
            hint: desc.fifo_hint,
            endpoint: desc.my_endpoint,
            endpoints: !desc.endpoints.is_null(),
        }
    }

    /// Gives the `salt` of [`fifo_of`] for messages to an endpoint. Neighbouring endpoints of a process get theirs on
    /// FIFOs of their own, so that threads which are endpoints do not meet. A rank whose messages prefer a CRI sends
    /// all on that one, wherever to.
    pub fn salt_to(&self, endpoint: u16) -> u32 {
        match self.hint {
            NO_HINT => self.base.wrapping_add(endpoint.into()),
            hint => hint,
        }
    }

    /// Gives the `salt` of [`fifo_of`] for messages to this rank.
    pub fn salt(&self) -> u32 {
        self.salt_to(self.endpoint)
    }

    /// Gives the FIFO, below `width`, on which a tag's messages to this rank come. If the rank prefers a CRI: those
    /// from ranks that prefer the same.
    #[inline(always)]
    pub fn of_tag(&self, tag: i32, width: u32) -> u32 {
        fifo_of(self.salt(), tag, width)
    }

    /// Gives the FIFO, below `width`, on which all tags' messages to this rank come until those of several threads part
    /// (`fork.rs`): that of tag 0.
    #[inline(always)]
    pub fn home(&self, width: u32) -> u32 {
        self.of_tag(0, width)
    }

    /// Gives the FIFO, below `width`, of this rank's messages that may take any: the one that the host wants, or else,
    /// where ranks are endpoints, one by the rank's endpoint. `None`: neither is so.
    pub fn preferred(&self, width: u32) -> Option<u32> {
        match self.hint {
            NO_HINT if self.endpoints => Some(u32::from(self.endpoint) % width),
            NO_HINT => None,
            hint => Some(hint % width),
        }
    }

    /// Whether the host wants this rank's messages on one CRI.
    pub fn prefers(&self) -> bool {
        self.hint != NO_HINT
    }
}

/// Gives a communicator's number for spreading over the FIFOs: its fixed index, or the lowest byte of its global id, in
/// which those made one after another count.
fn salt_of(desc: &CommDesc) -> u32 {
    match desc.has_fixed_index {
        0 => desc.gid[0] as u32 & 0xff,
        _ => desc.fixed_index,
    }
}
