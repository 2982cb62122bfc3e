//! `framework/include/oxmpi_component.h`: the contract of components, BTLs and one-sided components for authors who write C.
//!
//! Rendered from the Rust source: structs, constants and comments are read from it, sizes and offsets
//! are what this compiler made of it. The header is committed; a stale one fails here, and
//! `OXMPI_BLESS=1 cargo test -p oxmpi-tests --test plugins header` writes it anew.

use crate::c_types::{Docs, Renderer};
use crate::layout;
use oxmpi_tests::root;
use std::fmt::Write as _;
use syn::{Expr, ImplItem, Item, Lit, UnOp};

/// What the header has, in an order in which every name is known before it is used.
const ITEMS: &[(&str, &[&str])] = &[
    ("framework/mca/src/status.rs", &["Status"]),
    ("framework/mca/src/abi.rs", &["StrRef", "Version"]),
    (
        "framework/mca/src/params.rs",
        &["ParamKind", "Level", "Scope", "param_flag", "ParamDecl", "ParamValue"],
    ),
    ("framework/mca/src/lock.rs", &["Lock"]),
    ("framework/mca/src/biased.rs", &["LOCK_PROTOCOL", "Seat", "LockServices", "Bias"]),
    ("framework/mca/src/thread.rs", &["ThreadCtx"]),
    ("framework/mca/src/cri.rs", &["Cri", "LockTable"]),
    (
        "framework/mca/src/host.rs",
        &[
            "MemKind",
            "JobInfo",
            "RecvDesc",
            "AmReceive",
            "AmEntry",
            "PartDesc",
            "AmParts",
            "am_tag",
            "ProgressFn",
            "HostTable",
        ],
    ),
    ("framework/mca/src/abi.rs", &["OpenArgs", "Opened", "Descriptor"]),
    (
        "framework/btl/src/table.rs",
        &[
            "BtlAttrs",
            "amo",
            "RegHandle",
            "SendDesc",
            "Piece",
            "RmaVectorDesc",
            "RmaDesc",
            "AtomicDesc",
            "ProcInfo",
            "WaitWord",
            "RMA_VERSION",
            "access",
            "BtlTable",
            "BtlModule",
            "BtlHandle",
        ],
    ),
    ("framework/mca/src/request.rs", &["MsgStatus", "Completion", "RequestOps", "RequestHeader"]),
    ("framework/datatype/src/desc.rs", &["Run", "Nest", "Base", "TypeDesc"]),
    ("framework/datatype/src/kernel/mod.rs", &["op", "OpDesc"]),
    (
        "framework/osc/src/lib.rs",
        &[
            "flavor",
            "lock_type",
            "assertion",
            "hint",
            "ordering",
            "Place",
            "Reach",
            "Mapped",
            "Predicate",
            "WinServices",
            "WinComm",
            "WinDesc",
            "RmaArgs",
            "RmaFn",
            "ALL",
            "OscTable",
            "OscWindow",
            "OscModule",
        ],
    ),
];

const HEAD: &str = "\
/* What a component is, for authors who write C or C++: the descriptor, the host's table, the tables of BTLs and of
 * one-sided components.
 *
 * Generated from framework/{mca,btl,datatype,osc}; do not edit. The comments are those of the Rust source,
 * where names are written without `oxmpi_`; a field that would be a keyword has a `_` behind.
 * docs/adding-a-btl.md and docs/adding-an-osc.md are the guides, docs/abi.md the promise.
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

/* Used before they are defined. */
typedef struct oxmpi_request_header oxmpi_request_header;
typedef struct oxmpi_type_desc oxmpi_type_desc;

/* The biased part of a lock; below. */
typedef struct oxmpi_bias oxmpi_bias;

";

const TAIL: &str = "
/* A string constant as StrRef. */
#define OXMPI_STR(text) { (const uint8_t *)(text), sizeof(text) - 1 }

#ifdef __cplusplus
}
#endif

#endif
";

/// A number as Rust writes it, if it is one: `-3`, `0x20`, `Status(-3)`.
fn number(e: &Expr) -> Option<i128> {
    match e {
        Expr::Lit(l) => match &l.lit {
            Lit::Int(i) => i.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => number(&u.expr).map(|n| -n),
        Expr::Call(c) if c.args.len() == 1 => number(&c.args[0]),
        Expr::Paren(p) => number(&p.expr),
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
    let prefix = crate::c_types::snake(ty).to_uppercase();
    for item in &file.items {
        let Item::Impl(block) = item else { continue };
        let syn::Type::Path(p) = &*block.self_ty else { continue };
        if block.trait_.is_some() || !p.path.is_ident(ty) {
            continue;
        }
        for inner in &block.items {
            if let ImplItem::Const(c) = inner
                && let Some(n) = number(&c.expr)
            {
                define(out, Docs::of(&c.attrs), &format!("OXMPI_{prefix}_{}", c.ident), n);
            }
        }
    }
}

fn render_item(file: &syn::File, name: &str, types: &mut Renderer, out: &mut String) {
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
                let n = number(&c.expr).unwrap_or_else(|| panic!("{name} is not a plain number"));
                define(out, Docs::of(&c.attrs), &format!("OXMPI_{name}"), n);
                out.push('\n');
                return;
            }
            Item::Mod(m) if m.ident == name => {
                Docs::of(&m.attrs).write(out, "");
                for inner in &m.content.as_ref().expect("a module with a body").1 {
                    let Item::Const(c) = inner else { continue };
                    let n = number(&c.expr).unwrap_or_else(|| panic!("{name}::{} is no number", c.ident));
                    let full = format!("OXMPI_{}_{}", name.to_uppercase(), c.ident);
                    define(out, Docs::of(&c.attrs), &full, n);
                }
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
    let (version, osc) = (oxmpi_btl::VERSION, oxmpi_osc::VERSION);
    for (name, value) in [
        ("OXMPI_MAGIC", format!("UINT64_C({:#x}) /* \"OXMPICMP\" */", oxmpi_mca::MAGIC)),
        ("OXMPI_ABI_MAJOR", oxmpi_mca::ABI_MAJOR.to_string()),
        ("OXMPI_ABI_MINOR", oxmpi_mca::ABI_MINOR.to_string()),
        ("OXMPI_TARGET", format!("\"{}\"", oxmpi_mca::abi::TARGET)),
        ("OXMPI_BTL_FRAMEWORK", format!("\"{}\"", oxmpi_btl::FRAMEWORK)),
        ("OXMPI_BTL_VERSION", format!("{{ {}, {}, {} }}", version.major, version.minor, version.patch)),
        ("OXMPI_OSC_FRAMEWORK", format!("\"{}\"", oxmpi_osc::FRAMEWORK)),
        ("OXMPI_OSC_VERSION", format!("{{ {}, {}, {} }}", osc.major, osc.minor, osc.patch)),
    ] {
        writeln!(out, "#define {name} {value}").expect("string");
    }
    out.push('\n');
    let mut types = Renderer::default();
    for (path, names) in ITEMS {
        let source = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        let file = syn::parse_file(&source).unwrap_or_else(|e| panic!("{path}: {e}"));
        for name in *names {
            render_item(&file, name, &mut types, &mut out);
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
