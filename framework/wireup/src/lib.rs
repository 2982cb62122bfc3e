//! How a process learns who it is, and how processes of one job find each other.
//!
//! Both ends live here: the [`Client`] that every rank holds, and the parts of which the node
//! daemon makes its [`server`]. They talk in [`frame`]s over an abstract unix socket.
//!
//! **One round trip.** A rank connects, says [`Hello`](message::ToDaemon::Hello) with the job's
//! secret, and gets one answer with every fact of the job and, beside the bytes, the descriptor of
//! the node's shared segment.
//! Components exchange facts through the key-value store: `put` keeps a
//! pair here, `commit` sends what was put, `fence` waits until every process has come so far, `get`
//! asks for one value. A value stays with the daemon of the node where it was put, and is fetched by other daemons when
//! a rank there asks for it ([`server`]). Values and shared memory name what they answer, so a rank may ask for several and go on.
//!
//! **Admission.** The socket has no file and so no permissions: any process that shares our network
//! namespace can reach it. The daemon therefore looks at the user id that the kernel vouches for
//! and compares a secret of 256 random bits in constant time, before it looks at anything else.
//! Everything that arrives is decoded with a bound on its length, from either side.
//!
//! **Death of a parent.** The daemon makes its children die with it. A rank may be a grandchild
//! (`sh -c ./program`), so a client arranges the same with its own parent *before* it says hello:
//! an answer then proves that the daemon was alive after the arrangement stood. Had the parent
//! died before that, the kernel would have given us to the daemon, which is a subreaper, and the
//! arrangement is with the daemon itself. Either way its death reaches us.
//!
//! Map: `frame` (bytes to frames), `runs` (regular lists in them) · `message` (frames to meanings) · `jobs` (words about other jobs) · `port` (where processes of two jobs meet), `services` (a server of names) · `facts` · `nodes` (which rank is where) · `secret`, `proof` ·
//! `shares` (memory that ranks of a node share by name) · `client` (and what it talks to: `remote` over the socket, `local` in the process) · `witness` (a
//! crashing process's last word) · `server` · `topology` (what the node is made of) ·
//! `hardware` (what a process is bound to) · `mapping` (shared memory in this process) ·
//! `limits` (of the system, by name) · `other_launcher` (launchers that are not ours) · `own_launcher` (an mpirun for a process without one) · `machine` (new segments, the host's name).

mod client;
mod error;
mod facts;
pub mod frame;
pub mod hardware;
pub mod jobs;
pub mod limits;
mod local;
mod machine;
pub mod mapping;
pub mod message;
mod moment;
mod names;
mod nodes;
pub mod other_launcher;
pub mod own_launcher;
mod polled;
pub mod port;
mod proof;
mod remote;
pub mod runs;
mod secret;
pub mod server;
pub mod services;
mod shares;
mod socket;
pub mod topology;
mod witness;

pub use client::{Client, Source};
pub use error::{Error, ErrorKind};
pub use facts::{AppFacts, JobFacts};
pub use moment::{MAPS_LIMIT, Moment, STACK_LIMIT};
pub use names::{NAME_SERVER_VARIABLE, RANK_VARIABLE, SECRET_VARIABLE, SOCKET_VARIABLE, VERSION};
pub use nodes::NodeMap;
pub use polled::Polled;
pub use proof::PROOF_BYTES;
pub use secret::{Secret, random_id};
pub use witness::Witness;
