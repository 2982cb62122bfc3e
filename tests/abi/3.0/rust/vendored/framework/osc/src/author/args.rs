//! Arguments of verbs as authors see them: their pointers are vouched for by the host.

use crate::table::{RmaArgs, lock_type};
use core::ops::Deref;

/// Arguments of an operation. The fields are reached by deref; buffers stay until the operation is complete.
#[derive(Clone, Copy)]
pub struct Rma<'a>(&'a RmaArgs);

impl<'a> Rma<'a> {
    /// Vouches for arguments.
    ///
    /// # Safety
    /// The pointers that the operation uses are valid as [`RmaArgs`] says: types and operation for `'a`, buffers until the operation is complete at
    /// the origin, those that are written nobody else's.
    #[inline(always)]
    pub unsafe fn new(args: &'a RmaArgs) -> Rma<'a> {
        Rma(args)
    }
}

impl Deref for Rma<'_> {
    type Target = RmaArgs;
    #[inline(always)]
    fn deref(&self) -> &RmaArgs {
        self.0
    }
}

/// The way in which an operation's end is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// MPI_Put and the like: synchronisation ends it.
    Nothing,
    /// MPI_Rput and the like.
    Request,
}

/// The sides at which a flush completes operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// At origin and target (MPI_Win_flush).
    Everywhere,
    /// At the origin alone (MPI_Win_flush_local).
    Here,
}

/// Kinds of MPI_Win_lock (MPI 5.0 §12.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// MPI_LOCK_SHARED.
    Shared,
    /// MPI_LOCK_EXCLUSIVE.
    Exclusive,
}

impl LockKind {
    /// The kind of a number of [`lock_type`]; any other one is exclusive, which is safe for all.
    pub(super) fn of(number: u32) -> LockKind {
        if number == lock_type::SHARED { LockKind::Shared } else { LockKind::Exclusive }
    }

    /// Its number among [`lock_type`], for messages.
    pub const fn number(self) -> u32 {
        match self {
            LockKind::Shared => lock_type::SHARED,
            LockKind::Exclusive => lock_type::EXCLUSIVE,
        }
    }
}

/// Memory of this process, by address, that peers may reach from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Address of its first byte.
    pub base: usize,
    /// Length in bytes.
    pub bytes: u64,
}
