//! Checks of the sources: no statics in contracts, short files, the lints, nothing below `mpi/`
//! that calls MPI.

use crate::{HOST, files, folder, is_linked_by_components, metadata, none, read, root, short};
use std::path::PathBuf;
use syn::visit::{self, Visit};

/// Sources of the workspace that people write.
fn sources() -> Vec<PathBuf> {
    let written = |path: &PathBuf| !read(path).lines().take(3).any(|l| l.contains("cargo xtask generate"));
    files(root(), ".rs").into_iter().filter(written).collect()
}

/// Finds process-wide state and threads, outside of tests and of macros (which expand elsewhere).
#[derive(Default)]
struct State {
    found: Vec<String>,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        let text = quote_tokens(&a.meta);
        text == "test"
            || text.replace(' ', "").contains("cfg(test")
            || text.replace(' ', "").contains("cfg(all(test")
    })
}

/// The tokens of an attribute, as text.
fn quote_tokens(meta: &syn::Meta) -> String {
    match meta {
        syn::Meta::Path(path) => path_text(path),
        syn::Meta::List(list) => format!("{}({})", path_text(&list.path), list.tokens),
        syn::Meta::NameValue(pair) => path_text(&pair.path),
    }
}

fn path_text(path: &syn::Path) -> String {
    path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("::")
}

impl<'ast> Visit<'ast> for State {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        if !is_test(&item.attrs) {
            let kind = if is_table(item) { "table" } else { "static" };
            self.found.push(format!("{kind} {}", item.ident));
        }
    }
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        if path_text(&item.path).ends_with("thread_local") {
            self.found.push("thread_local!".into());
        }
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let text = path_text(path);
        if text.ends_with("thread::spawn") || text.ends_with("thread::Builder") {
            self.found.push(text);
        }
        visit::visit_path(self, path);
    }
}

/// A table of functions or declarations that never changes, as every descriptor needs them.
fn is_table(item: &syn::ItemStatic) -> bool {
    const TABLES: [&str; 10] = [
        // Of a predefined type: the library's own are not counted by references.
        "TypeDesc",
        "RequestOps",
        "ParamDecl",
        "StrRef",
        "Descriptor",
        "BtlTable",
        "PmlTable",
        "CollTable",
        "str",
        "u8",
    ];
    let mut kind = &*item.ty;
    loop {
        match kind {
            syn::Type::Reference(reference) => kind = &reference.elem,
            syn::Type::Array(array) => kind = &array.elem,
            syn::Type::Slice(slice) => kind = &slice.elem,
            _ => break,
        }
    }
    let syn::Type::Path(path) = kind else { return false };
    let name = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    matches!(item.mutability, syn::StaticMutability::None) && TABLES.contains(&name.as_str())
}

/// Statics, thread-locals and threads of one file.
fn state(text: &str) -> Result<Vec<String>, syn::Error> {
    let mut state = State::default();
    state.visit_file(&syn::parse_file(text)?);
    Ok(state.found)
}

fn state_in(folder: &str) -> Vec<String> {
    let source = root().join(folder).join("src");
    // Tests beside the code are modules of their own files; what they keep is not in the product.
    let product = files(&source, ".rs").into_iter().filter(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        name != "tests" && !name.ends_with("_tests") && name != "model"
    });
    let found = product.flat_map(|path| {
        let found = state(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", short(&path)));
        found.into_iter().map(move |what| format!("{}: {what}", short(&path)))
    });
    found.collect()
}

/// A static in a crate that components link is a different object in each of them.
#[test]
fn crates_that_components_link_have_no_state_and_no_threads() {
    let contracts = metadata().packages.iter().map(folder).filter(|f| is_linked_by_components(f));
    let contracts: Vec<String> = contracts.collect();
    assert!(contracts.contains(&"framework/mca".to_owned()), "{contracts:?}");
    assert!(contracts.contains(&"framework/btl/support".to_owned()), "{contracts:?}");
    // A driver's own thread is started by the part that drivers share.
    let drivers =
        |found: &String| found.starts_with("framework/btl/support/src/helper.rs: std::thread::Builder");
    // A type that only describes bytes: nobody asks which of the objects it is, and a plan needs one that outlives it.
    let bytes = |found: &String| found == "framework/coll/support/src/layout.rs: table BYTE";
    none(
        "state in crates that components link",
        contracts.iter().flat_map(|f| state_in(f)).filter(|f| !drivers(f) && !bytes(f)).collect(),
    );
}

/// The host is a value: several instances live in one process.
#[test]
fn the_host_has_no_process_wide_state() {
    // A table that never changes is not state.
    let is_state = |f: &String| !f.contains("thread::") && !f.contains(": table ");
    let found = HOST.iter().flat_map(|folder| state_in(folder)).filter(is_state);
    none("statics in the host", found.collect());
}

/// Everything a component knows lies behind what `open` returned. Tables that never change are not
/// knowledge; the framework of a thread (asynchronous progress) is not forbidden to it.
#[test]
fn components_keep_their_state_behind_open() {
    let components = metadata().packages.iter().map(folder);
    let components = components.filter(|f| f.starts_with("components/"));
    let found = components.flat_map(|f| state_in(&f));
    let found = found.filter(|f| !f.contains(": table ") && !f.contains("thread::"));
    none("process-wide state in components", found.collect());
}

#[test]
fn the_search_for_state_finds_it() {
    let text = "static A: u8 = 0; fn f() { static B: u8 = 1; std::thread::spawn(|| ()); thread_local!(static C: u8 = 0); }
        #[cfg(test)] mod tests { static D: u8 = 0; }
        macro_rules! m { () => { static E: u8 = 0; } }
        static F: RequestOps = OPS; static mut G: [u8; 2] = [0; 2];
        fn g(s: &'static str) -> &'static str { s }";
    let found = state(text).unwrap();
    // A byte that cannot change is a table; what holds state by its type is not on the list.
    let wanted = ["table A", "table B", "std::thread::spawn", "thread_local!", "table F", "static G"];
    assert_eq!(found, wanted);
    let atomic = "static A: AtomicU32 = AtomicU32::new(0); static B: Mutex<u8> = Mutex::new(0);";
    assert_eq!(state(atomic).unwrap(), ["static A", "static B"]);
}

/// Finds calls of the C interface.
#[derive(Default)]
struct Calls(Vec<String>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let name = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let rest = name.strip_prefix("PMPI_").or_else(|| name.strip_prefix("MPI_"));
        // MPI_Send is a function; MPI_COMM_WORLD in a comment or a constant's name is none.
        if rest.is_some_and(|r| r.chars().nth(1).is_some_and(|c| c.is_ascii_lowercase())) {
            self.0.push(name);
        }
        visit::visit_path(self, path);
    }
}

#[test]
fn nothing_below_the_c_interface_calls_it() {
    let mut findings = Vec::new();
    for folder in ["framework", "components", "mca-params", "mpirun"] {
        for path in files(&root().join(folder), ".rs") {
            let mut calls = Calls::default();
            calls.visit_file(
                &syn::parse_file(&read(&path)).unwrap_or_else(|e| panic!("{}: {e}", short(&path))),
            );
            findings.extend(calls.0.into_iter().map(|name| format!("{}: {name}", short(&path))));
        }
    }
    none("MPI functions used below mpi/", findings);
}

#[test]
fn files_are_short() {
    let long = sources().into_iter().filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > 600).then(|| format!("{}: {lines} lines", short(&path)))
    });
    none("files over 600 lines", long.collect());
}

/// The lints of the workspace hold in every crate: `unsafe` has its comment, `allow` its reason.
#[test]
fn every_crate_has_the_lints() {
    let manifest = read(&root().join("Cargo.toml"));
    for lint in ["undocumented_unsafe_blocks", "allow_attributes_without_reason", "unsafe_op_in_unsafe_fn"] {
        assert!(manifest.contains(&format!("{lint} = \"deny\"")), "{lint} is no longer denied");
    }
    let mut findings = Vec::new();
    for package in &metadata().packages {
        let text = read(package.manifest_path.as_std_path());
        if !text.replace(' ', "").contains("[lints]\nworkspace=true") {
            findings.push(format!("{} does not take the lints of the workspace", folder(package)));
        }
        if !text.contains("license.workspace = true") {
            findings.push(format!("{} does not take the licence of the workspace", folder(package)));
        }
    }
    // Split, so that this file does not contain what it looks for.
    let forbidden = ["clippy::undocumented", "_unsafe_blocks"].concat();
    for path in sources() {
        if read(&path).contains(&forbidden) {
            findings.push(format!("{} switches the lint on unsafe blocks", short(&path)));
        }
    }
    none("lints", findings);
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(root().join(licence).is_file(), "{licence}");
    }
}
