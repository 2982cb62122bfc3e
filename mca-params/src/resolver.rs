//! Settings and declarations meet here; see the crate's essay for the order of things.

use crate::declaration::{Declaration, bad_declaration};
use crate::error::{ErrorKind, ParamError};
use crate::origin::{ENVIRONMENT, ENVIRONMENT_OPEN_MPI, Origin, SOURCE, SOURCE_COMMAND_LINE};
use crate::selection::Selection;
use crate::value::{self, Value};
use oxmpi_mca::ParamValue;
use oxmpi_mca::abi::StrRef;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;

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
    /// Worth a warning: given for this library. What is set for Open MPI may well be a parameter
    /// that only Open MPI has.
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
    home: Option<String>,
}

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
                // What another launcher says about its own passing on is not for us.
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
        list.retain(|s| s.origin != origin);
        list.push(Setting { text, origin });
    }

    /// The launcher passes its command line on through our own prefix and says so in a second variable.
    fn relabel(&mut self, name: &str, source: &OsString) {
        if source != SOURCE_COMMAND_LINE {
            return;
        }
        let variable = format!("{ENVIRONMENT}{name}");
        for setting in self.settings.get_mut(name).into_iter().flatten() {
            if matches!(&setting.origin, Origin::Environment { variable: v } if *v == variable) {
                setting.origin = Origin::CommandLine;
            }
        }
    }

    /// Everything that is set, declared or not, with the winning text of each name.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.settings.iter().filter_map(|(name, all)| Some((name.as_str(), winner(all)?)))
    }

    /// Declares a parameter and resolves it. Declaring the same parameter again gives what it
    /// already is; with another type it is an error of the component.
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
        let resolved = self.resolve(declaration)?;
        let at = self.declared.len();
        self.index.insert(resolved.declaration.full_name.clone(), at);
        for synonym in &resolved.declaration.synonyms {
            self.index.entry(synonym.clone()).or_insert(at);
        }
        self.declared.push(resolved);
        Ok(&self.declared[at])
    }

    fn resolve(&self, declaration: Declaration) -> Result<Resolved, ParamError> {
        // The own name first: at equal rank it wins over a synonym.
        let names = std::iter::once(&declaration.full_name).chain(&declaration.synonyms);
        let mut best: Option<(&String, &Setting)> = None;
        for name in names {
            let Some(setting) = self.settings.get(name).and_then(|all| winner(all)) else { continue };
            if best.is_none_or(|(_, b)| setting.origin.rank() > b.origin.rank()) {
                best = Some((name, setting));
            }
        }
        let (set_as, text, origin) = match best {
            Some((name, s)) => (name.clone(), s.text.clone(), s.origin.clone()),
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

/// The candidate most like `name`, if any is like it at all. Ties go to the alphabetically first.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    // A third of the letters wrong is a guess; more is another word.
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|c| (strsim::damerau_levenshtein(&name, &c.to_ascii_lowercase()), c))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, c)| c)
}
