//! The lists of all parameters in the repository are those of the components as they are built: they are
//! loaded, as files, and asked.

use oxmpi_mca_params::file::{self, ParamFile};
use oxmpi_mca_params::{Declaration, Resolver, Tier, catalogue};
use oxmpi_runtime::registry::Registry;
use oxmpi_tests::root;
use std::path::PathBuf;

const REMADE_BY: &str = "OXMPI_BLESS=1 cargo test -p oxmpi-tests --test plugins catalogue";

/// Everything, with these settings, from the components beside this test's own binary.
fn registry(resolver: Resolver) -> Registry {
    let exe = std::env::current_exe().expect("the path of this test");
    let dir = exe.parent().expect("a folder").to_path_buf();
    // SAFETY: nothing is linked in.
    unsafe { Registry::look(resolver, &[dir], &[]) }
}

/// The components that an installation has: not the one to copy from.
fn declarations(registry: &Registry) -> Vec<&Declaration> {
    let all = registry.params().map(|r| &r.declaration);
    all.filter(|d| (d.framework.as_str(), d.component.as_str()) != ("btl", "template")).collect()
}

#[test]
fn the_lists_are_what_the_components_say() {
    let registry = registry(Resolver::new());
    let loaded: Vec<&str> = registry.components().iter().map(|c| c.name.as_str()).collect();
    for name in ["self", "shm", "ob1", "basic", "rdma"] {
        assert!(loaded.contains(&name), "{name} is not beside this test: {loaded:?}");
    }
    let all = declarations(&registry);
    let lists = [
        ("mca-params/CATALOGUE.md", catalogue::markdown(&all, REMADE_BY)),
        ("mca-params/oxmpi-mca-params.toml", catalogue::commented_toml(&all, REMADE_BY)),
    ];
    for (name, wanted) in lists {
        let path = root().join(name);
        if std::env::var_os("OXMPI_BLESS").is_some() {
            std::fs::write(&path, &wanted).expect("the tree can be written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == wanted, "{name} is not what the components declare; {REMADE_BY} writes it anew");
    }
}

/// The commented file, with every remark sign in front of a parameter taken away, sets every parameter to
/// what it is.
#[test]
fn the_commented_file_is_right_when_it_is_not_commented() {
    let text = std::fs::read_to_string(root().join("mca-params/oxmpi-mca-params.toml")).expect("the file");
    let bare: String = text
        .lines()
        .map(|l| match l.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') && rest.contains(" = ") => format!("{rest}\n"),
            _ => format!("{l}\n"),
        })
        .collect();
    let lines = file::parse(bare.as_bytes(), true);
    assert_eq!(lines.wrong, []);
    let plain = registry(Resolver::new());
    assert_eq!(lines.entries.len(), declarations(&plain).iter().filter(|d| !d.internal).count());
    let mut resolver = Resolver::new();
    resolver.add_file(&ParamFile { path: "all.toml".into(), tier: Tier::Site, lines });
    let set = registry(resolver);
    assert_eq!(set.problems(), [] as [String; 0]);
    assert_eq!(set.unknown(), []);
    for d in declarations(&plain) {
        let value = |r: &Registry| r.resolver().get(&d.full_name).map(|p| p.value.clone());
        assert_eq!(value(&set), value(&plain), "{}", d.full_name);
    }
}

fn profiles() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("mca-params/profiles")).expect("the profiles");
    let mut paths: Vec<PathBuf> = folder.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_profile_is_right_and_says_why() {
    let names: Vec<String> =
        profiles().iter().filter_map(|p| p.file_stem()?.to_str().map(str::to_owned)).collect();
    assert_eq!(names, ["bandwidth", "latency", "many-threads", "oversubscribed"]);
    for path in profiles() {
        let name = path.display();
        let file = file::read(&path, Tier::Tune).expect("it can be read").expect("it is there");
        assert_eq!(file.lines.wrong, [], "{name}");
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let lines: Vec<&str> = text.lines().collect();
        for entry in &file.lines.entries {
            let above = lines[entry.line as usize - 2];
            assert!(above.starts_with("# "), "{name}:{}: {} has no explanation", entry.line, entry.name);
        }
        let mut resolver = Resolver::new();
        resolver.add_file(&file);
        let registry = registry(resolver);
        assert_eq!(registry.problems(), [] as [String; 0], "{name}");
        assert_eq!(registry.unknown(), [], "{name}");
    }
}

/// Declarations of all components can stand together: no two parameters have one name, and no synonym is
/// another one's own name.
#[test]
fn names_are_unambiguous() {
    let registry = registry(Resolver::new());
    let all: Vec<&Declaration> = registry.params().map(|r| &r.declaration).collect();
    for d in &all {
        for synonym in &d.synonyms {
            let owners = all.iter().filter(|o| o.full_name == *synonym || o.synonyms.contains(synonym));
            assert_eq!(owners.count(), 1, "{synonym} means several parameters");
        }
        assert!(!d.help.is_empty() && !d.help.ends_with('.'), "{}: {:?}", d.full_name, d.help);
    }
}
