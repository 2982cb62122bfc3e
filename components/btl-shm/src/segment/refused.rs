//! Refusals of a segment, told to who can do something about them.

use crate::segment::map::SegmentError;
use crate::wire;
use oxmpi_mca::{Host, Status};

/// The status and the sentence that stand for a failure of segment `number` of this node, in which this process is to be at `place` of `ranks`; prints
/// the paragraph of `help.txt` where a person must act.
pub fn explain(
    host: &Host,
    (number, place, ranks): (u32, u32, u32),
    error: SegmentError,
) -> (Status, String) {
    match error {
        SegmentError::System(errno) => {
            (Status::INTERNAL, format!("shared segment {number} of this node cannot be mapped: {errno}"))
        }
        SegmentError::NoMemory { bytes, why } => {
            host.help("no-memory", &[&bytes.to_string(), &why.to_string()]);
            (Status::OUT_OF_MEMORY, format!("{bytes} bytes of shared memory: {why}"))
        }
        SegmentError::OtherVersion { version, ranks: there } => {
            let (ours, theirs) = (wire::VERSION.to_string(), version.to_string());
            let (here, there) = (ranks.to_string(), there.to_string());
            host.help("version", &[&theirs, &ours, &there, &here]);
            (
                Status::NOT_SUPPORTED,
                format!(
                    "shared segment {number} of this node has version {theirs} for {there} processes, this one \
                     has version {ours} for {here}"
                ),
            )
        }
        SegmentError::Nonsense(word) => (
            Status::INTERNAL,
            format!("shared segment {number} of this node starts with {word:#018x}, which no version wrote"),
        ),
        SegmentError::Occupied => (
            Status::BAD_PARAM,
            format!("local rank {place} is already in shared segment {number} of this node"),
        ),
    }
}
