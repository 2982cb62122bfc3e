//! Protection, thread and parent domains, registered memory, addresses.

use crate::context::{FakeContext, FakePd, FakeTd};
use crate::counters::{self, Counter};
use crate::qp::FakeAh;
use crate::requests::locked;
use core::ffi::{c_int, c_void};
use oxmpi_verbs_abi::numbers::access;
use oxmpi_verbs_abi::{Ah, AhAttr, Context, Mr, ParentDomainInitAttr, Pd, Td, TdInitAttr};

fn give<T, R>(made: T) -> *mut R {
    Box::into_raw(Box::new(made)).cast()
}

/// # Safety
/// A context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_alloc_pd(context: *mut Context) -> *mut Pd {
    // SAFETY: the caller's context.
    let number = unsafe { FakeContext::of(context) }.core.nic.number();
    counters::add(Counter::Pds, 1);
    give(FakePd { raw: Pd { context, handle: number as u32 }, number, is_parent: false, register: None })
}

/// # Safety
/// A domain that nothing is left in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_dealloc_pd(pd: *mut Pd) -> c_int {
    // SAFETY: made by one of ours.
    let pd = unsafe { Box::from_raw(pd.cast::<FakePd>()) };
    counters::sub(if pd.is_parent { Counter::ParentDomains } else { Counter::Pds }, 1);
    0
}

/// Upstream refuses every mask bit; the extension knows `sharing` 1 and 2.
pub unsafe extern "C" fn alloc_td(context: *mut Context, attr: *mut TdInitAttr) -> *mut Td {
    // SAFETY: the caller's context and attributes; the second word is there if the mask says so.
    unsafe {
        let core = &FakeContext::of(context).core;
        let sharing = match (*attr).comp_mask {
            0 => 2,
            TdInitAttr::SHARING if core.nic.config.patched => (*attr).sharing,
            _ => 0,
        };
        if !(1..=2).contains(&sharing) {
            return core::ptr::null_mut();
        }
        let Some(register) = locked(&core.uars).for_domain(sharing) else { return core::ptr::null_mut() };
        counters::add(Counter::Tds, 1);
        give(FakeTd { raw: Td { context }, register })
    }
}

pub unsafe extern "C" fn dealloc_td(td: *mut Td) -> c_int {
    // SAFETY: made by `alloc_td`.
    let td = unsafe { Box::from_raw(td.cast::<FakeTd>()) };
    // SAFETY: contexts outlive what is in them.
    let core = unsafe { &FakeContext::of(td.raw.context).core };
    locked(&core.uars).end_of_domain(td.register.clone());
    counters::sub(Counter::Tds, 1);
    0
}

pub unsafe extern "C" fn alloc_parent_domain(
    context: *mut Context,
    attr: *mut ParentDomainInitAttr,
) -> *mut Pd {
    // SAFETY: the caller's attributes, which name domains of ours.
    unsafe {
        let attr = &*attr;
        if attr.pd.is_null() || attr.comp_mask != 0 {
            return core::ptr::null_mut();
        }
        let pd = FakePd::of(attr.pd);
        let register = (!attr.td.is_null()).then(|| (*attr.td.cast::<FakeTd>()).register.clone());
        counters::add(Counter::ParentDomains, 1);
        let raw = Pd { context, handle: pd.raw.handle };
        give(FakePd { raw, number: pd.number, is_parent: true, register })
    }
}

unsafe fn register(pd: *mut Pd, addr: *mut c_void, length: usize, access: u32) -> *mut Mr {
    // SAFETY: the caller's domain.
    let (fake, context) = unsafe { (FakePd::of(pd), (*pd).context) };
    // SAFETY: as above.
    let nic = unsafe { &FakeContext::of(context).core.nic };
    let wanted = access & !access::OPTIONAL;
    // Remote writing needs local writing, as in hardware.
    let remote = access::REMOTE_WRITE | access::REMOTE_ATOMIC;
    if wanted > 15 || wanted & remote != 0 && wanted & access::LOCAL_WRITE == 0 {
        return core::ptr::null_mut();
    }
    let key = nic.memory.add(fake.number, addr as u64, length as u64, wanted, nic.config.max_mr);
    let Some(key) = key else { return core::ptr::null_mut() };
    counters::add(Counter::Mrs, 1);
    give(Mr { context, pd, addr, length, handle: key, lkey: key, rkey: key })
}

/// # Safety
/// A domain, and memory that stays mapped until it is deregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_reg_mr(pd: *mut Pd, addr: *mut c_void, len: usize, access: c_int) -> *mut Mr {
    // SAFETY: the caller's promise.
    unsafe { register(pd, addr, len, access as u32) }
}

/// # Safety
/// As [`ibv_reg_mr`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_reg_mr_iova(
    pd: *mut Pd,
    addr: *mut c_void,
    len: usize,
    iova: u64,
    access: c_int,
) -> *mut Mr {
    // SAFETY: the caller's promise.
    unsafe { ibv_reg_mr_iova2(pd, addr, len, iova, access as u32) }
}

/// Addresses are the processor's: no others.
///
/// # Safety
/// As [`ibv_reg_mr`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_reg_mr_iova2(
    pd: *mut Pd,
    addr: *mut c_void,
    len: usize,
    iova: u64,
    access: u32,
) -> *mut Mr {
    if iova != addr as u64 {
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { register(pd, addr, len, access) }
}

/// # Safety
/// A registration, which is gone then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_dereg_mr(mr: *mut Mr) -> c_int {
    // SAFETY: made by `register`.
    let mr = unsafe { Box::from_raw(mr) };
    // SAFETY: contexts outlive what is in them.
    unsafe { FakeContext::of(mr.context) }.core.nic.memory.remove(mr.lkey);
    counters::sub(Counter::Mrs, 1);
    0
}

/// # Safety
/// A domain and an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_create_ah(pd: *mut Pd, attr: *mut AhAttr) -> *mut Ah {
    // SAFETY: the caller's domain and attributes.
    unsafe { give(FakeAh { raw: Ah { context: (*pd).context, pd, handle: 0 }, attr: *attr }) }
}

/// # Safety
/// An address, which is gone then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_destroy_ah(ah: *mut Ah) -> c_int {
    // SAFETY: made by `ibv_create_ah`.
    drop(unsafe { Box::from_raw(ah.cast::<FakeAh>()) });
    0
}
