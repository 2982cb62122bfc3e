//! Messages of the daemons of a job's nodes about the key-value store and the fence. They go through
//! mpirun, by way of the daemons between: nodes at a fence are counted on the way, questions and answers are passed on.

use super::fields::text;
use super::kinds::{ANSWER, ASK, FENCE, GONE, NEVER};
use oxmpi_wireup::frame::{Builder, Fields, Malformed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// From a node: all its ranks have come to the fence, and those of the nodes behind it. To a node: all ranks of the job have.
    Fence,
    /// A rank has left: no fence can be complete any more.
    Gone { rank: u32 },
    /// The process `pid` of a rank has ended without MPI_Init: whoever comes to a fence waits in vain.
    Never { rank: u32, pid: u32 },
    /// The node `from` asks what `proc` has published under `key`.
    Ask { from: u32, proc: u32, key: String },
    /// The answer, for the node `to`: what `proc` has, and then what the other ranks of its node have under the same key. Not
    /// `whole`: they have more.
    Answer { to: u32, proc: u32, key: String, values: Vec<(u32, Option<Vec<u8>>)>, whole: bool },
}

impl Exchange {
    pub fn encode(&self, b: Builder) -> Builder {
        match self {
            Exchange::Fence => b.u8(FENCE),
            Exchange::Gone { rank } => b.u8(GONE).u32(*rank),
            Exchange::Never { rank, pid } => b.u8(NEVER).u32(*rank).u32(*pid),
            Exchange::Ask { from, proc, key } => b.u8(ASK).u32(*from).u32(*proc).text(key),
            Exchange::Answer { to, proc, key, values, whole } => {
                let b = b.u8(ANSWER).u32(*to).u32(*proc).text(key).u8((*whole).into()).count(values.len());
                values.iter().fold(b, |b, (proc, value)| {
                    let b = b.u32(*proc).u8(value.is_some().into());
                    value.iter().fold(b, |b, value| b.bytes(value))
                })
            }
        }
    }

    pub fn decode(f: &mut Fields<'_>) -> Result<Exchange, Malformed> {
        Ok(match f.u8("exchange")? {
            FENCE => Exchange::Fence,
            GONE => Exchange::Gone { rank: f.u32("rank")? },
            ASK => Exchange::Ask { from: f.u32("node")?, proc: f.u32("process")?, key: text(f, "key")? },
            ANSWER => Exchange::Answer {
                to: f.u32("node")?,
                proc: f.u32("process")?,
                key: text(f, "key")?,
                whole: f.bool("whole")?,
                values: f.list("values", 5, |f| {
                    let proc = f.u32("process")?;
                    Ok(match f.bool("present")? {
                        true => (proc, Some(f.bytes("value")?.to_vec())),
                        false => (proc, None),
                    })
                })?,
            },
            NEVER => Exchange::Never { rank: f.u32("rank")?, pid: f.u32("pid")? },
            other => return Err(Malformed::Value { field: "exchange", value: other.into() }),
        })
    }
}
