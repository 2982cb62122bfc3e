//! The messages: what mpirun says to a daemon, and a daemon to mpirun.

use super::ending::{Ending, Mpi};
use super::exchange::Exchange;
use super::fields::{put_list, text};
use super::kinds::*;
use super::launch::{Launch, Part};
use super::message::Message;
use super::runs::{put_started, take_started};
use crate::remote::agents::Failure;
use crate::remote::facts::NodeFacts;
use crate::stacks::Frames;
use oxmpi_wireup::frame::{Builder, Fields, Frame, Malformed};
use oxmpi_wireup::jobs::{JobsReply, JobsRequest};

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

/// From `mpirun`.
#[derive(Clone, Debug)]
pub enum ToNode {
    /// The part that is the same for all nodes of the job; a node's own part is missing.
    Job(Box<Launch>),
    /// This node's own part: with that it starts its ranks. Comes behind `Job`, and to a daemon before it comes to
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
    /// Ranks that are ending may finish their reports; then as `Terminate`.
    LetEnd {
        grace_ms: u64,
    },
    /// End everything: politely, and after the grace by force.
    Terminate {
        grace_ms: u64,
    },
    /// The debugger has seen the processes: MPI_Init may go on.
    Release,
    /// Asks for the state of every rank, and with stacks for its place. Answered by `State`s and `Counted`.
    Census {
        stacks: Option<Frames>,
    },
    Exchange(Exchange),
    /// For a rank of this node, about other jobs.
    Jobs {
        rank: u32,
        reply: JobsReply,
    },
    /// Standard input for the ranks of another node: never more than `link::INPUT` bytes that it has not taken. Empty: the end.
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
    /// The program could not be started; `errno` says why, and `limits` names those of the node that may be the cause.
    CannotStart {
        rank: u32,
        errno: i32,
        limits: String,
    },
    /// The rank's process ends without MPI_Init of ours, and has loaded this library of another MPI or is linked with it. Said before
    /// `Exited`.
    OtherMpi {
        rank: u32,
        library: String,
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
        /// The place in the library that ends the job; empty: the program called MPI_Abort.
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
    /// A rank's words about other jobs.
    Jobs {
        rank: u32,
        request: JobsRequest,
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
    /// This daemon cannot make a direct link to a node: why. Said of the first that it cannot.
    Barred {
        node: u32,
        why: String,
    },
    /// Somebody who is no daemon of the job has called this one: who, and why he is refused.
    Refused(String),
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
            ToNode::LetEnd { grace_ms } => Builder::new(LET_END).u64(*grace_ms),
            ToNode::Terminate { grace_ms } => Builder::new(TERMINATE).u64(*grace_ms),
            ToNode::Release => Builder::new(RELEASE),
            ToNode::Census { stacks } => Builder::new(CENSUS).u8(match stacks {
                None => 0,
                Some(Frames::OfTheProgram) => 1,
                Some(Frames::All) => 2,
            }),
            ToNode::Exchange(exchange) => exchange.encode(Builder::new(TO_NODE)),
            ToNode::Jobs { rank, reply } => reply.encode(Builder::new(JOBS_DOWN).u32(*rank)),
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
            LET_END => ToNode::LetEnd { grace_ms: f.u64("grace")? },
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
            JOBS_DOWN => ToNode::Jobs { rank: f.u32("rank")?, reply: JobsReply::decode(&mut f)? },
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
            FromNode::Started(all) => put_started(Builder::new(STARTED), all),
            FromNode::Crashed { rank, report } => Builder::new(CRASHED).u32(*rank).text(report),
            FromNode::State { rank, pid, state, stack } => {
                Builder::new(STATE).u32(*rank).u32(*pid).text(state).text(stack)
            }
            FromNode::Counted => Builder::new(COUNTED),
            FromNode::Exited { rank, pid, ending, mpi } => {
                ending.encode(Builder::new(EXITED).u32(*rank).u32(*pid)).u8(*mpi as u8)
            }
            FromNode::CannotStart { rank, errno, limits } => {
                Builder::new(CANNOT_START).u32(*rank).i32(*errno).text(limits)
            }
            FromNode::OtherMpi { rank, library } => Builder::new(OTHER_MPI).u32(*rank).text(library),
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
            FromNode::Jobs { rank, request } => request.encode(Builder::new(JOBS_UP).u32(*rank)),
            FromNode::Broken { rank, pid, why } => Builder::new(BROKEN).u32(*rank).u32(*pid).text(why),
            FromNode::Failed(why) => Builder::new(FAILED).text(why),
            FromNode::Exchange(exchange) => exchange.encode(Builder::new(FROM_NODE)),
            FromNode::Barred { node, why } => Builder::new(BARRED).u32(*node).text(why),
            FromNode::Refused(text) => Builder::new(REFUSED).text(text),
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
            STARTED => FromNode::Started(take_started(&mut f)?),
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
            CANNOT_START => FromNode::CannotStart {
                rank: f.u32("rank")?,
                errno: f.i32("errno")?,
                limits: text(&mut f, "limits")?,
            },
            OTHER_MPI => FromNode::OtherMpi { rank: f.u32("rank")?, library: text(&mut f, "library")? },
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
            JOBS_UP => FromNode::Jobs { rank: f.u32("rank")?, request: JobsRequest::decode(&mut f)? },
            FROM_NODE => FromNode::Exchange(Exchange::decode(&mut f)?),
            BARRED => FromNode::Barred { node: f.u32("node")?, why: text(&mut f, "reason")? },
            REFUSED => FromNode::Refused(text(&mut f, "refusal")?),
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
