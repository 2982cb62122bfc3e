//! Parameter files: both syntaxes, every source in its order, and any bytes at all.

use oxmpi_mca_params::file::{self, Entry, is_name, parse};
use oxmpi_mca_params::{
    CommandSetting, Declaration, ENVIRONMENT, FILES_ARE_READ, Kind, Origin, Places, Reader, Resolver, SOURCE,
    Sources, Tier,
};
use proptest::prelude::*;
use std::ffi::OsString;
use std::path::Path;

fn entry(name: &str, text: &str, line: u32) -> Entry {
    Entry { name: name.into(), text: text.into(), line }
}

#[test]
fn open_mpis_syntax() {
    let text = "\u{feff}# remark\n\n btl = self,shm  \r\nbtl_shm_eager_limit=64k # not a remark\n// remark\n\
                /* a\n x = 1 */ y = 2\nempty =\n-mca a 1 --mca b \"2 3\" -x V=w -x W\n/* one */ z = a = b\n";
    let lines = parse(text.as_bytes(), false);
    assert_eq!(lines.wrong, []);
    let wanted = [
        entry("btl", "self,shm", 3),
        entry("btl_shm_eager_limit", "64k # not a remark", 4),
        entry("y", "2", 7),
        entry("empty", "", 8),
        entry("a", "1", 9),
        entry("b", "2 3", 9),
        entry("z", "a = b", 10),
    ];
    assert_eq!(lines.entries, wanted);
    let exports: Vec<_> = lines.exports.iter().map(|e| (e.variable.as_str(), e.value.as_deref())).collect();
    assert_eq!(exports, [("V", Some("w")), ("W", None)]);
}

#[test]
fn mistakes_have_their_lines() {
    let lines = |text: &str, toml| parse(text.as_bytes(), toml).wrong.iter().map(|w| w.0).collect::<Vec<_>>();
    assert_eq!(
        lines("a = 1\nnonsense\n= 2\nb c = 3\n--mca x\n-y 1\n-x =v\n-mca 'a b\n", false),
        [2, 3, 4, 5, 6, 7, 8]
    );
    assert_eq!(lines("a = 1\n/* open\nb = 2\n", false), [2]);
    assert_eq!(lines("a = 1\nb = 1979-05-27\nc = [[1]]\n\"d e\" = 1\nf = ['x,y']\n", true), [2, 3, 4, 5]);
    assert_eq!(lines("a = 1\n\nb = = 2\n", true), [3]);
    assert_eq!(lines("a = 1\nb = 2\na = 3\n", true), [3]);
    assert_eq!(lines("a = 1\nb = \"", true), [2]);
    assert_eq!(parse(b"a = 1\nb = \xff\n", false).wrong[0].0, 2);
}

#[test]
fn tomls_syntax() {
    let text = "btl = ['self', 'shm']\nn = 1_000\nh = 0xff\nx = 1.5\nyes = true\nsize = '64k'\n\
                [btl_shm]\neager_limit = 4096\n[pml.ob1]\nmatching = \"list\"\n";
    let lines = parse(text.as_bytes(), true);
    assert_eq!(lines.wrong, []);
    let wanted = [
        entry("btl", "self,shm", 1),
        entry("n", "1000", 2),
        entry("h", "255", 3),
        entry("x", "1.5", 4),
        entry("yes", "true", 5),
        entry("size", "64k", 6),
        entry("btl_shm_eager_limit", "4096", 8),
        entry("pml_ob1_matching", "list", 10),
    ];
    assert_eq!(lines.entries, wanted);
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(n, t)| (n.into(), t.into())).collect()
}

fn value(resolver: &mut Resolver) -> (i64, Origin) {
    let got = resolver.declare(Declaration::new("", "", "x", Kind::Int, "0", "")).expect("a number");
    (got.value.as_i64().unwrap_or(-1), got.origin.clone())
}

/// One source after the other is added; each wins over all before it, and a rank that gets what the
/// launcher hands on sees the same value from the same source.
#[test]
fn every_source_in_its_order() {
    let tmp = tempfile::tempdir().expect("a folder");
    let (prefix, home) = (tmp.path().join("prefix"), tmp.path().join("home"));
    let places = Places::below(&prefix);
    let mut env = vec![("HOME", home.to_str().expect("a name"))];
    let mut given = Vec::new();
    let mut wanted = 0;
    let files = [
        (prefix.join("etc/oxmpi-mca-params.conf"), Tier::Site),
        (prefix.join("etc/oxmpi-mca-params.toml"), Tier::Site),
        (home.join(".oxmpi/mca-params.conf"), Tier::User),
        (home.join(".oxmpi/mca-params.toml"), Tier::User),
        (prefix.join("share/oxmpi/profiles/fast.toml"), Tier::Tune),
        (tmp.path().join("tune.conf"), Tier::Tune),
    ];
    let check = |env: &[(&str, &str)], given: &[CommandSetting], n: i64, origin: &Origin| {
        let sources = Sources::read(Reader::Launcher, variables(env), &places, given);
        assert_eq!(sources.errors, []);
        let mut rank = variables(env);
        let handed_on = sources.resolver.variables();
        rank.retain(|(name, _)| !handed_on.iter().any(|(n, _)| n == name));
        rank.extend(handed_on);
        rank.push((FILES_ARE_READ.into(), "1".into()));
        let mut rank = Sources::read(Reader::Process, rank, &places, &[]);
        assert_eq!(rank.files, [] as [&Path; 0]);
        assert_eq!(value(&mut sources.resolver.clone()), (n, origin.clone()));
        assert_eq!(value(&mut rank.resolver), (n, origin.clone()), "what the rank sees");
    };
    check(&env, &given, 0, &Origin::Default);
    for (path, tier) in &files {
        wanted += 1;
        write(path, &format!("\nx = {wanted}\n"));
        if *tier == Tier::Tune {
            let name = if wanted == 5 { "fast".into() } else { path.display().to_string() };
            given.push(CommandSetting::Tune { files: name });
        }
        check(&env, &given, wanted, &Origin::File { tier: *tier, path: path.clone(), line: 2 });
    }
    env.push(("OMPI_MCA_x", "7"));
    check(&env, &given, 7, &Origin::Environment { variable: "OMPI_MCA_x".into() });
    env.push(("OXMPI_MCA_x", "8"));
    check(&env, &given, 8, &Origin::Environment { variable: "OXMPI_MCA_x".into() });
    given.push(CommandSetting::Parameter { name: "x".into(), value: "9".into() });
    check(&env, &given, 9, &Origin::CommandLine);
    let path = prefix.join("etc/oxmpi-mca-params-override.conf");
    write(&path, "x = 10");
    check(&env, &given, 10, &Origin::File { tier: Tier::Override, path, line: 1 });
}

#[test]
fn where_files_are_looked_for_can_be_said() {
    let tmp = tempfile::tempdir().expect("a folder");
    let (a, b) = (tmp.path().join("a.conf"), tmp.path().join("b.conf"));
    write(&a, "x = 1");
    write(&b, "x = 2\n");
    write(&tmp.path().join("home/.oxmpi/mca-params.conf"), "x = 3");
    let home = tmp.path().join("home");
    let read = |more: &[(&str, String)]| {
        let mut env = vec![("HOME", home.display().to_string())];
        env.extend(more.iter().cloned());
        let env = env.into_iter().map(|(n, t)| (n.into(), t.into()));
        Sources::read(Reader::Process, env, &Places::default(), &[])
    };
    let files = "OXMPI_MCA_mca_base_param_files";
    assert_eq!(value(&mut read(&[]).resolver).0, 3);
    assert_eq!(value(&mut read(&[(files, "none".into())]).resolver).0, 0);
    // The leftmost wins.
    let both = format!("{},{}", a.display(), b.display());
    assert_eq!(value(&mut read(&[(files, both)]).resolver).0, 1);
    let missing = read(&[(files, tmp.path().join("none.conf").display().to_string())]);
    assert!(missing.errors[0].to_string().contains("none.conf"), "{:?}", missing.errors);
    // Profiles without a launcher, by bare name and folder.
    let tune = [
        ("OMPI_MCA_mca_base_envar_file_prefix", "b".into()),
        ("OXMPI_MCA_mca_base_param_file_path", tmp.path().display().to_string()),
    ];
    assert_eq!(value(&mut read(&tune).resolver).0, 2);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let tmp = tempfile::tempdir().expect("a folder");
    let places = Places::below(tmp.path());
    let read = |given: &[CommandSetting]| {
        let sources = Sources::read(Reader::Launcher, [], &places, given);
        sources.errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    write(&tmp.path().join("share/oxmpi/profiles/latency.toml"), "");
    let unknown = read(&[CommandSetting::Tune { files: "latncy".into() }]);
    assert!(unknown.contains("latncy") && unknown.contains("did you mean latency?"), "{unknown}");
    // A folder is there and cannot be read as a file.
    let site = tmp.path().join("etc/oxmpi-mca-params.conf");
    std::fs::create_dir_all(&site).expect("a folder");
    assert!(read(&[]).contains("oxmpi-mca-params.conf: cannot be read"), "{}", read(&[]));
    std::fs::remove_dir(&site).expect("it goes");
    write(&site, "mca_base_param_files = none\nthis is nothing\n");
    let both = read(&[]);
    assert!(both.contains("oxmpi-mca-params.conf:1") && both.contains("conf:2"), "{both}");
    let twice = [1, 2].map(|n| CommandSetting::Parameter { name: "x".into(), value: n.to_string() });
    std::fs::remove_file(&site).expect("it goes");
    assert!(read(&twice).contains("was given before"), "{}", read(&twice));
}

#[test]
fn variables_for_the_ranks() {
    let tmp = tempfile::tempdir().expect("a folder");
    let tune = tmp.path().join("t.conf");
    write(&tune, "-x A=1 -x B\n");
    let env = variables(&[("OXMPI_MCA_mca_base_env_list", "C=2; D ;")]);
    let given = [CommandSetting::Tune { files: tune.display().to_string() }];
    let sources = Sources::read(Reader::Launcher, env, &Places::default(), &given);
    let got: Vec<_> = sources.exports.iter().map(|e| (e.variable.as_str(), e.value.as_deref())).collect();
    assert_eq!(got, [("A", Some("1")), ("B", None), ("C", Some("2")), ("D", None)]);
}

#[test]
fn an_inherited_command_line_is_only_environment_for_the_next_launcher() {
    let label = format!("{ENVIRONMENT}{SOURCE}x");
    let env = variables(&[("OXMPI_MCA_x", "1"), (&label, "command line")]);
    let given = [CommandSetting::Parameter { name: "x".into(), value: "2".into() }];
    let mut sources = Sources::read(Reader::Launcher, env, &Places::default(), &given);
    assert_eq!(sources.errors, []);
    assert_eq!(value(&mut sources.resolver), (2, Origin::CommandLine));
}

proptest! {
    /// Any bytes are lines or mistakes, and every line is one of the file's.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400), toml in any::<bool>()) {
        let count = bytes.iter().filter(|&&b| b == b'\n').count() as u32 + 1;
        let lines = parse(&bytes, toml);
        for line in lines.entries.iter().map(|e| e.line).chain(lines.wrong.iter().map(|w| w.0)) {
            prop_assert!((1..=count).contains(&line), "{line} of {count}");
        }
        prop_assert!(lines.entries.iter().all(|e| is_name(&e.name)));
    }

    /// The same with what such files are made of.
    #[test]
    fn any_mixture(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "a", "=", " ", "\n", "\"", "'", "#", "/*", "*/", "//", "[", "]", "{", "}", ",", ".", "-mca", "-x",
                "1", "0x", "1e", "\\u", "\u{feff}", "ä", "\r\n", "true", "^", "--", "\"\"\"", "_", "\0", "[[",
            ]),
            0..60,
        ),
        toml in any::<bool>(),
    ) {
        let text = parts.concat();
        let count = text.matches('\n').count() as u32 + 1;
        let lines = parse(text.as_bytes(), toml);
        for line in lines.entries.iter().map(|e| e.line).chain(lines.wrong.iter().map(|w| w.0)) {
            prop_assert!((1..=count).contains(&line), "{line} of {count}: {text:?}");
        }
    }

    /// An entry that is written in either syntax is read back, line for line.
    #[test]
    fn both_syntaxes_say_the_same(texts in proptest::collection::vec("[!-~]([ -~]{0,20}[!-~])?", 1..10)) {
        let mut conf = String::new();
        let mut toml = String::new();
        for (i, text) in texts.iter().enumerate() {
            conf += &format!("name_{i} = {text}\n");
            toml += &format!("name_{i} = {text:?}\n");
        }
        let wanted: Vec<Entry> =
            texts.iter().enumerate().map(|(i, t)| entry(&format!("name_{i}"), t, i as u32 + 1)).collect();
        prop_assert_eq!(&parse(conf.as_bytes(), false).entries, &wanted);
        let lines = parse(toml.as_bytes(), true);
        prop_assert_eq!((&lines.entries, &lines.wrong), (&wanted, &vec![]));
    }

    /// A rank understands the label that the launcher gives a source.
    #[test]
    fn labels_read_back(path in "/[ -~]{0,30}", line in 1u32.., tier in 0usize..4) {
        let tier = [Tier::Site, Tier::User, Tier::Tune, Tier::Override][tier];
        let origin = Origin::File { tier, path: path.into(), line };
        let label = origin.label().expect("a file has one");
        prop_assert_eq!(Origin::from_label(&label), Some(origin));
    }
}

#[test]
fn nothing_is_no_file() {
    assert_eq!(file::read(Path::new("/nowhere/at/all.conf"), Tier::Site), Ok(None));
}
