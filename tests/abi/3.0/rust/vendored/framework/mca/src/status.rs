//! The closed set of codes that cross the component boundary.
//!
//! `NO_RESOURCE` is a value, not an error: the caller keeps the operation and offers it again from
//! progress. Sentences for people go through the host's log and help functions, never through here.

/// A status code. Zero is success; every failure is negative.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub i32);

impl Status {
    /// Success: the operation is done, and its outputs are set.
    pub const OK: Status = Status(0);
    /// Not done and not failed: the caller got a request to wait for, or asks again later.
    pub const PENDING: Status = Status(1);
    /// Back-pressure: keep the operation, progress, offer it again.
    pub const NO_RESOURCE: Status = Status(-1);
    /// This component, device or process cannot do it at all; the same call fails again.
    pub const NOT_SUPPORTED: Status = Status(-2);
    /// An argument has a value that the function does not take; nothing happened.
    pub const BAD_PARAM: Status = Status(-3);
    /// Nothing with that name or number exists.
    pub const NOT_FOUND: Status = Status(-4);
    /// Memory could not be had; nothing happened.
    pub const OUT_OF_MEMORY: Status = Status(-5);
    /// No transport leads to the process.
    pub const UNREACHABLE: Status = Status(-6);
    /// The peer broke the protocol, closed, or died.
    pub const PEER_FAILED: Status = Status(-7);
    /// The message is longer than its receive's buffer; the buffer is filled (MPI_ERR_TRUNCATE; MPI 5.0 §3.2.4).
    pub const TRUNCATED: Status = Status(-8);
    /// The component has nothing to offer here (no device, switched off); dropped in silence.
    pub const NOT_AVAILABLE: Status = Status(-9);
    /// Something that cannot happen did: a mistake in the library or a component, which the log names.
    pub const INTERNAL: Status = Status(-10);
    /// A panic was caught at the boundary; the component is not used again.
    pub const PANICKED: Status = Status(-11);
    /// The system refuses the access, or a proof of the job's secret is wrong.
    pub const NO_PERMISSION: Status = Status(-12);
    /// A bounded wait came to its end before the awaited thing happened.
    pub const TIMEOUT: Status = Status(-13);
    /// Ranks gave a collective arguments that do not fit together.
    pub const MISMATCH: Status = Status(-14);
    /// A one-sided call outside of the epoch it needs, or a synchronisation call that does not fit the window's state
    /// (MPI_ERR_RMA_SYNC; MPI 5.0 §12.6.2).
    pub const RMA_SYNC: Status = Status(-15);
    /// Conflicting accesses to a window (MPI_ERR_RMA_CONFLICT).
    pub const RMA_CONFLICT: Status = Status(-16);
    /// The target memory is not part of the window (MPI_ERR_RMA_RANGE).
    pub const RMA_RANGE: Status = Status(-17);
    /// Memory cannot be attached (MPI_ERR_RMA_ATTACH).
    pub const RMA_ATTACH: Status = Status(-18);
    /// Memory cannot be shared (MPI_ERR_RMA_SHARED).
    pub const RMA_SHARED: Status = Status(-19);
    /// The window's flavor does not allow the call (MPI_ERR_RMA_FLAVOR).
    pub const RMA_FLAVOR: Status = Status(-20);
    /// The communicator was revoked: nothing is waited for on it any more.
    pub const REVOKED: Status = Status(-21);

    /// True for [`Status::OK`] alone.
    #[inline(always)]
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }

    /// True for every failure ([`Status::PENDING`] is none).
    #[inline(always)]
    pub const fn is_err(self) -> bool {
        self.0 < 0
    }

    /// A word for messages.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "ok",
            1 => "pending",
            -1 => "no resource",
            -2 => "not supported",
            -3 => "bad parameter",
            -4 => "not found",
            -5 => "out of memory",
            -6 => "unreachable",
            -7 => "peer failed",
            -8 => "truncated",
            -9 => "not available",
            -10 => "internal error",
            -11 => "component panicked",
            -12 => "no permission",
            -13 => "timed out",
            -14 => "the ranks gave sizes that do not fit together",
            -15 => "outside of the epoch that this call needs",
            -16 => "conflicting accesses to the window",
            -17 => "target memory outside of the window",
            -18 => "memory cannot be attached",
            -19 => "memory cannot be shared",
            -20 => "the window's flavor does not allow this",
            -21 => "the communicator is revoked",
            _ => "unknown status",
        }
    }

    /// `Ok` for success and [`Status::PENDING`], `Err` for failures, [`Status::NO_RESOURCE`] among them.
    pub const fn ok(self) -> Result<Status, Status> {
        if self.is_err() { Err(self) } else { Ok(self) }
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}
impl core::fmt::Display for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
