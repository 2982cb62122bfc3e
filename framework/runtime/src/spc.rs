//! Counts calls and bytes for the software performance counters, and prints them.
//!
//! A counter is a word in the calling thread's context ([`oxmpi_mca::ThreadCtx::counters`]), so
//! counting touches no shared line. Nothing is counted before somebody asks, by the parameters
//! `mpi_spc_attach` and `mpi_spc_dump_enabled` or by starting a performance variable (MPI 5.0 §15.3.7).
//! Calls are counted by the C interface where they enter, bytes where messages are started and received.

use crate::counts::CriCounts;
use oxmpi_loading::counters::all_names;
pub use oxmpi_loading::counters::{Counter, DESCRIPTIONS, MESSAGE_NAMES, NAMES, asks_match_time};
use oxmpi_mca::ThreadCtx;
use oxmpi_pml::Counts;

/// The values that belong to [`MESSAGE_NAMES`].
fn of_messages(messages: &Counts) -> [u64; MESSAGE_NAMES.len()] {
    [
        messages.unexpected,
        messages.waiting,
        messages.most_waiting,
        messages.out_of_sequence,
        messages.out_of_sequence_now,
        messages.most_out_of_sequence,
        in_microseconds(messages.match_time),
    ]
}

/// Converts a time of matching to the microseconds in which tools read it.
pub fn in_microseconds(nanoseconds: u64) -> u64 {
    nanoseconds / 1000
}

/// The calling thread, whose context this is, did `n` of what `counter` counts. Nothing is counted without one.
#[inline]
pub fn count(context: Option<&ThreadCtx>, counter: Counter, n: u64) {
    let counters = context.map_or(std::ptr::null_mut(), |context| context.counters);
    if !counters.is_null() {
        // SAFETY: `NAMES.len()` words stand there and only this thread writes them; another may be
        // summing them up, hence the volatile accesses.
        unsafe {
            let word = counters.add(counter as usize);
            word.write_volatile(word.read_volatile().wrapping_add(n));
        }
    }
}

/// The text that a rank prints at the end, or nothing if nothing was counted. `attached` names the counters shown, or is empty:
/// all; `cris`: by resource instance; `algorithms`: of collectives.
pub(crate) fn dump<'a>(
    rank: u32,
    attached: &[bool],
    counters: &[u64],
    messages: &Counts,
    cris: &[CriCounts],
    algorithms: impl Iterator<Item = (&'a str, u64)>,
) -> String {
    let values = counters.iter().copied().chain(of_messages(messages));
    let shown = |i: &usize| attached.get(*i).copied().unwrap_or(true);
    let all = all_names().zip(values).enumerate().filter(|(i, _)| shown(i));
    let mut lines: Vec<(String, u64)> = all.map(|(_, (name, n))| (name.to_owned(), n)).collect();
    for (cri, counts) in cris.iter().enumerate() {
        lines.extend(counts.named().map(|(name, n)| (format!("{name}[{cri}]"), n)));
    }
    lines.extend(algorithms.map(|(name, n)| (name.to_owned(), n)));
    let shown = lines.iter().filter(|(_, n)| *n > 0);
    let text: String = shown.map(|(name, n)| format!("    {name} -> {n}\n")).collect();
    if text.is_empty() {
        return text;
    }
    format!("rank {rank}: software performance counters\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_shows_the_counters_that_are_named() {
        let queues =
            oxmpi_loading::counters::attached(&["unexpected", "OMPI_SPC_MATCH_TIME"].map(str::to_owned))
                .unwrap();
        let kept = Counts { unexpected: 3, out_of_sequence: 4, match_time: 5000, ..Counts::default() };
        let text =
            dump(0, &queues, &[9; NAMES.len()], &kept, &[], [("coll_basic_bcast_chain", 0)].into_iter());
        assert!(text.contains("_UNEXPECTED -> 3") && text.contains("MATCH_TIME -> 5\n"), "{text}");
        assert!(!text.contains("SEND") && !text.contains("OUT_OF_SEQUENCE"), "{text}");
    }

    #[test]
    fn a_dump_shows_what_was_counted() {
        let mut counters = vec![0; NAMES.len()];
        let mut messages = Counts::default();
        assert_eq!(dump(0, &[], &counters, &messages, &[CriCounts::default(); 2], std::iter::empty()), "");
        counters[Counter::Recv as usize] = 7;
        messages.most_waiting = 5;
        messages.out_of_sequence = 9;
        let cris =
            [CriCounts::default(), CriCounts { lock_misses: 2, completions: 3, ..CriCounts::default() }];
        let algorithms = [("coll_basic_bcast_binomial", 6), ("coll_basic_bcast_chain", 0)];
        let text = dump(3, &[], &counters, &messages, &cris, algorithms.into_iter());
        for line in [
            "OMPI_SPC_RECV -> 7",
            "OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE -> 5",
            "OMPI_SPC_OUT_OF_SEQUENCE -> 9",
            "runtime_cri_lock_misses[1] -> 2",
            "runtime_cri_completions[1] -> 3",
            "coll_basic_bcast_binomial -> 6",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("OMPI_SPC_SEND") && !text.contains("chain"), "{text}");
    }
}
