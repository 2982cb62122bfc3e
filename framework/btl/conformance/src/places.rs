//! The layer as it places payload, for one rank: memory for each message that begins, and a witness of what is written there.

use crate::host::{FakeHost, Row, receive};
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, PlaceBy, PlaceDesc, cap};
use oxmpi_mca::host::receive as answer;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_mca::{RecvDesc, Status};
use oxmpi_testing::held;
use std::collections::HashMap;
use std::sync::Mutex;

/// Tags whose messages have places.
pub const PLACED_TAGS: [u8; 3] = [5, 64, 133];

/// Bytes of a message that stay in front of its place, and that lie behind the place.
const HEADER: usize = 24;
const MARGIN: usize = 64;
const UNWRITTEN: u8 = 0xcd;

/// A message that is being placed.
struct Coming {
    start: Vec<u8>,
    memory: Vec<u8>,
    /// What the memory had when it was said to be gone.
    left: Option<Vec<u8>>,
    asked: u32,
}

/// Messages that are being placed, by process and context, and how many were.
#[derive(Default)]
pub struct Places {
    coming: Mutex<HashMap<(u32, u32), Coming>>,
    /// Places go when they are asked for again.
    go_away: AtomicBool,
    placed: AtomicU64,
    gone: AtomicU64,
}

impl Places {
    /// Has places go when they are asked for again, or stay.
    pub fn let_go_away(&self, go: bool) {
        self.go_away.store(go, Ordering::Relaxed);
    }

    /// A message of a process came whole: it was one that had begun to be placed, perhaps, whose connection broke.
    pub(crate) fn forget(&self, proc: u32, ctx: u32) {
        held(&self.coming).remove(&(proc, ctx));
    }

    /// How many messages were placed, and how many went nowhere.
    pub fn count(&self) -> (u64, u64) {
        (self.placed.load(Ordering::Relaxed), self.gone.load(Ordering::Relaxed))
    }
}

/// Hands the functions of a row to a transport that places.
pub(crate) fn place_by(btl: &BtlHandle, row: &Row) -> Status {
    if !btl.can(cap::PLACES) {
        return Status::NOT_SUPPORTED;
    }
    let ctx = core::ptr::from_ref(row).cast_mut().cast();
    let by = PlaceBy { size: size_of::<PlaceBy>() as u32, tag: row.tag.into(), place_of, placed, ctx };
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
    let (row, host) = of_row(ctx);
    // SAFETY: the component's, for the call.
    let desc = unsafe { &mut *desc };
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
        return 0;
    }
    // SAFETY: so many bytes are readable during the call.
    let start = unsafe { core::slice::from_raw_parts(msg.data, HEADER.min(desc.there as usize)) };
    let mut all = held(&host.places.coming);
    // A message that begins anew, because its connection broke, goes to the same memory.
    let coming = all.entry((msg.proc, msg.ctx)).or_insert_with(|| Coming {
        start: start.to_vec(),
        memory: vec![UNWRITTEN; msg.len as usize - start.len() + MARGIN],
        left: None,
        asked: 0,
    });
    if coming.start != start || coming.memory.len() != msg.len as usize - start.len() + MARGIN {
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

extern "C" fn placed(ctx: *mut c_void, desc: *const PlaceDesc) -> u32 {
    let (row, host) = of_row(ctx);
    // SAFETY: the component's, for the call.
    let desc = unsafe { &*desc };
    let msg = &desc.message;
    let Some(coming) = held(&host.places.coming).remove(&(msg.proc, msg.ctx)) else {
        host.violation(format!("a message of tag {} came to a place that nobody had named", row.tag));
        return answer::CONTINUE;
    };
    let Coming { mut start, mut memory, left, .. } = coming;
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
    receive(ctx, &RecvDesc { data: start.as_ptr(), len: start.len() as u64, ..*msg })
}
