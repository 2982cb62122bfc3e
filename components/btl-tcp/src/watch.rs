//! Failures of processes that the host tells of: streams to them end at once, and with them the wait for acknowledgements of payload that is kept.
//!
//! Without that a message whose payload is kept (`kept.rs`) would end when the process has been out of reach for as long as one may be
//! (`btl_tcp_retry_timeout`), though its sender knows since long that it is dead.

use crate::door::Doors;
use crate::peer::Peers;
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_mca::{Host, Status};
use std::sync::{Arc, Mutex, Weak};

/// A subscription to the host's failures, for one rail.
pub struct Watch(&'static Watched);

/// State of a subscription, which stays: a call may still run when it has ended.
struct Watched {
    peers: Weak<Mutex<Peers>>,
    doors: Weak<Doors>,
    rail: u16,
}

impl Watch {
    /// Subscribes.
    pub fn begin(host: &Host, peers: &Arc<Mutex<Peers>>, doors: &Arc<Doors>, rail: u16) -> Watch {
        let watched = Watched { peers: Arc::downgrade(peers), doors: Arc::downgrade(doors), rail };
        let watch = Watch(Box::leak(Box::new(watched)));
        let status = (host.services().on_peer_failure)(host.table().instance, failed, watch.ctx());
        if status.is_err() {
            host.debug(&format!("failures of processes are not told: {status}"));
        }
        watch
    }

    /// Ends it.
    pub fn end(&self, host: &Host) {
        // Where it did not begin there is none.
        let _ = (host.services().off_peer_failure)(host.table().instance, failed, self.ctx());
    }

    fn ctx(&self) -> *mut c_void {
        core::ptr::from_ref(self.0).cast_mut().cast()
    }
}

/// The host's callback: the contexts shut their streams to the process in their next turn.
extern "C" fn failed(ctx: *mut c_void, proc: u32, _: Status) {
    // SAFETY: the state of a subscription, which stays.
    let watched = unsafe { &*ctx.cast::<Watched>() };
    let (Some(peers), Some(doors)) = (watched.peers.upgrade(), watched.doors.upgrade()) else { return };
    let core = peers.lock().unwrap_or_else(|poison| poison.into_inner()).find(proc);
    if let Some(core) = core {
        core.failed.store(true, Ordering::Release);
        doors.ring(watched.rail);
    }
}
