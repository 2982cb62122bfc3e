//! Making an inter-communicator of two groups that have met by a port (MPI 5.0 §11.8, §11.9).
//!
//! Each group has a root, and the two roots have a link. Called by all ranks of a group; the roots do alike on both sides:
//! 1. the root tells its group that it has met the other, or why not;
//! 2. it collects what its processes say of themselves, exchanges that with the other root, and spreads the other's;
//! 3. every process gets to know those of the other group, and the memory that it shares with those on its node;
//! 4. the groups agree that all have done so; if the memory of one is missing, none uses it.
//!
//! Then the communicator is made without messages, as any other. **A failure anywhere is one everywhere:** of the own group by what the root
//! spreads, of the other by the link.
//!
//! **Memory of a node** that two jobs share is had from the daemon of the first process there, of the side whose port it was, under a
//! key that follows from the communicator. Only processes of one mpirun do so: those of two do not know that they are on one node.

use super::acquaint::{Held, names};
use super::profile::{Profile, job_of};
use crate::gid::{self, Gid};
use crate::info::Info;
use crate::objects::{Communicator, Instance};
use crate::wires::tag;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, ProcName};
use oxmpi_wireup::port::{Link, Met};
use oxmpi_wireup::{PROOF_BYTES, Secret};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a process waits for memory that another one is asking its daemon for.
const MEMORY: Duration = Duration::from_secs(20);

/// The root's part: its link to the other root.
pub(crate) struct Meeting<'a> {
    pub met: Met,
    /// It was this side's port.
    pub own_port: bool,
    /// Says whether the other side is known to come no more, and why.
    pub watch: &'a mut dyn FnMut() -> Option<Error>,
    /// Bytes for all ranks of this side.
    pub extra: Vec<u8>,
}

/// Kinds of errors that a root tells its group of.
const KINDS: [ErrorKind; 10] = [
    ErrorKind::Other,
    ErrorKind::Port,
    ErrorKind::Spawn,
    ErrorKind::Info,
    ErrorKind::Arg,
    ErrorKind::NoMem,
    ErrorKind::ProcAborted,
    ErrorKind::Group,
    ErrorKind::Comm,
    ErrorKind::Intern,
];

/// The words of the other side, as they are spread.
struct Told {
    gid: Gid,
    own_port: bool,
    /// Masked by the own job's secret; all 0: the own mpirun's secret serves.
    bridge: [u8; PROOF_BYTES],
    members: Vec<u8>,
    profiles: Vec<u8>,
    extra: Vec<u8>,
}

impl Meeting<'_> {
    /// Waits for the other root's next words.
    fn hear(&mut self, instance: &Instance, entry: &mut Entry) -> Result<Vec<u8>, Error> {
        let heard = instance.wait_for(entry, None, |patience| {
            let frame = self.met.link.turn().and_then(|()| self.met.link.take());
            match frame {
                Ok(Some(frame)) => Some(Ok(frame)),
                Err(why) => Some(Err(Error::new(ErrorKind::Port, why.message))),
                Ok(None) => (self.watch)().map(Err).or_else(|| {
                    patience.nap(&[self.met.link.as_fd()]);
                    None
                }),
            }
        });
        heard.unwrap_or_else(|| Err(Error::new(ErrorKind::Intern, "a wait without a deadline has ended")))
    }

    /// Says something, and hears what the other root says.
    fn exchange(&mut self, instance: &Instance, entry: &mut Entry, words: &[u8]) -> Result<Vec<u8>, Error> {
        self.met.link.send(words);
        self.hear(instance, entry)
    }

    /// Sends what is queued, as far as the other side takes it.
    fn finish(mut self, instance: &Instance, entry: &mut Entry) {
        let deadline = Instant::now() + Duration::from_secs(5);
        let link: &mut Link = &mut self.met.link;
        instance.wait_for(entry, Some(deadline), |patience| {
            if link.turn().is_err() || !link.is_sending() {
                return Some(());
            }
            patience.nap(&[]);
            None
        });
    }
}

impl Communicator {
    /// Spreads a root's outcome: an error is one at all ranks, of the same class.
    pub(crate) fn tell_group(
        &self,
        entry: &mut Entry,
        root: u32,
        outcome: Option<Result<Vec<u8>, Error>>,
    ) -> Result<Vec<u8>, Error> {
        let failure = outcome.as_ref().and_then(|outcome| outcome.as_ref().err()).cloned();
        let encoded = outcome.map(|outcome| match outcome {
            Ok(bytes) => Ok([&[u8::MAX][..], &bytes].concat()),
            Err(why) => {
                let kind = KINDS.iter().position(|kind| *kind == why.kind).unwrap_or(0) as u8;
                Ok([&[kind][..], why.message.as_bytes()].concat())
            }
        });
        let told = self.spread(entry, root, encoded, tag::SPREAD)?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        match told.split_first() {
            Some((&u8::MAX, bytes)) => Ok(bytes.to_vec()),
            Some((&kind, text)) => {
                let kind = KINDS.get(usize::from(kind)).copied().unwrap_or(ErrorKind::Other);
                Err(Error::new(kind, String::from_utf8_lossy(text)))
            }
            None => Err(Error::new(ErrorKind::Intern, "a root said nothing")),
        }
    }

    /// Makes the inter-communicator; `met` is the root's. Returns it and the root's extra bytes.
    pub(crate) fn connect_groups(
        &self,
        entry: &mut Entry,
        root: u32,
        met: Option<Result<Meeting<'_>, Error>>,
    ) -> Result<(Arc<Communicator>, Vec<u8>), Error> {
        let (mut meeting, said) = match met {
            None => (None, None),
            Some(Ok(meeting)) => (Some(meeting), Some(Ok(Vec::new()))),
            Some(Err(why)) => (None, Some(Err(why))),
        };
        self.tell_group(entry, root, said)?;
        let profiles = self.collect_profiles(entry, root);
        let words = meeting.as_mut().map(|meeting| self.introduce(entry, meeting, profiles));
        let told = Told::decode(&self.tell_group(entry, root, words)?)?;
        let instance = self.instance();
        let memory = self.share_with(&told);
        let held = memory.and_then(|memory| self.get_to_know(&told, memory));
        let fit = self.first_without(entry, held.is_ok())?;
        let shared = held.as_ref().is_ok_and(|known| known.complete);
        let all_shared = self.first_without(entry, shared)?.is_none();
        let verdict = match (&mut meeting, fit) {
            (None, _) => None,
            (Some(meeting), None) => {
                Some(meeting.exchange(instance, entry, &[u8::from(all_shared)]).and_then(
                    |theirs| match theirs[..] {
                        [theirs] => Ok(vec![u8::from(theirs != 0 && all_shared)]),
                        _ => Err(Error::new(ErrorKind::Port, "the other side could not go on")),
                    },
                ))
            }
            (Some(meeting), Some(rank)) => {
                meeting.met.link.send(&[]);
                let what = format!("rank {rank} could not get to know the processes of the other side");
                Some(Err(Error::new(ErrorKind::Port, what)))
            }
        };
        let agreed = self.tell_group(entry, root, verdict);
        if let Some(meeting) = meeting {
            meeting.finish(instance, entry);
        }
        let known = match (held, agreed) {
            (Ok(known), Ok(agreed)) => {
                if agreed != [1] {
                    instance.strangers().leave_segments(known.held.procs());
                }
                known
            }
            (Ok(known), Err(why)) => {
                known.forget_memory(instance);
                instance.let_go(known.held, false);
                return Err(why);
            }
            (Err(why), _) => return Err(why),
        };
        known.forget_memory(instance);
        let made = instance.listen_to(&known.held).and_then(|()| {
            let members = instance.decode_members(&told.members)?;
            self.join(told.gid, members, Info::new())
        });
        instance.let_go(known.held, made.is_ok());
        Ok((made?, told.extra))
    }

    /// The root's exchange of groups and profiles with the other root.
    fn introduce(
        &self,
        entry: &mut Entry,
        meeting: &mut Meeting<'_>,
        profiles: Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let instance = self.instance();
        let own = instance.fresh_gid();
        let members = instance.encode_members(self.group().members());
        let mut words = gid::encode(own).to_vec();
        words.extend_from_slice(&instance.facts().tree.to_le_bytes());
        words.extend_from_slice(&(members.len() as u64).to_le_bytes());
        words.extend_from_slice(&members);
        words.extend(profiles?);
        let theirs = meeting.exchange(instance, entry, &words)?;
        let damaged = || Error::new(ErrorKind::Port, "the other side says what makes no sense");
        let (gid, rest) = theirs.split_first_chunk::<16>().ok_or_else(damaged)?;
        let (tree, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let (len, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| damaged())?;
        let (members, profiles) = rest.split_at_checked(len).ok_or_else(damaged)?;
        let gid = gid::pair(own, gid::decode(*gid));
        let same_tree = u64::from_le_bytes(*tree) == instance.facts().tree && instance.facts().tree != 0;
        let bridge = match same_tree {
            true => [0; PROOF_BYTES],
            false => instance.masked(gid, *meeting.met.bridge.bytes()),
        };
        let told = Told {
            gid,
            own_port: meeting.own_port,
            bridge,
            members: members.to_vec(),
            profiles: profiles.to_vec(),
            extra: std::mem::take(&mut meeting.extra),
        };
        Ok(told.encode())
    }

    /// Memory of this node that this process is to share with processes of the other side: it, and the names of those that have places there, by
    /// place. `None`: there are none. An error: a description cannot be read.
    fn share_with(&self, told: &Told) -> Result<Option<Shared>, Error> {
        let instance = self.instance();
        let facts = instance.facts();
        let mut theirs: Vec<Profile> = Vec::new();
        let mut rest = &told.profiles[..];
        while !rest.is_empty() {
            theirs.push(Profile::decode(&mut rest).map_err(|why| Error::new(ErrorKind::Other, why))?);
        }
        let near = |tree: u64, site: u32| tree == facts.tree && tree != 0 && site == facts.site();
        let described = |name: &ProcName| theirs.iter().find(|profile| profile.name == *name);
        let mut their_places = Vec::new();
        for (name, _) in names(&told.members) {
            if described(&name).is_some_and(|profile| near(profile.tree, profile.site)) {
                their_places.push(name);
            }
        }
        if their_places.is_empty() {
            return Ok(None);
        }
        let own = self.group().members().iter().filter_map(|member| {
            let known = instance.strangers();
            let is_near = match instance.is_stranger(member.proc) {
                false => facts.map.node_of(member.proc) == Some(facts.node),
                true => known.profile(member.proc).is_some_and(|p| near(p.tree, p.site)),
            };
            is_near.then(|| instance.name_of(member.proc)).flatten()
        });
        let own: Vec<ProcName> = own.collect();
        let (first, second) = if told.own_port { (own, their_places) } else { (their_places, own) };
        let mut places: Vec<ProcName> = Vec::new();
        first.into_iter().chain(second).for_each(|name| {
            if !places.contains(&name) {
                places.push(name);
            }
        });
        // Processes of one job have its own memory.
        if places.iter().all(|name| job_of(name) == job_of(&places[0])) {
            return Ok(None);
        }
        let keeper = match instance.index_of(&places[0]) {
            Some(proc) if !instance.is_stranger(proc) => instance.client().keeper().to_owned(),
            Some(proc) => {
                instance.strangers().profile(proc).map(|profile| profile.keeper.clone()).unwrap_or_default()
            }
            None => described(&places[0]).map(|profile| profile.keeper.clone()).unwrap_or_default(),
        };
        let key = format!("meeting/{}", key_of(told.gid));
        let memory = instance.memory_at(&keeper, &key, places.len() as u64);
        Ok(Some(Shared { memory, places, key, own_keeper: keeper == instance.client().keeper() }))
    }

    /// Gets to know the processes of the other side.
    fn get_to_know(&self, told: &Told, shared: Option<Shared>) -> Result<Known, Error> {
        let instance = self.instance();
        let me = instance.name_of(instance.job().rank);
        let (mut segment, mut complete, mut places, mut key) = (None, true, Vec::new(), None);
        if let Some(shared) = shared {
            key = shared.own_keeper.then_some(shared.key);
            places = shared.places;
            let place = places.iter().position(|name| Some(*name) == me);
            match (shared.memory, place) {
                (Some(memory), Some(place)) => {
                    segment =
                        Some(instance.strangers().add_segment(memory, place as u32, places.len() as u32));
                }
                _ => complete = false,
            }
        }
        let segment_of = |name: &ProcName| {
            let place = places.iter().position(|other| other == name)?;
            segment.map(|number| (number, place as u32))
        };
        let bridge = (told.bridge != [0; PROOF_BYTES])
            .then(|| Secret::from_bytes(instance.masked(told.gid, told.bridge)));
        let held = instance.acquaint(&told.profiles, bridge.as_ref(), segment_of);
        if let Some(number) = segment {
            instance.strangers().drop_unused_segment(number);
        }
        Ok(Known { held: held?, complete, key })
    }
}

/// Memory that a process may share with others, those, and the key it has it by.
struct Shared {
    memory: Option<OwnedFd>,
    places: Vec<ProcName>,
    key: String,
    own_keeper: bool,
}

/// The other side's processes, as one of this side knows them.
struct Known {
    held: Held,
    /// It has all memory that it is to share.
    complete: bool,
    /// By which it asked its own daemon for memory.
    key: Option<String>,
}

impl Known {
    /// All have the memory: the daemon need not keep it.
    fn forget_memory(&self, instance: &Instance) {
        if let Some(key) = &self.key {
            instance.client().give_up(key);
        }
    }
}

impl Instance {
    /// Memory from a daemon of this node: of the own job, or of another job whose processes are asking for it just now.
    fn memory_at(&self, keeper: &str, key: &str, places: u64) -> Option<OwnedFd> {
        if keeper == self.client().keeper() {
            return self.client().share(key, places).ok().map(|(memory, _)| memory);
        }
        let begun = Instant::now();
        while begun.elapsed() < MEMORY {
            match self.client().borrow(keeper, key, places) {
                Ok(memory) => return Some(memory),
                Err(_) => std::thread::sleep(Duration::from_micros(200)),
            }
        }
        None
    }

    /// A secret as it travels in the own job, whose processes alone can read it; the same again is the secret.
    fn masked(&self, gid: Gid, secret: [u8; PROOF_BYTES]) -> [u8; PROOF_BYTES] {
        let mask = self.client().secret().prove(&[b"oxmpi bridge in a job", &gid::encode(gid)]);
        std::array::from_fn(|n| secret[n] ^ mask[n])
    }
}

fn key_of([a, b]: Gid) -> String {
    format!("{a:016x}{b:016x}")
}

impl Told {
    fn encode(&self) -> Vec<u8> {
        let mut out = gid::encode(self.gid).to_vec();
        out.push(self.own_port.into());
        out.extend_from_slice(&self.bridge);
        for part in [&self.members, &self.profiles, &self.extra] {
            out.extend_from_slice(&(part.len() as u64).to_le_bytes());
            out.extend_from_slice(part);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Result<Told, Error> {
        let read = || {
            let (gid, rest) = bytes.split_first_chunk::<16>()?;
            let (own_port, rest) = rest.split_first()?;
            let (bridge, mut rest) = rest.split_first_chunk::<PROOF_BYTES>()?;
            let mut part = || {
                let (len, behind) = rest.split_first_chunk::<8>()?;
                let (part, behind) = behind.split_at_checked(u64::from_le_bytes(*len) as usize)?;
                rest = behind;
                Some(part.to_vec())
            };
            let (members, profiles, extra) = (part()?, part()?, part()?);
            let (gid, own_port) = (gid::decode(*gid), *own_port != 0);
            Some(Told { gid, own_port, bridge: *bridge, members, profiles, extra })
        };
        read().ok_or_else(|| Error::new(ErrorKind::Intern, "a root said what makes no sense"))
    }
}
