//! The library's procedures, a file for each chapter: a line names the C function, the Fortran name and the kind of each dummy.

use super::buffers;
use super::table::{Direction, Dummy, Procedure};
use crate::generate::table::{Function, Parameter, Section, Tables};

const FOLDER: &str = "fortran/src/procedures";

/// Makes the files of all chapters, and the one that names them.
pub fn make(sections: &[Section<Procedure>], tables: &Tables) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    let mut names = vec!["prelude".to_owned(), "extensions".to_owned()];
    for section in sections {
        let mut body = String::new();
        for procedure in section.rows.iter().filter(|p| !p.by_hand) {
            body += &line(procedure, false, tables)?;
            if procedure.dummies.iter().any(|d| d.kind == "address") {
                // The one for a C pointer, which has the same arguments.
                body += &line(procedure, false, tables)?.replacen("_ (", "_cptr_ (", 1);
            }
            if procedure.has_large {
                body += &line(procedure, true, tables)?;
            }
        }
        if body.is_empty() {
            continue;
        }
        let file = section.name.replace('-', "_");
        let text = format!(
            "//! {}.\n//!\n//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.\n\nuse super::prelude::*;\n\n{body}",
            section.title
        );
        files.push((format!("{FOLDER}/{file}.rs"), text));
        names.push(file);
    }
    names.sort();
    let names: String = names.iter().map(|name| format!("mod {name};\n")).collect();
    let text = format!(
        "//! The procedures that are the C function with converted arguments, by chapter.\n//!\n\
         //! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`, but for `prelude`.\n\n{names}"
    );
    files.push((format!("{FOLDER}/mod.rs"), text));
    Ok(files)
}

/// The C function of that name.
fn function<'a>(tables: &'a Tables, name: &str) -> Option<&'a Function> {
    tables.functions.iter().chain(&tables.removed).flat_map(|s| &s.rows).find(|f| f.name == name)
}

fn line(procedure: &Procedure, large: bool, tables: &Tables) -> Result<String, String> {
    let name = if large { format!("{}_c", procedure.name) } else { procedure.name.clone() };
    let rules = buffers::rules(procedure)?;
    let dummies: Vec<&Dummy> = procedure.dummies.iter().filter(|d| large || !d.large_only).collect();
    let of_c = function(tables, &name).ok_or_else(|| format!("fortran.tsv: C has no {name}"))?;
    if of_c.parameters.len() != dummies.len() {
        return Err(format!(
            "fortran.tsv: {name} has {} dummies, and C's {}",
            dummies.len(),
            of_c.parameters.len()
        ));
    }
    let mut arguments = Vec::new();
    let mut hidden = Vec::new();
    for (dummy, parameter) in dummies.into_iter().zip(&of_c.parameters) {
        let kind = kind(procedure, dummy, large, parameter).ok_or_else(|| {
            format!("fortran.tsv: {name}: nothing is known of {} {}", dummy.kind, dummy.name)
        })?;
        let own = dummy.identifier();
        let length = match dummy.kind.as_str() {
            "text" => {
                hidden.push(format!("{own}_len"));
                Some(format!("{own}_len"))
            }
            _ if kind.starts_with("handles::Array")
                || kind.ends_with("ArrayIn")
                || kind.ends_with("ArrayOut")
                || matches!(kind.as_str(), "Kept" | "started::Several") =>
            {
                Some(length(dummy)?)
            }
            _ => None,
        };
        let length = length.map_or(String::new(), |length| format!("[{length}]"));
        let by = if rules.is_some() && buffers::is_described(dummy) { " as descriptor" } else { "" };
        arguments.push(format!("{own}: {kind}{length}{by}"));
    }
    if rules.is_some() {
        hidden.iter_mut().for_each(|hidden| *hidden += &format!(": {}", hidden.trim_end_matches("_len")));
    }
    let hidden = if hidden.is_empty() { String::new() } else { format!(" ({})", hidden.join(", ")) };
    let (own, arguments) = (name.to_lowercase(), arguments.join(", "));
    let rules = rules.map_or(String::new(), |rules| format!(" {rules}"));
    if !arguments.contains(": Dropped") {
        return Ok(format!("procedure! {{\n    {name} {own}_ ({arguments}){hidden}{rules}\n}}\n"));
    }
    // By module mpi_f08 the place is a pointer's.
    let of_f08 = arguments.replace(": Dropped", ": Detached");
    Ok(format!(
        "procedure! {{\n    alone {name} {own}_ ({arguments})\n}}\nprocedure! {{\n    alone {name} {own}_f08_ ({of_f08})\n}}\n"
    ))
}

fn length(dummy: &Dummy) -> Result<String, String> {
    match dummy.shape.as_deref() {
        Some("peers") if dummy.name == "sendtypes" => Ok("peers_of(sendbuf, comm)".to_owned()),
        Some(of @ ("peers" | "indegree" | "outdegree")) => Ok(format!("{of}(comm)")),
        Some(shape) if shape != "*" => Ok(format!("len({})", shape.to_lowercase())),
        _ => Err(format!("fortran.tsv: nothing says how many elements {} has", dummy.name)),
    }
}

/// The Rust type that stands for a dummy (`fortran/src/dummies`).
fn kind(procedure: &Procedure, dummy: &Dummy, large: bool, parameter: &Parameter) -> Option<String> {
    let is_array = dummy.shape.is_some();
    let is_in = dummy.direction == Direction::In;
    let is_value = !parameter.kind.contains('*');
    let number = match dummy.kind_in(large) {
        "int" => Some("c_int"),
        "aint" => Some("isize"),
        "count" | "offset" => Some("i64"),
        _ => None,
    };
    if let Some(number) = number {
        return Some(if is_value { format!("Value<{number}>") } else { format!("Place<{number}>") });
    }
    let waits = procedure.dummies.iter().any(is_kept);
    let plain = match dummy.kind.as_str() {
        "type" if is_kept(dummy) => "Kept",
        "request" if waits => "kept::Request",
        "request" if procedure.name == "MPI_Start" => "started::One",
        "request" if procedure.name == "MPI_Startall" => "started::Several",
        "comm" | "group" | "type" | "op" | "request" | "message" | "info" | "errhandler" | "win" | "file"
        | "session" => match (is_array, is_value) {
            (true, _) if dummy.direction == Direction::Out => "handles::ArrayOut<{}>",
            (true, _) => "handles::Array<{}>",
            (false, true) => "handles::In<{}>",
            (false, false) if dummy.direction == Direction::Out => "handles::Out<{}>",
            (false, false) => "handles::InOut<{}>",
        },
        "logical" => match (is_array, is_in) {
            (true, true) => "logical::ArrayIn",
            (true, false) => "logical::ArrayOut",
            (false, true) => "logical::In",
            (false, false) => "logical::Out",
        },
        "status" => "Statuses",
        "choice" => "Choice",
        "weights" => "Weights",
        "address" => "Place<c_void>",
        "detached" => "Dropped",
        "index" => "index::Out",
        "text" if is_in && procedure.name.starts_with("MPI_Info_") => "text::Trimmed",
        "text" if is_in => "text::In",
        "text" => return Some(format!("text::Out<{}>", dummy.shape.as_deref()?)),
        _ => return None,
    };
    // Of a request that is there the number may be one of this library's.
    let is_old_request = dummy.kind == "request" && dummy.direction != Direction::Out;
    Some(plain.replace("{}", if is_old_request { "Pending" } else { kind_of_handle(&dummy.kind) }))
}

/// An array of datatypes that is used until a later call.
fn is_kept(dummy: &Dummy) -> bool {
    dummy.kind == "type" && dummy.shape.is_some() && dummy.asynchronous
}

/// The Rust type of a kind of handle (`fortran/src/kinds.rs`).
fn kind_of_handle(word: &str) -> &'static str {
    match word {
        "comm" => "Comm",
        "type" => "Datatype",
        "errhandler" => "Errhandler",
        "file" => "File",
        "group" => "Group",
        "info" => "Info",
        "message" => "Message",
        "op" => "Op",
        "request" => "Request",
        "session" => "Session",
        _ => "Win",
    }
}
