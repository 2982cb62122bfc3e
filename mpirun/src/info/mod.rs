//! `mpi-info`: what this installation is, which components and parameters it has, what a parameter
//! means and who set it, and what is wrong with a parameter file.
//!
//! It resolves parameters from the same sources as a job would, so what it prints is what a rank
//! started here would get. Components are loaded for what they declare; none is opened.
//!
//! Map: `options` (the command line) · `answers` (sources of all answers) · `facts` (version, paths, build) · `listing` (components and
//! parameters, pretty and parsable) · `json` · `explain`, with `process` and `in_force` (values that a rank would have) ·
//! `verbs` (devices and endpoint categories) · `ofi` (providers) · `file` (what serves a file) · `check` · `calibrate` · `tool` (events) · `pages` (`--help TOPIC`).

mod answers;
mod calibrate;
mod check;
mod explain;
mod facts;
mod file;
mod in_force;
mod json;
mod listing;
mod ofi;
mod options;
mod pages;
mod process;
mod tool;
mod verbs;

use answers::{Answer, AnswerSources};
use options::Options;
use oxmpi_mca_params::Places;
use std::io::Write;
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let [question, topic] = &words[..]
        && ["--help", "-help", "-h"].iter().any(|help| question == help)
    {
        return show(pages::page(&Places::of_this_program(), &topic.to_string_lossy()));
    }
    let options = match Options::read(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            // Where it cannot be printed there is nobody to tell.
            let _ = why.print();
            return if why.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    show(answer(&options))
}

fn show(answer: Result<Answer, String>) -> ExitCode {
    match answer {
        Ok(answer) => {
            // A reader that went away (head, grep -q) has seen enough.
            let _ = std::io::stdout().lock().write_all(answer.text.as_bytes());
            if answer.good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            oxmpi_system::reportln!("mpi-info: {why}");
            ExitCode::FAILURE
        }
    }
}

fn answer(options: &Options) -> Result<Answer, String> {
    if options.version {
        return Ok(Answer { text: facts::version(options), good: true });
    }
    if let Some(words) = &options.calibrate_rank {
        return calibrate::rank::run(words).map(|text| Answer { text, good: true });
    }
    let known = AnswerSources::gather(options);
    if let Some(file) = &options.calibrate {
        let effort = calibrate::Effort::of(options.quick);
        return calibrate::answer(&known, file, effort, options.even_if_busy);
    }
    if let Some(file) = &options.check {
        return check::answer(&known, file);
    }
    // Mistakes are told beside the answer, which is still right.
    for mistake in &known.mistakes {
        oxmpi_system::reportln!("mpi-info: {mistake}");
    }
    for warning in known.registry.warnings() {
        oxmpi_system::reportln!("mpi-info: {}", warning.text());
    }
    if let Some(name) = &options.explain {
        return explain::answer(&known, name, options);
    }
    if let Some(path) = &options.file {
        return file::answer(&known, path, options);
    }
    if options.ofi {
        return ofi::answer(&known, options);
    }
    if let Some(contexts) = options.verbs {
        return verbs::answer(contexts, options);
    }
    let events = match options.wanted_events() {
        Some(framework) => tool::of_framework(tool::events()?, framework)?,
        None => Vec::new(),
    };
    let level = options.level.unwrap_or(9);
    let events: Vec<_> = events.into_iter().filter(|event| event.level <= level).collect();
    let text = match options.json {
        true => json::all(&known, options, &events)?,
        false => listing::all(&known, options, &events)?,
    };
    Ok(Answer { text, good: known.mistakes.is_empty() })
}
