//! One rule, as both readers make it.

use crate::choice::Choice;
use crate::op::Op;

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub op: Op,
    /// Counts from so many ranks on.
    pub ranks: u32,
    /// Counts from so many bytes on, as [`Facts`](crate::decision::Facts) counts them.
    pub bytes: u64,
    /// The number 0: the default.
    pub choice: Choice,
}
