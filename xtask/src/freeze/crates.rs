//! Crates that are kept: components, the contracts, and all that these depend on inside the repository, as cargo knows it.
//!
//! Their manifests are written anew, with what a build of the library needs and nothing else: no tests, no models, no lints. A crate
//! that needs more than the words here can say is refused, so nothing of it is lost in silence.

use crate::workspace::Workspace;
use cargo_metadata::{Dependency, DependencyKind, Package, TargetKind};
use std::fmt::Write;

/// The contracts. A component depends on some of them; an author could on any.
const CONTRACTS: [&str; 8] = [
    "framework/mca",
    "framework/btl",
    "framework/pml",
    "framework/coll",
    "framework/osc",
    "framework/fs",
    "framework/fbtl",
    "framework/fcoll",
];

pub struct Kept<'a> {
    package: &'a Package,
    /// Below the root of the repository.
    pub folder: String,
    /// Below the workspace of the version.
    pub place: String,
    is_component: bool,
}

/// `components`, the contracts, and what they depend on, in the order of their folders.
pub fn kept<'a>(workspace: &'a Workspace, components: &[String]) -> Result<Vec<Kept<'a>>, String> {
    let mut kept: Vec<Kept<'a>> = Vec::new();
    let contracts = CONTRACTS.iter().map(|folder| (*folder).to_owned());
    let mut due: Vec<String> = components.iter().cloned().chain(contracts).collect();
    while let Some(folder) = due.pop() {
        if kept.iter().any(|one| one.folder == folder) {
            continue;
        }
        let package =
            workspace.package_in(&folder).ok_or(format!("{folder} is no crate of the workspace"))?;
        refuse_what_is_lost(package)?;
        for dependency in needed(package) {
            if let Some(path) = &dependency.path {
                let inside = path.as_std_path().strip_prefix(&workspace.root);
                let inside =
                    inside.map_err(|_| format!("{folder} depends on {path}, outside of the repository"))?;
                due.push(inside.to_string_lossy().into_owned());
            }
        }
        let is_component = components.contains(&folder);
        let place = if is_component { package.name.to_string() } else { format!("vendored/{folder}") };
        kept.push(Kept { package, folder, place, is_component });
    }
    kept.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(kept)
}

/// Dependencies of the library itself. The model checker's are for models, which are not kept.
fn needed(package: &Package) -> impl Iterator<Item = &Dependency> {
    let is_model = |d: &Dependency| d.target.as_ref().is_some_and(|target| target.to_string() == "cfg(loom)");
    package.dependencies.iter().filter(move |d| d.kind != DependencyKind::Development && !is_model(d))
}

fn refuse_what_is_lost(package: &Package) -> Result<(), String> {
    let name = &package.name;
    let lost = |what: &str| Err(format!("{name} has {what}, which freeze does not keep: teach it to"));
    if package.targets.iter().any(|target| target.kind.contains(&TargetKind::CustomBuild)) {
        return lost("a build script");
    }
    if !package.features.is_empty() {
        return lost("features");
    }
    if needed(package).any(|d| d.rename.is_some() || d.kind != DependencyKind::Normal) {
        return lost("a renamed dependency or one of a build script");
    }
    let source = package.manifest_path.with_file_name("src").join("lib.rs");
    if !package.targets.iter().any(|target| target.src_path == source) {
        return lost("a library elsewhere than in src/lib.rs");
    }
    Ok(())
}

/// The manifest of one of them. A component has the version of the ABI, by which it is known when it is loaded.
pub fn manifest(one: &Kept<'_>, all: &[Kept<'_>], version: &str) -> Result<String, String> {
    let package = one.package;
    let number = if one.is_component { format!("{version}.0") } else { package.version.to_string() };
    let mut text = format!(
        "# Made by `cargo xtask freeze {version}` from {}/Cargo.toml.\n[package]\nname = \"{}\"\nversion = \"{number}\"\n\
         edition = \"{}\"\npublish = false\n",
        one.folder, package.name, package.edition
    );
    if one.is_component {
        text += "\n[lib]\ncrate-type = [\"cdylib\"]\n";
    }
    let up = "../".repeat(one.place.split('/').count());
    let mut dependencies: Vec<&Dependency> = needed(package).collect();
    dependencies.sort_by_key(|d| (d.target.as_ref().map(ToString::to_string), d.name.clone()));
    let mut table = None;
    for dependency in dependencies {
        let own = match &dependency.target {
            None => "[dependencies]".to_owned(),
            Some(target) => format!("[target.'{target}'.dependencies]"),
        };
        if table.as_ref() != Some(&own) {
            writeln!(text, "\n{own}").expect("text");
            table = Some(own);
        }
        let place =
            all.iter().find(|other| dependency.path.is_some() && *other.package.name == dependency.name);
        let line = match place {
            Some(other) => format!("{} = {{ path = \"{up}{}\" }}", dependency.name, other.place),
            None if dependency.path.is_none() => from_registry(dependency),
            None => return Err(format!("{} is not kept, but {} needs it", dependency.name, package.name)),
        };
        writeln!(text, "{line}").expect("text");
    }
    Ok(text)
}

fn from_registry(dependency: &Dependency) -> String {
    let mut line = format!("{} = {{ version = \"{}\"", dependency.name, dependency.req);
    if !dependency.uses_default_features {
        line += ", default-features = false";
    }
    if !dependency.features.is_empty() {
        write!(line, ", features = {:?}", dependency.features).expect("text");
    }
    line + " }"
}

/// The manifest of their workspace.
pub fn workspace_manifest(all: &[Kept<'_>]) -> String {
    let mut text = "# Made by `cargo xtask freeze`. A workspace of its own: nothing here is a member of the one above.\n\
        [workspace]\nresolver = \"3\"\nmembers = [\n"
        .to_owned();
    for one in all {
        writeln!(text, "    \"{}\",", one.place).expect("text");
    }
    text + "]\n\n[profile.dev]\nopt-level = 1\ndebug = false\n"
}
