//! Making links: hello, challenge, proof, as messages between the two endpoints whose link it is.
//!
//! ```text
//! caller                                             called
//!   hello (names, endpoints, token, nonce)   ->
//!                                            <-   challenge (its link and token, nonce, proof)
//!   proof                                    ->
//!                                            <-   credits, which open the link
//!   messages                                 ->
//! ```
//!
//! A provider may report a message before an earlier one, so the caller's messages wait until the called process has said that it has the proof. Until the proof has come a link
//! costs the called process a place in a bounded list: strangers push each other out of it, and nothing else. A challenge goes to the
//! address that the hello names, and only who reads it there can answer.

use crate::buffers::Route;
use crate::context::Context;
use crate::link::{Called, Calling, Core, Door, In, Out};
use crate::order::Order;
use crate::proof::Claim;
use crate::rail::Rail;
use crate::wire::{Challenge, Head, Hello, Kind};
use oxmpi_mca::Status;
use std::sync::Arc;

/// Links at most that are challenged and not proved.
const MOST_CHALLENGED: usize = 1024;

impl Rail {
    /// The link of a context to an endpoint of a process, which is called for when it is first used. The error says why there can be none.
    pub fn out_link(&self, cx: &mut Context, core: &Arc<Core>, theirs: u16) -> Result<u32, String> {
        if let Some(link) = cx.out_of.get(&(core.proc, theirs)) {
            return Ok(*link);
        }
        let address = self.number_of(core, cx.device, theirs)?;
        let link = cx.outs.len() as u32;
        cx.outs.push(Out {
            core: core.clone(),
            theirs,
            door: Door { address, ..Door::default() },
            token: self.secret_number()?,
            calling: Calling::New,
            credits: 0,
            number: 0,
            replies: Order::default(),
            asked: 0,
            answered: 0,
        });
        cx.out_of.insert((core.proc, theirs), link);
        Ok(link)
    }

    /// Takes one of the messages that make a link, wherever the completion queue is read: what it answers waits. False: nobody who keeps to
    /// the protocol sends that.
    pub fn take_call(&self, cx: &mut Context, head: Head, bytes: &[u8]) -> bool {
        match head.kind {
            Kind::Hello => self.take_hello(cx, bytes),
            Kind::Challenge => self.take_challenge(cx, head, bytes),
            Kind::Proof => self.take_proof(cx, head, bytes),
            Kind::Refusal => self.take_refusal(cx, head, bytes),
            _ => false,
        }
    }

    fn take_hello(&self, cx: &mut Context, bytes: &[u8]) -> bool {
        let Some(hello) = Hello::decode(bytes) else { return false };
        let known = hello.to == self.name && hello.to_lane == cx.lane;
        let Some(proc) = self.index_of(&hello.from).filter(|_| known) else { return false };
        let Ok(address) = self.avs[cx.device].insert(&hello.address) else { return false };
        let (Ok(token), Ok(nonce)) = (self.secret_number(), self.nonce()) else { return true };
        let link = self.free_in(cx);
        let mut challenge = Challenge { link, token, nonce, proof: [0; 32] };
        let Some(proof) = Claim::of_called(&hello, &challenge).prove(&self.host) else { return true };
        challenge.proof = proof;
        let door = Door { address, link: hello.link, token: hello.token };
        let called = Called::Challenged(Box::new((hello, challenge)));
        let new =
            In { core: self.core(proc), door, token, called, number: 0, messages: Order::default(), owed: 0 };
        match cx.ins.get_mut(link as usize) {
            Some(place) => *place = new,
            None => cx.ins.push(new),
        }
        cx.challenged.push_back(link);
        cx.wait(Route::In(link), Kind::Challenge, 0, challenge.encode().into());
        true
    }

    /// A place for a link that somebody calls for: a free one, or that of the oldest which nobody has proved.
    fn free_in(&self, cx: &mut Context) -> u32 {
        if let Some(link) = cx.free_ins.pop() {
            return link;
        }
        if cx.challenged.len() < MOST_CHALLENGED {
            return cx.ins.len() as u32;
        }
        let oldest = cx.challenged.pop_front().unwrap_or(0);
        self.avs[cx.device].remove(cx.ins[oldest as usize].door.address);
        cx.unsent.retain(|u| u.via != Route::In(oldest));
        oldest
    }

    fn take_challenge(&self, cx: &mut Context, head: Head, bytes: &[u8]) -> bool {
        let Some(out) = cx.outs.get_mut(head.link as usize).filter(|o| o.token == head.token) else {
            return false;
        };
        let Calling::Hello(hello) = &out.calling else { return false };
        let Some(challenge) = Challenge::decode(bytes) else { return false };
        if !Claim::of_called(hello, &challenge).is_proved_by(&self.host, &challenge.proof) {
            return false;
        }
        let core = out.core.clone();
        let Some(proof) = Claim::of_caller(hello, &challenge).prove(&self.host) else {
            self.fail(&core, "this process cannot prove who it is");
            return true;
        };
        out.door = Door { link: challenge.link, token: challenge.token, ..out.door };
        out.calling = Calling::Proving;
        cx.proofs.push_back(crate::unsent::Unsent {
            via: Route::Out(head.link),
            kind: Kind::Proof,
            tag: 0,
            bytes: proof.to_vec().into(),
        });
        true
    }

    fn take_proof(&self, cx: &mut Context, head: Head, bytes: &[u8]) -> bool {
        let Some(link) = cx.ins.get_mut(head.link as usize).filter(|l| l.token == head.token) else {
            return false;
        };
        let Called::Challenged(said) = &link.called else { return false };
        let is_right = Claim::of_caller(&said.0, &said.1).is_proved_by(&self.host, bytes);
        cx.challenged.retain(|other| *other != head.link);
        if is_right {
            link.called = Called::Open;
            cx.wait(Route::In(head.link), Kind::Credits, self.settings.credits as u8, Box::default());
        } else {
            link.called = Called::Refused;
            // A process of this job with another secret shall not wait for ever.
            cx.wait(Route::In(head.link), Kind::Refusal, 0, Box::default());
        }
        is_right
    }

    /// Frees a place whose refusal was said, or could not be.
    pub fn free_refused(&self, cx: &mut Context, link: u32) {
        cx.ins[link as usize].called = Called::Free;
        cx.free_ins.push(link);
        self.avs[cx.device].remove(cx.ins[link as usize].door.address);
    }

    fn take_refusal(&self, cx: &mut Context, head: Head, bytes: &[u8]) -> bool {
        let link = cx.outs.get(head.link as usize).filter(|o| o.token == head.token && bytes.is_empty());
        let Some(core) = link.map(|o| o.core.clone()) else { return false };
        self.fail(&core, "it says that our answer is not that of a process that knows the job's secret");
        true
    }

    /// Number of a process's endpoint in the address vector of a domain of ours. The error says why there is none.
    pub fn number_of(&self, core: &Core, device: usize, lane: u16) -> Result<u64, String> {
        let insert = || {
            let card = core.card.get().ok_or("its address is not known")?;
            let address = card.addresses.get(usize::from(lane)).ok_or("it has no such endpoint")?;
            let av = &self.avs[device];
            av.insert(address).map_err(|code| format!("its address is not taken: {}", self.api.text(code)))
        };
        core.number(device, lane, insert)
    }

    /// Bytes that nobody guesses, for tokens.
    fn secret_number(&self) -> Result<u64, String> {
        crate::sys::random().map(u64::from_le_bytes).map_err(|e| format!("random numbers: {e}"))
    }

    pub fn nonce(&self) -> Result<[u8; crate::wire::NONCE], Status> {
        crate::sys::random().map_err(|_| Status::INTERNAL)
    }
}
