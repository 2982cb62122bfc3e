//! Checks the dependencies between folders. A dependency that is not in the table is a finding; so is a folder that
//! is not in the table, so that a new room is put on the map before it is built.

use crate::{folder, metadata, none};
use cargo_metadata::{Dependency, DependencyKind};

/// Dependencies that a folder may have.
struct Allowed {
    /// Folders of the workspace; a trailing `*` stands for the rest of the name.
    ours: &'static [&'static str],
    /// Crates from outside, or `None` where the choice is free.
    others: Option<&'static [&'static str]>,
    /// These only where the dependency is optional.
    optional: &'static [&'static str],
}

/// The contracts, lowest first.
const CONTRACTS: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/coll",
];

/// Those that transports know, parts that they share, and layouts of a library that one opens at run time.
const DRIVERS: &[&str] =
    &["framework/mca", "framework/datatype", "framework/btl", "framework/btl/support", "devices/verbs/abi"];

/// The contracts, and parts that collective components share.
const COLLECTIVE: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/coll",
    "framework/coll/support",
];

/// The contracts, and parts that one-sided components share.
const ONE_SIDED: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/osc/support",
    "framework/coll",
];

/// The contracts that planners of collective file access know.
const PLANNERS: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/fs",
    "framework/fbtl",
    "framework/coll",
    "framework/fcoll",
    "framework/files",
];

/// The contracts of files, and parts that their components share.
const FILES: &[&str] =
    &["framework/mca", "framework/fs", "framework/fs/support", "framework/fbtl", "framework/fbtl/support"];

/// Crates for system calls on files.
const FILE_CALLS: &[&str] = &["rustix", "libc"];

fn allowed(folder: &str) -> Option<Allowed> {
    let contract = |ours: &'static [&'static str]| Some(Allowed { ours, others: Some(&[]), optional: &[] });
    let host_part = |ours: &'static [&'static str]| Some(Allowed { ours, others: None, optional: &[] });
    match folder {
        "framework/mca" => contract(&[]),
        "framework/datatype" => contract(&["framework/mca"]),
        "framework/btl" => contract(&["framework/mca", "framework/datatype"]),
        "framework/pml" | "framework/osc" | "framework/coll" => {
            contract(&["framework/mca", "framework/datatype", "framework/btl"])
        }
        "framework/fs" => contract(&["framework/mca"]),
        "framework/fbtl" => contract(&["framework/mca", "framework/fs"]),
        "framework/fcoll" => contract(PLANNERS),
        "framework/files" => {
            contract(&["framework/mca", "framework/datatype", "framework/fs", "framework/fbtl"])
        }
        // Parts that file components share, without state: system calls, and how lists are cut.
        "framework/fs/support" => Some(Allowed {
            ours: &["framework/mca", "framework/fs"],
            others: Some(FILE_CALLS),
            optional: &[],
        }),
        "framework/fbtl/support" => Some(Allowed {
            ours: &["framework/mca", "framework/fs", "framework/fbtl"],
            others: Some(FILE_CALLS),
            optional: &[],
        }),
        "framework/builtin" => {
            Some(Allowed { ours: &["framework/mca"], others: Some(&["linkme"]), optional: &[] })
        }
        "framework/system" => host_part(&["framework/mca"]),
        "framework/wireup" => host_part(&["framework/system"]),
        "framework/loading" => host_part(LOADING),
        "framework/emulation" => host_part(&["framework/mca", "framework/btl"]),
        "framework/rcache" => host_part(&["framework/mca", "framework/btl", "framework/system"]),
        "framework/progress" => {
            host_part(&["framework/mca", "framework/btl", "framework/pml", "framework/system"])
        }
        "framework/waiting" => host_part(&["framework/mca", "framework/progress", "framework/system"]),
        "framework/runtime" => Some(Allowed { ours: RUNTIME, others: None, optional: &[] }),
        "mca-params" => Some(Allowed { ours: &["framework/mca"], others: None, optional: &[] }),
        "mpi" => Some(Allowed { ours: MPI, others: None, optional: &["components/*", "framework/builtin"] }),
        // Nothing of what runs in a rank.
        "mpirun" => host_part(&["mca-params", "framework/system", "framework/wireup", "framework/loading"]),
        // A tool beside the product: it starts installed programs and links nothing of ours.
        "bench/driver" => Some(Allowed { ours: &[], others: None, optional: &[] }),
        // A tool library over any MPI: it knows the standard ABI and nothing of ours.
        "endpoints" => Some(Allowed { ours: &[], others: Some(&["libc", "dlmalloc"]), optional: &[] }),
        // The Fortran library over any MPI: as that.
        "fortran" => Some(Allowed { ours: &[], others: Some(&[]), optional: &[] }),
        "tests" | "tests/contracts" | "tests/fuse" | "tests/harness" | "xtask" => {
            Some(Allowed { ours: &["*"], others: None, optional: &[] })
        }
        // Layouts alone, and a device that only tests open.
        "devices/verbs/abi" => contract(&[]),
        "devices/verbs" => {
            Some(Allowed { ours: &["devices/verbs/abi"], others: Some(&["rustix", "libc"]), optional: &[] })
        }
        "devices/ugni" => Some(Allowed { ours: &[], others: Some(&["rustix", "libc"]), optional: &[] }),
        "devices/ofi" => Some(Allowed { ours: &[], others: Some(&["libloading"]), optional: &[] }),
        // Parts that drivers share, without state.
        "framework/btl/support" => Some(Allowed {
            ours: &["framework/mca"],
            others: Some(&["rustix", "libc", "libloading"]),
            optional: &[],
        }),
        "framework/coll/support" => contract(&["framework/mca", "framework/datatype", "framework/coll"]),
        "framework/osc/support" => {
            contract(&["framework/mca", "framework/datatype", "framework/btl", "framework/osc"])
        }
        _ if folder.starts_with("components/btl-") => Some(Allowed {
            ours: DRIVERS,
            // System calls, and nothing that has a static of its own to disagree about.
            others: Some(&["rustix", "libc"]),
            // For the linked-in form alone.
            optional: &["framework/builtin"],
        }),
        _ if folder.starts_with("components/fcoll-") => Some(Allowed {
            ours: PLANNERS,
            others: Some(&[]),
            // For the linked-in form alone.
            optional: &["framework/builtin"],
        }),
        _ if folder.starts_with("components/fs-") || folder.starts_with("components/fbtl-") => {
            Some(Allowed {
                ours: FILES,
                others: Some(&["rustix", "libc", "io-uring"]),
                optional: &["framework/builtin"],
            })
        }
        // Rules are a table in TOML; the crate that reads it has no static of its own.
        "components/coll-tuned" => {
            Some(Allowed { ours: COLLECTIVE, others: Some(&["toml"]), optional: &["framework/builtin"] })
        }
        _ if folder.starts_with("components/") => Some(Allowed {
            ours: match folder {
                _ if folder.starts_with("components/osc-") => ONE_SIDED,
                _ if folder.starts_with("components/coll-") => COLLECTIVE,
                _ => CONTRACTS,
            },
            // System calls, and nothing that has a static of its own to disagree about.
            others: Some(&["rustix", "libc"]),
            // For the linked-in form alone.
            optional: &["framework/builtin"],
        }),
        "framework/testing" => {
            contract(&["framework/mca", "framework/datatype", "framework/btl", "framework/pml"])
        }
        "tests/plugins/coll-sparse" => Some(Allowed { ours: CONTRACTS, others: Some(&[]), optional: &[] }),
        "tests/plugins/osc-am" => Some(Allowed { ours: ONE_SIDED, others: Some(&[]), optional: &[] }),
        "tests/plugins/fbtl-faults" => Some(Allowed { ours: FILES, others: Some(&["libc"]), optional: &[] }),
        _ if folder.starts_with("framework/") && folder.ends_with("/conformance") => {
            Some(Allowed { ours: SUITE, others: Some(&["rustix", "libc", "linkme"]), optional: &[] })
        }
        _ => None,
    }
}

const SUITE: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/coll",
    "framework/fs",
    "framework/fbtl",
    "framework/fcoll",
    "framework/files",
    "framework/testing",
    // The engine of a suite's host.
    "framework/progress",
];

const LOADING: &[&str] = &[
    "framework/mca",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/coll",
    "framework/system",
    "framework/wireup",
    "mca-params",
    "framework/fs",
    "framework/fbtl",
    "framework/fcoll",
];

const RUNTIME: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/btl",
    "framework/pml",
    "framework/osc",
    "framework/coll",
    "framework/system",
    "framework/wireup",
    "framework/loading",
    "framework/progress",
    "framework/waiting",
    "framework/rcache",
    "framework/emulation",
    "mca-params",
    "framework/fs",
    "framework/fbtl",
    "framework/fcoll",
    "framework/files",
];

const MPI: &[&str] = &[
    "framework/mca",
    "framework/datatype",
    "framework/pml",
    "framework/osc",
    "framework/coll",
    "framework/system",
    "framework/wireup",
    "framework/loading",
    "framework/progress",
    "framework/waiting",
    "framework/runtime",
    "mca-params",
    "framework/fs",
    "framework/files",
];

fn matches(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => *pattern == name,
    })
}

fn finding(from: &str, allowed: &Allowed, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    // The model checker stands in for the atomics of the standard library when models are checked.
    if name == "loom" && dependency.target.as_ref().is_some_and(|t| t.to_string() == "cfg(loom)") {
        return None;
    }
    let target = metadata().packages.iter().find(|p| p.name == name);
    match (target, allowed.others) {
        (Some(package), _) => {
            let to = folder(package);
            let fine = matches(allowed.ours, &to) || dependency.optional && matches(allowed.optional, &to);
            let kind = if dependency.optional { " (optional)" } else { "" };
            (!fine).then(|| format!("{from} -> {to}{kind}"))
        }
        (None, Some(others)) if !others.contains(&name) => Some(format!("{from} -> crate {name}")),
        (None, _) => None,
    }
}

#[test]
fn no_arrow_points_where_it_must_not() {
    let mut findings = Vec::new();
    for package in &metadata().packages {
        let from = folder(package);
        let Some(allowed) = allowed(&from) else {
            findings.push(format!("{from} is not on the map"));
            continue;
        };
        let of_the_product = package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development);
        findings.extend(of_the_product.filter_map(|d| finding(&from, &allowed, d)));
    }
    none("arrows that the design does not have", findings);
}

/// The rules themselves refuse what they are there to refuse.
#[test]
fn the_rules_bite() {
    let shm = metadata().packages.iter().find(|p| p.name == "btl-shm").expect("btl-shm");
    let mut dependency = shm.dependencies.iter().find(|d| d.name == "oxmpi-mca").expect("mca").clone();
    let component = allowed("components/btl-shm").expect("a rule");
    assert_eq!(finding("x", &component, &dependency), None);
    for forbidden in ["oxmpi-runtime", "btl-self", "oxmpi-mca-params", "parking_lot"] {
        dependency.name = forbidden.into();
        assert!(finding("x", &component, &dependency).is_some(), "{forbidden} is let through");
    }
    let mpi = allowed("mpi").expect("a rule");
    dependency.name = "btl-self".into();
    assert!(finding("mpi", &mpi, &dependency).is_some(), "a component that is always linked in");
    dependency.optional = true;
    assert_eq!(finding("mpi", &mpi, &dependency), None);
    assert!(allowed("framework/new").is_none() && allowed("elsewhere").is_none());
}
