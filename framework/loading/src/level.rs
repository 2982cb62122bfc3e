//! The thread level that a program asks for.

/// MPI's thread levels, in their order (MPI 5.0 §11.6.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u32)]
pub enum Level {
    #[default]
    Single = 0,
    Funneled = 1,
    Serialized = 2,
    Multiple = 3,
}

impl Level {
    /// The level of a number, as MPI orders them; numbers above are MULTIPLE.
    pub fn from_number(n: u32) -> Level {
        match n {
            0 => Level::Single,
            1 => Level::Funneled,
            2 => Level::Serialized,
            _ => Level::Multiple,
        }
    }
}
