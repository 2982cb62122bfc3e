//! Facts of the installation that need no component: each is a label for people, a key for programs,
//! and a value.

use super::answers::AnswerSources;
use super::options::Options;
use oxmpi_loading::registry;

/// One fact.
pub struct Fact {
    pub label: &'static str,
    pub key: String,
    pub value: String,
}

fn fact(label: &'static str, key: &str, value: impl Into<String>) -> Fact {
    Fact { label, key: key.into(), value: value.into() }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `--version`.
pub fn version(options: &Options) -> String {
    match (options.json, options.parsable) {
        (true, _) => format!("{{\"version\": \"{VERSION}\"}}\n"),
        (_, true) => format!("oxmpi:version:full:{VERSION}\n"),
        _ => format!("oxmpi {VERSION}\n"),
    }
}

/// The head of a summary.
pub fn package(known: &AnswerSources) -> Vec<Fact> {
    let abi = registry::component_abi();
    vec![
        fact("Package", "package", "oxmpi"),
        fact("oxmpi", "oxmpi:version:full", VERSION),
        fact("MPI API", "mpi-api:version:full", "5.0.0"),
        fact("MPI ABI", "mpi-abi:version:full", "1.0"),
        fact("Component ABI", "mca-abi:version:full", format!("{}.{}", abi.0, abi.1)),
        fact("Prefix", "path:prefix", prefix(known)),
    ]
}

pub fn arch() -> Fact {
    let arch = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    fact("Architecture", "config:arch", arch)
}

pub fn hostname() -> Fact {
    fact("Host name", "config:host", oxmpi_wireup::server::hostname())
}

/// `--config`.
pub fn config(known: &AnswerSources) -> Vec<Fact> {
    let debug = if cfg!(debug_assertions) { "yes" } else { "no" };
    let library = known.places.prefix.as_ref().map(|prefix| prefix.join("lib/libmpifort_abi.so.1"));
    let fortran = if library.is_some_and(|library| library.exists()) { "yes" } else { "no" };
    vec![
        fact("C bindings", "bindings:c", "yes"),
        fact("C++ bindings", "bindings:cxx", "no"),
        fact("Fortran mpif.h", "bindings:mpif.h", fortran),
        fact("Fortran use mpi", "bindings:use_mpi", fortran),
        fact("Fortran use mpi_f08", "bindings:use_mpi_f08", fortran),
        fact("Thread support", "option:threads", "MPI_THREAD_MULTIPLE: yes"),
        fact("Internal debug", "option:debug", debug),
        fact("Parameter check", "option:mpi-param-check", "runtime"),
        fact("Loads components", "option:dlopen", "yes"),
        fact("Heterogeneous", "options:heterogeneous", "no"),
        fact("Single-copy", "option:single-copy", "cma"),
    ]
}

fn prefix(known: &AnswerSources) -> String {
    known.places.prefix.as_ref().map_or_else(|| "unknown".into(), |p| p.display().to_string())
}

/// Kinds of directories, and where each is below the prefix.
const PATHS: [(&str, &str, &str); 11] = [
    ("prefix", "Prefix", ""),
    ("exec_prefix", "Exec prefix", ""),
    ("bindir", "Bindir", "bin"),
    ("libdir", "Libdir", "lib"),
    ("incdir", "Incdir", "include"),
    ("pkgincludedir", "Pkgincludedir", "include/oxmpi"),
    ("pkglibdir", "Pkglibdir", "lib/oxmpi"),
    ("datadir", "Datadir", "share"),
    ("pkgdatadir", "Pkgdatadir", "share/oxmpi"),
    ("profiles", "Profiles", "share/oxmpi/profiles"),
    ("sysconfdir", "Sysconfdir", "etc"),
];

/// `--path`.
pub fn paths(known: &AnswerSources, kind: &str) -> Result<Vec<Fact>, String> {
    let Some(prefix) = &known.places.prefix else {
        return Err("where this program is installed is unknown".into());
    };
    let wanted: Vec<Fact> = PATHS
        .iter()
        .filter(|(name, _, _)| kind == "all" || kind == *name)
        .map(|(name, label, below)| {
            let path = if below.is_empty() { prefix.clone() } else { prefix.join(below) };
            fact(label, &format!("path:{name}"), path.display().to_string())
        })
        .collect();
    match wanted.is_empty() {
        false => Ok(wanted),
        true => {
            let names: Vec<&str> = PATHS.iter().map(|p| p.0).collect();
            Err(format!("--path {kind:?}: there are all, {}", names.join(", ")))
        }
    }
}

/// The facts that are asked for.
pub fn asked(known: &AnswerSources, options: &Options) -> Result<Vec<Fact>, String> {
    let mut facts = Vec::new();
    if options.all || options.is_summary() {
        facts.extend(package(known));
    }
    if options.all || options.arch || options.is_summary() {
        facts.push(arch());
    }
    if options.all || options.hostname {
        facts.push(hostname());
    }
    if options.all || options.config {
        facts.extend(config(known));
    }
    if let Some(kind) = options.path.as_deref().or(options.all.then_some("all")) {
        facts.extend(paths(known, kind)?);
    }
    if options.all || options.is_summary() {
        facts.extend(
            known.files.iter().map(|f| fact("Parameter file", "path:param_file", f.display().to_string())),
        );
    }
    Ok(facts)
}
