//! Which components are used: `--mca btl shm,self`, `--mca btl ^tcp`.
//!
//! **Named means needed.** A component named in an including list that is not there, or is refused,
//! stops the start with the reason. The exception is a list that comes from `OMPI_MCA_*` and names
//! something that Open MPI has and we lack: sites export such variables for everyone, so that setting
//! is ignored with one warning. Components nobody named are skipped in silence when they cannot be
//! used, unless verbosity or `mca_base_component_show_load_errors` says otherwise.
//!
//! **Only what may be used is opened.** A file whose name is excluded, or not in an including list, is
//! not even loaded, except to look for an alias that no file is called by.

use crate::accept::accept;
use crate::accept::accepted::{Accepted, Framework};
use crate::error::{Error, ErrorKind};
use crate::loader::{self, Found};
use crate::log::Logger;
use crate::open_mpi;
use crate::values::HostParams;
use oxmpi_mca::Descriptor;
use oxmpi_mca_params::{Resolver, Selection, nearest};
use std::path::PathBuf;

/// A component to open.
#[derive(Debug)]
pub struct Chosen {
    pub component: Accepted,
    /// The origin of its name in a setting, if it was named: then it must be usable.
    pub named_by: Option<String>,
}

/// A component that might be used.
#[derive(Clone)]
pub struct Candidate {
    pub framework: Framework,
    pub name: String,
    pub source: Source,
}

/// State of a candidate's descriptor.
#[derive(Clone)]
pub enum Source {
    /// Linked in, or loaded already.
    Known(Accepted),
    File(Found),
    /// Cannot be used, and why.
    Broken {
        place: String,
        why: String,
    },
}

/// Everything the choice needs to know, and where it tells what it did.
pub struct Chooser<'a> {
    pub resolver: &'a mut Resolver,
    pub params: &'a HostParams,
    pub logger: &'a Logger,
    /// Shows a paragraph of the host's help once per job.
    pub help: &'a dyn Fn(&str, &[&str]),
}

impl Chooser<'_> {
    /// Chooses in the frameworks. No file of another one is loaded.
    ///
    /// # Safety
    /// The descriptors must be those of linked-in components.
    pub unsafe fn choose(
        &mut self,
        frameworks: &[Framework],
        builtin: &[*const Descriptor],
        dirs: &[PathBuf],
    ) -> Result<Vec<Chosen>, Error> {
        // SAFETY: the caller's promise.
        let mut candidates = unsafe { self.candidates(builtin, dirs) };
        let mut chosen = Vec::new();
        for &framework in frameworks {
            let (of_this, rest): (Vec<_>, Vec<_>) =
                candidates.into_iter().partition(|c| c.framework == framework);
            candidates = rest;
            chosen.extend(self.choose_in(framework, of_this, dirs)?);
        }
        Ok(chosen)
    }

    /// Chooses in one framework, among its candidates, by the framework's selection: all usable ones, all but some, or
    /// exactly those named.
    pub fn choose_in(
        &mut self,
        framework: Framework,
        mut candidates: Vec<Candidate>,
        dirs: &[PathBuf],
    ) -> Result<Vec<Chosen>, Error> {
        let mut chosen = Vec::new();
        let selection = self.resolver.selection(framework.name())?;
        if selection.is_all() || selection.negated || !self.honour(framework, &selection, &mut candidates) {
            self.all_but(&selection, candidates, &mut chosen);
        } else {
            self.exactly(framework, &selection, candidates, &self.all_dirs(dirs), &mut chosen)?;
        }
        Ok(chosen)
    }

    /// The directories in which components are searched, those of `mca_base_component_path` first.
    fn all_dirs(&self, dirs: &[PathBuf]) -> Vec<PathBuf> {
        self.params.component_path.iter().chain(dirs).cloned().collect()
    }

    /// Lists all components that might be used, linked in or as a file; no file is loaded.
    ///
    /// # Safety
    /// As [`Chooser::choose`].
    pub unsafe fn candidates(&self, builtin: &[*const Descriptor], dirs: &[PathBuf]) -> Vec<Candidate> {
        // SAFETY: the caller's promise.
        let mut candidates = unsafe { self.linked_in(builtin) };
        for found in loader::search(&self.all_dirs(dirs)) {
            let known = candidates.iter().any(|c| c.framework == found.framework && c.name == found.name);
            if !known {
                let (framework, name) = (found.framework, found.name.clone());
                candidates.push(Candidate { framework, name, source: Source::File(found) });
            }
        }
        candidates
    }

    /// Checks the descriptors of linked-in components and lists those that pass; refusals are logged as errors.
    ///
    /// # Safety
    /// As [`Chooser::choose`].
    unsafe fn linked_in(&self, builtin: &[*const Descriptor]) -> Vec<Candidate> {
        let mut out = Vec::new();
        for &descriptor in builtin {
            // SAFETY: the caller's promise.
            match unsafe { accept(descriptor, None, "linked in") } {
                Ok(c) => out.push(Candidate {
                    framework: c.framework,
                    name: c.name.to_owned(),
                    source: Source::Known(c),
                }),
                // It is part of this very program, so somebody built it wrongly.
                Err(refusal) => self.logger.error(crate::log::HOST, &refusal.to_string()),
            }
        }
        out
    }

    /// Whether an including list is followed. False, with a help text, where one of Open MPI's variables names a
    /// component that only Open MPI has.
    fn honour(&self, framework: Framework, selection: &Selection, candidates: &mut [Candidate]) -> bool {
        if !selection.origin.is_open_mpi() {
            return true;
        }
        for name in &selection.names {
            if self.find(name, candidates).is_some() {
                continue;
            }
            if open_mpi::has(framework.name(), name) {
                let variable = selection.origin.to_string();
                (self.help)("open-mpi-component", &[&variable, name, framework.name()]);
                return false;
            }
        }
        true
    }

    /// Position of the candidate that answers to `name`; loads files only to look for an alias.
    fn find(&self, name: &str, candidates: &mut [Candidate]) -> Option<usize> {
        if let Some(at) = candidates.iter().position(|c| c.name == name) {
            return Some(at);
        }
        candidates.iter_mut().position(|c| {
            c.load();
            matches!(&c.source, Source::Known(a) if a.aliases.contains(&name))
        })
    }

    /// Chooses the components that an including list names; an error if one does not exist or cannot be used.
    fn exactly(
        &self,
        framework: Framework,
        selection: &Selection,
        mut candidates: Vec<Candidate>,
        dirs: &[PathBuf],
        chosen: &mut Vec<Chosen>,
    ) -> Result<(), Error> {
        let mut taken: Vec<usize> = Vec::new();
        for name in &selection.names {
            let by = format!("{} ({} from {})", name, framework.name(), selection.origin);
            let Some(at) = self.find(name, &mut candidates) else {
                return Err(missing(&by, name, &candidates, dirs));
            };
            if taken.contains(&at) {
                continue;
            }
            taken.push(at);
            candidates[at].load();
            match &candidates[at].source {
                Source::Known(c) => {
                    chosen.push(Chosen { component: c.clone(), named_by: Some(by) });
                }
                Source::Broken { why, .. } => {
                    let message = format!("component {by} cannot be used: {why}");
                    return Err(Error::new(ErrorKind::Other, message));
                }
                Source::File(f) => {
                    let message = format!("component {by} was not loaded from {}", f.path.display());
                    return Err(Error::new(ErrorKind::Intern, message));
                }
            }
        }
        Ok(())
    }

    /// Loads the candidates of a framework and chooses all that can be used, but for those that a list with `^` names; opens
    /// none. One that cannot be loaded is skipped, and the reason logged as the parameters say.
    fn all_but(&self, selection: &Selection, candidates: Vec<Candidate>, chosen: &mut Vec<Chosen>) {
        let excluded = |name: &str| selection.negated && selection.names.iter().any(|n| n == name);
        for mut c in candidates {
            if excluded(&c.name) {
                continue;
            }
            c.load();
            match c.source {
                Source::Known(a) if a.aliases.iter().any(|alias| excluded(alias)) => {}
                Source::Known(component) => chosen.push(Chosen { component, named_by: None }),
                Source::Broken { why, .. }
                    if self.params.show_load_errors.wants(c.framework.name(), &c.name) =>
                {
                    self.logger.always(&why);
                }
                Source::Broken { why, .. } => self.logger.warn(c.framework.name(), &why),
                Source::File(_) => {}
            }
        }
    }
}

impl Candidate {
    /// Loads the candidate's file, if it is one that is not loaded; afterwards its source is `Known` or `Broken`.
    pub fn load(&mut self) {
        if let Source::File(found) = &self.source {
            self.source = match loader::load(found) {
                Ok(component) => Source::Known(component),
                Err(why) => Source::Broken { place: found.path.display().to_string(), why },
            };
        }
    }
}

/// Makes the error for a named component that does not exist: a similar name, those there are, and where they were
/// searched.
fn missing(by: &str, name: &str, candidates: &[Candidate], dirs: &[PathBuf]) -> Error {
    let names: Vec<&str> = candidates.iter().map(|c| c.name.as_str()).collect();
    let hint = nearest(name, names.iter().copied()).map(|n| format!(" (did you mean {n}?)"));
    let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let dirs: Vec<String> = dirs.iter().map(|d| d.display().to_string()).collect();
    let searched = if dirs.is_empty() { "no directory".to_owned() } else { dirs.join(", ") };
    let message = format!(
        "component {by} does not exist{}; there are: {there}; searched: {searched}",
        hint.unwrap_or_default()
    );
    Error::new(ErrorKind::Other, message)
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
