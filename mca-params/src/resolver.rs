//! Settings and declarations meet here; see the crate's essay for the order of things.

use crate::declaration::{Declaration, bad_declaration};
use crate::error::{ErrorKind, ParamError};
use crate::file::ParamFile;
use crate::origin::{ENVIRONMENT, ENVIRONMENT_OPEN_MPI, Origin, SOURCE, Tier};
use crate::selection::Selection;
use crate::similar_names::nearest;
use crate::text_file;
use crate::value::{self, Value};
use oxmpi_mca::ParamValue;
use oxmpi_mca::abi::StrRef;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A declared parameter with its value and where that came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    pub declaration: Declaration,
    pub value: Value,
    /// As it was written.
    pub text: String,
    pub origin: Origin,
    /// The name under which it was set: the full name, or a synonym.
    pub set_as: String,
}

impl Resolved {
    /// The form a component receives. Its text points into `self` and lives as long.
    pub fn to_abi(&self) -> ParamValue {
        let kind = self.declaration.kind.to_abi();
        let mut out = ParamValue { kind, reserved: 0, int: 0, double: 0.0, text: StrRef::EMPTY };
        match &self.value {
            Value::Int(n) => out.int = *n,
            Value::Unsigned(n) | Value::Size(n) => out.int = n.cast_signed(),
            Value::Bool(b) => out.int = (*b).into(),
            Value::Double(x) => out.double = *x,
            Value::Text(s) => out.text = StrRef::of(s),
            Value::Enum { index, name } => {
                out.int = *index as i64;
                out.text = StrRef::of(name);
            }
            Value::List { .. } => out.text = StrRef::of(&self.text),
        }
        out
    }
}

/// A name and a text that some source gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub text: OsString,
    pub origin: Origin,
}

/// A name that was set and that nothing declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub name: String,
    pub origin: Origin,
    /// The declared name that looks most like it.
    pub nearest: Option<String>,
}

impl Unknown {
    /// Worth a warning: given for this library. A parameter that is set for Open MPI may well be
    /// one that only Open MPI has.
    pub fn deserves_warning(&self) -> bool {
        !self.origin.is_open_mpi()
    }
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, from {}, is not a parameter of any component in use", self.name, self.origin)?;
        match &self.nearest {
            Some(name) => write!(f, "; the nearest known name is {name}"),
            None => Ok(()),
        }
    }
}

/// Settings, and what has been declared so far.
#[derive(Clone, Debug, Default)]
pub struct Resolver {
    settings: BTreeMap<String, Vec<Setting>>,
    declared: Vec<Resolved>,
    /// Full names and synonyms to positions in `declared`.
    index: HashMap<String, usize>,
    pub(crate) home: Option<String>,
    /// Somebody else has read what files say, and handed it on.
    pub(crate) files_are_read: bool,
}

/// A name that still works and that a newer one replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecated {
    pub name: String,
    pub origin: Origin,
    /// The name to write instead; `None`: nothing, the parameter itself goes.
    pub instead: Option<String>,
}

impl std::fmt::Display for Deprecated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, from {}, is deprecated; ", self.name, self.origin)?;
        match &self.instead {
            Some(name) => write!(f, "write {name}"),
            None => f.write_str("it will go without a replacement"),
        }
    }
}

/// Why a parameter cannot be written now (MPI 5.0 §15.3.6).
#[derive(Clone, Debug, PartialEq)]
pub enum CannotSet {
    /// There is no such parameter.
    Unknown,
    /// Its scope is constant or read-only.
    Never,
    /// The site's override file holds it.
    Overridden(Origin),
    /// It was read once, when the library started.
    NotNow,
    /// The value is not one.
    Wrong(ParamError),
}

impl std::fmt::Display for CannotSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CannotSet::Unknown => f.write_str("there is no such parameter"),
            CannotSet::Never => f.write_str("its scope does not permit writing"),
            CannotSet::Overridden(origin) => write!(f, "{origin} overrides it"),
            CannotSet::NotNow => f.write_str("it is read when the library starts, and not again"),
            CannotSet::Wrong(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for CannotSet {}

impl Resolver {
    /// Nothing is set.
    pub fn new() -> Resolver {
        Resolver::default()
    }

    /// Everything the process environment sets.
    pub fn from_environment() -> Resolver {
        Resolver::from_variables(std::env::vars_os())
    }

    /// Everything these environment variables set. Others than ours and Open MPI's are ignored.
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Resolver {
        let mut resolver = Resolver::new();
        let mut sources = Vec::new();
        for (variable, text) in variables {
            // A name that is not UTF-8 names no parameter.
            let Some(variable) = variable.to_str() else { continue };
            if variable == "HOME" {
                resolver.home = text.to_str().filter(|h| !h.is_empty()).map(str::to_owned);
            }
            let ours = variable.strip_prefix(ENVIRONMENT);
            let Some(name) = ours.or_else(|| variable.strip_prefix(ENVIRONMENT_OPEN_MPI)) else { continue };
            match name.strip_prefix(SOURCE) {
                Some(name) if ours.is_some() => sources.push((name.to_owned(), text)),
                // Another launcher's words about its own passing on are not for us.
                Some(_) => {}
                None if name.is_empty() => {}
                None => resolver.set_from(name, text, Origin::Environment { variable: variable.to_owned() }),
            }
        }
        for (name, source) in sources {
            resolver.relabel(&name, &source);
        }
        resolver
    }

    /// Takes everything a parameter file says.
    pub fn add_file(&mut self, file: &ParamFile) {
        for entry in &file.lines.entries {
            let origin = Origin::File { tier: file.tier, path: file.path.clone(), line: entry.line };
            self.set_from(&entry.name, (&entry.text).into(), origin);
        }
    }

    /// An inherited command line is for a new launcher no more than its environment.
    pub(crate) fn forget_command_line(&mut self) {
        for (name, setting) in
            self.settings.iter_mut().flat_map(|(n, all)| all.iter_mut().map(move |s| (n, s)))
        {
            if setting.origin == Origin::CommandLine {
                setting.origin = Origin::Environment { variable: format!("{ENVIRONMENT}{name}") };
            }
        }
    }

    /// The winning setting of a name, whether declared or not.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.get(name).and_then(|all| winner(all))
    }

    /// The variables that make another process resolve as this one does, beside those that it
    /// inherits: name and text, and what the text's source is.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut out = Vec::new();
        for (name, setting) in self.settings() {
            if let Some(label) = setting.origin.label() {
                out.push((format!("{ENVIRONMENT}{name}").into(), setting.text.clone()));
                out.push((format!("{ENVIRONMENT}{SOURCE}{name}").into(), label.into()));
            }
        }
        out
    }

    /// Sets on top of every other source.
    pub fn with<N: AsRef<str>, T: Into<OsString>>(
        mut self,
        pairs: impl IntoIterator<Item = (N, T)>,
    ) -> Resolver {
        for (name, text) in pairs {
            self.set_from(name.as_ref(), text.into(), Origin::Set);
        }
        self
    }

    /// `--mca NAME VALUE`. The same name twice with different values is an error, as in Open MPI.
    pub fn command_line(&mut self, name: &str, text: &str) -> Result<(), ParamError> {
        let before = self.settings.get(name).into_iter().flatten().find(|s| s.origin == Origin::CommandLine);
        match before {
            Some(before) if before.text != *text => Err(ParamError {
                parameter: name.into(),
                kind: ErrorKind::Conflict,
                given: text.into(),
                origin: Origin::CommandLine,
                reason: format!("was given before as {:?}; give it once", before.text.to_string_lossy()),
            }),
            Some(_) => Ok(()),
            None => {
                self.set_from(name, text.into(), Origin::CommandLine);
                Ok(())
            }
        }
    }

    fn set_from(&mut self, name: &str, text: OsString, origin: Origin) {
        let list = self.settings.entry(name.to_owned()).or_default();
        // Within one source the later text replaces the earlier one.
        let same = |a: &Origin, b: &Origin| match (a, b) {
            (Origin::File { tier: t, path: p, .. }, Origin::File { tier, path, .. }) => {
                t == tier && p == path
            }
            (a, b) => a == b,
        };
        list.retain(|s| !same(&s.origin, &origin));
        list.push(Setting { text, origin });
    }

    /// The launcher passes on through our own prefix what its command line and the parameter files
    /// say, and names the source in a second variable.
    fn relabel(&mut self, name: &str, label: &OsString) {
        let Some(origin) = label.to_str().and_then(Origin::from_label) else { return };
        let variable = format!("{ENVIRONMENT}{name}");
        for setting in self.settings.get_mut(name).into_iter().flatten() {
            if matches!(&setting.origin, Origin::Environment { variable: v } if *v == variable) {
                setting.origin = origin.clone();
            }
        }
    }

    /// Everything that is set, declared or not, with the winning text of each name.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.settings.iter().filter_map(|(name, all)| Some((name.as_str(), winner(all)?)))
    }

    /// Declares a parameter and resolves it. Declaring the same parameter again gives what it
    /// already is; with another type it is an error of the component. When the value is wrong, the
    /// parameter is declared all the same, with its default, for those who list what there is.
    pub fn declare(&mut self, declaration: Declaration) -> Result<&Resolved, ParamError> {
        declaration.check()?;
        if let Some(&at) = self.index.get(&declaration.full_name) {
            let old = &self.declared[at].declaration;
            if old.full_name == declaration.full_name && old.kind != declaration.kind {
                return Err(bad_declaration(
                    &declaration.full_name,
                    &format!(
                        "is declared as {} and was before as {}",
                        declaration.kind.phrase(),
                        old.kind.phrase()
                    ),
                ));
            }
            if old.full_name == declaration.full_name {
                return Ok(&self.declared[at]);
            }
            // Otherwise the name was only somebody's synonym; its own declaration takes it over.
        }
        let (resolved, wrong) = match self.resolve(&declaration) {
            Ok(resolved) => {
                let unread = self.take_text(&resolved).err();
                (resolved, unread)
            }
            Err(why) => (self.default_of(declaration)?, Some(why)),
        };
        let at = self.declared.len();
        self.index.insert(resolved.declaration.full_name.clone(), at);
        for synonym in &resolved.declaration.synonyms {
            self.index.entry(synonym.clone()).or_insert(at);
        }
        self.declared.push(resolved);
        match wrong {
            Some(why) => Err(why),
            None => Ok(&self.declared[at]),
        }
    }

    /// Reads the file that a value names for another parameter, which is declared later.
    fn take_text(&mut self, named: &Resolved) -> Result<(), ParamError> {
        let Some(next) = named.declaration.text_for.clone() else { return Ok(()) };
        let written = named.value.as_str().unwrap_or("");
        if self.files_are_read || written.is_empty() {
            return Ok(());
        }
        let path = match (written.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => Path::new(home).join(rest),
            _ => PathBuf::from(written),
        };
        let text = text_file::read(&path).map_err(|reason| ParamError {
            parameter: named.set_as.clone(),
            kind: ErrorKind::Malformed,
            given: written.into(),
            origin: named.origin.clone(),
            reason,
        })?;
        let origin = text_file::origin(&path, &named.origin);
        let settings = self.settings.entry(next).or_default();
        settings.retain(|s| s.origin != origin);
        // Of settings of equal weight the last one counts: the parameter's own.
        settings.insert(0, Setting { text, origin });
        Ok(())
    }

    fn default_of(&self, declaration: Declaration) -> Result<Resolved, ParamError> {
        let (text, set_as) = (declaration.default.clone(), declaration.full_name.clone());
        let value = value::parse(&declaration, &text, self.home.as_deref()).map_err(|(_, reason)| {
            bad_declaration(&declaration.full_name, &format!("has the default {text:?}, which {reason}"))
        })?;
        Ok(Resolved { declaration, value, text, origin: Origin::Default, set_as })
    }

    /// Every setting of a parameter under any of its names, with the name; the last one is in
    /// force. The own name comes after synonyms of equal rank.
    pub fn settings_of(&self, declaration: &Declaration) -> Vec<(&str, &Setting)> {
        let names = declaration.synonyms.iter().rev().chain([&declaration.full_name]);
        let mut all: Vec<(&str, &Setting)> = names
            .filter_map(|name| self.settings.get_key_value(name))
            .flat_map(|(name, all)| all.iter().map(move |s| (name.as_str(), s)))
            .collect();
        all.sort_by_key(|(_, s)| s.origin.rank());
        all
    }

    fn resolve(&self, declaration: &Declaration) -> Result<Resolved, ParamError> {
        let best = self.settings_of(declaration).pop();
        let declaration = declaration.clone();
        let (set_as, text, origin) = match best {
            Some((name, s)) => (name.to_owned(), s.text.clone(), s.origin.clone()),
            None => (declaration.full_name.clone(), OsString::from(&declaration.default), Origin::Default),
        };
        let wrong = |(kind, reason), given: String| ParamError {
            parameter: set_as.clone(),
            kind,
            given,
            origin: origin.clone(),
            reason,
        };
        let text = text.into_string().map_err(|raw| {
            let reason = "is not UTF-8 text".to_owned();
            wrong((ErrorKind::Malformed, reason), raw.to_string_lossy().into_owned())
        })?;
        let value = value::parse(&declaration, &text, self.home.as_deref())
            .map_err(|why| wrong(why, text.clone()))?;
        Ok(Resolved { declaration, value, text, origin, set_as })
    }

    /// A declared parameter, by full name or synonym.
    pub fn get(&self, name: &str) -> Option<&Resolved> {
        self.index.get(name).map(|&at| &self.declared[at])
    }

    /// Everything declared, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = &Resolved> {
        self.declared.iter()
    }

    /// Declares and resolves the selection parameter of a framework.
    pub fn selection(&mut self, framework: &str) -> Result<Selection, ParamError> {
        let resolved = self.declare(Declaration::selection(framework))?;
        match &resolved.value {
            Value::List { negated, items } => {
                Ok(Selection { negated: *negated, names: items.clone(), origin: resolved.origin.clone() })
            }
            // `declare` refuses a second type, so the value of a list declaration is a list.
            _ => Err(bad_declaration(framework, "is not a list")),
        }
    }

    /// Sets a declared parameter while the program runs. The caller makes it take effect.
    pub fn set(&mut self, name: &str, text: &str) -> Result<&Resolved, CannotSet> {
        let &at = self.index.get(name).ok_or(CannotSet::Unknown)?;
        let old = &self.declared[at];
        if !old.declaration.is_writable() {
            return Err(CannotSet::Never);
        }
        if matches!(old.origin, Origin::File { tier: Tier::Override, .. }) {
            return Err(CannotSet::Overridden(old.origin.clone()));
        }
        let declaration = old.declaration.clone();
        let (home, name) = (self.home.as_deref(), declaration.full_name.clone());
        let value = value::parse(&declaration, text, home).map_err(|(kind, reason)| {
            let (parameter, given) = (name.clone(), text.to_owned());
            CannotSet::Wrong(ParamError { parameter, kind, given, origin: Origin::Set, reason })
        })?;
        self.set_from(&name, text.into(), Origin::Set);
        let (text, origin) = (text.to_owned(), Origin::Set);
        self.declared[at] = Resolved { declaration, value, text, origin, set_as: name };
        Ok(&self.declared[at])
    }

    /// Old names that somebody still uses: ask when everything is declared.
    pub fn deprecated(&self) -> Vec<Deprecated> {
        let mut out = Vec::new();
        for (name, setting) in self.settings() {
            let Some(resolved) = self.get(name) else { continue };
            let d = &resolved.declaration;
            let old_name = d.deprecated_names.iter().any(|n| n == name);
            if old_name || d.deprecated {
                let instead = (old_name && !d.deprecated).then(|| d.full_name.clone());
                out.push(Deprecated { name: name.to_owned(), origin: setting.origin.clone(), instead });
            }
        }
        out
    }

    /// Names that were set and not declared (yet): ask when everything is.
    pub fn unknown(&self) -> Vec<Unknown> {
        let unknown = self.settings().filter(|(name, _)| !self.index.contains_key(*name));
        unknown
            .map(|(name, setting)| Unknown {
                name: name.to_owned(),
                origin: setting.origin.clone(),
                nearest: nearest(name, self.index.keys().map(String::as_str)).map(str::to_owned),
            })
            .collect()
    }
}

fn winner(all: &[Setting]) -> Option<&Setting> {
    all.iter().max_by_key(|s| s.origin.rank())
}
