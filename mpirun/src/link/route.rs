//! Frames on their way through the tree of daemons: each link carries what is for, or from, the daemon at its lower end as it is, and
//! everything else in an envelope that names the node, or all below the link.
//!
//! Down, an envelope for one node goes from link to link until it is taken out for its node; one for all is taken out
//! everywhere and handed on. Up, a daemon puts what those linked to it say into an envelope with their node, once; further up it goes as
//! it is. The contents of an envelope are not looked at on the way.

use super::kinds::{ALL, FROM, TO};
use super::message::{LIMIT, Message};
use super::messages::ToNode;
use oxmpi_wireup::frame::{Builder, Fields, Frame, Inbox, Malformed};

/// A message that comes down a link.
#[derive(Clone, Debug)]
pub enum DownMessage {
    Own(ToNode),
    /// For the daemon of this node, which is below.
    To(u32, Vec<u8>),
    /// For this daemon and all below it.
    All(Vec<u8>),
}

impl Message for DownMessage {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self {
            DownMessage::Own(message) => message.encode(),
            DownMessage::To(node, frame) => Builder::new(TO).u32(*node).raw(frame).finish(),
            DownMessage::All(frame) => Builder::new(ALL).raw(frame).finish(),
        }
    }

    fn decode(frame: Frame<'_>) -> Result<DownMessage, Malformed> {
        let mut f = Fields::new(frame.payload);
        Ok(match frame.kind {
            TO => DownMessage::To(f.u32("node")?, f.rest().to_vec()),
            ALL => DownMessage::All(f.rest().to_vec()),
            _ => DownMessage::Own(ToNode::decode(frame)?),
        })
    }
}

/// A message that comes up a link: a whole frame, and of which node if not of the one at the link's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    pub node: Option<u32>,
    pub frame: Vec<u8>,
}

impl Message for Passed {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        match self.node {
            None => Ok(self.frame.clone()),
            Some(node) => Builder::new(FROM).u32(node).raw(&self.frame).finish(),
        }
    }

    fn decode(frame: Frame<'_>) -> Result<Passed, Malformed> {
        let mut f = Fields::new(frame.payload);
        Ok(match frame.kind {
            FROM => Passed { node: Some(f.u32("node")?), frame: f.rest().to_vec() },
            kind => Passed { node: None, frame: Builder::new(kind).raw(frame.payload).finish()? },
        })
    }
}

/// The message in a frame that was passed on.
pub fn unpack<M: Message>(frame: &[u8]) -> Result<M, Malformed> {
    let mut inbox = Inbox::new(LIMIT);
    inbox.extend(frame);
    let message = match inbox.next()? {
        Some(frame) => M::decode(frame)?,
        None => return Err(Malformed::Short { field: "frame that was passed on" }),
    };
    match inbox.pending() {
        0 => Ok(message),
        bytes => Err(Malformed::Trailing { bytes }),
    }
}
