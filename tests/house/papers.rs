//! Checks that everything that the documents name exists.

use crate::{files, metadata, none, read, root, short};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `a/{b,c}/d` is `a/b/d` and `a/c/d`.
fn expand(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let Some((list, after)) = rest.split_once('}') else { return vec![text.to_owned()] };
    list.split(',').flat_map(|word| expand(&format!("{before}{}{after}", word.trim()))).collect()
}

/// Texts between single backticks that look like paths inside this repository.
fn paths(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for text in line.split('`').skip(1).step_by(2) {
            let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},".contains(c));
            let looks = text.ends_with(".md")
                || text.ends_with(".toml")
                || text.contains('/') && (text.ends_with('/') || file_like(text) || in_a_room(text));
            // Made by a build, or a path of the machine.
            let elsewhere = text.starts_with('/')
                || text.starts_with("target")
                || text.starts_with("etc/")
                || text.starts_with("lib/")
                || text.starts_with("bin/")
                || text.starts_with("share/");
            let library = text.contains(".so") || text.contains(',') && !text.contains('{');
            if plain && looks && !elsewhere && !library {
                found.extend(expand(text));
            }
        }
    }
    found
}

/// The last part has an ending.
fn file_like(text: &str) -> bool {
    text.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// The first part is a folder of the root.
fn in_a_room(text: &str) -> bool {
    text.split('/').next().is_some_and(|room| !room.is_empty() && root().join(room).is_dir())
}

/// A document names a path from the root, from a room that everybody knows, or from its own folder.
fn exists(path: &str, document: &Path) -> bool {
    let own = document.parent().unwrap_or(root());
    let rooms = ["", "framework", "components"].map(|r| root().join(r));
    let mut places: Vec<PathBuf> = rooms.to_vec();
    places.extend([own.to_owned(), own.join("src"), own.join("tests")]);
    places.iter().any(|place| place.join(path.trim_end_matches('/')).exists())
}

#[test]
fn paths_in_documents_exist() {
    let mut findings = Vec::new();
    let mut seen = 0;
    for document in files(root(), ".md") {
        // The draft of the contracts speaks about what is being built.
        if document.ends_with("INDEX.md") {
            continue;
        }
        for path in paths(&read(&document)) {
            seen += 1;
            if !exists(&path, &document) {
                findings.push(format!("{}: {path}", short(&document)));
            }
        }
    }
    assert!(seen > 20, "the search for paths found only {seen}");
    none("paths in documents that are not there", findings);
}

#[test]
fn the_search_for_paths_finds_them() {
    let text =
        "see `a/b.rs`, `x`, `README.md`, `docs/{a,b}/c`, `--mca btl a,b`, `/dev/shm`\n```\n`in/code`\n```";
    assert_eq!(paths(text), ["a/b.rs", "README.md", "docs/a/c", "docs/b/c"]);
    assert!(exists("README.md", &root().join("README.md")) && !exists("no/such", &root().join("README.md")));
}

/// Texts between single backticks in prose: whole documents, and comments of sources.
fn names_in_prose(path: &Path) -> Vec<String> {
    let text = read(path);
    let is_source = path.extension().is_some_and(|ending| ending == "rs");
    let lines = text.lines().filter_map(|line| match is_source {
        true => line.split_once("//").map(|(_, comment)| comment),
        false => Some(line),
    });
    let mut fenced = false;
    let prose = lines.filter(move |line| {
        let fence = line.trim_start_matches(['/', '!', ' ']).starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    prose.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// A file's name alone: `eager.rs`.
fn is_bare_file(text: &str) -> bool {
    text.strip_suffix(".rs").is_some_and(|stem| {
        !stem.is_empty() && stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    })
}

/// A name in capitals of several words: `READ_ONLY`.
fn is_constant(text: &str) -> bool {
    text.contains('_') && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Beginnings of names that headers of others define, and of patterns.
const FOREIGN: [&str; 6] = ["IBV_", "IORING_", "PROCMAP_", "UFFD", "MPI_X", "PMPI_X"];

/// Bare file names exist somewhere, and names in capitals occur in some source.
#[test]
fn names_in_prose_exist() {
    let sources: Vec<PathBuf> = ["rs", "c", "h", "py", "toml", "txt", "sh"]
        .iter()
        .flat_map(|ending| files(root(), &format!(".{ending}")))
        .collect();
    let names: BTreeSet<String> =
        sources.iter().filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned())).collect();
    let mut words = BTreeSet::new();
    for path in &sources {
        let text = read(path);
        // A comment is no proof of itself.
        let code = text.lines().map(|line| line.trim_start()).filter(|line| !line.starts_with("//"));
        let parts = code.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
        words.extend(parts.filter(|word| is_constant(word)).map(str::to_owned));
    }
    let prose = files(root(), ".md").into_iter().chain(files(root(), ".rs"));
    let mut findings = Vec::new();
    for path in prose.filter(|path| !path.ends_with("INDEX.md") && !path.ends_with("house/papers.rs")) {
        for text in names_in_prose(&path) {
            let is_lost = is_bare_file(&text) && !names.contains(&text)
                || is_constant(&text)
                    && !words.contains(&text)
                    && !FOREIGN.iter().any(|start| text.starts_with(start));
            if is_lost {
                findings.push(format!("{}: {text}", short(&path)));
            }
        }
    }
    none("names in prose that are not there", findings);
}

#[test]
fn the_search_for_names_finds_them() {
    assert!(is_bare_file("eager.rs") && !is_bare_file("order/fork.rs") && !is_bare_file("Eager.rs"));
    assert!(is_constant("NO_SUCH_NAME") && !is_constant("MPI_Send") && !is_constant("FIN"));
}

/// `cargo xtask WORD` in a document is a command of xtask, and `target/oxmpi/bin/NAME` is installed.
#[test]
fn commands_in_documents_exist() {
    let xtask = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--package", "xtask", "--"]).args(arguments).current_dir(root());
        command.output().expect("cargo runs")
    };
    let install = read(&root().join("xtask/src/install.rs"));
    let mut words = std::collections::BTreeSet::new();
    let mut programs = std::collections::BTreeSet::new();
    let mut documents = files(root(), ".md");
    documents.push(root().join(".ci/run"));
    for text in documents.iter().map(|d| read(d)) {
        let word_after = |marker: &str| {
            let rests = text.split(marker).skip(1).map(str::to_owned);
            let word = |rest: String| {
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '+').collect()
            };
            rests
                .map(word)
                .filter(|w: &String| w.starts_with(|c: char| c.is_ascii_lowercase()))
                .collect::<Vec<String>>()
        };
        words.extend(word_after("cargo xtask "));
        programs.extend(word_after("target/oxmpi/bin/"));
    }
    assert!(words.contains("demo") && words.contains("test") && programs.contains("mpirun"));
    let mut findings = Vec::new();
    for word in words {
        if !xtask(&[&word, "--help"]).status.success() {
            findings.push(format!("cargo xtask {word}"));
        }
    }
    for program in programs {
        if !install.contains(&format!("\"{program}\"")) && !install.contains(&format!("\"bin/{program}\"")) {
            findings.push(format!("target/oxmpi/bin/{program}"));
        }
    }
    none("commands in documents that are not there", findings);
}

/// The ABI cannot change unnoticed: whoever changes it reads docs/abi.md and puts the new hash there.
#[test]
fn the_abi_is_the_one_that_is_written_down() {
    let source = std::fs::read(root().join("framework/mca/src/abi.rs")).expect("the ABI's source");
    let hash: String = Sha256::digest(&source).iter().map(|byte| format!("{byte:02x}")).collect();
    let document = read(&root().join("docs/abi.md"));
    assert!(
        document.contains(&hash),
        "framework/mca/src/abi.rs has hash {hash}, which is not in docs/abi.md: see its rules on versions, then write it there"
    );
}

#[test]
fn generated_files_are_fresh() {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "xtask", "--", "generate", "--check"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_changelog_knows_the_version() {
    let version =
        metadata().packages.iter().find(|p| p.name == "oxmpi-mpi").expect("oxmpi-mpi").version.to_string();
    assert!(read(&root().join("CHANGELOG.md")).contains(&format!("## {version}")), "no section {version}");
}

/// Words between quotation marks behind `name`, up to `end`.
fn quoted<'a>(text: &'a str, name: &str, end: char) -> Vec<&'a str> {
    let from = text.find(name).unwrap_or_else(|| panic!("no {name}")) + name.len();
    let list = &text[from..from + text[from..].find(end).expect("an end of the list")];
    list.split('"').skip(1).step_by(2).flat_map(str::split_whitespace).collect()
}

/// Each folder of MPICH's suite has a row in the table of results, or a reason why it is not run.
#[test]
fn the_page_of_conformance_names_all_folders() {
    let driver = read(&root().join("tests/conformance/mpich_suite.py"));
    let page = read(&root().join("docs/CONFORMANCE.md"));
    let from = page.find("## MPICH's test suite").expect("the suite has a section");
    let section = page[from + 3..].split("\n## ").next().unwrap_or_default();
    let (run, out) = (quoted(&driver, "\nDIRS = (", ')'), quoted(&driver, "\nSUBDIRS_OUT = {", '}'));
    assert!(run.len() > 15 && out.len() > 6, "{run:?}, {out:?}");
    let reasons: String = section.lines().filter(|line| line.starts_with("- `")).collect();
    let missing = run.iter().chain(&out).filter(|name| {
        let row = format!("| {name} | ");
        !section.lines().any(|line| line.starts_with(&row)) && !reasons.contains(&format!("`{name}`"))
    });
    none("folders without a result or a reason", missing.map(|name| (*name).to_owned()).collect());
}
