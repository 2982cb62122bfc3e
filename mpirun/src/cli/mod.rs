//! The command line: what was asked for, in types.
//!
//! `table` has every option; clap is built from it and reads them, with help and the nearest name
//! for a wrong one. Before that, `split` handles what clap cannot know (one dash, where a program
//! begins, `:`). `options` is the result. Here the words become values: `policy` (map, rank, bind, display), `output`
//! (input, output, the time limit), `environment`, `runtime_options`. Options that exclude each other are
//! refused here or, where it depends on the machine, by the plan.

mod app_line;
pub mod document;
pub mod environment;
mod options;
pub mod output;
mod parsed_options;
pub mod policy;
mod runtime_options;
mod split;
pub mod table;
pub mod words;

use crate::help::{self, paragraph};
use crate::name_server::Wanted;
use clap::{Arg, ArgAction, ArgMatches, Command};
use environment::EnvironmentOptions;
pub use options::{App, CommandLine, JobOptions};
use output::{Buffering, Stdin, Verbosity};
use oxmpi_wireup::topology::Level;
pub use parsed_options::ParsedOptions;
use policy::{BindTo, MapBy, Mapping, RankBy, conflict};
use runtime_options::RuntimeOptions;
use split::Words;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;
use table::{OPTIONS, Scope, Standing, Times};
use words::{bad_value, count, numbers};

/// Why there is no job: clap's text, one of ours, or something that was asked for instead.
#[derive(Debug)]
pub enum Refusal {
    Clap(clap::Error),
    Text(String),
    /// Help or version, for standard output.
    Say(String),
}

impl From<String> for Refusal {
    fn from(text: String) -> Refusal {
        Refusal::Text(text)
    }
}

/// The text of `--version`.
pub const VERSION: &str = concat!("mpirun (oxmpi) ", env!("CARGO_PKG_VERSION"), "\n");

impl CommandLine {
    /// Reads the arguments behind the program's own name.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refusal> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        match split::asked_instead(&arguments) {
            Some(split::InfoRequest::Version) => return Err(Refusal::Say(VERSION.into())),
            Some(split::InfoRequest::Help(topic)) => return Err(help_about(topic.as_deref())),
            None => {}
        }
        let mut command = command();
        let mut contexts = split::contexts(arguments);
        let first = contexts.remove(0);
        let head = matches(&mut command, &first)?;
        let head = ParsedOptions(&head);
        let mut line = CommandLine { job: JobOptions::read(&head)?, apps: Vec::new() };
        match head.text("app")? {
            Some(file) => {
                if let Some(option) = head.first_of(Scope::App) {
                    return Err(conflict("--app", &format!("--{option}")).into());
                }
                if !first.rest.is_empty() || !contexts.is_empty() {
                    return Err(conflict("--app", "a program on the command line").into());
                }
                contexts = app_file(file)?;
            }
            None => line.apps.push(App::read(&head, first.rest)?),
        }
        for context in contexts {
            let found = matches(&mut command, &context)?;
            let given = ParsedOptions(&found);
            let program = context.rest.first().cloned().unwrap_or_default();
            if let Some(option) = given.first_of(Scope::Job) {
                let text = paragraph("job-option", &[option, &program.to_string_lossy()]);
                return Err(text.into());
            }
            line.apps.push(App::read(&given, context.rest)?);
        }
        Ok(line)
    }
}

impl JobOptions {
    /// The time limit, from the options or from MPIEXEC_TIMEOUT, which must not contradict them.
    pub fn time_limit(&self, variable: Option<&OsStr>) -> Result<Option<Duration>, String> {
        let by_variable = match variable {
            None => None,
            Some(text) => match text.to_str().and_then(|t| t.trim().parse::<u64>().ok()).filter(|&s| s > 0) {
                Some(seconds) => Some(seconds),
                None => {
                    return Err(format!(
                        "MPIEXEC_TIMEOUT is {text:?}, which is no number of seconds above 0"
                    ));
                }
            },
        };
        match (self.timeout, by_variable) {
            (Some(a), Some(b)) if a != b => {
                Err(format!("--timeout says {a} seconds and MPIEXEC_TIMEOUT says {b}; give one of them"))
            }
            (a, b) => Ok(a.or(b).map(Duration::from_secs)),
        }
    }

    fn read(given: &ParsedOptions<'_>) -> Result<JobOptions, String> {
        let mut job = JobOptions { status_ends_job: true, aggregate_help: true, ..JobOptions::default() };
        job.read_places(given)?;
        job.read_old_places(given)?;
        job.read_output(given)?;
        job.read_control(given)?;
        job.default_hostfile = given.text("default-hostfile")?.map(PathBuf::from);
        job.parameters.extend(given.pairs("gmca")?);
        job.tune = given.all("tune").cloned().collect();
        job.no_prefix = given.flag("noprefix");
        job.forward_environment |= given.flag("fwd-environment");
        if let Some(agent) = given.text("launch-agent")? {
            job.parameters.push(("prte_launch_agent".to_owned(), agent.to_owned()));
        }
        if !job.no_prefix {
            job.prefix = given.text("prefix")?.map(PathBuf::from);
        }
        job.universe = given.text("usize")?.map(|n| count("-usize", n)).transpose()?;
        job.environment = EnvironmentOptions::read_for_all(given)?;
        job.mapping.check()?;
        Ok(job)
    }

    fn read_places(&mut self, given: &ParsedOptions<'_>) -> Result<(), String> {
        // The command line comes first: defaults only fill what it leaves open.
        if let Some(text) = given.text("map-by")? {
            let also = self.mapping.add(text)?;
            self.display.map |= also.display;
            self.do_not_launch |= also.do_not_launch;
        }
        if let Some(text) = given.text("bind-to")? {
            self.binding.add(text, &mut self.mapping)?;
        }
        self.rank_by = given.text("rank-by")?.map(RankBy::parse).transpose()?;
        self.binding.report |= given.flag("report-bindings");
        for text in given.texts("display")? {
            self.display.add(text)?;
        }
        for (name, value) in given.pairs("prtemca")? {
            self.launcher_parameter(&name, &value)?;
        }
        if let Some(file) = given.text("rankfile")? {
            self.mapping.set_by(MapBy::Rankfile)?;
            self.mapping.file = Some(file.into());
        }
        for (option, wanted) in [("oversubscribe", true), ("nooversubscribe", false)] {
            if given.flag(option) {
                self.mapping.set_oversubscribe(wanted)?;
            }
        }
        if given.flag("use-hwthread-cpus") {
            self.mapping.set_threads(true)?;
        }
        self.do_not_launch |= given.flag("do-not-launch");
        Ok(())
    }

    fn read_old_places(&mut self, given: &ParsedOptions<'_>) -> Result<(), String> {
        for (option, level) in [("npernode", None), ("npersocket", Some(Level::Package))] {
            if let Some(text) = given.text(option)? {
                let n = count(&format!("--{option}"), text)?;
                self.mapping.set_by(MapBy::PerResource(n, level))?;
            }
        }
        if given.flag("pernode") {
            self.mapping.set_by(MapBy::PerResource(1, None))?;
        }
        if let Some(text) = given.text("ppr")? {
            self.mapping.add(&format!("ppr:{text}"))?;
        }
        for (option, by) in
            [("bynode", MapBy::Node), ("bycore", MapBy::Object(Level::Core)), ("byslot", MapBy::Slot)]
        {
            if given.flag(option) {
                self.mapping.set_by(by)?;
            }
        }
        for (option, level) in [("bind-to-core", Level::Core), ("bind-to-socket", Level::Package)] {
            if given.flag(option) {
                self.binding.set(BindTo::Object(level))?;
            }
        }
        if let Some(text) = given.text("cpus-per-proc")? {
            self.mapping.set_pe(count("--cpus-per-proc", text)?)?;
        }
        if let Some(text) = given.text("cpu-set")? {
            let list = numbers(text).ok_or_else(|| bad_value("--cpu-set", text, "numbers and ranges"))?;
            self.mapping.set_by(MapBy::PeList(list))?;
        }
        self.mapping.nolocal |= given.flag("nolocal");
        self.display.map |= given.flag("display-map");
        self.display.map_devel |= given.flag("display-devel-map");
        self.display.topo |= given.flag("display-topo");
        self.display.allocation |= given.flag("display-allocation");
        Ok(())
    }

    /// `--prtemca`: the placement defaults under PRRTE's names.
    fn launcher_parameter(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "rmaps_default_mapping_policy" if self.mapping == Mapping::default() => {
                self.mapping.add(value).map(|_| ())
            }
            "hwloc_default_binding_policy" if self.binding.to.is_none() => {
                self.binding.add(value, &mut self.mapping)
            }
            "rmaps_default_ranking_policy" if self.rank_by.is_none() => {
                self.rank_by = Some(RankBy::parse(value)?);
                Ok(())
            }
            "prte_default_hostfile" if self.default_hostfile.is_none() => {
                self.default_hostfile = Some(value.into());
                Ok(())
            }
            "rmaps_default_mapping_policy"
            | "hwloc_default_binding_policy"
            | "rmaps_default_ranking_policy"
            | "prte_default_hostfile" => Ok(()),
            _ if crate::remote::options::is_one(name) => {
                self.parameters.push((name.to_owned(), value.to_owned()));
                Ok(())
            }
            _ => Err(paragraph("prtemca", &[name])),
        }
    }

    fn read_output(&mut self, given: &ParsedOptions<'_>) -> Result<(), String> {
        for text in given.texts("output")? {
            self.output.add(text)?;
        }
        for (option, directive) in [
            ("tag-output", "tag"),
            ("timestamp-output", "timestamp"),
            ("merge-stderr-to-stdout", "merge-stderr-to-stdout"),
            ("xml", "xml"),
            ("prepend-rank", "rank"),
        ] {
            if given.flag(option) {
                self.output.add(directive)?;
            }
        }
        if let Some(folder) = given.text("output-directory")? {
            self.output.add(&format!("dir={folder}"))?;
        }
        if let Some(file) = given.text("output-filename")? {
            self.output.add(&format!("file={file}"))?;
        }
        if self.output.dir.is_some() && self.output.file.is_some() {
            return Err(conflict("--output dir=", "--output file="));
        }
        if let Some(text) = given.text("stdin")? {
            self.stdin = Stdin::parse(text)?;
        }
        if let Some(text) = given.text("stream-buffering")? {
            self.buffering = Buffering::parse(text)?;
        }
        self.verbosity = match (given.flag("quiet"), given.flag("verbose")) {
            (true, true) => return Err(conflict("--quiet", "--verbose")),
            (true, false) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        Ok(())
    }

    fn read_control(&mut self, given: &ParsedOptions<'_>) -> Result<(), String> {
        self.at_time_limit.stack_traces = given.flag("get-stack-traces");
        self.at_time_limit.state = given.flag("report-state-on-timeout");
        if let Some(text) = given.text("timeout")? {
            let seconds = words::seconds(text)
                .ok_or_else(|| bad_value("--timeout", text, "a number of seconds above 0"))?;
            self.timeout = Some(seconds);
        }
        if let Some(text) = given.text("spawn-timeout")? {
            let seconds = words::seconds(text)
                .ok_or_else(|| bad_value("--spawn-timeout", text, "a number of seconds above 0"))?;
            self.spawn_timeout = Some(seconds);
        }
        self.children_apart = given.flag("report-child-jobs-separately");
        for text in given.texts("runtime-options")? {
            let mut options = RuntimeOptions::default();
            options.add(text)?;
            options.put_into(self)?;
        }
        if let Some(text) = given.text("with-ft")?.filter(|t| !matches!(*t, "no" | "none" | "false" | "0")) {
            return Err(bad_value("--with-ft", text, "none: there is no fault tolerance yet"));
        }
        if let Some(text) = given.text("personality")?.filter(|t| *t != "ompi") {
            return Err(bad_value("--personality", text, "ompi"));
        }
        self.report_pid = given.text("report-pid")?.map(str::to_owned);
        self.read_name_server(given)?;
        if let Some(text) = given.text("forward-signals")? {
            self.forward_signals = Some(runtime_options::signals(text)?);
        }
        Ok(())
    }

    fn read_name_server(&mut self, given: &ParsedOptions<'_>) -> Result<(), String> {
        let seconds = given.text("server-wait-time")?.map(|text| {
            words::seconds(text)
                .ok_or_else(|| bad_value("--server-wait-time", text, "a number of seconds above 0"))
        });
        let seconds = seconds.transpose()?.unwrap_or(10);
        let wait = given.flag("wait-for-server").then_some(Duration::from_secs(seconds));
        let text = given.text("ompi-server")?;
        self.name_server = text.map(|text| Wanted { text: text.to_owned(), wait });
        Ok(())
    }
}

impl App {
    fn read(given: &ParsedOptions<'_>, rest: Vec<OsString>) -> Result<App, String> {
        let mut rest = rest.into_iter();
        let Some(program) = rest.next() else { return Err(paragraph("no-program", &[])) };
        if let Some(arch) = given.text("arch")? {
            let own = std::env::consts::ARCH;
            if arch != own {
                return Err(bad_value("--arch", arch, own));
            }
        }
        let mut hosts: Vec<(String, bool)> = Vec::new();
        for (option, all) in [("host", false), ("hosts", true)] {
            hosts.extend(given.texts(option)?.into_iter().map(|list| (list.to_owned(), all)));
        }
        let mut parameters = given.pairs("mca")?;
        parameters.extend(given.pairs("omca")?);
        let files = given.texts("hostfile")?.into_iter().chain(given.texts("f")?);
        Ok(App {
            ranks: given.text("np")?.map(|n| count("-n", n)).transpose()?,
            hosts,
            hostfiles: files.map(PathBuf::from).collect(),
            wdir: given.one("wdir").map(PathBuf::from),
            path: given.one("path").cloned(),
            environment: EnvironmentOptions::read_for_app(given)?,
            parameters,
            soft: given.text("soft")?.map(str::to_owned),
            file: given.text("file")?.map(str::to_owned),
            program,
            arguments: rest.collect(),
        })
    }
}

/// clap's reader, made from the table.
fn command() -> Command {
    let mut command =
        Command::new("mpirun")
            .override_usage("mpirun [OPTIONS] PROGRAM [ARGUMENTS]... [: [OPTIONS] PROGRAM [ARGUMENTS]...]...")
            .about("Start a parallel program.")
            .disable_help_flag(true)
            .disable_version_flag(true)
            .after_help(help::section("after-options").unwrap_or_default())
            .arg(Arg::new("help").short('h').long("help").action(ArgAction::SetTrue).help(
                "Show this; --help TOPIC or --help OPTION says more, --help topics shows which there are",
            ))
            .arg(
                Arg::new("version")
                    .short('V')
                    .long("version")
                    .action(ArgAction::SetTrue)
                    .help("Show the version"),
            );
    for option in OPTIONS {
        let mut arg = Arg::new(option.name)
            .long(option.name)
            .aliases(option.aliases)
            .help(option.help)
            .help_heading(option.section)
            .hide(!option.is_shown());
        let mut shorts = option.short.iter().copied();
        if let Some(first) = shorts.next() {
            arg = arg.short(first).short_aliases(shorts);
        }
        arg = match (option.values.len(), option.times) {
            // A flag may be given again; counted ones would have dots behind them in the help.
            (0, _) => arg.action(ArgAction::SetTrue).overrides_with(option.name),
            (_, Times::Once) => arg.action(ArgAction::Set),
            (_, Times::Many) => arg.action(ArgAction::Append),
        };
        if !option.values.is_empty() {
            arg = arg
                .num_args(option.values.len())
                .value_names(option.values)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString));
        }
        command = command.arg(arg);
    }
    command
}

/// Reads one program's options; one that is known and missing is refused with its reason.
fn matches(command: &mut Command, words: &Words) -> Result<ArgMatches, Refusal> {
    let line = std::iter::once(OsString::from("mpirun")).chain(words.options.iter().cloned());
    let found = command.try_get_matches_from_mut(line).map_err(without_missing_tips)?;
    let given = ParsedOptions(&found);
    for option in OPTIONS {
        let Standing::Missing(why) = option.standing else { continue };
        let is_given = match option.values.is_empty() {
            true => given.flag(option.name),
            false => found.contains_id(option.name),
        };
        if is_given {
            return Err(paragraph("missing-option", &[option.name, why]).into());
        }
    }
    Ok(found)
}

/// A tip that names an option which is itself refused says so.
fn without_missing_tips(mut why: clap::Error) -> Refusal {
    use clap::error::ContextKind;
    let tip = why.get(ContextKind::SuggestedArg).map(ToString::to_string).unwrap_or_default();
    let name = tip.trim_start_matches('-');
    let option = OPTIONS.iter().find(|o| o.name == name || o.aliases.contains(&name));
    if let Some(Standing::Missing(reason)) = option.map(table::Opt::standing) {
        let unknown = why.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        why.remove(ContextKind::SuggestedArg);
        let text = format!(
            "there is no option {unknown}; {tip} is similar, and it is known and not supported: {reason}"
        );
        return Refusal::Text(format!("mpirun: {text}\n"));
    }
    Refusal::Clap(why)
}

/// `--app FILE`: one program per line, quoted as in a shell; `#` begins a comment, and a line that ends in `\` goes on in the
/// next (MPI 5.0 §11.5).
fn app_file(file: &str) -> Result<Vec<Words>, String> {
    let text =
        std::fs::read_to_string(file).map_err(|why| paragraph("cannot-read", &[file, &why.to_string()]))?;
    let mut contexts = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let bad = |line: &str, why| {
            let place = format!("{file}, line {}", number + 1);
            paragraph("bad-line", &[&place, line.trim(), why])
        };
        let mut line = line.to_owned();
        while app_line::goes_on(&line) {
            let (_, next) = lines
                .next()
                .ok_or_else(|| bad(&line, "it ends in \\, and no line is left in which it could go on"))?;
            line.pop();
            line += next;
        }
        let words = shlex::split(&line).ok_or_else(|| bad(&line, "a quotation mark is not closed"))?;
        if !words.is_empty() {
            contexts.extend(split::contexts(words.into_iter().map(OsString::from).collect()));
        }
    }
    match contexts.is_empty() {
        true => Err(paragraph("cannot-read", &[file, "it names no program"])),
        false => Ok(contexts),
    }
}

/// `--help`, `--help TOPIC`, `--help OPTION`.
fn help_about(topic: Option<&str>) -> Refusal {
    let Some(topic) = topic else { return Refusal::Say(command().render_help().to_string()) };
    let name = topic.trim_start_matches('-').to_ascii_lowercase();
    if name == "topics" {
        return Refusal::Say(format!("{}\n", help::topics().collect::<Vec<_>>().join("\n")));
    }
    let option = OPTIONS.iter().find(|o| {
        let short = o.short.iter().any(|c| topic == format!("-{c}") || topic == c.to_string());
        o.name == name || o.aliases.contains(&&*name) || short
    });
    let mut text = String::new();
    if let Some(o) = option {
        text = format!("--{} {}\n    {}\n", o.name, o.values.join(" "), o.help);
        match o.standing {
            Standing::Missing(why) => text = format!("--{} is not supported: {why}.\n", o.name),
            Standing::Different(why) => text.push_str(&format!("    Unlike Open MPI: {why}.\n")),
            _ => {}
        }
    }
    if let Some(more) = help::section(&format!("help {}", option.map_or(&*name, |o| o.name))) {
        text = format!("{text}\n{more}\n");
    }
    if text.is_empty() {
        let known = OPTIONS.iter().map(|o| o.name).chain(help::topics());
        let near = oxmpi_mca_params::nearest(&name, known).map_or(String::new(), |n| format!("; is it {n}"));
        return Refusal::Text(format!(
            "there is no help on {topic:?}{near}? mpirun --help topics shows more"
        ));
    }
    Refusal::Say(text.trim_start().to_owned())
}

#[cfg(test)]
mod tests;
