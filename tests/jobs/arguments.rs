//! Every function of the table of functions, called with one argument wrong and all others right: a null
//! pointer, a handle that is null, stale or of another kind, a number out of range. Each call has to return an error
//! of the right class and tell the right error handler, once. The calls are C, made here;
//! `programs/arguments.c` has what they are made of.

use oxmpi_tests::{Job, leave_out, mpi, root};
use std::collections::HashSet;
use std::fmt::Write;
use std::fs;

/// Not here: what ends the job, starts other ones, or is of a chapter that has a test of its own.
const CHAPTERS: [&str; 16] = [
    "environment",
    "errors",
    "info",
    "communicators",
    "groups",
    "attributes",
    "point-to-point",
    "requests",
    "status",
    "probe",
    "buffered",
    "partitioned",
    "datatypes",
    "operations",
    "collectives",
    "topology",
];
const ALSO: [&str; 14] = [
    "MPI_Abi_get_fortran_booleans",
    "MPI_Abi_get_fortran_info",
    "MPI_Abi_get_info",
    "MPI_Abi_get_version",
    "MPI_Abi_set_fortran_booleans",
    "MPI_Abi_set_fortran_info",
    "MPI_Grequest_start",
    "MPI_Grequest_complete",
    "MPI_Session_get_info",
    "MPI_Session_get_num_psets",
    "MPI_Session_get_pset_info",
    "MPI_Session_get_nth_pset",
    "MPI_Session_init",
    "MPI_Session_finalize",
];
const NOT: [&str; 6] =
    ["MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Comm_get_parent"];

/// Null pointers that have a meaning: function (or any), parameter. In this ABI MPI_STATUS_IGNORE, MPI_BOTTOM and the
/// null functions of attributes are null pointers.
const ALLOWED: [(&str, &str); 23] = [
    ("", "extra_state"),
    ("", "comm_copy_attr_fn"),
    ("", "comm_delete_attr_fn"),
    ("", "type_copy_attr_fn"),
    ("", "type_delete_attr_fn"),
    ("", "copy_fn"),
    ("", "delete_fn"),
    ("MPI_Comm_set_attr", "attribute_val"),
    ("MPI_Type_set_attr", "attribute_val"),
    ("MPI_Attr_put", "attribute_val"),
    ("MPI_Get_address", "location"),
    ("MPI_Free_mem", "base"),
    // No arguments.
    ("MPI_Info_create_env", "argv"),
    // MPI_Type_get_contents of a type that has none of these.
    ("MPI_Type_get_contents", "array_of_addresses"),
    ("MPI_Type_get_contents_c", "array_of_addresses"),
    ("MPI_Type_get_contents_c", "array_of_large_counts"),
    // With room for nothing it tells how much is needed.
    ("MPI_Session_get_nth_pset", "pset_name"),
    // None of the requests is active.
    ("MPI_Waitsome", "array_of_indices"),
    ("MPI_Testsome", "array_of_indices"),
    ("MPI_Request_get_status_some", "array_of_indices"),
    // Partitions of a request that is not active are an error before that.
    ("MPI_Pready_list", "array_of_partitions"),
    // The call succeeds and nothing is written.
    ("MPI_Get_hw_resource_info", ""),
    ("MPI_Dims_create", ""),
];

struct Function {
    chapter: String,
    name: String,
    parameters: Vec<Parameter>,
    object: String,
}

#[derive(Clone)]
struct Parameter {
    kind: String,
    name: String,
    is_pointer: bool,
    is_const: bool,
    is_array: bool,
}

fn parameter(text: &str) -> Parameter {
    let is_array = text.contains('[');
    let bare = text.split('[').next().unwrap_or(text).trim();
    let at = bare.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |i| i + 1);
    let kind = bare[..at].replace("const", "").replace('*', "").trim().to_owned();
    Parameter {
        kind,
        name: bare[at..].to_owned(),
        is_pointer: is_array || bare.contains('*'),
        is_const: text.contains("const"),
        is_array,
    }
}

fn functions() -> Vec<Function> {
    let text = fs::read_to_string(root().join("mpi/abi/functions.tsv")).expect("the table is there");
    let mut chapter = "";
    let mut all = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        if let Some(rest) = line.strip_prefix('[') {
            chapter = rest.split(']').next().unwrap_or("");
            continue;
        }
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, result, parameters, object, ..] = cells[..] else { panic!("not four cells: {line}") };
        let wanted = CHAPTERS.contains(&chapter) || ALSO.contains(&name);
        if !wanted || NOT.contains(&name) || result != "int" || parameters == "void" {
            continue;
        }
        all.push(Function {
            chapter: chapter.to_owned(),
            name: name.to_owned(),
            parameters: parameters.split(", ").map(parameter).collect(),
            object: object.to_owned(),
        });
    }
    all
}

/// Right for this parameter.
fn good(f: &Function, p: &Parameter) -> String {
    let name = p.name.as_str();
    let zero = ["rank", "displ", "start", "partition", "edges", "sources", "destinations", "coords"];
    let zero = zero.iter().any(|word| name.contains(word));
    let which = if zero { "zeros" } else { "ones" };
    match (p.kind.as_str(), p.is_pointer) {
        ("void", _) => match name {
            "attribute_val" if f.name.contains("get") => "&pointer",
            "baseptr" | "buffer_addr" => "&pointer",
            "recvbuf" | "outbuf" | "inoutbuf" | "logical_false" => "more",
            _ => "data",
        }
        .into(),
        ("char", _) => match name {
            "pset_name" => "\"mpi://SELF\"",
            "datarep" => "\"external32\"",
            "argv" => "words",
            _ if p.is_const => "\"key\"",
            _ => "text",
        }
        .into(),
        ("int", true) if name == "ranges" => "ranges".into(),
        ("int", true) if name.contains("distribs") => "(int[]){MPI_DISTRIBUTE_BLOCK}".into(),
        ("int", true) if name.contains("dargs") => "(int[]){MPI_DISTRIBUTE_DFLT_DARG}".into(),
        ("int", true) if f.name == "MPI_Comm_free_keyval" || f.name == "MPI_Keyval_free" => {
            "&comm_key".into()
        }
        ("int", true) if f.name == "MPI_Type_free_keyval" => "&type_key".into(),
        ("int", true) if name == "buflen" => "&(int){64}".into(),
        ("int", true) if p.is_const || f.name == "MPI_Dims_create" => which.into(),
        ("int", true) => format!("&ints[{}]", at(f, p) * 4),
        ("MPI_Count", true) if p.is_const => format!("count_{which}"),
        ("MPI_Count", true) => format!("&counts[{}]", at(f, p)),
        ("MPI_Aint", true) if p.is_const => format!("aint_{which}"),
        ("MPI_Aint", true) => format!("&aints[{}]", at(f, p)),
        ("MPI_Status", _) => "statuses".into(),
        ("MPI_Request", true) if p.is_array => "requests".into(),
        ("MPI_Request", true) => "&out_request".into(),
        ("MPI_Datatype", true) if p.is_array || p.is_const => "types".into(),
        ("MPI_Message", true) if is_changed(f, p) => "&message".into(),
        (kind, true) if kind.ends_with("function") || kind.ends_with("function_c") => callback(p),
        (kind, true) => format!("&out_{}", lower(kind)),
        (kind, false) if kind.starts_with("MPI_") && kind != "MPI_Count" && kind != "MPI_Aint" => {
            handle(f, kind)
        }
        _ => number(f, name).into(),
    }
}

fn at(f: &Function, p: &Parameter) -> usize {
    f.parameters.iter().position(|q| q.name == p.name).unwrap_or(0)
}

fn lower(kind: &str) -> String {
    match kind {
        "MPI_Datatype" => "type".into(),
        _ => kind.trim_start_matches("MPI_").to_lowercase(),
    }
}

fn callback(p: &Parameter) -> String {
    match p.name.as_str() {
        "comm_errhandler_fn" => "on_comm",
        "session_errhandler_fn" => "on_session",
        "win_errhandler_fn" => "on_win",
        "query_fn" => "query",
        "free_fn" => "free_nothing",
        "cancel_fn" => "cancel_nothing",
        "user_fn" if p.kind.ends_with("_c") => "operation_c",
        "user_fn" => "operation",
        _ => "NULL",
    }
    .into()
}

fn handle(f: &Function, kind: &str) -> String {
    match kind {
        "MPI_Comm" if f.name.starts_with("MPI_Dist_graph_n") => "dist",
        "MPI_Comm" if f.name.starts_with("MPI_Graph") && !is_made(f) => "graph",
        "MPI_Comm" if f.chapter == "topology" && !is_made(f) => "cart",
        "MPI_Comm" => "comm",
        "MPI_Group" => "group",
        "MPI_Datatype" if f.name.starts_with("MPI_Type_get_contents") => "type",
        "MPI_Datatype" => "MPI_INT",
        "MPI_Op" => "MPI_SUM",
        "MPI_Info" => "info",
        "MPI_Errhandler" => "MPI_ERRORS_RETURN",
        "MPI_Session" => "session",
        "MPI_Win" => "win",
        "MPI_Request" if f.name == "MPI_Parrived" => "parts",
        "MPI_Request" => "request",
        other => panic!("{}: no {other} yet", f.name),
    }
    .into()
}

/// Makes or maps a topology of a communicator that has none.
fn is_made(f: &Function) -> bool {
    f.name.contains("create") || f.name.contains("_map")
}

fn number(f: &Function, name: &str) -> &'static str {
    match name {
        "errorcode" | "errorclass" => "MPI_ERR_ARG",
        "comm_keyval" => "comm_key",
        "type_keyval" => "type_key",
        "keyval" => "comm_key",
        "order" => "MPI_ORDER_C",
        "split_type" => "MPI_COMM_TYPE_SHARED",
        "typeclass" => "MPI_TYPECLASS_REAL",
        "tag" | "sendtag" | "recvtag" => "7",
        "size" if f.name == "MPI_Type_match_size" => "4",
        "size" if f.name.contains("attach") => "(int)sizeof text",
        "size" if f.name.contains("lloc") => "64",
        "logical_size" => "4",
        "outsize" | "insize" => "64",
        "valuelen" => "64",
        "p" | "r" => "2",
        "dest" | "source" | "root" | "rank" | "local_leader" | "remote_leader" | "color" | "key"
        | "partition" | "partition_low" | "partition_high" | "direction" | "disp" | "reorder" | "argc" => "0",
        "n" if f.name.contains("nth") => "0",
        _ => "1",
    }
}

/// Takes the handle that the pointer leads to.
fn is_changed(f: &Function, p: &Parameter) -> bool {
    let takes = ["_free", "_Wait", "_Test", "_Start", "_Cancel", "_commit", "_disconnect", "_finalize"];
    let takes = takes.iter().any(|end| f.name.ends_with(end));
    takes
        && matches!(
            p.name.as_str(),
            "comm" | "group" | "session" | "request" | "datatype" | "op" | "errhandler" | "info"
        )
        || p.name == "message" && f.name.contains("mrecv")
        || p.name == "message" && f.name.contains("Mrecv")
}

/// A wrong value, what it is, and the classes of error it may give.
type WrongValue = (String, &'static str, Vec<&'static str>);

fn null_pointer(f: &Function, p: &Parameter) -> Option<WrongValue> {
    let allowed = |&(function, name): &(&str, &str)| {
        (function.is_empty() || function == f.name) && (name.is_empty() || name == p.name)
    };
    if !p.is_pointer || p.kind == "MPI_Status" && !reads_status(f) || ALLOWED.iter().any(allowed) {
        return None;
    }
    if f.chapter == "topology" && p.name.contains("weights") {
        return None;
    }
    let classes = match (p.kind.as_str(), p.name.as_str()) {
        ("void", name) if name.contains("buf") => vec!["MPI_ERR_BUFFER", "MPI_ERR_ARG"],
        ("MPI_Request" | "MPI_Message", _) => vec!["MPI_ERR_ARG", "MPI_ERR_REQUEST"],
        (_, "key") => vec!["MPI_ERR_INFO_KEY", "MPI_ERR_ARG"],
        (_, "value") => vec!["MPI_ERR_INFO_VALUE", "MPI_ERR_ARG"],
        _ => vec!["MPI_ERR_ARG"],
    };
    Some(("NULL".into(), "null", classes))
}

/// The status is what the function is about.
fn reads_status(f: &Function) -> bool {
    f.chapter == "status"
}

fn wrong_handles(f: &Function, p: &Parameter) -> Vec<WrongValue> {
    let (class, kinds): (&str, &[&'static str]) = match p.kind.as_str() {
        "MPI_Comm" => ("MPI_ERR_COMM", &["stale", "foreign", "null"]),
        "MPI_Group" => ("MPI_ERR_GROUP", &["stale", "foreign", "null"]),
        "MPI_Datatype" => ("MPI_ERR_TYPE", &["stale", "foreign", "null"]),
        "MPI_Op" => ("MPI_ERR_OP", &["stale", "foreign", "null"]),
        "MPI_Info" if f.chapter == "info" => ("MPI_ERR_INFO", &["stale", "foreign", "null"]),
        "MPI_Info" => ("MPI_ERR_INFO", &["stale", "foreign"]),
        "MPI_Errhandler" => ("MPI_ERR_ERRHANDLER", &["stale", "null"]),
        "MPI_Session" => ("MPI_ERR_SESSION", &["stale", "foreign", "null"]),
        "MPI_Win" => ("MPI_ERR_WIN", &["stale", "null"]),
        "MPI_Message" => ("MPI_ERR_REQUEST", &["stale", "foreign", "null"]),
        "MPI_Request" if takes_null_request(f) => ("MPI_ERR_REQUEST", &["stale", "foreign"]),
        "MPI_Request" => ("MPI_ERR_REQUEST", &["stale", "foreign", "null"]),
        _ => return Vec::new(),
    };
    if p.is_array && p.kind == "MPI_Request" {
        let class = vec!["MPI_ERR_REQUEST", "MPI_ERR_IN_STATUS"];
        return vec![("bad_requests".into(), "with a stale one", class)];
    }
    if p.is_pointer && !is_changed(f, p) {
        return Vec::new();
    }
    // The names of null objects can be asked for.
    let kinds = kinds.iter().filter(|kind| **kind != "null" || !f.name.ends_with("_get_name"));
    let and = if p.is_pointer { "&" } else { "" };
    let mut all: Vec<WrongValue> =
        kinds.map(|kind| (format!("{and}{kind}_{}", lower(&p.kind)), *kind, vec![class])).collect();
    let sends = ["point-to-point", "probe", "buffered", "partitioned", "collectives"];
    if p.kind == "MPI_Datatype" && sends.contains(&f.chapter.as_str()) {
        all.push(("uncommitted".into(), "not committed", vec![class]));
    }
    all
}

fn takes_null_request(f: &Function) -> bool {
    ["Wait", "Test", "get_status", "Parrived"].iter().any(|word| f.name.contains(word))
}

fn wrong_numbers(f: &Function, p: &Parameter) -> Vec<WrongValue> {
    if p.is_pointer || !matches!(p.kind.as_str(), "int" | "MPI_Count") || f.name.starts_with("MPI_Status_set")
    {
        return Vec::new();
    }
    let one = |value: &str, class: &'static str| (value.to_owned(), "out of range", vec![class]);
    match p.name.as_str() {
        "count" | "incount" | "outcount" | "sendcount" | "recvcount" | "max_integers" => {
            vec![(("-1").into(), "negative", vec!["MPI_ERR_COUNT", "MPI_ERR_ARG"])]
        }
        "blocklength" | "n" | "ndims" | "nnodes" | "maxdims" | "insize" | "outsize" => {
            vec![(("-1").into(), "negative", vec!["MPI_ERR_ARG", "MPI_ERR_COUNT", "MPI_ERR_DIMS"])]
        }
        "dest" | "source" | "rank" if f.name.contains("darray") => vec![one("1", "MPI_ERR_ARG")],
        "dest" | "rank" => vec![one("1", "MPI_ERR_RANK"), one("-50", "MPI_ERR_RANK")],
        "source" => vec![one("1", "MPI_ERR_RANK"), one("-50", "MPI_ERR_RANK")],
        "root" => vec![one("1", "MPI_ERR_ROOT"), one("-50", "MPI_ERR_ROOT")],
        "tag" | "sendtag" | "recvtag" => vec![one("-50", "MPI_ERR_TAG")],
        "comm_keyval" | "type_keyval" | "keyval" => {
            ["freed_key", "null_key"].iter().map(|key| one(key, "MPI_ERR_KEYVAL")).collect()
        }
        "order" | "split_type" | "typeclass" | "color" | "errorclass" | "errorcode" | "logical_size" => {
            vec![one("-50", "MPI_ERR_ARG")]
        }
        "local_leader" | "remote_leader" if !f.name.contains("from_groups") => vec![one("7", "MPI_ERR_RANK")],
        "direction" => vec![("1".into(), "out of range", vec!["MPI_ERR_DIMS", "MPI_ERR_ARG"])],
        "indegree" | "outdegree" | "maxindegree" | "maxoutdegree" | "maxneighbors" | "maxindex"
        | "maxedges" | "partitions" | "valuelen" => vec![one("-1", "MPI_ERR_ARG")],
        "size" if f.name.contains("ttach_buffer") || f.name.contains("Buffer_attach") => {
            vec![("-1".into(), "negative", vec!["MPI_ERR_ARG", "MPI_ERR_BUFFER", "MPI_ERR_SIZE"])]
        }
        "size" if f.name.contains("match") || f.name.contains("darray") => vec![one("-1", "MPI_ERR_ARG")],
        _ => Vec::new(),
    }
}

/// The object whose error handler hears of it.
fn listener(f: &Function, p: &Parameter) -> &'static str {
    match f.object.as_str() {
        // Its own argument is asked first, and there are requests of communicators.
        _ if f.name.contains("from_group") || f.name.ends_with("Session_init") => "NONE",
        "-" if p.kind == "MPI_Request" || f.chapter == "requests" => "ANYONE",
        "-" if f.name.contains("Pready")
            || f.name.contains("rrived")
            || f.name.contains("mrecv")
            || f.name.contains("Mrecv") =>
        {
            "ANYONE"
        }
        "-" => "SELF",
        object if object == p.name => "SELF",
        _ => "OBJECT",
    }
}

/// A right call of it takes an inter-communicator, or groups without a common member, of which one rank has none.
fn takes_two_sides(f: &Function) -> bool {
    f.name.starts_with("MPI_Comm_remote") || f.name.contains("Intercomm_")
}

fn source() -> (String, usize) {
    let (mut out, mut table, mut n) = (String::new(), String::new(), 0);
    for f in functions() {
        for (i, p) in f.parameters.iter().enumerate() {
            if takes_two_sides(&f) && !p.name.contains("comm") && !p.name.ends_with("_group")
                || p.name.contains("new") && takes_two_sides(&f)
            {
                continue;
            }
            let mut all: Vec<WrongValue> = null_pointer(&f, p).into_iter().collect();
            all.extend(wrong_handles(&f, p));
            all.extend(wrong_numbers(&f, p));
            for (value, what, classes) in all {
                let argument = |(j, q)| if i == j { value.clone() } else { good(&f, q) };
                let arguments: Vec<String> = f.parameters.iter().enumerate().map(argument).collect();
                let call = format!("{}({})", f.name, arguments.join(", "));
                writeln!(out, "static int call_{n}(void) {{ return {call}; }}").expect("a string takes it");
                let takes_message =
                    u8::from(f.parameters.iter().any(|q| q.name == "message" && is_changed(&f, q)));
                writeln!(
                    table,
                    "    {{\"{}\", \"{} {what}\", call_{n}, {}, {takes_message}, {{{}}}}},",
                    f.name,
                    p.name,
                    listener(&f, p),
                    classes.join(", ")
                )
                .expect("a string takes it");
                n += 1;
            }
        }
    }
    write!(out, "enum {{ CALLS = {n} }};\nstatic const struct call calls[] = {{\n{table}}};\n")
        .expect("a string takes it");
    (out, n)
}

#[test]
fn one_argument_is_wrong() {
    if !mpi().is_ours() {
        return leave_out("arguments that are wrong", "others may crash");
    }
    let folder = mpi().programs().join("generated");
    fs::create_dir_all(&folder).expect("target can be written");
    let (source, n) = source();
    fs::write(folder.join("arguments_calls.h"), source).expect("target can be written");
    let program = mpi().build(
        "arguments",
        &["tests/programs/arguments.c".into()],
        &["-O0", "-pthread", "-Wno-unused", "-I", &folder.to_string_lossy()],
    );
    assert!(n > 1000, "{n} calls");
    Job::new(1).arg(program).limit(300).run().all_ok(1);
}

/// Functions that the lists here name exist.
#[test]
fn lists_of_functions_name_functions() {
    let text = fs::read_to_string(root().join("mpi/abi/functions.tsv")).expect("the table is there");
    let names: HashSet<&str> = text.lines().filter_map(|l| l.split('\t').next()).collect();
    let listed = ALSO.iter().chain(ALLOWED.iter().map(|(f, _)| f).filter(|f| !f.is_empty()));
    let missing: Vec<_> = listed.filter(|name| !names.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
