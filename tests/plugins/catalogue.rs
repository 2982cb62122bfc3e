//! The lists of all parameters in the repository are those of the components as they are built: they are
//! loaded, as files, and asked.

use oxmpi_loading::in_force::Process;
use oxmpi_loading::registry::{Level, Registry};
use oxmpi_mca_params::file::{self, ParamFile};
use oxmpi_mca_params::{Declaration, Resolver, Tier, catalogue};
use oxmpi_tests::root;
use std::path::{Path, PathBuf};

const REMADE_BY: &str = "OXMPI_BLESS=1 cargo test -p oxmpi-tests --test plugins catalogue";

/// Everything, with these settings, from the components beside this test's own binary.
fn registry(resolver: Resolver) -> Registry {
    let exe = std::env::current_exe().expect("the path of this test");
    let dir = exe.parent().expect("a folder").to_path_buf();
    // SAFETY: nothing is linked in.
    unsafe { Registry::look(resolver, &[dir], &[]) }
}

/// The components that an installation has: not those to copy from.
fn declarations(registry: &Registry) -> Vec<&Declaration> {
    let all = registry.params().map(|r| &r.declaration);
    all.filter(|d| d.component.as_str() != "template").collect()
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

/// Jobs on a machine with 64 cores, not oversubscribed, at every extreme of the thread levels.
fn processes() -> Vec<Process> {
    let levels = [Level::Single, Level::Multiple];
    [2, 8, 64].into_iter().flat_map(|n| levels.map(|level| Process::like(n, 64, None, level))).collect()
}

/// Faults of a profile: lines that are wrong, parameters that nobody declares, values that are not allowed, entries without an
/// explanation, and entries that change nothing: the value in force of some process has to differ from that without the profile.
fn faults(path: &Path) -> Vec<String> {
    let file = file::read(path, Tier::Tune).expect("it can be read").expect("it is there");
    let text = std::fs::read_to_string(path).expect("it can be read");
    let lines: Vec<&str> = text.lines().collect();
    let mut resolver = Resolver::new();
    resolver.add_file(&file);
    let (set, plain) = (registry(resolver), registry(Resolver::new()));
    let mut faults: Vec<String> = file.lines.wrong.iter().map(|wrong| format!("{wrong:?}")).collect();
    faults.extend(set.problems().iter().cloned());
    faults.extend(set.unknown().iter().map(|unknown| format!("{unknown:?}")));
    for entry in &file.lines.entries {
        let name = &entry.name;
        let above = (entry.line as usize).checked_sub(2).map_or("", |line| lines[line]);
        if !above.starts_with("# ") {
            faults.push(format!("line {}: {name} has no explanation", entry.line));
        }
        let in_force = |r: &Registry, p: &Process| r.in_force(name, p).map(|found| found.value);
        if processes().iter().all(|p| in_force(&set, p) == in_force(&plain, p)) {
            faults.push(format!("line {}: {name} is what it is without the profile", entry.line));
        }
    }
    faults
}

#[test]
fn every_profile_is_right_and_says_why() {
    let names: Vec<String> =
        profiles().iter().filter_map(|p| p.file_stem()?.to_str().map(str::to_owned)).collect();
    assert_eq!(names, ["bandwidth", "latency", "many-threads", "oversubscribed"]);
    for path in profiles() {
        assert_eq!(faults(&path), [] as [String; 0], "{}", path.display());
    }
}

#[test]
fn faults_of_profiles_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.toml");
    for (text, due) in [
        ("# Why.\nbtl_shm_rings = 4\n", "btl_shm_rings"),
        ("# Why.\nruntime_num_cris = 1000\n", "1000"),
        ("runtime_num_cris = 7\n", "has no explanation"),
        ("# The default.\nbtl_shm_virtual_device_count = 0\n", "is what it is without"),
        ("# Written otherwise.\ncoll_basic_bcast_segment_size = 65536\n", "is what it is without"),
        ("# Four is what -1 means.\nbtl_shm_watched_rings = 4\n", "is what it is without"),
    ] {
        std::fs::write(&path, text).expect("it can be written");
        let found = faults(&path);
        assert!(found.iter().any(|fault| fault.contains(due)), "{text}: {found:?}");
    }
    std::fs::write(&path, "# More.\nruntime_num_cris = 7\n").expect("it can be written");
    assert_eq!(faults(&path), [] as [String; 0]);
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
