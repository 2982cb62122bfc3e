//! `cargo xtask freeze VERSION`: the sources of a contract's version, kept in `tests/abi/VERSION`.
//!
//! Components are built by others at their own time, and a later version of the library has to load them. So each version of
//! the component ABI leaves behind what an author had on the day of its release: the C header with components in C, and the
//! contract crates with components in Rust, as a workspace of its own that knows nothing of ours. Tests build them as they were
//! (`tests/plugins/frozen_components.rs`), and a house test holds that no file of them changes (`tests/house/frozen.rs`).
//!
//! The command is run once for each version of the contract, when that version is released, and never again: what is
//! frozen is what components outside were built from. `--again` is for the time before the release.
//!
//! Map: `crates` (which crates, and their manifests) · `files` (copies, and their sums).

mod crates;
mod files;

use crate::bounded::{self, Outcome};
use crate::workspace::Workspace;
use clap::Args;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[derive(Args)]
pub struct Options {
    /// The version of the component ABI, as the C header has it: 3.0
    version: String,
    /// Replace what is frozen; only before the version is released
    #[arg(long)]
    again: bool,
}

/// Components in Rust that are kept with a version are the templates, which authors copy from, and this one-sided one.
const ONE_SIDED: &str = "tests/plugins/osc-am";
const IN_C: [&str; 2] = ["btl_cloop.c", "coll_cring.c"];
const HEADER: &str = "framework/include/oxmpi_component.h";
/// A whole build of some crates on a busy machine.
const LIMIT: Duration = Duration::from_secs(15 * 60);

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let header = workspace.root.join(HEADER);
    let header_text = fs::read_to_string(&header).map_err(|e| format!("{}: {e}", header.display()))?;
    let now = version_of(&header_text).ok_or(format!("{HEADER} does not say which ABI it is of"))?;
    if options.version != now {
        return Err(format!("the component ABI is {now}; {} cannot be frozen from it", options.version));
    }
    let all = workspace.root.join("tests/abi");
    let (place, made) = (all.join(&now), all.join(format!(".{now}")));
    if place.exists() && !options.again {
        return Err(format!(
            "tests/abi/{now} is frozen. A version that is released never changes; before that, --again replaces it"
        ));
    }
    // Put together beside its place, so that a failure leaves what is there.
    files::clear(&made)?;
    let count = fill(workspace, &now, &made)?;
    files::clear(&place)?;
    fs::rename(&made, &place).map_err(|e| format!("{}: {e}", place.display()))?;
    println!(
        "froze {count} files in tests/abi/{now}; now run\n    cargo test -p oxmpi-tests --test plugins frozen"
    );
    Ok(())
}

/// Fills the folder of a version; how many files it has.
fn fill(workspace: &Workspace, version: &str, folder: &Path) -> Result<usize, String> {
    let root = &workspace.root;
    let in_c = folder.join("c");
    files::copy(&root.join(HEADER), &in_c.join("oxmpi_component.h"))?;
    for source in IN_C {
        files::copy(&root.join("tests/plugins/c").join(source), &in_c.join(source))?;
    }
    let in_rust = folder.join("rust");
    let mut components = workspace.templates();
    components.push(ONE_SIDED.into());
    let kept = crates::kept(workspace, &components)?;
    for one in &kept {
        let own = in_rust.join(&one.place);
        files::copy_sources(&root.join(&one.folder).join("src"), &own.join("src"))?;
        files::write(&own.join("Cargo.toml"), &crates::manifest(one, &kept, version)?)?;
    }
    files::write(&in_rust.join("Cargo.toml"), &crates::workspace_manifest(&kept))?;
    files::copy(&root.join("Cargo.lock"), &in_rust.join("Cargo.lock"))?;
    build(workspace, &in_rust.join("Cargo.toml"))?;
    files::write_sums(folder)
}

/// Cuts the lock file down to what is needed, in the versions that ours has, and sees that nothing is missing.
fn build(workspace: &Workspace, manifest: &Path) -> Result<(), String> {
    let steps: [&[&str]; 2] = [&["update", "--workspace"], &["build", "--locked"]];
    for step in steps {
        let mut command: Command = workspace.cargo(step);
        command.args(["--quiet", "--offline", "--manifest-path"]).arg(manifest);
        command
            .env("CARGO_TARGET_DIR", workspace.target.join("freeze"))
            .env("RUSTFLAGS", "--cap-lints=allow");
        if let Outcome::Failed(why) = bounded::run(&mut command, LIMIT) {
            return Err(format!("cargo {} of what is to be frozen: {why}", step.join(" ")));
        }
    }
    Ok(())
}

/// The version of the ABI by its header.
fn version_of(header: &str) -> Option<String> {
    let number = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")))?;
        line.trim().parse::<u16>().ok()
    };
    Some(format!("{}.{}", number("OXMPI_ABI_MAJOR")?, number("OXMPI_ABI_MINOR")?))
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn the_header_says_its_version() {
        let header = "#define OXMPI_MAGIC 7\n#define OXMPI_ABI_MAJOR 3\n#define OXMPI_ABI_MINOR 12\n";
        assert_eq!(version_of(header).as_deref(), Some("3.12"));
        assert_eq!(version_of("#define OXMPI_ABI_MAJOR 3\n"), None);
    }
}
