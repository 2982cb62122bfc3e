//! Sentences in comments and documents name their subjects: none opens with "Who" or "What", unless it is a question.

use crate::words::openings;
use crate::{files, none, read, root, short};
use std::path::Path;

/// Folders with sources and documents.
const FOLDERS: &[&str] = &[
    "bench",
    "components",
    "docs",
    "endpoints",
    "fortran",
    "framework",
    "fuzz",
    "mpi",
    "mpirun",
    "tests",
    "xtask",
];

/// Made from texts of others.
const GENERATED: &[&str] = &["docs/CONFORMANCE.md"];

/// Comments of a source, each block as one text; a comment behind code is a block of its own.
fn comments(source: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in source.lines().map(str::trim) {
        let text = ["///", "//!", "//", "/*", "*"].iter().find_map(|mark| line.strip_prefix(mark));
        match text {
            Some(text) if !text.trim().is_empty() => {
                if let Some(block) = blocks.last_mut() {
                    block.push_str(text.trim());
                    block.push('\n');
                }
            }
            _ => {
                blocks.push(String::new());
                if let Some((_, behind)) = line.split_once(" // ") {
                    blocks.push(behind.to_owned());
                    blocks.push(String::new());
                }
            }
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// A document without its blocks of code.
fn prose(document: &str) -> String {
    document.split("```").step_by(2).collect::<Vec<_>>().join("\n\n")
}

fn findings(file: &Path) -> Vec<String> {
    let text = read(file);
    let is_document = file.extension().is_some_and(|e| e == "md");
    let texts = if is_document { vec![prose(&text)] } else { comments(&text) };
    let found = texts.iter().flat_map(|text| openings(text));
    found.map(|what| format!("{}: {what}", short(file))).collect()
}

#[test]
fn sentences_name_their_subjects() {
    let (mut wrong, mut looked_at) = (Vec::new(), 0);
    let folders = FOLDERS.iter().map(|folder| root().join(folder));
    let mut all: Vec<_> = folders
        .flat_map(|folder| [".rs", ".c", ".h", ".md"].into_iter().flat_map(move |e| files(&folder, e)))
        .collect();
    all.extend(["README.md", "CHANGELOG.md"].map(|name| root().join(name)));
    for file in all.iter().filter(|file| !GENERATED.contains(&short(file).as_str())) {
        looked_at += 1;
        wrong.extend(findings(file));
    }
    assert!(looked_at > 500, "{looked_at} files");
    none("sentences that open with a question word", wrong);
}

#[test]
fn the_search_for_openings_finds_them() {
    // In two pieces, since this file is looked at, too.
    let source = "/// What is kept.\nfn f() {} /".to_owned()
        + "/ Who comes goes.\n\n// A list\n// of two. What else?\n";
    assert_eq!(comments(&source).iter().flat_map(|text| openings(text)).count(), 2);
    assert_eq!(openings(&prose("A.\n\n```\n# What it is.\n```\n\nWhat is this.\n")).len(), 1);
}
