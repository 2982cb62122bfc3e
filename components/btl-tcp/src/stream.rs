//! A stream: everything that goes between a context of ours and a context of a peer's, over however many connections.
//!
//! **Ownership.** The context of ours that a stream ends at owns it, in a slot; an endpoint's lane keeps its name there (`streams.rs`). Streams to one
//! process share its [`Core`]. A stream is named by the two contexts, so each pair of contexts that talks has one, with traffic both
//! ways. A service link is a stream of its own, from an ordinary context to the peer's service context.
//!
//! **Life of its connection** ([`Link`]):
//!
//! ```text
//!          send, or lost                  welcome
//!   Idle ----------------> Calling -----------------> Up ---> Shut (good-bye, parted, failed, hostile)
//!     \                     |   ^                     ^ |
//!      \            no answer   | after a pause       | | broken: cut, damaged, swallowed
//!       \                   v   |                     | v
//!        \                 Resting <------------------+-+
//!         +----- the peer has called and proved itself (admit) ----^
//! ```
//!
//! Bytes that were sent and not acknowledged stay in the ring (`outbound.rs`). Both sides tell in the handshake how far they have
//! come, and each goes on from where the other is, so nothing is lost and nothing comes twice.
//!
//! **Both call at once.** The call of the process with the lower name is kept; the other is told so (`Crossed`) and
//! waits for it. A call that is newer than the connection that is there takes its place: its caller knows that it broke. Newer is
//! one that was made after its caller had admitted our last call that was welcome (`Hello::seen`).
//!
//! **Ways.** A connection goes between the addresses of the rail's own pair. Where that cannot be had the calls go round all
//! pairs of the two processes, so that what was sent over a network that is cut for good comes over another.
//!
//! **A write that fails** only marks the stream ([`Stream::broken`]): what the peer has sent before is read first, its
//! good-bye among it perhaps.

use crate::call::Call;
use crate::frame::Kind;
use crate::hello::SERVICE;
use crate::inbound::Inbound;
use crate::outbound::Outbound;
use crate::params::Settings;
use crate::peer::Core;
use crate::sys::Interest;
use core::sync::atomic::Ordering;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

/// See the module's head.
pub enum Link {
    Idle,
    Calling(Box<Call>),
    /// Calls when this time has come.
    Resting(Instant),
    Up(OwnedFd),
    Shut,
}

pub struct Stream {
    pub core: Arc<Core>,
    /// Our context and the peer's, [`SERVICE`] for the service context.
    pub ours: u16,
    pub theirs: u16,
    pub link: Link,
    pub out: Outbound,
    pub inn: Inbound,
    /// How much of `inn`'s position the peer was told.
    pub told: u64,
    /// The peer waits for an acknowledgement.
    pub awaited: bool,
    /// Events that the poller was asked for while the connection is up.
    pub interest: Interest,
    /// A write has failed.
    pub broken: bool,
    /// It stands in the context's list of streams to look at.
    pub listed: bool,
    /// Numbers of our last call, of the last that was welcome, and of the last of the peer's that was admitted.
    pub attempt: u32,
    pub welcomed: u32,
    pub their_attempt: u32,
    /// After so many bytes the peer is told.
    pub tell_after: u64,
    /// Requests without a reply.
    pub requests: u32,
    /// The position that waited for an acknowledgement at the last look, and since when.
    pub asked: Option<(u64, Instant)>,
    /// Index of the peer's address that its next call takes (`peer.rs`).
    pub address: usize,
    /// Something waits in `out` for the end of the context's turn.
    pub late: bool,
    /// There is a note of what waits in `out` for company (`gathered.rs`).
    pub gathered: bool,
    /// The peer was told that we have parted from it, or has told us so.
    pub told_parted: bool,
    pub they_parted: bool,
    /// When something last went out.
    pub wrote: Option<Instant>,
    pub trouble: Trouble,
}

/// The last failure since the stream worked.
#[derive(Default)]
pub struct Trouble {
    /// Calls have failed since then.
    pub since: Option<Instant>,
    /// Calls that failed.
    pub calls: u32,
    /// Calls that nobody answered, since the last connection.
    pub silent: u32,
    /// Connections that were made and brought nothing.
    pub barren: u32,
    /// Positions when the last connection was made.
    pub mark: (u64, u64),
    pub last: String,
}

impl Stream {
    pub fn new(core: Arc<Core>, ours: u16, theirs: u16, settings: &Settings) -> Stream {
        let address = core.way.load(Ordering::Relaxed);
        Stream {
            core,
            ours,
            theirs,
            link: Link::Idle,
            out: Outbound::new(settings.window, settings.checksum),
            inn: Inbound::new(settings.first_buffer, settings.max_send_size),
            told: 0,
            awaited: false,
            interest: Interest::Read,
            broken: false,
            listed: false,
            attempt: 0,
            welcomed: 0,
            their_attempt: 0,
            tell_after: settings.window as u64 / 8,
            requests: 0,
            asked: None,
            address,
            late: false,
            gathered: false,
            told_parted: false,
            they_parted: false,
            wrote: None,
            trouble: Trouble::default(),
        }
    }

    /// Everything of the peer's before this position has been handed up.
    pub fn at(&self) -> u64 {
        self.inn.position()
    }

    /// Has a frame about the connection sent, which says how far we are.
    pub fn note(&mut self, kind: Kind) {
        self.out.note(kind, self.inn.position());
    }

    /// The client's end of a service link.
    pub fn asks(&self) -> bool {
        self.theirs == SERVICE
    }
    /// The server's end, which never calls.
    pub fn answers(&self) -> bool {
        self.ours == SERVICE
    }
    pub fn is_up(&self) -> bool {
        matches!(self.link, Link::Up(_))
    }
    /// Its socket is full, and tells when it takes something.
    pub fn waits_for_room(&self) -> bool {
        self.interest != Interest::Read
    }
    pub fn is_shut(&self) -> bool {
        matches!(self.link, Link::Shut)
    }
}
