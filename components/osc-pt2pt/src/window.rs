//! The module of one window: made, duplicated, freed.

use crate::ear::Ear;
use crate::line::{Ended, carries_questions};
use crate::link::Link;
use crate::origin::post;
use crate::peer::Peer;
use crate::sizes::Sizes;
use crate::state::{Asking, Common, Core, MemoryShare};
use core::sync::atomic::AtomicU64;
use oxmpi_btl::access;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Memory, Vouched, WinDesc, flavor};
use oxmpi_osc_support::{
    Comm, Exposed, HANDLE, Registered, Registrar, RemoteRegistration, Services, TRANSPORTS, spokesmen,
    transports,
};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Pt2ptWindow(pub Arc<Core>);

impl Pt2ptWindow {
    pub fn create(
        common: &Arc<Common>,
        entry: &mut Entry,
        desc: Vouched<'_, WinDesc>,
    ) -> Result<Pt2ptWindow, Status> {
        // SAFETY: the host's description of a communicator, which is valid until the window is freed.
        let link = Link { comm: unsafe { Comm::new(common.host, desc.comm) } };
        let exposed = match desc.flavor {
            flavor::DYNAMIC => Exposed::dynamic(),
            // SAFETY: the window's memory, which stays until the last window on it is freed.
            _ => unsafe { Exposed::whole(Memory { base: desc.base.expose_provenance(), bytes: desc.bytes }) },
        };
        let exposed = Arc::new(Mutex::new(exposed));
        let listening = Listening::begin(&link, common, &exposed);
        let mut told = Sizes::differing(&desc);
        let sizes = told.len();
        told.push(common.settings.message as u64);
        told.extend(listening.words());
        let all = tell_all(&link, entry, &told)?;
        let rooms = all.iter().skip(sizes).step_by(told.len());
        let peers = rooms.map(|room| Peer::new(*room as usize)).collect();
        let asking = listening.with_others(entry, &all, told.len());
        let shared = MemoryShare { exposed, sizes: Arc::new(Sizes::of(&desc, &all, told.len())) };
        Pt2ptWindow::of(Core::new(common.clone(), link, &desc, shared, asking, peers), entry)
    }

    /// Another window on the memory of this one; what its ranks have is known, but for where they listen.
    pub fn duplicate(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Pt2ptWindow, Status> {
        let first = &*self.0;
        // SAFETY: the host's description of a communicator, which is valid until the new window is freed.
        let link = Link { comm: unsafe { Comm::new(first.common.host, desc.comm) } };
        let peers = first.look().peers.iter().map(|peer| Peer::new(peer.room)).collect();
        let listening = Listening::begin(&link, &first.common, &first.exposed);
        let told = listening.words();
        let all = tell_all(&link, entry, &told)?;
        let asking = listening.with_others(entry, &all, told.len());
        let shared = MemoryShare { exposed: first.exposed.clone(), sizes: first.sizes.clone() };
        Pt2ptWindow::of(Core::new(first.common.clone(), link, &desc, shared, asking, peers), entry)
    }

    fn of(core: Core, entry: &mut Entry) -> Result<Pt2ptWindow, Status> {
        let made = Pt2ptWindow(Arc::new(core));
        let listens = made.listen(entry);
        let status = listens.err().unwrap_or_else(|| made.0.common.enlist(made.0.clone()));
        if status.is_err() {
            made.vanish(entry);
            return Err(status);
        }
        Ok(made)
    }

    /// Posts the receives of records.
    fn listen(&self, entry: &mut Entry) -> Result<(), Status> {
        let mut locked = self.0.enter(entry);
        for _ in 0..self.0.common.settings.receives {
            let posted = post(&self.0, locked.entry, Vec::new())?;
            locked.posted.push_back(posted);
        }
        Ok(())
    }

    /// Nothing of the window is used any more. Messages that are still on their way keep their buffers.
    pub fn vanish(&self, entry: &mut Entry) {
        self.0.common.strike(&self.0);
        // Nobody is heard any more behind this.
        self.0.asking.registered.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.0.asking.ended.close();
        let (posted, transfers) = {
            let mut state = self.0.look();
            (core::mem::take(&mut state.posted), core::mem::take(&mut state.transfers))
        };
        // Waits, so nothing is locked.
        posted.into_iter().for_each(|posted| self.0.link.cancel(entry, posted.pending));
        core::mem::forget(transfers);
    }
}

/// Tells all ranks some words, and learns theirs.
fn tell_all(link: &Link, entry: &mut Entry, told: &[u64]) -> Result<Vec<u64>, Status> {
    let mut all = vec![0u64; told.len() * link.comm.num_ranks() as usize];
    let status = link.comm.allgather(entry, told, &mut all);
    if status.is_err() { Err(status) } else { Ok(all) }
}

/// Words of a registration as it is told.
const WORDS: usize = size_of::<RemoteRegistration>() / 8;

/// This rank's listener, before others know of it.
struct Listening {
    /// Before what listens there: they go first.
    registered: Vec<Registered>,
    ear: Box<Ear>,
    registrations: [RemoteRegistration; TRANSPORTS],
}

impl Listening {
    /// Listens by all transports that carry questions; by none where one of them has no room for a registration.
    fn begin(link: &Link, common: &Common, exposed: &Arc<Mutex<Exposed>>) -> Listening {
        let comm = &link.comm;
        let ear = Box::new(Ear::new(exposed.clone(), comm.num_ranks()));
        let (registrations, registered) = match common.settings.asks {
            true => Listening::register(comm, &ear).unwrap_or_default(),
            false => Default::default(),
        };
        let registrations = registrations.unwrap_or([RemoteRegistration::NONE; TRANSPORTS]);
        Listening { ear, registered, registrations }
    }

    fn register(
        comm: &Comm,
        ear: &Ear,
    ) -> Result<(Option<[RemoteRegistration; TRANSPORTS]>, Vec<Registered>), Status> {
        // SAFETY: the host's services live as long as the instance, and so longer than a window.
        let services = unsafe { Services::new(comm.get().btl) };
        let transports = transports(comm, &spokesmen(comm), carries_questions)?;
        let (at, len) = ear.place();
        // SAFETY: a part of the listener, which goes behind its registrations (`Asking`).
        let (registrations, registered) =
            unsafe { Registrar { services, transports }.register(at, len, access::REMOTE_READ) }?;
        for one in &registered {
            // SAFETY: it is in its box, and goes behind its registrations.
            unsafe { one.listen(&raw const *ear) }?;
        }
        Ok((Some(registrations), registered))
    }

    fn words(&self) -> Vec<u64> {
        let words = |one: &RemoteRegistration| {
            let handle = one.handle.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
            core::iter::once(one.module).chain(handle).collect::<Vec<_>>()
        };
        self.registrations.iter().flat_map(words).collect()
    }

    /// With the registrations that ranks have told, each at the end of its `stride` words.
    fn with_others(self, entry: &Entry, all: &[u64], stride: usize) -> Asking {
        let told = all.chunks_exact(stride).map(|told| &told[stride - TRANSPORTS * WORDS..]);
        let theirs: Vec<Vec<RemoteRegistration>> = told
            .map(|words| {
                words.chunks_exact(WORDS).map(registration_of).filter(|one| one.module != 0).collect()
            })
            .collect();
        let each = theirs.iter().map(Vec::len).max().unwrap_or(0);
        let padded = |mut some: Vec<RemoteRegistration>| {
            some.resize(each, RemoteRegistration::NONE);
            some
        };
        Asking {
            ear: self.ear,
            registered: Mutex::new(self.registered),
            registrations: theirs.into_iter().flat_map(padded).collect(),
            each,
            cri: entry.context().map_or(0, |thread| thread.cri),
            contexts: AtomicU64::new(0),
            ended: Arc::new(Ended::default()),
        }
    }
}

fn registration_of(words: &[u64]) -> RemoteRegistration {
    let mut handle = [0; HANDLE];
    for (to, word) in handle.as_chunks_mut().0.iter_mut().zip(&words[1..]) {
        *to = word.to_ne_bytes();
    }
    RemoteRegistration { module: words[0], handle }
}
