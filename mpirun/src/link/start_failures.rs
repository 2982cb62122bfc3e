//! How a daemon tells that another does not come, on the wire.

use super::fields::text;
use crate::remote::agents::{AgentEnd, Failure};
use oxmpi_wireup::frame::{Builder, Fields, Malformed};

impl Failure {
    pub(super) fn encode(&self, b: Builder) -> Builder {
        let b = self.nodes.iter().fold(b.count(self.nodes.len()), |b, node| b.u32(*node));
        let (kind, number, why) = match &self.how {
            AgentEnd::Exit(code) => (0, *code, ""),
            AgentEnd::Signal(number) => (1, *number, ""),
            AgentEnd::Never(why) => (2, 0, why.as_str()),
        };
        b.u8(kind).i32(number).text(why).text(&self.words).text(&self.command)
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Failure, Malformed> {
        let nodes = f.list("nodes", 4, |f| f.u32("node"))?;
        let (kind, number, why) = (f.u8("ending")?, f.i32("number")?, text(f, "reason")?);
        let how = match kind {
            0 => AgentEnd::Exit(number),
            1 => AgentEnd::Signal(number),
            2 => AgentEnd::Never(why),
            other => return Err(Malformed::Value { field: "ending", value: other.into() }),
        };
        Ok(Failure { nodes, how, words: text(f, "words")?, command: text(f, "command")? })
    }
}
