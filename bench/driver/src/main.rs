//! `oxmpi-bench`: lists and runs the cases.

use clap::{Parser, Subcommand};
use oxmpi_bench::case::{Case, Sizes};
use oxmpi_bench::library::Library;
use oxmpi_bench::run::{Effort, Runner};
use oxmpi_bench::transport_setup::TransportSetup;
use oxmpi_bench::{cases, papers, plot};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs the experiments of a dissertation on MPI and threads: all cases, or those named
#[derive(Parser)]
#[command(name = "oxmpi-bench", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Names of cases, whole or up to a part (fig5.2 is fig5.2a, b and c)
    cases: Vec<String>,
    /// Name the cases and stop
    #[arg(long)]
    list: bool,
    /// Our install
    #[arg(long)]
    ours: Option<PathBuf>,
    /// A folder with installs named openmpi, mpich, impi
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Another install, NAME=PREFIX; as often as there are
    #[arg(long = "library")]
    libraries: Vec<String>,
    /// Only these of the libraries, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Run our jobs over this transport (verbs, tcp, ugni) between two nodes, a half of the ranks on each
    #[arg(long)]
    over: Option<String>,
    /// The two nodes, A,B, for all libraries; unless given, two that are made up on this machine, for ours alone
    #[arg(long, value_delimiter = ',', requires = "over")]
    hosts: Vec<String>,
    /// A parameter of ours for every job, NAME=VALUE; as often as there are
    #[arg(long = "param", requires = "over")]
    params: Vec<String>,
    /// Everything as small as it can be, and every byte looked at: for a look whether it works
    #[arg(long)]
    quick: bool,
    /// Rounds, in which all libraries take their turn
    #[arg(long)]
    rounds: Option<usize>,
    /// A run is made longer until what it measures takes so many seconds
    #[arg(long, default_value_t = 0.4)]
    seconds: f64,
    /// Iterations of each run, instead of a time
    #[arg(long)]
    iterations: Option<u64>,
    /// Pairs, senders or threads, separated by commas
    #[arg(long, value_delimiter = ',')]
    entities: Option<Vec<u64>>,
    /// Messages in a window
    #[arg(long)]
    window: Option<u64>,
    /// Cells along an edge of a patch, from 2 (the paper on one-sided communication has 48)
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=256))]
    patch: Option<u64>,
    /// Seconds that one job may take
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Begin no job behind so many seconds, and go on from there the next time
    #[arg(long)]
    budget: Option<f64>,
    /// The library that cases over a transport open, TRANSPORT=LIBRARY, as ugni=liboxmpi_ugni_emulation.so; default: the
    /// transport's own default
    #[arg(long)]
    opens: Vec<String>,
    /// Where CSV, JSON and SVG go
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
}

/// Commands beside running cases by name.
#[derive(Subcommand)]
enum Command {
    Papers(papers::command::Arguments),
}

fn libraries(arguments: &Arguments) -> Result<Vec<Library>, String> {
    let absolute = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    let mut all = Vec::new();
    if let Some(prefix) = &arguments.ours {
        all.push(Library::find("ours", &absolute(prefix)?)?);
    }
    if let Some(folder) = &arguments.peers {
        all.extend(Library::peers(&absolute(folder)?)?);
    }
    for given in &arguments.libraries {
        let (name, prefix) = given.split_once('=').ok_or_else(|| format!("{given} is not NAME=PREFIX"))?;
        all.push(Library::find(name, &absolute(Path::new(prefix))?)?);
    }
    if !arguments.only.is_empty() {
        all.retain(|l| arguments.only.contains(&l.name));
    }
    match all.is_empty() {
        true => Err("no library: name one by --ours, --peers or --library".into()),
        false => Ok(all),
    }
}

fn chosen(all: Vec<Case>, names: &[String]) -> Result<Vec<Case>, String> {
    let fits = |case: &Case, name: &str| case.name.starts_with(name);
    if let Some(name) = names.iter().find(|n| !all.iter().any(|c| fits(c, n))) {
        return Err(format!("there is no case {name}; --list names them"));
    }
    // A whole name means that case alone.
    let wanted = |case: &Case| {
        names.iter().any(|n| case.name == n || fits(case, n) && !all.iter().any(|c| c.name == n))
    };
    Ok(all.iter().filter(|c| names.is_empty() || wanted(c)).cloned().collect())
}

fn over(arguments: &Arguments) -> Result<Option<TransportSetup>, String> {
    let Some(transport) = &arguments.over else { return Ok(None) };
    let hosts = match &arguments.hosts[..] {
        [] => None,
        [a, b] => Some([a.clone(), b.clone()]),
        _ => return Err("--hosts takes two nodes, A,B".into()),
    };
    let pair = |given: &String| {
        let (name, value) = given.split_once('=').ok_or_else(|| format!("{given} is not NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    let params: Vec<_> = arguments.params.iter().map(pair).collect::<Result<_, String>>()?;
    TransportSetup::new(transport, hosts, params).map(Some)
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut sizes = if arguments.quick { Sizes::quick() } else { Sizes::whole() };
    if let Some(entities) = &arguments.entities {
        sizes.entities.clone_from(entities);
        sizes.origins.clone_from(entities);
    }
    sizes.window = arguments.window.unwrap_or(sizes.window);
    sizes.patch = arguments.patch.unwrap_or(sizes.patch);
    for given in &arguments.opens {
        let (name, path) =
            given.split_once('=').ok_or_else(|| format!("{given} is not TRANSPORT=LIBRARY"))?;
        sizes.opened.insert(name.to_owned(), path.to_owned());
    }
    sizes.verbs = arguments.over.as_deref() == Some("verbs");
    let cases = chosen(cases::all(&sizes), &arguments.cases)?;
    if arguments.list {
        for case in &cases {
            println!("{:20} figure {:12} {}", case.name, case.figure, case.title);
        }
        return Ok(());
    }
    let effort = Effort {
        rounds: arguments.rounds.unwrap_or(if arguments.quick { 1 } else { 5 }).max(1),
        seconds: arguments.seconds,
        iterations: arguments.iterations.or(arguments.quick.then_some(2)),
        limit: Duration::from_secs(arguments.timeout),
        until: arguments.budget.map(|s| Instant::now() + Duration::from_secs_f64(s.clamp(0.0, 1e9))),
    };
    let mut runner = Runner::new(libraries(arguments)?, effort, arguments.out.join("work"))?;
    runner.over = over(arguments)?;
    if runner.over.as_ref().is_some_and(TransportSetup::is_made_up)
        && runner.libraries.iter().any(|l| !l.is_ours())
    {
        return Err("only ours runs on nodes that are made up: name two by --hosts".into());
    }
    println!("{}", runner.machine.line());
    for case in &cases {
        let Some(report) = runner.case(case, &arguments.out)? else {
            println!("time is up in the middle of {}; the same command goes on with it", case.name);
            break;
        };
        report.write(&arguments.out)?;
        plot::draw(case, &report, &arguments.out)?;
        println!("{}", report.text());
    }
    println!("written to {}", arguments.out.display());
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match &arguments.command {
        Some(Command::Papers(papers)) => papers::command::run(papers),
        None => run(&arguments),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("oxmpi-bench: {why}");
            ExitCode::FAILURE
        }
    }
}
