//! What `mpirun` and a node daemon say to each other, and the channel they say it on.
//!
//! **Output and its windows.** Of each output of each rank a daemon sends at most [`window`] bytes
//! that `mpirun` has not written yet; `mpirun` says what it has written. So when the user's
//! terminal or pipe stands still, the ranks that print stand still in `write`, as they would
//! without us. One that prints more than the reader takes waits alone: the others have windows of
//! their own. Every other frame still gets through, because `mpirun` always reads.

mod channel;
mod ending;
mod exchange;
mod part;
mod route;
mod unstarted;

use crate::remote::agents::Failure;
use crate::remote::facts::NodeFacts;
use crate::stacks::Frames;
pub use channel::{Channel, Peer};
pub use ending::{Ending, Mpi};
pub use exchange::Exchange;
use oxmpi_runtime::wireup::frame::{Builder, Fields, Frame, Malformed};
use oxmpi_runtime::wireup::{AppFacts, NodeMap, Secret};
pub use part::Part;
pub use route::{Down, Passed, unpack};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

mod stdin;

pub use stdin::Stdin;

/// What a daemon's outputs together may have on their way to the user, roughly.
const WINDOWS: usize = 16 << 20;

/// What one output of a rank may have on its way to the user, on a node with so many ranks.
pub fn window(ranks: usize) -> usize {
    (WINDOWS / (2 * ranks.max(1))).clamp(64 << 10, 1 << 20)
}

/// Written output is made known to the daemon in portions; small output needs no answer at all.
pub fn portion(ranks: usize) -> usize {
    window(ranks) / 4
}

/// Standard input that is on its way to another node, at most.
pub const INPUT: usize = 256 << 10;

/// Longest payload either end takes: arguments and environment of a program fit.
pub const LIMIT: usize = 64 << 20;

/// Which of a rank's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

impl Stream {
    pub const ALL: [Stream; 2] = [Stream::Out, Stream::Err];

    pub fn index(self) -> usize {
        self as usize
    }

    fn decode(f: &mut Fields<'_>) -> Result<Stream, Malformed> {
        match f.u8("stream")? {
            0 => Ok(Stream::Out),
            1 => Ok(Stream::Err),
            other => Err(Malformed::Value { field: "stream", value: other.into() }),
        }
    }
}

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
    /// What the ranks are told about the job's programs.
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

/// Where a rank of a node runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index into the programs.
    pub program: u32,
    /// Processors it may run on; an empty list binds to nothing.
    pub processors: Vec<u32>,
}

/// From `mpirun`.
#[derive(Clone, Debug)]
pub enum ToNode {
    /// What is the same for all nodes of the job; what is a node's own is missing.
    Job(Box<Launch>),
    /// What is this node's own: with that it starts its ranks. Comes behind `Job`, and to a daemon before it comes to
    /// those below it.
    Part(Part),
    /// So many bytes of a rank's output have been written.
    Written {
        rank: u32,
        stream: Stream,
        bytes: u64,
    },
    /// Nobody reads this output any more.
    Closed(Stream),
    /// For every rank and what it started in its process group.
    Signal(i32),
    /// End everything: politely, and after the grace by force.
    Terminate {
        grace_ms: u64,
    },
    /// The debugger has seen the processes: MPI_Init may go on.
    Release,
    /// What does every rank do? With stacks: where is it? Answered by `State`s and `Counted`.
    Census {
        stacks: Option<Frames>,
    },
    Exchange(Exchange),
    /// Standard input for the ranks of another node: never more than [`INPUT`] that it has not taken. Empty: the end.
    Input(Vec<u8>),
}

/// From a node daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromNode {
    Output {
        stream: Stream,
        rank: u32,
        /// A piece of a line too long to wait for; its rest comes.
        more: bool,
        bytes: Vec<u8>,
    },
    /// Ranks and their processes, all started.
    Started(Vec<(u32, u32)>),
    /// Where a rank was when a signal ended it, for the user to read. Said before `Exited`.
    Crashed {
        rank: u32,
        report: String,
    },
    /// One rank of a census.
    State {
        rank: u32,
        pid: u32,
        state: String,
        stack: String,
    },
    /// The census is complete.
    Counted,
    Exited {
        rank: u32,
        pid: u32,
        ending: Ending,
        mpi: Mpi,
    },
    /// The program could not be started; `errno` says why.
    CannotStart {
        rank: u32,
        errno: i32,
    },
    Help {
        rank: u32,
        component: String,
        topic: String,
        text: String,
    },
    Abort {
        rank: u32,
        pid: u32,
        code: i32,
        /// What in the library ends the job; empty: the program called MPI_Abort.
        origin: String,
        message: String,
        /// Because of this rank, whose own end is the better news.
        peer: Option<u32>,
    },
    /// The MPI process of a rank is gone without MPI_Finalize, what mpirun started is still there.
    Vanished {
        rank: u32,
        pid: u32,
    },
    /// The rank's process has ended without MPI_Init, and `waiting` is in there and waits for it.
    NeverInit {
        rank: u32,
        pid: u32,
        waiting: u32,
    },
    /// The rank broke the wire-up's protocol.
    Broken {
        rank: u32,
        pid: u32,
        why: String,
    },
    /// The daemon itself cannot go on.
    Failed(String),
    Exchange(Exchange),
    /// The first word of a daemon on another node.
    Here(Box<NodeFacts>),
    /// Daemons that it was to start do not come.
    Unstarted(Failure),
    /// The daemon of the first of these nodes, which is linked to this one, is gone, and with it those of the others, which
    /// were below it.
    Lost {
        nodes: Vec<u32>,
        how: String,
    },
    /// So many bytes of standard input have been taken. `over`: nobody takes any more.
    Took {
        bytes: u32,
        over: bool,
    },
    /// Everything has ended and everything has been said. In a job of several nodes the daemon stays as long as its
    /// link, because ranks of others may ask for what its ranks have published.
    Done,
}

const JOB: u8 = 0x81;
const WRITTEN: u8 = 0x82;
const CLOSED: u8 = 0x83;
const SIGNAL: u8 = 0x84;
const TERMINATE: u8 = 0x85;
const RELEASE: u8 = 0x86;
const CENSUS: u8 = 0x87;
const TO_NODE: u8 = 0x88;
const INPUT_FRAME: u8 = 0x89;
const PART: u8 = 0x8a;
const OUTPUT: u8 = 0xc1;
const EXITED: u8 = 0xc2;
const CANNOT_START: u8 = 0xc3;
const HELP: u8 = 0xc4;
const ABORT: u8 = 0xc5;
const VANISHED: u8 = 0xc6;
const BROKEN: u8 = 0xc7;
const FAILED: u8 = 0xc8;
const DONE: u8 = 0xc9;
const STARTED: u8 = 0xca;
const CRASHED: u8 = 0xcb;
const STATE: u8 = 0xcc;
const COUNTED: u8 = 0xcd;
const FROM_NODE: u8 = 0xce;
const NEVER_INIT: u8 = 0xcf;
const HERE: u8 = 0xb1;
const UNSTARTED: u8 = 0xb2;
const TOOK: u8 = 0xb3;
const LOST: u8 = 0xb4;

/// A message of one of the two directions.
pub trait Message: Sized {
    fn encode(&self) -> Result<Vec<u8>, Malformed>;
    fn decode(frame: Frame<'_>) -> Result<Self, Malformed>;
}

fn put_list<T>(b: Builder, items: &[T], put: impl Fn(Builder, &T) -> Builder) -> Builder {
    items.iter().fold(b.count(items.len()), put)
}

fn os(f: &mut Fields<'_>, field: &'static str) -> Result<OsString, Malformed> {
    Ok(OsString::from_vec(f.bytes(field)?.to_vec()))
}

fn text(f: &mut Fields<'_>, field: &'static str) -> Result<String, Malformed> {
    Ok(f.text(field)?.to_owned())
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

    fn encode(&self) -> Builder {
        let b = Builder::new(JOB).u64(self.job_id).raw(self.secret.bytes());
        let b = put_list(self.map.encode(b), &self.node_names, |b, name| b.text(name));
        let b = b.u8(self.oversubscribed.into());
        let b = put_list(b, &self.params, |b, (name, value)| b.text(name).text(value));
        let b = put_list(b, &self.programs, |b, program| program.encode(b));
        let b = put_list(b, &self.apps, |b, app| app.encode(b)).u32(self.universe);
        self.stdin.encode(b.u8(self.interactive.into()).u8(self.raw.into()).u8(self.hold.into()))
    }

    fn decode(f: &mut Fields<'_>) -> Result<Launch, Malformed> {
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

impl Message for ToNode {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            ToNode::Job(launch) => launch.encode(),
            ToNode::Part(part) => part.encode(Builder::new(PART)),
            ToNode::Written { rank, stream, bytes } => {
                Builder::new(WRITTEN).u32(*rank).u8(*stream as u8).u64(*bytes)
            }
            ToNode::Closed(stream) => Builder::new(CLOSED).u8(*stream as u8),
            ToNode::Signal(number) => Builder::new(SIGNAL).i32(*number),
            ToNode::Terminate { grace_ms } => Builder::new(TERMINATE).u64(*grace_ms),
            ToNode::Release => Builder::new(RELEASE),
            ToNode::Census { stacks } => Builder::new(CENSUS).u8(match stacks {
                None => 0,
                Some(Frames::OfTheProgram) => 1,
                Some(Frames::All) => 2,
            }),
            ToNode::Exchange(exchange) => exchange.encode(Builder::new(TO_NODE)),
            ToNode::Input(bytes) => Builder::new(INPUT_FRAME).raw(bytes),
        }
        .finish()
    }

    fn decode(frame: Frame<'_>) -> Result<ToNode, Malformed> {
        let mut f = Fields::new(frame.payload);
        let message = match frame.kind {
            JOB => ToNode::Job(Box::new(Launch::decode(&mut f)?)),
            PART => ToNode::Part(Part::decode(&mut f)?),
            WRITTEN => ToNode::Written {
                rank: f.u32("rank")?,
                stream: Stream::decode(&mut f)?,
                bytes: f.u64("bytes")?,
            },
            CLOSED => ToNode::Closed(Stream::decode(&mut f)?),
            SIGNAL => ToNode::Signal(f.i32("signal")?),
            TERMINATE => ToNode::Terminate { grace_ms: f.u64("grace")? },
            RELEASE => ToNode::Release,
            CENSUS => ToNode::Census {
                stacks: match f.u8("stacks")? {
                    0 => None,
                    1 => Some(Frames::OfTheProgram),
                    2 => Some(Frames::All),
                    other => return Err(Malformed::Value { field: "stacks", value: other.into() }),
                },
            },
            TO_NODE => ToNode::Exchange(Exchange::decode(&mut f)?),
            INPUT_FRAME => ToNode::Input(f.rest().to_vec()),
            other => return Err(Malformed::Kind(other)),
        };
        f.finish()?;
        Ok(message)
    }
}

impl Message for FromNode {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            FromNode::Output { stream, rank, more, bytes } => {
                Builder::new(OUTPUT).u8(*stream as u8).u32(*rank).u8((*more).into()).raw(bytes)
            }
            FromNode::Started(all) => {
                put_list(Builder::new(STARTED), all, |b, (rank, pid)| b.u32(*rank).u32(*pid))
            }
            FromNode::Crashed { rank, report } => Builder::new(CRASHED).u32(*rank).text(report),
            FromNode::State { rank, pid, state, stack } => {
                Builder::new(STATE).u32(*rank).u32(*pid).text(state).text(stack)
            }
            FromNode::Counted => Builder::new(COUNTED),
            FromNode::Exited { rank, pid, ending, mpi } => {
                ending.encode(Builder::new(EXITED).u32(*rank).u32(*pid)).u8(*mpi as u8)
            }
            FromNode::CannotStart { rank, errno } => Builder::new(CANNOT_START).u32(*rank).i32(*errno),
            FromNode::Help { rank, component, topic, text } => {
                Builder::new(HELP).u32(*rank).text(component).text(topic).text(text)
            }
            FromNode::Abort { rank, pid, code, origin, message, peer } => {
                let b = Builder::new(ABORT).u32(*rank).u32(*pid).i32(*code).text(origin).text(message);
                put_list(b, peer.as_slice(), |b, peer| b.u32(*peer))
            }
            FromNode::Vanished { rank, pid } => Builder::new(VANISHED).u32(*rank).u32(*pid),
            FromNode::NeverInit { rank, pid, waiting } => {
                Builder::new(NEVER_INIT).u32(*rank).u32(*pid).u32(*waiting)
            }
            FromNode::Broken { rank, pid, why } => Builder::new(BROKEN).u32(*rank).u32(*pid).text(why),
            FromNode::Failed(why) => Builder::new(FAILED).text(why),
            FromNode::Exchange(exchange) => exchange.encode(Builder::new(FROM_NODE)),
            FromNode::Here(facts) => facts.encode(Builder::new(HERE)),
            FromNode::Unstarted(failure) => failure.encode(Builder::new(UNSTARTED)),
            FromNode::Lost { nodes, how } => {
                put_list(Builder::new(LOST), nodes, |b, node| b.u32(*node)).text(how)
            }
            FromNode::Took { bytes, over } => Builder::new(TOOK).u32(*bytes).u8((*over).into()),
            FromNode::Done => Builder::new(DONE),
        }
        .finish()
    }

    fn decode(frame: Frame<'_>) -> Result<FromNode, Malformed> {
        let mut f = Fields::new(frame.payload);
        let message = match frame.kind {
            OUTPUT => FromNode::Output {
                stream: Stream::decode(&mut f)?,
                rank: f.u32("rank")?,
                more: f.bool("more")?,
                bytes: f.rest().to_vec(),
            },
            STARTED => FromNode::Started(f.list("processes", 8, |f| Ok((f.u32("rank")?, f.u32("pid")?)))?),
            CRASHED => FromNode::Crashed { rank: f.u32("rank")?, report: text(&mut f, "report")? },
            STATE => FromNode::State {
                rank: f.u32("rank")?,
                pid: f.u32("pid")?,
                state: text(&mut f, "state")?,
                stack: text(&mut f, "stack")?,
            },
            COUNTED => FromNode::Counted,
            EXITED => FromNode::Exited {
                rank: f.u32("rank")?,
                pid: f.u32("pid")?,
                ending: Ending::decode(&mut f)?,
                mpi: Mpi::decode(&mut f)?,
            },
            CANNOT_START => FromNode::CannotStart { rank: f.u32("rank")?, errno: f.i32("errno")? },
            HELP => FromNode::Help {
                rank: f.u32("rank")?,
                component: text(&mut f, "component")?,
                topic: text(&mut f, "topic")?,
                text: text(&mut f, "text")?,
            },
            ABORT => FromNode::Abort {
                rank: f.u32("rank")?,
                pid: f.u32("pid")?,
                code: f.i32("code")?,
                origin: text(&mut f, "origin")?,
                message: text(&mut f, "message")?,
                peer: f.list("peer", 4, |f| f.u32("peer"))?.pop(),
            },
            VANISHED => FromNode::Vanished { rank: f.u32("rank")?, pid: f.u32("pid")? },
            NEVER_INIT => {
                FromNode::NeverInit { rank: f.u32("rank")?, pid: f.u32("pid")?, waiting: f.u32("waiting")? }
            }
            BROKEN => {
                FromNode::Broken { rank: f.u32("rank")?, pid: f.u32("pid")?, why: text(&mut f, "reason")? }
            }
            FAILED => FromNode::Failed(text(&mut f, "reason")?),
            FROM_NODE => FromNode::Exchange(Exchange::decode(&mut f)?),
            HERE => FromNode::Here(Box::new(NodeFacts::decode(&mut f)?)),
            UNSTARTED => FromNode::Unstarted(Failure::decode(&mut f)?),
            LOST => FromNode::Lost {
                nodes: f.list("nodes", 4, |f| f.u32("node"))?,
                how: text(&mut f, "how it went")?,
            },
            TOOK => FromNode::Took { bytes: f.u32("bytes")?, over: f.bool("over")? },
            DONE => FromNode::Done,
            other => return Err(Malformed::Kind(other)),
        };
        f.finish()?;
        Ok(message)
    }
}

#[cfg(test)]
mod tests;
