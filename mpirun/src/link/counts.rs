//! How many messages of the wire-up went over a link, and of how many bytes: hand-shake, facts of nodes, what is to be launched,
//! fences and values; not output, input, signals and ends. With `OXMPI_LINK_COUNTS=FOLDER` mpirun and each daemon write theirs there.

use super::kinds::{
    ALL, ANSWER, ASK, DIRECT, FENCE, FROM, FROM_NODE, HERE, JOB, PART, RELEASE, STARTED, TO, TO_NODE,
};
use oxmpi_wireup::frame::HEADER;

/// Messages and bytes, headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub messages: u64,
    pub bytes: u64,
}

impl Sum {
    /// So many messages of so many bytes each.
    pub fn add(&mut self, messages: u64, bytes: usize) {
        self.messages += messages;
        self.bytes += messages * bytes as u64;
    }
}

/// Of one end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: Sum,
    pub received: Sum,
}

impl Counts {
    pub fn join(&mut self, other: Counts) {
        for (sum, more) in [(&mut self.sent, other.sent), (&mut self.received, other.received)] {
            sum.messages += more.messages;
            sum.bytes += more.bytes;
        }
    }

    /// As the other end counts.
    pub fn reversed(self) -> Counts {
        Counts { sent: self.received, received: self.sent }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { sent, received } = self;
        write!(f, "{} {} {} {}", sent.messages, sent.bytes, received.messages, received.bytes)
    }
}

/// Writes what was counted into the folder that is asked for, if one is: the file is there when it is whole. Where it cannot be written there
/// is nothing to read.
pub fn write(name: &str, text: impl FnOnce() -> String) {
    if let Some(folder) = std::env::var_os("OXMPI_LINK_COUNTS").filter(|folder| !folder.is_empty()) {
        let (folder, part) = (std::path::PathBuf::from(folder), format!("{name}.part"));
        let written = std::fs::write(folder.join(&part), text());
        let _ = written.and_then(|()| std::fs::rename(folder.join(part), folder.join(name)));
    }
}

/// Is this frame, or the one in this envelope, of the wire-up?
pub(super) fn wires_up(kind: u8, payload: &[u8]) -> bool {
    let before = match kind {
        TO | FROM => Some(4),
        ALL => Some(0),
        _ => None,
    };
    let inside = before.and_then(|before| payload.get(before..)?.split_at_checked(HEADER));
    let (kind, payload) = match inside {
        Some((header, rest)) => (header[HEADER - 1], rest),
        None => (kind, payload),
    };
    match kind {
        // The hand-shake before there is a link.
        0xd1..=0xd3 | HERE | JOB | PART | STARTED | RELEASE | DIRECT => true,
        TO_NODE | FROM_NODE => matches!(payload.first(), Some(&(FENCE | ASK | ANSWER))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DownMessage, Exchange, FromNode, Message, Passed, ToNode};
    use super::*;

    #[test]
    fn wire_up_is_told_from_the_rest_in_envelopes_too() {
        let is = |frame: Vec<u8>| wires_up(frame[HEADER - 1], &frame[HEADER..]);
        let fence = FromNode::Exchange(Exchange::Fence).encode().expect("short");
        let gone = ToNode::Exchange(Exchange::Gone { rank: 3 }).encode().expect("short");
        let done = FromNode::Done.encode().expect("short");
        for (frame, expected) in [(&fence, true), (&gone, false), (&done, false)] {
            assert_eq!(is(frame.clone()), expected);
            assert_eq!(is(Passed { node: Some(7), frame: frame.clone() }.encode().expect("short")), expected);
            assert_eq!(is(DownMessage::To(7, frame.clone()).encode().expect("short")), expected);
            assert_eq!(is(DownMessage::All(frame.clone()).encode().expect("short")), expected);
        }
        assert!(!is(DownMessage::All(Vec::new()).encode().expect("short")), "an empty envelope");
    }
}
