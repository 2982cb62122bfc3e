//! The start of each program of the job: its folder, its environment, its parameters, and the
//! facts that its ranks are told.

use super::collective_settings::CollectiveSettings;
use super::environment::Environment;
use crate::cli::environment::exported;
use crate::cli::{App, CommandLine, JobOptions};
use crate::help::paragraph;
use crate::link::{ARGUMENTS, Program};
use crate::plm::Plm;
use crate::remote::options::Options;
use crate::settings::{self, Settings};
use oxmpi_mca_params::CommandSetting;
use oxmpi_wireup::AppFacts;
use oxmpi_wireup::limits::{self, STRING_LIMIT};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

type Variables = BTreeMap<OsString, OsString>;
type Pairs = Vec<(String, String)>;

/// All programs.
#[derive(Debug, Default)]
pub struct Programs {
    pub programs: Vec<Program>,
    pub facts: Vec<AppFacts>,
    /// Parameters that hold for every rank.
    pub params: Pairs,
    /// Of some program, processes may each run alone.
    pub permits_singletons: bool,
    pub warnings: Vec<String>,
}

/// `counts`: how many ranks each program has. `elsewhere`: some are on other machines, whose daemons were started so.
pub fn programs(
    line: &CommandLine,
    counts: &[u32],
    universe: u32,
    known: &mut SettingsCache,
    elsewhere: Option<&Options>,
) -> Result<Programs, String> {
    let own: Variables = std::env::vars_os().collect();
    let mut all = Programs::default();
    let mut collectives = CollectiveSettings::default();
    for (app, &count) in line.apps.iter().zip(counts) {
        let settings = known.settings(given(&line.job, app))?;
        // Variables that files set come first: those of the command line stand.
        let mut for_all = line.job.environment.clone();
        let from_files = settings.exports.iter().map(|word| exported(word)).collect::<Result<Vec<_>, _>>()?;
        for_all.changes.splice(0..0, from_files);
        let mut environment = Environment::new(&for_all, &app.environment, &own);
        all.warnings.extend(settings.warnings.iter().map(|text| format!("mpirun: {text}\n")));
        all.warnings.append(&mut environment.warnings);
        all.permits_singletons |= settings.permits_singletons;
        let folder = folder(app, elsewhere.is_some())?;
        describe(&mut environment, line, app, counts, universe, folder.as_deref(), &own);
        for (name, value) in settings.environment {
            environment.set(name, value);
        }
        if let Some(options) = elsewhere {
            hand_on(&mut environment, &own, line.job.forward_environment, options);
        }
        // Other machines have their own folders, and their daemons put the prefix before these.
        if let Some(prefix) = line.job.prefix.as_ref().filter(|_| elsewhere.is_none()) {
            environment.join("PATH".as_ref(), ":".as_ref(), prefix.join("bin").as_ref(), &own, true);
        }
        put_libraries_first(&mut environment, line, elsewhere, &own)?;
        let mut program = Program {
            program: found(app)?,
            arguments: app.arguments.clone(),
            folder: folder.clone().map(PathBuf::into_os_string),
            ..Program::default()
        };
        if elsewhere.is_some() && program.folder.is_none() {
            program.folder = std::env::current_dir().ok().map(PathBuf::into_os_string);
            program.any_folder = true;
        }
        collectives.compare(&environment, &own)?;
        environment.put_into(&mut program);
        all.facts.push(facts(app, count, folder.as_deref()));
        all.programs.push(program);
        if line.apps.len() == 1 {
            all.params = settings.params;
        }
    }
    if line.apps.len() > 1 {
        // The others differ from program to program and are in the environment.
        all.params = known.settings(given(&line.job, &App::default()))?.params;
    }
    Ok(all)
}

/// Ranks find the library of their mpirun before any other. On other machines the daemon sees to that, but for what is said
/// here of the variable.
fn put_libraries_first(
    environment: &mut Environment,
    line: &CommandLine,
    elsewhere: Option<&Options>,
    own: &Variables,
) -> Result<(), String> {
    let name = OsStr::new("LD_LIBRARY_PATH");
    if elsewhere.is_some() && !environment.speaks_of(name) {
        return Ok(());
    }
    let mut folders: Vec<PathBuf> =
        elsewhere.iter().flat_map(|options| &options.libraries).map(PathBuf::from).collect();
    let of_prefix = line.job.prefix.as_ref().map(|prefix| prefix.join("lib"));
    let of_own = || settings::own_libraries().filter(|_| !environment.is_cleared());
    folders.extend(of_prefix.or_else(of_own).filter(|_| !line.job.no_prefix));
    if !folders.is_empty() {
        let folders = std::env::join_paths(folders).map_err(|why| why.to_string())?;
        environment.join(name, ":".as_ref(), &folders, own, true);
    }
    Ok(())
}

/// The part of mpirun's environment that goes to other machines without being named: parameters, and everything where that is
/// asked for, but not what is about this machine or this shell.
fn hand_on(environment: &mut Environment, own: &Variables, all: bool, options: &Options) {
    const OF_HERE: [&str; 9] =
        ["PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
    for (name, value) in own {
        let bytes = name.as_encoded_bytes();
        let parameter = bytes.starts_with(b"OMPI_MCA_") || bytes.starts_with(b"OXMPI_MCA_");
        let of_here = OF_HERE.iter().any(|here| name == here)
            || [&b"SSH_"[..], b"SLURM", b"OXMPI_WIREUP", b"OMPI_COMM_", b"PMI"]
                .iter()
                .any(|p| bytes.starts_with(p));
        if parameter && options.pass_environment_parameters || all && !parameter && !of_here {
            environment.hand_on(name, value);
        }
    }
}

/// The part of the command line that is about a program's parameters.
fn given(job: &JobOptions, app: &App) -> Vec<CommandSetting> {
    let tune =
        job.tune.iter().map(|files| CommandSetting::Tune { files: files.to_string_lossy().into_owned() });
    let one = |(name, value): &(String, String)| CommandSetting::Parameter {
        name: name.clone(),
        value: value.clone(),
    };
    tune.chain(job.parameters.iter().chain(&app.parameters).map(one)).collect()
}

/// Settings by what was given, because reading them again costs time; and whether their warnings were taken.
#[derive(Debug, Default)]
pub struct SettingsCache(Vec<(Vec<CommandSetting>, Settings, bool)>);

impl SettingsCache {
    /// With what is to be said of them the first time.
    fn settings(&mut self, given: Vec<CommandSetting>) -> Result<Settings, String> {
        let at = self.look(given)?;
        let (_, settings, said) = &mut self.0[at];
        match std::mem::replace(said, true) {
            false => Ok(settings.clone()),
            true => Ok(Settings { warnings: Vec::new(), ..settings.clone() }),
        }
    }

    fn look(&mut self, given: Vec<CommandSetting>) -> Result<usize, String> {
        if let Some(at) = self.0.iter().position(|(before, ..)| *before == given) {
            return Ok(at);
        }
        let settings = settings::resolve(&given)?;
        self.0.push((given, settings, false));
        Ok(self.0.len() - 1)
    }

    /// How daemons are started; the same for all programs of a job.
    pub fn plm(&mut self, line: &CommandLine) -> Result<Option<Plm>, String> {
        let mut chosen: Option<Option<Plm>> = None;
        for app in &line.apps {
            let at = self.look(given(&line.job, app))?;
            let (text, ignorable) = &self.0[at].1.plm;
            let plm = Plm::parse(text, *ignorable)?;
            if chosen.replace(plm).is_some_and(|before| before != plm) {
                return Err(paragraph("plm-differs", &[]));
            }
        }
        Ok(chosen.flatten())
    }

    /// Parameters about starting daemons; the same for all programs of a job.
    pub fn options(&mut self, line: &CommandLine) -> Result<Options, String> {
        let mut chosen: Option<Options> = None;
        for app in &line.apps {
            let at = self.look(given(&line.job, app))?;
            let options = Options::of(&self.0[at].1.launcher)?;
            if chosen.replace(options.clone()).is_some_and(|before| before != options) {
                return Err(paragraph("plm-differs", &[]));
            }
        }
        Ok(chosen.unwrap_or_default())
    }
}

/// Variables that every rank finds in its environment. The names of others are written for programs that look
/// at them and never read by us, so a job inside a job is not confused. The daemon adds what
/// differs from rank to rank.
fn describe(
    environment: &mut Environment,
    line: &CommandLine,
    app: &App,
    counts: &[u32],
    universe: u32,
    folder: Option<&Path>,
    own: &Variables,
) {
    let size: u32 = counts.iter().sum();
    let firsts: Vec<String> =
        (0..counts.len()).map(|n| counts[..n].iter().sum::<u32>().to_string()).collect();
    let each: Vec<String> = counts.iter().map(u32::to_string).collect();
    for name in ["OMPI_COMM_WORLD_SIZE", "OMPI_WORLD_SIZE", "OMPI_MCA_num_procs"] {
        environment.set(name, size.to_string());
    }
    for (name, value) in [
        ("OMPI_UNIVERSE_SIZE", universe.to_string()),
        ("OMPI_NUM_APP_CTX", line.apps.len().to_string()),
        ("OMPI_FIRST_RANKS", firsts.join(" ")),
        ("OMPI_APP_CTX_NUM_PROCS", each.join(" ")),
        ("OMPI_MCA_cpu_type", std::env::consts::ARCH.to_owned()),
        ("OMPI_MCA_num_restarts", "0".to_owned()),
        ("OMPI_TOOL_NAME", "mpirun".to_owned()),
    ] {
        environment.set(name, value);
    }
    for (name, value) in line.job.buffering.variables() {
        environment.set_default(name, value, own);
    }
    if line.job.at_time_limit.state {
        // The library then records the call that each thread is in (`mpi/src/call/watching.rs`).
        environment.set("OXMPI_REPORT_CALLS", "1");
    }
    environment.set("OMPI_COMMAND", &app.program);
    // One variable cannot hold as much as all arguments; where it does not, it is left out.
    let arguments = app.arguments.join(OsStr::new(" "));
    if ARGUMENTS.len() + "=".len() + arguments.len() < STRING_LIMIT {
        environment.set(ARGUMENTS, arguments);
    } else {
        environment.unset(ARGUMENTS);
    }
    if let Some(folder) = folder.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok()) {
        environment.set("OMPI_MCA_initial_wdir", folder);
    }
}

fn facts(app: &App, count: u32, folder: Option<&Path>) -> AppFacts {
    let text = |os: &OsStr| os.to_string_lossy().into_owned();
    let hosts: Vec<&str> = app.hosts.iter().map(|(list, _)| list.as_str()).collect();
    let folder = folder.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok());
    AppFacts {
        ranks: count,
        command: text(&app.program),
        arguments: app.arguments.iter().map(|a| text(a)).collect(),
        soft: app.soft.clone().unwrap_or_default(),
        host: hosts.join(","),
        arch: std::env::consts::ARCH.to_owned(),
        wdir: folder.map(|f| text(f.as_os_str())).unwrap_or_default(),
        file: app.file.clone().unwrap_or_default(),
    }
}

/// `--wdir`, as a whole path. It has to be there now, since a rank on this node sees the same folders as mpirun. A folder that is
/// not there may be on other machines.
fn folder(app: &App, elsewhere: bool) -> Result<Option<PathBuf>, String> {
    let Some(folder) = &app.wdir else { return Ok(None) };
    let refuse = |why: &str| Err(paragraph("no-folder", &[&folder.display().to_string(), why]));
    match std::fs::canonicalize(folder) {
        Ok(whole) if whole.is_dir() => Ok(Some(whole)),
        // Its own path may be longer than one that can be asked for.
        Ok(whole) => match std::fs::metadata(whole) {
            Err(why) => refuse(&with_limits(&why)),
            Ok(_) => refuse("it is no folder"),
        },
        Err(_) if elsewhere => Ok(std::path::absolute(folder).ok()),
        Err(why) => refuse(&with_limits(&why)),
    }
}

fn with_limits(why: &std::io::Error) -> String {
    format!("{why}{}", why.raw_os_error().map(limits::named).unwrap_or_default())
}

/// The program, looked for in the folders of `--path` where it has no slash.
fn found(app: &App) -> Result<OsString, String> {
    let (Some(path), false) = (&app.path, app.program.as_encoded_bytes().contains(&b'/')) else {
        return Ok(app.program.clone());
    };
    let executable =
        |file: &PathBuf| file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    let candidates = std::env::split_paths(path).map(|folder| folder.join(&app.program));
    match candidates.filter_map(|file| std::path::absolute(file).ok()).find(executable) {
        Some(file) => Ok(file.into_os_string()),
        None => {
            let name = app.program.to_string_lossy();
            Err(paragraph("no-such-program", &[&name, &path.to_string_lossy()]))
        }
    }
}
