//! The node daemon's side of the wire-up: who may join, what everybody published, who is gone.
//!
//! A [`Server`] is a value with one descriptor to wait on (an epoll that holds the listening socket and every
//! connection). When that is readable, [`Server::turn`] does all there is to do without ever blocking and returns what
//! the daemon has to know. So the daemon's own loop need not know how many connections there are, and a test can drive
//! a server without any daemon.
//!
//! **A stranger can do nothing.** Until a connection has shown the job's secret it may send one short frame; there is a
//! bound on how many such connections are kept; whatever else they send costs them the connection and the job nothing.
//! A *rank* that breaks the protocol is a broken rank and is reported as that.
//!
//! **A rank's place is taken once.** A second process that claims it (a child that inherited the environment, a second
//! program in one shell line) is told so; it would find the shared segment in use by its predecessor.
//!
//! **Other nodes** have servers of their own. This one says what it needs of them as events ([`Event::AllHere`],
//! [`Event::Wanted`], [`Event::Gone`]), and is told by [`Server::pass_fence`], [`Server::receive_values`],
//! [`Server::lose_far`] and [`Server::never_comes`]; [`Server::values`] is what others ask for. The daemon carries these.

mod connection;
mod events;
mod exchange;

use super::error::Error;
use super::facts::JobFacts;
use super::jobs::JobsReply;
pub use super::machine::hostname;
use super::message::{DAEMON_LIMIT, RANK_LIMIT, ToDaemon, ToRank};
use super::names::VERSION;
use super::secret::{Secret, random_id};
use super::shares::{Denied, Shares};
use super::socket;
use connection::{Connection, Progress, Refusal, add};
pub use events::{Crash, Event, Membership};
pub use exchange::Values;
use exchange::{Entered, Exchange, Found};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

/// Facts that all ranks of this node are told, and the secret they must show.
#[derive(Debug)]
pub struct Job {
    /// As rank `local_ranks[0]` would see it.
    pub facts: JobFacts,
    pub secret: Secret,
}

const LISTENER: u64 = 0;

/// See the module's essay.
#[derive(Debug)]
pub struct Server {
    job: Job,
    name: String,
    segment: Arc<OwnedFd>,
    listener: UnixListener,
    epoll: OwnedFd,
    connections: BTreeMap<u64, Connection>,
    next_id: u64,
    /// One per local rank.
    members: Vec<Membership>,
    exchange: Exchange,
    shares: Shares,
    events: Vec<Event>,
    /// A rank whose process has ended without a word, that process, and whether that was said.
    never: Option<(u32, u32)>,
    never_said: bool,
    /// Ranks wait for their facts, and so in MPI_Init; these connections do.
    holding: bool,
    held: Vec<u64>,
    /// Of connections of ranks that are closed.
    traffic: [u64; 4],
}

impl Server {
    /// Makes the node's segment and starts to listen under a random name.
    pub fn new(job: Job) -> Result<Server, Error> {
        let name = format!("oxmpi-{:016x}{:016x}", random_id()?, random_id()?);
        let listener = socket::listen(&name)?;
        let cannot = |why| Error::system("cannot wait on the listening socket", why);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(cannot)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN).map_err(cannot)?;
        let members = vec![Membership::Absent; job.facts.local_ranks.len()];
        Ok(Server {
            exchange: Exchange::new(job.facts.local_ranks.len(), job.facts.map.nodes() < 2),
            job,
            name,
            segment: Arc::new(super::machine::new_segment()?),
            listener,
            epoll,
            connections: BTreeMap::new(),
            next_id: LISTENER + 1,
            members,
            shares: Shares::new(),
            events: Vec::new(),
            never: None,
            never_said: false,
            holding: false,
            held: Vec::new(),
            traffic: [0; 4],
        })
    }

    /// The socket's name, for the ranks' environment.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Has ranks that say hello wait for `release`.
    pub fn hold(&mut self, holding: bool) {
        self.holding = holding;
    }

    /// Answers those who wait, and everybody at once from now on.
    pub fn release(&mut self) {
        self.holding = false;
        for id in std::mem::take(&mut self.held) {
            let Some(mut connection) = self.connections.remove(&id) else { continue };
            let Some(rank) = connection.rank else { continue };
            match self.welcome(&mut connection, rank) {
                Ok(()) => {
                    // A message that cannot be sent shows as a closed connection when it is served next.
                    let _ = connection.flush();
                    self.watch(id, &connection);
                    self.connections.insert(id, connection);
                }
                Err(why) => self.close(connection, Some(why)),
            }
        }
    }

    /// Readable when `turn` has something to do.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// How far the rank with this place on the node has come.
    pub fn membership(&self, local_rank: usize) -> Membership {
        self.members.get(local_rank).copied().unwrap_or(Membership::Absent)
    }

    /// Messages and bytes that ranks have sent, and messages and bytes that were sent to them.
    pub fn traffic(&self) -> [u64; 4] {
        let open = self.connections.values().filter(|connection| connection.rank.is_some());
        open.fold(self.traffic, |sum, connection| add(sum, connection.traffic))
    }

    /// Tells the ranks that wait that all ranks of the job have come to the fence.
    pub fn pass_fence(&mut self) {
        let all = self.exchange.pass();
        self.answer_all(&all, &ToRank::FenceDone);
    }

    /// Notes that a rank of another node has left; ranks that wait at the fence hear that it fails.
    pub fn lose_far(&mut self, rank: u32) {
        self.fail_fence(rank);
    }

    /// The value that a rank of this node has published, and then those of the others under the same key, as far as `limit` bytes
    /// go: for another node. False: there is more.
    pub fn values(&self, proc: u32, key: &str, limit: usize) -> (Values, bool) {
        self.exchange.all_under(proc, key, &self.job.facts.local_ranks, limit)
    }

    /// The answer to an `Event::Wanted` for `proc`; `whole`: its node has no more under this key.
    pub fn receive_values(&mut self, proc: u32, key: &str, values: Values, whole: bool) {
        for (proc, value) in values {
            if self.place(proc).is_none() {
                self.receive_value(proc, key, value);
            }
        }
        let map = self.job.facts.map.clone();
        let Some(node) = map.node_of(proc) else { return };
        let left = self.exchange.still_asked(node, key, |other| map.node_of(other) == Some(node));
        if whole {
            left.into_iter().for_each(|proc| self.receive_value(proc, key, None));
        } else if let Some(&proc) = left.first() {
            self.exchange.ask_again(node, key);
            self.events.push(Event::Wanted { proc, key: key.to_owned() });
        }
    }

    /// Keeps a value of another node and sends it to the ranks that wait for it.
    fn receive_value(&mut self, proc: u32, key: &str, value: Option<Vec<u8>>) {
        let waiting = self.exchange.keep_far(proc, key.to_owned(), value.as_deref());
        self.answer_all(&waiting, &ToRank::Value { proc, key: key.to_owned(), value });
    }

    /// Tells the ranks that wait at the fence that it fails because `rank` is gone.
    fn fail_fence(&mut self, rank: u32) {
        let waiting = self.exchange.lost(rank);
        self.answer_all(&waiting, &ToRank::FenceFailed(will_not_come(rank)));
    }

    /// Notes that a rank's process `pid` ended without a hello, here or on another node: those at a fence wait in vain.
    pub fn never_comes(&mut self, rank: u32, pid: u32) {
        self.never.get_or_insert((rank, pid));
        self.look_for_waiting();
    }

    /// Says once that somebody waits for a rank that never comes.
    fn look_for_waiting(&mut self) {
        if let (Some((rank, pid)), Some(waiting)) = (self.never, self.exchange.first_waiting())
            && !std::mem::replace(&mut self.never_said, true)
        {
            self.events.push(Event::NeverCame { rank, pid, waiting });
        }
    }

    /// Does all there is to do and returns what happened.
    pub fn turn(&mut self) -> Result<Vec<Event>, Error> {
        loop {
            let mut ready = Vec::with_capacity(64);
            let none = rustix::event::Timespec::default();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut ready), Some(&none)) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(why) => return Err(Error::system("cannot wait on the ranks' connections", why)),
            }
            if ready.is_empty() {
                return Ok(std::mem::take(&mut self.events));
            }
            for event in ready {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    id => self.serve(id),
                }
            }
        }
    }

    /// Accepts all connections that wait to be accepted, and serves each once.
    fn accept(&mut self) -> Result<(), Error> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                // The one who called is gone again, or hangs up while we look.
                Err(why) if why.raw_os_error() == Some(libc::ECONNABORTED) => continue,
                Err(why) => return Err(Error::system("cannot accept a rank's connection", why)),
            };
            // A process of another user is not answered at all.
            let Some(connection) = Connection::of_same_user(stream) else { continue };
            self.drop_oldest_stranger();
            let id = self.next_id;
            self.next_id += 1;
            let flags = EventFlags::IN | EventFlags::RDHUP;
            epoll::add(&self.epoll, &connection, EventData::new_u64(id), flags)
                .map_err(|why| Error::system("cannot wait on a rank's connection", why))?;
            self.connections.insert(id, connection);
            // Its hello is usually there already.
            self.serve(id);
        }
    }

    /// Keeps the number of connections that have shown no secret below a bound.
    fn drop_oldest_stranger(&mut self) {
        let bound = self.members.len() + 64;
        let strangers = self.connections.iter().filter(|(_, c)| c.rank.is_none());
        if strangers.clone().count() >= bound {
            let oldest = strangers.map(|(&id, _)| id).next();
            oldest.and_then(|id| self.connections.remove(&id));
        }
    }

    /// Reads, answers and writes one connection, and drops it when it is over.
    fn serve(&mut self, id: u64) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        let mut progress = connection.read();
        loop {
            match connection.next() {
                Ok(Some(message)) => {
                    if let Err(why) = self.take(id, &mut connection, message) {
                        return self.close(connection, Some(why));
                    }
                }
                Ok(None) => break,
                Err(why) => return self.close(connection, Some(Refusal::from(why))),
            }
        }
        if connection.flush().is_err() {
            progress = Progress::Closed;
        }
        match progress {
            Progress::Closed => self.close(connection, None),
            Progress::Open => {
                self.watch(id, &connection);
                self.connections.insert(id, connection);
            }
        }
    }

    /// Has the epoll say when there is room again, if there is something to send.
    fn watch(&self, id: u64, connection: &Connection) {
        let mut flags = EventFlags::IN | EventFlags::RDHUP;
        flags.set(EventFlags::OUT, connection.has_unsent());
        // It was added with these arguments before: nothing can be wrong with them.
        let _ = epoll::modify(&self.epoll, connection, EventData::new_u64(id), flags);
    }

    /// Drops a connection: reports a rank that left or broke the protocol, or tells a stranger the refusal.
    fn close(&mut self, mut connection: Connection, refusal: Option<Refusal>) {
        if let Some(rank) = connection.rank {
            self.traffic = add(self.traffic, connection.traffic);
            let finalized = matches!(self.member(rank), Some(Membership::Finalized { .. }));
            self.events.push(match &refusal {
                Some(why) => Event::Broken { rank, why: why.0.clone() },
                None => Event::Left { rank, finalized },
            });
            if self.exchange.gone().is_none() {
                self.events.push(Event::Gone { rank });
            }
            self.shares.gone(rank);
            self.fail_fence(rank);
        } else if let Some(Refusal(why)) = refusal {
            // A last word, if it fits.
            let _ = connection.queue(&ToRank::Refused(why), None);
            let _ = connection.flush();
        }
    }

    /// One message of a connection that is not in the table at the moment.
    fn take(&mut self, id: u64, connection: &mut Connection, message: ToDaemon) -> Result<(), Refusal> {
        let Some(rank) = connection.rank else { return self.join(id, connection, message) };
        match message {
            ToDaemon::Hello { .. }
            | ToDaemon::Witness { .. }
            | ToDaemon::Crash { .. }
            | ToDaemon::Borrow { .. } => {
                return Err(Refusal("it said hello twice".into()));
            }
            ToDaemon::Jobs(request) => self.events.push(Event::Jobs { rank, request }),
            ToDaemon::Put(pairs) => self.exchange.publish(rank, pairs).map_err(Refusal)?,
            ToDaemon::Get { proc, key } => self.get(id, connection, proc, key)?,
            ToDaemon::Share { key, bytes } => self.share(connection, rank, &key, bytes)?,
            ToDaemon::GiveUp { key } => self.shares.give_up(rank, &key),
            ToDaemon::Fence => {
                if let Some(gone) = self.exchange.gone() {
                    connection.queue(&ToRank::FenceFailed(will_not_come(gone)), None)?;
                } else {
                    match self.exchange.enter(rank, id).map_err(Refusal)? {
                        Entered::Waits => self.look_for_waiting(),
                        Entered::AllHere => {
                            self.events.push(Event::AllHere);
                            self.look_for_waiting();
                        }
                        Entered::Passed(all) => {
                            connection.queue(&ToRank::FenceDone, None)?;
                            self.answer_all(&all, &ToRank::FenceDone);
                        }
                    }
                }
            }
            ToDaemon::Help { component, topic, text } => {
                self.events.push(Event::Help { rank, component, topic, text });
            }
            ToDaemon::Abort { code, origin, message, peer } => {
                self.events.push(Event::Abort { rank, code, origin, message, peer });
            }
            ToDaemon::Finalized => {
                if let Some(member) = self.member_mut(rank) {
                    *member = Membership::Finalized { pid: connection.pid };
                }
                self.events.push(Event::Finalized { rank });
            }
            ToDaemon::Resumed => {
                if let Some(member) = self.member_mut(rank) {
                    *member = Membership::Joined { pid: connection.pid };
                }
                self.events.push(Event::Joined { rank, pid: connection.pid });
            }
        }
        match connection.unsent() <= 2 * DAEMON_LIMIT {
            true => Ok(()),
            false => Err(Refusal("it asks and does not read the answers".into())),
        }
    }

    /// A value for a connection that is not in the table at the moment; one of another node comes later.
    fn get(&mut self, id: u64, connection: &mut Connection, proc: u32, key: String) -> Result<(), Refusal> {
        if self.place(proc).is_some() || proc >= self.job.facts.size {
            let value = self.exchange.get(proc, &key);
            return Ok(connection.queue(&ToRank::Value { proc, key, value }, None)?);
        }
        let node = self.job.facts.map.node_of(proc).unwrap_or(u32::MAX);
        match self.exchange.get_far(node, proc, key.clone(), id).map_err(Refusal)? {
            Found::Here(value) => {
                connection.queue(&ToRank::Value { proc, key, value: Some(value) }, None)?;
            }
            Found::Waits => {}
            Found::Far => self.events.push(Event::Wanted { proc, key }),
        }
        Ok(())
    }

    /// Memory of the node, for a connection that is not in the table at the moment.
    fn share(
        &mut self,
        connection: &mut Connection,
        rank: u32,
        key: &str,
        bytes: u64,
    ) -> Result<(), Refusal> {
        let denied = |other_size, why| ToRank::NotShared { other_size, why };
        let (answer, memory) = match self.shares.take(rank, key, bytes) {
            Ok((memory, first)) => (ToRank::Shared { first }, Some(memory)),
            Err(Denied::OtherSize(bytes)) => (denied(true, format!("it has {bytes} bytes")), None),
            Err(Denied::Cannot(why)) => (denied(false, why), None),
        };
        Ok(connection.queue(&answer, memory)?)
    }

    /// Handles a message of a connection without a rank: hello, a witness's hello, or a crash report.
    fn join(&mut self, id: u64, connection: &mut Connection, message: ToDaemon) -> Result<(), Refusal> {
        let refuse = |why: String| Err(Refusal(why));
        if let ToDaemon::Borrow { version, secret, key, bytes } = message {
            return self.lend(connection, version, &secret, &key, bytes);
        }
        let (version, secret, rank, witness) = match message {
            ToDaemon::Hello { version, secret, rank, .. } => (version, secret, rank, false),
            ToDaemon::Witness { version, secret, rank } => (version, secret, rank, true),
            ToDaemon::Crash { moment, to, stack, maps } => {
                let Some(rank) = connection.witness else {
                    return refuse("it reports a crash without having shown the secret".into());
                };
                let pid = connection.pid;
                self.events.push(Event::Crash(Crash { rank, pid, moment, to, stack, maps }));
                return Ok(());
            }
            _ => return refuse("its first word is not hello".into()),
        };
        self.admit(version, &secret)?;
        let Some(member) = self.member(rank) else {
            return refuse(format!("rank {rank} is not one of this node's"));
        };
        if witness {
            connection.witness = Some(rank);
            connection.accept_payloads(RANK_LIMIT);
            return Ok(());
        }
        match member {
            Membership::Absent => {}
            Membership::Joined { pid } | Membership::Finalized { pid } => {
                return refuse(format!(
                    "rank {rank} of this job is or was process {pid}, and a rank's place is taken once. \
                     If this program was started by an MPI program, start it by mpirun, or without \
                     the variable {} for a job of its own",
                    super::SOCKET_VARIABLE
                ));
            }
        }
        connection.rank = Some(rank);
        connection.accept_payloads(RANK_LIMIT);
        if let Some(member) = self.member_mut(rank) {
            *member = Membership::Joined { pid: connection.pid };
        }
        self.events.push(Event::Joined { rank, pid: connection.pid });
        if self.holding {
            self.held.push(id);
            return Ok(());
        }
        self.welcome(connection, rank)
    }

    /// Refuses who does not know the secret, or speaks another version.
    fn admit(&self, version: u32, secret: &Secret) -> Result<(), Refusal> {
        match self.job.secret.matches(secret.bytes()) {
            false => Err(Refusal("it does not know the job's secret".into())),
            true if version == VERSION => Ok(()),
            true => Err(Refusal(format!(
                "it speaks version {version} of the wire-up and this daemon version {VERSION}; \
                 mpirun and the library come from different installations"
            ))),
        }
    }

    /// Memory of the node for a process of another job, which is no holder.
    fn lend(
        &mut self,
        connection: &mut Connection,
        version: u32,
        secret: &Secret,
        key: &str,
        bytes: u64,
    ) -> Result<(), Refusal> {
        self.admit(version, secret)?;
        let denied = |other_size, why| ToRank::NotShared { other_size, why };
        let (answer, memory) = match self.shares.find(key) {
            Some((memory, size)) if size == bytes => (ToRank::Shared { first: false }, Some(memory)),
            Some((_, size)) => (denied(true, format!("it has {size} bytes")), None),
            None => (denied(false, "no rank of that job has such memory".into()), None),
        };
        Ok(connection.queue(&answer, memory)?)
    }

    /// Sends a rank of this node mpirun's words about other jobs. One that is gone needs none.
    pub fn reply(&mut self, rank: u32, reply: JobsReply) {
        let of_rank = self.connections.iter().find(|(_, connection)| connection.rank == Some(rank));
        if let Some((&id, _)) = of_rank {
            self.answer_all(&[id], &ToRank::Jobs(reply));
        }
    }

    /// Tells a rank everything, with the segment beside.
    fn welcome(&self, connection: &mut Connection, rank: u32) -> Result<(), Refusal> {
        Ok(connection.queue(&ToRank::Facts(self.facts_of(rank)), Some(Arc::clone(&self.segment)))?)
    }

    /// The job's facts as this rank is told them.
    fn facts_of(&self, rank: u32) -> JobFacts {
        let mut facts = self.job.facts.clone();
        facts.rank = rank;
        facts.local_rank = self.place(rank).unwrap_or(0) as u32;
        facts
    }

    /// Sends an answer to connections; one that is being served is skipped, its caller answers.
    fn answer_all(&mut self, ids: &[u64], answer: &ToRank) {
        for id in ids {
            // Absent: the connection being served; its caller answers.
            let Some(connection) = self.connections.get_mut(id) else { continue };
            // A message that cannot be sent shows as a closed connection when it is served next.
            let _ = connection.queue(answer, None);
            let _ = connection.flush();
            let connection = &self.connections[id];
            self.watch(*id, connection);
        }
    }

    /// Place of a job rank on this node.
    fn place(&self, rank: u32) -> Option<usize> {
        self.job.facts.local_ranks.binary_search(&rank).ok()
    }

    fn member(&self, rank: u32) -> Option<Membership> {
        self.members.get(self.place(rank)?).copied()
    }

    fn member_mut(&mut self, rank: u32) -> Option<&mut Membership> {
        let place = self.place(rank)?;
        self.members.get_mut(place)
    }
}

/// The text of a fence that fails because a rank has ended.
fn will_not_come(rank: u32) -> String {
    format!("rank {rank} has ended and will not come to the fence")
}
