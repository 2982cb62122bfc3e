//! Starting processes (MPI 5.0 §11.8): mpirun starts a job whose processes call at a port of the root's while they start MPI.

use super::connect::Meeting;
use super::ports::Side;
use crate::objects::{Communicator, Instance};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::jobs::{JobsReply, JobsRequest, SPAWN_LIMIT, SpawnRequest, SpawnedProgram};
use oxmpi_wireup::port::{Met, Port};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Another mpirun for a process that none has started.
const LAUNCHER: &str = "OXMPI_MPIRUN";
/// How long the reason may be on its way behind a link that has broken.
const REASON: Duration = Duration::from_secs(5);
/// How long a new job's processes try to reach those who started them.
const PARENT: Duration = Duration::from_secs(60);

/// Processes that were started.
pub struct Spawned {
    pub comm: Arc<Communicator>,
    /// Of each program: how many there are, and how many were asked for.
    pub counts: Vec<(u32, u32)>,
}

/// A job that was asked for, at the root.
struct Asked<'a> {
    instance: &'a Instance,
    id: u32,
    counts: Option<Vec<u32>>,
}

impl Asked<'_> {
    /// Whether it is known to come to nothing, and why.
    fn look(&mut self) -> Option<Error> {
        match self.instance.client().try_reply(self.id) {
            Ok(Some(JobsReply::NotStarted { why, .. })) => Some(Error::new(ErrorKind::Spawn, why)),
            Ok(Some(JobsReply::Started { counts, .. })) => {
                self.counts = Some(counts);
                None
            }
            Ok(Some(JobsReply::Name { .. })) | Ok(None) => None,
            Err(why) => Some(Error::new(ErrorKind::Spawn, why.message)),
        }
    }

    /// The reason behind a link that has broken, if one comes.
    fn reason(&mut self, entry: &mut Entry, broken: Error) -> Error {
        let instance = self.instance;
        let deadline = Some(Instant::now() + REASON);
        let reason = instance.wait_for(entry, deadline, |patience| {
            self.look().or_else(|| {
                patience.nap(&[]);
                None
            })
        });
        reason.unwrap_or(Error::new(ErrorKind::Spawn, broken.message))
    }
}

impl Communicator {
    /// Starts programs and makes the inter-communicator with their processes. Called by all ranks; `programs` are the root's, an error in their place
    /// is one at all ranks.
    pub fn spawn(
        &self,
        entry: &mut Entry,
        root: u32,
        programs: Option<Result<Vec<SpawnedProgram>, Error>>,
    ) -> Result<Spawned, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "comm is an inter-communicator"));
        }
        let instance = self.instance();
        let decode = |extra: &[u8]| {
            let word = |n: &[u8; 4]| u32::from_le_bytes(*n);
            let words: Vec<u32> = extra.as_chunks::<4>().0.iter().map(word).collect();
            words.as_chunks::<2>().0.iter().map(|&[count, most]| (count, most)).collect()
        };
        let Some(programs) = programs else {
            let (comm, extra) = self.connect_groups(entry, root, None)?;
            return Ok(Spawned { comm, counts: decode(&extra) });
        };
        let mut asked = Asked { instance, id: instance.client().question(), counts: None };
        let most: Vec<u32> = programs.iter().flatten().map(|program| program.most).collect();
        let met = programs.and_then(|programs| asked.start(entry, programs));
        let outcome = match met {
            Err(why) => self.connect_groups(entry, root, Some(Err(why))),
            Ok(met) => {
                let counts = asked.counts.iter().flatten().zip(&most);
                let extra =
                    counts.flat_map(|(count, most)| [count.to_le_bytes(), most.to_le_bytes()].concat());
                let extra = extra.collect();
                let mut watch = || asked.look();
                let meeting = Meeting { met, own_port: true, watch: &mut watch, extra };
                self.connect_groups(entry, root, Some(Ok(meeting)))
            }
        };
        if outcome.is_ok() {
            // A daemon that is gone need not know.
            let _ = instance.client().ask_of_jobs(JobsRequest::Met { id: asked.id });
        }
        let outcome = match outcome {
            Err(why) if why.kind == ErrorKind::Port => Err(asked.reason(entry, why)),
            other => other,
        };
        instance.client().forget_replies(asked.id);
        let (comm, extra) = outcome?;
        Ok(Spawned { comm, counts: decode(&extra) })
    }
}

impl Asked<'_> {
    /// Asks for the job, and waits until its root calls.
    fn start(&mut self, entry: &mut Entry, programs: Vec<SpawnedProgram>) -> Result<Met, Error> {
        let spawn = |why: oxmpi_wireup::Error| Error::new(ErrorKind::Spawn, why.message);
        let instance = self.instance;
        instance.have_launcher()?;
        let mut port = Port::of_tree(instance.client().secret()).map_err(spawn)?;
        let folder = std::env::current_dir().unwrap_or_default().into_os_string().into_vec();
        let request = SpawnRequest { programs, folder, port: port.name().to_string() };
        if request.bytes() > SPAWN_LIMIT {
            let what = format!(
                "commands, arguments and hints have {} bytes, of at most {SPAWN_LIMIT}",
                request.bytes()
            );
            return Err(Error::new(ErrorKind::Spawn, what));
        }
        if !instance.client().ask_of_jobs(JobsRequest::Spawn { id: self.id, request }).map_err(spawn)? {
            let what = "there is no mpirun that could start processes";
            return Err(Error::new(ErrorKind::Spawn, what));
        }
        let mut met = None;
        let outcome = instance.wait_for(entry, None, |patience| {
            if let Some(why) = self.look() {
                return Some(Err(why));
            }
            if met.is_none() {
                match port.turn() {
                    Ok(found) => met = found,
                    Err(why) => return Some(Err(spawn(why))),
                }
            }
            match (met.take(), &self.counts) {
                (Some(met), Some(_)) => Some(Ok(met)),
                (found, _) => {
                    met = found;
                    patience.nap(&port.fds());
                    None
                }
            }
        });
        outcome.unwrap_or_else(|| Err(Error::new(ErrorKind::Intern, "a wait without a deadline has ended")))
    }
}

impl Instance {
    /// Sees to it that there is an mpirun: a process that none has started starts one of its own, which stands beside the library, or is named by a
    /// variable.
    fn have_launcher(&self) -> Result<(), Error> {
        if self.client().has_launcher() {
            return Ok(());
        }
        let named = std::env::var_os(LAUNCHER).filter(|path| !path.is_empty()).map(PathBuf::from);
        let program = named.or_else(|| self.settings().launcher.clone());
        let why = match program {
            None => "the library is in no installation".to_owned(),
            Some(program) => match self.client().start_launcher(&program) {
                Ok(()) => return Ok(()),
                Err(why) => why.message,
            },
        };
        let what =
            format!("this process was not started by mpirun, and has none that starts others for it: {why}");
        Err(Error::new(ErrorKind::Spawn, what))
    }

    /// The inter-communicator with those who started this job; called by all its processes while they start. `None`: nobody did.
    pub fn meet_parent(&self, entry: &mut Entry) -> Result<Option<Arc<Communicator>>, Error> {
        let port = self.facts().parent.clone();
        if port.is_empty() {
            return Ok(None);
        }
        let world = self.world();
        let side = (world.rank() == 0).then(|| Ok((Side::Connect(&port), Some(PARENT))));
        let met = world.meet_at_port(entry, 0, side);
        met.map(Some).map_err(|why| {
            let what = format!("the processes that started this job cannot be reached: {}", why.message);
            Error::new(why.kind, what)
        })
    }
}
