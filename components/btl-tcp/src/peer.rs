//! A peer process: what is known of it, and where to call it.

use crate::card::PeerAddress;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use oxmpi_btl::Loss;
use oxmpi_mca::ProcName;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

/// State that all streams to a process share.
pub struct Core {
    /// Different for all that a rail has met.
    pub number: u64,
    pub proc: u32,
    pub name: ProcName,
    /// Our name is the lower one: where both sides call at once, our call is kept.
    pub first: bool,
    /// Where it is; not known as long as only it has called.
    pub route: OnceLock<Route>,
    pub loss: Loss,
    /// The host has said that it failed.
    pub failed: AtomicBool,
    /// It has said good-bye.
    pub gone: AtomicBool,
    /// It is of another job, and nobody here knows it any more.
    pub parted: AtomicBool,
    /// Index of the address at which a call was welcome last: new streams begin there.
    pub way: AtomicUsize,
    /// The rail's own network has carried a connection with it.
    pub carried: AtomicBool,
    /// Somebody has heard that the rail's own network does not reach it.
    pub told: AtomicBool,
}

impl Core {
    /// A process that has just been met, under its number.
    pub fn new(number: u64, proc: u32, name: ProcName, first: bool) -> Core {
        Core {
            number,
            proc,
            name,
            first,
            route: OnceLock::new(),
            loss: Loss::default(),
            failed: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            parted: AtomicBool::new(false),
            way: AtomicUsize::new(0),
            carried: AtomicBool::new(false),
            told: AtomicBool::new(false),
        }
    }

    /// Addresses at which it may be called, at least 1.
    pub fn addresses(&self) -> usize {
        self.route.get().map_or(1, |route| route.addresses.len())
    }

    /// It was given up, here or by the host.
    pub fn is_lost(&self) -> bool {
        self.loss.is_declared() || self.failed.load(Ordering::Acquire)
    }

    /// It has said good-bye, or was given up: nothing goes to it any more.
    pub fn is_over(&self) -> bool {
        self.is_lost() || self.gone.load(Ordering::Acquire)
    }
}

/// Where to call a process.
pub struct Route {
    pub contexts: u16,
    pub rail: u16,
    /// Best first: those of its own pair of rails before those of the others. Never empty.
    pub addresses: Vec<PeerAddress>,
}

/// The processes that a rail has met: those of its own job for good, those of others as long as an endpoint or a stream is of them.
#[derive(Default)]
pub struct Peers {
    own: HashMap<u32, Arc<Core>>,
    others: HashMap<u32, Weak<Core>>,
    /// So many others there are before those that have gone are looked for.
    sweep_at: usize,
    met: u64,
}

/// Others that are kept at least before the first look for those that have gone.
const FEW: usize = 64;

impl Peers {
    /// The process that has this index now, if it was met.
    pub fn find(&self, proc: u32) -> Option<Arc<Core>> {
        self.own.get(&proc).cloned().or_else(|| self.others.get(&proc)?.upgrade())
    }

    /// The process with this index and name; made with its number by `make` if it is new. `stays`: it is of the own job.
    pub fn core_of(
        &mut self,
        (proc, name): (u32, ProcName),
        stays: bool,
        make: impl FnOnce(u64) -> Core,
    ) -> Arc<Core> {
        let known = match stays {
            true => self.own.get(&proc).cloned(),
            false => self.others.get(&proc).and_then(Weak::upgrade),
        };
        if let Some(core) = known.filter(|core| core.name == name) {
            return core;
        }
        let core = Arc::new(make(self.met));
        self.met += 1;
        if stays {
            self.own.insert(proc, core.clone());
            return core;
        }
        if self.others.len() >= self.sweep_at {
            self.others.retain(|_, core| core.strong_count() > 0);
            self.sweep_at = (2 * self.others.len()).max(FEW);
        }
        self.others.insert(proc, Arc::downgrade(&core));
        core
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: u32) -> ProcName {
        let mut name = ProcName::default();
        name.bytes[..4].copy_from_slice(&of.to_le_bytes());
        name
    }

    fn core_of(peers: &mut Peers, proc: u32, name: ProcName, stays: bool) -> Arc<Core> {
        peers.core_of((proc, name), stays, |number| Core::new(number, proc, name, true))
    }

    /// Thousands of other jobs leave nothing behind, and those that are there are one as long as they are.
    #[test]
    fn processes_of_other_jobs_are_forgotten() {
        let mut peers = Peers::default();
        core_of(&mut peers, 3, name(3), true).gone.store(true, Ordering::Release);
        let held = core_of(&mut peers, 9, name(9), false);
        for proc in 10..10_000 {
            let other = core_of(&mut peers, proc, name(proc), false);
            assert!(Arc::ptr_eq(&other, &core_of(&mut peers, proc, name(proc), false)));
        }
        assert!(peers.others.len() <= FEW, "{} are kept", peers.others.len());
        assert!(Arc::ptr_eq(&held, &core_of(&mut peers, 9, name(9), false)));
        assert!(core_of(&mut peers, 3, name(3), true).is_over(), "one of the own job is known for good");
        // Another process, which has got the index.
        let other = core_of(&mut peers, 9, name(77), false);
        assert!(other.number != held.number && other.name == name(77));
    }
}
