//! The launch that daemons are given: the part that is the same for all nodes of a job, and each node's own part of it.

use super::fields::{os, put_list, text};
use super::kinds::JOB;
use super::place::Place;
use super::runs::{put_places, take_places};
use super::stdin::Stdin;
use crate::remote::doors::Doors;
use oxmpi_wireup::frame::{Builder, Fields, Malformed};
use oxmpi_wireup::{AppFacts, NodeMap, Secret};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The variable with a program's arguments, as Open MPI has it.
pub const ARGUMENTS: &str = "OMPI_ARGV";

/// Everything a daemon needs to start its part of a job.
#[derive(Clone, Debug)]
pub struct Launch {
    pub job_id: u64,
    pub secret: Secret,
    /// Which rank is on which node.
    pub map: NodeMap,
    /// Which of `node_names` the daemon is on.
    pub node: u32,
    pub node_names: Vec<String>,
    /// The ranks it starts; they follow from `map`.
    pub local_ranks: Vec<u32>,
    /// Cores the node has for the job.
    pub cores: u32,
    pub oversubscribed: bool,
    pub params: Vec<(String, String)>,
    /// The job's programs in the order of their ranks, and which of them each local rank runs.
    pub programs: Vec<Program>,
    pub places: Vec<Place>,
    /// Facts that the ranks are told about the job's programs.
    pub apps: Vec<AppFacts>,
    /// How many processes there could be, for MPI_UNIVERSE_SIZE.
    pub universe: u32,
    /// The user looks on: show the beginning of a line when the rest keeps him waiting.
    pub interactive: bool,
    /// Output is sent on as it comes, not in whole lines.
    pub raw: bool,
    pub stdin: Stdin,
    /// A debugger looks on: processes wait in MPI_Init for `Release`.
    pub hold: bool,
    /// mpirun as a random number that is the same for all its jobs, and the numbers that the job's nodes have among all its nodes (empty: their own).
    pub tree: u64,
    pub sites: Vec<u32>,
    /// The port at which those wait who spawned the job; empty: nobody did.
    pub parent: String,
    /// Where the daemons of the job's nodes are reached by each other.
    pub doors: Doors,
}

/// One program of a job, as its ranks are to start it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// The folder it starts in; None: the daemon's own.
    pub folder: Option<OsString>,
    /// It is only where mpirun happens to be: on a node without it the daemon's own will do.
    pub any_folder: bool,
    /// Nothing of the daemon's environment is handed on.
    pub clear: bool,
    pub unset: Vec<OsString>,
    /// Set on top of that.
    pub environment: Vec<(OsString, OsString)>,
}

impl Launch {
    /// Does some rank of the node read mpirun's standard input?
    pub fn reads_stdin(&self) -> bool {
        match &self.stdin {
            Stdin::Rank(reader) => self.local_ranks.contains(reader),
            Stdin::Copies(readers) => readers.iter().any(|reader| self.local_ranks.contains(reader)),
            Stdin::Nobody => false,
        }
    }

    /// The nodes of which some rank reads mpirun's standard input.
    pub fn readers(&self) -> BTreeSet<u32> {
        let readers = match &self.stdin {
            Stdin::Rank(reader) => std::slice::from_ref(reader),
            Stdin::Copies(readers) => readers,
            Stdin::Nobody => &[],
        };
        readers.iter().filter_map(|reader| self.map.node_of(*reader)).collect()
    }

    /// Gives the part that is the same for all nodes.
    pub fn common(&self) -> Launch {
        Launch { node: 0, cores: 0, local_ranks: Vec::new(), places: Vec::new(), ..self.clone() }
    }

    pub(super) fn encode(&self) -> Builder {
        let b = Builder::new(JOB).u64(self.job_id).raw(self.secret.bytes());
        let b = put_list(self.map.encode(b), &self.node_names, |b, name| b.text(name));
        let b = b.u8(self.oversubscribed.into());
        let b = put_list(b, &self.params, |b, (name, value)| b.text(name).text(value));
        let b = put_list(b, &self.programs, |b, program| program.encode(b));
        let b = put_list(b, &self.apps, |b, app| app.encode(b)).u32(self.universe);
        let b = put_list(b.u64(self.tree).text(&self.parent), &self.sites, |b, site| b.u32(*site));
        let b = self.doors.encode(b);
        self.stdin.encode(b.u8(self.interactive.into()).u8(self.raw.into()).u8(self.hold.into()))
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Launch, Malformed> {
        Ok(Launch {
            job_id: f.u64("job id")?,
            secret: Secret::from_bytes(f.array("secret")?),
            map: NodeMap::decode(f)?,
            node_names: f.list("node names", 4, |f| text(f, "node name"))?,
            oversubscribed: f.bool("oversubscribed")?,
            params: f.list("parameters", 8, |f| Ok((text(f, "parameter")?, text(f, "parameter value")?)))?,
            programs: f.list("programs", 20, Program::decode)?,
            apps: f.list("apps", AppFacts::LEAST, AppFacts::decode)?,
            universe: f.u32("universe")?,
            tree: f.u64("tree")?,
            parent: text(f, "parent")?,
            sites: f.list("sites", 4, |f| f.u32("site"))?,
            doors: Doors::decode(f)?,
            interactive: f.bool("interactive")?,
            raw: f.bool("raw")?,
            hold: f.bool("hold")?,
            stdin: Stdin::decode(f)?,
            node: 0,
            local_ranks: Vec::new(),
            cores: 0,
            places: Vec::new(),
        })
    }
}

impl Program {
    fn encode(&self, b: Builder) -> Builder {
        let b = b.bytes(self.program.as_bytes());
        let b = put_list(b, &self.arguments, |b, argument| b.bytes(argument.as_bytes()));
        let b = put_list(b, self.folder.as_slice(), |b, folder| b.bytes(folder.as_bytes()));
        let b = b.u8(self.any_folder.into()).u8(self.clear.into());
        let b = put_list(b, &self.unset, |b, name| b.bytes(name.as_bytes()));
        put_list(b, &self.environment, |b, (name, value)| b.bytes(name.as_bytes()).bytes(value.as_bytes()))
    }

    fn decode(f: &mut Fields<'_>) -> Result<Program, Malformed> {
        Ok(Program {
            program: os(f, "program")?,
            arguments: f.list("arguments", 4, |f| os(f, "argument"))?,
            folder: f.list("folder", 4, |f| os(f, "folder"))?.pop(),
            any_folder: f.bool("any folder")?,
            clear: f.bool("clear")?,
            unset: f.list("variables to unset", 4, |f| os(f, "variable"))?,
            environment: f
                .list("environment", 8, |f| Ok((os(f, "variable")?, os(f, "variable's value")?)))?,
        })
    }
}

/// One node's own part of a job: which node it is, its cores, and where its ranks run. The rest is the same for all nodes and goes
/// to them once over each link, whatever their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub node: u32,
    /// Cores the node has for the job.
    pub cores: u32,
    /// One for each of its ranks.
    pub places: Vec<Place>,
}

impl Part {
    pub(super) fn encode(&self, b: Builder) -> Builder {
        put_places(b.u32(self.node).u32(self.cores), &self.places)
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Part, Malformed> {
        Ok(Part { node: f.u32("node")?, cores: f.u32("cores")?, places: take_places(f)? })
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
