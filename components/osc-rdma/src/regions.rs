//! Memory that is attached to a dynamic window (MPI 5.0 §12.2.5).
//!
//! Each rank has a list of regions in its state words, and a version in front of it that is odd while the list changes. An origin keeps what it
//! has read; before each operation it looks at the version, and reads the list anew if that has changed, until the version is even and the
//! same before and behind. Handles are in the list, so memory that is attached again is never reached by an old one.

use crate::call::Call;
use crate::create::Ways;
use crate::local::Registered;
use crate::peer::{Peer, held};
use crate::shelf::Shelf;
use crate::wire::{Region, word};
use core::sync::atomic::fence;
use oxmpi_btl::access;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What this rank has attached, in the order of the list that peers read.
#[derive(Default)]
pub struct Attached(Mutex<Vec<(Region, Vec<Registered>)>>);

impl Attached {
    pub fn attach(&self, ways: &Ways, shelf: &Shelf, base: *mut u8, bytes: u64) -> Status {
        let at = base.expose_provenance() as u64;
        let Some(end) = at.checked_add(bytes) else { return Status::RMA_ATTACH };
        let mut all = held(&self.0);
        let overlaps = |r: &Region| at < r.base + r.bytes && r.base < end || at == r.base;
        if all.iter().any(|(region, _)| overlaps(region)) || all.len() as u64 == shelf.layout.max_regions {
            return Status::RMA_ATTACH;
        }
        const REACHED: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        match ways.register(base, bytes, REACHED) {
            Ok((ways, registered)) => all.push((Region { base: at, bytes, ways }, registered)),
            Err(_) => return Status::RMA_ATTACH,
        }
        publish(shelf, &all, all.len() - 1);
        Status::OK
    }

    pub fn detach(&self, shelf: &Shelf, base: *mut u8) -> Status {
        let mut all = held(&self.0);
        let Some(i) = all.iter().position(|(region, _)| region.base == base.addr() as u64) else {
            return Status::RMA_ATTACH;
        };
        let gone = all.swap_remove(i);
        publish(shelf, &all, i);
        // Nobody finds it any more; now nobody reaches it any more.
        drop(gone);
        Status::OK
    }
}

/// Tells peers of a change of the list: how long it is, and the region that is new in its place, if that is not behind the end.
fn publish(shelf: &Shelf, all: &[(Region, Vec<Registered>)], changed: usize) {
    let words = shelf.words(shelf.member);
    let word = |at: u64| {
        // SAFETY: this rank's state words.
        unsafe { &*words.add(at as usize) }
    };
    let version = word(word::REGIONS_VERSION);
    version.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    let list: *mut Region =
        words.cast::<u8>().wrapping_add(shelf.layout.region(0) as usize).cast_mut().cast();
    if let Some((region, _)) = all.get(changed) {
        // SAFETY: `attach` keeps the number within the layout. Those who read it meanwhile see an odd version.
        unsafe { list.add(changed).write_volatile(*region) };
    }
    word(word::REGIONS).store(all.len() as u64, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    version.fetch_add(1, Ordering::SeqCst);
}

/// Version and number of regions.
type Head = [u64; 2];

impl Call<'_> {
    /// The regions of a rank as they are now.
    pub fn regions(&self, peer: &Peer) -> Result<Arc<[Region]>, Status> {
        let layout = self.win.home.shelf.layout;
        loop {
            let head = self.read_head(peer)?;
            let (version, count) = (head[0], head[1]);
            {
                let known = held(&peer.regions);
                if known.0 == version {
                    return Ok(known.1.clone());
                }
            }
            if version & 1 == 0 && count <= layout.max_regions {
                let list = self.read_list(peer, count as usize)?;
                if self.read_head(peer)? == head {
                    *held(&peer.regions) = (version, list.clone());
                    return Ok(list);
                }
            }
            // It is being changed: soon it is not.
            (self.win.comm.services().progress)(self.win.comm.get().comm, self.thread);
        }
    }

    fn read_head(&self, peer: &Peer) -> Result<Head, Status> {
        if let (Some(version), Some(count)) =
            (peer.mapped_word(word::REGIONS_VERSION), peer.mapped_word(word::REGIONS))
        {
            let head = [version.load(Ordering::SeqCst), count.load(Ordering::SeqCst)];
            fence(Ordering::SeqCst);
            return Ok(head);
        }
        let (link, mut bytes) = (peer.link.as_ref().ok_or(Status::UNREACHABLE)?, [0; 16]);
        let at = peer.remote_words + 8 * word::REGIONS_VERSION;
        self.fetch(peer, link, at, peer.state.handle(), &mut bytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok([u64::from_ne_bytes(words[0]), u64::from_ne_bytes(words[1])])
    }

    fn read_list(&self, peer: &Peer, count: usize) -> Result<Arc<[Region]>, Status> {
        let at = self.win.home.shelf.layout.region(0);
        if !peer.words.is_null() {
            let list: *const Region = peer.words.cast::<u8>().wrapping_add(at as usize).cast();
            // SAFETY: state words of the layout; whether it was whole is seen behind.
            return Ok((0..count).map(|i| unsafe { list.add(i).read_volatile() }).collect());
        }
        let link = peer.link.as_ref().ok_or(Status::UNREACHABLE)?;
        let mut list = vec![Region { base: 0, bytes: 0, ways: [crate::wire::Way::NONE; _] }; count];
        if count > 0 {
            // SAFETY: plain bytes.
            let bytes = unsafe {
                core::slice::from_raw_parts_mut(list.as_mut_ptr().cast::<u8>(), size_of_val(&list[..]))
            };
            self.fetch(peer, link, peer.remote_words + at, peer.state.handle(), bytes)?;
        }
        Ok(list.into())
    }
}

const _: () = assert!(size_of::<AtomicU64>() == 8);
