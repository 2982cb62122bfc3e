//! An opened device: a context with its two tables of functions, its registers and its events.

use crate::objects::ContextCore;
use crate::uar::Uuar;
use oxmpi_verbs_abi::{Context, Pd, Td, ext};
use std::sync::Arc;

const SLOTS: usize = ext::BYTES / 8;

#[repr(C)]
pub struct FakeContext {
    /// The extended table; distances count backwards from `raw`.
    pub ext: [usize; SLOTS],
    pub raw: Context,
    pub core: Arc<ContextCore>,
}

impl FakeContext {
    /// # Safety
    /// A live context of ours.
    pub unsafe fn of<'a>(context: *mut Context) -> &'a FakeContext {
        // SAFETY: `raw` lies `ext::BYTES` behind the start.
        unsafe { &*context.byte_sub(ext::BYTES).cast::<FakeContext>() }
    }

    pub fn slot(distance: usize) -> usize {
        SLOTS - distance / 8
    }
}

/// A protection domain, or a parent domain over one.
#[repr(C)]
pub struct FakePd {
    pub raw: Pd,
    /// Of the protection domain, also in a parent.
    pub number: u64,
    pub is_parent: bool,
    /// The register of a parent's thread domain.
    pub register: Option<Uuar>,
}

#[repr(C)]
pub struct FakeTd {
    pub raw: Td,
    pub register: Uuar,
}

impl FakePd {
    /// # Safety
    /// A live domain of ours.
    pub unsafe fn of<'a>(pd: *mut Pd) -> &'a FakePd {
        // SAFETY: ours begin with it.
        unsafe { &*pd.cast::<FakePd>() }
    }
}
