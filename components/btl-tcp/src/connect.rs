//! Calling a peer: connecting, and the connector's half of the handshake.

use crate::call::{Call, Failure, HandshakeStep, Stage};
use crate::card::PeerAddress;
use crate::context::Context;
use crate::hello::{Challenge, Hello, LONGEST, Proof, Welcome};
use crate::proof::ProofContext;
use crate::rail::Tcp;
use crate::stream::{Link, Stream};
use crate::sys::{self, Interest, Poller, send_all};
use core::mem::replace;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// Longest pause between two calls; the first pauses are shorter.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// How long to wait for a crossing call.
const CROSSING: Duration = Duration::from_millis(300);
/// Calls in a row that may be silent at one address where there are others.
const SILENT: u32 = 3;
/// How long a network may take to connect where there is another way to try.
const CONNECTING: Duration = Duration::from_secs(2);

impl Tcp {
    /// Begins a call. Where we do not know the peer's address it has to call us.
    pub(crate) fn call(&self, cx: &mut Context, slot: usize) {
        let token = cx.streams.name(slot).token();
        let s = &mut cx.streams[slot];
        let Some(route) = s.core.route.get().filter(|_| !s.answers()) else {
            s.link = Link::Idle;
            return;
        };
        let address = route.addresses[s.address % route.addresses.len()];
        let (several, rail) = (route.addresses.len() > 1, route.rail);
        s.attempt += 1;
        match self.begin_call(&cx.poller, token, s, address, rail) {
            Ok(mut call) => {
                if several {
                    call.deadline = call.deadline.min(call.begun + CONNECTING);
                }
                cx.wake_at(call.deadline);
                cx.streams[slot].link = Link::Calling(Box::new(call));
            }
            Err(e) => {
                let why = format!("{}: {e}", address.to);
                self.call_failed(cx, slot, Failure::Refused(Instant::now(), why));
            }
        }
    }

    fn begin_call(
        &self,
        poller: &Poller,
        token: u64,
        s: &Stream,
        address: PeerAddress,
        rail: u16,
    ) -> std::io::Result<Call> {
        let PeerAddress { from, to } = address;
        let nonce = sys::random()?;
        let hello = Hello {
            from: self.name,
            to: s.core.name,
            from_ctx: s.ours,
            to_ctx: s.theirs,
            from_rail: self.rail,
            to_rail: rail,
            attempt: s.attempt,
            seen: s.their_attempt,
            window: self.settings.window as u32,
            nonce,
        };
        let fd = match self.settings.relay {
            None => sys::connect(to, self.source(address))?,
            Some(relay) => sys::connect(relay, None)?,
        };
        poller.add(&fd, token, Interest::Write)?;
        let begun = Instant::now();
        Ok(Call {
            fd,
            stage: Stage::Connecting,
            hello: hello.encode(),
            nonce,
            got: [0; LONGEST],
            have: 0,
            begun,
            deadline: begun + self.settings.handshake_timeout,
            from,
            to,
        })
    }

    /// The address of ours that calls that one: where a rail is an interface the connection shall go over it.
    fn source(&self, address: PeerAddress) -> Option<IpAddr> {
        let rail = self.card.rails.get(usize::from(address.from))?;
        rail.addresses.iter().map(|(a, _)| a.ip()).find(|ip| ip.is_ipv4() == address.to.is_ipv4())
    }

    /// Something happened on the socket of a call.
    pub(crate) fn advance_call(&self, cx: &mut Context, slot: usize) {
        let Link::Calling(mut call) = replace(&mut cx.streams[slot].link, Link::Idle) else { return };
        match self.step(cx, slot, &mut call) {
            Ok(HandshakeStep::Waits) => cx.streams[slot].link = Link::Calling(call),
            Ok(HandshakeStep::Welcome(welcome)) => self.connected(cx, slot, *call, &welcome),
            Err(failure) => {
                cx.poller.remove(&call.fd);
                self.call_failed(cx, slot, failure);
            }
        }
    }

    fn step(&self, cx: &Context, slot: usize, call: &mut Call) -> Result<HandshakeStep, Failure> {
        let (to, begun) = (call.to, call.begun);
        let fails = |e: std::io::Error| Failure::Refused(begun, format!("{to}: {e}"));
        match call.stage {
            Stage::Connecting => {
                sys::outcome(&call.fd).map_err(fails)?;
                sys::tune(&call.fd, &self.settings.tuning).map_err(fails)?;
                if self.settings.relay.is_some() {
                    send_all(&call.fd, &preface(to)).map_err(fails)?;
                }
                send_all(&call.fd, &call.hello).map_err(fails)?;
                cx.poller.change(&call.fd, cx.streams.name(slot).token(), Interest::Read).map_err(fails)?;
                call.stage = Stage::AwaitsChallenge;
                call.deadline = Instant::now() + self.settings.handshake_timeout;
                Ok(HandshakeStep::Waits)
            }
            Stage::AwaitsChallenge => {
                let Some(bytes) = call.receive::<{ Challenge::BYTES }>()? else {
                    return Ok(HandshakeStep::Waits);
                };
                let challenge = Challenge::decode(&bytes).map_err(|e| call.bad(e))?;
                call.check(challenge.refusal)?;
                let position = cx.streams[slot].inn.reached();
                let proof_context = ProofContext::by_connector(&call.hello, position);
                let answer = proof_context.answer(&self.host, &challenge.nonce);
                let answer =
                    answer.ok_or_else(|| Failure::Refused(begun, "the host gives no proof".into()))?;
                send_all(&call.fd, &Proof { position, answer }.encode()).map_err(fails)?;
                call.stage = Stage::AwaitsWelcome { nonce: challenge.nonce };
                // Data that is there already is told by the set: it is level-triggered.
                Ok(HandshakeStep::Waits)
            }
            Stage::AwaitsWelcome { nonce } => {
                let Some(bytes) = call.receive::<{ Welcome::BYTES }>()? else {
                    return Ok(HandshakeStep::Waits);
                };
                let welcome = Welcome::decode(&bytes).map_err(|e| call.bad(e))?;
                call.check(welcome.refusal)?;
                let proof_context =
                    ProofContext::by_acceptor(&call.hello, &nonce, welcome.window, welcome.position);
                if !proof_context.check(&self.host, &call.nonce, &welcome.answer) {
                    let why = format!("{to}: it does not know the job's secret");
                    return Err(Failure::Refused(begun, why));
                }
                Ok(HandshakeStep::Welcome(welcome))
            }
        }
    }

    fn connected(&self, cx: &mut Context, slot: usize, call: Call, welcome: &Welcome) {
        let resumed = cx.streams[slot].out.resume(welcome.position);
        cx.take_released(slot);
        if resumed.is_err() {
            cx.poller.remove(&call.fd);
            return self.fail(cx, slot, "it wants to go on from where it never was");
        }
        let s = &mut cx.streams[slot];
        s.welcomed = s.attempt;
        s.core.way.store(s.address, Ordering::Relaxed);
        if call.from == self.rail {
            s.core.carried.store(true, Ordering::Relaxed);
        } else {
            self.tell_of_detour(s, call.to);
        }
        self.connection_proved(cx, slot, call.fd, welcome.window);
    }

    /// A connection of this rail goes over the network of another. Something has failed where it did not before; else that network
    /// never led there, as those of bridges that each machine has for itself.
    fn tell_of_detour(&self, s: &Stream, by: SocketAddr) {
        let (device, proc) = (&self.device, s.core.proc);
        if s.core.carried.load(Ordering::Relaxed) {
            self.host.help("detour", &[device, &proc.to_string(), &by.to_string()]);
        } else if !s.core.told.swap(true, Ordering::Relaxed) {
            self.host
                .info(&format!("the network of {device} is not used for process {proc}: {by} is called"));
        }
    }

    /// Pauses, or gives the process up.
    fn call_failed(&self, cx: &mut Context, slot: usize, failure: Failure) {
        let now = Instant::now();
        let s = &mut cx.streams[slot];
        let pause = match failure {
            Failure::Crossed => CROSSING,
            // It computes, perhaps; or it is not who takes connections at this address.
            Failure::Silent => {
                s.trouble.silent += 1;
                if s.trouble.silent.is_multiple_of(SILENT) {
                    s.address = (s.address + 1) % s.core.addresses();
                }
                Duration::ZERO
            }
            Failure::Refused(begun, why) => {
                let addresses = s.core.addresses();
                s.address = (s.address + 1) % addresses;
                let trouble = &mut s.trouble;
                let since = *trouble.since.get_or_insert(begun);
                trouble.calls += 1;
                trouble.last = why;
                let all_tried = trouble.calls as usize >= addresses;
                if all_tried && now.duration_since(since) > self.settings.retry_timeout {
                    let (limit, last) = (self.settings.retry_timeout, &trouble.last);
                    let why = format!("it could not be reached for {limit:?} ({last})");
                    return self.fail(cx, slot, &why);
                }
                LONGEST_PAUSE.min(Duration::from_millis(5 << trouble.calls.min(8)))
            }
        };
        s.link = Link::Resting(now + pause);
        cx.wake_at(now + pause);
    }

    /// A call has been silent for too long.
    pub(crate) fn call_again(&self, cx: &mut Context, slot: usize) {
        let Link::Calling(call) = replace(&mut cx.streams[slot].link, Link::Idle) else { return };
        cx.poller.remove(&call.fd);
        let silent = match call.stage {
            Stage::Connecting => call.refused(&"no answer"),
            _ => Failure::Silent,
        };
        self.call_failed(cx, slot, silent);
    }
}

/// Tells a relay where to go.
fn preface(to: SocketAddr) -> [u8; 24] {
    let mut out = [0; 24];
    out[..4].copy_from_slice(b"VIA1");
    out[4..6].copy_from_slice(&to.port().to_le_bytes());
    out[6] = if to.is_ipv4() { 4 } else { 6 };
    let ip = match to.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    out[8..].copy_from_slice(&ip.octets());
    out
}
