//! Texts that a user meets: the launcher's and components' paragraphs, options, parameters, installed pages.
//!
//! Whether a text is plain a person has to judge; here is what such readings found and may not come back: phrases in place of
//! terms that users of other MPI libraries know, and sentences whose subject is a question word.

use crate::{files, none, read, root, short};
use std::path::PathBuf;

/// A phrase, and the term for it.
const TERMS: &[(&str, &str)] = &[
    ("is not never", "is set"),
    ("to what they cannot be", "have invalid values"),
    ("are set to what", "have invalid values"),
    ("the right to run", "a slot is room for one process"),
    ("is said by", "comes from"),
    ("the contrary, which is the default", "the default"),
    ("say before each line whose it is", "tag output with ranks"),
    ("goes with the question", "is sent with the request of a rendezvous"),
    ("its announcement", "its rendezvous request"),
    ("before its receive is known", "eagerly"),
    ("more processes than cores run", "the node is oversubscribed"),
    ("more processes run on a node than it has cores", "the node is oversubscribed"),
    ("turns of progress", "calls of progress"),
    ("on their way out", "deprecated"),
    ("nanoseconds or so", "nanoseconds"),
    ("that is none", "invalid"),
    ("is no network", "is not a network"),
    ("are no ports", "is not a list of ports"),
];

/// Texts of which others are the authors at present, left out of the terms.
const OTHERS: &[&str] = &["btl_verbs_", "osc_rdma_"];

/// Files that are read by users, without the source code.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["mpirun/src/help.txt", "framework/loading/src/help.txt", "README.md", "mca-params/CATALOGUE.md"]
            .iter()
            .map(|file| root().join(file))
            .collect();
    for page in ["mistakes", "mpirun-options", "ompi_info-options", "python", "running-on-several-nodes"] {
        found.push(root().join(format!("docs/{page}.md")));
    }
    let foreign = ["btl-verbs", "osc-rdma", "btl-ugni", "btl-template"];
    found.extend(files(&root().join("components"), "txt").into_iter().filter(|file| {
        file.ends_with("src/help.txt") && !foreign.iter().any(|name| short(file).contains(name))
    }));
    found
}

/// The words of a file as one line, so that a phrase is found across line ends, without table rows of others.
fn words(text: &str) -> String {
    let ours = text.lines().filter(|line| !OTHERS.iter().any(|name| line.contains(name)));
    ours.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn phrases(text: &str) -> Vec<String> {
    let text = words(text).to_lowercase();
    let found = TERMS.iter().filter(|(phrase, _)| text.contains(phrase));
    found.map(|(phrase, term)| format!("{phrase:?}: write {term:?}")).collect()
}

/// Sentences that begin with a question word and are no question.
pub fn openings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for block in text.split("\n\n").flat_map(|block| block.split("\n- ")).flat_map(|block| block.split(" | "))
    {
        let line = block.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in line.split_inclusive(['.', '?']) {
            let plain = sentence.trim_start_matches([' ', '*', '#', '-', '|', '>']);
            let opens = ["Who ", "What ", "Whoever ", "Whatever "].iter().any(|word| plain.starts_with(word));
            // Headings of tables and questions are none.
            if opens && plain.ends_with('.') {
                found.push(format!("a sentence begins with a question word: {plain:?}"));
            }
        }
    }
    found
}

#[test]
fn texts_for_users_have_the_known_terms() {
    let (mut findings, mut read_files) = (Vec::new(), 0);
    for file in pages() {
        let text = read(&file);
        read_files += 1;
        findings.extend(
            phrases(&text).into_iter().chain(openings(&text)).map(|what| format!("{}: {what}", short(&file))),
        );
    }
    assert!(read_files > 12, "{read_files} files");
    // The command line's own words.
    for file in ["mpirun/src/cli/table.rs", "mpirun/src/info/options.rs"] {
        findings.extend(phrases(&read(&root().join(file))).into_iter().map(|what| format!("{file}: {what}")));
    }
    none("texts that are not in plain technical English", findings);
}

#[test]
fn the_search_for_words_finds_them() {
    assert_eq!(phrases("Used where string_min is not\nnever.").len(), 1);
    assert!(phrases("| `btl_verbs_x` | How much goes with its announcement |").is_empty());
    assert_eq!(openings("- **Fine.** It is.\n- **Who connects** has to prove it.").len(), 1);
    assert!(openings("## Who are you?\n\nThe node says what it has.").is_empty());
}

/// A row of the catalogue.
struct Parameter {
    name: String,
    level: u32,
    /// Without the other names of the parameter.
    help: String,
}

fn parameters(catalogue: &str) -> Vec<Parameter> {
    let rows = catalogue.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, _, _, level, _, help] = cells[..] else { panic!("a row of {} cells: {row}", cells.len()) };
        let help = help.split_once(". Also `").map_or(help, |(help, _)| help);
        let level = level.parse().unwrap_or_else(|_| panic!("{name} has the level {level:?}"));
        Parameter { name: name.trim_matches('`').into(), level, help: help.into() }
    })
    .collect()
}

/// The last level of parameters that users set, and how many of those there may be.
const USERS: (u32, usize) = (5, 25);

/// Beginnings of the sentence on when to change a parameter.
const CHANGES: [&str; 5] = ["Raise it", "Lower it", "Set it", "Choose ", "Leave it"];

/// Faults of a help text, which has one sentence on what the parameter does and one on when to change it; the second may be missing where no
/// user sets the parameter.
fn faults(parameter: &Parameter) -> Vec<&'static str> {
    let sentences: Vec<&str> = parameter.help.split(". ").collect();
    let changes = |sentence: &str| CHANGES.iter().any(|opening| sentence.starts_with(opening));
    let opens = |word: &&str| sentences[0].starts_with(*word);
    let mut faults = Vec::new();
    let mut note = |is_so: bool, fault| faults.extend(is_so.then_some(fault));
    note(sentences[0].split_whitespace().count() < 4, "says nothing in words");
    note(parameter.help.ends_with('.'), "ends with a full stop");
    note(sentences.len() > 2, "has more than two sentences");
    note(
        sentences.get(1).is_some_and(|s| !changes(s)),
        "does not say in its second sentence when to change it",
    );
    note(
        parameter.level <= USERS.0 && sentences.len() < 2,
        "is for users and does not say when to change it",
    );
    note(["Who ", "What ", "Whatever "].iter().any(opens), "opens with a question word");
    faults
}

/// Few parameters are for users, and all say what they do and when to change them.
#[test]
fn parameters_are_explained_and_few_are_for_users() {
    let all = parameters(&read(&root().join("mca-params/CATALOGUE.md")));
    assert!(all.len() > 150, "{}", all.len());
    let bad =
        all.iter().flat_map(|p| faults(p).into_iter().map(|fault| format!("{} {fault}: {}", p.name, p.help)));
    none("help texts of parameters", bad.collect());
    let users: Vec<&str> = all.iter().filter(|p| p.level <= USERS.0).map(|p| &*p.name).collect();
    assert!(users.len() <= USERS.1, "{} parameters are for users: {users:?}", users.len());
    for due in ["btl", "pml", "coll", "osc", "btl_tcp_if_include", "btl_shm_eager_limit", "runtime_num_cris"]
    {
        assert!(users.contains(&due), "{due} is not for users: {users:?}");
    }
}

#[test]
fn faults_of_help_texts_are_found() {
    let row = |level: u32, help: &str| {
        let found = parameters(&format!("| `a` | `1` | int | {level} | local | {help}. Also `b` |\n"));
        faults(&found[0]).len()
    };
    assert_eq!(row(5, "Size of a queue; 0: none. Raise it where senders wait"), 0);
    assert_eq!(row(6, "Size of a queue; 0: none"), 0);
    assert_eq!(row(5, "Size of a queue; 0: none"), 1, "no second sentence");
    assert_eq!(row(9, "Size of a queue. 0: none. Raise it where senders wait"), 2, "three sentences");
    assert_eq!(row(9, "What the queue holds"), 1, "a question word");
    assert_eq!(row(9, "Largest size"), 1, "too short");
}
