//! What is one node's own of a job: which node it is, its cores, and where its ranks run. The rest is the same for all nodes and goes
//! to them once over each link, whatever their number.

use super::{Launch, Place, put_list};
use oxmpi_runtime::wireup::frame::{Builder, Fields, Malformed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub node: u32,
    /// Cores the node has for the job.
    pub cores: u32,
    /// One for each of its ranks.
    pub places: Vec<Place>,
}

impl Part {
    pub fn of(launch: &Launch) -> Part {
        Part { node: launch.node, cores: launch.cores, places: launch.places.clone() }
    }

    pub(super) fn encode(&self, b: Builder) -> Builder {
        put_list(b.u32(self.node).u32(self.cores), &self.places, |b, place| {
            put_list(b.u32(place.program), &place.processors, |b, cpu| b.u32(*cpu))
        })
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Part, Malformed> {
        Ok(Part {
            node: f.u32("node")?,
            cores: f.u32("cores")?,
            places: f.list("places", 8, |f| {
                let program = f.u32("program of a place")?;
                Ok(Place { program, processors: f.list("processors", 4, |f| f.u32("processor"))? })
            })?,
        })
    }

    /// The whole of what a node starts. Refused where the part does not belong to the job.
    pub fn complete(self, job: Launch) -> Result<Launch, Malformed> {
        let local_ranks = job.map.ranks_of(self.node);
        if self.places.len() != local_ranks.len() || local_ranks.is_empty() {
            return Err(Malformed::Value { field: "places", value: self.places.len() as u64 });
        }
        if let Some(place) = self.places.iter().find(|place| place.program as usize >= job.programs.len()) {
            return Err(Malformed::Value { field: "program", value: place.program.into() });
        }
        Ok(Launch { node: self.node, cores: self.cores, places: self.places, local_ranks, ..job })
    }
}
