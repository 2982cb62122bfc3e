//! A daemon's facts about its node, once it is believed.

use super::doors;
use crate::cores;
use oxmpi_wireup::frame::{Builder, Fields, Malformed};
use oxmpi_wireup::server::hostname;
use oxmpi_wireup::topology::{SYSTEM, Topology};
use std::net::SocketAddr;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFacts {
    pub hostname: String,
    /// Mark of the machine, for sharing its cores among nodes that are one; never for membership of a node. Empty: unknown.
    pub machine: String,
    /// The daemon's process there.
    pub pid: u32,
    /// Resources it may use: processors, by the control group's quota, too, and cores.
    pub processors: u32,
    pub cores: u32,
    pub topology: Topology,
    /// Where other daemons of the job may call it.
    pub door: Vec<SocketAddr>,
}

/// Mark of this machine: what its kernel drew at its start, which containers share and copies of a disk do not.
pub fn machine() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

impl NodeFacts {
    /// Of the node that this process is on.
    pub fn own() -> Result<NodeFacts, String> {
        let allowed = cores::allowed()?;
        let processors = cores::available();
        Ok(NodeFacts {
            hostname: hostname(),
            machine: machine(),
            pid: std::process::id(),
            processors,
            cores: cores::count(Path::new(SYSTEM), &allowed).min(processors),
            topology: Topology::read(Path::new(SYSTEM), &allowed),
            door: Vec::new(),
        })
    }

    pub fn encode(&self, b: Builder) -> Builder {
        let b = b.text(&self.hostname).text(&self.machine).u32(self.pid).u32(self.processors).u32(self.cores);
        doors::put(self.topology.encode(b), &self.door)
    }

    pub fn decode(f: &mut Fields<'_>) -> Result<NodeFacts, Malformed> {
        let positive = |f: &mut Fields<'_>, field| match f.u32(field)? {
            0 => Err(Malformed::Value { field, value: 0 }),
            n => Ok(n),
        };
        Ok(NodeFacts {
            hostname: f.text("host name")?.to_owned(),
            machine: f.text("machine")?.to_owned(),
            pid: f.u32("daemon's process")?,
            processors: positive(f, "processors")?,
            cores: positive(f, "cores")?,
            topology: Topology::decode(f)?,
            door: doors::take(f)?,
        })
    }
}
