//! The end: good-bye on every open link, behind all that was sent, until the provider has sent it or time is over.

use crate::context::{Context, Holder};
use crate::link::Calling;
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
/// Reads of a completion queue at the end, at most.
const MOST_LEFT: u32 = 1000;

impl Rail {
    /// Sends what is left, everywhere.
    pub fn part(&self, all: &mut Contexts<'_, Context>, service: &mut Entered<'_, Service>) {
        self.closing.store(true, Ordering::Release);
        let begun = Instant::now();
        let mut said: Vec<(u16, u32)> = Vec::new();
        loop {
            let mut under_way = false;
            for number in 0..all.count() {
                under_way |= self.say_bye(&mut all.enter(number), &mut said);
            }
            under_way |= self.say_bye(service, &mut said);
            if !under_way || begun.elapsed() > LONGEST {
                break;
            }
            std::thread::yield_now();
        }
        (0..all.count()).for_each(|number| self.drain(all.enter(number).context()));
        self.drain(service.context());
    }

    /// Reads a completion queue until nothing is there, for the last time. ofi_rxm, which closes its connections first, hands the buffers of messages that it finds behind that back to
    /// them, and ends the process by it.
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
