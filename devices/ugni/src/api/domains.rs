//! Domains, devices, versions and limits.

use super::give;
use crate::config::config;
use crate::domain::{Cdm, Nic};
use crate::engine::{self, Command};
use crate::handles::{self, Object};
use crate::layouts::{DevRes, JobRes, VersionInfo};
use crate::node;
use crate::numbers::{FIND_ALLOC_PTAG, NICS_PER_CDM, Return, mode, rc, statistic};
use crate::sys;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Makes a domain. Tag and cookie are checked when it is attached.
///
/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CdmCreate(
    inst: u32,
    ptag: u8,
    cookie: u32,
    modes: u32,
    out: *mut *mut c_void,
) -> Return {
    if out.is_null() || modes & 0xf000_0000 != 0 {
        return rc::INVALID_PARAM;
    }
    let handle = handles::reserve();
    handles::insert(handle, Object::Cdm(Arc::new(Cdm { inst, ptag, cookie, modes, nics: Mutex::default() })));
    // SAFETY: checked and promised.
    unsafe { give(out, handle as *mut c_void) };
    rc::SUCCESS
}

/// Ends a domain with the devices it is attached to.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_CdmDestroy(cdm: *mut c_void) -> Return {
    let Some(domain) = handles::cdm(cdm) else { return rc::INVALID_PARAM };
    handles::remove(cdm);
    for (_, nic) in domain.nics.lock().unwrap_or_else(|e| e.into_inner()).drain(..) {
        if let Some(Object::Nic(nic)) = handles::remove(nic as *mut c_void) {
            nic.destroyed.store(true, Ordering::Release);
            let (done, gone) = std::sync::mpsc::channel();
            engine::submit(Command::Forget(nic.cookie, nic.inst, done));
            // The instance's number can be used again when this returns; the engine answers at its next turn.
            let _ = gone.recv_timeout(Duration::from_secs(5));
        }
    }
    rc::SUCCESS
}

/// Attaches a domain to a device: `-1` is the nearest that it is not attached to.
///
/// # Safety
/// `address` and `out` are NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CdmAttach(
    cdm: *mut c_void,
    device: u32,
    address: *mut u32,
    out: *mut *mut c_void,
) -> Return {
    let Some(domain) = handles::cdm(cdm) else { return rc::INVALID_PARAM };
    if address.is_null() || out.is_null() {
        return rc::INVALID_PARAM;
    }
    match attach(&domain, device) {
        Ok(handle) => {
            // SAFETY: checked and promised.
            unsafe {
                give(address, config().node);
                give(out, handle as *mut c_void);
            }
            rc::SUCCESS
        }
        Err(code) => code,
    }
}

fn attach(domain: &Arc<Cdm>, device: u32) -> Result<usize, Return> {
    let c = config();
    let mut nics = domain.nics.lock().unwrap_or_else(|e| e.into_inner());
    let device = if device == u32::MAX {
        (0..c.devices).find(|d| !nics.iter().any(|(n, _)| n == d)).ok_or(rc::INVALID_STATE)?
    } else {
        device
    };
    if device >= c.devices {
        return Err(rc::NO_MATCH);
    }
    let tag_is_wrong = domain.ptag != FIND_ALLOC_PTAG && c.ptag.is_some_and(|p| p != domain.ptag);
    if tag_is_wrong || c.cookie.is_some_and(|k| k != domain.cookie) {
        return Err(rc::PERMISSION_ERROR);
    }
    if nics.iter().any(|(n, _)| *n == device) {
        return Err(rc::INVALID_STATE);
    }
    if nics.len() >= NICS_PER_CDM {
        return Err(rc::ERROR_RESOURCE);
    }
    node::join().map_err(|_| rc::ERROR_RESOURCE)?;
    engine::start().map_err(|_| rc::ERROR_NOMEM)?;
    // The name is the instance's: taken, some domain of this node has the same one.
    let listener =
        sys::listen(&engine::name(domain.cookie, (c.node, domain.inst))).map_err(|e| match e.kind() {
            std::io::ErrorKind::AddrInUse => rc::INVALID_STATE,
            _ => rc::ERROR_RESOURCE,
        })?;
    if domain.modes & mode::FMA_SHARED == 0 && !node::take(node::Resource::Fma, 1, c.fma.into()) {
        return Err(rc::ERROR_RESOURCE);
    }
    let handle = handles::reserve();
    let nic = Arc::new(Nic::new(handle, domain));
    handles::insert(handle, Object::Nic(nic.clone()));
    engine::submit(Command::Listen(listener, nic));
    nics.push((device, handle));
    Ok(handle)
}

/// The address of this node, by device.
///
/// # Safety
/// `address` and `cpu` are NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CdmGetNicAddress(device: u32, address: *mut u32, cpu: *mut u32) -> Return {
    if device >= config().devices {
        return rc::NO_MATCH;
    }
    // SAFETY: promised.
    unsafe {
        give(address, config().node);
        give(cpu, 0);
    }
    rc::SUCCESS
}

/// # Safety
/// `count` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetNumLocalDevices(count: *mut i32) -> Return {
    // SAFETY: promised.
    if unsafe { give(count, config().devices as i32) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// `ids` is NULL or has `len` integers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetLocalDeviceIds(len: i32, ids: *mut i32) -> Return {
    if ids.is_null() || len < config().devices as i32 {
        return rc::INVALID_PARAM;
    }
    for i in 0..config().devices as i32 {
        // SAFETY: below `len`, as checked.
        unsafe { ids.add(i as usize).write(i) };
    }
    rc::SUCCESS
}

/// # Safety
/// `kind` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetDeviceType(kind: *mut i32) -> Return {
    // SAFETY: promised.
    if unsafe { give(kind, config().device) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// `version` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetVersion(version: *mut u32) -> Return {
    // SAFETY: promised.
    if unsafe { give(version, config().version) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// `info` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetVersionInformation(info: *mut VersionInfo) -> Return {
    let text = |s: &str| {
        let mut bytes = [0; 80];
        bytes[..s.len()].copy_from_slice(s.as_bytes());
        bytes
    };
    let build = concat!("emulation ", env!("CARGO_PKG_VERSION"));
    let version = config().version;
    let value = VersionInfo {
        ugni_version: version,
        ugni_svn_revision: 0,
        ugni_build_string: text(build),
        kgni_version: version,
        kgni_svn_revision: 0,
        kgni_build_string: text(build),
    };
    // SAFETY: promised.
    if unsafe { give(info, value) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// The protection tag of a cookie.
///
/// # Safety
/// `ptag` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetPtag(device: u32, cookie: u32, ptag: *mut u8) -> Return {
    if ptag.is_null() || device >= config().devices {
        return rc::INVALID_PARAM;
    }
    if config().cookie.is_some_and(|c| c != cookie) {
        return rc::NO_MATCH;
    }
    // SAFETY: checked and promised.
    unsafe { give(ptag, config().ptag.unwrap_or(10)) };
    rc::SUCCESS
}

/// Limits: (used, limit) of a resource by the number in `gni_job_res_t`.
fn job_resource(kind: i32) -> Option<JobRes> {
    let c = config();
    let (used, limit) = match kind {
        1 => (node::used(node::Resource::Memory), c.mdds.into()),
        2 if c.is_gemini() => (node::used(node::Resource::Pages), c.mrt),
        5 => (node::used(node::Resource::Queues), c.cqs.into()),
        6 => (node::used(node::Resource::Fma), c.fma.into()),
        7 => (0, c.bte.into()),
        _ => return None,
    };
    Some(JobRes { used, limit })
}

/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetJobResInfo(device: u32, _ptag: u8, kind: i32, out: *mut JobRes) -> Return {
    let Some(value) = job_resource(kind).filter(|_| device < config().devices) else {
        return rc::INVALID_PARAM;
    };
    // SAFETY: promised.
    if unsafe { give(out, value) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetDevResInfo(device: u32, kind: i32, out: *mut DevRes) -> Return {
    // The same resources have other numbers here.
    let job_kind = match kind {
        1 => 1,
        2 => 2,
        3 => 5,
        4 => 6,
        _ => return rc::INVALID_PARAM,
    };
    let Some(r) = job_resource(job_kind).filter(|_| device < config().devices) else {
        return rc::INVALID_PARAM;
    };
    let value =
        DevRes { available: r.limit.saturating_sub(r.used), reserved: 0, held: r.used, total: r.limit };
    // SAFETY: promised.
    if unsafe { give(out, value) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// `value` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetNicStat(nic: *mut c_void, what: i32, value: *mut u32) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    let Some(counter) = nic.statistics.get(what as usize) else { return rc::INVALID_PARAM };
    // SAFETY: promised.
    if unsafe { give(value, counter.load(Ordering::Relaxed)) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_ResetNicStat(nic: *mut c_void, what: i32) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    let Some(counter) = nic.statistics.get(what as usize) else { return rc::INVALID_PARAM };
    counter.store(0, Ordering::Relaxed);
    rc::SUCCESS
}

/// Addresses of C strings in constant memory.
#[repr(transparent)]
pub struct Strings<const N: usize>([*const c_char; N]);
// SAFETY: the strings never change.
unsafe impl<const N: usize> Sync for Strings<N> {}

const fn strings<const N: usize>(of: [&CStr; N]) -> Strings<N> {
    let mut pointers = [core::ptr::null(); N];
    let mut i = 0;
    while i < N {
        pointers[i] = of[i].as_ptr();
        i += 1;
    }
    Strings(pointers)
}

/// Words for return codes, by code.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the interface's name")]
pub static gni_err_str: Strings<14> = strings([
    c"SUCCESS",
    c"NOT_DONE",
    c"INVALID_PARAM",
    c"ERROR_RESOURCE",
    c"TIMEOUT",
    c"PERMISSION_ERROR",
    c"DESCRIPTOR_ERROR",
    c"ALIGNMENT_ERROR",
    c"INVALID_STATE",
    c"NO_MATCH",
    c"SIZE_ERROR",
    c"TRANSACTION_ERROR",
    c"ILLEGAL_OP",
    c"ERROR_NOMEM",
]);

/// Names of statistics, by number.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the interface's name")]
pub static gni_statistic_str: Strings<{ statistic::COUNT }> = strings([
    c"SMSG_BUFF_CREDITS_STALL",
    c"SMSG_DLA_STALL",
    c"SMSG_MBOX_CREDITS_STALL",
    c"SMSG_REQ_STALL",
    c"SMSG_RETRANS_COUNT",
    c"SMSG_RETRANS_DLA_COUNT",
    c"SMSG_RETRANS_STALL",
]);
