//! The layouts and numbers of btl-ofi against two crates with libfabric's interface, which are fetched into `target/libfabric/crates` and are no part of
//! the workspace: `libfabric-sys`, whose text is of 2017, and `ofi-libfabric-sys`, upstream's, which runs bindgen on the headers of 2.x.
//!
//! A test of btl-ofi writes its table. For each crate a program with the crate's text in it compares what it knows of that, and says what it does not. A crate that
//! does not build here is left out, with the reason.

use crate::bounded::{self, Outcome};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(15 * 60);
const OLD: &str = "libfabric-sys";
const NEW: &str = "ofi-libfabric-sys";
const MANIFEST: &str = "[package]\nname = \"layouts\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[lib]\npath = \"none.rs\"\n";

/// Compares the table with both crates. `headers` and `library` are those of 2.x, for the crate that reads headers.
pub fn run(folder: &Path, table: &str, headers: &Path, library: &Path) -> Result<(), String> {
    let folder = folder.join("crates");
    let vendor = fetch(&folder)?;
    let mut compared = 0;
    for (name, text) in [(OLD, old_text(&vendor)), (NEW, new_text(&folder, headers, library))] {
        match text {
            Ok(text) => {
                compare(&folder.join(format!("with-{name}")), name, &text, table)?;
                compared += 1;
            }
            Err(why) => println!("libfabric: left out: {name}: {why}"),
        }
    }
    if compared == 0 { Err("neither crate can be used here".into()) } else { Ok(()) }
}

/// The sources of both, in a folder of their names.
fn fetch(folder: &Path) -> Result<PathBuf, String> {
    let (project, vendor) = (folder.join("fetched"), folder.join("vendor"));
    put(&project.join("none.rs"), "")?;
    let wanted = format!("{MANIFEST}[dependencies]\n{OLD} = \"0.0.2\"\n{NEW} = \"0.2\"\nlibc = \"0.2\"\n");
    put(&project.join("Cargo.toml"), &wanted)?;
    if !vendor.join(NEW).is_dir() || !vendor.join(OLD).is_dir() {
        let mut fetch = cargo(&project);
        done(fetch.args(["vendor", "--quiet"]).arg(&vendor), "fetching the crates")?;
    }
    Ok(vendor)
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
    put(&project.join("none.rs"), "")?;
    put(&project.join("Cargo.toml"), &format!("{MANIFEST}[dependencies]\n{NEW} = \"0.2\"\n"))?;
    let libraries = library.parent().ok_or("the library is in no folder")?;
    let pc = format!(
        "Name: libfabric\nDescription: fetched\nVersion: 2.1\nLibs: -L{} -lfabric\nCflags: -I{}\n",
        libraries.display(),
        headers.display()
    );
    put(&project.join("libfabric.pc"), &pc)?;
    let mut build = cargo(&project);
    build
        .args(["build", "--quiet"])
        .env("PKG_CONFIG_PATH", &project)
        .env("PKG_CONFIG_ALLOW_SYSTEM_CFLAGS", "1");
    done(&mut build, "building it, which needs libclang, pkg-config and a C compiler")?;
    let pattern = format!("{}/target/debug/build/{NEW}-*/out/bindings.rs", project.display());
    let newest = glob::glob(&pattern).ok().and_then(|all| {
        all.flatten().max_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok())
    });
    let path = newest.ok_or("it has left no text")?;
    fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Compiles and runs a program with the crate's text in it, which ends well if all that it knows of the table is the same.
fn compare(project: &Path, name: &str, text: &str, table: &str) -> Result<(), String> {
    let known = Known::of(text);
    let (mut checks, mut unknown, mut count) = (String::new(), Vec::new(), 0);
    for line in table.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match known.expression(&words) {
            Some((theirs, ours)) => {
                count += 1;
                let _ = writeln!(checks, "    check({line:?}, ({theirs}) as u64, {ours});");
            }
            None => unknown.push(words.get(1..words.len() - 1).unwrap_or_default().join(".")),
        }
    }
    let program = format!(
        "#[allow(warnings)]\nmod theirs {{\n{text}\n}}\n\
         fn check(line: &str, theirs: u64, ours: u64) {{\n    if theirs != ours {{\n        println!(\"{{line}}: {{theirs}} there\");\n        std::process::exit(1);\n    }}\n}}\n\
         #[allow(clippy::all)]\nfn main() {{\n{checks}}}\n"
    );
    put(&project.join("main.rs"), &program)?;
    let manifest =
        MANIFEST.replace("[lib]\npath = \"none.rs\"", "[[bin]]\nname = \"layouts\"\npath = \"main.rs\"");
    put(&project.join("Cargo.toml"), &format!("{manifest}[dependencies]\nlibc = \"0.2\"\n"))?;
    done(cargo(project).args(["run", "--quiet"]), &format!("comparing with {name}"))?;
    println!(
        "libfabric: {name}: {count} places and numbers are the same; it does not know {}",
        or_none(&unknown)
    );
    Ok(())
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none of ours less".into() } else { names.join(", ") }
}

/// The structures with their fields, and the numbers, that a text declares.
struct Known {
    fields: HashMap<String, BTreeSet<String>>,
    /// Paths of numbers by their names in C.
    numbers: HashMap<String, String>,
}

impl Known {
    fn of(text: &str) -> Known {
        let (mut fields, mut numbers) = (HashMap::<String, BTreeSet<String>>::new(), HashMap::new());
        // The structure or enumeration that the lines are in.
        let mut inside: Option<(bool, String)> = None;
        for line in text.lines().map(str::trim) {
            let name = |rest: &str| rest.split([' ', '{', '(', ';']).next().unwrap_or_default().to_owned();
            if let Some(rest) = line.strip_prefix("pub struct ").or(line.strip_prefix("pub union ")) {
                inside = Some((true, name(rest)));
            } else if let Some(rest) = line.strip_prefix("pub enum ") {
                inside = Some((false, name(rest)));
            } else if line == "}" {
                inside = None;
            } else if let Some((constant, _)) =
                line.strip_prefix("pub const ").and_then(|l| l.split_once(':'))
            {
                // As bindgen names a member of an enumeration: with its name in front.
                let short = constant.find("FI_").map_or(constant, |at| &constant[at..]);
                numbers.insert(short.to_owned(), constant.to_owned());
            } else if let Some((is_struct, of)) = &inside {
                if let Some((field, _)) =
                    line.strip_prefix("pub ").filter(|_| *is_struct).and_then(|l| l.split_once(':'))
                {
                    fields.entry(of.clone()).or_default().insert(field.to_owned());
                } else if let Some((member, _)) = line.split_once(" = ").filter(|_| !is_struct) {
                    numbers.insert(member.to_owned(), format!("{of}::{member}"));
                }
            }
        }
        Known { fields, numbers }
    }

    /// A line of the table in Rust, over there and here. `None`: it is not known there.
    fn expression(&self, words: &[&str]) -> Option<(String, u64)> {
        let number = |text: &str| text.parse().ok();
        match words {
            ["place", of, field, at] => {
                let is_there = self.fields.get(*of)?.contains(*field);
                is_there.then_some((format!("core::mem::offset_of!(theirs::{of}, {field})"), number(at)?))
            }
            ["number", "sizeof(struct", of, value] => {
                let of = of.trim_end_matches(')');
                let is_there = self.fields.contains_key(of);
                is_there.then_some((format!("core::mem::size_of::<theirs::{of}>()"), number(value)?))
            }
            ["number", name, value] => {
                Some((format!("theirs::{}", self.numbers.get(*name)?), number(value)?))
            }
            _ => None,
        }
    }
}

fn cargo(project: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Of the cargo that runs this.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        cargo.env_remove(name);
    }
    cargo.current_dir(project);
    cargo
}

fn put(path: &Path, text: &str) -> Result<(), String> {
    let there = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    there.map_err(|e| format!("{}: {e}", path.display()))
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    println!("libfabric: {what}");
    match bounded::run(command, LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{what}: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_in_both_styles() {
        let known = Known::of(
            "pub const FI_MSG: c_uint = 2;\npub const fi_wait_obj_FI_WAIT_FD: fi_wait_obj = 3;\n\
             pub struct fi_ops\n{\n\tpub size: usize,\n}\npub enum fi_av_type\n{\n\tFI_AV_MAP = 1,\n}\n",
        );
        let of =
            |line: &str| known.expression(&line.split(' ').collect::<Vec<_>>()).map(|(theirs, _)| theirs);
        assert_eq!(of("number FI_MSG 2").as_deref(), Some("theirs::FI_MSG"));
        assert_eq!(of("number FI_WAIT_FD 3").as_deref(), Some("theirs::fi_wait_obj_FI_WAIT_FD"));
        assert_eq!(of("number FI_AV_MAP 1").as_deref(), Some("theirs::fi_av_type::FI_AV_MAP"));
        assert_eq!(of("place fi_ops size 0").as_deref(), Some("core::mem::offset_of!(theirs::fi_ops, size)"));
        assert_eq!(of("place fi_ops close 8"), None);
        assert_eq!(of("number FI_NONE 0"), None);
        assert_eq!(
            of("number sizeof(struct fi_ops) 8").as_deref(),
            Some("core::mem::size_of::<theirs::fi_ops>()")
        );
    }
}
