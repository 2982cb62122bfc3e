//! One call of a collective: the communicator's words, the errors, the arguments.
//!
//! **Two kinds of errors.** One that leaves the steps of all ranks as they are is *noted*: data that is longer than its place, an operation that is not
//! defined. The rank goes on, and the call answers the first of these. An error that an operation returns ends the communicator's collectives in this rank
//! (`protocol`): a lost process, a revoked communicator, ranks that have called different collectives. It stays the answer of all later calls.

use crate::algorithms::{self, Algorithm};
use crate::area::{Area, INLINE};
use crate::data::Room;
use crate::meet::{FEW, Meeting};
use crate::module::{Ready, ShmModule};
use crate::protocol::{Arrivals, Counters, Desk, Exit, Protocol, Result};
use crate::tree::Branch;
use core::cell::Cell;
use oxmpi_coll::{CollArgs, CollComm, CollServices};
use oxmpi_mca::sync::AtomicU64;
use oxmpi_mca::{Status, WakingWord};

/// How often a rank that has a core for itself looks at a word before it asks the host to wait, which makes progress first.
const LOOKS: u32 = 64;

pub struct Call<'a> {
    module: &'a ShmModule,
    ready: &'a Ready,
    comm: &'a CollComm,
    services: &'a CollServices,
    pub args: &'a CollArgs,
    noted: Cell<Status>,
    algorithm: Cell<Algorithm>,
    meeting: Meeting,
}

impl<'a> Call<'a> {
    /// # Safety
    /// The communicator is valid for `'a`, with its services. The arguments are those of the collective whose function gets the call, as
    /// the contract has them: what it asks for is there, and its buffers are the call's.
    pub unsafe fn of(
        module: &'a ShmModule,
        ready: &'a Ready,
        comm: &'a CollComm,
        args: &'a CollArgs,
    ) -> Call<'a> {
        // SAFETY: the caller's promise.
        let services = unsafe { &*comm.services };
        let meeting = match comm.oversubscribed {
            0 if comm.num_ranks <= FEW => Meeting::Few,
            0 => Meeting::Many,
            _ => Meeting::Crowd,
        };
        let (noted, algorithm) = (Cell::new(Status::OK), Cell::new(Algorithm::Posts));
        Call { module, ready, comm, services, args, noted, algorithm, meeting }
    }

    pub fn module(&self) -> &'a ShmModule {
        self.module
    }

    pub fn area(&self) -> &'a Area {
        &self.ready.area
    }

    /// Whether ranks read longer data out of each other's memory.
    pub fn reads_peers(&self) -> bool {
        self.ready.reads_peers
    }

    /// Whether `len` bytes in all, which fit no cell, are read out of their ranks' memory, rather than copied through cells or sent as messages.
    pub fn reads_at_once(&self, len: u64) -> bool {
        let settings = &self.module.settings;
        let is_crowd = self.meeting == Meeting::Crowd;
        self.reads_peers() && len >= if is_crowd { settings.single_copy_min } else { settings.stream_max }
    }

    /// Whether a collective in which every rank reads what every other one posts, `len` bytes at most, is the component's below: ranks with a core each get messages sooner than
    /// words that lead to a cell.
    pub fn leaves_exchange(&self, len: u64) -> bool {
        !self.module.settings.all && self.meeting != Meeting::Crowd && len > INLINE as u64
    }

    /// Whether a collective in which all read what one posts, `len` bytes, is the component's below: longer data goes through messages faster, and in a crowd the root
    /// runs ahead there by as many messages as it has room for, so that cores are switched less often.
    pub fn leaves_spread(&self, len: u64) -> bool {
        !self.module.settings.all && (self.meeting == Meeting::Crowd || len > INLINE as u64)
    }

    /// This rank's place in the tree by which operands are combined, in the order of ranks.
    pub fn combining(&self) -> &'a Branch {
        &self.ready.trees.combining
    }

    /// How the ranks meet; the same in all.
    pub fn meeting(&self) -> Meeting {
        self.meeting
    }

    /// The root of a collective that has one. BAD_PARAM: there is no such rank.
    pub fn root(&self) -> Result<u32> {
        let root = u32::try_from(self.args.root).ok();
        root.filter(|root| *root < self.comm.num_ranks).ok_or(Status::BAD_PARAM)
    }

    /// Notes an error of this rank alone, and goes on.
    pub fn note(&self, status: Status) {
        if self.noted.get().is_ok() && status.is_err() {
            self.noted.set(status);
        }
    }

    /// Notes the algorithm that this call takes, for tools.
    #[inline]
    pub fn takes(&self, algorithm: Algorithm) {
        self.algorithm.set(algorithm);
    }

    /// The answer of a call of collective number `which` that ended so.
    pub fn answer(&self, which: u32, ended: Result) -> Status {
        let number = algorithms::number(which, self.algorithm.get());
        debug_assert!(number.is_some(), "collective {which} goes by {:?}", self.algorithm.get());
        if let Some(number) = number {
            self.services.tell_algorithm(self.comm, "shm", number);
        }
        match ended {
            Ok(()) => self.noted.get(),
            Err(why) => {
                self.module.fail(why);
                self.leave(why);
                why
            }
        }
    }

    /// Has the component below do all of this, in all ranks.
    pub fn hand_down(&self, which: u32) -> Result {
        self.takes(Algorithm::Messages);
        self.note(self.module.run_below(self.comm, which, self.args));
        Ok(())
    }

    /// Copies from an address of a rank's process, as many bytes as fill the room.
    pub fn read_peer(&self, rank: u32, from: u64, into: Room<'_>) -> Result {
        match (self.services.peer_read)(self.comm, rank, from, into.start(), into.len()) {
            Status::OK => Ok(()),
            why => Err(why),
        }
    }
}

impl Desk for Call<'_> {
    #[inline]
    fn rank(&self) -> u32 {
        self.comm.rank
    }
    #[inline]
    fn ranks(&self) -> u32 {
        self.comm.num_ranks
    }
    #[inline]
    fn counters(&self) -> &Counters {
        &self.module.counters
    }
    #[inline]
    fn posted(&self, rank: u32, slot: u32) -> &WakingWord {
        &self.ready.area.slot(rank, slot).word
    }
    #[inline]
    fn header(&self, rank: u32, slot: u32) -> &AtomicU64 {
        &self.ready.area.slot(rank, slot).header
    }
    #[inline]
    fn done(&self, rank: u32) -> &WakingWord {
        self.ready.area.done(rank)
    }
    #[inline]
    fn branch(&self) -> &Branch {
        &self.ready.trees.meeting
    }
    #[inline]
    fn arrivals(&self) -> &Arrivals {
        self.ready.area.arrivals()
    }
    #[inline]
    fn exit(&self) -> &Exit {
        self.ready.area.exit()
    }
    fn wait(&self, word: &WakingWord, value: u32) -> Result {
        match (self.services.wait_word)(self.comm, word, value) {
            Status::OK => Ok(()),
            why => Err(why),
        }
    }
    fn wake(&self, word: &WakingWord) {
        let _always_ok = (self.services.wake_word)(self.comm, word);
    }
    #[inline]
    fn looks(&self) -> u32 {
        if self.comm.oversubscribed != 0 { 1 } else { LOOKS }
    }
    #[inline]
    fn get_line(&self, rank: u32, slot: u32) {
        self.ready.area.get_line(rank, slot, rank == self.comm.rank);
    }
}
