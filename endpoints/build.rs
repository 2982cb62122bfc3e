//! Makes Rust out of the table of MPI functions: `pmpi.rs`, every function by its profiling name, found at the
//! first call in whatever library is loaded; and `refused.rs`, the exported functions that take a communicator, a request or
//! a message and that no file of `src/client` defines: they pass conventional handles on and refuse those of endpoints by
//! name.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const TABLE: &str = "../mpi/abi/functions.tsv";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed=src/client");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liboxmpi_ep.so");
    // Beside the MPI library of the same install, where the system does not name another.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-rpath,$ORIGIN");
    println!("cargo::rustc-check-cfg=cfg(loom)");
    let table = fs::read_to_string(TABLE).unwrap_or_else(|e| panic!("{TABLE}: {e}"));
    let functions: Vec<Function> = table.lines().filter_map(Function::read).collect();
    assert!(functions.len() > 600, "{TABLE} has {} functions", functions.len());
    let written = written(Path::new("src/client"));
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let mut pmpi = String::new();
    let mut refused = String::new();
    for function in &functions {
        function.profiled(&mut pmpi);
        if !written.contains(&function.name) {
            function.refuse(&mut refused);
        }
    }
    fs::write(Path::new(&out).join("pmpi.rs"), pmpi).expect("OUT_DIR can be written");
    fs::write(Path::new(&out).join("refused.rs"), refused).expect("OUT_DIR can be written");
}

/// Names behind `fn`, alone or as a list in brackets.
fn written(folder: &Path) -> HashSet<String> {
    let mut names = HashSet::new();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for entry in fs::read_dir(folder).expect("the folder of the client").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a source can be read");
        for (at, _) in text.match_indices("fn ") {
            let rest = text[at + 3..].trim_start();
            let list = match rest.strip_prefix('[') {
                Some(list) => bracketed(list),
                None => rest.split('(').next().unwrap_or(""),
            };
            let found = list.split(|c| !word(c)).filter(|w| w.starts_with("MPI_"));
            names.extend(found.map(str::to_owned));
        }
    }
    names
}

/// Up to the bracket that closes one before.
fn bracketed(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

struct Function {
    name: String,
    result: &'static str,
    /// Name and C type.
    parameters: Vec<(String, String)>,
}

impl Function {
    fn read(line: &str) -> Option<Function> {
        let mut columns = line.split('\t');
        let name = columns.next().filter(|n| n.starts_with("MPI_"))?;
        let result = columns.next()?;
        let parameters = columns.next()?;
        // One function takes any number of arguments, and none of them is a handle.
        if parameters.contains("...") {
            return None;
        }
        let parameters = match parameters {
            "void" => Vec::new(),
            list => list.split(',').map(|p| parameter(p.trim())).collect(),
        };
        Some(Function { name: name.to_owned(), result: rust(result), parameters })
    }

    fn list(&self) -> String {
        let one = |(name, c): &(String, String)| format!("{name}: {}", rust(c));
        self.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn profiled(&self, out: &mut String) {
        let (name, result, list) = (&self.name, self.result, self.list());
        let types: Vec<&str> = self.parameters.iter().map(|(_, c)| rust(c)).collect();
        let names: Vec<&str> = self.parameters.iter().map(|(n, _)| n.as_str()).collect();
        let (types, names) = (types.join(", "), names.join(", "));
        writeln!(
            out,
            "/// The library's own {name}.\n///\n/// # Safety\n/// As the standard says of its arguments.\n\
             pub unsafe fn {name}({list}) -> {result} {{\n    \
             static AT: Symbol = Symbol::new(c\"P{name}\");\n    \
             // SAFETY: the symbol has this type by the standard ABI, and the arguments are the caller's.\n    \
             unsafe {{ core::mem::transmute::<*mut c_void, unsafe extern \"C\" fn({types}) -> {result}>(AT.get())({names}) }}\n}}\n"
        )
        .expect("a string grows");
    }

    fn refuse(&self, out: &mut String) {
        let name = &self.name;
        if self.result != "c_int" || name.ends_with("toint") {
            return;
        }
        let of = |c: &str| {
            self.parameters.iter().filter(|(_, t)| t == c).map(|(n, _)| n.clone()).collect::<Vec<_>>()
        };
        let (comms, requests, wins) = (of("MPI_Comm"), of("MPI_Request"), of("MPI_Win"));
        let messages = of("MPI_Message *");
        assert!(wins.is_empty() || name.starts_with("MPI_T_"), "{name} is written nowhere");
        if comms.is_empty() && requests.is_empty() && messages.is_empty() {
            return;
        }
        let mut checks = String::new();
        for comm in &comms {
            writeln!(
                checks,
                "    if let Some(comm) = comm::find({comm}) {{ return error::refuse(comm, \"{name}\"); }}"
            )
            .expect("a string grows");
        }
        for request in &requests {
            writeln!(
                checks,
                "    if request::is_ours({request}) {{ return error::refuse_request(\"{name}\"); }}"
            )
            .expect("a string grows");
        }
        for message in &messages {
            writeln!(checks, "    // SAFETY: the caller's handle.\n    if request::is_ours(unsafe {{ *{message} }}) {{ return error::refuse_request(\"{name}\"); }}").expect("a string grows");
        }
        let pass = |(name, c): &(String, String)| match c.as_str() {
            "MPI_Comm" => format!("comm::native({name})"),
            _ => name.clone(),
        };
        let passed = self.parameters.iter().map(pass).collect::<Vec<_>>().join(", ");
        writeln!(
            out,
            "// SAFETY: the name is the standard's; this library stands between a program and its MPI.\n\
             #[cfg_attr(not(test), unsafe(no_mangle))]\n\
             pub unsafe extern \"C\" fn {name}({list}) -> c_int {{\n{checks}    \
             // SAFETY: the caller's arguments.\n    unsafe {{ pmpi::{name}({passed}) }}\n}}\n",
            list = self.list()
        )
        .expect("a string grows");
    }
}

/// `const int array[]` is `array`, `const int []`.
fn parameter(text: &str) -> (String, String) {
    let start = text.find('[').unwrap_or(text.len());
    let (head, brackets) = text.split_at(start);
    let head = head.trim_end();
    let at = head.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    let name = match &head[at..] {
        word @ ("type" | "fn" | "in" | "ref" | "move" | "self") => format!("{word}_"),
        word => word.to_owned(),
    };
    let kind = head[..at].trim_end();
    // A pointer and an array are the same to a caller.
    let kind = match brackets {
        "" => kind.to_owned(),
        _ if kind.starts_with("MPI_Request") || kind.starts_with("MPI_Comm") => format!("{kind} []"),
        _ => format!("{kind} *"),
    };
    (name, kind)
}

fn rust(c: &str) -> &'static str {
    let constant = c.starts_with("const ");
    let c = c.strip_prefix("const ").unwrap_or(c);
    let pointer = c.contains(['*', '[']);
    let base = c.split(['*', '[']).next().unwrap_or(c).trim_end();
    let stars = c.matches('*').count();
    match (base, pointer, constant) {
        ("void", true, true) => "*const c_void",
        ("void", true, false) => "*mut c_void",
        ("char", true, _) if stars > 1 => "*mut c_void",
        ("char", true, true) => "*const c_char",
        ("char", true, false) => "*mut c_char",
        ("int", false, _) => "c_int",
        ("int", true, true) => "*const c_int",
        ("int", true, false) => "*mut c_int",
        ("double", false, _) => "f64",
        ("MPI_Count" | "MPI_Offset", false, _) => "i64",
        ("MPI_Count" | "MPI_Offset", true, true) => "*const i64",
        ("MPI_Count" | "MPI_Offset", true, false) => "*mut i64",
        ("MPI_Aint", false, _) => "isize",
        ("MPI_Aint", true, true) => "*const isize",
        ("MPI_Aint", true, false) => "*mut isize",
        ("MPI_Status", true, true) => "*const Status",
        ("MPI_Status", true, false) => "*mut Status",
        ("MPI_T_cb_safety" | "MPI_T_source_order", false, _) => "c_int",
        ("MPI_T_cb_safety" | "MPI_T_source_order", true, _) => "*mut c_int",
        // Functions by pointer, and arrays of handles that are pointers to anything.
        (name, true, _) if name.contains("_function") || name.contains("_func") => "usize",
        (name, false, _) if name.starts_with("MPI_") => "usize",
        (name, true, true) if name.starts_with("MPI_") => "*const usize",
        (name, true, false) if name.starts_with("MPI_") => "*mut usize",
        other => panic!("no Rust type for {other:?} ({c})"),
    }
}
