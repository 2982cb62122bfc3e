//! Messages between a rank and its node daemon.

use super::facts::JobFacts;
use super::frame::{Builder, Fields, Frame, Malformed};
use super::jobs::{JobsReply, JobsRequest};
use super::moment::{MAPS_LIMIT, Moment, STACK_LIMIT};
use super::secret::Secret;

/// Longest payload the daemon takes from somebody who has not shown the secret yet.
pub const HELLO_LIMIT: usize = 512;
/// Longest payload the daemon takes from a rank.
pub const RANK_LIMIT: usize = 1 << 20;
/// Longest payload a rank takes from its daemon: the facts of a very large job.
pub const DAEMON_LIMIT: usize = 64 << 20;
/// Longest key and value of the store, and longest text for a human.
pub const KEY_LIMIT: usize = 255;
pub const VALUE_LIMIT: usize = 64 << 10;
pub const TEXT_LIMIT: usize = 64 << 10;

const HELLO: u8 = 0x01;
const PUT: u8 = 0x02;
const FENCE: u8 = 0x03;
const GET: u8 = 0x04;
const HELP: u8 = 0x05;
const ABORT: u8 = 0x06;
const FINALIZED: u8 = 0x07;
const RESUMED: u8 = 0x08;
const WITNESS: u8 = 0x09;
pub(super) const CRASH: u8 = 0x0a;
const SHARE: u8 = 0x0b;
const GIVE_UP: u8 = 0x0c;
const JOBS: u8 = 0x0d;
const BORROW: u8 = 0x0e;
const FACTS: u8 = 0x41;
const REFUSED: u8 = 0x42;
const FENCE_DONE: u8 = 0x43;
const FENCE_FAILED: u8 = 0x44;
const VALUE: u8 = 0x45;
const SHARED: u8 = 0x46;
const NOT_SHARED: u8 = 0x47;
const JOBS_REPLY: u8 = 0x48;

/// From a rank.
#[derive(Clone, Debug)]
pub enum ToDaemon {
    /// First frame of a connection. Answered by `Facts` or `Refused`.
    Hello { version: u32, secret: Secret, rank: u32, pid: u32 },
    /// Pairs that everybody may ask for from now on.
    Put(Vec<(String, Vec<u8>)>),
    /// Answered by `FenceDone` when every process of the job has said it.
    Fence,
    /// Answered by `Value`, in any order with other answers. Not asked for again before that.
    Get { proc: u32, key: String },
    /// Memory of the node. Answered by `Shared` or `NotShared`.
    Share { key: String, bytes: u64 },
    /// This rank will not ask for that memory again, and does not need it kept.
    GiveUp { key: String },
    /// A paragraph for the user, printed once per job.
    Help { component: String, topic: String, text: String },
    /// The job is to end with this exit code. `origin`: what in the library ends it; empty: the program called MPI_Abort.
    /// `peer` is the rank that is the reason, if one is.
    Abort { code: i32, origin: String, message: String, peer: Option<u32> },
    /// MPI is finalized: this process may go without a word.
    Finalized,
    /// MPI is in use again: as after hello.
    Resumed,
    /// About other jobs, for mpirun.
    Jobs(JobsRequest),
    /// First frame of a connection, of a process of another job on this node: memory of the node. Answered by `Shared` or
    /// `NotShared`. The memory is there while a rank of this job has it.
    Borrow { version: u32, secret: Secret, key: String, bytes: u64 },
    /// First frame of a connection on which only `Crash` comes. Not answered.
    Witness { version: u32, secret: Secret, rank: u32 },
    /// A signal that ends the process: the bytes above its stack pointer, and its map of memory
    /// as the kernel writes it.
    Crash { moment: Moment, to: String, stack: Vec<u8>, maps: Vec<u8> },
}

/// From the node daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToRank {
    /// Comes with the segment's descriptor beside its first byte.
    Facts(JobFacts),
    Refused(String),
    FenceDone,
    /// Somebody who would have to come is gone.
    FenceFailed(String),
    Value {
        proc: u32,
        key: String,
        value: Option<Vec<u8>>,
    },
    /// Comes with the memory's descriptor beside its first byte.
    Shared {
        first: bool,
    },
    NotShared {
        other_size: bool,
        why: String,
    },
    /// From mpirun, about other jobs.
    Jobs(JobsReply),
}

impl ToDaemon {
    /// Makes the message's frame.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            ToDaemon::Hello { version, secret, rank, pid } => {
                Builder::new(HELLO).u32(*version).raw(secret.bytes()).u32(*rank).u32(*pid)
            }
            ToDaemon::Put(pairs) => pairs
                .iter()
                .fold(Builder::new(PUT).count(pairs.len()), |b, (key, value)| b.text(key).bytes(value)),
            ToDaemon::Fence => Builder::new(FENCE),
            ToDaemon::Get { proc, key } => Builder::new(GET).u32(*proc).text(key),
            ToDaemon::Share { key, bytes } => Builder::new(SHARE).text(key).u64(*bytes),
            ToDaemon::GiveUp { key } => Builder::new(GIVE_UP).text(key),
            ToDaemon::Help { component, topic, text } => {
                Builder::new(HELP).text(component).text(topic).text(text)
            }
            ToDaemon::Abort { code, origin, message, peer } => {
                let b = Builder::new(ABORT).i32(*code).text(origin).text(message);
                peer.iter().fold(b.count(usize::from(peer.is_some())), |b, peer| b.u32(*peer))
            }
            ToDaemon::Finalized => Builder::new(FINALIZED),
            ToDaemon::Resumed => Builder::new(RESUMED),
            ToDaemon::Jobs(request) => request.encode(Builder::new(JOBS)),
            ToDaemon::Borrow { version, secret, key, bytes } => {
                Builder::new(BORROW).u32(*version).raw(secret.bytes()).text(key).u64(*bytes)
            }
            ToDaemon::Witness { version, secret, rank } => {
                Builder::new(WITNESS).u32(*version).raw(secret.bytes()).u32(*rank)
            }
            ToDaemon::Crash { moment: m, to, stack, maps } => {
                let b = Builder::new(CRASH).i32(m.signal).i32(m.code).u32(m.thread);
                let b = [m.address, m.ip, m.sp, m.fp, m.lr].into_iter().fold(b, Builder::u64);
                b.text(to).bytes(stack).bytes(maps)
            }
        }
        .finish()
    }

    /// Reads a message of a rank from its frame.
    pub fn decode(frame: Frame<'_>) -> Result<ToDaemon, Malformed> {
        let mut f = Fields::new(frame.payload);
        let message = match frame.kind {
            HELLO => ToDaemon::Hello {
                version: f.u32("version")?,
                secret: Secret::from_bytes(f.array("secret")?),
                rank: f.u32("rank")?,
                pid: f.u32("pid")?,
            },
            PUT => ToDaemon::Put(f.list("pairs", 8, |f| {
                Ok((bounded_text(f, "key", KEY_LIMIT)?, bounded(f, "value", VALUE_LIMIT)?.to_vec()))
            })?),
            FENCE => ToDaemon::Fence,
            GET => ToDaemon::Get { proc: f.u32("process")?, key: bounded_text(&mut f, "key", KEY_LIMIT)? },
            SHARE => ToDaemon::Share { key: bounded_text(&mut f, "key", KEY_LIMIT)?, bytes: f.u64("bytes")? },
            GIVE_UP => ToDaemon::GiveUp { key: bounded_text(&mut f, "key", KEY_LIMIT)? },
            HELP => ToDaemon::Help {
                component: bounded_text(&mut f, "component", KEY_LIMIT)?,
                topic: bounded_text(&mut f, "topic", KEY_LIMIT)?,
                text: bounded_text(&mut f, "text", TEXT_LIMIT)?,
            },
            ABORT => ToDaemon::Abort {
                code: f.i32("code")?,
                origin: bounded_text(&mut f, "origin", KEY_LIMIT)?,
                message: bounded_text(&mut f, "message", TEXT_LIMIT)?,
                peer: optional(&mut f, "peer")?,
            },
            FINALIZED => ToDaemon::Finalized,
            RESUMED => ToDaemon::Resumed,
            JOBS => ToDaemon::Jobs(JobsRequest::decode(&mut f)?),
            BORROW => ToDaemon::Borrow {
                version: f.u32("version")?,
                secret: Secret::from_bytes(f.array("secret")?),
                key: bounded_text(&mut f, "key", KEY_LIMIT)?,
                bytes: f.u64("bytes")?,
            },
            WITNESS => ToDaemon::Witness {
                version: f.u32("version")?,
                secret: Secret::from_bytes(f.array("secret")?),
                rank: f.u32("rank")?,
            },
            CRASH => ToDaemon::Crash {
                moment: decode_moment(&mut f)?,
                to: bounded_text(&mut f, "place of the report", KEY_LIMIT)?,
                stack: bounded(&mut f, "stack", STACK_LIMIT)?.to_vec(),
                maps: bounded(&mut f, "maps", MAPS_LIMIT)?.to_vec(),
            },
            other => return Err(Malformed::Kind(other)),
        };
        f.finish()?;
        Ok(message)
    }
}

impl ToRank {
    /// Makes the message's frame.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            ToRank::Facts(facts) => facts.encode(Builder::new(FACTS)),
            ToRank::Refused(why) => Builder::new(REFUSED).text(why),
            ToRank::FenceDone => Builder::new(FENCE_DONE),
            ToRank::FenceFailed(why) => Builder::new(FENCE_FAILED).text(why),
            ToRank::Value { proc, key, value } => {
                let b = Builder::new(VALUE).u32(*proc).text(key).u8(value.is_some().into());
                value.iter().fold(b, |b, value| b.bytes(value))
            }
            ToRank::Shared { first } => Builder::new(SHARED).u8((*first).into()),
            ToRank::NotShared { other_size, why } => {
                Builder::new(NOT_SHARED).u8((*other_size).into()).text(why)
            }
            ToRank::Jobs(reply) => reply.encode(Builder::new(JOBS_REPLY)),
        }
        .finish()
    }

    /// Reads a message of the daemon from its frame.
    pub fn decode(frame: Frame<'_>) -> Result<ToRank, Malformed> {
        let mut f = Fields::new(frame.payload);
        let message = match frame.kind {
            FACTS => ToRank::Facts(JobFacts::decode(&mut f)?),
            REFUSED => ToRank::Refused(f.text("reason")?.to_owned()),
            FENCE_DONE => ToRank::FenceDone,
            FENCE_FAILED => ToRank::FenceFailed(f.text("reason")?.to_owned()),
            VALUE => ToRank::Value {
                proc: f.u32("process")?,
                key: f.text("key")?.to_owned(),
                value: match f.bool("present")? {
                    true => Some(f.bytes("value")?.to_vec()),
                    false => None,
                },
            },
            SHARED => ToRank::Shared { first: f.bool("first")? },
            NOT_SHARED => {
                ToRank::NotShared { other_size: f.bool("another size")?, why: f.text("reason")?.to_owned() }
            }
            JOBS_REPLY => ToRank::Jobs(JobsReply::decode(&mut f)?),
            other => return Err(Malformed::Kind(other)),
        };
        f.finish()?;
        Ok(message)
    }
}

/// Takes a [`Moment`] from a frame's fields.
fn decode_moment(f: &mut Fields<'_>) -> Result<Moment, Malformed> {
    Ok(Moment {
        signal: f.i32("signal")?,
        code: f.i32("code")?,
        thread: f.u32("thread")?,
        address: f.u64("address")?,
        ip: f.u64("instruction pointer")?,
        sp: f.u64("stack pointer")?,
        fp: f.u64("frame pointer")?,
        lr: f.u64("return address")?,
    })
}

/// Takes a number that may be absent, which travels as a list of at most one item.
fn optional(f: &mut Fields<'_>, field: &'static str) -> Result<Option<u32>, Malformed> {
    let mut list = f.list(field, 4, |f| f.u32(field))?;
    match list.len() <= 1 {
        true => Ok(list.pop()),
        false => Err(Malformed::Value { field, value: list.len() as u64 }),
    }
}

/// Takes bytes of which there may be at most `limit`.
fn bounded<'a>(f: &mut Fields<'a>, field: &'static str, limit: usize) -> Result<&'a [u8], Malformed> {
    let bytes = f.bytes(field)?;
    match bytes.len() <= limit {
        true => Ok(bytes),
        false => Err(Malformed::Value { field, value: bytes.len() as u64 }),
    }
}

/// Takes a text of at most `limit` bytes.
fn bounded_text(f: &mut Fields<'_>, field: &'static str, limit: usize) -> Result<String, Malformed> {
    let bytes = bounded(f, field, limit)?;
    Ok(std::str::from_utf8(bytes).map_err(|_| Malformed::Text { field })?.to_owned())
}

/// Cuts a text for humans to what a frame carries, at a character's boundary.
pub fn shorten(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::super::frame::Inbox;
    use super::super::jobs::{NameVerb, SpawnRequest, SpawnedProgram};
    use super::super::{AppFacts, NodeMap};
    use super::*;
    use proptest::prelude::*;

    fn facts() -> JobFacts {
        JobFacts {
            rank: 5,
            size: 8,
            map: NodeMap::of(&[0, 0, 0, 0, 1, 1, 0, 1]),
            node: 1,
            local_ranks: vec![4, 5, 7],
            local_rank: 1,
            job_id: 0x1234_5678_9abc_def0,
            oversubscribed: true,
            cores: 2,
            bound: false,
            keeper_pid: 4711,
            hostname: "b".into(),
            node_names: vec!["a".into(), "b".into()],
            params: vec![("btl".into(), "shm,self".into()), ("x".into(), String::new())],
            universe: 9,
            apps: vec![
                AppFacts {
                    ranks: 5,
                    command: "a".into(),
                    arguments: vec!["b".into()],
                    ..AppFacts::default()
                },
                AppFacts { ranks: 3, wdir: "/".into(), ..AppFacts::default() },
            ],
            tree: 77,
            sites: vec![3, 0],
            parent: "oxmpi1:x".into(),
        }
    }

    fn reread(bytes: &[u8]) -> ToRank {
        let mut inbox = Inbox::new(DAEMON_LIMIT);
        inbox.extend(bytes);
        ToRank::decode(inbox.next().expect("well-formed").expect("whole")).expect("decodes")
    }

    #[test]
    fn answers_survive_the_wire() {
        for answer in [
            ToRank::Facts(facts()),
            ToRank::Refused("no".into()),
            ToRank::FenceDone,
            ToRank::FenceFailed("rank 3 is gone".into()),
            ToRank::Value { proc: 3, key: "k".into(), value: None },
            ToRank::Value { proc: 3, key: String::new(), value: Some(vec![]) },
            ToRank::Value { proc: 9, key: "k".into(), value: Some(vec![1, 2, 3]) },
            ToRank::Shared { first: true },
            ToRank::NotShared { other_size: false, why: "no memory".into() },
            ToRank::Jobs(JobsReply::Started { id: 3, job: 9, counts: vec![2, 1] }),
            ToRank::Jobs(JobsReply::NotStarted { id: 3, why: "no".into() }),
            ToRank::Jobs(JobsReply::Name { id: 4, port: None }),
            ToRank::Jobs(JobsReply::Name { id: 4, port: Some("oxmpi1:x".into()) }),
        ] {
            assert_eq!(reread(&answer.encode().expect("short")), answer);
        }
    }

    #[test]
    fn facts_that_contradict_each_other_are_refused() {
        let spoil: [fn(&mut JobFacts); 5] = [
            |f| f.rank = 8,
            |f| f.node_names = vec![],
            |f| f.node_names.truncate(1),
            |f| f.map = NodeMap::one_node(3),
            |f| f.sites.truncate(1),
        ];
        for (number, spoil) in spoil.iter().enumerate() {
            let mut wrong = facts();
            spoil(&mut wrong);
            let bytes = ToRank::Facts(wrong).encode().expect("short");
            let mut inbox = Inbox::new(DAEMON_LIMIT);
            inbox.extend(&bytes);
            let frame = inbox.next().expect("well-formed").expect("whole");
            assert!(matches!(ToRank::decode(frame), Err(Malformed::Value { .. })), "number {number}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("aé", 2), "a");
        assert_eq!(shorten("aé", 3), "aé");
    }

    proptest! {
        #[test]
        fn requests_survive_the_wire(
            rank: u32, pid: u32, code: i32, secret: [u8; 32],
            pairs in prop::collection::vec((".{0,60}", prop::collection::vec(any::<u8>(), 0..99)), 0..9),
            text in ".{0,200}",
        ) {
            let requests = [
                ToDaemon::Hello { version: 1, secret: Secret::from_bytes(secret), rank, pid },
                ToDaemon::Put(pairs),
                ToDaemon::Fence,
                ToDaemon::Get { proc: rank, key: shorten(&text, KEY_LIMIT).to_owned() },
                ToDaemon::Share { key: shorten(&text, KEY_LIMIT).to_owned(), bytes: rank.into() },
                ToDaemon::GiveUp { key: shorten(&text, KEY_LIMIT).to_owned() },
                ToDaemon::Help { component: "c".into(), topic: "t".into(), text: text.clone() },
                ToDaemon::Abort { code, origin: String::new(), message: text.clone(), peer: None },
                ToDaemon::Abort {
                    code,
                    origin: shorten(&text, KEY_LIMIT).to_owned(),
                    message: text.clone(),
                    peer: Some(rank),
                },
                ToDaemon::Finalized,
                ToDaemon::Resumed,
                ToDaemon::Jobs(JobsRequest::Linked { job: 7, on: true }),
                ToDaemon::Jobs(JobsRequest::Met { id: pid }),
                ToDaemon::Jobs(JobsRequest::Name {
                    id: pid,
                    verb: NameVerb::Lookup,
                    service: text.clone(),
                    port: String::new(),
                }),
                ToDaemon::Jobs(JobsRequest::Spawn {
                    id: rank,
                    request: SpawnRequest {
                        programs: vec![SpawnedProgram {
                            command: secret.to_vec(),
                            arguments: vec![Vec::new(), secret.to_vec()],
                            most: pid,
                            hints: vec![("host".into(), text.clone())],
                        }],
                        folder: b"/".to_vec(),
                        port: "p".into(),
                    },
                }),
                ToDaemon::Borrow { version: 1, secret: Secret::from_bytes(secret), key: "k".into(), bytes: 3 },
                ToDaemon::Witness { version: 1, secret: Secret::from_bytes(secret), rank },
                ToDaemon::Crash {
                    moment: Moment { signal: code, address: 1, ip: 2, sp: 3, fp: 4, lr: 5, ..Moment::default() },
                    to: shorten(&text, KEY_LIMIT).to_owned(),
                    stack: secret.to_vec(),
                    maps: vec![],
                },
            ];
            let mut inbox = Inbox::new(RANK_LIMIT);
            for request in &requests {
                inbox.extend(&request.encode().expect("short"));
            }
            for request in &requests {
                let again = ToDaemon::decode(inbox.next().expect("well-formed").expect("whole")).expect("decodes");
                prop_assert_eq!(again.encode(), request.encode());
            }
        }

        #[test]
        fn any_payload_decodes_or_is_refused(kind: u8, payload in prop::collection::vec(any::<u8>(), 0..300)) {
            let frame = Frame { kind, payload: &payload };
            if let Ok(message) = ToDaemon::decode(frame) {
                let bytes = message.encode().expect("short");
                prop_assert_eq!(&bytes[super::super::frame::HEADER..], &payload[..]);
            }
            if let Ok(message) = ToRank::decode(frame) {
                let bytes = message.encode().expect("short");
                prop_assert_eq!(&bytes[super::super::frame::HEADER..], &payload[..]);
            }
        }

        #[test]
        fn a_flipped_byte_in_an_answer_never_panics(at in 0usize..200, bit in 0u8..8) {
            let mut bytes = ToRank::Facts(facts()).encode().expect("short");
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let mut inbox = Inbox::new(DAEMON_LIMIT);
            inbox.extend(&bytes);
            if let Ok(Some(frame)) = inbox.next() {
                let _ = ToRank::decode(frame);
            }
        }
    }
}
