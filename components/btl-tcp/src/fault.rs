//! Faults in the bytes of a connection, by what follows from them.

/// A fault in the bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The network (or a relay) damaged or swallowed something: the connection is made again.
    Damaged(&'static str),
    /// The peer wrote what makes no sense: it is closed for good.
    Hostile(&'static str),
}
