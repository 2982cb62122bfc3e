//! Plans done: step by step, with the steps that such steps write in place of these.

use crate::net::Net;
use crate::plan::{Core, ExtendStep, OwnStep, Plan, Step, recorded};
use core::cell::RefCell;
use oxmpi_coll::{extend as extend_of, step as step_of};
use oxmpi_mca::Status;
use std::time::Instant;

impl Plan<'_> {
    /// Does it; the first error, behind which the other steps are done.
    pub fn run(&self) -> Status {
        let mut start = Start {
            plan: self,
            requests: vec![None; self.core.slots],
            written: vec![],
            first: Status::OK,
            spoiled: false,
        };
        start.all(&self.core.steps);
        // A request that is still on its way belongs to the operation.
        for id in core::mem::take(&mut start.requests).into_iter().flatten() {
            start.note(start.net().wait(start.me(), id));
        }
        start.first
    }
}

/// One start of a plan.
struct Start<'a> {
    plan: &'a Plan<'a>,
    /// By slot.
    requests: Vec<Option<usize>>,
    /// The steps that steps have written, until the end of the start.
    written: Vec<Core>,
    first: Status,
    /// Data is missing.
    spoiled: bool,
}

impl<'a> Start<'a> {
    fn net(&self) -> &'a Net {
        &self.plan.view.net
    }

    fn me(&self) -> u32 {
        self.plan.view.me()
    }

    /// Notes an error, if it is one.
    fn note(&mut self, status: Status) -> bool {
        if status.is_err() && !self.first.is_err() {
            self.first = status;
        }
        status.is_err()
    }

    fn all(&mut self, steps: &[Step]) {
        let (net, me) = (self.net(), self.me());
        for step in steps {
            match step {
                // It says that the data is missing, as far as its receiver can be told.
                Step::Send { line, slot, .. } if self.spoiled => {
                    self.requests[*slot] = net.start_failure(me, Status::UNREACHABLE, *line).ok();
                }
                Step::Send { what, line, slot } => match net.start_send(me, *what, *line) {
                    Ok(id) => self.requests[*slot] = Some(id),
                    Err(status) => _ = self.note(status),
                },
                Step::Recv { what, line, slot } => match net.start_recv(me, *what, *line) {
                    Ok(id) => self.requests[*slot] = Some(id),
                    Err(status) => self.spoiled |= self.note(status),
                },
                Step::Wait { slot } => {
                    if let Some(id) = self.requests[*slot].take() {
                        self.spoiled |= self.note(net.wait(me, id));
                    }
                }
                Step::Here(_) if self.spoiled => {}
                Step::Here(work) => self.spoiled |= self.note(work()),
                Step::Own(own) => self.spoiled |= self.note(self.own(own)),
                Step::Extend(step) => self.extend(step),
            }
        }
    }

    /// Has the component write further steps, and does them.
    fn extend(&mut self, step: &ExtendStep) {
        let plan = &self.plan.core;
        let core = RefCell::new(plan.next(self.requests.len()));
        let what = if self.spoiled { extend_of::LOST } else { extend_of::WRITE };
        let status = recorded(&core, self.plan.comm, |comm| {
            // SAFETY: what the component gave, and a communicator that is there during the call.
            unsafe { (step.f)(step.ctx, comm, what) }
        });
        if status == Status::PENDING {
            self.net().violation("a step that writes further ones answers PENDING".into());
        }
        let core = core.into_inner();
        self.spoiled |= self.note(status);
        self.requests.resize(core.slots, None);
        self.all(&core.steps);
        // Messages under way may name the memory of these steps, and what they keep.
        self.written.push(core);
    }

    /// A step of the component's own.
    fn own(&self, step: &OwnStep) -> Status {
        let (net, begun) = (self.net(), Instant::now());
        let mut status = (step.f)(step.ctx, step_of::START);
        while status == Status::PENDING {
            if net.is_dead() {
                return Status::PEER_FAILED;
            }
            if begun.elapsed() > net.patience() {
                net.stop("a step of the component's own is never done".into());
            }
            std::thread::yield_now();
            status = (step.f)(step.ctx, step_of::LOOK);
        }
        status
    }
}
