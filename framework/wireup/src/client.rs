//! A rank's side of the wire-up.

use super::error::{Error, ErrorKind};
use super::facts::JobFacts;
use super::jobs::{JobsReply, JobsRequest};
use super::local::Store;
use super::message::{KEY_LIMIT, RANK_LIMIT, TEXT_LIMIT, ToDaemon, ToRank, VALUE_LIMIT, shorten};
use super::names::{RANK_VARIABLE, SECRET_VARIABLE, SOCKET_VARIABLE};
use super::nodes::NodeMap;
use super::own_launcher::OwnLauncher;
use super::remote::{Daemon, borrow, unexpected};
use super::secret::{Secret, random_id};
use super::shares::Denied;
use super::witness::Witness;
use crate::machine::new_segment;
use crate::polled::Polled;
use oxmpi_system::locks::Mutex;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Where a runtime instance gets its wire-up from.
#[derive(Debug, Default)]
#[allow(clippy::large_enum_variant, reason = "made once per instance and moved once")]
pub enum Source {
    /// The launcher's settings in the environment; without a launcher, a job of one process.
    #[default]
    Environment,
    /// A job of one process, whatever the environment says.
    Singleton,
    /// This one.
    Given(Client),
}

impl Source {
    /// Whether the process is to ask its environment, and no launcher of ours has put anything there.
    pub fn is_without_launcher(&self) -> bool {
        matches!(self, Source::Environment) && std::env::var_os(SOCKET_VARIABLE).is_none()
    }

    /// Connects to the source and returns this process's client of the wire-up.
    pub fn client(self) -> Result<Client, Error> {
        match self {
            Source::Environment => Client::from_environment()?.map_or_else(Client::singleton, Ok),
            Source::Singleton => Client::singleton(),
            Source::Given(client) => Ok(client),
        }
    }
}

/// A process's place in its job. All methods may be called from any thread.
#[derive(Debug)]
pub struct Client {
    facts: JobFacts,
    secret: Secret,
    segment: OwnedFd,
    /// Values that were put and not committed.
    pending: Mutex<Vec<(String, Vec<u8>)>>,
    /// Values that were committed, for processes of other jobs.
    published: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Name of the daemon's socket; empty: there is no daemon.
    keeper: String,
    /// Numbers of questions about other jobs.
    questions: AtomicU32,
    link: Link,
    /// Of a process that no launcher started: an mpirun that it has started, and who is just doing so.
    own: OnceLock<OwnLauncher>,
    starting: Mutex<()>,
    witness: Option<Witness>,
}

/// The other side of a client: a daemon, or a store in this process.
#[derive(Debug)]
enum Link {
    Daemon(Daemon),
    /// Everybody is in this process; help messages that were printed.
    Local(Arc<Store>),
}

impl Client {
    /// The launcher's settings in the environment; None: no launcher started this process.
    ///
    /// From the moment this returns, the process ends when its parent does.
    pub fn from_environment() -> Result<Option<Client>, Error> {
        let Some(name) = variable(SOCKET_VARIABLE)? else { return Ok(None) };
        let wrong = |variable: &str, why: &str| {
            Error::new(ErrorKind::Environment, format!("{SOCKET_VARIABLE} is set, but {variable} {why}"))
        };
        let text = variable(SECRET_VARIABLE)?.ok_or_else(|| wrong(SECRET_VARIABLE, "is not"))?;
        // The text is a secret and is not repeated.
        let secret =
            Secret::from_hex(&text).ok_or_else(|| wrong(SECRET_VARIABLE, "has not 64 hexadecimal digits"))?;
        let rank = variable(RANK_VARIABLE)?.ok_or_else(|| wrong(RANK_VARIABLE, "is not"))?;
        let rank =
            rank.parse().map_err(|_| wrong(RANK_VARIABLE, &format!("is {rank:?}, which is no rank")))?;

        // Before hello: the essay of this module says why.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|why| Error::system("cannot ask to end with the parent process", why))?;
        let witness = Witness::new(&name, &secret, rank)?;
        let (daemon, facts, segment) = Daemon::introduce(&name, secret.clone(), rank)?;
        Ok(Some(Client {
            secret,
            facts: with_own_cores(facts),
            segment,
            pending: Mutex::default(),
            published: Mutex::default(),
            keeper: name,
            questions: AtomicU32::new(0),
            link: Link::Daemon(daemon),
            own: OnceLock::new(),
            starting: Mutex::default(),
            witness: Some(witness),
        }))
    }

    /// A job of this process alone, with a segment and a store of its own.
    pub fn singleton() -> Result<Client, Error> {
        let alone = JobFacts::alone(random_id()?, own_cores(), super::machine::hostname());
        let facts = JobFacts { tree: random_id()?, ..alone };
        let store = Arc::new(Store::new(1));
        Ok(Client {
            facts,
            secret: Secret::random()?,
            segment: new_segment()?,
            pending: Mutex::default(),
            published: Mutex::default(),
            keeper: String::new(),
            questions: AtomicU32::new(0),
            link: Link::Local(store),
            own: OnceLock::new(),
            starting: Mutex::default(),
            witness: None,
        })
    }

    /// `n` ranks in this process, which share a segment and a store.
    pub fn local_job(n: u32) -> Result<Vec<Client>, Error> {
        Client::local_nodes(&vec![0; n as usize])
    }

    /// Ranks in this process that act as if they were on several nodes: the node of each, from 0 on without gaps. Those of a
    /// node share a segment, all share a store.
    pub fn local_nodes(nodes: &[u32]) -> Result<Vec<Client>, Error> {
        let n = nodes.len();
        let count = nodes.iter().max().map_or(0, |last| *last as usize + 1);
        if n == 0 || n > i32::MAX as usize || count > n {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("a job cannot have {n} processes on {count} nodes"),
            ));
        }
        let n = n as u32;
        let (job_id, store) = (random_id()?, Arc::new(Store::new(n)));
        let segments = (0..count).map(|_| new_segment()).collect::<Result<Vec<_>, _>>()?;
        let (cores, secret, map) = (own_cores(), Secret::random()?, NodeMap::of(nodes));
        let name = |node: usize| {
            let host = super::machine::hostname();
            if count == 1 { host } else { format!("{host}-{node}") }
        };
        let make = |(rank, &node): (u32, &u32)| {
            let mut facts = JobFacts::alone(job_id, cores, name(node as usize));
            facts.rank = rank;
            facts.size = n;
            facts.node = node;
            facts.local_rank = map.local_rank_of(rank).unwrap_or(0);
            facts.local_ranks = map.ranks_of(node);
            facts.node_names = (0..count).map(name).collect();
            facts.map = map.clone();
            facts.oversubscribed = n > cores;
            let segment = segments[node as usize].try_clone();
            let segment = segment.map_err(|why| Error::system("cannot duplicate the segment", why))?;
            let (secret, pending) = (secret.clone(), Mutex::default());
            Ok(Client {
                facts,
                secret,
                segment,
                pending,
                published: Mutex::default(),
                keeper: String::new(),
                questions: AtomicU32::new(0),
                link: Link::Local(Arc::clone(&store)),
                own: OnceLock::new(),
                starting: Mutex::default(),
                witness: None,
            })
        };
        (0..n).zip(nodes).map(make).collect()
    }

    /// The facts of the job that this process was told.
    pub fn facts(&self) -> &JobFacts {
        &self.facts
    }

    /// The secret that the processes of the job know and nobody else.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The node's shared memory: zero, and empty until somebody gives it a length. It can grow and
    /// cannot shrink.
    pub fn segment(&self) -> BorrowedFd<'_> {
        self.segment.as_fd()
    }

    /// For the handlers of signals that end the process; None: no daemon.
    pub fn witness(&self) -> Option<&Witness> {
        self.witness.as_ref()
    }

    /// Keeps a pair until `commit`. The last value of a key counts.
    pub fn put(&self, key: &str, value: &[u8]) {
        self.pending.lock().push((key.to_owned(), value.to_owned()));
    }

    /// Makes what was put visible to everybody who asks after the next `fence`.
    pub fn commit(&self) -> Result<(), Error> {
        let pairs = std::mem::take(&mut *self.pending.lock());
        for (key, value) in &pairs {
            if key.len() > KEY_LIMIT || value.len() > VALUE_LIMIT {
                let (k, v) = (key.len(), value.len());
                let message = format!(
                    "{:?} cannot be published: its key has {k} bytes of at most {KEY_LIMIT}, its value {v} of at most {VALUE_LIMIT}",
                    shorten(key, 40)
                );
                return Err(Error::new(ErrorKind::TooLarge, message));
            }
        }
        self.published.lock().extend(pairs.iter().cloned());
        match &self.link {
            Link::Local(store) => store.publish(self.facts.rank, pairs),
            Link::Daemon(daemon) => {
                for batch in batches(pairs) {
                    daemon.tell(&ToDaemon::Put(batch))?;
                }
            }
        }
        Ok(())
    }

    /// All pairs that were committed, the last value of each key.
    pub fn published(&self) -> Vec<(String, Vec<u8>)> {
        self.published.lock().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The daemon, of the launcher that started this process or of one that it has started.
    fn daemon(&self) -> Option<&Daemon> {
        match &self.link {
            Link::Daemon(daemon) => Some(daemon),
            Link::Local(_) => self.own.get().map(|own| &own.daemon),
        }
    }

    /// Whether there is an mpirun.
    pub fn has_launcher(&self) -> bool {
        self.daemon().is_some()
    }

    /// Starts an mpirun, this program, for a process that none has started, unless it has been started already; from then on there is one. Waits until it
    /// is there, which takes as long as a job takes to start. An error: it cannot be started, or this process is one of a job without a launcher.
    pub fn start_launcher(&self, program: &Path) -> Result<(), Error> {
        let _starting = self.starting.lock();
        if self.has_launcher() {
            return Ok(());
        }
        if self.facts.size > 1 {
            let what = "the ranks of a job in one process have no launcher";
            return Err(Error::new(ErrorKind::System, what));
        }
        // Nobody else does so: the lock is held.
        let _ = self.own.set(OwnLauncher::start(program, &self.facts, &self.secret)?);
        Ok(())
    }

    /// Name of the socket of this node's daemon, by which processes of other jobs of the same mpirun get memory of the node
    /// ([`Client::borrow`]); empty: there is no daemon.
    pub fn keeper(&self) -> &str {
        self.own.get().map_or(&self.keeper, |own| &own.keeper)
    }

    /// Gets memory that ranks of another job on this node share under a key ([`Client::share`] there), from the daemon at
    /// that socket, while one of them has it. An error: there is no such memory, or the daemon knows another secret.
    pub fn borrow(&self, keeper: &str, key: &str, bytes: u64) -> Result<OwnedFd, Error> {
        borrow(keeper, self.secret.clone(), key, bytes)
    }

    /// A new number for a question about other jobs.
    pub fn question(&self) -> u32 {
        self.questions.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends words about other jobs to mpirun. False: there is none.
    pub fn ask_of_jobs(&self, request: JobsRequest) -> Result<bool, Error> {
        match self.daemon() {
            None => Ok(false),
            Some(daemon) => daemon.tell(&ToDaemon::Jobs(request)).map(|()| true),
        }
    }

    /// Takes mpirun's next reply to the question of that number, without waiting.
    pub fn try_reply(&self, id: u32) -> Result<Option<JobsReply>, Error> {
        self.daemon().map_or(Ok(None), |daemon| daemon.try_reply(id))
    }

    /// Forgets replies to a question that nobody takes any more.
    pub fn forget_replies(&self, id: u32) {
        if let Some(daemon) = self.daemon() {
            daemon.forget_replies(id);
        }
    }

    /// Waits until every process of the job has called it as often as this one.
    pub fn fence(&self) -> Result<(), Error> {
        match &self.link {
            Link::Local(store) => store.fence(),
            Link::Daemon(daemon) => match daemon.ask(&ToDaemon::Fence)? {
                (ToRank::FenceDone, _) => Ok(()),
                (ToRank::FenceFailed(why), _) => Err(Error::new(ErrorKind::Lost, why)),
                (other, _) => Err(unexpected("a fence", &other)),
            },
        }
    }

    /// The value that process `proc` has committed under `key`; None: none.
    pub fn get(&self, proc: u32, key: &str) -> Result<Option<Vec<u8>>, Error> {
        match &self.link {
            Link::Local(store) => Ok(store.get(proc, key)),
            Link::Daemon(_) if key.len() > KEY_LIMIT => Ok(None), // nobody can have put it
            Link::Daemon(daemon) => daemon.value(proc, key),
        }
    }

    /// Looks for the value that process `proc` has committed under `key`, without waiting: asks once, and is called
    /// again until the answer is here. Values of more than `room` bytes are kept for a call with more room.
    pub fn try_get(&self, proc: u32, key: &str, room: usize) -> Result<Polled, Error> {
        let value = match &self.link {
            Link::Local(store) => store.get(proc, key),
            Link::Daemon(_) if key.len() > KEY_LIMIT => None,
            Link::Daemon(daemon) => return daemon.try_value(proc, key, room),
        };
        Ok(match value {
            Some(value) if value.len() > room => Polled::TooLong(value.len()),
            value => Polled::Value(value),
        })
    }

    /// Memory that all ranks of this node get who ask with this key and size while somebody has it, and whether this one is the first. It
    /// may be empty yet; whoever gets it gives it its length, and it cannot shrink. Kept until [`Client::give_up`].
    /// An error of kind `OtherSize`: it exists with another size.
    pub fn share(&self, key: &str, bytes: u64) -> Result<(OwnedFd, bool), Error> {
        if key.len() > KEY_LIMIT {
            let message = format!("a key of {} bytes is longer than {KEY_LIMIT}", key.len());
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let (node, rank) = (self.facts.node, self.facts.rank);
        if let Some(daemon) = self.daemon() {
            return daemon.share(key, bytes);
        }
        match &self.link {
            Link::Local(store) => {
                let taken = store.shares(node, |shares| shares.take(rank, key, bytes));
                let (memory, first) = taken.map_err(|why| match why {
                    Denied::OtherSize(bytes) => {
                        Error::new(ErrorKind::OtherSize, format!("it has {bytes} bytes"))
                    }
                    Denied::Cannot(why) => Error::new(ErrorKind::System, why),
                })?;
                let cannot = |why| Error::system("shared memory cannot be had", why);
                Ok((memory.try_clone().map_err(cannot)?, first))
            }
            // There is one, as seen above.
            Link::Daemon(daemon) => daemon.share(key, bytes),
        }
    }

    /// Tells the daemon or store that this rank does not ask for that memory any more. Ignores a daemon that is gone.
    pub fn give_up(&self, key: &str) {
        // It may be from before the process had an mpirun.
        if let Link::Local(store) = &self.link {
            store.shares(self.facts.node, |shares| shares.give_up(self.facts.rank, key));
        }
        if let Some(daemon) = self.daemon() {
            let _ = daemon.tell(&ToDaemon::GiveUp { key: key.to_owned() });
        }
    }

    /// Hands a paragraph to mpirun, which prints one of its kind per job. False: nobody is there
    /// to print it, and the caller does.
    pub fn help(&self, component: &str, topic: &str, text: &str) -> bool {
        let message = || ToDaemon::Help {
            component: shorten(component, KEY_LIMIT).to_owned(),
            topic: shorten(topic, KEY_LIMIT).to_owned(),
            text: shorten(text, TEXT_LIMIT).to_owned(),
        };
        self.daemon().is_some_and(|daemon| daemon.tell(&message()).is_ok())
    }

    /// Asks for the end of the job, which comes soon after; the caller ends its own process. False: nobody is there to
    /// report it, and the caller does. `origin`: what in the library ends it ("an error in MPI_Recv"); empty where the
    /// program called MPI_Abort.
    pub fn abort(&self, code: i32, origin: &str, message: &str) -> bool {
        self.abort_for(code, origin, message, None)
    }

    /// Asks for the end of the job because `peer` does not answer or answers nonsense; where mpirun soon learns how
    /// that rank ended, it reports that and not us. False: nobody is there to report it.
    pub fn abort_for(&self, code: i32, origin: &str, message: &str, peer: Option<u32>) -> bool {
        match self.daemon() {
            None => false,
            Some(daemon) => {
                let message = shorten(message, TEXT_LIMIT).to_owned();
                let origin = shorten(origin, KEY_LIMIT).to_owned();
                daemon.tell(&ToDaemon::Abort { code, origin, message, peer }).is_ok()
            }
        }
    }

    /// Tells the daemon that MPI is finalized and the process may end at any time. Ignores a daemon that is gone.
    pub fn finalized(&self) {
        if let Some(daemon) = self.daemon() {
            let _ = daemon.tell(&ToDaemon::Finalized);
        }
    }

    /// Tells the daemon that MPI is in use again, so that the process must not end before the next `finalized`.
    pub fn resumed(&self) -> Result<(), Error> {
        self.daemon().map_or(Ok(()), |daemon| daemon.tell(&ToDaemon::Resumed))
    }
}

/// Cuts the pairs of a commit into lists that each fit a frame.
fn batches(pairs: Vec<(String, Vec<u8>)>) -> Vec<Vec<(String, Vec<u8>)>> {
    let mut all = Vec::new();
    let (mut batch, mut bytes) = (Vec::new(), 4);
    for (key, value) in pairs {
        let more = 8 + key.len() + value.len();
        if bytes + more > RANK_LIMIT {
            all.push(std::mem::take(&mut batch));
            bytes = 4;
        }
        bytes += more;
        batch.push((key, value));
    }
    if !batch.is_empty() {
        all.push(batch);
    }
    all
}

/// Reads an environment variable; `None`: it is not set. An error: it is not text.
fn variable(name: &str) -> Result<Option<String>, Error> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Error::new(ErrorKind::Environment, format!("the value of {name} is not text")))
        }
    }
}

/// Reduces the node's cores in the facts to those of this process's mask, and notes whether it is bound.
fn with_own_cores(mut facts: JobFacts) -> JobFacts {
    if let Ok(mask) = rustix::thread::sched_getaffinity(None) {
        facts.bound = mask.count() < facts.cores;
        facts.cores = facts.cores.min(mask.count().max(1));
    }
    facts
}

/// Cores this process may use, by its mask and by its control group's quota.
fn own_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_job_shares_its_store_and_its_segment() {
        let clients = Client::local_job(3).expect("three ranks in one process");
        std::thread::scope(|scope| {
            for client in &clients {
                scope.spawn(move || {
                    let me = client.facts().rank;
                    client.put("card", &[me as u8; 5]);
                    assert_eq!(client.get(me, "card").expect("a store"), None, "not committed yet");
                    client.commit().expect("short");
                    client.fence().expect("all come");
                    for other in 0..3 {
                        assert_eq!(client.get(other, "card").expect("a store"), Some(vec![other as u8; 5]));
                    }
                    assert_eq!(client.get(me, "other").expect("a store"), None);
                    client.fence().expect("all come again");
                });
            }
        });
        rustix::fs::ftruncate(clients[0].segment(), 4096).expect("it can grow");
        assert_eq!(rustix::fs::fstat(clients[2].segment()).expect("a file").st_size, 4096);
        assert!(rustix::fs::ftruncate(clients[1].segment(), 0).is_err(), "it cannot shrink");
        assert!(clients.iter().all(|c| c.facts().job_id == clients[0].facts().job_id));
    }

    #[test]
    fn a_singleton_needs_nobody() {
        let client = Client::singleton().expect("alone");
        assert_eq!((client.facts().rank, client.facts().size, client.facts().local_size()), (0, 1, 1));
        client.put("a", b"1");
        client.commit().expect("short");
        client.fence().expect("nobody to wait for");
        assert_eq!(client.get(0, "a").expect("a store"), Some(b"1".to_vec()));
        assert!(!client.abort(1, "", "nobody hears"));
    }

    #[test]
    fn what_is_too_long_is_an_error_at_commit() {
        let client = Client::singleton().expect("alone");
        client.put("a", &vec![0; VALUE_LIMIT + 1]);
        assert_eq!(client.commit().expect_err("too long").kind, ErrorKind::TooLarge);
    }

    #[test]
    fn batches_fit_into_frames() {
        let pairs: Vec<_> = (0..100).map(|i| (format!("key{i}"), vec![i as u8; VALUE_LIMIT])).collect();
        let all = batches(pairs.clone());
        assert!(all.len() > 1);
        for batch in &all {
            let bytes = ToDaemon::Put(batch.clone()).encode().expect("short");
            assert!(bytes.len() - super::super::frame::HEADER <= RANK_LIMIT);
        }
        assert_eq!(all.into_iter().flatten().collect::<Vec<_>>(), pairs);
    }
}
