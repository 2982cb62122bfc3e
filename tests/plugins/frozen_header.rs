//! The header of a version that is kept, compared with the one of today: no field has moved, no struct has shrunk, none grew
//! that says no size, and no number has another value.

use crate::frozen_components::versions;
use crate::support::{run, scratch};
use oxmpi_tests::root;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const TODAY: &str = "framework/include/oxmpi_component.h";

/// Numbers that tell which contract it is. They may rise, and the tests of components say how far.
const OF_CONTRACTS: [&str; 8] = [
    "OXMPI_ABI_MINOR",
    "OXMPI_BTL_VERSION",
    "OXMPI_PML_VERSION",
    "OXMPI_COLL_VERSION",
    "OXMPI_OSC_VERSION",
    "OXMPI_FS_VERSION",
    "OXMPI_FBTL_VERSION",
    "OXMPI_FCOLL_VERSION",
];

/// Elements of lists that say how far it is from one to the next.
const BY_STRIDE: [&str; 1] = ["oxmpi_proc_info"];

/// Assertions on today's structs, by those of the older header.
fn assertions(older: &str) -> Vec<String> {
    let all: Vec<&str> =
        older.lines().filter_map(|line| line.strip_prefix("OXMPI_ASSERT(")?.strip_suffix(");")).collect();
    let say_size: BTreeSet<&str> = all
        .iter()
        .filter_map(|what| what.strip_prefix("offsetof(")?.split_once(", size) == "))
        .map(|(name, _)| name)
        .collect();
    let today = |what: &&str| {
        let name =
            what.strip_prefix("sizeof(").and_then(|rest| rest.split_once(") == ")).map(|(name, _)| name);
        let grows = name.is_some_and(|name| say_size.contains(name) || BY_STRIDE.contains(&name));
        let what = if grows { what.replace(" == ", " >= ") } else { (*what).to_owned() };
        format!("OXMPI_ASSERT({what});")
    };
    all.iter().map(today).collect()
}

/// Macros without arguments, and what they stand for.
fn macros(header: &str) -> BTreeMap<&str, &str> {
    let lines = header.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    lines.filter(|(name, _)| !name.contains('(') && !OF_CONTRACTS.contains(name)).collect()
}

/// Macros of an older header that have gone, or stand for something else today.
fn changed(older: &str, today: &str) -> Vec<String> {
    let today = macros(today);
    let differs = |(name, value): (&str, &str)| match today.get(name) {
        Some(now) if *now == value => None,
        Some(now) => Some(format!("{name} was {value} and is {now}")),
        None => Some(format!("{name} was {value} and is gone")),
    };
    macros(older).into_iter().filter_map(differs).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn structs_grow_at_their_ends_alone() {
    for version in versions() {
        let assertions = assertions(&read(&version.folder.join("c/oxmpi_component.h")));
        assert!(assertions.len() > 500, "{} assertions", assertions.len());
        let name = format!("layout-{}.{}", version.major, version.minor);
        let source = scratch("header").join(format!("{name}.c"));
        let text = format!("#include \"oxmpi_component.h\"\n{}\n", assertions.join("\n"));
        std::fs::write(&source, text).expect("the source");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let include = root().join(TODAY);
        run(Command::new(compiler)
            .args(["-std=c11", "-Werror", "-fsyntax-only", "-I"])
            .arg(include.parent().expect("a folder"))
            .arg(&source));
    }
}

#[test]
fn numbers_keep_their_values() {
    let today = read(&root().join(TODAY));
    for version in versions() {
        let older = read(&version.folder.join("c/oxmpi_component.h"));
        assert!(macros(&older).len() > 200, "{} macros", macros(&older).len());
        let changed = changed(&older, &today);
        assert!(changed.is_empty(), "since {}.{}:\n{}", version.major, version.minor, changed.join("\n"));
    }
}

#[test]
fn changes_are_found() {
    let older = "#define OXMPI_A 1\n#define OXMPI_B (-2)\n#define OXMPI_ABI_MINOR 0\n#define OXMPI_C 3\n#define F(x) x\n";
    let today = "#define OXMPI_A 1\n#define OXMPI_B (-3)\n#define OXMPI_ABI_MINOR 1\n#define F(x) (x)\n";
    assert_eq!(changed(older, today), ["OXMPI_B was (-2) and is (-3)", "OXMPI_C was 3 and is gone"]);
    let older = "OXMPI_ASSERT(sizeof(a) == 16);\nOXMPI_ASSERT(offsetof(a, size) == 0);\nOXMPI_ASSERT(sizeof(b) == 8);\n";
    let due = [
        "OXMPI_ASSERT(sizeof(a) >= 16);",
        "OXMPI_ASSERT(offsetof(a, size) == 0);",
        "OXMPI_ASSERT(sizeof(b) == 8);",
    ];
    assert_eq!(assertions(older), due);
}
