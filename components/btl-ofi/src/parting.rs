//! The end: good-bye on every open link, behind all that was sent, until the provider has sent it and the peers have said theirs, or time is over.
//!
//! `ofi_rxm` of libfabric 1.17 closes its connections first, hands the buffers of messages that it finds behind that back to them, and ends the process by it. So
//! queues are read to their end, and nothing is to come any more: behind its good-bye a peer sends no message, and credits only for messages that it had left unread. Peers part at about the same time, and one that goes on for long
//! has nothing to send to a process that has left.

use crate::context::{Context, Holder};
use crate::link::{Calling, In};
use crate::post::Body;
use crate::rail::Rail;
use crate::service::Service;
use crate::wire::Kind;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::{Contexts, Entered};
use oxmpi_mca::Status;
use std::time::Instant;

/// How long what was sent may take to go out.
const LONGEST: Duration = Duration::from_secs(5);
/// How long peers may take to say good-bye once ours is out, where it matters.
const FOR_PEERS: Duration = Duration::from_millis(100);
/// The layer for which it does.
const LAYER: &str = "ofi_rxm";
/// Between two looks for good-byes.
const NAP: Duration = Duration::from_micros(100);
/// Reads of a completion queue at the end, at most.
const MOST_LEFT: u32 = 1000;

impl Rail {
    /// Sends what is left, everywhere.
    pub fn part(&self, all: &mut Contexts<'_, Context>, service: &mut Entered<'_, Service>) {
        self.closing.store(true, Ordering::Release);
        let (begun, mut sent) = (Instant::now(), None);
        let waits = self.card.provider.contains(LAYER);
        let mut said: Vec<(u16, u32)> = Vec::new();
        loop {
            let (mut under_way, mut awaited) = (false, false);
            for number in 0..all.count() {
                let at = &mut all.enter(number);
                under_way |= self.say_bye(at, &mut said);
                awaited |= at.context().ins.iter().any(In::is_live);
            }
            under_way |= self.say_bye(service, &mut said);
            awaited |= service.context().ins.iter().any(In::is_live);
            if begun.elapsed() > LONGEST {
                break;
            }
            if under_way {
                std::thread::yield_now();
                continue;
            }
            let sent = sent.get_or_insert_with(Instant::now);
            if !(awaited && waits) || sent.elapsed() > FOR_PEERS {
                break;
            }
            std::thread::sleep(NAP);
        }
        (0..all.count()).for_each(|number| self.drain(all.enter(number).context()));
        self.drain(service.context());
    }

    /// Reads a completion queue until nothing is there, for the last time.
    fn drain(&self, cx: &mut Context) {
        let _ = (0..MOST_LEFT).find(|_| self.take(cx) == 0);
    }

    /// Takes what is there for an endpoint, and says good-bye on its links. Whether something of it is under way.
    fn say_bye<C: Holder>(&self, at: &mut Entered<'_, C>, said: &mut Vec<(u16, u32)>) -> bool {
        self.turn(at);
        let cx = at.context();
        let mut under_way = cx.unsent.iter().any(|u| u.kind == Kind::Reply);
        for link in 0..cx.outs.len() as u32 {
            let out = &cx.outs[link as usize];
            let is_meant = matches!(out.calling, Calling::Open) && !out.core.is_out();
            if !is_meant || said.contains(&(cx.lane, link)) {
                continue;
            }
            match self.push(cx, link, Kind::Bye, 0, Body::Bytes(&[])) {
                Status::NO_RESOURCE => under_way = true,
                _ => said.push((cx.lane, link)),
            }
        }
        under_way || cx.buffers.under_way() > 0
    }
}
