//! The transport's way of long messages to their place: in thirds, of which each comes in a turn of its own or with the next.

use super::host::{Proc, proc_of};
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::{PlaceBy, PlaceDesc};
use oxmpi_mca::host::am_tag;
use oxmpi_mca::{RecvDesc, Status};

/// A message that is on its way to its place.
#[derive(Clone, Copy)]
pub struct Coming {
    header: u64,
    written: u64,
    gone: bool,
    /// The name by which it was claimed, or 0.
    name: u64,
}

/// Shorter messages have no place.
const LONG: u64 = 1000;
/// Bytes that are there when the place is asked for.
const THERE: u64 = 128;

/// The fate of a message in a turn.
#[derive(PartialEq, Eq)]
pub enum Placing {
    /// It has no place.
    Never,
    /// A part of it has come.
    Part,
    /// All of it has, and was handed up, with this answer.
    All(u32),
}

pub extern "C" fn place_by(s: *mut c_void, by: *const PlaceBy) -> Status {
    // SAFETY: the layer's, for the call.
    let by = unsafe { *by };
    assert_eq!((by.tag, by.size as usize), (u32::from(am_tag::PML), size_of::<PlaceBy>()));
    proc_of(s).placer.lock().replace(by);
    Status::OK
}

/// Brings a third of a message to its place.
pub fn place(me: &Proc, queue: usize, message: &RecvDesc) -> Placing {
    let (key, len) = ((me.rank as usize, queue), message.len);
    let Some(by) = *me.placer.lock() else { return Placing::Never };
    if len < LONG {
        return Placing::Never;
    }
    // SAFETY: the message is in the net's queue, and longer than that.
    let mut start = unsafe { core::slice::from_raw_parts(message.data, THERE as usize) }.to_vec();
    let whole = RecvDesc { data: start.as_mut_ptr(), ..*message };
    let mut desc = PlaceDesc { message: whole, there: THERE, header: 0, place: null_mut() };
    let known = me.net().queues.lock().coming.get(&key).copied();
    desc.message.link = known.map_or(0, |coming| coming.name);
    // SAFETY: the caller of the verb holds the context; so many bytes are there.
    let mut placed = unsafe { (by.place_of)(by.ctx, &mut desc) } != 0;
    if known.is_none()
        && !placed
        && me.net().setup.claims
        && let Some(claim) = by.claim
    {
        // SAFETY: as above.
        placed = unsafe { claim(by.ctx, &mut desc) } != 0;
        me.net().queues.lock().claimed += u64::from(placed);
    }
    let mut coming = match known {
        None if !placed => return Placing::Never,
        None => Coming { header: desc.header, written: 0, gone: false, name: desc.message.link },
        Some(coming) => coming,
    };
    coming.gone |= !placed;
    assert!(coming.gone || coming.header == desc.header && desc.header <= THERE);
    let payload = len - coming.header;
    let n = (payload - coming.written).min(payload / 3 + 1);
    if !coming.gone {
        let from = coming.header + coming.written;
        // SAFETY: the layer has just named the place, which takes all of the payload; the message is as long as it says.
        unsafe {
            core::ptr::copy_nonoverlapping(
                message.data.add(from as usize),
                desc.place.add(coming.written as usize),
                n as usize,
            );
        }
    }
    coming.written += n;
    let mut q = me.net().queues.lock();
    if coming.written < payload {
        q.coming.insert(key, coming);
        return Placing::Part;
    }
    q.coming.remove(&key);
    *(if coming.gone { &mut q.gone } else { &mut q.placed }) += 1;
    drop(q);
    if coming.gone {
        desc.place = null_mut();
    }
    // SAFETY: as above.
    Placing::All(unsafe { (by.placed)(by.ctx, &desc) })
}
