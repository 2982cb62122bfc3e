//! Files opened, closed and deleted (MPI 5.0 §14.2), by all ranks of a communicator together.
//!
//! **Opening** takes three exchanges. First all tell each other what they ask for, and rank 0 names the component and its hints: what is wrong with that leaves the file system as it
//! was, and no rank touches the file before all have come, so that what a rank has done before (it may have deleted a file of that name) is done. Then rank 0 opens, and creates where
//! that is asked for, so exactly one process does and MPI_MODE_EXCL means what it says. When the others have heard of that they open what is there now; then all tell each other
//! whether that went well, and what their file systems keep. A failure anywhere is everybody's, and closes what was opened.
//!
//! **Closing** waits for all ranks before it closes, so that whatever a rank still does with the file is done before it is deleted or its shared pointer goes to another file.

use super::hints;
use super::layout::{Ground, Layout, Wishes, allowed_here};
use super::locks::Locks;
use super::object::{File, State};
use super::pointer::{OFFER, Offer};
use super::presence::{Known, Place, Presence};
use super::serve::{self, Manner, OnDisk, Rated};
use super::totals::FileTotals;
use super::view_data::ViewData;
use crate::info::Info;
use crate::objects::{Communicator, FileParts, Instance};
use oxmpi_fcoll::FcollFacts;
use oxmpi_files::hints::Hints;
use oxmpi_fs::{error::system, keeps, mode};
use oxmpi_loading::accept::{FcollComponent, FsComponent};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_mca::{Entry, Status};
use oxmpi_system::locks::Mutex;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Words of a component's name in the first exchange.
const NAME: usize = 4;
/// Words of the first exchange: class, mode, name, wishes, what a list of hosts allows here, whether a line is printed at the end, offer.
const FIRST: usize = 2 + NAME + Wishes::WORDS + 2 + OFFER;
/// Words of the last one: class, what is kept, block, bytes and devices of a stripe.
const LAST: usize = 5;

/// All that MPI_File_open was asked for.
pub struct Wanted<'a> {
    /// The name, perhaps with a prefix.
    pub name: &'a [u8],
    /// Bits of `oxmpi_fs::mode`; one that MPI permits.
    pub amode: u32,
    /// Hints.
    pub info: &'a Info,
}

/// The manner in which hints want a file to be opened.
pub(super) fn how(mode: u32, hints: &Hints) -> Manner {
    let small = |key| hints.number(key).and_then(|n| u32::try_from(n).ok());
    let how = Manner {
        mode,
        permissions: hints.permissions().unwrap_or(0o666),
        striping_factor: small("striping_factor").unwrap_or(0),
        striping_unit: hints.number("striping_unit").unwrap_or(0),
        first_device: small("start_iodevice").map_or(0, |n| n.saturating_add(1)),
        direct_read: hints.flag("direct_read") == Some(true),
        direct_write: hints.flag("direct_write") == Some(true),
        reads_too: false,
    };
    if hints.sieve_writes() { how.sieved() } else { how }
}

/// All that rank 0 has opened, and whether it was made by that.
struct Made {
    disk: OnDisk,
    created: bool,
}

/// Opens as the creating rank.
fn open_first(known: &Known, component: &FsComponent, how: &Manner) -> Result<Made, Error> {
    let plain = Manner { mode: how.mode & !(mode::CREATE | mode::EXCL), ..*how };
    if how.mode & mode::CREATE == 0 {
        if how.mode & mode::EXCL != 0 && known.path.exists() {
            return Err(super::error::of(system(libc::EEXIST), "opened", &known.path));
        }
        return Ok(Made { disk: known.open(component, &plain)?, created: false });
    }
    let alone = Manner { mode: how.mode | mode::EXCL, ..*how };
    match known.open(component, &alone) {
        Ok(disk) => Ok(Made { disk, created: true }),
        Err(why) if why.kind == ErrorKind::FileExists && how.mode & mode::EXCL == 0 => {
            Ok(Made { disk: known.open(component, &plain)?, created: false })
        }
        Err(why) => Err(why),
    }
}

/// A name in words; what is longer than they hold is refused by whoever looks for it.
fn name_words(name: &str) -> [u64; NAME] {
    let mut bytes = [0u8; NAME * 8];
    let n = name.len().min(bytes.len());
    bytes[..n].copy_from_slice(&name.as_bytes()[..n]);
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

/// The first rank that has told a class, as this rank's error.
fn told_failure(path: &Path, ranks: &[&[u64]]) -> Option<Error> {
    let (rank, class) = ranks.iter().enumerate().find_map(|(rank, words)| {
        let class = *words.first()?;
        (class != 0).then_some((rank, class))
    })?;
    let kind = ErrorKind::of_class(class as i32).unwrap_or(ErrorKind::Other);
    Some(Error::new(kind, format!("{} cannot be opened in rank {rank}", path.display())))
}

impl File {
    /// MPI_File_open of all ranks of `parent`. `wanted`: what this rank asks for, or what is wrong with that; ranks fail together.
    pub fn open(
        parent: &Communicator,
        entry: &mut Entry,
        wanted: Result<Wanted<'_>, Error>,
    ) -> Result<Arc<File>, Error> {
        let comm = parent.dup(None)?;
        let instance = comm.shared_instance().clone();
        let hosts = comm.rank() == 0;
        let (amode, hints) = wanted
            .as_ref()
            .map_or_else(|_| (0, Hints::default()), |w| (w.amode, hints::of(&instance, comm.rank(), w.info)));
        let first = wanted.as_ref().map_err(Clone::clone).and_then(|wanted| {
            let parts = instance.file_parts()?;
            let known = Known::of(wanted.name, parts)?;
            let component = known.serving_component(parts)?;
            Ok((parts, known, component))
        });
        let offer = Offer::new(&comm);
        let mut own = vec![first.as_ref().err().map_or(0, |why| why.class() as u64), u64::from(amode)];
        own.extend(name_words(first.as_ref().map_or("", |(_, _, component)| component.name)));
        own.extend(Wishes::of(&hints, instance.host_params().files).encode());
        own.push(allowed_here(&hints, &instance.processor_name()));
        own.push(instance.host_params().files.timing.into());
        own.extend(offer.encode());
        debug_assert_eq!(own.len(), FIRST);
        let all = comm.tell_all(entry, &own)?;
        let ranks: Vec<&[u64]> = all.chunks(FIRST).collect();
        let (parts, known, component) = first?;
        if let Some(why) = told_failure(&known.path, &ranks) {
            return Err(why);
        }
        if let Some(rank) = ranks.iter().position(|theirs| theirs[1] != ranks[0][1]) {
            let message = format!("{}: ranks 0 and {rank} gave different access modes", known.path.display());
            return Err(Error::new(ErrorKind::NotSame, message));
        }
        let made = hosts.then(|| open_first(&known, component, &how(amode, &hints))).transpose();
        let all = comm.tell_all(entry, &[made.as_ref().err().map_or(0, |why| why.class() as u64)])?;
        let made = made?;
        if let Some(why) = told_failure(&known.path, &all.chunks(1).collect::<Vec<_>>()) {
            return Err(why);
        }
        let created = made.as_ref().is_some_and(|made| made.created);
        let undo = |why: Error| {
            if created {
                let _ = serve::delete(component, &known.path);
            }
            Err(why)
        };
        let wishes = Wishes::decode(&ranks[0][2 + NAME..]);
        let allowed: Vec<u64> = ranks.iter().map(|t| t[FIRST - OFFER - 2]).collect();
        let opens = hosts || !wishes.defers() || transfers_for_others(wishes, &comm, &allowed);
        let serving = serving(parts, &known, ranks[0]);
        let second = serving.and_then(|serving| {
            let how = how(amode & !(mode::CREATE | mode::EXCL), &hints);
            let how = if wishes.sieves() { how.sieved() } else { Manner { reads_too: false, ..how } };
            let place = Place { known: known.clone(), component: *serving, how };
            let here = opens.then(|| open_here(&instance, &place, made)).transpose()?;
            Ok((place, here))
        });
        let own = match &second {
            Ok((_, Some(here))) => {
                let facts = &here.disk.facts;
                [0, facts.keeps.into(), facts.block, facts.striping_unit, facts.striping_factor.into()]
            }
            Ok((_, None)) => [0, u64::MAX, 0, 0, 0],
            Err(why) => [why.class() as u64, 0, 0, 0, 0],
        };
        let all = comm.tell_all(entry, &own)?;
        let told: Vec<&[u64]> = all.chunks(LAST).collect();
        let failed = told_failure(&known.path, &told);
        let (place, here) = match (second, failed) {
            (Ok(opened), None) => opened,
            (Err(why), _) | (Ok(_), Some(why)) => return undo(why),
        };
        let ground = Ground {
            block: told.iter().map(|t| t[2]).max().unwrap_or(1).max(1),
            stripe: told.iter().map(|t| t[3]).max().unwrap_or(0),
            keeps: told.iter().fold(u32::MAX, |kept, t| kept & t[1] as u32),
        };
        let striping = (told.iter().map(|t| t[4]).max().unwrap_or(0), ground.stripe);
        let layout = Layout::new(wishes, &comm, ground, &allowed);
        let collective = choose_collective(parts, &comm, &layout, ground.keeps, &known.path)?;
        let offers: Vec<[u64; OFFER]> =
            ranks.iter().map(|t| std::array::from_fn(|at| t[FIRST - OFFER + at])).collect();
        let pointer = offer.settle(&comm, entry, &offers)?;
        let state = State {
            view: Arc::new(ViewData::bytes(&instance)),
            position: 0,
            hints,
            layout: Arc::new(layout),
            split: None,
            left: Vec::new(),
        };
        let locks = Locks::new(ground.keeps, comm.places().num_nodes());
        let file = Arc::new(File {
            comm,
            path: known.path,
            amode,
            place,
            presence: here.map_or_else(OnceLock::new, |here| OnceLock::from(Arc::new(here))),
            keeps: ground.keeps,
            striping,
            collective,
            pointer,
            locks,
            atomic: AtomicBool::new(false),
            sieves: AtomicBool::new(wishes.sieves()),
            totals: FileTotals::default(),
            tells: ranks[0][FIRST - OFFER - 1] != 0,
            state: Mutex::new(state),
            under_way: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        });
        instance.remember_file(&file);
        instance.files().counts.opened.fetch_add(1, Ordering::Relaxed);
        file.to_the_end(entry)?;
        Ok(file)
    }

    /// Sets the pointers to the end, where MPI_MODE_APPEND asks for that; called by all ranks.
    fn to_the_end(&self, entry: &mut Entry) -> Result<(), Error> {
        if self.amode & mode::APPEND == 0 {
            return Ok(());
        }
        // Rank 0 has opened it, and tells the others.
        let length = match self.comm.rank() {
            0 => self.presence_or_status().and_then(|here| here.disk.length()),
            _ => Ok(0),
        };
        let told = self.comm.tell_all(entry, &[length.as_ref().map_or(0, |length| *length)])?;
        self.state.lock().position = told.first().copied().unwrap_or(0);
        let set = match length {
            Ok(length) if self.comm.rank() == 0 => self.pointer.store(entry, length),
            Ok(_) => Status::OK,
            Err(status) => status,
        };
        let status = self.comm.least(entry, set)?;
        if status.is_err() { Err(self.failure(status, "opened at its end")) } else { Ok(()) }
    }

    /// MPI_File_close of all ranks. The file is closed in this process whatever it answers, unless operations are under way.
    pub fn close(&self, entry: &mut Entry) -> Result<(), Error> {
        self.finish_left(entry);
        if self.state.lock().split.is_some() || self.under_way.load(Ordering::Acquire) > 0 {
            let message = format!("{}: operations of the file are not complete", self.path.display());
            return Err(Error::new(ErrorKind::Other, message));
        }
        let synced = match self.presence.get() {
            Some(here) if self.keeps & keeps::COHERENT == 0 && self.amode & mode::RDONLY == 0 => {
                here.disk.sync()
            }
            _ => Status::OK,
        };
        let status = self.comm.least(entry, synced)?;
        self.tell_totals(entry);
        let closed = self.close_here();
        let mut outcome = [status, closed].into_iter().find(|status| status.is_err());
        if self.amode & mode::DELETE_ON_CLOSE != 0 {
            // Rank 0 deletes what all have closed.
            self.comm.least(entry, Status::OK)?;
            let deleted = match self.comm.rank() {
                0 => serve::delete(&self.place.component, &self.path),
                _ => Status::OK,
            };
            let told = self.comm.least(entry, deleted)?;
            outcome = outcome.or(told.is_err().then_some(told));
        }
        match outcome {
            Some(status) => Err(self.failure(status, "closed")),
            None => Ok(()),
        }
    }
}

/// The component that rank 0 names, which serves the file in all ranks.
fn serving<'a>(parts: &'a FileParts, known: &Known, host: &[u64]) -> Result<&'a FsComponent, Error> {
    let named = parts.fss.iter().find(|c| name_words(c.name)[..] == host[2..2 + NAME]);
    named.ok_or_else(|| {
        let message =
            format!("{}: rank 0 serves it by an fs component that is not here", known.path.display());
        Error::new(ErrorKind::Unsupported, message)
    })
}

/// Whether this rank transfers for others, whatever the unit will be by which they part the file.
fn transfers_for_others(wishes: Wishes, comm: &Communicator, allowed: &[u64]) -> bool {
    let any = Ground { block: 1, stripe: 0, keeps: 0 };
    Layout::new(wishes, comm, any, allowed).told().0.contains(&comm.rank())
}

/// All that a rank has of a file: opened, and prepared for transfers. Rank 0 has opened it before.
fn open_here(instance: &Instance, place: &Place, made: Option<Made>) -> Result<Presence, Error> {
    let path = &place.known.path;
    let disk = match made {
        Some(made) => made.disk,
        None => place.open().map_err(|status| super::error::of(status, "opened", path))?,
    };
    let here = place.prepare(instance, disk);
    here.map_err(|status| super::error::of(status, "served by any fbtl component", path))
}

/// The answer of each component that plans collective accesses, for a file of so many ranks and nodes; all ranks find the same.
pub(super) fn rate_collective<'a>(
    parts: &'a FileParts,
    (num_ranks, num_nodes): (u32, u32),
    layout: &Layout,
    keeps: u32,
) -> Rated<'a, FcollComponent> {
    let seen = layout.seen();
    let facts =
        FcollFacts { size: size_of::<FcollFacts>() as u32, num_ranks, num_nodes, keeps, layout: &seen };
    let rated = parts.fcolls.iter().map(|component| {
        let mut priority = 0;
        let status = (component.module.query)(component.module.state, &facts, &mut priority);
        (component, status.is_ok().then_some(priority))
    });
    rated.collect()
}

/// The best of them.
fn choose_collective(
    parts: &FileParts,
    comm: &Communicator,
    layout: &Layout,
    keeps: u32,
    path: &Path,
) -> Result<FcollComponent, Error> {
    let rated = rate_collective(parts, (comm.size(), comm.places().num_nodes()), layout, keeps);
    serve::best(&rated).copied().ok_or_else(|| {
        Error::new(ErrorKind::Unsupported, format!("{}: no fcoll component serves it", path.display()))
    })
}

/// MPI_File_delete, in the calling process alone.
pub fn delete(instance: &Instance, name: &[u8]) -> Result<(), Error> {
    let parts = instance.file_parts()?;
    let known = Known::of(name, parts)?;
    let status = serve::delete(known.serving_component(parts)?, &known.path);
    if status.is_err() { Err(super::error::of(status, "deleted", &known.path)) } else { Ok(()) }
}
