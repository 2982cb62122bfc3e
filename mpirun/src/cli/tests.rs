//! Lines and what they mean.

use super::environment::{Change, Inherit};
use super::output::Tag;
use super::*;

fn parse(line: &str) -> Result<CommandLine, String> {
    CommandLine::parse(line.split_whitespace().map(OsString::from)).map_err(|why| match why {
        Refusal::Clap(why) => why.to_string(),
        Refusal::Text(why) | Refusal::Say(why) => why,
    })
}

fn app(line: &str) -> App {
    parse(&format!("{line} prog")).expect(line).apps.remove(0)
}

fn job(line: &str) -> JobOptions {
    parse(&format!("{line} prog")).expect(line).job
}

#[test]
fn the_table_is_sound() {
    command().debug_assert();
    let mut names: Vec<&str> =
        OPTIONS.iter().flat_map(|o| o.aliases.iter().copied().chain([o.name])).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name twice: {names:?}");
    for o in OPTIONS {
        assert!(o.values.len() <= 2 && (!o.is_shown() || !o.help.is_empty()), "{}", o.name);
    }
}

#[test]
fn numbers_of_processes() {
    for line in ["-n 3", "-np 3", "--np 3", "--n 3", "-c 3", "-n3", "-c3", "--np=3", "-np=3"] {
        assert_eq!(app(line).ranks, Some(3), "{line}");
    }
    assert_eq!(app("").ranks, None);
    for line in ["-n 0 p", "-n -1 p", "-n x p", "-n 4294967296 p", "-n 1 -n 1 p"] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn one_dash_or_two() {
    let line = parse(
        "-mca btl ^tcp --mca a -1 -bind-to CORE -oversubscribe -timeout 7 -x A -x B=c --allow-run-as-root p",
    )
    .expect("sound");
    let pairs = [("btl".to_owned(), "^tcp".to_owned()), ("a".into(), "-1".into())];
    assert_eq!(line.apps[0].parameters, pairs);
    assert_eq!(line.job.binding.to, Some(BindTo::Object(Level::Core)));
    assert_eq!(line.job.mapping.oversubscribe, Some(true));
    assert_eq!(line.job.time_limit(None), Ok(Some(Duration::from_secs(7))));
    let changes = [Change::Pass("A".into()), Change::Set("B".into(), "c".into())];
    assert_eq!(line.apps[0].environment.changes, changes);
}

#[test]
fn what_is_behind_the_program_belongs_to_it() {
    let line = parse("-n 2 prog -n 3 --mca x -- y --help").expect("a program");
    assert_eq!((&line.apps[0].program, line.apps[0].ranks), (&"prog".into(), Some(2)));
    assert_eq!(line.apps[0].arguments, ["-n", "3", "--mca", "x", "--", "y", "--help"]);
    let line = parse("-n 2 -- -odd -name").expect("a program");
    assert_eq!((&line.apps[0].program, line.apps[0].arguments.len()), (&"-odd".into(), 1));
}

#[test]
fn unknown_options_are_refused_with_the_nearest() {
    for (line, near) in [
        ("--oversubscrib p", "--oversubscribe"),
        ("-bindto core p", "--bind-to"),
        ("--timeuot 3 p", "--timeout"),
        ("-hostfil f p", "--hostfile"),
        ("--hepl", "--help"),
    ] {
        let why = parse(line).expect_err(line);
        assert!(why.contains(near), "{line}: {why}");
    }
    assert!(parse("-Q p").expect_err("unknown").contains("-Q"));
    assert!(parse("--bind-to sofa p").expect_err("unknown value").contains("core"));
}

#[test]
fn several_programs_have_their_own_options() {
    let line =
        parse("--map-by node -n 1 -x A=1 a b : -n 2 --wdir /tmp --mca m v c : d : -np 1 e f").expect("sound");
    let programs: Vec<_> = line.apps.iter().map(|app| app.program.to_str().expect("text")).collect();
    assert_eq!(programs, ["a", "c", "d", "e"]);
    assert_eq!(line.apps.iter().map(|app| app.ranks).collect::<Vec<_>>(), [Some(1), Some(2), None, Some(1)]);
    assert_eq!(line.apps[1].wdir, Some("/tmp".into()));
    assert_eq!(line.apps[1].parameters.len(), 1);
    assert!(line.apps[1].environment.changes.is_empty());
    assert_eq!(line.job.mapping.by, Some(MapBy::Node));
    let why = parse("a : --map-by core b").expect_err("late");
    assert!(why.contains("--map-by") && why.contains("program b"), "{why}");
    for line in ["-n 1", "a :", ": a", "a : : b", "-n 1 a : -n 2"] {
        assert!(parse(line).expect_err(line).contains("no program"), "{line}");
    }
}

#[test]
fn an_app_file_names_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("apps");
    std::fs::write(&file, "# two of them\n-n 1 a 'b c'\n\n-n 2 -x A=1 d # and so on\n").expect("written");
    let line = parse(&format!("--map-by slot --app {}", file.display())).expect("sound");
    assert_eq!(line.apps.len(), 2);
    assert_eq!(line.apps[0].arguments, ["b c"]);
    assert_eq!(line.apps[1].ranks, Some(2));
    assert!(parse(&format!("--app {} -n 2", file.display())).is_err());
    assert!(parse(&format!("--app {} prog", file.display())).is_err());
    std::fs::write(&file, "-n 1 \\\r\n  a 'b \\\nc' \\\n\n# not this \\\n-n 2 d '\\\\'\r\n")
        .expect("written");
    let line = parse(&format!("--configfile {}", file.display())).expect("lines that go on");
    assert_eq!((line.apps.len(), line.apps[0].ranks), (2, Some(1)));
    assert_eq!(
        (&*line.apps[0].arguments, &*line.apps[1].arguments),
        (&["b c".into()][..], &["\\\\".into()][..])
    );
    std::fs::write(&file, "a\n-n 1 b \\\n  c \\").expect("written");
    let why = parse(&format!("--app {}", file.display())).expect_err("nothing to go on in");
    assert!(why.contains("line 2") && why.contains("no line is left"), "{why}");
    assert!(parse("--app /no/such/file").expect_err("no file").contains("/no/such/file"));
    std::fs::write(&file, "-n 1 'a").expect("written");
    assert!(parse(&format!("--app {}", file.display())).expect_err("open quote").contains("line 1"));
}

#[test]
fn earlier_spellings_mean_what_they_meant() {
    let by = |line: &str| job(line).mapping.by;
    assert_eq!(by("-N 2"), Some(MapBy::PerResource(2, None)));
    assert_eq!(by("-ppn 2"), by("-N2"));
    assert_eq!(by("--pernode"), Some(MapBy::PerResource(1, None)));
    assert_eq!(by("-npersocket 3"), Some(MapBy::PerResource(3, Some(Level::Package))));
    assert_eq!(by("--ppr 2:core"), Some(MapBy::PerResource(2, Some(Level::Core))));
    assert_eq!((by("-bynode"), by("-byslot")), (Some(MapBy::Node), Some(MapBy::Slot)));
    assert_eq!(by("--cpu-list 0,1"), Some(MapBy::PeList(vec![0, 1])));
    assert_eq!(job("--cpus-per-rank 2").mapping.pe, Some(2));
    assert_eq!(job("--bind-to-socket").binding.to, Some(BindTo::Object(Level::Package)));
    assert_eq!(job("--tag-output").output.tag, Tag::Short);
    assert_eq!(job("-output-filename f").output.file, Some("f".into()));
    assert!(job("--display-map --display-allocation").display.allocation);
}

#[test]
fn mpich_s_spellings() {
    let line =
        parse("-genv A 1 -genvnone -l -hosts h,i -f m -env B 2 -ppn 1 -bind-to core:2 p").expect("sound");
    assert_eq!(line.job.environment.inherit, Some(Inherit::Nothing));
    assert_eq!(line.job.environment.changes, [Change::Set("A".into(), "1".into())]);
    assert_eq!(line.job.output.tag, Tag::Rank);
    assert_eq!(line.job.mapping.pe, Some(2));
    assert_eq!(line.apps[0].hosts, [("h,i".to_owned(), true)]);
    assert_eq!(line.apps[0].hostfiles, [PathBuf::from("m")]);
    assert_eq!(line.apps[0].environment.changes, [Change::Set("B".into(), "2".into())]);
    let only = app("-envlist A,B").environment.inherit;
    assert_eq!(only, Some(Inherit::Only(vec!["A".into(), "B".into()])));
    assert!(parse("-genvall -genvnone p").is_err());
}

#[test]
fn changes_to_the_environment() {
    let e = app("-x P* --set-env Q=1 --unset-env R* --append-env S[:] t --prepend-env U[,] v").environment;
    let s = |text: &str| OsString::from(text);
    assert_eq!(
        e.changes,
        [
            Change::Pass(s("P*")),
            Change::Set(s("Q"), s("1")),
            Change::Unset(s("R*")),
            Change::Append { name: s("S"), between: s(":"), value: s("t") },
            Change::Prepend { name: s("U"), between: s(","), value: s("v") },
        ]
    );
    for wrong in
        ["-x =1", "-x A=1 -x A=2", "-x A*=2", "--append-env A b", "--prepend-env [:] b", "--set-env A"]
    {
        assert!(parse(&format!("{wrong} p")).is_err(), "{wrong}");
    }
}

#[test]
fn what_cannot_be_together_is_refused() {
    for line in [
        "--oversubscribe --nooversubscribe",
        "--map-by core --bynode",
        "--map-by slot -N 2",
        "--bind-to core --bind-to-socket",
        "--output dir=a,file=b",
        "-q -v",
        "--timeout 3 --runtime-options timeout=4",
        "--rankfile f --map-by core",
        "--use-hwthread-cpus --map-by :corecpus",
    ] {
        let why = parse(&format!("{line} p")).expect_err(line);
        assert!(why.contains("cannot be asked for together"), "{line}: {why}");
    }
}

#[test]
fn what_is_missing_says_why() {
    let why = parse("--xterm 0 p").expect_err("no windows");
    assert!(why.contains("--xterm") && why.contains("windows"), "{why}");
    assert!(parse("--prtemca grpcomm x p").expect_err("no PRRTE").contains("grpcomm"));
    let both =
        parse("--prtemca plm ssh --gmca a 1 --launch-agent /x/d p").expect("counterparts").job.parameters;
    let wanted = [("plm", "ssh"), ("prte_launch_agent", "/x/d"), ("a", "1")]
        .map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert!(wanted.iter().all(|pair| both.contains(pair)), "{both:?}");
    assert_eq!(
        job("--prtemca rmaps_default_mapping_policy numa").mapping.by,
        Some(MapBy::Object(Level::Numa))
    );
    let both = job("--prtemca hwloc_default_binding_policy none --bind-to core");
    assert_eq!(both.binding.to, Some(BindTo::Object(Level::Core)));
}

#[test]
fn help_knows_every_option_and_topic() {
    let say = |line: &str| match CommandLine::parse(line.split_whitespace().map(OsString::from)) {
        Err(Refusal::Say(text)) => text,
        other => panic!("{line}: {other:?}"),
    };
    for line in ["--help", "-h", "-help", "-n 2 --help"] {
        assert!(say(line).contains("--oversubscribe"), "{line}");
    }
    for o in OPTIONS {
        assert!(say(&format!("--help {}", o.name)).contains(o.name));
    }
    for topic in help::topics() {
        assert!(say(&format!("--help {topic}")).len() > 60, "{topic}");
    }
    assert!(say("--help=map-by").contains("ppr:N") && say("--help topics").contains("placement"));
    assert_eq!(say("-V"), VERSION);
    assert!(parse("--help mapby").expect_err("nearly").contains("map-by"));
    assert!(parse("-x --help prog").is_ok(), "a value is no option");
}

#[test]
fn time_limits_must_agree() {
    let o = job("--timeout 5");
    assert_eq!(o.time_limit(None), Ok(Some(Duration::from_secs(5))));
    assert_eq!(o.time_limit(Some(OsStr::new("5"))), Ok(Some(Duration::from_secs(5))));
    assert!(o.time_limit(Some(OsStr::new("6"))).is_err());
    assert!(o.time_limit(Some(OsStr::new("soon"))).is_err());
    assert_eq!(job("").time_limit(Some(OsStr::new("6"))), Ok(Some(Duration::from_secs(6))));
    assert_eq!(job("").time_limit(None), Ok(None));
}
