//! One rank as checks see it: its place, and the collectives that it calls.

use crate::args::Args;
use crate::net::Net;
use crate::plan::Plan;
use crate::view::View;
use core::cell::Cell;
use core::ffi::c_void;
use oxmpi_coll::{CollComm, CollFn, CollModule, CollTable};
use oxmpi_mca::Status;

/// One rank and the component's module for its communicator.
pub struct Rank<'a> {
    pub rank: u32,
    pub n: u32,
    /// Ranks of the other group; 0: there is none.
    pub remote: u32,
    /// Which of two groups.
    pub side: usize,
    /// Calls make plans, which are then done.
    pub planned: bool,
    pub(crate) comm: &'a CollComm,
    pub(crate) module: *mut c_void,
    pub(crate) table: &'a CollTable,
    pub(crate) net: &'a Net,
    pub(crate) component: &'a CollModule,
    /// How the preparation ended, once there was one.
    pub(crate) prepared: Cell<Option<Status>>,
}

impl Rank<'_> {
    /// Whether an operation of this rank failed.
    pub fn was_told(&self) -> bool {
        self.net.told(View::of(self.comm).me())
    }

    /// Whether the component may use memory of the node.
    pub fn nests(&self) -> bool {
        View::of(self.comm).nests
    }

    /// Whether the net has died.
    pub fn net_is_dead(&self) -> bool {
        self.net.is_dead()
    }

    /// Whether two places of the table have the same function, which then is there.
    pub fn is(
        &self,
        which: impl Fn(&CollTable) -> Option<CollFn>,
        other: impl Fn(&CollTable) -> Option<CollFn>,
    ) -> bool {
        let address = |function: Option<CollFn>| function.map(|function| function as usize);
        address(which(self.table)).is_some() && address(which(self.table)) == address(other(self.table))
    }

    /// Calls a collective that the check needs.
    pub fn call(&self, which: impl Fn(&CollTable) -> Option<CollFn>, args: Args<'_>) -> Status {
        if self.planned {
            return match self.plan(which, &args) {
                Ok(plan) => plan.run(),
                Err(status) => status,
            };
        }
        let function = which(self.table).expect("the check needs it");
        match self.prepare() {
            Status::OK => {
                let view = View::of(self.comm);
                let before = view.told();
                let status = function(self.module, self.comm, &args.raw());
                if view.told() > before + 1 {
                    self.net
                        .violation(format!("one collective has told {} algorithms", view.told() - before));
                }
                status
            }
            status => status,
        }
    }

    /// Has the component prepared for the communicator, once; how that ended. It is a violation to refuse, since nothing is missing here, but
    /// where the net has died.
    fn prepare(&self) -> Status {
        if let Some(status) = self.prepared.get() {
            return status;
        }
        let status = match self.component.comm_prepare.filter(|_| self.remote == 0) {
            Some(prepare) => prepare(self.component.state, self.module, self.comm),
            None => Status::OK,
        };
        if status != Status::OK && !self.net_is_dead() {
            self.net.violation(format!("comm_prepare answers {status}"));
        }
        self.prepared.set(Some(status));
        status
    }

    /// Makes a plan, which may be run again and again. Arrays of the arguments are gone afterwards.
    pub fn plan(
        &self,
        which: impl Fn(&CollTable) -> Option<CollFn>,
        args: &Args<'_>,
    ) -> Result<Plan<'_>, Status> {
        let function = which(self.table).expect("the check needs it");
        Plan::make(function, self.module, self.comm, args)
    }
}
