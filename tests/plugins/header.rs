//! `framework/include/oxmpi_component.h`: the contracts of components of every framework for authors who write C.
//!
//! Rendered from the Rust source: structs, constants and comments are read from it, sizes and offsets
//! are what this compiler made of it. The header is committed; a stale one fails here, and
//! `OXMPI_BLESS=1 cargo test -p oxmpi-tests --test plugins header` writes it anew.

use crate::c_types::{Docs, Renamed, Renderer, renamed};
use crate::layout;
use oxmpi_tests::root;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use syn::{BinOp, Expr, ImplItem, Item, Lit, UnOp};

/// A source file, the prefix of its constants, and what the header has of it.
type Part = (&'static str, &'static str, &'static [&'static str]);

/// In an order in which every type is complete before it is part of another.
const ITEMS: &[Part] = &[
    ("framework/mca/src/status.rs", "", &["Status"]),
    ("framework/mca/src/refs.rs", "", &["StrRef"]),
    ("framework/mca/src/abi.rs", "", &["Version"]),
    (
        "framework/mca/src/params.rs",
        "",
        &["ParamKind", "Level", "Scope", "param_flag", "ParamDecl", "ParamValue"],
    ),
    ("framework/mca/src/lock.rs", "", &["Lock"]),
    ("framework/mca/src/biased.rs", "", &["LOCK_PROTOCOL", "Seat", "LockServices", "Bias"]),
    ("framework/mca/src/thread.rs", "", &["ThreadCtx"]),
    ("framework/mca/src/cri.rs", "", &["Cri", "LockTable"]),
    ("framework/mca/src/wait.rs", "", &["WaitWord", "WaitFd", "WaitSet"]),
    ("framework/mca/src/request.rs", "", &["MsgStatus", "Completion", "RequestOps", "RequestHeader"]),
    (
        "framework/mca/src/host.rs",
        "",
        &[
            "MemKind",
            "JobInfo",
            "RecvDesc",
            "receive",
            "AmReceive",
            "AmEntry",
            "PartDesc",
            "AmParts",
            "am_tag",
            "cri_mode",
            "ProgressFn",
            "ArmFn",
            "DisarmFn",
            "LayerFunction",
        ],
    ),
    ("framework/mca/src/waking.rs", "", &["WakingWord"]),
    (
        "framework/mca/src/services.rs",
        "",
        &[
            "ProcName",
            "distance",
            "ProcPlace",
            "Place",
            "AUTH_BYTES",
            "OSC_TAGS",
            "NodeMemory",
            "SharedSegment",
            "Predicate",
            "PeerFailed",
            "HostServices",
        ],
    ),
    ("framework/mca/src/host.rs", "", &["HostTable"]),
    ("framework/mca/src/abi.rs", "", &["OpenArgs", "ResolveArgs", "Opened", "Descriptor"]),
    ("framework/btl/src/bits.rs", "", &["amo", "access", "cap"]),
    ("framework/btl/src/placing.rs", "", &["PlaceDesc", "PlaceOf", "PlacedAll", "ClaimOf", "PlaceBy"]),
    (
        "framework/btl/src/table.rs",
        "",
        &[
            "BtlAttrs",
            "MAY_WAIT",
            "RegHandle",
            "HANDLE_LIMIT",
            "SendDesc",
            "Done",
            "KeptDesc",
            "RmaDesc",
            "FlushDesc",
            "Piece",
            "RmaVectorDesc",
            "AtomicDesc",
            "ListEntry",
            "LIST_PUT",
            "LIST_ENTRY",
            "ListDesc",
            "ProcInfo",
            "ProcList",
            "BtlTable",
            "BtlModule",
            "BtlHandle",
        ],
    ),
    (
        "framework/btl/src/services.rs",
        "",
        &["Reach", "Registration", "SERVICE_CTX", "LIST_ASK", "AskDesc", "Listener", "BtlServices"],
    ),
    ("framework/datatype/src/desc.rs", "TYPE_", &["Run", "Nest", "Base", "flag", "TypeDesc"]),
    ("framework/datatype/src/kernel/apply.rs", "", &["op"]),
    ("framework/datatype/src/kernel/mod.rs", "", &["OpDesc"]),
    ("framework/pml/src/polling.rs", "PML_", &["Polled", "Polling", "ContextWords", "work", "Words"]),
    (
        "framework/pml/src/table.rs",
        "PML_",
        &[
            "ANY_SOURCE",
            "ANY_TAG",
            "mode",
            "assert_flag",
            "NO_HINT",
            "CommDesc",
            "Transports",
            "SendArgs",
            "RecvArgs",
            "Counts",
            "Message",
            "PmlTable",
            "PmlModule",
        ],
    ),
    (
        "framework/coll/src/table.rs",
        "COLL_",
        &[
            "FIRST_TAG",
            "LAST_TAG",
            "ROOT",
            "NO_ROOT",
            "flag",
            "CollComm",
            "part",
            "which",
            "step",
            "StepFn",
            "extend",
            "ExtendFn",
            "CollServices",
            "IN_PLACE",
            "neighbors",
            "Neighbors",
            "CollArgs",
            "CollFn",
            "CollTable",
            "CollOffer",
        ],
    ),
    ("framework/coll/src/author.rs", "COLL_", &["CollModule"]),
    (
        "framework/osc/src/table.rs",
        "OSC_",
        &[
            "flavor",
            "lock_type",
            "assertion",
            "hint",
            "ordering",
            "WinDesc",
            "WinComm",
            "Mapped",
            "Outstanding",
            "WinServices",
            "RmaArgs",
            "RmaFn",
            "WinCounts",
            "NotifyFn",
            "ALL",
            "OscTable",
            "OscWindow",
            "OscModule",
        ],
    ),
    (
        "framework/fs/src/table.rs",
        "FS_",
        &["PathFacts", "mode", "OpenFile", "keeps", "FsFile", "Range", "lock", "FsTable", "FsModule"],
    ),
    ("framework/fbtl/src/operation.rs", "FBTL_", &["Bell", "Operation"]),
    (
        "framework/fbtl/src/table.rs",
        "FBTL_",
        &["FileFacts", "Piece", "transfer", "Transfer", "FbtlTable", "FbtlModule"],
    ),
    (
        "framework/fcoll/src/table.rs",
        "FCOLL_",
        &["Layout", "want", "Access", "FcollServices", "PlanArgs", "FcollTable", "FcollFacts", "FcollModule"],
    ),
];

/// Names that say of what they are by their crates alone, as C has them.
const OF_FILES: Renamed = &[
    ("Range", "FileRange"),
    ("Bell", "FileBell"),
    ("Operation", "FileOperation"),
    ("Piece", "FilePiece"),
    ("Transfer", "FileTransfer"),
    ("Layout", "FileLayout"),
    ("Access", "FileAccess"),
    ("PlanArgs", "FilePlan"),
];

/// The names of a source file.
fn names_of(path: &str) -> Renamed {
    let of_files = ["framework/fs/", "framework/fbtl/", "framework/fcoll/"];
    if of_files.iter().any(|folder| path.starts_with(folder)) { OF_FILES } else { &[] }
}

const HEAD: &str = "\
/* Contracts of components, for authors who write C or C++: the descriptor, the host's tables, and the tables of
 * transports (BTL), messaging (PML), collectives (COLL), one-sided communication (OSC) and files (FS, FBTL, FCOLL).
 *
 * Generated from framework/{mca,btl,pml,coll,osc,datatype,fs,fbtl,fcoll}; do not edit. The comments are those of the Rust source,
 * where names are written without `oxmpi_`; a field that would be a keyword has a `_` behind.
 * docs/adding-a*.md are the guides, docs/abi.md the promise. The descriptions of the contracts of files stand at the
 * heads of framework/{fs,fbtl,fcoll}/src/lib.rs.
 *
 * A component is a shared object lib<framework>_<name>.so that exports one function,
 *     const oxmpi_descriptor *oxmpi_component_<framework>_<name>(void);
 * Set every `size` to the sizeof of its struct. All tables live as long as the process.
 */
#ifndef OXMPI_COMPONENT_H
#define OXMPI_COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OXMPI_ASSERT(what) static_assert(what, #what)
#define OXMPI_ALIGN(n) alignas(n)
extern \"C\" {
#else
#define OXMPI_ASSERT(what) _Static_assert(what, #what)
#define OXMPI_ALIGN(n) _Alignas(n)
#endif

";

const TAIL: &str = "
/* A string constant as StrRef. */
#define OXMPI_STR(text) { (const uint8_t *)(text), sizeof(text) - 1 }

#ifdef __cplusplus
}
#endif

#endif
";

/// A number as Rust writes it, if it is one: `-3`, `0x20`, `Status(-3)`, `u32::MAX`, `0xf << SHIFT`. `known`: constants that
/// stand before it.
fn number(e: &Expr, known: &BTreeMap<String, i128>) -> Option<i128> {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Int(i) => i.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => number(&u.expr, known).map(|n| -n),
        Expr::Call(c) if c.args.len() == 1 => number(&c.args[0], known),
        Expr::Paren(p) => number(&p.expr, known),
        Expr::Binary(b) if matches!(b.op, BinOp::Shl(_)) => {
            Some(number(&b.left, known)? << number(&b.right, known)?)
        }
        Expr::Path(p) => {
            let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
            match &names[..] {
                [kind, max] if kind == "u32" && max == "MAX" => Some(u32::MAX.into()),
                [name] => known.get(name).copied(),
                _ => None,
            }
        }
        _ => None,
    }
}

fn define(out: &mut String, docs: Docs, name: &str, value: i128) {
    docs.write(out, "");
    let value = if value < 0 { format!("({value})") } else { value.to_string() };
    writeln!(out, "#define {name} {value}").expect("string");
}

/// Numbers that belong to a type (`impl Status { pub const OK … }`).
fn constants_of(file: &syn::File, ty: &str, out: &mut String) {
    let (prefix, known) = (crate::c_types::snake(ty).to_uppercase(), BTreeMap::new());
    for item in &file.items {
        let Item::Impl(block) = item else { continue };
        let syn::Type::Path(p) = &*block.self_ty else { continue };
        if block.trait_.is_some() || !p.path.is_ident(ty) {
            continue;
        }
        for inner in &block.items {
            if let ImplItem::Const(c) = inner
                && let Some(n) = number(&c.expr, &known)
            {
                define(out, Docs::of(&c.attrs), &format!("OXMPI_{prefix}_{}", c.ident), n);
            }
        }
    }
}

/// All numbers of a module, those of modules in it too.
fn module(m: &syn::ItemMod, prefix: &str, out: &mut String) {
    Docs::of(&m.attrs).write(out, "");
    let mut known = BTreeMap::new();
    for inner in &m.content.as_ref().expect("a module with a body").1 {
        match inner {
            Item::Const(c) => {
                let n = number(&c.expr, &known).unwrap_or_else(|| panic!("{prefix}{} is no number", c.ident));
                known.insert(c.ident.to_string(), n);
                define(out, Docs::of(&c.attrs), &format!("{prefix}{}", c.ident), n);
            }
            Item::Mod(m) => module(m, &format!("{prefix}{}_", m.ident.to_string().to_uppercase()), out),
            _ => {}
        }
    }
}

fn render_item(file: &syn::File, prefix: &str, name: &str, types: &mut Renderer, out: &mut String) {
    for item in &file.items {
        match item {
            Item::Struct(s) if s.ident == name => {
                types.structure(s, out);
                constants_of(file, name, out);
                out.push('\n');
                return;
            }
            Item::Type(t) if t.ident == name => {
                types.alias(t, out);
                out.push('\n');
                return;
            }
            Item::Const(c) if c.ident == name => {
                let n = number(&c.expr, &BTreeMap::new());
                let n = n.unwrap_or_else(|| panic!("{name} is not a plain number"));
                match &*c.ty {
                    syn::Type::Ptr(_) => {
                        Docs::of(&c.attrs).write(out, "");
                        writeln!(out, "#define OXMPI_{prefix}{name} ((const uint8_t *){n})").expect("string");
                    }
                    _ => define(out, Docs::of(&c.attrs), &format!("OXMPI_{prefix}{name}"), n),
                }
                out.push('\n');
                return;
            }
            Item::Mod(m) if m.ident == name => {
                module(m, &format!("OXMPI_{prefix}{}_", name.to_uppercase()), out);
                out.push('\n');
                return;
            }
            _ => {}
        }
    }
    panic!("the contract has no {name} any more: mend ITEMS in tests/plugins/header.rs");
}

/// Sizes and offsets as this compiler has them, for the C compiler to compare.
fn assertions(types: &Renderer, out: &mut String) {
    out.push_str("/* Sizes and offsets as the Rust side has them. */\n");
    for l in layout::all() {
        let fields: Vec<&str> = l.fields.iter().map(|(f, _)| *f).collect();
        let declared = types.fields.get(l.name).unwrap_or_else(|| panic!("{} is not in the header", l.name));
        assert_eq!(declared, &fields, "tests/plugins/layout.rs does not list the fields of {}", l.name);
        let c = crate::c_types::c_name(l.name);
        writeln!(out, "OXMPI_ASSERT(sizeof({c}) == {});", l.size).expect("string");
        for (field, offset) in l.fields {
            let field = crate::c_types::field_name(field);
            writeln!(out, "OXMPI_ASSERT(offsetof({c}, {field}) == {offset});").expect("string");
        }
    }
    let with_layout: Vec<&str> = layout::all().iter().map(|l| l.name).collect();
    for name in types.fields.keys() {
        assert!(with_layout.contains(&name.as_str()), "tests/plugins/layout.rs lacks {name}");
    }
}

fn render() -> String {
    let mut out = HEAD.to_owned();
    for (name, value) in [
        ("OXMPI_MAGIC", format!("UINT64_C({:#x}) /* \"OXMPICMP\" */", oxmpi_mca::MAGIC)),
        ("OXMPI_ABI_MAJOR", oxmpi_mca::ABI_MAJOR.to_string()),
        ("OXMPI_ABI_MINOR", oxmpi_mca::ABI_MINOR.to_string()),
        ("OXMPI_TARGET", format!("\"{}\"", oxmpi_mca::abi::TARGET)),
        ("OXMPI_BTL_TABLE_VERSION", oxmpi_btl::TABLE_VERSION.to_string()),
        ("OXMPI_PML_TABLE_VERSION", oxmpi_pml::TABLE_VERSION.to_string()),
        ("OXMPI_COLL_TABLE_VERSION", oxmpi_coll::TABLE_VERSION.to_string()),
        ("OXMPI_OSC_TABLE_VERSION", oxmpi_osc::TABLE_VERSION.to_string()),
        ("OXMPI_FS_TABLE_VERSION", oxmpi_fs::TABLE_VERSION.to_string()),
        ("OXMPI_FBTL_TABLE_VERSION", oxmpi_fbtl::TABLE_VERSION.to_string()),
        ("OXMPI_FCOLL_TABLE_VERSION", oxmpi_fcoll::TABLE_VERSION.to_string()),
    ] {
        writeln!(out, "#define {name} {value}").expect("string");
    }
    for (framework, version) in [
        (oxmpi_btl::FRAMEWORK, oxmpi_btl::VERSION),
        (oxmpi_pml::FRAMEWORK, oxmpi_pml::VERSION),
        (oxmpi_coll::FRAMEWORK, oxmpi_coll::VERSION),
        (oxmpi_osc::FRAMEWORK, oxmpi_osc::VERSION),
        (oxmpi_fs::FRAMEWORK, oxmpi_fs::VERSION),
        (oxmpi_fbtl::FRAMEWORK, oxmpi_fbtl::VERSION),
        (oxmpi_fcoll::FRAMEWORK, oxmpi_fcoll::VERSION),
    ] {
        let name = framework.to_uppercase();
        writeln!(out, "#define OXMPI_{name}_FRAMEWORK \"{framework}\"").expect("string");
        let oxmpi_mca::Version { major, minor, patch } = version;
        writeln!(out, "#define OXMPI_{name}_VERSION {{ {major}, {minor}, {patch} }}").expect("string");
    }
    out.push('\n');
    let parts: Vec<_> = ITEMS
        .iter()
        .map(|(path, prefix, names)| {
            let source = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
            let file = syn::parse_file(&source).unwrap_or_else(|e| panic!("{path}: {e}"));
            (file, prefix, names, names_of(path))
        })
        .collect();
    // Structs name each other in pointers, so all of them are declared before the first.
    for (file, _, names, known) in &parts {
        for name in names.iter().filter(|name| crate::c_types::is_struct(file, name)) {
            let c = crate::c_types::c_name(&renamed(known, name));
            writeln!(out, "typedef struct {c} {c};").expect("string");
        }
    }
    out.push('\n');
    let mut types = Renderer::default();
    for (file, prefix, names, known) in &parts {
        types.names = known;
        for name in **names {
            render_item(file, prefix, name, &mut types, &mut out);
        }
    }
    assertions(&types, &mut out);
    out.push_str(TAIL);
    out
}

#[test]
fn the_c_header_is_what_the_contract_says() {
    let path = root().join("framework/include/oxmpi_component.h");
    let now = render();
    if std::env::var_os("OXMPI_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("framework/include");
        std::fs::write(&path, &now).expect("framework/include/oxmpi_component.h");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(now.lines()).position(|(a, b)| a != b);
    assert!(
        committed == now,
        "framework/include/oxmpi_component.h is stale (from line {}): run\n    OXMPI_BLESS=1 cargo test -p \
         oxmpi-tests --test plugins header",
        differs.unwrap_or(committed.lines().count().min(now.lines().count())) + 1
    );
}
