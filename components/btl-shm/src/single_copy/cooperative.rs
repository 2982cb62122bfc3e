//! Reads that both processes work on.
//!
//! A long read is cut into shares. The reader takes half of them and copies with `process_vm_readv`, then half
//! of what is left, and so on; it also tells the process it reads from, in a line of the ring, and that one, when
//! it next looks, takes halves of what is left, too, and copies with `process_vm_writev`. So two cores copy
//! where the source waits for its message to be read anyway, and one where it computes. Neither waits for the other
//! to begin, and both end at about the same time.
//!
//! A source that has its own messages to read comes too late, or leaves them for ours, and what both then read for
//! each other costs more calls and lines that change caches: two cores that copy cannot copy faster. So every process
//! says, in a word of its part of the segment, while it is at a long read of its own. A reader does not ask one that
//! is for help with less than [`ALONE`], and takes as much at a time of what is longer, so that whoever is done first still
//! finds something to help with. Where nobody came to several reads one after the other, the reader asks now and then only, and copies the others in
//! one call.
//!
//! **Access.** The two words lie in the reader's part of the segment. `taken` has the number of
//! the read (its *generation*) and the next share; taking one is a compare-and-swap, so that each share goes
//! to one of them, and a helper that comes when the read is over, or when the words serve the next one, finds
//! another generation and leaves. `ended` counts the shares that the helper has ended, failures above. The
//! reader waits for as many as the helper took before it says that the read is over: the words, and the
//! user's buffer, are then touched by nobody else. A helper that fails ends its share all the same; the reader
//! then reads all of it again by itself.
//!
//! **A peer is not trusted.** The helper writes nothing but its own memory's bytes into the reader's process,
//! which could have read them; an address that does not exist is the kernel's to refuse. A reader's words
//! lie in its own part of the segment.
//!
//! Model: at the end of this file (loom): shares are taken once each, also by a helper of another
//! generation.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::segment::joined::Joined;
use crate::single_copy::reads::Waiting;
use crate::single_copy::stretch::{Owner, Stretch};
use crate::single_copy::xpmem::Attachments;
use crate::sys::Direction;
use crate::wire::{ASSISTS, PER_LINE};
use core::ops::Range;
use oxmpi_btl::{Completion, RmaDesc, Vouched};
use oxmpi_mca::Status;
use oxmpi_mca::sync::{Ordering, spin_hint};

/// How often the reader looks whether the helper is done before it goes on with something else.
const PATIENCE: u32 = 2000;
/// Least bytes of a share.
const LEAST_SHARE: u64 = 32 << 10;
/// Most shares of a read.
const MOST_SHARES: u64 = 64;
/// Bytes that are read in one call from a source that is at a long read of its own; by the next call that may have
/// ended.
const ALONE: u64 = 512 << 10;

/// A reader's message to its helper.
#[derive(Clone, Copy)]
#[repr(C)]
struct Call {
    /// Address of the source in the helper's memory.
    from: u64,
    /// Address of the destination in the reader's memory.
    to: u64,
    len: u64,
    share: u64,
    index: u32,
    generation: u32,
}

impl Call {
    /// Number of shares into which the read is cut.
    fn shares(&self) -> u32 {
        self.len.div_ceil(self.share) as u32
    }
    /// Offset and length in bytes of a range of shares within the read.
    fn part(&self, shares: Range<u32>) -> (u64, u64) {
        let at = u64::from(shares.start) * self.share;
        (at, (shares.len() as u64 * self.share).min(self.len - at))
    }
}

/// True: the peer is at a long read of its own on this context. A hint: the answer may be old.
fn is_reading(joined: &Joined, peer: u32, ctx: u32) -> bool {
    joined.segment.reading(joined.place(peer), ctx).load(Ordering::Relaxed) != 0
}

impl Shm {
    /// Reads a long message from a peer's memory, together with the source process if that will help, else alone.
    /// `PENDING`: the helper still copies, and a later turn tells the end.
    pub(crate) fn read_long(
        &self,
        at: &mut At<'_>,
        owner: &Owner,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
    ) -> Status {
        let (ctx, whole) = (at.number(), Stretch::of(&rma));
        let Some(joined) = self.segment_of(owner.peer) else { return Status::UNREACHABLE };
        if ctx >= joined.segment.layout().fifos {
            // The segment has no words for such a context.
            // SAFETY: the caller's buffer is writable.
            return unsafe { self.read_alone(&mut at.attached, owner.peer, whole) };
        }
        let own = joined.segment.reading(joined.me, ctx);
        own.store(1, Ordering::Relaxed);
        let busy = whole.len <= ALONE && is_reading(&joined, owner.peer, ctx);
        let together = match busy {
            true => None,
            // SAFETY: the caller's buffer is writable until this has answered, and until its end is told where that is PENDING.
            false => unsafe { self.read_together(at, (&joined, ctx), owner, whole) },
        };
        let status = match together {
            Some(Ok(status)) => status,
            Some(Err(waiting)) => {
                at.reads.waiting.push((waiting, done));
                Status::PENDING
            }
            // SAFETY: the caller's buffer is writable.
            None => unsafe { self.read_alone(&mut at.attached, owner.peer, whole) },
        };
        own.store(0, Ordering::Relaxed);
        status
    }

    /// Reads in shares, some of which the source process takes over and writes itself. `None`: the source was not
    /// asked, so the caller reads alone. An error: the helper still copies, and [`Shm::end_reads`] ends the read.
    ///
    /// # Safety
    /// The bytes here are writable until the read has ended.
    unsafe fn read_together(
        &self,
        cx: &mut Context,
        (joined, ctx): (&Joined, u32),
        owner: &Owner,
        whole: Stretch,
    ) -> Option<Result<Status, Waiting>> {
        if !cx.reads.is_help_likely() {
            return None;
        }
        let index = cx.reads.claim()?;
        let share = whole.len.div_ceil(MOST_SHARES).max(LEAST_SHARE).next_multiple_of(4096);
        let (generation, to) = (cx.reads.generation, whole.local() as u64);
        let call = Call { from: whole.remote, to, len: whole.len, share, index, generation };
        let words = joined.segment.assist(joined.me, ctx, index);
        words.begin(generation);
        if !self.call_for_help(cx, ctx, owner.peer, &call) {
            cx.reads.free(index);
            return None;
        }
        let (mut own, mut mine) = (Ok(()), 0);
        // A source that reads takes no part yet, so there is no reason to leave it one, but it may soon.
        let most = || is_reading(joined, owner.peer, ctx).then_some((ALONE / share) as u32);
        while let Some(next) = words.take(generation, call.shares(), most()) {
            mine += next.len() as u32;
            let (at, len) = call.part(next);
            // SAFETY: a part of the bytes that are writable by the caller's promise.
            own = unsafe { self.copy(&mut cx.attached, Direction::Read, owner, whole.part(at, len)) };
            if own.is_err() {
                break;
            }
        }
        let expected = words.close(generation, call.shares()).min(call.shares()) - mine;
        cx.reads.alone = if expected == 0 { cx.reads.alone.wrapping_add(1) } else { 0 };
        let waiting = Waiting { index, expected, own, peer: owner.peer, whole };
        for _ in 0..PATIENCE {
            // SAFETY: the bytes are writable by the caller's promise.
            if let Some(status) = unsafe { self.ended(&mut cx.attached, ctx, &waiting) } {
                cx.reads.free(index);
                return Some(Ok(status));
            }
            spin_hint();
        }
        Some(Err(waiting))
    }

    /// The status of a shared read whose helper has ended all its shares; the caller frees its assist words. `None`: the helper
    /// still copies. Where the helper failed, the whole of it is read again here, without help.
    ///
    /// # Safety
    /// The bytes here are writable.
    unsafe fn ended(&self, attached: &mut Attachments, ctx: u32, read: &Waiting) -> Option<Status> {
        let Some(joined) = self.segment_of(read.peer) else { return Some(Status::UNREACHABLE) };
        let words = joined.segment.assist(joined.me, ctx, read.index);
        let well = words.all_ended(read.expected)?;
        Some(match read.own {
            Err(errno) => crate::single_copy::copy::status_of(errno),
            Ok(()) if well => Status::OK,
            Ok(()) => {
                // The helper could not write; it need not be asked again.
                self.stop_asking_for_help();
                // SAFETY: the caller's promise.
                unsafe { self.read_alone(attached, read.peer, read.whole) }
            }
        })
    }

    /// Ends the shared reads whose helpers are done, and tells so. Returns how many.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_reads(&self, at: &mut At<'_>) -> i32 {
        let (mut events, mut next, ctx) = (0, 0, at.number());
        loop {
            let Context { reads, attached, .. } = &mut **at;
            let Some((read, _)) = reads.waiting.get(next) else { break };
            // SAFETY: the end of the read has not been told, so the buffer is its caller's promise.
            let Some(status) = (unsafe { self.ended(attached, ctx, read) }) else {
                next += 1;
                continue;
            };
            // Taken out before the caller hears of it: that may begin the next read.
            let (read, done) = reads.waiting.swap_remove(next);
            reads.free(read.index);
            events += 1;
            at.complete(done, status);
        }
        events
    }

    /// Helps with a read that a peer has announced in a line of the ring: takes shares of it and writes them into the
    /// peer's memory. False: the line's `len` bytes hold no call that a peer of this version writes.
    #[inline(never)]
    pub(crate) fn help(
        &self,
        attached: &mut Attachments,
        ctx: u32,
        source: u32,
        line: &[u8; PER_LINE as usize],
        len: u64,
    ) -> bool {
        if len != size_of::<Call>() as u64 {
            return false;
        }
        // SAFETY: a line has more bytes than a call, and any bytes are one.
        let call = unsafe { line.as_ptr().cast::<Call>().read_unaligned() };
        let sane = call.share >= LEAST_SHARE
            && call.len.div_ceil(call.share) <= MOST_SHARES
            && (call.index as usize) < ASSISTS
            && call.from.checked_add(call.len).is_some()
            && call.to.checked_add(call.len).is_some();
        let Some(joined) = self.segment_of(source).filter(|_| sane) else { return false };
        let Some(who) = joined.identity(source) else { return false };
        if who.pid_namespace != self.pid_namespace() {
            // Its number means somebody else here; it reads alone.
            return true;
        }
        let (reader, whole) = (Owner { peer: source, who }, Stretch::at(call.from, call.to, call.len));
        let words = joined.segment.assist(joined.place(source), ctx, call.index);
        while let Some(shares) = words.take(call.generation, call.shares(), None) {
            let count = shares.len() as u32;
            let (at, len) = call.part(shares);
            // SAFETY: the kernel checks both addresses (or see `xpmem.rs`); nothing of ours is written.
            let wrote = unsafe { self.copy(attached, Direction::Write, &reader, whole.part(at, len)) };
            words.end(count, wrote.is_ok());
        }
        true
    }

    /// Asks the source of a read, by a line in the ring to it, to take shares of the read. False: the ring had no
    /// room.
    fn call_for_help(&self, cx: &mut Context, ctx: u32, peer: u32, call: &Call) -> bool {
        if peer >= self.ranks() && !self.meet(cx, ctx, peer) {
            return false;
        }
        // SAFETY: a call has no padding, so all its bytes have values.
        let bytes =
            unsafe { core::slice::from_raw_parts(core::ptr::from_ref(call).cast::<u8>(), size_of::<Call>()) };
        self.send_assist(cx.outgoing_mut(peer), ctx, bytes)
    }
}

const _: () = assert!(size_of::<Call>() == 40 && size_of::<Call>() <= PER_LINE as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::shares::Shares;
    use oxmpi_mca::sync::AtomicU64;

    #[test]
    fn parts_cover_a_read_once() {
        for len in [1, LEAST_SHARE, LEAST_SHARE + 1, 1 << 20, (1 << 30) + 17] {
            let share = len.div_ceil(MOST_SHARES).max(LEAST_SHARE).next_multiple_of(4096);
            let call = Call { from: 0, to: 0, len, share, index: 0, generation: 1 };
            assert!(u64::from(call.shares()) <= MOST_SHARES);
            let mut end = 0;
            let words = (AtomicU64::new(0), AtomicU64::new(0));
            let shares = Shares { taken: &words.0, ended: &words.1 };
            shares.begin(1);
            let mut takes = 0;
            while let Some(some) = shares.take(1, call.shares(), None) {
                let (at, n) = call.part(some);
                assert_eq!(at, end);
                end += n;
                takes += 1;
            }
            assert!(takes <= 7, "{takes} copies");
            assert_eq!(end, len);
        }
    }
}
