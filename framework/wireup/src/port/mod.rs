//! Ports: where processes of two jobs meet that know nothing of each other (MPI 5.0 §11.9).
//!
//! A process that opens a port listens on a TCP socket of its own; there is no server. The port's **name** says where, which of its ports, and
//! which key proves that a caller may call ([`PortName`]). The key is the secret of the mpirun that both belong to, or that of the user,
//! which lies in a file of its own in the home folder ([`user_key`]), or it is in the name itself, for users without a common home.
//!
//! **Caller and answerer prove that they know the key**, by challenge and response over both sides' random
//! numbers; nothing is read of a stranger but short frames of that. Both then have a *bridge*, a secret that follows from the
//! key and both random numbers and was never sent: by it processes of the two jobs prove themselves to each other.
//!
//! Behind the proof each side sends what it likes, in frames ([`Link`]). Nothing here blocks: whoever waits makes turns, and progress between.

mod addresses;
mod call;
mod keys;
mod link;
mod listen;
mod name;
mod shake;

pub use call::Call;
pub use keys::user_key;
pub use link::{Link, Met};
pub use listen::Port;
pub use name::{KeyOf, LONGEST_NAME, PortName};
