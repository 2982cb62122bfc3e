//! Objects that a program has not freed when MPI is finalized: taken down, and told if
//! `mpi_show_handle_leaks` asks for it.
//!
//! Communicators, windows and files go with the world or the session they belong to. Datatypes, operations, groups and
//! attribute keys belong to none; they go with the last user of MPI. Info objects and error handlers stay,
//! because their functions may be called after MPI_Finalize as well (MPI 5.0 §11.4.1).

use crate::call::handle::Table;
use crate::call::process::Process;
use crate::comm::lifetime;
use crate::error::handler;
use crate::session::WORLD;
use crate::{attr, comm, datatype, ext_sync, file, group, info, op, probe, request, win};

/// Handles of one kind that are named singly in the report.
const NAMED: usize = 8;

/// Takes down what the user `number` of MPI has left, and if it was the last user what nobody owns.
pub fn take_down(process: &Process, number: u64, last: bool) {
    let of = |object: &comm::CommObject| last || object.comm.group().session() == number;
    if wanted(process) {
        let report = report(process, &of, number, last);
        if !report.is_empty() {
            let what = if number == WORLD { "MPI" } else { "a session" };
            let rank = process.instance.job().rank;
            oxmpi_system::reportln!(
                "oxmpi: rank {rank}: not freed when {what} was finalized: {}",
                report.join(", ")
            );
        }
    }
    for handle in windows(number, last) {
        drop(win::TABLE.remove(handle));
    }
    for handle in files(number, last) {
        drop(file::TABLE.remove(handle));
    }
    lifetime::take_down(process, of);
    if last {
        empty(&datatype::TABLE);
        empty(&op::TABLE);
        empty(&group::TABLE);
        empty(&ext_sync::TABLE);
        attr::forget_keyvals();
    }
}

/// Those of the user `number`, or all.
fn windows(number: u64, last: bool) -> Vec<usize> {
    let of = |handle: &usize| {
        win::TABLE.get(*handle).is_some_and(|w| last || w.comm().group().session() == number)
    };
    win::TABLE.handles().into_iter().filter(of).collect()
}

/// Those of the user `number`, or all.
fn files(number: u64, last: bool) -> Vec<usize> {
    let of = |handle: &usize| {
        file::TABLE.get(*handle).is_some_and(|f| last || f.file.comm().group().session() == number)
    };
    file::TABLE.handles().into_iter().filter(of).collect()
}

fn empty<T>(table: &'static Table<T>) {
    for handle in table.handles() {
        drop(table.remove(handle));
    }
}

fn wanted(process: &Process) -> bool {
    process.instance.param("mpi_show_handle_leaks").and_then(|p| p.value.as_bool()).unwrap_or(false)
}

fn report(
    process: &Process,
    of: &impl Fn(&comm::CommObject) -> bool,
    number: u64,
    last: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let communicators: Vec<String> = comm::TABLE
        .handles()
        .iter()
        .filter_map(|&h| comm::TABLE.get(h).filter(|c| of(c)).map(|c| format!("{h:#x}, {}", c.describe())))
        .collect();
    lines.extend(named("communicator", &communicators));
    let hex = |handles: Vec<usize>| handles.iter().map(|h| format!("{h:#x}")).collect::<Vec<_>>();
    lines.extend(named("window", &hex(windows(number, last))));
    lines.extend(named("file", &hex(files(number, last))));
    if !last {
        return lines;
    }
    lines.extend(named("datatype", &hex(datatype::TABLE.handles())));
    lines.extend(named("operation", &hex(op::TABLE.handles())));
    lines.extend(named("group", &hex(group::TABLE.handles())));
    lines.extend(counted("request", request::held(process)));
    lines.extend(counted("sync object", ext_sync::held()));
    lines.extend(counted("matched message", probe::held()));
    lines.extend(counted("attribute key", attr::keyvals()));
    if number != WORLD {
        // Another thread may be about to start the next session with them.
        return lines;
    }
    lines.extend(counted("info object", info::TABLE.handles().len()));
    lines.extend(counted("error handler", handler::count()));
    lines
}

fn counted(what: &str, n: usize) -> Option<String> {
    (n > 0).then(|| format!("{n} {what}{}", if n == 1 { "" } else { "s" }))
}

/// With the first few by name.
fn named(what: &str, all: &[String]) -> Option<String> {
    let more = if all.len() > NAMED { "; ..." } else { "" };
    let first = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    counted(what, all.len()).map(|count| format!("{count} ({first}{more})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_a_few_and_counts_all() {
        assert_eq!(named("group", &[]), None);
        assert_eq!(named("group", &["0x1".into()]).unwrap(), "1 group (0x1)");
        let many: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(named("group", &many).unwrap(), "9 groups (0; 1; 2; 3; 4; 5; 6; 7; ...)");
    }
}
