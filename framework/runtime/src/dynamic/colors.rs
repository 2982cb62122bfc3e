//! Colours by which the ranks of a communicator split by node and by process, alike at all ranks whatever job they are of.

use crate::objects::Communicator;

impl Communicator {
    /// The node of the calling rank as a colour. Nodes of two jobs are two, also where they are one machine: memory of a node ends at the job.
    pub fn node_color(&self) -> u32 {
        let instance = self.instance();
        match self.group().strangers(instance.job().job_size).is_empty() {
            true => instance.job().node,
            false => {
                let places = self.group().places(|proc| instance.place_of(proc));
                places.get(self.rank()).map_or(instance.job().node, |place| place.node)
            }
        }
    }

    /// The process of the calling rank as a colour.
    pub fn process_color(&self) -> u32 {
        let own = self.instance().job();
        match self.group().strangers(own.job_size).is_empty() {
            true => own.rank,
            // Its lowest rank here.
            false => {
                let of_process = self.group().members().iter().position(|member| member.proc == own.rank);
                of_process.map_or(0, |rank| rank as u32)
            }
        }
    }
}
