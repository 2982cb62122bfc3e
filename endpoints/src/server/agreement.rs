//! When a proxy may enter a function that makes a communicator and has no nonblocking form.
//!
//! Such a function blocks its proxy, whose endpoint may have other threads, and whose proxy may be asked for other
//! communicators meanwhile. So all members agree first, by nonblocking operations, and enter together:
//!
//! 1. **Order.** Each proxy proposes a number that it never proposed before; the greatest is the creation's key, the same at
//!    all members. When a proxy knows it, every member has called: nobody waits for a thread that is elsewhere.
//! 2. **Try.** A proxy that is free reserves itself for the creation with the smallest key it knows, and says yes to that, no to
//!    the others. If all members said yes, all are reserved for it: they call the blocking function, and none of them can
//!    be in another one. If one said no, all let go and try again.
//!
//! It ends: nobody waits before saying yes or no, so a try takes a bounded time; and of the creations whose keys are known
//! the one with the smallest gets a yes from every member as soon as they all know it.
//!
//! A round is an MPI_Iallreduce on the communicator; on an inter-communicator two, since each gives the other side's result. The
//! two sides of MPI_Intercomm_create have no communicator in common: their leaders exchange what each side found. The
//! members of a group exchange messages on the proxies' own communicator, by doubling distances; numbers that are equal on all
//! members tell one creation from another.

use crate::abi::*;
use crate::errors::{abort, class};
use crate::pmpi;
use crate::protocol::record::{Record, op};

/// The ranks that agree.
pub enum Scope {
    /// All of an intra-communicator.
    Comm(Comm),
    /// Both sides of an inter-communicator.
    Inter(Comm),
    /// Two communicators whose leaders know each other; `peer` is there at a leader.
    Leaders { comm: Comm, leader: c_int, peer: Option<(Comm, c_int, c_int)> },
    /// Ranks of the proxies' communicator, this one among them.
    Group { ranks: Vec<c_int>, me: usize, number: i64 },
}

#[derive(Clone, Copy, PartialEq)]
pub enum Phase {
    Order,
    Ready,
    Try,
}

/// A command that makes a communicator, before it may.
pub struct Creation {
    pub record: u32,
    pub scope: Scope,
    pub phase: Phase,
    pub key: i64,
    /// Of the round that is under way: number and value; those that came; the operations; how far it is.
    pub mine: Box<[i64; 2]>,
    pub came: Box<[i64; 2]>,
    pub requests: [Request; 2],
    pub step: u32,
}

/// The state of all creations that this proxy knows.
pub struct Creations {
    pub list: Vec<Creation>,
    /// Record of the creation that it is reserved for.
    pub reserved: Option<u32>,
    pub clock: i64,
    /// Communicator of all proxies, the world ranks in it, and this one's rank.
    pub proxies: Comm,
    pub world_ranks: Vec<c_int>,
    pub rank: i64,
    pub tag_limit: i64,
    /// A number that is equal at all members, and how many creations it has seen, for each communicator.
    numbers: std::collections::HashMap<Comm, [i64; 2]>,
}

pub enum Step {
    Waits,
    Done(i64),
}

impl Creations {
    pub fn new(proxies: Comm, world_ranks: Vec<c_int>, tag_limit: i64) -> Creations {
        let mut rank = 0;
        // SAFETY: a communicator of this process and a local.
        unsafe { pmpi::MPI_Comm_rank(proxies, &raw mut rank) };
        Creations {
            list: Vec::new(),
            reserved: None,
            clock: 0,
            proxies,
            world_ranks,
            rank: rank.into(),
            tag_limit,
            numbers: std::collections::HashMap::new(),
        }
    }

    pub fn are_pending(&self) -> bool {
        !self.list.is_empty()
    }

    /// A communicator is there.
    pub fn register(&mut self, comm: Comm, number: i64) {
        self.numbers.insert(comm, [number, 0]);
    }

    pub fn forget(&mut self, comm: Comm) {
        self.numbers.remove(&comm);
    }

    /// A number for the next communicator made of this one by all its ranks, in the order of their calls.
    pub fn derive(&mut self, comm: Comm) -> i64 {
        let known = self.numbers.entry(comm).or_insert([0, 0]);
        known[1] += 1;
        mix(known[0], known[1])
    }

    pub fn scope(&self, record: &Record, members: &[c_int]) -> Option<Scope> {
        let comm = record.comm as usize;
        let rank_of = |world: &c_int| self.world_ranks.iter().position(|r| r == world).map(|r| r as c_int);
        match record.op {
            op::COMM_CREATE_GROUP | op::ENDPOINTS => {
                let ranks = members.iter().map(rank_of).collect::<Option<Vec<c_int>>>()?;
                let me = ranks.iter().position(|r| i64::from(*r) == self.rank)?;
                let of = match record.op {
                    op::ENDPOINTS => mix(-1, record.args[1]),
                    _ => mix(self.numbers.get(&comm).map_or(0, |n| n[0]), record.tag.into()),
                };
                let number = ranks.iter().fold(of, |number, rank| mix(number, (*rank).into()));
                Some(Scope::Group { ranks, me, number })
            }
            op::INTERCOMM_CREATE => {
                let (mut rank, mut size) = (0, 0);
                // SAFETY: a communicator of this process and locals.
                unsafe {
                    pmpi::MPI_Comm_rank(comm, &raw mut rank);
                    pmpi::MPI_Comm_size(comm, &raw mut size);
                }
                let peer = (record.args[0] as usize, record.args[1] as c_int, record.tag);
                let peer = (rank == record.root).then_some(peer);
                let known = (0..size).contains(&record.root);
                known.then_some(Scope::Leaders { comm, leader: record.root, peer })
            }
            _ => {
                let mut inter = 0;
                // SAFETY: as above.
                unsafe { pmpi::MPI_Comm_test_inter(comm, &raw mut inter) };
                Some(if inter != 0 { Scope::Inter(comm) } else { Scope::Comm(comm) })
            }
        }
    }
}

/// Two numbers make one that hardly any other two make.
fn mix(a: i64, b: i64) -> i64 {
    let mut x = a.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.cast_unsigned();
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (x ^ x >> 32).cast_signed()
}

impl Creation {
    /// Begins a round with this proxy's value.
    pub fn begin(&mut self, phase: Phase, value: i64) {
        self.phase = phase;
        self.mine[1] = value;
        self.step = 0;
    }

    /// Goes on as far as it can without waiting.
    pub fn go_on(&mut self, proxies: Comm, tag_limit: i64) -> Result<Step, c_int> {
        loop {
            let mut flag = 0;
            // SAFETY: requests of this process.
            let error = unsafe {
                pmpi::MPI_Testall(2, self.requests.as_mut_ptr(), &raw mut flag, core::ptr::null_mut())
            };
            if error != SUCCESS {
                return Err(class(error));
            }
            if flag == 0 {
                return Ok(Step::Waits);
            }
            if let Some(result) = self.next(proxies, tag_limit)? {
                return Ok(Step::Done(result));
            }
        }
    }

    /// The last step's operations are complete: looks at them and starts the next step's. Gives the result behind the last one.
    fn next(&mut self, proxies: Comm, tag_limit: i64) -> Result<Option<i64>, c_int> {
        let greatest = self.phase == Phase::Order;
        let sum = if greatest { MAX } else { MIN };
        let (mine, came) = (self.mine.as_mut_ptr(), self.came.as_mut_ptr());
        let [first, second] = &mut self.requests;
        let step = self.step;
        self.step += 1;
        // SAFETY: the boxes stay where they are until the operations are complete, which `go_on` waits for; now none is under way.
        let error = unsafe {
            let (value, other) = (mine.add(1), came.add(1));
            let combine = move || if greatest { (*value).max(*other) } else { (*value).min(*other) };
            let reduce = move |comm: Comm, to: *mut Request| {
                pmpi::MPI_Iallreduce(value.cast(), other.cast(), 1, INT64, sum, comm, to)
            };
            match (&self.scope, step) {
                (Scope::Comm(comm) | Scope::Inter(comm) | Scope::Leaders { comm, .. }, 0) => {
                    reduce(*comm, first)
                }
                (Scope::Comm(_), _) => return Ok(Some(*other)),
                (Scope::Inter(comm), 1) => {
                    // The other side's result goes back to it.
                    *value = *other;
                    reduce(*comm, first)
                }
                (Scope::Inter(_), _) => return Ok(Some(combine())),
                (Scope::Leaders { peer: None, .. }, 1) => SUCCESS,
                (Scope::Leaders { peer: Some((through, rank, tag)), .. }, 1) => {
                    *value = *other;
                    match pmpi::MPI_Irecv(other.cast(), 1, INT64, *rank, *tag, *through, first) {
                        SUCCESS => pmpi::MPI_Isend(value.cast(), 1, INT64, *rank, *tag, *through, second),
                        error => error,
                    }
                }
                (Scope::Leaders { comm, leader, peer }, 2) => {
                    if peer.is_some() {
                        *value = combine();
                    }
                    pmpi::MPI_Ibcast(value.cast(), 1, INT64, *leader, *comm, first)
                }
                (Scope::Leaders { .. }, _) => return Ok(Some(*value)),
                (Scope::Group { ranks, me, number }, _) => {
                    let (n, distance) = (ranks.len(), 1usize << step);
                    *mine = *number;
                    if step > 0 {
                        if *came != *number {
                            abort("two communicators made at once have numbers that cannot be told apart");
                        }
                        *value = combine();
                    }
                    if distance >= n {
                        return Ok(Some(*value));
                    }
                    let (to, from) = (ranks[(me + distance) % n], ranks[(me + n - distance) % n]);
                    let tag = number.rem_euclid(tag_limit + 1) as c_int;
                    match pmpi::MPI_Irecv(came.cast(), 2, INT64, from, tag, proxies, first) {
                        SUCCESS => pmpi::MPI_Isend(mine.cast(), 2, INT64, to, tag, proxies, second),
                        error => error,
                    }
                }
            }
        };
        if error == SUCCESS { Ok(None) } else { Err(class(error)) }
    }
}
