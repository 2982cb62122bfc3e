//! Mistakes with parameters, in words an operator can act on: which parameter, which text,
//! from which source, and what would have been right.

use crate::origin::Origin;

/// Kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is not a value of the parameter's type.
    Malformed,
    /// A value, but outside the declared bounds or of the type itself.
    OutOfRange,
    /// None of the enumerators.
    NotAnEnumerator,
    /// Given twice with different values by one source.
    Conflict,
    /// The declaration itself is wrong (a component's mistake, not the user's).
    BadDeclaration,
}

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Full name of the parameter.
    pub parameter: String,
    /// The kind of mistake.
    pub kind: ErrorKind,
    /// The text as it was given.
    pub given: String,
    /// The setting's origin.
    pub origin: Origin,
    /// The mistake and what would be right, without the parts above.
    pub reason: String,
}

impl std::fmt::Display for ParamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // {:?} keeps control characters of a hostile environment off the terminal.
        write!(f, "parameter {}: {:?}, from {}, {}", self.parameter, self.given, self.origin, self.reason)
    }
}

impl std::error::Error for ParamError {}
