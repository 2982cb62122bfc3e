//! All sources of parameters, read in their order: the files of the site and of the user, tune
//! files and profiles, the environment, the command line, the site's override.
//!
//! **Readers of files.** A launcher reads them once for the job and hands every winning text on in
//! the environment, with its source ([`Resolver::variables`]); its ranks see
//! [`FILES_ARE_READ`] and read none, so that all ranks of a job resolve the same whatever node
//! they are on, and thousands of them do not open the same files. A process without a launcher
//! reads them itself.
//!
//! **A missing file is none; one that cannot be read, or has a line that cannot, is a mistake** and
//! stops the start: what it would have said is unknown. A tune file was asked for, so it must exist.

use crate::file::{self, Export, FileError, ParamFile};
use crate::origin::{CHECKED, FILES_ARE_READ, Tier};
use crate::resolver::Resolver;
use crate::similar_names::nearest;
use crate::{ENVIRONMENT, ParamError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Parameters that say where parameters come from. In a file they would come too late.
pub const ABOUT_SOURCES: [&str; 4] = [
    "mca_base_param_files",
    "mca_base_param_file_path",
    "mca_base_param_file_prefix",
    "mca_base_envar_file_prefix",
];
/// Variables for the ranks' environment, `NAME[=VALUE]` separated by semicolons.
pub const ENV_LIST: &str = "mca_base_env_list";

/// Where an installation has its things; they are found from the file that runs, so that it can be
/// moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// None: nothing is known, and there are no files of the site.
    pub prefix: Option<PathBuf>,
    /// The folder of the libraries.
    pub lib: Option<PathBuf>,
}

impl Places {
    /// The installation with this prefix.
    pub fn below(prefix: &Path) -> Places {
        Places { prefix: Some(prefix.into()), lib: Some(prefix.join("lib")) }
    }

    /// The installation that a program in its `bin`, or a library in its `lib`, belongs to.
    pub fn around(file: &Path) -> Places {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let Some((folder, prefix)) = file.parent().and_then(|f| Some((f, f.parent()?))) else {
            return Places::default();
        };
        match folder.ends_with("bin") {
            true => Places::below(prefix),
            // Its name differs: lib64 on some systems.
            false => Places { prefix: Some(prefix.into()), lib: Some(folder.into()) },
        }
    }

    /// That of the running program.
    pub fn of_this_program() -> Places {
        std::env::current_exe().map(|exe| Places::around(&exe)).unwrap_or_default()
    }

    fn at(&self, what: &str) -> Option<PathBuf> {
        self.prefix.as_ref().map(|p| p.join(what))
    }
    /// Components.
    pub fn components(&self) -> Option<PathBuf> {
        self.lib.as_ref().map(|lib| lib.join("oxmpi"))
    }
    /// Parameter files of the site.
    pub fn etc(&self) -> Option<PathBuf> {
        self.at("etc")
    }
    /// Profiles that come with the library.
    pub fn profiles(&self) -> Option<PathBuf> {
        self.at("share/oxmpi/profiles")
    }
}

/// Settings of a command line, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandSetting {
    /// `--mca NAME VALUE`.
    Parameter { name: String, value: String },
    /// `--tune FILE[,FILE…]` or `-am FILE[,FILE…]`.
    Tune { files: String },
}

/// A mistake in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    File(FileError),
    Parameter(ParamError),
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SourceError::File(why) => why.fmt(f),
            SourceError::Parameter(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}

/// The program that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A program that starts others, or that lists: reads files whatever it inherits.
    Launcher,
    /// An MPI process: reads files unless its launcher has.
    Process,
}

/// Everything that was found.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub resolver: Resolver,
    /// Variables that tune files and `mca_base_env_list` want in the ranks' environment.
    pub exports: Vec<Export>,
    /// Files that were read, in the order of their weight.
    pub files: Vec<PathBuf>,
    pub errors: Vec<SourceError>,
    /// The launcher has checked everything and said what is to be said.
    pub checked: bool,
}

impl Sources {
    /// Reads all of them. `variables` is the environment.
    pub fn read(
        reader: Reader,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        places: &Places,
        given: &[CommandSetting],
    ) -> Sources {
        let (mut files_are_read, mut checked) = (false, false);
        let variables = variables.into_iter().inspect(|(name, text)| {
            if name == FILES_ARE_READ {
                (files_are_read, checked) = (true, text == CHECKED);
            }
        });
        let resolver = Resolver::from_variables(variables);
        let mut sources = Sources { resolver, checked, ..Sources::default() };
        sources.resolver.files_are_read = files_are_read && reader == Reader::Process;
        if reader == Reader::Launcher {
            sources.resolver.forget_command_line();
        }
        for parameter in given {
            if let CommandSetting::Parameter { name, value } = parameter {
                sources.command_line(name, value);
            }
        }
        if reader == Reader::Launcher || !files_are_read {
            sources.all_files(places, given);
        }
        sources.env_list();
        sources
    }

    fn command_line(&mut self, name: &str, value: &str) {
        if let Err(why) = self.resolver.command_line(name, value) {
            self.errors.push(SourceError::Parameter(why));
        }
    }

    fn all_files(&mut self, places: &Places, given: &[CommandSetting]) {
        match self.text("mca_base_param_files") {
            Some(list) if list.trim() == "none" => {}
            // The leftmost has the last word.
            Some(list) if !list.trim().is_empty() => {
                for path in split(&list, ',').rev() {
                    let path = self.expand(path);
                    self.file(&path, Tier::User, true);
                }
            }
            _ => {
                self.pair(places.etc().map(|etc| etc.join("oxmpi-mca-params")), Tier::Site);
                let home = self.resolver.home.clone().map(PathBuf::from);
                self.pair(home.map(|home| home.join(".oxmpi/mca-params")), Tier::User);
            }
        }
        let path = self.text("mca_base_param_file_path");
        let by_variable =
            ["mca_base_param_file_prefix", "mca_base_envar_file_prefix"].map(|name| self.text(name));
        let by_option = given.iter().filter_map(|g| match g {
            CommandSetting::Tune { files } => Some(files.clone()),
            CommandSetting::Parameter { .. } => None,
        });
        for list in by_variable.into_iter().flatten().chain(by_option) {
            for name in split(&list, ',') {
                self.tune(name, path.as_deref(), places);
            }
        }
        self.pair(places.etc().map(|etc| etc.join("oxmpi-mca-params-override")), Tier::Override);
    }

    /// `name.conf` and then `name.toml`, where they exist.
    fn pair(&mut self, stem: Option<PathBuf>, tier: Tier) {
        let Some(stem) = stem else { return };
        for extension in ["conf", "toml"] {
            self.file(&stem.with_extension(extension), tier, false);
        }
    }

    fn file(&mut self, path: &Path, tier: Tier, wanted: bool) {
        let whole = |reason: &str| FileError { path: path.into(), line: None, reason: reason.into() };
        let file = match file::read(path, tier) {
            Ok(Some(file)) => file,
            Ok(None) if wanted => {
                let why = whole("does not exist; mca_base_param_files names it");
                return self.errors.push(SourceError::File(why));
            }
            Ok(None) => return,
            Err(why) => return self.errors.push(SourceError::File(why)),
        };
        self.take(file);
    }

    fn take(&mut self, file: ParamFile) {
        self.errors.extend(file.errors().map(SourceError::File));
        for entry in file.lines.entries.iter().filter(|e| ABOUT_SOURCES.contains(&e.name.as_str())) {
            let reason = format!(
                "{} says which files are read, so it is too late in one; set {ENVIRONMENT}{} or give --mca",
                entry.name, entry.name
            );
            let (path, line) = (file.path.clone(), Some(entry.line));
            self.errors.push(SourceError::File(FileError { path, line, reason }));
        }
        self.resolver.add_file(&file);
        self.exports.extend(file.lines.exports.iter().cloned());
        self.files.push(file.path);
    }

    /// A tune file or profile: with a slash as it stands, a bare name in the folders for it.
    fn tune(&mut self, name: &str, path: Option<&str>, places: &Places) {
        let mut looked_at = Vec::new();
        if name.contains('/') {
            looked_at.push(self.expand(name));
        } else {
            for folder in tune_folders(path, places) {
                let plain = folder.join(name);
                let known = plain.extension().is_some_and(|e| e == "toml" || e == "conf");
                looked_at.push(plain.clone());
                if !known {
                    looked_at.extend(["toml", "conf"].map(|e| folder.join(format!("{name}.{e}"))));
                }
            }
        }
        for candidate in &looked_at {
            match file::read(candidate, Tier::Tune) {
                Ok(Some(file)) => return self.take(file),
                Ok(None) => {}
                // `name` may be a folder of the user's beside `name.conf`.
                Err(_) if candidate.is_dir() && looked_at.len() > 1 => {}
                Err(why) => return self.errors.push(SourceError::File(why)),
            }
        }
        let known = profiles(&tune_folders(path, places));
        let hint = nearest(name, known.iter().map(String::as_str));
        let hint = hint.map(|n| format!(" (did you mean {n}?)")).unwrap_or_default();
        let there = if known.is_empty() { "none".into() } else { known.join(", ") };
        let looked_at: Vec<String> = looked_at.iter().map(|p| p.display().to_string()).collect();
        let reason = format!(
            "does not exist{hint}; profiles that exist: {there}; looked for: {}",
            looked_at.join(", ")
        );
        self.errors.push(SourceError::File(FileError { path: name.into(), line: None, reason }));
    }

    /// `mca_base_env_list`, from wherever it comes.
    fn env_list(&mut self) {
        let Some(list) = self.text(ENV_LIST) else { return };
        for word in split(&list, ';') {
            let (variable, value) = match word.split_once('=') {
                Some((variable, value)) => (variable, Some(value.to_owned())),
                None => (word, None),
            };
            self.exports.push(Export { variable: variable.to_owned(), value, line: 0 });
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        self.resolver.setting(name).map(|s| s.text.to_string_lossy().into_owned())
    }

    fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.resolver.home) {
            (Some(rest), Some(home)) => Path::new(home).join(rest),
            _ => path.into(),
        }
    }
}

/// Folders in which bare names of tune files are looked for.
fn tune_folders(path: Option<&str>, places: &Places) -> Vec<PathBuf> {
    match path {
        Some(path) if !path.is_empty() => split(path, ':').map(PathBuf::from).collect(),
        _ => places.profiles().into_iter().chain([PathBuf::from(".")]).collect(),
    }
}

/// Names of the profiles in these folders, for a hint; those of the current folder are not profiles.
fn profiles(folders: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = folders
        .iter()
        .filter(|f| *f != Path::new("."))
        .filter_map(|f| std::fs::read_dir(f).ok())
        .flat_map(|entries| entries.flatten())
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml" || e == "conf"))
        .filter_map(|p| p.file_stem()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn split(list: &str, by: char) -> impl DoubleEndedIterator<Item = &str> {
    list.split(by).map(str::trim).filter(|item| !item.is_empty())
}

/// A repetition in a file that nobody would miss: the same name again in the same file.
pub fn repeated(file: &ParamFile) -> Vec<(u32, &str)> {
    let entries = &file.lines.entries;
    let later = |at: usize| entries[at + 1..].iter().any(|e| e.name == entries[at].name);
    (0..entries.len())
        .filter(|&at| later(at))
        .map(|at| (entries[at].line, entries[at].name.as_str()))
        .collect()
}
