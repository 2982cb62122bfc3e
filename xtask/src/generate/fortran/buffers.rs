//! Rules for the buffers of a procedure: which of its arguments say how much data of what type there is, and for how many processes. The library replaces them where a buffer is a section that is not
//! contiguous (`fortran/src/sections/strided.rs`).
//!
//! The table has the arguments in the standard's order, in which those about a buffer stand behind it; a count in brackets is one for each process.

use super::table::{Direction, Dummy, Procedure};

/// Procedures that keep, or give back, memory, or only look at its address.
const MEMORY: [&str; 3] = ["MPI_Free_mem", "MPI_Get_address", "MPI_Win_detach"];

/// Whether the procedure has an entry for descriptors: it has a choice buffer.
pub fn has_buffers(procedure: &Procedure) -> bool {
    procedure.dummies.iter().any(|d| d.kind == "choice") && !procedure.by_hand
}

/// Whether such an entry gets the dummy by its descriptor.
pub fn is_described(dummy: &Dummy) -> bool {
    matches!(dummy.kind.as_str(), "choice" | "text")
}

/// Makes the object and the rules, as the macro reads them. `None`: the procedure has no buffers.
pub fn rules(procedure: &Procedure) -> Result<Option<String>, String> {
    if !has_buffers(procedure) {
        return Ok(None);
    }
    let mut rules = Vec::new();
    for (i, dummy) in procedure.dummies.iter().enumerate().filter(|(_, d)| d.kind == "choice") {
        let rule = rule(procedure, dummy, &procedure.dummies[i + 1..]).ok_or_else(|| {
            format!("fortran.tsv: {}: nothing says what {} has", procedure.name, dummy.name)
        })?;
        rules.extend(rule);
    }
    if procedure.dummies.iter().any(|d| d.kind == "request") {
        let when = if procedure.name.ends_with("_init") { "started_later" } else { "later" };
        rules.push(format!("{when}(request)"));
    }
    let objects = [("comm", "comm"), ("win", "win"), ("file", "file"), ("session", "session")];
    // A window that is made is no object yet.
    let is_there = |d: &&Dummy| d.direction == Direction::In;
    let object = objects.iter().find_map(|(kind, function)| {
        let dummy = procedure.dummies.iter().filter(is_there).find(|d| d.kind == *kind)?;
        Some(format!("{function}({})", dummy.name))
    });
    let rules: String = rules.iter().map(|rule| format!(" {rule};")).collect();
    Ok(Some(format!("on {} {{{rules} }}", object.unwrap_or_else(|| "none()".to_owned()))))
}

/// The rule for a buffer. `Some(None)`: it is left as it is. `behind`: the dummies behind it.
fn rule(procedure: &Procedure, buffer: &Dummy, behind: &[Dummy]) -> Option<Option<String>> {
    let (name, own) = (procedure.name.as_str(), buffer.identifier());
    let has = |kind: &str| procedure.dummies.iter().any(|d| d.kind == kind);
    let way = if buffer.direction == Direction::In { "from" } else { "into" };
    if MEMORY.contains(&name) || name.ends_with("_end") {
        return Some(None);
    }
    if name.to_lowercase().contains("attach") || name == "MPI_Win_create" {
        return Some(Some(format!("whole({own})")));
    }
    if matches!(name, "MPI_Fetch_and_op" | "MPI_Compare_and_swap") {
        let rule = format!("one({own}, datatype)");
        return Some(Some(if own == "origin_addr" && has("op") {
            format!("[reads_origin(op)] {rule}")
        } else {
            rule
        }));
    }
    if name.contains("ack") && matches!(behind[0].name.as_str(), "outsize" | "insize") {
        return Some(Some(format!("bytes_{way}({own}, {})", behind[0].name)));
    }
    let count = behind.iter().find(|d| matches!(d.kind_in(true), "count"))?;
    let datatype = behind.iter().find(|d| d.kind == "type")?;
    if has("op") && !has("win") {
        return Some(Some(reduction(procedure, buffer, count, way)));
    }
    let (count, datatype) = (count.identifier(), datatype.identifier());
    if name.starts_with("MPI_Psend") || name.starts_with("MPI_Precv") {
        return Some(Some(format!("partitions_{way}({own}, {count}, {datatype}, partitions)")));
    }
    if has("op") && own == "origin_addr" {
        return Some(Some(format!("[reads_origin(op)] data({own}, {count}, {datatype})")));
    }
    Some(Some(
        collective(procedure, buffer, behind, way)
            .unwrap_or_else(|| format!("data({own}, {count}, {datatype})")),
    ))
}

fn reduction(procedure: &Procedure, buffer: &Dummy, count: &Dummy, way: &str) -> String {
    let (name, own, count) = (&procedure.name, &buffer.name, &count.name);
    let is_send = buffer.direction == Direction::In;
    let (elements, in_place) = match (name.contains("scatter_block"), name.contains("scatter")) {
        (true, _) if is_send => (format!("of_all({count}, comm)"), false),
        (true, _) => (format!("own(sendbuf, {count}, comm)"), true),
        (_, true) if is_send => (format!("sum({count}, comm)"), false),
        (_, true) => (format!("own_of(sendbuf, {count}, comm)"), true),
        _ => (format!("elements({count})"), false),
    };
    debug_assert!(!in_place || own == "recvbuf");
    let when = match (procedure.dummies.iter().any(|d| d.name == "root"), is_send) {
        (true, true) => "[has_own(root)] ",
        (true, false) => "[is_root(root, comm)] ",
        _ => "",
    };
    format!("{when}reduced_{way}({own}, datatype; {elements})")
}

/// The rule for a buffer with the data of several processes, or of one that takes part with others. `None`: there are no others.
fn collective(procedure: &Procedure, buffer: &Dummy, behind: &[Dummy], way: &str) -> Option<String> {
    let (name, own) = (procedure.name.to_lowercase(), &buffer.name);
    let has_root = procedure.dummies.iter().any(|d| d.name == "root");
    if name.contains("bcast") {
        return Some(format!("[takes_part(root)] data({own}, count, datatype)"));
    }
    let is_send = own == "sendbuf";
    let of_all = if name.contains("scatter") { is_send } else { !is_send || name.contains("alltoall") };
    if !["gather", "scatter", "alltoall"].iter().any(|word| name.contains(word)) {
        return None;
    }
    if !of_all {
        let when = if has_root { "[has_own(root)] " } else { "" };
        let (count, of) = (&behind[0].name, &behind[1].name);
        return Some(format!("{when}data({own}, {count}, {of})"));
    }
    let processes = match (name.contains("neighbor"), is_send) {
        (false, _) => "peers(comm)",
        (true, true) => "outdegree(comm)",
        (true, false) => "indegree(comm)",
    };
    let when = if has_root { "[is_root(root, comm)] " } else { "" };
    let names: Vec<&str> = behind.iter().map(|d| d.name.as_str()).collect();
    let has_own_counts = behind[0].shape.is_some();
    Some(match (has_own_counts, behind.get(2).is_some_and(|d| d.shape.is_some())) {
        (true, true) => format!("{when}each({own}, {}; {processes})", names[..3].join(", ")),
        (true, false) => format!("{when}vector_{way}({own}, {}; {processes})", names[..3].join(", ")),
        _ => format!("{when}blocks_{way}({own}, {}; {processes})", names[..2].join(", ")),
    })
}
