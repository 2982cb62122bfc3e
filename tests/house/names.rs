//! One spelling everywhere: from the name of a component's folder everything else follows.

use crate::{files, folder, metadata, none, read, root, short};
use cargo_metadata::CrateType;

/// A folder right under `components/`; what lies deeper belongs to a component and is none.
fn is_component(folder: &str) -> bool {
    folder.strip_prefix("components/").is_some_and(|name| !name.contains('/'))
}

#[test]
fn everything_of_a_component_follows_from_its_folder() {
    let mut findings = Vec::new();
    let components: Vec<_> = metadata().packages.iter().filter(|p| is_component(&folder(p))).collect();
    assert!(!components.is_empty());
    for package in components {
        let folder = folder(package);
        let name = folder.trim_start_matches("components/");
        let mut wrong = |what: String| findings.push(format!("{folder}: {what}"));
        if package.name != name {
            wrong(format!("the package is called {}", package.name));
        }
        let Some((framework, component)) = name.split_once('-') else {
            wrong("is not called <framework>-<name>".into());
            continue;
        };
        if !root().join("framework").join(framework).is_dir() {
            wrong(format!("there is no framework {framework}"));
        }
        let library = package.targets.iter().find(|t| t.is_lib() || t.is_cdylib());
        match library {
            Some(target) => {
                if target.name != name.replace('-', "_") {
                    wrong(format!("the library is called {}", target.name));
                }
                if !(target.crate_types.contains(&CrateType::CDyLib)
                    && target.crate_types.contains(&CrateType::RLib))
                {
                    wrong("is not built both as a file and for linking in (cdylib, rlib)".into());
                }
            }
            None => wrong("has no library".into()),
        }
        // The macro call, blanks aside.
        let source = read(&root().join(&folder).join("src/lib.rs"));
        let squeezed: String = source.split_whitespace().collect();
        for needed in
            [format!("symbol:oxmpi_component_{framework}_{component},"), format!("name:\"{component}\"")]
        {
            if !squeezed.contains(&needed) {
                wrong(format!("src/lib.rs has no {needed}"));
            }
        }
        // By its name or by the constant of its contract.
        let named = [format!("framework:\"{framework}\""), format!("framework:oxmpi_{framework}::FRAMEWORK")];
        if !named.iter().any(|n| squeezed.contains(n)) {
            wrong(format!("src/lib.rs does not say that it is of {framework}"));
        }
        for file in ["README.md", "src/component.rs", "src/params.rs", "src/help.txt"] {
            if !root().join(&folder).join(file).is_file() {
                wrong(format!("has no {file}"));
            }
        }
    }
    none("components whose parts do not follow from their folder", findings);
}

#[test]
fn crates_outside_components_carry_the_prefix() {
    let findings = metadata().packages.iter().filter(|p| {
        let folder = folder(p);
        // Components of tests are named as those of the library.
        let component = is_component(&folder) || folder.starts_with("tests/plugins/");
        !component && folder != "xtask" && !p.name.starts_with("oxmpi-")
    });
    none("packages without the prefix oxmpi-", findings.map(|p| p.name.to_string()).collect());
}

#[test]
fn every_crate_says_what_it_is() {
    let findings = metadata().packages.iter().map(folder).filter(|folder| {
        // The room of whole-job tests is explained where its programs are.
        !root().join(folder).join("README.md").is_file()
    });
    none("crates without a README.md", findings.collect());
}

/// System calls stand in one file of a component, `sys.rs`.
#[test]
fn system_calls_of_components_are_in_one_place() {
    let mut findings = Vec::new();
    for path in files(&root().join("components"), ".rs") {
        let inside_source = path.components().any(|c| c.as_os_str() == "src");
        let tests = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"));
        if !inside_source || tests || path.ends_with("sys.rs") {
            continue;
        }
        let text = read(&path);
        let product = text.split("\nmod tests").next().unwrap_or("");
        for (number, line) in product.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            // Names of errors and descriptors are not calls.
            let types = code.contains("Errno") || code.contains("rustix::fd::");
            if (code.contains("rustix::") || code.contains("libc::")) && !types {
                findings.push(format!("{}:{}: {}", short(&path), number + 1, line.trim()));
            }
        }
    }
    none("system calls outside sys.rs", findings);
}

/// Question words, prepositions, adverbs, pronouns and plain adjectives: alone they name no type and no file.
const NO_NAMES: &str = "about after again ahead also and any apart around at away before behind below beside both down each \
    early elsewhere exact far for from further here how into large late later many near nearest of older \
    on other others outside own plain small there thing through together unable up usual varying via way \
    ways what which whole whose why without";

/// The type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ')?.1,
        None => code,
    };
    let name = ["struct ", "enum ", "trait ", "union "].iter().find_map(|kind| code.strip_prefix(kind))?;
    name.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn types_and_files_are_named_by_nouns() {
    let (mut findings, mut looked_at) = (Vec::new(), 0);
    for path in files(root(), ".rs") {
        let is_bad = |name: &str| NO_NAMES.split(' ').any(|word| name.eq_ignore_ascii_case(word));
        if path.file_stem().is_some_and(|stem| is_bad(&stem.to_string_lossy())) {
            findings.push(short(&path));
        }
        let text = read(&path);
        let names: Vec<&str> = text.lines().filter_map(declared).collect();
        looked_at += names.len();
        findings.extend(names.iter().filter(|n| is_bad(n)).map(|n| format!("{}: {n}", short(&path))));
    }
    assert!(looked_at > 1000, "{looked_at}");
    none("types and files that no noun names", findings);
}

#[test]
fn declarations_are_found() {
    for (line, name) in [
        ("    pub(crate) struct Way<'a> {", Some("Way")),
        ("pub enum What {", Some("What")),
        ("trait Near: Sized {}", Some("Near")),
        ("struct One(u32);", Some("One")),
        ("// struct Other", None),
        ("let structure = 1;", None),
    ] {
        assert_eq!(declared(line), name, "{line}");
    }
}
