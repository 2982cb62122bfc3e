//! The engine: the network card of a process, a thread of its own and whoever polls.
//!
//! Entry points hand it commands through a queue; connections and the operations under way are touched by the holder of `CARD` alone, so those
//! have no other lock. A turn takes commands, records of all connections and what is due, and sends what finds room. A program that polls in
//! vain takes a turn itself, and the thread leaves the card to it as long as it goes on, so a machine with fewer processors than ranks
//! and cards needs no change of threads for each record. Otherwise the thread takes the turns; without work it
//! sleeps on its bell, its listeners and its connections, holding the card; `ASLEEP` and the flags in the rings are set before the last look, so
//! nobody who comes then is missed.

mod initiator;
mod state;
mod target;

pub use state::name;
use state::{Delayed, Engine, LinkId};

use crate::config::config;
use crate::counters::{self, Counter};
use crate::datagram::{Packet, Peer};
use crate::domain::Nic;
use crate::frame::{Header, Kind};
use crate::link::{Caller, Greeted, Item, Link};
use crate::node;
use crate::operation::Operation;
use crate::sys;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

pub enum Command {
    Listen(OwnedFd, Arc<Nic>),
    /// The domain with this cookie and instance is gone; answered when its name is free.
    Forget(u32, u32, Sender<()>),
    Post(Box<Operation>),
    Datagram(Arc<Nic>, Packet),
}

struct CommandQueue {
    commands: Mutex<VecDeque<Command>>,
    bell: OwnedFd,
}

static SHARED: OnceLock<CommandQueue> = OnceLock::new();
static ASLEEP: AtomicBool = AtomicBool::new(false);
static CARD: Mutex<Option<Engine>> = Mutex::new(None);
/// Polls in vain: while the number grows the thread leaves the card to those who poll.
static POLLS: AtomicU64 = AtomicU64::new(0);
/// Somebody is about to sleep, whether others poll or not.
static IS_LEFT: AtomicBool = AtomicBool::new(false);
/// The time after which the thread looks whether there are still polls.
const LEND: Duration = Duration::from_millis(1);

/// Starts the engine unless it runs.
pub fn start() -> io::Result<()> {
    static STARTED: Mutex<bool> = Mutex::new(false);
    let mut started = STARTED.lock().unwrap_or_else(|e| e.into_inner());
    if *started {
        return Ok(());
    }
    let bell = sys::bell()?;
    let _ = SHARED.set(CommandQueue { commands: Mutex::default(), bell });
    *card() = Some(Engine::new());
    std::thread::Builder::new().name("ugni-engine".into()).spawn(run)?;
    *started = true;
    Ok(())
}

/// Gives the engine something to do.
pub fn submit(command: Command) {
    let Some(shared) = SHARED.get() else { return };
    shared.commands.lock().unwrap_or_else(|e| e.into_inner()).push_back(command);
    wake(shared);
}

fn wake(shared: &CommandQueue) {
    if ASLEEP.swap(false, Ordering::SeqCst) {
        sys::ring(&shared.bell);
    }
}

fn card() -> MutexGuard<'static, Option<Engine>> {
    CARD.lock().unwrap_or_else(|e| e.into_inner())
}

/// Takes a turn for a program that has polled in vain, and gives its processor to others where nothing was to be done. No lock is held but
/// the program's own.
pub fn turn_for_caller() {
    let Some(shared) = SHARED.get() else { return };
    POLLS.fetch_add(1, Ordering::SeqCst);
    // The thread has the card while it sleeps.
    if ASLEEP.load(Ordering::SeqCst) {
        wake(shared);
    }
    let worked = CARD.try_lock().is_ok_and(|mut card| card.as_mut().is_some_and(Engine::work));
    if worked {
        counters::add(Counter::PolledTurns, 1);
    } else {
        std::thread::yield_now();
    }
}

/// Has the thread take the turns from now on: the caller is about to sleep.
pub fn take_over() {
    let Some(shared) = SHARED.get() else { return };
    if !ASLEEP.load(Ordering::SeqCst) {
        IS_LEFT.store(true, Ordering::SeqCst);
        sys::ring(&shared.bell);
    }
}

/// The thread.
fn run() {
    let shared = SHARED.get().expect("set before the thread starts");
    let mut seen = 0;
    loop {
        let mut card = card();
        let engine = card.as_mut().expect("made before the thread starts");
        let worked = engine.work();
        let polls = POLLS.load(Ordering::SeqCst);
        let is_left = IS_LEFT.swap(false, Ordering::SeqCst);
        if polls != std::mem::replace(&mut seen, polls) && !is_left {
            drop(card);
            sys::wait(&[shared.bell.as_raw_fd()], Some(LEND));
            sys::silence(&shared.bell);
        } else if !worked && engine.sleep() {
            engine.look();
        }
    }
}

impl Engine {
    /// A turn. False: there was nothing to do.
    fn work(&mut self) -> bool {
        let mut worked = self.take_commands();
        worked |= self.receive_all();
        worked |= self.send_delayed();
        worked |= self.pump_all();
        worked |= self.end_shuffled();
        self.turns += 1;
        // A busy peer does not keep callers waiting for ever.
        if self.turns.is_multiple_of(64) {
            self.look();
        }
        worked
    }

    fn take_commands(&mut self) -> bool {
        let shared = SHARED.get().expect("set before the engine starts");
        let commands = std::mem::take(&mut *shared.commands.lock().unwrap_or_else(|e| e.into_inner()));
        let any = !commands.is_empty();
        for command in commands {
            match command {
                Command::Listen(listener, nic) => {
                    self.listeners.insert((nic.cookie, nic.inst), (listener, nic));
                }
                Command::Forget(cookie, inst, done) => {
                    self.listeners.remove(&(cookie, inst));
                    // Nobody waits any more where that fails.
                    let _ = done.send(());
                }
                Command::Post(operation) => self.post(*operation),
                Command::Datagram(nic, packet) => self.send_packet(Delayed {
                    due: Instant::now(),
                    tries: 0,
                    is_counted: false,
                    nic,
                    packet,
                }),
            }
        }
        any
    }

    fn receive_all(&mut self) -> bool {
        let mut any = false;
        let ids: Vec<LinkId> = self.links.keys().copied().collect();
        let mut buffer = std::mem::take(&mut self.buffer);
        for id in ids {
            // A busy peer does not keep the others waiting.
            for _ in 0..64 {
                let Some(link) = self.links.get_mut(&id) else { break };
                match link.receive(&mut buffer) {
                    Ok(None) => break,
                    Ok(Some(n)) => {
                        any = true;
                        if !self.take_record(id, &buffer[..n]) {
                            self.drop_link(id);
                        }
                    }
                    Err(_) => {
                        self.drop_link(id);
                        any = true;
                    }
                }
            }
        }
        self.buffer = buffer;
        any
    }

    /// False: it is no frame.
    fn take_record(&mut self, id: LinkId, record: &[u8]) -> bool {
        let Some((kind, header, payload)) = Header::parse(record) else { return false };
        let from = (header.from_addr, header.from_inst);
        match kind {
            Kind::Put | Kind::Get | Kind::Amo | Kind::CqWrite => self.serve(id, kind, &header, payload),
            Kind::Done | Kind::Data => self.answered(id, kind, &header, payload),
            Kind::Datagram | Kind::Reply | Kind::Withdraw => self.take_datagram(kind, &header, from, payload),
        }
        true
    }

    fn take_datagram(&mut self, kind: Kind, header: &Header, from: Peer, payload: &[u8]) {
        let Some((_, nic)) = self.listeners.get(&(header.cookie, header.to_inst)) else { return };
        let nic = nic.clone();
        let reply = {
            let mut sessions = nic.sessions();
            match kind {
                Kind::Datagram => sessions.arrived(from, header.a, payload),
                Kind::Reply => {
                    sessions.replied(from, header.a, payload);
                    None
                }
                _ => {
                    sessions.withdrawn(from, header.a);
                    None
                }
            }
        };
        nic.session_changed.notify_all();
        if let Some(packet) = reply {
            self.send_packet(Delayed { due: Instant::now(), tries: 0, is_counted: false, nic, packet });
        }
    }

    /// Sends a datagram's packet, now or after the set-up's delay; one that is not delivered is tried again, later each time.
    ///
    /// Packets to one peer keep their order, and a post that the peer's own has met meanwhile does not go out: it would come behind the
    /// answer that the peer has had from here, and begin a session there whose answer nobody waits for.
    fn send_packet(&mut self, mut d: Delayed) {
        if let Packet::Post { generation, .. } = d.packet
            && !d.nic.sessions().is_waiting(generation)
        {
            return;
        }
        let same = |other: &&Delayed| other.packet.to() == d.packet.to() && Arc::ptr_eq(&other.nic, &d.nic);
        if let Some(before) = self.delayed.iter().rfind(same) {
            d.due = before.due;
            return self.delayed.push(d);
        }
        if d.tries == 0 && config().datagram_delay > Duration::ZERO {
            d.due = Instant::now() + config().datagram_delay;
            d.tries = 1;
            return self.delayed.push(d);
        }
        d.tries += 1;
        // Once at most: counted among all attempts, one of two packets that are tried again in turn would always be the lost one.
        let drop = config().datagram_drop;
        self.datagrams += u64::from(!d.is_counted);
        let is_lost = !d.is_counted && drop != 0 && self.datagrams.is_multiple_of(drop);
        d.is_counted = true;
        let refused = match is_lost {
            true => None,
            false => match self.try_packet(&d) {
                Ok(()) => return,
                Err(why) => Some(why.kind()),
            },
        };
        if refused == Some(io::ErrorKind::WouldBlock) {
            // The peer listens, and has had no core to take those who call: that is none of its failures, however long it lasts.
            counters::add(Counter::Waits, 1);
            d.tries -= 1;
        }
        const TRIES: u32 = 60;
        if d.tries > TRIES {
            if let Packet::Post { generation, .. } = d.packet {
                d.nic.sessions().failed(generation);
                d.nic.session_changed.notify_all();
            }
            return;
        }
        let wait = u64::from(d.tries.saturating_sub(1)).pow(2).min(1000);
        d.due = Instant::now() + Duration::from_millis(wait.max(1));
        self.delayed.push(d);
    }

    /// Puts a packet into the connection to its peer. WouldBlock: the peer is there and takes no callers now.
    fn try_packet(&mut self, d: &Delayed) -> io::Result<()> {
        let (kind, to, generation, data): (_, _, _, &[u8]) = match &d.packet {
            Packet::Post { to, generation, data } => (Kind::Datagram, *to, *generation, data),
            Packet::Reply { to, generation, data } => (Kind::Reply, *to, *generation, data),
            Packet::Withdraw { to, generation } => (Kind::Withdraw, *to, *generation, &[]),
        };
        let id = self.link_to(d.nic.cookie, to)?;
        let mut header = Header::new(kind);
        header.len = data.len() as u32;
        (header.to_inst, header.from_inst, header.from_addr) = (to.1, d.nic.inst, d.nic.address);
        (header.cookie, header.a) = (d.nic.cookie, generation);
        if let Some(link) = self.links.get_mut(&id) {
            link.queue.push_back(Item::Frame(header, data.to_vec()));
        }
        Ok(())
    }

    fn send_delayed(&mut self) -> bool {
        let now = Instant::now();
        let (due, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.delayed).into_iter().partition(|d| d.due <= now);
        self.delayed = rest;
        let any = !due.is_empty();
        due.into_iter().for_each(|d| self.send_packet(d));
        any
    }

    /// Waits for something to do. True: there may be a caller, a nudge or the end of a connection.
    fn sleep(&mut self) -> bool {
        let shared = SHARED.get().expect("set before the engine starts");
        ASLEEP.store(true, Ordering::SeqCst);
        self.links.values().for_each(|l| l.sleep(true));
        let something = !shared.commands.lock().unwrap_or_else(|e| e.into_inner()).is_empty()
            || self.links.values().any(Link::has_records);
        let mut is_called = false;
        if !something {
            // Records that come through a socket are not a caller's.
            let (records, nudges): (Vec<_>, Vec<_>) = self.links.values().partition(|l| l.has_socket_alone());
            let mut fds = vec![shared.bell.as_raw_fd()];
            fds.extend(records.into_iter().map(Link::descriptor));
            let of_callers = fds.len();
            fds.extend(nudges.into_iter().map(Link::descriptor));
            fds.extend(node::descriptor());
            fds.extend(self.listeners.values().map(|(l, _)| l.as_raw_fd()));
            fds.extend(self.callers.iter().map(Caller::descriptor));
            let due = self.delayed.iter().map(|d| d.due.saturating_duration_since(Instant::now())).min();
            // A peer that makes room says nothing.
            let blocked =
                self.links.values().any(|l| !l.queue.is_empty()).then_some(Duration::from_micros(50));
            let ready = sys::wait(&fds, due.into_iter().chain(blocked).min());
            is_called = ready.iter().any(|i| *i >= of_callers);
        }
        ASLEEP.store(false, Ordering::SeqCst);
        self.links.values().for_each(|l| l.sleep(false));
        sys::silence(&shared.bell);
        is_called
    }

    /// Takes callers and ends of connections.
    fn look(&mut self) {
        node::serve();
        for (listener, _) in self.listeners.values() {
            while let Ok(socket) = sys::accept(listener) {
                self.callers.push(Caller::new(socket));
            }
        }
        for caller in std::mem::take(&mut self.callers) {
            match caller.look() {
                Greeted::NotYet(caller) => self.callers.push(caller),
                Greeted::Link(link) => {
                    self.adopt(link);
                }
                Greeted::Gone => {}
            }
        }
        self.links.values_mut().for_each(Link::look);
    }
}
