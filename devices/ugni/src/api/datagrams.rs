//! Datagrams. Test and wait may be called by a helper thread beside others, as may the probe that waits.

use super::cancellation::{ever, in_parts};
use super::give;
use crate::counters::{self, Counter};
use crate::datagram::{Post, Tested};
use crate::domain::{Ep, Nic};
use crate::engine::{self, Command};
use crate::handles;
use crate::numbers::{Return, rc};
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Posts a datagram of an endpoint: to its peer where it is bound, else to whoever comes.
unsafe fn post(
    ep: *mut c_void,
    data: *const c_void,
    len: u16,
    out: *mut c_void,
    out_len: u16,
    id: Option<u64>,
) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    if (data.is_null() && len > 0) || (out.is_null() && out_len > 0) {
        return rc::INVALID_PARAM;
    }
    if ep.state().datagram {
        return rc::ERROR_RESOURCE;
    }
    let data = match len {
        0 => Vec::new(),
        // SAFETY: `len` bytes are there, as the caller of the entry point promises.
        _ => unsafe { core::slice::from_raw_parts(data.cast::<u8>(), len.into()) }.to_vec(),
    };
    let peer = ep.state().bound.map(|b| (b.address, b.inst));
    let posted =
        ep.nic.sessions().post(Post { ep: ep.handle, peer, id, data, out: (out as usize, out_len.into()) });
    match posted {
        Err(code) => code,
        Ok(packet) => {
            counters::add(Counter::Datagrams, 1);
            ep.state().datagram = true;
            if let Some(packet) = packet {
                engine::submit(Command::Datagram(ep.nic.clone(), packet));
            }
            rc::SUCCESS
        }
    }
}

/// # Safety
/// `data` has `len` bytes; `out` has `out_len` and stays until the datagram is collected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_EpPostData(
    ep: *mut c_void,
    data: *mut c_void,
    len: u16,
    out: *mut c_void,
    out_len: u16,
) -> Return {
    // SAFETY: promised.
    unsafe { post(ep, data, len, out, out_len, None) }
}

/// # Safety
/// As GNI_EpPostData. All ones is no identifier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_EpPostDataWId(
    ep: *mut c_void,
    data: *mut c_void,
    len: u16,
    out: *mut c_void,
    out_len: u16,
    id: u64,
) -> Return {
    if id == u64::MAX {
        return rc::INVALID_PARAM;
    }
    // SAFETY: promised.
    unsafe { post(ep, data, len, out, out_len, Some(id)) }
}

fn test(ep: &Ep, id: Option<u64>) -> Result<Tested, Return> {
    let peer = ep.state().bound.map(|b| (b.address, b.inst));
    let tested = ep.nic.sessions().test(ep.handle, peer, id);
    let is_over = match &tested {
        Ok(t) => t.is_over,
        Err(_) => true,
    };
    if is_over {
        ep.state().datagram = false;
    }
    tested
}

/// Hands a test's outcome to the program.
///
/// # Safety
/// The pointers are NULL or valid for writes; the place for the data was promised when it was posted.
unsafe fn tell(tested: Result<Tested, Return>, state: *mut i32, address: *mut u32, inst: *mut u32) -> Return {
    let tested = match tested {
        Ok(t) => t,
        Err(code) => return code,
    };
    if let Some((data, (out, _))) = &tested.data {
        // SAFETY: the place has room, as the session checked.
        unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), *out as *mut u8, data.len()) }
    }
    let (a, i) = tested.peer.unwrap_or((0, 0));
    // SAFETY: promised.
    unsafe {
        give(state, tested.state);
        give(address, a);
        give(inst, i);
    }
    rc::SUCCESS
}

/// # Safety
/// The pointers are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_EpPostDataTest(
    ep: *mut c_void,
    state: *mut i32,
    address: *mut u32,
    inst: *mut u32,
) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    // SAFETY: promised.
    unsafe { tell(test(&ep, None), state, address, inst) }
}

/// # Safety
/// As GNI_EpPostDataTest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_EpPostDataTestById(
    ep: *mut c_void,
    id: u64,
    state: *mut i32,
    address: *mut u32,
    inst: *mut u32,
) -> Return {
    let Some(ep) = handles::ep(ep).filter(|_| id != u64::MAX) else { return rc::INVALID_PARAM };
    // SAFETY: promised.
    unsafe { tell(test(&ep, Some(id)), state, address, inst) }
}

/// Waits until `look` finds something, at most `ms` milliseconds.
fn wait<T>(nic: &Nic, ms: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + Duration::from_millis(ms);
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        // A change between the look and this wait is met at the next turn.
        let guard = nic.sessions();
        let pause = left.min(Duration::from_millis(2));
        drop(nic.session_changed.wait_timeout(guard, pause).unwrap_or_else(|e| e.into_inner()));
    }
}

/// A part of a wait for the end of a session.
///
/// # Safety
/// As GNI_EpPostDataTest.
unsafe fn wait_for(
    ep: *mut c_void,
    id: Option<u64>,
    ms: u64,
    state: *mut i32,
    address: *mut u32,
    inst: *mut u32,
) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let ended = wait(&ep.nic, ms, || match test(&ep, id) {
        Ok(t) if !t.is_over => None,
        other => Some(other),
    });
    match ended {
        None => rc::TIMEOUT,
        // SAFETY: promised by the caller of the entry point.
        Some(tested) => unsafe { tell(tested, state, address, inst) },
    }
}

/// # Safety
/// As GNI_EpPostDataTest.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_EpPostDataWait(
    ep: *mut c_void,
    ms: u32,
    state: *mut i32,
    address: *mut u32,
    inst: *mut u32,
) -> Return {
    if ms == 0 {
        return rc::INVALID_PARAM;
    }
    // SAFETY: promised.
    in_parts(ever(ms.into()), |ms| unsafe { wait_for(ep, None, ms, state, address, inst) })
}

/// # Safety
/// As GNI_EpPostDataTest.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_EpPostDataWaitById(
    ep: *mut c_void,
    id: u64,
    ms: u32,
    state: *mut i32,
    address: *mut u32,
    inst: *mut u32,
) -> Return {
    if ms == 0 {
        return rc::INVALID_PARAM;
    }
    // SAFETY: promised.
    in_parts(ever(ms.into()), |ms| unsafe { wait_for(ep, Some(id), ms, state, address, inst) })
}

/// # Safety
/// The pointers are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_PostDataProbe(nic: *mut c_void, address: *mut u32, inst: *mut u32) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    let Some((_, peer)) = nic.sessions().probe(false) else { return rc::NO_MATCH };
    let (a, i) = peer.unwrap_or((0, 0));
    // SAFETY: promised.
    unsafe {
        give(address, a);
        give(inst, i);
    }
    rc::SUCCESS
}

/// # Safety
/// `id` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_PostDataProbeById(nic: *mut c_void, id: *mut u64) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    let Some((Some(found), _)) = nic.sessions().probe(true) else { return rc::NO_MATCH };
    // SAFETY: promised.
    if unsafe { give(id, found) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// As GNI_PostDataProbeById.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_PostdataProbeWaitById(nic: *mut c_void, ms: u32, id: *mut u64) -> Return {
    // SAFETY: promised.
    in_parts(ever(ms.max(1).into()), |ms| unsafe { probe(nic, ms, id) })
}

/// A part of a wait for a session of any peer.
///
/// # Safety
/// As GNI_PostDataProbeById.
unsafe fn probe(nic: *mut c_void, ms: u64, id: *mut u64) -> Return {
    let Some(nic) = handles::nic(nic).filter(|_| !id.is_null()) else { return rc::INVALID_PARAM };
    let found: Option<Option<u64>> = wait(&nic, ms, || nic.sessions().probe(true).map(|(id, _)| id));
    match found.flatten() {
        None => rc::TIMEOUT,
        Some(found) => {
            // SAFETY: checked and promised.
            unsafe { give(id, found) };
            rc::SUCCESS
        }
    }
}

fn cancel(ep: &Arc<Ep>, id: Option<u64>) -> Return {
    let _entered = ep.nic.enter();
    let outcome = ep.nic.sessions().cancel(ep.handle, id);
    match outcome {
        Err(code) => code,
        Ok((is_over, packet)) => {
            if is_over {
                ep.state().datagram = false;
            }
            if let Some(packet) = packet {
                engine::submit(Command::Datagram(ep.nic.clone(), packet));
            }
            rc::SUCCESS
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpPostDataCancel(ep: *mut c_void) -> Return {
    handles::ep(ep).map_or(rc::INVALID_PARAM, |ep| cancel(&ep, None))
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpPostDataCancelById(ep: *mut c_void, id: u64) -> Return {
    handles::ep(ep).map_or(rc::INVALID_PARAM, |ep| cancel(&ep, Some(id)))
}
