//! The layouts and numbers of btl-ofi against two crates with libfabric's interface, which are fetched into `target/libfabric/crates` and are no part of
//! the workspace: `libfabric-sys`, whose text is of 2017, and `ofi-libfabric-sys`, upstream's, which runs bindgen on the headers of 2.x.
//!
//! A test of btl-ofi writes its table, and `bindings` compares. A crate that does not build here is left out, with the reason.

use crate::bindings::{self, compare};
use std::fs;
use std::path::Path;

const OLD: &str = "libfabric-sys";
const NEW: &str = "ofi-libfabric-sys";

/// Compares the table with both crates. `headers` and `library` are those of 2.x, for the crate that reads headers.
pub fn run(folder: &Path, table: &str, headers: &Path, library: &Path) -> Result<(), String> {
    let folder = folder.join("crates");
    let wanted = format!("{OLD} = \"0.0.2\"\n{NEW} = \"0.2\"\nlibc = \"0.2\"\n");
    let vendor = bindings::fetch(&folder, &[OLD, NEW], &wanted)?;
    let mut compared = 0;
    for (name, text) in [(OLD, old_text(&vendor)), (NEW, new_text(&folder, headers, library))] {
        match text {
            Ok(text) => {
                compare(&folder.join(format!("with-{name}")), name, &text, table)?;
                compared += 1;
            }
            Err(why) => println!("bindings: left out: {name}: {why}"),
        }
    }
    if compared == 0 { Err("neither crate can be used here".into()) } else { Ok(()) }
}

/// The text of the crate of 2017 as one file. It asks for features of a compiler that are gone, and links the library, so the crate itself does not build.
fn old_text(vendor: &Path) -> Result<String, String> {
    let source = vendor.join(OLD).join("src");
    let text = flat(&source, "bindgen/lib.rs")?;
    let link = text.find("#[link(").ok_or("its text is another one than the one that is known")?;
    let end = link + text[link..].find('}').ok_or("its text is cut")? + 1;
    Ok(format!("{}{}", &text[..link], &text[end..]))
}

/// A file with those in it that it includes.
fn flat(source: &Path, name: &str) -> Result<String, String> {
    let path = source.join(name);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut out = String::new();
    for line in text.lines() {
        match line.trim().strip_prefix("include!(\"").and_then(|rest| rest.split('"').next()) {
            Some(inner) => out.push_str(&flat(source, inner)?),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    Ok(out)
}

/// The text that upstream's crate makes of the headers of 2.x, by bindgen, which needs libclang.
fn new_text(folder: &Path, headers: &Path, library: &Path) -> Result<String, String> {
    let project = folder.join("upstream");
    bindings::project(&project, &format!("{NEW} = \"0.2\"\n"))?;
    let libraries = library.parent().ok_or("the library is in no folder")?;
    let pc = format!(
        "Name: libfabric\nDescription: fetched\nVersion: 2.1\nLibs: -L{} -lfabric\nCflags: -I{}\n",
        libraries.display(),
        headers.display()
    );
    bindings::put(&project.join("libfabric.pc"), &pc)?;
    let mut build = bindings::cargo(&project);
    build
        .args(["build", "--quiet"])
        .env("PKG_CONFIG_PATH", &project)
        .env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1");
    bindings::done(&mut build, "building it, which needs libclang, pkg-config and a C compiler")?;
    bindings::made_text(&project, NEW)
}
