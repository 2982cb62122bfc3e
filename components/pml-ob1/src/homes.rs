//! Which FIFOs a communicator's messages take, from what the host says of it: its id, the endpoint that the rank is, and the CRI that it prefers.
//!
//! All messages that a receive can match have to share a FIFO, so that follows from communicator, both ranks and tag: from the *salt* of
//! a message and its tag. Neighbouring endpoints of a process get theirs on FIFOs of their own, so that threads which are endpoints do not meet. A rank
//! whose messages prefer a CRI sends all on that one, wherever to.

use oxmpi_pml::{CommDesc, NO_HINT};

/// Shards that (communicator, tag) is spread over; the same in all processes of a job (`spread.rs`).
pub const SHARDS: u32 = crate::shards::MOST as u32;

/// The CRI whose FIFO carries a message once there are several. All messages that an exact-tag receive
/// can match must share one, so this is a function of communicator, rank that sends, rank that receives (in their `salt`) and tag alone;
/// low tag bits count, so that consecutive tags never collide. `width`: how many FIFOs the two processes have.
#[inline(always)]
pub fn fifo_of(salt: u32, tag: i32, width: u32) -> u32 {
    FIFOS.get(width as usize).map_or(0, |fifos| fifos[shard_of(salt, tag)].into())
}

/// The shard of (communicator, tag), below [`SHARDS`].
#[inline(always)]
pub fn shard_of(salt: u32, tag: i32) -> usize {
    salt.wrapping_add(tag as u32) as usize % SHARDS as usize
}

/// By width and shard: dividing takes longer than looking it up.
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

/// See the module's head.
pub struct Homes {
    /// Of messages to this rank.
    salt: u32,
    /// Of messages to endpoint 0.
    base: u32,
    hint: u32,
    /// This rank, where ranks are endpoints: a process has several.
    endpoint: Option<u16>,
}

impl Homes {
    /// `base`: the same in all processes.
    pub fn of(desc: &CommDesc, base: u32) -> Homes {
        let endpoint = (!desc.endpoints.is_null()).then_some(desc.my_endpoint);
        let mut homes = Homes { salt: base, base, hint: desc.fifo_hint, endpoint };
        homes.salt = homes.salt_to(desc.my_endpoint);
        homes
    }

    pub fn salt(&self) -> u32 {
        self.salt
    }

    /// Of messages to an endpoint.
    pub fn salt_to(&self, endpoint: u16) -> u32 {
        match self.hint {
            NO_HINT => self.base.wrapping_add(endpoint.into()),
            hint => hint,
        }
    }

    /// The FIFO where a tag's messages to this rank come, where there are `width` of them. If the rank prefers a CRI: where they come from
    /// ranks that prefer the same.
    #[inline(always)]
    pub fn fifo(&self, tag: i32, width: u32) -> u32 {
        fifo_of(self.salt, tag, width)
    }

    /// Where all tags' messages to this rank come until those of several threads part (`fork.rs`): that of tag 0.
    #[inline(always)]
    pub fn home(&self, width: u32) -> u32 {
        self.fifo(0, width)
    }

    /// The FIFO of this rank's messages where they may take any: what the host wants, or its own as an endpoint.
    pub fn preferred(&self, width: u32) -> Option<u32> {
        match self.hint {
            NO_HINT => self.endpoint.map(|endpoint| u32::from(endpoint) % width),
            hint => Some(hint % width),
        }
    }

    /// The host wants a CRI.
    pub fn prefers(&self) -> bool {
        self.hint != NO_HINT
    }
}
