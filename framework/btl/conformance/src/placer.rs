//! The layer as it places payload, for one rank: it names memory, and is a witness of what is written there.

use crate::host::{FakeHost, Row, receive};
use crate::places::{CLAIMED_TAG, Coming, HEADER, MARGIN, UNWRITTEN};
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, ClaimOf, PlaceBy, PlaceDesc, cap};
use oxmpi_mca::host::receive as answer;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{RecvDesc, Status};
use oxmpi_testing::held;

/// Hands the functions of a row to a transport that places.
pub(crate) fn place_by(btl: &BtlHandle, row: &Row) -> Status {
    if !btl.can(cap::PLACES) {
        return Status::NOT_SUPPORTED;
    }
    let ctx = core::ptr::from_ref(row).cast_mut().cast();
    let claim = Some(claim as ClaimOf);
    let by = PlaceBy { size: size_of::<PlaceBy>() as u32, tag: row.tag.into(), place_of, placed, ctx, claim };
    // SAFETY: rows stay as long as the component; it is called before the first progress, or is a violation.
    unsafe { (btl.place_by)(btl.state, &by) }
}

/// The row and its host.
fn of_row<'a>(ctx: *mut c_void) -> (&'a Row, &'a FakeHost) {
    // SAFETY: rows name their host; both live as long as the component.
    unsafe {
        let row = &*ctx.cast::<Row>();
        (row, &*row.host)
    }
}

extern "C" fn place_of(ctx: *mut c_void, desc: *mut PlaceDesc) -> u32 {
    // SAFETY: the component's, for the call.
    let (place, desc) = (of_row(ctx), unsafe { &mut *desc });
    let (row, host) = place;
    let Some(start) = beginning(place, desc) else { return 0 };
    let (msg, claims) = (&desc.message, row.tag == CLAIMED_TAG);
    let mut all = held(&host.places.coming);
    let known = all.get(&(msg.proc, msg.ctx)).map_or(0, |coming| coming.name);
    if msg.link != if claims { known } else { 0 } {
        host.violation(format!("the place of a message of tag {} was asked for by another name", row.tag));
        return 0;
    }
    if claims && msg.link == 0 {
        return 0;
    }
    // A message that begins anew, because its connection broke, goes to the same memory.
    let coming =
        all.entry((msg.proc, msg.ctx)).or_insert_with(|| Coming::new(start.to_vec(), msg.len as usize, 0));
    if !coming.is(start, msg.len as usize) {
        host.violation("the place of another message was asked for before one had come".into());
        return 0;
    }
    coming.asked += 1;
    if coming.left.is_none() && coming.asked > 1 && host.places.go_away.load(Ordering::Relaxed) {
        coming.left = Some(coming.memory.clone());
    }
    desc.header = start.len() as u64;
    desc.place = coming.memory.as_mut_ptr();
    coming.left.is_none().into()
}

/// The beginning of a message whose place is asked for. `None`: it may not be.
fn beginning<'a>((row, host): (&Row, &FakeHost), desc: &PlaceDesc) -> Option<&'a [u8]> {
    let msg = &desc.message;
    if !host.is_in_progress(msg.ctx) {
        host.violation(format!(
            "the place of tag {} was asked for outside progress of context {}",
            row.tag, msg.ctx
        ));
    }
    if desc.there > msg.len || desc.there < msg.len.min(HEADER as u64) {
        host.violation(format!(
            "the place of a message of {} was asked for with {} bytes",
            msg.len, desc.there
        ));
        return None;
    }
    // SAFETY: so many bytes are readable during the call.
    Some(unsafe { core::slice::from_raw_parts(msg.data, HEADER.min(desc.there as usize)) })
}

extern "C" fn claim(ctx: *mut c_void, desc: *mut PlaceDesc) -> u32 {
    // SAFETY: the component's, for the call.
    let (place, desc) = (of_row(ctx), unsafe { &mut *desc });
    let (row, host) = place;
    let Some(start) = beginning(place, desc) else { return 0 };
    if row.tag != CLAIMED_TAG {
        return 0;
    }
    let msg = &mut desc.message;
    let name = 7 + host.places.claimed.fetch_add(1, Ordering::Relaxed);
    let mut coming = Coming::new(start.to_vec(), msg.len as usize, name);
    coming.asked = 1;
    (desc.header, desc.place, msg.link) = (start.len() as u64, coming.memory.as_mut_ptr(), name);
    if held(&host.places.coming).insert((msg.proc, msg.ctx), coming).is_some() {
        host.violation("a message was claimed before another one had come".into());
    }
    1
}

extern "C" fn placed(ctx: *mut c_void, desc: *const PlaceDesc) -> u32 {
    let (row, host) = of_row(ctx);
    // SAFETY: the component's, for the call.
    let desc = unsafe { &*desc };
    let msg = &desc.message;
    let Some(coming) = held(&host.places.coming).remove(&(msg.proc, msg.ctx)) else {
        host.violation(format!("a message of tag {} came to a place that nobody had named", row.tag));
        return answer::CONTINUE;
    };
    let Coming { mut start, mut memory, left, name, .. } = coming;
    if msg.link != name {
        host.violation(format!("a message of tag {} came to its place by another name", row.tag));
    }
    if left.is_some_and(|left| left != memory) {
        host.violation("a place was written that had gone".into());
    }
    if memory.split_off(memory.len() - MARGIN).iter().any(|&b| b != UNWRITTEN) {
        host.violation("bytes were written behind a place".into());
    }
    if desc.place.is_null() {
        host.places.gone.fetch_add(1, Ordering::Relaxed);
        return answer::CONTINUE;
    }
    host.places.placed.fetch_add(1, Ordering::Relaxed);
    start.append(&mut memory);
    receive(ctx, &RecvDesc { data: start.as_ptr(), len: start.len() as u64, link: 0, ..*msg })
}
