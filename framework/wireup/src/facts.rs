//! Facts about its job that a process has from the first moment.

use super::frame::{Builder, Fields, Malformed};
use super::nodes::NodeMap;

/// Everything the launcher tells a rank. The segment's descriptor travels beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFacts {
    /// This process, and how many there are in the job.
    pub rank: u32,
    pub size: u32,
    /// Which rank is on which node.
    pub map: NodeMap,
    /// This node, from 0, as an index into `node_names`; this and the next two follow from `map`.
    pub node: u32,
    /// Job ranks of this node's processes, ascending; `local_rank` is this one's place in it.
    pub local_ranks: Vec<u32>,
    pub local_rank: u32,
    /// Random number of the job, equal in all its processes, never 0.
    pub job_id: u64,
    /// Some node has more processes of the job than cores for them; the same in all processes.
    pub oversubscribed: bool,
    /// Cores this process may use.
    pub cores: u32,
    /// It may not use all of the node's; found by the process itself, not told.
    pub bound: bool,
    /// The node daemon, for PR_SET_PTRACER; 0: there is none.
    pub keeper_pid: u32,
    /// Name of this node.
    pub hostname: String,
    pub node_names: Vec<String>,
    /// Settings given to mpirun by `--mca`.
    pub params: Vec<(String, String)>,
    /// How many processes there could be (MPI_UNIVERSE_SIZE); at least `size`.
    pub universe: u32,
    /// The job's programs. Their ranks follow each other: the first has the first `ranks`, …
    pub apps: Vec<AppFacts>,
    /// The mpirun that started it, as a random number that all its jobs are told; 0: no launcher did.
    pub tree: u64,
    /// Numbers of the job's nodes among all nodes of that mpirun, in the order of `node_names`; empty: those of `map`.
    pub sites: Vec<u32>,
    /// The port at which those who spawned the job wait for it (MPI 5.0 §11.8); empty: nobody spawned it.
    pub parent: String,
}

/// One program of the job, as it was started: what MPI_INFO_ENV says of it (MPI 5.0 §11.2.1). An
/// empty text: the user said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppFacts {
    /// How many ranks run it: `maxprocs`.
    pub ranks: u32,
    pub command: String,
    pub arguments: Vec<String>,
    pub soft: String,
    pub host: String,
    pub arch: String,
    pub wdir: String,
    pub file: String,
}

impl AppFacts {
    /// Bytes that one needs at least on the wire.
    pub const LEAST: usize = 4 + 7 * 4;

    /// Appends the program's facts to a frame.
    pub fn encode(&self, into: Builder) -> Builder {
        let mut b = into.u32(self.ranks).text(&self.command).count(self.arguments.len());
        for argument in &self.arguments {
            b = b.text(argument);
        }
        for text in [&self.soft, &self.host, &self.arch, &self.wdir, &self.file] {
            b = b.text(text);
        }
        b
    }

    /// Reads a program's facts from a frame's fields.
    pub fn decode(f: &mut Fields<'_>) -> Result<AppFacts, Malformed> {
        let text = |f: &mut Fields<'_>, field| Ok(f.text(field)?.to_owned());
        Ok(AppFacts {
            ranks: f.u32("ranks of a program")?,
            command: text(f, "command")?,
            arguments: f.list("arguments", 4, |f| Ok(f.text("argument")?.to_owned()))?,
            soft: text(f, "soft")?,
            host: text(f, "host")?,
            arch: text(f, "arch")?,
            wdir: text(f, "wdir")?,
            file: text(f, "file")?,
        })
    }
}

impl JobFacts {
    /// Which of the job's programs this rank runs: MPI_APPNUM, and what MPI_INFO_ENV says. None
    /// where nobody told (a job without a launcher).
    pub fn app(&self) -> Option<(u32, &AppFacts)> {
        let mut first = 0_u32;
        for (number, app) in (0_u32..).zip(&self.apps) {
            first = first.checked_add(app.ranks)?;
            if self.rank < first {
                return Some((number, app));
            }
        }
        None
    }

    /// Number of this node among all nodes of the mpirun that started the job.
    pub fn site(&self) -> u32 {
        self.sites.get(self.node as usize).copied().unwrap_or(self.node)
    }

    /// How many processes of the job are on this node.
    pub fn local_size(&self) -> u32 {
        // At most `size`, which is a u32.
        self.local_ranks.len() as u32
    }

    /// A job of one process, started without a launcher.
    pub fn alone(job_id: u64, cores: u32, hostname: String) -> JobFacts {
        JobFacts {
            rank: 0,
            size: 1,
            map: NodeMap::one_node(1),
            node: 0,
            local_ranks: vec![0],
            local_rank: 0,
            job_id,
            oversubscribed: false,
            cores,
            bound: false,
            keeper_pid: 0,
            node_names: vec![hostname.clone()],
            hostname,
            params: Vec::new(),
            universe: 1,
            apps: Vec::new(),
            tree: 0,
            sites: Vec::new(),
            parent: String::new(),
        }
    }

    /// Appends the facts to a frame.
    pub(super) fn encode(&self, into: Builder) -> Builder {
        let mut b = self
            .map
            .encode(into.u32(self.rank))
            .u64(self.job_id)
            .u8(self.oversubscribed.into())
            .u32(self.cores)
            .u32(self.keeper_pid)
            .count(self.node_names.len());
        for name in &self.node_names {
            b = b.text(name);
        }
        b = b.count(self.params.len());
        for (name, value) in &self.params {
            b = b.text(name).text(value);
        }
        let b = self.apps.iter().fold(b.u32(self.universe).count(self.apps.len()), |b, app| app.encode(b));
        let b = b.u64(self.tree).text(&self.parent).count(self.sites.len());
        self.sites.iter().fold(b, |b, site| b.u32(*site))
    }

    /// Reads the facts from a frame's fields; refused where they contradict each other.
    pub(super) fn decode(f: &mut Fields<'_>) -> Result<JobFacts, Malformed> {
        let rank = f.u32("rank")?;
        let map = NodeMap::decode(f)?;
        let wrong = |field, value: u32| Malformed::Value { field, value: value.into() };
        let node = map.node_of(rank).ok_or_else(|| wrong("rank", rank))?;
        if map.count(node) > MOST_LOCAL {
            return Err(wrong("ranks of the node", map.count(node)));
        }
        let facts = JobFacts {
            rank,
            size: map.size(),
            node,
            local_ranks: map.ranks_of(node),
            local_rank: map.local_rank_of(rank).unwrap_or(0),
            map,
            job_id: f.u64("job id")?,
            oversubscribed: f.bool("oversubscribed")?,
            cores: f.u32("cores")?,
            bound: false,
            keeper_pid: f.u32("keeper pid")?,
            hostname: String::new(),
            node_names: f.list("node names", 4, |f| Ok(f.text("node names")?.to_owned()))?,
            params: f.list("parameters", 8, |f| {
                Ok((f.text("parameter name")?.to_owned(), f.text("parameter value")?.to_owned()))
            })?,
            universe: f.u32("universe")?,
            apps: f.list("apps", AppFacts::LEAST, AppFacts::decode)?,
            tree: f.u64("tree")?,
            parent: f.text("parent")?.to_owned(),
            sites: f.list("sites", 4, |f| f.u32("site"))?,
        };
        let sites_fit = facts.sites.is_empty() || facts.sites.len() == facts.node_names.len();
        // So that nobody need ask again.
        match facts.node_names.get(facts.node as usize) {
            Some(name) if facts.map.nodes() as usize == facts.node_names.len() && sites_fit => {
                Ok(JobFacts { hostname: name.clone(), ..facts })
            }
            _ => Err(wrong("node names", facts.node_names.len() as u32)),
        }
    }
}

/// More processes than any node has: a bound on what a wrong message makes a process allocate.
const MOST_LOCAL: u32 = 1 << 24;
