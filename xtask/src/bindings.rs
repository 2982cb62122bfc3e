//! `cargo xtask bindings`: layouts and numbers that are declared here against crates that have the same interface, which are fetched into `target` and are no part
//! of the workspace.
//!
//! A test writes the table of what is declared. For each crate a program with the crate's text in it compares what it knows of that, and says what it does not.
//! `ibverbs.rs` and `libfabric/crates.rs` get texts and tables.

use crate::bounded::{self, Outcome};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(15 * 60);
const MANIFEST: &str = "[package]\nname = \"layouts\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[lib]\npath = \"none.rs\"\n";

/// Makes a package without code, with dependencies: lines of its manifest.
pub fn project(folder: &Path, dependencies: &str) -> Result<(), String> {
    put(&folder.join("none.rs"), "")?;
    put(&folder.join("Cargo.toml"), &format!("{MANIFEST}[dependencies]\n{dependencies}"))
}

/// The sources of the crates `names` and of all that they depend on, each in a folder of its name below the one that is returned.
pub fn fetch(folder: &Path, names: &[&str], dependencies: &str) -> Result<PathBuf, String> {
    let (fetched, vendor) = (folder.join("fetched"), folder.join("vendor"));
    project(&fetched, dependencies)?;
    if !names.iter().all(|name| vendor.join(name).is_dir()) {
        done(cargo(&fetched).args(["vendor", "--quiet"]).arg(&vendor), "fetching the crates")?;
    }
    Ok(vendor)
}

/// The text that the build script of crate `name` made when `project` was built.
pub fn made_text(project: &Path, name: &str) -> Result<String, String> {
    let pattern = format!("{}/target/debug/build/{name}-*/out/bindings.rs", project.display());
    let newest = glob::glob(&pattern).ok().and_then(|all| {
        all.flatten().max_by_key(|path| fs::metadata(path).and_then(|meta| meta.modified()).ok())
    });
    let path = newest.ok_or("it has left no text")?;
    fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Compiles and runs a program with the crate's text in it, which ends well if all that it knows of the table is the same.
pub fn compare(project: &Path, name: &str, text: &str, table: &str) -> Result<(), String> {
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
        "bindings: {name}: {count} places and numbers are the same; it does not know {}",
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

/// The item that a line is in.
enum Item {
    Fields(String),
    /// Of an enumeration.
    Members(String),
    /// Constants of a module, as bindgen has some enumerations.
    Module(String),
    /// Constants of a type of one field, as it has bits.
    Bits(String),
}

impl Item {
    /// The item that begins with a line, if one does.
    fn of(line: &str) -> Option<Item> {
        let of = |begin| {
            let rest: &str = line.strip_prefix(begin)?;
            rest.split([' ', '{', '(', ';']).next().map(str::to_owned)
        };
        let fields = of("pub struct ").or_else(|| of("pub union ")).map(Item::Fields);
        let numbers = || of("pub enum ").map(Item::Members).or_else(|| of("pub mod ").map(Item::Module));
        fields.or_else(numbers).or_else(|| of("impl ").map(Item::Bits))
    }
}

impl Known {
    fn of(text: &str) -> Known {
        let mut known = Known { fields: HashMap::new(), numbers: HashMap::new() };
        let mut inside = None;
        for line in text.lines().map(str::trim) {
            if let Some(item) = Item::of(line) {
                inside = Some(item);
            } else if line == "}" {
                inside = None;
            } else {
                known.add(line, inside.as_ref());
            }
        }
        known
    }

    /// Adds the field or number that a line declares, if it declares one.
    fn add(&mut self, line: &str, inside: Option<&Item>) {
        let constant = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(':'));
        match (constant, inside) {
            (Some((name, _)), Some(Item::Module(of))) => {
                self.numbers.insert(name.to_owned(), format!("{of}::{name}"));
            }
            (Some((name, _)), Some(Item::Bits(of))) => {
                self.numbers.insert(name.to_owned(), format!("{of}::{name}.0"));
            }
            (Some((name, _)), _) => {
                // As bindgen names a member of an enumeration: with its name in front.
                let short = name.find("FI_").map_or(name, |at| &name[at..]);
                self.numbers.insert(short.to_owned(), name.to_owned());
            }
            (None, Some(Item::Fields(of))) => {
                if let Some((field, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(':')) {
                    self.fields.entry(of.clone()).or_default().insert(field.to_owned());
                }
            }
            (None, Some(Item::Members(of))) => {
                if let Some((member, _)) = line.split_once(" = ") {
                    self.numbers.insert(member.to_owned(), format!("{of}::{member}"));
                }
            }
            _ => {}
        }
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

/// Cargo in a project of its own, with nothing of the cargo that runs this.
pub fn cargo(project: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"] {
        cargo.env_remove(name);
    }
    cargo.current_dir(project);
    cargo
}

/// Writes a file, in a folder that is made if missing.
pub fn put(path: &Path, text: &str) -> Result<(), String> {
    let there = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    there.map_err(|e| format!("{}: {e}", path.display()))
}

/// Runs a command to its end, which is an error if it fails.
pub fn done(command: &mut Command, what: &str) -> Result<(), String> {
    println!("bindings: {what}");
    match bounded::run(command, LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{what}: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_in_each_style() {
        let known = Known::of(
            "pub const FI_MSG: c_uint = 2;\npub const fi_wait_obj_FI_WAIT_FD: fi_wait_obj = 3;\n\
             pub struct fi_ops\n{\n\tpub size: usize,\n}\npub enum fi_av_type\n{\n\tFI_AV_MAP = 1,\n}\n\
             pub mod ibv_qp_type {\n    pub type Type = u32;\n    pub const IBV_QPT_RC: Type = 2;\n}\n\
             impl ibv_wc_flags {\n    pub const IBV_WC_GRH: ibv_wc_flags = ibv_wc_flags(1);\n}\n",
        );
        let of =
            |line: &str| known.expression(&line.split(' ').collect::<Vec<_>>()).map(|(theirs, _)| theirs);
        assert_eq!(of("number FI_MSG 2").as_deref(), Some("theirs::FI_MSG"));
        assert_eq!(of("number FI_WAIT_FD 3").as_deref(), Some("theirs::fi_wait_obj_FI_WAIT_FD"));
        assert_eq!(of("number FI_AV_MAP 1").as_deref(), Some("theirs::fi_av_type::FI_AV_MAP"));
        assert_eq!(of("number IBV_QPT_RC 2").as_deref(), Some("theirs::ibv_qp_type::IBV_QPT_RC"));
        assert_eq!(of("number IBV_WC_GRH 1").as_deref(), Some("theirs::ibv_wc_flags::IBV_WC_GRH.0"));
        assert_eq!(of("place fi_ops size 0").as_deref(), Some("core::mem::offset_of!(theirs::fi_ops, size)"));
        assert_eq!(of("place fi_ops close 8"), None);
        assert_eq!(of("number FI_NONE 0"), None);
        assert_eq!(
            of("number sizeof(struct fi_ops) 8").as_deref(),
            Some("core::mem::size_of::<theirs::fi_ops>()")
        );
    }
}
