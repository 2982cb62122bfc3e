//! Memory of the node by key: one piece for all processes of the node whose component of that name asks with the key.
//!
//! The node's daemon has the descriptors ([`oxmpi_wireup::Client::share`]); this process maps a piece once, however often it is asked for, and
//! counts. The last `node_memory_free` unmaps it and gives the key up; what is left when the instance ends goes
//! then.

use super::caller::caller;
use crate::objects::Instance;
use crate::services::exchange::exchange_key;
use crate::services::pieces::Piece;
use oxmpi_mca::{NodeMemory, Status, StrRef};
use oxmpi_wireup::ErrorKind;
use oxmpi_wireup::mapping::{self, Mapping};
use std::collections::hash_map::Entry;
use std::ffi::c_void;

impl Instance {
    /// Memory of the node with that key, mapped at the first call and counted at each. `MISMATCH`: it has another
    /// size.
    fn node_memory(&self, key: String, bytes: u64) -> Result<NodeMemory, Status> {
        let mut all = self.node_memories().0.lock();
        let (piece, first) = match all.entry(key) {
            Entry::Occupied(known) if known.get().bytes != bytes => return Err(Status::MISMATCH),
            Entry::Occupied(known) => (known.into_mut(), false),
            Entry::Vacant(place) => {
                let (mapping, first) = self.new_node_memory(place.key(), bytes)?;
                (place.insert(Piece { mapping, bytes, asked: 0 }), first)
            }
        };
        piece.asked += 1;
        Ok(NodeMemory { base: piece.mapping.base(), bytes, first: first.into(), reserved: 0 })
    }

    /// Gets memory of the node from the daemon and maps it. Returns the mapping, and whether this process is the first
    /// of the node to ask.
    fn new_node_memory(&self, key: &str, bytes: u64) -> Result<(Mapping, bool), Status> {
        let say = |why: &str| {
            self.logger()
                .error(oxmpi_loading::log::HOST, &format!("memory of the node by the key {key:?}: {why}"));
        };
        let (memory, first) = self.client().share(key, bytes).map_err(|why| match why.kind {
            ErrorKind::OtherSize => Status::MISMATCH,
            ErrorKind::TooLarge => Status::BAD_PARAM,
            _ => {
                say(&why.message);
                Status::OUT_OF_MEMORY
            }
        })?;
        // Pages that others have made already are not asked for again.
        let there = rustix::fs::fstat(&memory).map_or(0, |stat| stat.st_blocks as u64 * 512);
        let enough = mapping::check_free_memory(bytes.saturating_sub(there));
        enough
            .and_then(|()| Mapping::new(&memory, bytes, (0, bytes)))
            .map(|mapping| (mapping, first))
            .map_err(|why| {
                say(&why);
                self.client().give_up(key);
                Status::OUT_OF_MEMORY
            })
    }

    /// Counts one user of a key's memory less; unmaps it and gives the key up with the last. `NOT_FOUND`: nobody uses
    /// it.
    fn free_node_memory(&self, key: String) -> Status {
        let mut all = self.node_memories().0.lock();
        let Entry::Occupied(mut piece) = all.entry(key) else { return Status::NOT_FOUND };
        piece.get_mut().asked -= 1;
        if piece.get().asked == 0 {
            let (key, piece) = piece.remove_entry();
            drop(piece);
            self.client().give_up(&key);
        }
        Status::OK
    }

    /// Unmaps all memory of the node that components have left.
    pub(crate) fn end_node_memory(&self) {
        for (key, piece) in self.node_memories().0.lock().drain() {
            drop(piece);
            self.client().give_up(&key);
        }
    }
}

/// The key of a component's memory: framework, name and the component's own key. `None`: that is not UTF-8.
fn full_key(ctx: &crate::objects::ComponentCtx, key: StrRef) -> Option<String> {
    // SAFETY: the component's text is readable during the call.
    let key = unsafe { key.get() }?;
    Some(format!("{}/{key}", exchange_key(ctx)))
}

/// Maps memory of the node by key, and writes where it is to `out`; in the table as `HostServices::node_memory`.
pub(super) extern "C" fn node_memory(
    ctx: *mut c_void,
    key: StrRef,
    bytes: u64,
    out: *mut NodeMemory,
) -> Status {
    let (ctx, instance) = caller!(ctx);
    let Some(key) = full_key(ctx, key).filter(|_| bytes > 0) else { return Status::BAD_PARAM };
    match instance.node_memory(key, bytes) {
        Ok(memory) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = memory };
            Status::OK
        }
        Err(status) => status,
    }
}

/// Ends one use of memory of the node; in the table as `HostServices::node_memory_free`.
pub(super) extern "C" fn node_memory_free(ctx: *mut c_void, key: StrRef) -> Status {
    let (ctx, instance) = caller!(ctx);
    full_key(ctx, key).map_or(Status::BAD_PARAM, |key| instance.free_node_memory(key))
}
