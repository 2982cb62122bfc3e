//! Words between a rank and `mpirun` about other jobs: a job is to be started, a service has a name, the rank is connected with a job.
//!
//! They pass the daemons as they are: [`JobsRequest`] goes up, [`JobsReply`] comes down to the rank that asked. Replies name the
//! question by a number of the rank's own, because starting a job takes long and threads ask beside each other; several replies
//! may come to a question: a job that was started may end before anybody is connected with it.

use super::frame::{Builder, Fields, Malformed};

/// Most bytes of what a rank asks for: command, arguments and hints of all programs together.
pub const SPAWN_LIMIT: usize = 512 << 10;

/// One program that is to be started (MPI 5.0 §11.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnedProgram {
    pub command: Vec<u8>,
    pub arguments: Vec<Vec<u8>>,
    /// How many processes, at most.
    pub most: u32,
    /// Hints as the program gave them, in their order.
    pub hints: Vec<(String, String)>,
}

/// A job that is to be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnRequest {
    pub programs: Vec<SpawnedProgram>,
    /// Folder of the process that asks.
    pub folder: Vec<u8>,
    /// The port at which the new job's processes find those who asked.
    pub port: String,
}

/// An action on the name of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameVerb {
    Publish,
    Unpublish,
    Lookup,
}

/// From a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobsRequest {
    /// Answered by `Started` or `NotStarted`; behind `Started` `NotStarted` may come.
    Spawn { id: u32, request: SpawnRequest },
    /// The one who asked for a job is connected with it, or has given it up: from now on it is as any other job.
    Met { id: u32 },
    /// Answered by `Name`. `port` is that of the service; empty in a look-up.
    Name { id: u32, verb: NameVerb, service: String, port: String },
    /// Processes of the job with this id are connected with this rank from now on, or are no more. Not answered.
    Linked { job: u64, on: bool },
}

/// To a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobsReply {
    /// So many processes of each program are on their way, in a job with this id.
    Started {
        id: u32,
        job: u64,
        counts: Vec<u32>,
    },
    NotStarted {
        id: u32,
        why: String,
    },
    /// The port of a look-up, or empty where something else was done; None: there is no such name, or there is one already.
    Name {
        id: u32,
        port: Option<String>,
    },
}

impl JobsRequest {
    /// Appends the words to a frame.
    pub fn encode(&self, b: Builder) -> Builder {
        match self {
            JobsRequest::Spawn { id, request } => request.encode(b.u8(0).u32(*id)),
            JobsRequest::Met { id } => b.u8(1).u32(*id),
            JobsRequest::Name { id, verb, service, port } => {
                b.u8(2).u32(*id).u8(*verb as u8).text(service).text(port)
            }
            JobsRequest::Linked { job, on } => b.u8(3).u64(*job).u8((*on).into()),
        }
    }

    /// Reads the words from a frame's fields.
    pub fn decode(f: &mut Fields<'_>) -> Result<JobsRequest, Malformed> {
        Ok(match f.u8("request")? {
            0 => JobsRequest::Spawn { id: f.u32("number")?, request: SpawnRequest::decode(f)? },
            1 => JobsRequest::Met { id: f.u32("number")? },
            2 => JobsRequest::Name {
                id: f.u32("number")?,
                verb: match f.u8("verb")? {
                    0 => NameVerb::Publish,
                    1 => NameVerb::Unpublish,
                    2 => NameVerb::Lookup,
                    other => return Err(Malformed::Value { field: "verb", value: other.into() }),
                },
                service: f.text("service")?.to_owned(),
                port: f.text("port")?.to_owned(),
            },
            3 => JobsRequest::Linked { job: f.u64("job")?, on: f.bool("linked")? },
            other => return Err(Malformed::Value { field: "request", value: other.into() }),
        })
    }
}

impl JobsReply {
    /// The number of the question.
    pub fn id(&self) -> u32 {
        match self {
            JobsReply::Started { id, .. } | JobsReply::NotStarted { id, .. } | JobsReply::Name { id, .. } => {
                *id
            }
        }
    }

    /// Appends the words to a frame.
    pub fn encode(&self, b: Builder) -> Builder {
        match self {
            JobsReply::Started { id, job, counts } => {
                counts.iter().fold(b.u8(0).u32(*id).u64(*job).count(counts.len()), |b, n| b.u32(*n))
            }
            JobsReply::NotStarted { id, why } => b.u8(1).u32(*id).text(why),
            JobsReply::Name { id, port } => {
                let b = b.u8(2).u32(*id).u8(port.is_some().into());
                port.iter().fold(b, |b, port| b.text(port))
            }
        }
    }

    /// Reads the words from a frame's fields.
    pub fn decode(f: &mut Fields<'_>) -> Result<JobsReply, Malformed> {
        Ok(match f.u8("reply")? {
            0 => JobsReply::Started {
                id: f.u32("number")?,
                job: f.u64("job")?,
                counts: f.list("counts", 4, |f| f.u32("count"))?,
            },
            1 => JobsReply::NotStarted { id: f.u32("number")?, why: f.text("reason")?.to_owned() },
            2 => JobsReply::Name {
                id: f.u32("number")?,
                port: match f.bool("found")? {
                    true => Some(f.text("port")?.to_owned()),
                    false => None,
                },
            },
            other => return Err(Malformed::Value { field: "reply", value: other.into() }),
        })
    }
}

impl SpawnRequest {
    /// Bytes that it takes, roughly: what [`SPAWN_LIMIT`] bounds.
    pub fn bytes(&self) -> usize {
        let of = |p: &SpawnedProgram| {
            let hints: usize = p.hints.iter().map(|(key, value)| key.len() + value.len() + 8).sum();
            let arguments: usize = p.arguments.iter().map(|a| a.len() + 4).sum();
            p.command.len() + arguments + hints + 16
        };
        self.programs.iter().map(of).sum::<usize>() + self.folder.len() + self.port.len()
    }

    fn encode(&self, b: Builder) -> Builder {
        let b = b.bytes(&self.folder).text(&self.port).count(self.programs.len());
        self.programs.iter().fold(b, |b, program| program.encode(b))
    }

    fn decode(f: &mut Fields<'_>) -> Result<SpawnRequest, Malformed> {
        Ok(SpawnRequest {
            folder: f.bytes("folder")?.to_vec(),
            port: f.text("port")?.to_owned(),
            programs: f.list("programs", 16, SpawnedProgram::decode)?,
        })
    }
}

impl SpawnedProgram {
    fn encode(&self, b: Builder) -> Builder {
        let b = b.bytes(&self.command).u32(self.most).count(self.arguments.len());
        let b = self.arguments.iter().fold(b, |b, argument| b.bytes(argument)).count(self.hints.len());
        self.hints.iter().fold(b, |b, (key, value)| b.text(key).text(value))
    }

    fn decode(f: &mut Fields<'_>) -> Result<SpawnedProgram, Malformed> {
        Ok(SpawnedProgram {
            command: f.bytes("command")?.to_vec(),
            most: f.u32("processes")?,
            arguments: f.list("arguments", 4, |f| Ok(f.bytes("argument")?.to_vec()))?,
            hints: f.list("hints", 8, |f| Ok((f.text("key")?.to_owned(), f.text("value")?.to_owned())))?,
        })
    }
}
