//! The connecting thread: makes links by four datagrams, and hears what devices tell by themselves.
//!
//! *Request* (who calls whom, for which lanes, a challenge) → *Reply* (the called one's challenge) → *Prove* (the caller's queue pair, with the
//! answer to the challenge) → *Ready* (the called one's queue pair, connected already, with its answer). Nothing is made for a stranger
//! before it has proved that it is of the job. Datagrams get lost: the caller repeats until it is answered or its time is over, the called one
//! answers repetitions alike. Where both call, the call of the lower name is kept.
//!
//! The queue pair of an abandoned call is used for the other's call, or handed to its lane, whose holder destroys it: this thread never destroys
//! a pair on a lane's completion queue, and never posts on one, since the lane's thread domain is promised to one thread at a time.

use crate::datagrams::{Datagrams, route};
use crate::link::{Link, Made, SERVICE_ROOM};
use crate::objects::{Completions, Pair, Shape};
use crate::proof;
use crate::rail::Rail;
use crate::sys;
use crate::wire::{Datagram, NONCE, Place, Purpose, Say};
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_verbs_abi::QpAttr;
use oxmpi_verbs_abi::numbers::{access, event, qp_mask, qp_state, qp_type};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A datagram without an answer is repeated after this time, and after twice as long each time: a busy machine is not to be kept from
/// answering by repetitions.
const REPEAT: Duration = Duration::from_millis(50);
const LONGEST_REPEAT: Duration = Duration::from_secs(1);
/// Messages beyond the credits for which there are buffers, too: of credits alone, good-bye, the first one, and three about rings.
const RESERVE: u32 = 7;

/// Process, purpose, caller's lane, called one's lane.
type CallKey = (u32, Purpose, u16, u16);

/// A call of ours.
struct Call {
    link: Arc<Link>,
    pair: Pair,
    place: Place,
    datagram: Datagram,
    next: Instant,
    pause: Duration,
    /// The peer counts as failed then; each answer gives it as much time again.
    end: Instant,
}

/// A call of a peer's.
struct Guest {
    attempt: u32,
    theirs: [u8; NONCE],
    ours: [u8; NONCE],
    /// The answer, once it has proved itself.
    answer: Option<Datagram>,
}

/// The thread's own state.
pub struct Desk {
    rail: Arc<Rail>,
    datagrams: Datagrams,
    calls: HashMap<CallKey, Call>,
    guests: HashMap<CallKey, Guest>,
    /// Pairs by which peers reach our memory, by process and its lane; and their queue, on which nothing comes.
    passive: HashMap<(u32, u16), Pair>,
    passive_completions: Option<Arc<Completions>>,
}

impl Desk {
    pub fn new(rail: Arc<Rail>, datagrams: Datagrams) -> Desk {
        Desk {
            rail,
            datagrams,
            calls: HashMap::new(),
            guests: HashMap::new(),
            passive: HashMap::new(),
            passive_completions: None,
        }
    }

    /// The thread's body.
    pub fn run(mut self) {
        let rail = self.rail.clone();
        let mut fds = vec![rail.bell.fd()];
        fds.push(self.datagrams.fd());
        fds.push(rail.port.device.async_fd());
        fds.extend(rail.lanes.iter().map(|l| l.device().async_fd()));
        fds.sort_unstable();
        fds.dedup();
        while !rail.stop.load(Ordering::Acquire) {
            let next = self.calls.values().map(|c| c.next.min(c.end)).min();
            let limit = next.map(|at| at.saturating_duration_since(Instant::now()));
            // SAFETY: of the rail's bell and devices, and of our datagrams, which are here.
            unsafe { sys::wait(&fds, limit) };
            rail.bell.silence();
            for link in rail.orders() {
                self.start(link);
            }
            for datagram in self.datagrams.receive() {
                self.hear(&datagram);
            }
            self.repeat();
            self.hear_devices();
        }
    }

    // ---------------------------------------------------------------- calling

    fn start(&mut self, link: Arc<Link>) {
        let key = (link.peer.proc, link.purpose, link.ours, link.theirs);
        let place = link.peer.place.get().copied();
        if !link.is_calling() || self.calls.contains_key(&key) {
            return;
        }
        let Some(place) = place else { return };
        let made = self.pair_of(&link).and_then(|pair| Ok((pair, random_psn()?, nonce()?)));
        let (pair, psn, theirs) = match made {
            Ok(made) => made,
            Err(why) => return self.rail.fail(&link.peer, &why),
        };
        let now = Instant::now();
        let datagram = Datagram {
            say: Say::Request,
            purpose: link.purpose,
            from: self.rail.name,
            to: link.peer.name,
            calling: link.ours,
            called: link.theirs,
            attempt: link.attempt.load(Ordering::Acquire),
            theirs,
            ours: [0; NONCE],
            number: pair.number(),
            psn,
            credits: self.granted(link.purpose),
            place: self.rail.place,
            proof: [0; AUTH_BYTES],
        };
        let end = now + self.rail.settings.connect_timeout;
        self.send(&place, &datagram);
        let (next, pause) = (now + REPEAT, REPEAT);
        self.calls.insert(key, Call { link, pair, place, datagram, next, pause, end });
    }

    /// Credits that we give on a link of that purpose.
    fn granted(&self, purpose: Purpose) -> u32 {
        match purpose {
            Purpose::Messages => self.rail.settings.credits,
            Purpose::Memory => 0,
            Purpose::Service => SERVICE_ROOM,
        }
    }

    /// A peer's rights to our memory by a link on which messages come.
    fn rights(&self, purpose: Purpose) -> u32 {
        let rings = purpose == Purpose::Messages && self.rail.settings.use_eager_rdma;
        if rings { access::REMOTE_WRITE } else { 0 }
    }

    fn pair_of(&self, link: &Link) -> Result<Pair, String> {
        let lane = self.rail.lanes.get(usize::from(link.ours)).ok_or("it has no such lane")?;
        let settings = &self.rail.settings;
        let shape = |inline| Shape {
            domain: &lane.domain,
            completions: &lane.queue.completions,
            receives: Some(&lane.receives),
            kind: qp_type::RC,
            sends: settings.queue_depth.min(self.rail.port.limits.requests),
            own_receives: 0,
            inline,
        };
        // A device that permits less inside a request refuses the pair.
        let mut inline = settings.max_inline;
        loop {
            match Pair::new(&shape(inline)) {
                Err(_) if inline > 0 => inline = inline * 3 / 4 / 4 * 4,
                Err(why) => return Err(format!("{}: {why}", self.rail.port.name)),
                Ok(pair) => return Ok(pair),
            }
        }
    }

    fn send(&mut self, to: &Place, datagram: &Datagram) {
        let route = route(&self.rail.port, &self.rail.settings, to);
        self.datagrams.send(to, route, datagram);
    }

    fn repeat(&mut self) {
        let now = Instant::now();
        let over: Vec<CallKey> = self
            .calls
            .iter()
            .filter(|(_, c)| now >= c.end || c.link.peer.is_out())
            .map(|(key, _)| *key)
            .collect();
        for key in over {
            if let Some(call) = self.calls.remove(&key) {
                self.rail.fail(&call.link.peer, "its process does not answer");
                self.give_up(call);
            }
        }
        let due: Vec<(Place, Datagram)> = self
            .calls
            .values_mut()
            .filter(|c| now >= c.next)
            .map(|c| {
                c.pause = (c.pause * 2).min(LONGEST_REPEAT);
                c.next = now + c.pause;
                (c.place, c.datagram)
            })
            .collect();
        due.iter().for_each(|(place, datagram)| self.send(place, datagram));
    }

    /// The lane's holder destroys the pair: its peer is out.
    fn give_up(&self, call: Call) {
        call.link.hand_over(Made { pair: call.pair, called: true, credits: 0, granted: 0 });
        self.rail.deliver(call.link);
    }

    // ---------------------------------------------------------------- hearing

    fn hear(&mut self, d: &Datagram) {
        let Some(proc) = self.rail.index_of(&d.from) else { return };
        if d.to != self.rail.name || d.from == self.rail.name {
            return;
        }
        let key = (proc, d.purpose, d.calling, d.called);
        match d.say {
            Say::Request => self.hear_request(key, d),
            Say::Prove => self.hear_proof(key, d),
            Say::Reply => self.hear_reply(key, d),
            Say::Ready => self.hear_ready(key, d),
            Say::Refuse => self.hear_refusal(key, d),
        }
    }

    /// Whether the peer's call is passed over for ours of the same link.
    fn is_ours(&self, key: &CallKey) -> bool {
        let ours = (key.0, key.1, key.3, key.2);
        key.1 == Purpose::Messages && self.calls.get(&ours).is_some_and(|c| c.link.peer.first)
    }

    fn hear_request(&mut self, key: CallKey, d: &Datagram) {
        let lanes = self.rail.place.lanes;
        let called = if d.purpose == Purpose::Service { d.called == lanes } else { d.called < lanes };
        let is_lane = called && d.calling < d.place.lanes;
        if !is_lane || self.is_ours(&key) {
            return;
        }
        let known = self.guests.get(&key);
        if known.is_some_and(|g| d.attempt < g.attempt || d.attempt == g.attempt && d.theirs != g.theirs) {
            return;
        }
        let ours = match known.filter(|g| g.attempt == d.attempt) {
            Some(guest) => guest.ours,
            None => {
                let Ok(ours) = nonce() else { return };
                let guest = Guest { attempt: d.attempt, theirs: d.theirs, ours, answer: None };
                self.guests.insert(key, guest);
                ours
            }
        };
        let answer = Datagram { ours, ..self.answer(d, Say::Reply) };
        self.send(&d.place, &answer);
    }

    /// As the called one, without a pair yet.
    fn answer(&self, d: &Datagram, say: Say) -> Datagram {
        let (from, to) = (self.rail.name, d.from);
        let place = self.rail.place;
        Datagram { say, from, to, number: 0, psn: 0, credits: 0, place, proof: [0; AUTH_BYTES], ..*d }
    }

    fn hear_reply(&mut self, key: CallKey, d: &Datagram) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        let ours = &mut call.datagram;
        if ours.say != Say::Request || d.attempt != ours.attempt || d.theirs != ours.theirs {
            return;
        }
        ours.say = Say::Prove;
        ours.ours = d.ours;
        proof::sign(&self.rail.host, ours);
        let now = Instant::now();
        (call.next, call.pause) = (now + REPEAT, REPEAT);
        call.end = now + self.rail.settings.connect_timeout;
        let (place, datagram) = (call.place, call.datagram);
        self.send(&place, &datagram);
    }

    fn hear_proof(&mut self, key: CallKey, d: &Datagram) {
        let Some(guest) = self.guests.get(&key) else { return };
        if guest.attempt != d.attempt || guest.theirs != d.theirs || guest.ours != d.ours {
            return;
        }
        if let Some(answer) = guest.answer {
            return self.send(&d.place, &answer);
        }
        if !proof::is_right(&self.rail.host, d) {
            let warning = format!("a call in the name of process {} does not know the job's secret", key.0);
            return self.rail.host.warn(&warning);
        }
        if self.is_ours(&key) {
            return;
        }
        let made = if key.1 == Purpose::Memory { self.open_memory(key, d) } else { self.accept(key, d) };
        let mut answer = match made {
            Ok(Some((number, psn, credits))) => {
                Datagram { number, psn, credits, ..self.answer(d, Say::Ready) }
            }
            Ok(None) => return,
            Err(why) => {
                self.rail.host.error(&format!("cannot connect to process {}: {why}", key.0));
                self.answer(d, Say::Refuse)
            }
        };
        proof::sign(&self.rail.host, &mut answer);
        if let Some(guest) = self.guests.get_mut(&key) {
            guest.answer = Some(answer);
        }
        self.send(&d.place, &answer);
    }

    /// The called side of a link: number of our pair, of its first packet, and credits. `None`: the link is there already.
    fn accept(&mut self, key: CallKey, d: &Datagram) -> Result<Option<(u32, u32, u32)>, String> {
        let peer = self.rail.peer_of(key.0, d.from);
        let _ = peer.core.place.set(d.place);
        let link = peer.link((d.purpose, d.called, d.calling));
        if !link.is_open() || peer.core.is_out() {
            return Ok(None);
        }
        // A call of ours for the same link ends here.
        let ours = self.calls.remove(&(key.0, key.1, key.3, key.2));
        let mut pair = match ours {
            Some(call) => call.pair,
            None => self.pair_of(&link)?,
        };
        let (granted, number) = (self.granted(d.purpose), pair.number());
        let prepared = random_psn().and_then(|psn| {
            self.connect(&mut pair, d, psn, self.rights(d.purpose))?;
            self.rail.lanes[usize::from(link.ours)].grow(granted + RESERVE)?;
            Ok(psn)
        });
        if let Err(why) = &prepared {
            self.rail.fail(&peer.core, why);
        }
        // Also one that is of no use: it goes by the lane's holder.
        link.hand_over(Made { pair, called: false, credits: d.credits, granted });
        self.rail.deliver(link);
        prepared.map(|psn| Some((number, psn, granted)))
    }

    /// A pair by which the caller reaches our memory.
    fn open_memory(&mut self, key: CallKey, d: &Datagram) -> Result<Option<(u32, u32, u32)>, String> {
        let lane = self.rail.lanes.first().ok_or("there is no lane")?;
        let completions = match &self.passive_completions {
            Some(there) => there.clone(),
            None => Completions::new(lane.device(), 16, None, false)?.0,
        };
        self.passive_completions = Some(completions.clone());
        let shape = Shape {
            domain: &lane.protection,
            completions: &completions,
            receives: Some(&lane.receives),
            kind: qp_type::RC,
            sends: 1,
            own_receives: 0,
            inline: 0,
        };
        let (mut pair, psn) = (Pair::new(&shape)?, random_psn()?);
        let rights = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        self.connect(&mut pair, d, psn, rights)?;
        let number = pair.number();
        // The one before is in error, or its caller has given it up.
        self.passive.insert((key.0, d.calling), pair);
        Ok(Some((number, psn, 0)))
    }

    fn hear_ready(&mut self, key: CallKey, d: &Datagram) {
        let Some(call) = self.calls.get(&key) else { return };
        let ours = &call.datagram;
        let fits = ours.say == Say::Prove
            && d.attempt == ours.attempt
            && d.theirs == ours.theirs
            && d.ours == ours.ours;
        if !fits || !proof::is_right(&self.rail.host, d) {
            return;
        }
        let Some(mut call) = self.calls.remove(&key) else { return };
        if let Err(why) = self.complete(&mut call, d) {
            self.rail.fail(&call.link.peer, &why);
        }
        let granted = call.datagram.credits;
        call.link.hand_over(Made { pair: call.pair, called: true, credits: d.credits, granted });
        self.rail.deliver(call.link);
    }

    fn complete(&self, call: &mut Call, d: &Datagram) -> Result<(), String> {
        self.connect(&mut call.pair, d, call.datagram.psn, self.rights(call.link.purpose))?;
        if call.link.purpose == Purpose::Memory {
            return Ok(());
        }
        let granted = call.datagram.credits;
        self.rail.lanes[usize::from(call.link.ours)].grow(granted + RESERVE)
    }

    fn hear_refusal(&mut self, key: CallKey, d: &Datagram) {
        let fits = self.calls.get(&key).is_some_and(|c| {
            let ours = &c.datagram;
            d.attempt == ours.attempt && d.theirs == ours.theirs && d.ours == ours.ours
        });
        if !fits || !proof::is_right(&self.rail.host, d) {
            return;
        }
        if let Some(call) = self.calls.remove(&key) {
            let why =
                "its device has no queue pairs or memory left for a connection (its own error says which)";
            self.rail.fail(&call.link.peer, why);
            self.give_up(call);
        }
    }

    /// Reset → ready to send. `rights`: what the peer may do to our memory.
    fn connect(&self, pair: &mut Pair, to: &Datagram, psn: u32, rights: u32) -> Result<(), String> {
        let (rail, settings) = (&self.rail, &self.rail.settings);
        let (limits, reads) = (&rail.port.limits, to.purpose == Purpose::Memory);
        let most = settings.rd_atomic.min(limits.rd_atomic_out).min(to.place.rd_atomic);
        let mut attr = QpAttr {
            pkey_index: rail.port.partition_index,
            port_num: rail.port.number,
            qp_access_flags: rights,
            path_mtu: rail.port.mtu.min(u32::from(to.place.mtu)),
            dest_qp_num: to.number,
            rq_psn: to.psn,
            sq_psn: psn,
            max_dest_rd_atomic: if reads { limits.rd_atomic_in.max(1) } else { 1 },
            max_rd_atomic: if reads { most.max(1) } else { 1 },
            min_rnr_timer: settings.rnr_timer,
            timeout: settings.timeout,
            retry_cnt: settings.retry_count,
            rnr_retry: settings.rnr_retry,
            ah_attr: route(&rail.port, settings, &to.place),
            ..QpAttr::default()
        };
        use qp_mask::*;
        for (state, mask) in [
            (qp_state::INIT, PKEY_INDEX | PORT | ACCESS_FLAGS),
            (qp_state::RTR, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER),
            (qp_state::RTS, TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC),
        ] {
            attr.qp_state = state;
            pair.modify(&mut attr, STATE | mask)?;
        }
        Ok(())
    }

    // ---------------------------------------------------------------- devices

    fn hear_devices(&mut self) {
        let rail = self.rail.clone();
        let devices = std::iter::once(&rail.port.device).chain(rail.lanes.iter().map(|l| l.device()));
        let mut seen = Vec::new();
        for device in devices {
            if seen.contains(&device.async_fd()) {
                continue;
            }
            seen.push(device.async_fd());
            while let Some(event) = device.next_event() {
                self.hear_device(event.event_type, event.element, std::ptr::eq(device, &rail.port.device));
            }
        }
    }

    /// `first`: of the context that has no lanes; what concerns the port is told to each.
    fn hear_device(&self, kind: u32, element: u64, first: bool) {
        let (name, text) = (&self.rail.port.name, self.rail.port.device.api.event_text(kind));
        match kind {
            event::DEVICE_FATAL | event::CQ_ERR => {
                let why = format!("{name}: {text}");
                self.rail.host.error(&why);
                self.rail.fail_all(&why);
            }
            event::PORT_ERR if first && element as u8 == self.rail.port.number => {
                self.rail
                    .host
                    .warn(&format!("{name} is down; connections that are not answered in time end"));
            }
            event::PORT_ACTIVE if first && element as u8 == self.rail.port.number => {
                self.rail.host.info(&format!("{name} is up"));
            }
            _ => self.rail.host.debug(&format!("{name}: {text}")),
        }
    }
}

fn nonce() -> Result<[u8; NONCE], String> {
    sys::random().map_err(|e| e.to_string())
}
fn random_psn() -> Result<u32, String> {
    sys::random().map(|b| u32::from_ne_bytes(b) & 0xff_ffff).map_err(|e| e.to_string())
}
