//! Precedence, types, provenance and the sentences people get.

use oxmpi_mca::abi::StrRef;
use oxmpi_mca::{ParamDecl, ParamKind};
use oxmpi_mca_params::{CannotSet, Declaration, ErrorKind, Kind, Origin, ParamError, Resolver, Scope, Value};
use proptest::prelude::*;
use std::ffi::OsString;

fn env(pairs: &[(&str, &str)]) -> Resolver {
    Resolver::from_variables(pairs.iter().map(|&(n, t)| (n.into(), t.into())))
}

fn decl(kind: Kind, default: &str) -> Declaration {
    Declaration::new("btl", "shm", "x", kind, default, "for a test")
}

fn value(kind: Kind, text: &str) -> Result<Value, ParamError> {
    env(&[("OXMPI_MCA_btl_shm_x", text)]).declare(decl(kind, "0")).map(|r| r.value.clone())
}

#[test]
fn later_sources_win() {
    let both = [("OXMPI_MCA_btl_shm_x", "2"), ("OMPI_MCA_btl_shm_x", "1")];
    for order in [[0, 1], [1, 0]] {
        let mut resolver = env(&order.map(|i| both[i]));
        let got = resolver.declare(decl(Kind::Int, "0")).unwrap();
        assert_eq!(got.value, Value::Int(2));
        assert_eq!(got.origin, Origin::Environment { variable: "OXMPI_MCA_btl_shm_x".into() });
    }
    assert_eq!(Resolver::new().declare(decl(Kind::Int, "7")).unwrap().origin, Origin::Default);
    let mut resolver = env(&both);
    resolver.command_line("btl_shm_x", "3").unwrap();
    assert_eq!(resolver.clone().declare(decl(Kind::Int, "0")).unwrap().value, Value::Int(3));
    let mut resolver = resolver.with([("btl_shm_x", "4")]);
    let got = resolver.declare(decl(Kind::Int, "0")).unwrap();
    assert_eq!((&got.value, &got.origin), (&Value::Int(4), &Origin::Set));
}

#[test]
fn the_launchers_command_line_is_told_from_the_environment() {
    let mut resolver = env(&[("OXMPI_MCA_SOURCE_btl_shm_x", "command line"), ("OXMPI_MCA_btl_shm_x", "1")]);
    assert_eq!(resolver.declare(decl(Kind::Int, "0")).unwrap().origin, Origin::CommandLine);
    // Only for that name, only through our prefix, only with that text.
    let mut resolver = env(&[
        ("OMPI_MCA_SOURCE_btl_shm_x", "command line"),
        ("OXMPI_MCA_SOURCE_btl_shm_y", "command line"),
        ("OXMPI_MCA_SOURCE_btl_shm_x", "somewhere else"),
        ("OXMPI_MCA_btl_shm_x", "1"),
    ]);
    let origin = resolver.declare(decl(Kind::Int, "0")).unwrap().origin.clone();
    assert_eq!(origin, Origin::Environment { variable: "OXMPI_MCA_btl_shm_x".into() });
    assert!(resolver.unknown().is_empty(), "{:?}", resolver.unknown());
}

#[test]
fn a_repeated_option_must_agree() {
    let mut resolver = Resolver::new();
    resolver.command_line("btl", "tcp").unwrap();
    resolver.command_line("btl", "tcp").unwrap();
    let error = resolver.command_line("btl", "shm").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("\"tcp\""), "{error}");
}

#[test]
fn synonyms_set_too_and_the_own_name_wins_at_equal_rank() {
    let declaration = decl(Kind::Int, "0").synonyms(&["btl_vader_x"]);
    let mut resolver = env(&[("OMPI_MCA_btl_vader_x", "5")]);
    let got = resolver.declare(declaration.clone()).unwrap();
    assert_eq!((&got.value, got.set_as.as_str()), (&Value::Int(5), "btl_vader_x"));
    assert!(resolver.unknown().is_empty());
    assert_eq!(resolver.get("btl_vader_x"), resolver.get("btl_shm_x"));
    let mut resolver = env(&[("OMPI_MCA_btl_vader_x", "5"), ("OMPI_MCA_btl_shm_x", "6")]);
    assert_eq!(resolver.declare(declaration.clone()).unwrap().value, Value::Int(6));
    let mut resolver = env(&[("OXMPI_MCA_btl_vader_x", "5"), ("OMPI_MCA_btl_shm_x", "6")]);
    assert_eq!(resolver.declare(declaration).unwrap().value, Value::Int(5));
}

#[test]
fn integers_as_in_c() {
    for (text, wanted) in [
        ("0", 0),
        ("-1", -1),
        ("+8", 8),
        (" 12 ", 12),
        ("0x10", 16),
        ("010", 8),
        ("2k", 2048),
        ("-1K", -1024),
        ("9223372036854775807", i64::MAX),
    ] {
        assert_eq!(value(Kind::Int, text), Ok(Value::Int(wanted)), "{text:?}");
    }
    for text in ["", "k", "x", "1x", "0x", "1.5", "--1", "08", "1 k", "-", "1e3"] {
        assert_eq!(value(Kind::Int, text).unwrap_err().kind, ErrorKind::Malformed, "{text:?}");
    }
    for text in ["9223372036854775808", "99999999999999999999999", "9007199254740992m"] {
        assert_eq!(value(Kind::Int, text).unwrap_err().kind, ErrorKind::OutOfRange, "{text:?}");
    }
    assert_eq!(value(Kind::Unsigned, "18446744073709551615"), Ok(Value::Unsigned(u64::MAX)));
    assert_eq!(value(Kind::Unsigned, "-1").unwrap_err().kind, ErrorKind::OutOfRange);
}

#[test]
fn sizes_booleans_numbers() {
    for (text, wanted) in [("64k", 65536), ("1m", 1 << 20), ("2G", 2 << 30), ("4KiB", 4096), ("7b", 7)] {
        assert_eq!(value(Kind::Size, text), Ok(Value::Size(wanted)), "{text:?}");
    }
    assert_eq!(value(Kind::Size, "-1").unwrap_err().kind, ErrorKind::OutOfRange);
    for (text, wanted) in
        [("true", true), ("Yes", true), ("2", true), ("enabled", true), ("0", false), ("F", false)]
    {
        assert_eq!(value(Kind::Bool, text), Ok(Value::Bool(wanted)), "{text:?}");
    }
    assert!(value(Kind::Bool, "maybe").is_err() && value(Kind::Bool, "").is_err());
    assert_eq!(value(Kind::Double, "-2.5e3"), Ok(Value::Double(-2500.0)));
    assert!(value(Kind::Double, "nan").is_err() && value(Kind::Double, "inf").is_err());
}

#[test]
fn bounds_are_inclusive_and_named() {
    let declare = |text: &str| {
        let mut resolver = env(&[("OXMPI_MCA_btl_shm_x", text)]);
        resolver.declare(decl(Kind::Size, "4k").range(1024, 65536)).map(|r| r.value.clone())
    };
    assert_eq!(declare("1k"), Ok(Value::Size(1024)));
    assert_eq!(declare("64k"), Ok(Value::Size(65536)));
    let error = declare("128k").unwrap_err();
    let sentence = error.to_string();
    for part in ["btl_shm_x", "\"128k\"", "environment variable OXMPI_MCA_btl_shm_x", "from 1024 to 65536"] {
        assert!(sentence.contains(part), "{part:?} is not in {sentence:?}");
    }
    assert!(declare("1023").is_err());
    // A default is held to the same rules.
    assert!(Resolver::new().declare(decl(Kind::Int, "9").range(1, 8)).is_err());
}

#[test]
fn enumerators_by_name_or_number_with_a_hint() {
    let declare = |text: &str| {
        let mut resolver = env(&[("OXMPI_MCA_btl_shm_x", text)]);
        resolver.declare(decl(Kind::Enum, "list").one_of(&["list", "perpeer", "vector"])).cloned()
    };
    for text in ["vector", "VECTOR", "2"] {
        let got = declare(text).unwrap();
        assert_eq!(got.value, Value::Enum { index: 2, name: "vector".into() });
        assert_eq!(got.to_abi().int, 2);
    }
    let sentence = declare("vectr").unwrap_err().to_string();
    assert!(sentence.contains("did you mean vector?"), "{sentence}");
    assert!(declare("3").is_err());
}

#[test]
fn verbosity_takes_words_and_numbers() {
    for (text, wanted) in [("debug", 80), ("none", -1), ("55", 55)] {
        let mut resolver = env(&[("OMPI_MCA_btl_base_verbose", text)]);
        let got = resolver.declare(Declaration::verbosity("btl")).unwrap();
        assert_eq!(got.value, Value::Int(wanted));
    }
    let mut resolver = env(&[("OMPI_MCA_btl_base_verbose", "101")]);
    assert!(resolver.declare(Declaration::verbosity("btl")).unwrap_err().to_string().contains("trace"));
}

#[test]
fn selections() {
    let select = |text: &str| env(&[("OMPI_MCA_btl", text)]).selection("btl");
    let s = select("tcp, self").unwrap();
    assert!(s.allows("tcp", &[]) && !s.allows("shm", &["sm"]) && s.names_component("self", &[]));
    assert!(s.origin.is_open_mpi());
    let s = select("^^tcp,vader").unwrap();
    assert!(!s.allows("tcp", &[]) && !s.allows("shm", &["sm", "vader"]) && s.allows("self", &[]));
    assert!(!s.names_component("tcp", &[]));
    let s = Resolver::new().selection("btl").unwrap();
    assert!(s.is_all() && s.allows("anything", &[]) && s.origin == Origin::Default);
    for text in ["tcp,^self", "^tcp,^self", "t^cp"] {
        assert!(select(text).unwrap_err().to_string().contains("not in front"), "{text}");
    }
    assert!(select("^").unwrap().is_all());
}

#[test]
fn unknown_names_come_with_the_nearest() {
    let mut resolver = env(&[
        ("OXMPI_MCA_btl_shm_eager_limt", "1k"),
        ("OMPI_MCA_btl_openib_if_include", "mlx5"),
        ("PATH", "/bin"),
    ]);
    resolver
        .declare(Declaration::new("btl", "shm", "eager_limit", Kind::Size, "4k", "largest eager message"))
        .unwrap();
    let unknown = resolver.unknown();
    assert_eq!(unknown.len(), 2);
    assert!(!unknown[0].deserves_warning() && unknown[0].nearest.is_none());
    assert!(unknown[1].deserves_warning());
    assert_eq!(unknown[1].nearest.as_deref(), Some("btl_shm_eager_limit"));
    assert!(unknown[1].to_string().contains("nearest known name is btl_shm_eager_limit"));
}

#[test]
fn declarations_are_checked() {
    let mut resolver = Resolver::new();
    resolver.declare(decl(Kind::Int, "1")).unwrap();
    // Again: the first stands. With another type: refused.
    assert_eq!(resolver.declare(decl(Kind::Int, "2")).unwrap().value, Value::Int(1));
    let error = resolver.declare(decl(Kind::Bool, "0")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadDeclaration);
    for bad in [decl(Kind::Int, "1").level(0), decl(Kind::Int, "1").range(2, 1), decl(Kind::Enum, "a")] {
        assert_eq!(Resolver::new().declare(bad).unwrap_err().kind, ErrorKind::BadDeclaration);
    }
}

#[test]
fn a_components_declaration_keeps_everything() {
    const SYNONYMS: &[StrRef] = &[StrRef::new("old_name")];
    const NAMES: &[StrRef] = &[StrRef::new("a"), StrRef::new("b")];
    let abi = ParamDecl::new("mode", ParamKind::ENUM, 3, "b", "which").one_of(NAMES).synonyms(SYNONYMS);
    // SAFETY: everything in it is static.
    let owned = unsafe { Declaration::from_abi("btl", "shm", &["sm"], &abi) }.unwrap();
    assert_eq!(owned.full_name, "btl_shm_mode");
    assert_eq!(owned.synonyms, ["old_name", "btl_sm_mode"]);
    assert_eq!((owned.level, owned.kind), (3, Kind::Enum));
    assert_eq!(Resolver::new().declare(owned).unwrap().to_abi().int, 1);
    let nameless = ParamDecl::new("", ParamKind::INT, 3, "1", "");
    // SAFETY: as above.
    assert!(unsafe { Declaration::from_abi("btl", "shm", &[], &nameless) }.is_err());
    let future = ParamDecl::new("y", ParamKind(99), 3, "1", "");
    // SAFETY: as above.
    assert!(unsafe { Declaration::from_abi("btl", "shm", &[], &future) }.is_err());
}

#[test]
fn old_names_work_and_are_reported() {
    let declaration = decl(Kind::Int, "0").synonyms(&["btl_sm_x"]).deprecated_synonyms(&["btl_old_x"]);
    let mut resolver = env(&[("OXMPI_MCA_btl_sm_x", "1"), ("OMPI_MCA_btl_old_x", "2")]);
    assert_eq!(resolver.declare(declaration).unwrap().value, Value::Int(1));
    let [old] = resolver.deprecated().try_into().unwrap();
    assert_eq!((old.name.as_str(), old.instead.as_deref()), ("btl_old_x", Some("btl_shm_x")));
    assert!(old.to_string().contains("OMPI_MCA_btl_old_x"), "{old}");
    // A component says the same with flags.
    use oxmpi_mca::params::param_flag;
    const OLD: &[StrRef] = &[StrRef::new("old_name")];
    let flags = param_flag::SYNONYMS_DEPRECATED | param_flag::INTERNAL;
    let abi = ParamDecl::new("mode", ParamKind::INT, 3, "1", "which").synonyms(OLD).flags(flags);
    // SAFETY: everything in it is static.
    let owned = unsafe { Declaration::from_abi("btl", "shm", &["sm"], &abi) }.unwrap();
    assert!(owned.internal && !owned.deprecated);
    assert_eq!(owned.deprecated_names, ["old_name"], "an alias of the component is no old name");
}

#[test]
fn what_may_be_written_while_the_program_runs() {
    let mut resolver = env(&[("OXMPI_MCA_btl_shm_x", "1")]);
    resolver.declare(decl(Kind::Int, "0").scope(Scope::LOCAL).range(0, 9).synonyms(&["old"])).unwrap();
    resolver.declare(Declaration::new("a", "", "b", Kind::Int, "0", "")).unwrap();
    let got = resolver.set("old", "5").unwrap();
    assert_eq!((&got.value, &got.origin), (&Value::Int(5), &Origin::Set));
    assert!(matches!(resolver.set("btl_shm_x", "10"), Err(CannotSet::Wrong(_))));
    assert_eq!(resolver.get("btl_shm_x").unwrap().value, Value::Int(5), "a wrong value changes nothing");
    assert_eq!(resolver.set("a_b", "1"), Err(CannotSet::Never));
    assert_eq!(resolver.set("nothing", "1"), Err(CannotSet::Unknown));
}

#[test]
fn a_wrong_value_leaves_the_parameter_known() {
    let mut resolver = env(&[("OXMPI_MCA_btl_shm_x", "none")]);
    assert!(resolver.declare(decl(Kind::Int, "3")).is_err());
    let got = resolver.get("btl_shm_x").unwrap();
    assert_eq!((&got.value, &got.origin), (&Value::Int(3), &Origin::Default));
    assert!(resolver.unknown().is_empty());
}

#[test]
fn texts_expand_the_home_folder_and_lists_arrive_as_written() {
    let mut resolver = env(&[
        ("HOME", "/home/ada/"),
        ("OXMPI_MCA_mca_base_component_path", "~/lib:/opt/x:~/y"),
        ("OXMPI_MCA_btl_shm_x", "^ a, b"),
    ]);
    let path = Declaration::new("mca", "base", "component_path", Kind::Text, "", "more folders");
    let got = resolver.declare(path).unwrap();
    assert_eq!(got.value, Value::Text("/home/ada/lib:/opt/x:/home/ada/y".into()));
    let got = resolver.declare(decl(Kind::List, "")).unwrap();
    assert_eq!(got.value, Value::List { negated: true, items: vec!["a".into(), "b".into()] });
    // SAFETY: `got` lives.
    assert_eq!(unsafe { got.to_abi().text.get() }, Some("^ a, b"));
}

#[test]
fn bytes_that_are_not_text_are_an_error_that_says_so() {
    use std::os::unix::ffi::OsStringExt;
    let raw = OsString::from_vec(vec![b'1', 0xff]);
    let mut resolver = Resolver::from_variables([("OXMPI_MCA_btl_shm_x".into(), raw)]);
    assert!(resolver.declare(decl(Kind::Int, "0")).unwrap_err().to_string().contains("UTF-8"));
}

proptest! {
    /// Resolution answers any text in the environment and never panics, and its sentence
    /// names the parameter and keeps control characters away from the terminal.
    #[test]
    fn any_text_is_a_value_or_a_sentence(text in any::<String>(), kind in 0u32..8) {
        let kind = Kind::from_abi(ParamKind(kind + 1)).unwrap();
        let mut declaration = decl(kind, "1");
        if kind == Kind::Enum {
            declaration = declaration.one_of(&["1", "two"]);
        }
        let mut resolver = env(&[("OXMPI_MCA_btl_shm_x", &text)]);
        if let Err(error) = resolver.declare(declaration) {
            let sentence = error.to_string();
            prop_assert!(sentence.contains("btl_shm_x"));
            prop_assert!(!sentence.contains(|c: char| c.is_control()));
        }
    }

    #[test]
    fn every_number_reads_back(n in any::<i64>()) {
        prop_assert_eq!(value(Kind::Int, &n.to_string()), Ok(Value::Int(n)));
        if n > 0 {
            prop_assert_eq!(value(Kind::Int, &format!("{n:#x}")), Ok(Value::Int(n)));
        }
    }

    /// A size is what its suffix says, or refused when that does not fit a signed word.
    #[test]
    fn sizes_scale(n in 0u64..1 << 40, shift in prop::sample::select(vec![("k", 10), ("m", 20), ("g", 30)])) {
        let wide = u128::from(n) << shift.1;
        match value(Kind::Size, &format!("{n}{}", shift.0)) {
            Ok(Value::Size(got)) => prop_assert_eq!(u128::from(got), wide),
            Ok(other) => prop_assert!(false, "{:?}", other),
            Err(_) => prop_assert!(wide > i64::MAX as u128),
        }
    }
}

/// A value may name a file whose text is the value of another parameter; that one's own setting of the same source comes first.
#[test]
fn files_of_text() {
    let folder = std::env::temp_dir().join(format!("oxmpi-text-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("rules");
    std::fs::write(&path, "a\nb").unwrap();
    let (name, path) = ("btl_shm_x_filename", path.to_str().unwrap());
    let file = || {
        let declaration = Declaration::new("btl", "shm", "x_filename", Kind::Text, "", "for a test");
        declaration.text_for("btl_shm_x")
    };
    let value = |mut resolver: Resolver| {
        resolver.declare(file()).map(drop)?;
        resolver.declare(decl(Kind::Text, "none")).map(|r| (r.value.clone(), r.origin.clone()))
    };
    let by_environment = ("OMPI_MCA_btl_shm_x_filename", path);
    let (text, origin) = value(env(&[by_environment])).unwrap();
    assert_eq!(text, Value::Text("a\nb".into()));
    assert!(matches!(&origin, Origin::File { path: named, .. } if named.to_str() == Some(path)), "{origin}");
    // The ranks of a job get the text, and where it is from.
    let mut launcher = env(&[by_environment]);
    launcher.declare(file()).unwrap();
    let handed: Vec<(OsString, OsString)> = launcher.variables();
    assert!(handed.contains(&("OXMPI_MCA_btl_shm_x".into(), "a\nb".into())), "{handed:?}");
    let (again, same) = value(Resolver::from_variables(handed)).unwrap();
    assert_eq!((again, same), (text, origin));
    // A text that is set itself.
    let (text, _) = value(env(&[by_environment, ("OXMPI_MCA_btl_shm_x", "own")])).unwrap();
    assert_eq!(text, Value::Text("own".into()));
    assert_eq!(value(Resolver::new()).unwrap().0, Value::Text("none".into()));
    // Mistakes.
    let refused = |path: &str| value(Resolver::new().with([(name, path)])).unwrap_err().to_string();
    let missing = refused("/nowhere/at/all");
    assert!(
        missing.contains(name) && missing.contains("/nowhere/at/all") && missing.contains("cannot be read")
    );
    assert!(refused(folder.to_str().unwrap()).contains("is not a regular file"));
    std::fs::write(path, b"a\0").unwrap();
    assert!(refused(path).contains("zero byte"));
    std::fs::write(path, b"\xff").unwrap();
    assert!(refused(path).contains("UTF-8"));
    std::fs::write(path, vec![b'x'; (100 << 10) + 1]).unwrap();
    assert!(refused(path).contains("102401 bytes"));
    std::fs::remove_dir_all(&folder).unwrap();
}
