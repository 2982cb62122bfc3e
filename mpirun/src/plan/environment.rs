//! The environment that the ranks of one program start with.

use crate::cli::environment::{Change, EnvironmentOptions, Inherit};
use crate::help::paragraph;
use crate::link::Program;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Changes of a program's environment: the names that are cleared, unset and set.
#[derive(Debug, Default)]
pub struct Environment {
    clear: bool,
    unset: Vec<OsString>,
    set: BTreeMap<OsString, OsString>,
    /// Messages for the user.
    pub warnings: Vec<String>,
}

impl Environment {
    /// From what is said for all programs and for this one, which wins. `own` is what mpirun has.
    pub fn new(
        all: &EnvironmentOptions,
        app: &EnvironmentOptions,
        own: &BTreeMap<OsString, OsString>,
    ) -> Environment {
        let mut environment = Environment::default();
        match app.inherit.as_ref().or(all.inherit.as_ref()) {
            None | Some(Inherit::All) => {}
            Some(Inherit::Nothing) => environment.clear = true,
            Some(Inherit::Only(names)) => {
                environment.clear = true;
                names.iter().for_each(|name| environment.pass(name, own));
            }
        }
        all.changes.iter().chain(&app.changes).for_each(|change| environment.apply(change, own));
        environment
    }

    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.set.insert(name.into(), value.into());
    }

    /// Takes a variable out, wherever it comes from.
    pub fn unset(&mut self, name: &str) {
        self.set.remove(OsStr::new(name));
        self.unset.push(name.into());
    }

    /// Is anything said of this variable?
    pub fn speaks_of(&self, name: &OsStr) -> bool {
        self.set.contains_key(name) || self.unset.iter().any(|unset| unset == name)
    }

    /// Nothing of mpirun's own is handed on that is not named.
    pub fn is_cleared(&self) -> bool {
        self.clear
    }

    /// Iterates over the names of variables that a rank may find, so far.
    pub fn names<'a>(&'a self, own: &'a BTreeMap<OsString, OsString>) -> impl Iterator<Item = &'a OsString> {
        own.keys().chain(self.set.keys())
    }

    /// Sets what the user has not set.
    pub fn set_default(&mut self, name: &str, value: &str, own: &BTreeMap<OsString, OsString>) {
        if self.get(name.as_ref(), own).is_none() {
            self.set(name, value);
        }
    }

    /// Hands a variable of mpirun's on to other nodes, unless the user has said something else of it.
    pub fn hand_on(&mut self, name: &OsStr, value: &OsStr) {
        if !self.clear && !self.unset.iter().any(|unset| unset == name) {
            self.set.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }

    /// The value that a rank will find under this name, so far.
    pub fn get(&self, name: &OsStr, own: &BTreeMap<OsString, OsString>) -> Option<OsString> {
        match self.set.get(name) {
            Some(value) => Some(value.clone()),
            None if self.clear || self.unset.iter().any(|n| n == name) => None,
            None => own.get(name).cloned(),
        }
    }

    pub fn put_into(self, program: &mut Program) {
        program.clear = self.clear;
        program.unset = self.unset;
        program.environment = self.set.into_iter().collect();
    }

    fn apply(&mut self, change: &Change, own: &BTreeMap<OsString, OsString>) {
        match change {
            Change::Set(name, value) => self.set(name, value),
            Change::Pass(name) => self.pass(name, own),
            Change::Unset(name) => match name.as_bytes().strip_suffix(b"*") {
                Some(prefix) => {
                    self.set.retain(|n, _| !n.as_bytes().starts_with(prefix));
                    let matching = own.keys().filter(|n| n.as_bytes().starts_with(prefix));
                    self.unset.extend(matching.cloned());
                }
                None => {
                    self.set.remove(name);
                    self.unset.push(name.clone());
                }
            },
            Change::Append { name, between, value } => self.join(name, between, value, own, false),
            Change::Prepend { name, between, value } => self.join(name, between, value, own, true),
        }
    }

    /// Ranks of this node inherit what mpirun has, so a name alone matters where that is cleared,
    /// and has to be set.
    fn pass(&mut self, name: &OsStr, own: &BTreeMap<OsString, OsString>) {
        if let Some(prefix) = name.as_bytes().strip_suffix(b"*") {
            let matching: Vec<_> = own.iter().filter(|(n, _)| n.as_bytes().starts_with(prefix)).collect();
            matching.into_iter().for_each(|(n, value)| self.set(n, value));
            return;
        }
        match own.get(name) {
            Some(value) => self.set(name, value),
            None => self.warnings.push(paragraph("not-set", &[&name.to_string_lossy()])),
        }
    }

    pub fn join(
        &mut self,
        name: &OsStr,
        between: &OsStr,
        value: &OsStr,
        own: &BTreeMap<OsString, OsString>,
        before: bool,
    ) {
        let parts = match self.get(name, own).filter(|now| !now.is_empty()) {
            None => vec![value.as_bytes().to_vec()],
            Some(now) if before => vec![value.as_bytes().to_vec(), now.into_vec()],
            Some(now) => vec![now.into_vec(), value.as_bytes().to_vec()],
        };
        self.set(name, OsString::from_vec(parts.join(between.as_bytes())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> BTreeMap<OsString, OsString> {
        [("PATH", "/bin"), ("OMPI_A", "1"), ("OMPI_B", "2"), ("C", "3")]
            .into_iter()
            .map(|(n, v)| (n.into(), v.into()))
            .collect()
    }

    fn said(inherit: Option<Inherit>, changes: Vec<Change>) -> EnvironmentOptions {
        EnvironmentOptions { inherit, changes }
    }

    fn result(e: Environment) -> (bool, Vec<OsString>, Vec<(String, String)>) {
        let mut program = Program::default();
        e.put_into(&mut program);
        let text = |s: OsString| s.into_string().expect("text");
        let set = program.environment.into_iter().map(|(n, v)| (text(n), text(v))).collect();
        (program.clear, program.unset, set)
    }

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn what_is_said_for_a_program_wins() {
        let all = said(Some(Inherit::Nothing), vec![Change::Set("A".into(), "all".into())]);
        let app = said(None, vec![Change::Set("A".into(), "app".into()), Change::Pass("C".into())]);
        let (clear, _, set) = result(Environment::new(&all, &app, &own()));
        assert!(clear);
        assert_eq!(set, pairs(&[("A", "app"), ("C", "3")]));
    }

    #[test]
    fn patterns_lists_and_what_is_missing() {
        let app = said(Some(Inherit::Only(vec!["C".into()])), vec![Change::Pass("OMPI_*".into())]);
        let (clear, _, set) = result(Environment::new(&said(None, vec![]), &app, &own()));
        assert!(clear);
        assert_eq!(set, pairs(&[("C", "3"), ("OMPI_A", "1"), ("OMPI_B", "2")]));
        let missing = said(None, vec![Change::Pass("NO_SUCH".into())]);
        let e = Environment::new(&said(None, vec![]), &missing, &own());
        assert!(e.warnings.len() == 1 && e.warnings[0].contains("NO_SUCH"));
        let unset = said(None, vec![Change::Unset("OMPI_*".into()), Change::Unset("C".into())]);
        let (clear, unset, set) = result(Environment::new(&said(None, vec![]), &unset, &own()));
        assert_eq!((clear, set.len()), (false, 0));
        assert_eq!(unset, ["OMPI_A", "OMPI_B", "C"].map(OsString::from));
    }

    #[test]
    fn joining() {
        let join = |prepend: bool, name: &str| {
            let (name, between, value) = (name.into(), ":".into(), "/x".into());
            let change = match prepend {
                true => Change::Prepend { name, between, value },
                false => Change::Append { name, between, value },
            };
            result(Environment::new(&said(None, vec![]), &said(None, vec![change]), &own())).2
        };
        assert_eq!(join(true, "PATH"), pairs(&[("PATH", "/x:/bin")]));
        assert_eq!(join(false, "PATH"), pairs(&[("PATH", "/bin:/x")]));
        assert_eq!(join(false, "NEW"), pairs(&[("NEW", "/x")]));
    }
}
