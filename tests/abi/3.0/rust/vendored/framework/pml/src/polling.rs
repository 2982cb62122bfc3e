//! The part of progress that a PML and the host's engine share: how the transports of a context are polled, and the words by which the PML says that a
//! turn of a context has more to do than that.
//!
//! **A turn of a context** is made under its lock, mostly by the engine: each active transport is polled, then [`PmlTable::after_turn`](crate::PmlTable::after_turn) is
//! called if the PML's words ask for that. A PML that holds a context's lock anyway may poll it by [`Polling::poll`], as a blocking
//! receive does that has just been posted.
//!
//! **Words** are the PML's and are read by the engine, mostly under the context's lock: a call across the boundary for each turn would cost
//! more than the turn.

use core::ptr::{null, null_mut};
use oxmpi_btl::BtlHandle;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, SliceRef};

/// A transport as turns of progress see it.
#[repr(C)]
pub struct Polled {
    /// The transport's table; valid as long as the instance.
    pub btl: *const BtlHandle,
    /// 1 once something may come through it: the transport to oneself is polled only when somebody has used it.
    pub active: AtomicU32,
    /// Number of contexts that it has.
    pub contexts: u32,
}

/// The transports that turns of progress poll. The host's, valid as long as the instance.
#[repr(C)]
pub struct Polling {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// 1 once locks must be taken in a turn, though one thread makes calls: messages come on several contexts. It stays.
    pub careful: AtomicU32,
    /// The one active transport; null where there is none, or several.
    pub lone: AtomicPtr<BtlHandle>,
    /// All of them, best first, by `BtlHandle::index`.
    pub transports: SliceRef<Polled>,
}

// SAFETY: handles may be used from any thread under the serialisation of their contract; the rest is atomic or never changes.
unsafe impl Send for Polling {}
// SAFETY: as above.
unsafe impl Sync for Polling {}

impl Polling {
    /// Of transports that outlive the result.
    pub fn new(transports: &[Polled]) -> Polling {
        let mut active = transports.iter().filter(|t| t.is_active());
        let lone = match (active.next(), active.next()) {
            (Some(only), None) => only.btl.cast_mut(),
            _ => null_mut(),
        };
        Polling {
            size: core::mem::size_of::<Polling>() as u32,
            careful: AtomicU32::new(0),
            lone: AtomicPtr::new(lone),
            transports: SliceRef { ptr: transports.as_ptr(), len: transports.len() },
        }
    }

    /// Polls the active transports on the context whose lock is held. Returns the number of events.
    #[inline(always)]
    pub fn poll(&self, held: &mut CriGuard<'_>) -> i32 {
        // SAFETY: accepted handles live as long as the instance.
        match unsafe { self.lone.load(Ordering::Relaxed).as_ref() } {
            Some(btl) if held.ctx() == 0 => btl.progress(held),
            _ => self.poll_each(&mut held.lend()),
        }
    }

    #[inline(never)]
    fn poll_each(&self, held: &mut CriGuard<'_>) -> i32 {
        self.active(held.ctx()).map(|(_, btl)| btl.progress(held)).sum()
    }

    /// The active transports that have this context, by number.
    pub fn active(&self, ctx: u32) -> impl Iterator<Item = (usize, &BtlHandle)> {
        // SAFETY: valid as long as the instance.
        let all = unsafe { self.transports.get() }.iter().enumerate();
        // SAFETY: as above.
        all.filter(move |(_, t)| t.is_active() && ctx < t.contexts).map(|(i, t)| (i, unsafe { &*t.btl }))
    }

    /// Has a transport polled from now on. Any thread, before the first operation on it.
    pub fn activate(&self, btl: &BtlHandle) {
        // SAFETY: as above.
        let all = unsafe { self.transports.get() };
        if let Some(t) = all.iter().find(|t| core::ptr::eq(t.btl, btl))
            && !t.is_active()
        {
            let first = all.iter().all(|t| !t.is_active());
            t.active.store(1, Ordering::Relaxed);
            self.lone.store(if first { t.btl.cast_mut() } else { null_mut() }, Ordering::Relaxed);
        }
    }

    /// Has locks taken in every turn from now on.
    pub fn take_care(&self) {
        self.careful.store(1, Ordering::Relaxed);
    }

    /// True where locks must be taken in a turn.
    #[inline(always)]
    pub fn is_careful(&self) -> bool {
        self.careful.load(Ordering::Relaxed) != 0
    }
}

impl Polled {
    /// A transport that is polled from the beginning, or from [`Polling::activate`] on.
    pub fn new(btl: &BtlHandle, active: bool) -> Polled {
        Polled { btl, active: AtomicU32::new(active.into()), contexts: btl.attrs().contexts }
    }

    #[inline(always)]
    fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed) != 0
    }
}

/// A PML's words about one context.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ContextWords {
    /// Bits of [`work`], which the holder of the context's lock writes; not 0: `after_turn` is called.
    pub work: *const AtomicU32,
    /// Counts the messages that came and met no receive. The holder of the lock writes it.
    pub unmatched: *const AtomicU32,
}

// SAFETY: two words that are atomic, and valid until the PML that gave them is finalized.
unsafe impl Send for ContextWords {}
// SAFETY: they are only read through a reference, by atomic loads.
unsafe impl Sync for ContextWords {}

/// Bits of [`ContextWords::work`].
pub mod work {
    /// Something waits that no doorbell tells of, such as room in a transport: nobody sleeps meanwhile.
    pub const URGENT: u32 = 0xffff;
}

/// The words of a PML, all valid until it is finalized.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Words {
    /// Bytes of this struct as the host was built with it; a PML fills what lies within it.
    pub size: u32,
    /// 0 from the host; a PML leaves it so.
    pub reserved: u32,
    /// While it is not 0 `after_turn` is called behind every turn of every context.
    pub always: *const AtomicU32,
    /// By context. A PML that gives none is called behind every turn.
    pub contexts: SliceRef<ContextWords>,
}

impl Words {
    /// The words that a PML is given to fill.
    pub const NONE: Words = Words {
        size: core::mem::size_of::<Words>() as u32,
        reserved: 0,
        always: null(),
        contexts: SliceRef { ptr: null(), len: 0 },
    };
}

// SAFETY: the words are atomic, and valid as long as the PML.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

const _: () = {
    use core::mem::size_of;
    assert!(size_of::<Polled>() == 16);
    assert!(size_of::<Polling>() == 32);
    assert!(size_of::<ContextWords>() == 16);
    assert!(size_of::<Words>() == 32);
};
