//! Values in force: a component's view of [`ResolveArgs`].
//!
//! A parameter that says 0 or `auto` gets its value from the machine and the job. `mpi-info --explain` and tools that read a
//! control variable show that value, so a component tells it ([`crate::Component::resolve`]) by the functions with which it
//! opens.

use crate::abi::{ResolveArgs, StrRef};
use crate::host::JobInfo;
use crate::status::Status;
use core::fmt::Display;

/// The process for which values are looked at. It need not exist.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a> {
    /// Facts of the process in its job.
    pub job: &'a JobInfo,
    /// Communication resources (CRIs).
    pub num_cris: u32,
}

/// A value with which a component does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Index of its declaration.
    pub param: usize,
    /// `BAD_PARAM`: wrong anywhere; `NOT_SUPPORTED`: this machine cannot do it.
    pub status: Status,
    /// With the parameter's full name and what it takes.
    pub why: String,
}

impl Refused {
    /// A value that is wrong anywhere.
    pub fn bad(param: usize, why: impl Into<String>) -> Refused {
        Refused { param, status: Status::BAD_PARAM, why: why.into() }
    }
    /// A value that asks for something which this machine does not have.
    pub fn not_here(param: usize, why: impl Into<String>) -> Refused {
        Refused { param, status: Status::NOT_SUPPORTED, why: why.into() }
    }
}

/// Takes the answers of one call.
pub struct Answers<'a> {
    args: &'a ResolveArgs,
}

impl<'a> Answers<'a> {
    /// For one call of `Descriptor::resolve`.
    pub fn new(args: &'a ResolveArgs) -> Answers<'a> {
        Answers { args }
    }

    /// The value of the parameter with that index as a user would set it, and how it follows, as one sentence.
    pub fn tell(&mut self, param: usize, value: impl Display, because: impl AsRef<str>) {
        let (value, because) = (value.to_string(), StrRef::of(because.as_ref()));
        (self.args.in_force)(self.args.ctx, param as u32, StrRef::of(&value), because);
    }

    /// A value that is in force as it is set, and what it says: for 0 that means none.
    pub fn as_set(&mut self, param: usize, because: impl AsRef<str>) {
        let because = StrRef::of(because.as_ref());
        (self.args.in_force)(self.args.ctx, param as u32, StrRef::EMPTY, because);
    }

    /// A value with which the component does not open.
    pub fn refuse(&mut self, refused: &Refused) {
        (self.args.refuse)(self.args.ctx, refused.param as u32, refused.status, StrRef::of(&refused.why));
    }
}

/// A number of bytes as users write it: with k, m or g where nothing is lost by that.
pub fn bytes(n: u64) -> String {
    for (shift, unit) in [(30, "g"), (20, "m"), (10, "k")] {
        if n > 0 && n.trailing_zeros() >= shift {
            return format!("{}{unit}", n >> shift);
        }
    }
    n.to_string()
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_written_as_users_write_them() {
        let all = [0, 1, 1000, 1024, 3 << 20, (1 << 20) + 1024, 1 << 40].map(bytes);
        assert_eq!(all, ["0", "1", "1000", "1k", "3m", "1025k", "1024g"]);
    }
}
