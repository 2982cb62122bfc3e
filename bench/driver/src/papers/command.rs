//! `oxmpi-bench papers`: measures the figures that are named and writes the page.

use super::list::{self, name};
use super::page::Page;
use super::study::{Options, Study};
use crate::library::Library;
use crate::run::Effort;
use crate::sources;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Measures the figures of the five papers, and writes a page with each beside ours
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Papers (000 to 004) and figures (002-fig5.2a, or the beginning of a name); all without one
    names: Vec<String>,
    /// Name the figures, with their cases, and stop
    #[arg(long)]
    list: bool,
    /// Our install; default: the one that this program is part of
    #[arg(long)]
    ours: Option<PathBuf>,
    /// A folder with installs named openmpi, mpich, impi, which stand beside ours
    #[arg(long)]
    peers: Option<PathBuf>,
    /// One round and at most 8 seconds for a figure, every byte looked at; the rest from stored results, marked so
    #[arg(long)]
    quick: bool,
    /// Print everything as JSON instead of a summary
    #[arg(long)]
    machine_readable: bool,
    /// Rounds, in which all libraries take their turn (5; 1 with --quick)
    #[arg(long)]
    rounds: Option<usize>,
    /// A run is made longer until what it measures takes so many seconds
    #[arg(long, default_value_t = 0.4)]
    seconds: f64,
    /// Cells along an edge of a patch of 001-fig2, from 2 (16, 3 with --quick; published are 48)
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..=256))]
    patch: Option<u64>,
    /// Seconds that one job may take
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Begin no job behind so many seconds; the same command goes on from there
    #[arg(long)]
    budget: Option<f64>,
    /// A folder with results of earlier runs (its files are those of OUT/kept); default: those that came with the programs
    #[arg(long)]
    stored: Option<PathBuf>,
    /// Keep results in this folder, too: PAPER.md with pictures, and stored results for later runs (bench/results of the tree)
    #[arg(long)]
    results: Option<PathBuf>,
    /// Where the page and the results go
    #[arg(long, default_value = "oxmpi-papers")]
    out: PathBuf,
}

impl Arguments {
    /// A quick run of the figures that are named, over the install `ours`.
    pub fn quick(names: &[&str], ours: &Path, out: &Path) -> Arguments {
        Arguments {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            list: false,
            ours: Some(ours.to_owned()),
            peers: None,
            quick: true,
            machine_readable: false,
            rounds: None,
            seconds: 0.1,
            patch: None,
            timeout: 60,
            budget: None,
            stored: None,
            results: None,
            out: out.to_owned(),
        }
    }
}

/// Seconds of a figure in a quick run.
const SHARE: Duration = Duration::from_secs(8);
/// Of a run in it: enough for several windows.
const QUICK_ITERATIONS: u64 = 20;

/// Measures and writes.
///
/// # Errors
/// A figure that no paper has, a library that is not there, a file that cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let papers = list::chosen(&arguments.names)?;
    if arguments.list {
        for (paper, figure) in papers.iter().flat_map(|p| p.figures.iter().map(move |f| (p, f))) {
            let cases: Vec<&str> = figure.views.iter().map(|v| v.case).collect();
            let how = if cases.is_empty() { figure.absent.to_owned() } else { cases.join(" ") };
            println!("{:14} {} [{how}]", name(paper, figure), figure.title);
        }
        return Ok(());
    }
    let quick = arguments.quick;
    let effort = Effort {
        rounds: arguments.rounds.unwrap_or(if quick { 1 } else { 5 }).max(1),
        seconds: arguments.seconds,
        iterations: quick.then_some(QUICK_ITERATIONS),
        limit: Duration::from_secs(arguments.timeout),
        until: arguments.budget.map(|s| Instant::now() + Duration::from_secs_f64(s.clamp(0.0, 1e9))),
    };
    let stored = arguments.stored.clone().unwrap_or_else(|| sources::folder().join("results/papers"));
    let options =
        Options { out: arguments.out.clone(), stored, quick, patch: arguments.patch, effort, share: SHARE };
    let mut study = Study::new(options, libraries(arguments)?)?;
    study.run(&papers)?;
    let page = Page::new(&papers, &study, quick);
    let json = serde_json::to_string_pretty(&page.json()).map_err(|e| e.to_string())?;
    write(&arguments.out.join("index.html"), &page.html()?)?;
    write(&arguments.out.join("papers.json"), &json)?;
    if let Some(folder) = &arguments.results {
        page.keep(folder)?;
    }
    if arguments.machine_readable {
        println!("{json}");
        return Ok(());
    }
    let (measured, all) = page.counts();
    println!(
        "{measured} of {all} figures and tables measured; the page: {}",
        arguments.out.join("index.html").display()
    );
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn libraries(arguments: &Arguments) -> Result<Vec<Library>, String> {
    let absolute = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    let ours = match &arguments.ours {
        Some(prefix) => absolute(prefix)?,
        None => sources::prefix()
            .ok_or("which library? This program is not part of an install: name one by --ours")?,
    };
    let mut all = vec![Library::find(super::tables::OURS, &ours)?];
    if let Some(folder) = &arguments.peers {
        all.extend(Library::peers(&absolute(folder)?)?);
    }
    Ok(all)
}
