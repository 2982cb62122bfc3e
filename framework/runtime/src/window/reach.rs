//! Endpoints of transports for one-sided components, made at first contact and kept until the end.
//!
//! The table stands beside the point-to-point layer's endpoints: transports give one process as many endpoints as they are
//! asked for. It is asked when a component first has to do with a process, never on a message's path, so a lock guards
//! it. What a component got stays where it is until the instance closes.

use crate::instance::Instance;
use crate::locks::Mutex;
use crate::log::Logger;
use oxmpi_btl::{BtlHandle, ProcInfo, cap};
use oxmpi_mca::{SliceRef, Status};
use oxmpi_osc::Reach;
use std::collections::HashMap;
use std::ptr::null_mut;

/// The endpoints of an instance, by process.
#[derive(Default)]
pub(crate) struct Reaches {
    known: Mutex<HashMap<u32, Box<[Reach]>>>,
}

impl Reaches {
    /// The transports that reach a process, best first. Valid until `close`.
    pub fn to(
        &self,
        instance: &Instance,
        btls: &[BtlHandle],
        proc: &ProcInfo,
    ) -> Result<SliceRef<Reach>, Status> {
        let mut known = self.known.lock();
        if let Some(list) = known.get(&proc.proc) {
            return Ok(SliceRef { ptr: list.as_ptr(), len: list.len() });
        }
        let list = endpoints(instance, btls, proc);
        if list.is_empty() {
            return Err(Status::UNREACHABLE);
        }
        let list = known.entry(proc.proc).or_insert(list);
        Ok(SliceRef { ptr: list.as_ptr(), len: list.len() })
    }

    /// Gives all endpoints back. Nobody uses them any more, and the transports are open.
    pub fn close(&self, logger: &Logger) {
        for (proc, list) in self.known.lock().drain() {
            for reach in &list {
                // SAFETY: handles live as long as the instance.
                let btl = unsafe { &*reach.btl };
                let status = (btl.del_procs)(btl.state, SliceRef { ptr: &reach.endpoint, len: 1 });
                if status.is_err() {
                    logger
                        .warn("btl", &format!("the endpoint of process {proc} is not given back: {status}"));
                }
            }
        }
    }
}

/// `btls` are sorted by exclusivity.
fn endpoints(instance: &Instance, btls: &[BtlHandle], proc: &ProcInfo) -> Box<[Reach]> {
    let mut list: Vec<Reach> = Vec::new();
    for btl in btls {
        let mut endpoint = null_mut();
        let status = (btl.add_procs)(btl.state, SliceRef { ptr: proc, len: 1 }, &mut endpoint);
        if status.is_err() {
            // SAFETY: the name is a static of the component.
            let name = unsafe { btl.name.get() }.unwrap_or("?");
            instance.logger().info("btl", &format!("{name}: no endpoint of process {}: {status}", proc.proc));
        } else if !endpoint.is_null() {
            // How many contexts the peer has is not known here; the first one is everywhere.
            list.push(Reach { btl, endpoint, width: 1, reserved: 0 });
        }
    }
    // Stable: equals stay in the order of exclusivity.
    list.sort_by_key(|reach| {
        // SAFETY: one of the handles above.
        unsafe { &*reach.btl }.caps & cap::PUT == 0
    });
    list.into()
}
