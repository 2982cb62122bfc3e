//! The answer to a question for a value, as far as it has come.

/// The answer to a question that does not wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Not here yet; ask again.
    Waits,
    /// So many bytes, which are more than there is room for.
    TooLong(usize),
    Value(Option<Vec<u8>>),
}
