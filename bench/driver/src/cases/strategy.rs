//! How threads get communication resource instances (CRIs), and who progresses them.

use crate::case::Point;

/// CRIs, as published.
pub const INSTANCES: [u64; 3] = [1, 10, 20];
/// `stream` is ours; the other two are the dissertation's.
pub const ASSIGNMENTS: [&str; 3] = ["dedicated", "round_robin", "stream"];

/// A further figure: messages that came out of sequence, of all.
pub const OUT_OF_SEQUENCE: &str = "share out of sequence";

/// The progress of `runtime_progress` that goes with an assignment, where it is published as `serial` or `concurrent`: the dissertation's
/// concurrent progress is Algorithm 4 with dedicated instances, and takes them in turn with round robin. Ours is `concurrent`.
fn progress_of(assignment: &str, progress: &str) -> &'static str {
    match (progress, assignment) {
        ("serial", _) => "serial",
        (_, "dedicated") => "dedicated_then_all",
        (_, "round_robin") => "round_robin",
        _ => "concurrent",
    }
}

/// A job with communication resources in this way.
pub fn with_strategy(point: Point, assignment: &str, progress: &str, instances: u64) -> Point {
    point
        .with("runtime_num_cris", instances)
        .with("runtime_cri_assignment", assignment)
        .with("runtime_progress", progress_of(assignment, progress))
}

/// Lock misses and changes of a lock's holder that the library counts in its instances, for each message received.
pub const LOCK_MISSES: &str = "lock misses per message";
pub const SHARED_WRITES: &str = "shared writes per message";
/// Microseconds of matching for each message received.
pub const MATCH_TIME_EACH: &str = "match time per message";

/// A series' name.
pub fn label(assignment: &str, instances: u64) -> String {
    format!("{assignment}, {instances} CRI")
}
