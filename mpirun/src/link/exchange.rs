//! What the daemons of a job's nodes say to each other about the key-value store and the fence. It goes through
//! mpirun, which has a link with each of them: it counts nodes at a fence and passes questions and answers on.

use super::text;
use oxmpi_runtime::wireup::frame::{Builder, Fields, Malformed};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// From a node: all its ranks have come to the fence. To a node: all ranks of the job have.
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
            Exchange::Fence => b.u8(0),
            Exchange::Gone { rank } => b.u8(1).u32(*rank),
            Exchange::Never { rank, pid } => b.u8(4).u32(*rank).u32(*pid),
            Exchange::Ask { from, proc, key } => b.u8(2).u32(*from).u32(*proc).text(key),
            Exchange::Answer { to, proc, key, values, whole } => {
                let b = b.u8(3).u32(*to).u32(*proc).text(key).u8((*whole).into()).count(values.len());
                values.iter().fold(b, |b, (proc, value)| {
                    let b = b.u32(*proc).u8(value.is_some().into());
                    value.iter().fold(b, |b, value| b.bytes(value))
                })
            }
        }
    }

    pub fn decode(f: &mut Fields<'_>) -> Result<Exchange, Malformed> {
        Ok(match f.u8("exchange")? {
            0 => Exchange::Fence,
            1 => Exchange::Gone { rank: f.u32("rank")? },
            2 => Exchange::Ask { from: f.u32("node")?, proc: f.u32("process")?, key: text(f, "key")? },
            3 => Exchange::Answer {
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
            4 => Exchange::Never { rank: f.u32("rank")?, pid: f.u32("pid")? },
            other => return Err(Malformed::Value { field: "exchange", value: other.into() }),
        })
    }
}
