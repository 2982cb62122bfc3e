//! The layouts and numbers of `devices/verbs/abi` against the crate `ibverbs`, whose interface is what bindgen makes of the headers of rdma-core that come with
//! it. It is fetched into `target/ibverbs`, and is no part of the workspace.
//!
//! Its build script configures and builds rdma-core, for the headers that this puts together. That wants other libraries' headers and minutes, so the headers are put together
//! here and `true` is run in cmake's place. The rest of the script runs as it is.

use crate::bindings::{self, compare};
use crate::workspace::Workspace;
use std::fs;
use std::path::Path;

const SAFE: &str = "ibverbs";
/// Its interface in C, which it hands on.
const RAW: &str = "ibverbs-sys";

/// Compares the table that the test of `oxmpi-verbs-abi` writes.
pub fn run(workspace: &Workspace) -> Result<(), String> {
    let folder = workspace.target.join("ibverbs");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let path = folder.join("table");
    let mut test = workspace.cargo(&["test", "--quiet", "-p", "oxmpi-verbs-abi", "--test", "headers"]);
    bindings::done(test.env("OXMPI_TEST_VERBS_TABLE", &path), "the table of layouts")?;
    let table = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    compare(&folder.join("with"), SAFE, &text(&folder)?, &table)
}

/// The crate's text: what bindgen makes, and what it has by hand.
fn text(folder: &Path) -> Result<String, String> {
    let wanted = format!("{SAFE} = {{ version = \"0.9\", default-features = false }}\n");
    let vendor = bindings::fetch(folder, &[SAFE, RAW], &wanted)?;
    let core = vendor.join(RAW).join("vendor/rdma-core");
    let headers = folder.join("headers");
    for part in ["libibverbs", "kernel-headers/rdma"] {
        publish(&core.join(part), &headers.join("infiniband"))?;
    }
    let project = folder.join("built");
    bindings::project(&project, &wanted)?;
    let includes = format!("-I{} -I{}", headers.display(), core.join("kernel-headers").display());
    let mut build = bindings::cargo(&project);
    build.args(["build", "--quiet"]).env("CMAKE", "true").env("BINDGEN_EXTRA_CLANG_ARGS", includes);
    bindings::done(&mut build, "building ibverbs, which needs libclang")?;
    let own = vendor.join(RAW).join("src/lib.rs");
    let own = fs::read_to_string(&own).map_err(|e| format!("{}: {e}", own.display()))?;
    let by_hand = own.lines().filter(|line| !line.starts_with("#![") && !line.starts_with("include!("));
    Ok(by_hand.fold(bindings::made_text(&project, RAW)?, |text, line| text + line + "\n"))
}

/// Copies the headers of a folder.
fn publish(from: &Path, to: &Path) -> Result<(), String> {
    let text = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to).map_err(text)?;
    for file in fs::read_dir(from).map_err(text)? {
        let path = file.map_err(text)?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|e| e == "h")) {
            fs::copy(&path, to.join(name)).map_err(text)?;
        }
    }
    Ok(())
}
