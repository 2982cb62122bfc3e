//! The device of a process: one engine under one lock, run by a thread of its own, and, to spare a busy machine the switch, also by whoever
//! posts or polls in vain and finds the lock free. So everything goes on while the program computes.
//!
//! SYNC POINT: whoever rings puts the pair's number on the list, then looks at `asleep`; the thread says that it sleeps, then turns once
//! more. While programs poll (`polls` moves) the thread naps instead of asking to be woken for each packet, and longer each time that they
//! have left it nothing to do.

use crate::config::Config;
use crate::counters::{self, Counter};
use crate::links::{INDEX_BITS, InboundLink, Links};
use crate::memory::Memory;
use crate::objects::{Engine, Nic, Pair, Pairs, QpCore};
use crate::requests::locked;
use crate::sys;
use oxmpi_verbs_abi::numbers::event;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Packets taken from one process in a turn.
const BATCH: usize = 64;
/// Turns by whoever posts or polls.
const HELP: usize = 8;
/// Turns that found something to do, after which callers are looked for.
const STREAK: u32 = 64;
const NAP: Duration = Duration::from_micros(300);
const LONGEST_NAP: Duration = Duration::from_millis(4);
const TICK: Duration = Duration::from_millis(2);

/// The device of this process, made when it is first opened.
pub fn nic() -> Result<Arc<Nic>, String> {
    static NIC: Mutex<Option<Arc<Nic>>> = Mutex::new(None);
    let mut place = locked(&NIC);
    if let Some(nic) = &*place
        && nic.process == std::process::id()
    {
        return Ok(nic.clone());
    }
    let config = Config::of_environment()?;
    let nic = Nic::open(config).map_err(|e| e.to_string())?;
    *place = Some(nic.clone());
    Ok(nic)
}

impl Nic {
    fn open(config: Config) -> std::io::Result<Arc<Nic>> {
        let links = Links::open(&config)?;
        let nic = Arc::new(Nic {
            config,
            memory: Memory::default(),
            engine: Mutex::new(Engine { pairs: Pairs::default(), links }),
            wake: sys::bell()?,
            asleep: AtomicBool::new(false),
            timed: AtomicBool::new(false),
            polls: AtomicU64::new(0),
            rung: Mutex::default(),
            port_up: AtomicBool::new(true),
            has_gone_down: AtomicBool::new(false),
            numbers: AtomicU64::new(1),
            contexts: Mutex::default(),
            process: std::process::id(),
        });
        let thread = nic.clone();
        std::thread::Builder::new().name("verbs-fake".into()).spawn(move || thread.run())?;
        Ok(nic)
    }

    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub fn engine(&self) -> std::sync::MutexGuard<'_, Engine> {
        locked(&self.engine)
    }

    /// Enters a pair under a new number. `None`: as many as there may be.
    pub fn enter(&self, make: impl FnOnce(u32) -> QpCore) -> Option<Arc<QpCore>> {
        let mut engine = self.engine();
        let base = engine.links.number << INDEX_BITS;
        let pairs = &mut engine.pairs;
        if pairs.all.len() >= self.config.max_qp as usize {
            return None;
        }
        let num = loop {
            pairs.next = pairs.next % ((1 << INDEX_BITS) - 1) + 1;
            let num = base | pairs.next;
            if !pairs.all.contains_key(&num) {
                break num;
            }
        };
        let core = Arc::new(make(num));
        pairs.all.insert(num, Pair::new(core.clone()));
        counters::add(Counter::Qps, 1);
        counters::add(Counter::Bytes, counters::bytes::QP);
        Some(core)
    }

    pub fn remove(&self, num: u32) {
        if self.engine().pairs.all.remove(&num).is_some() {
            counters::sub(Counter::Qps, 1);
            counters::sub(Counter::Bytes, counters::bytes::QP);
        }
    }

    /// A doorbell.
    pub fn ring(&self, num: u32) {
        locked(&self.rung).push(num);
        if let Ok(mut engine) = self.engine.try_lock() {
            self.help(&mut engine);
            return;
        }
        self.rouse();
    }

    /// Turns by another thread than the engine's. The engine's thread handles the rest (a packet to this process itself, for which no
    /// socket wakes a thread, or a pair that waits for an answer): it looks at it soon or is woken.
    fn help(&self, engine: &mut Engine) {
        let done = (0..HELP).any(|_| self.turn(engine) == 0);
        if !done || !engine.pairs.active.is_empty() && !self.timed.load(Ordering::Relaxed) {
            self.rouse();
        }
    }

    fn rouse(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.swap(false, Ordering::SeqCst) {
            sys::ring(&self.wake);
        }
    }

    /// Takes the port up or down, and tells the programs.
    pub fn set_port(&self, up: bool) {
        self.port_up.store(up, Ordering::SeqCst);
        let kind = if up { event::PORT_ACTIVE } else { event::PORT_ERR };
        for context in locked(&self.contexts).iter().filter_map(Weak::upgrade) {
            context.events.raise(kind, 1);
        }
    }

    /// A program polls and finds nothing: it lends the device its core.
    pub fn turn_for_caller(&self) {
        self.polls.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut engine) = self.engine.try_lock() {
            self.help(&mut engine);
        }
    }

    /// One turn of everything. How much it did.
    fn turn(&self, engine: &mut Engine) -> usize {
        let mut did = 0;
        let Engine { pairs, links } = engine;
        for num in locked(&self.rung).drain(..) {
            pairs.activate(num);
        }
        for inbound in &mut links.inbound {
            inbound.hear_question();
            did += self.receive(inbound, pairs);
        }
        if links.has_taken(did, self.config.stop_at) {
            sys::stop();
        }
        let is_due = self.config.down_at != 0 && links.sent() >= self.config.down_at;
        if is_due && !self.has_gone_down.swap(true, Ordering::Relaxed) {
            self.set_port(false);
        }
        let up = self.port_up.load(Ordering::Relaxed);
        let active = std::mem::take(&mut pairs.active);
        for num in active {
            let Some(pair) = pairs.all.get_mut(&num) else { continue };
            let step = pair.step(self, links, up);
            did += step.did;
            pair.is_active = step.goes_on;
            if step.goes_on {
                pairs.active.push(num);
            }
        }
        // Behind the answers of this turn.
        links.answer_questions(|process| {
            let is_unpaid = |pair: &Pair| pair.owes(process);
            pairs.all.values().any(is_unpaid)
        });
        did
    }

    /// Takes packets of a process: how many.
    fn receive(&self, inbound: &InboundLink, pairs: &mut Pairs) -> usize {
        for did in 0..BATCH {
            let taken = inbound.ring.pop(|packet, bytes| {
                if let Some(pair) = pairs.all.get_mut(&packet.to) {
                    pair.take(self, packet, bytes);
                    if !pair.is_active {
                        pair.is_active = true;
                        pairs.active.push(packet.to);
                    }
                }
            });
            match taken {
                Some(true) => {}
                Some(false) => {
                    eprintln!("fake verbs: a peer has written over its ring");
                    std::process::abort();
                }
                None => return did,
            }
        }
        BATCH
    }

    fn run(&self) {
        let (mut polls, mut nap, mut streak) = (0, NAP, 0u32);
        loop {
            let mut engine = self.engine();
            if self.turn(&mut engine) > 0 {
                nap = NAP;
                streak = streak.wrapping_add(1);
                // A caller is heard also while there is always something to do.
                if streak.is_multiple_of(STREAK) {
                    let ready = sys::wait(&engine.links.descriptors(), Some(Duration::ZERO));
                    engine.links.look(&ready);
                }
                continue;
            }
            let seen = self.polls.load(Ordering::Relaxed);
            let attended = std::mem::replace(&mut polls, seen) != seen;
            if !attended {
                self.asleep.store(true, Ordering::SeqCst);
                fence(Ordering::SeqCst);
                engine.links.sleep(true);
                if self.turn(&mut engine) > 0 {
                    self.asleep.store(false, Ordering::SeqCst);
                    engine.links.sleep(false);
                    continue;
                }
            }
            let mut fds = engine.links.descriptors();
            fds.push(self.wake.as_raw_fd());
            let busy = !engine.pairs.active.is_empty();
            if busy || !attended {
                nap = NAP;
            }
            let limit = if attended { Some(nap) } else { busy.then_some(TICK) };
            nap = (nap * 2).min(LONGEST_NAP);
            self.timed.store(limit.is_some(), Ordering::Relaxed);
            drop(engine);
            let ready = sys::wait(&fds, limit);
            self.asleep.store(false, Ordering::SeqCst);
            if ready.contains(&self.wake.as_raw_fd()) {
                sys::silence(&self.wake);
            }
            let mut engine = self.engine();
            engine.links.sleep(false);
            if !ready.is_empty() {
                engine.links.look(&ready);
            }
        }
    }
}

impl Pairs {
    fn activate(&mut self, num: u32) {
        if let Some(pair) = self.all.get_mut(&num)
            && !pair.is_active
        {
            pair.is_active = true;
            self.active.push(num);
        }
    }
}
