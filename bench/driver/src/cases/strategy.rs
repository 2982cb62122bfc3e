//! How threads get communication resource instances (CRIs), and who progresses them.

use crate::case::Point;

/// CRIs, as published.
pub const INSTANCES: [u64; 3] = [1, 10, 20];
/// `stream` is ours; the other two are the dissertation's.
pub const ASSIGNMENTS: [&str; 3] = ["dedicated", "round_robin", "stream"];

/// A further figure: messages that came out of sequence, of all.
pub const OUT_OF_SEQUENCE: &str = "share out of sequence";

/// A job with communication resources in this way.
pub fn with_strategy(point: Point, assignment: &str, progress: &str, instances: u64) -> Point {
    point
        .with("runtime_num_cris", instances)
        .with("runtime_cri_assignment", assignment)
        .with("runtime_progress", progress)
}

/// A series' name.
pub fn label(assignment: &str, instances: u64) -> String {
    format!("{assignment}, {instances} CRI")
}
