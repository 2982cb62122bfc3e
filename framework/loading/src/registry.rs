//! Registry of every component that can be found, usable or not, and of every parameter with its value
//! and source, without starting anything.
//!
//! For whoever wants to know before a job runs: the launcher, which refuses a job with wrong parameters
//! before it starts a process; `mpi-info`; a tool that asks before MPI_Init; a process that found a name
//! it does not know and would like to say what was meant. All components are loaded, those that
//! nobody selected, too; none is opened, so no device is touched.
//!
//! **A component that is linked into the library and has no file is not seen from outside it.** Where the installation's own
//! components are not found, nothing is said about selections and unknown names, whatever a path of the user's has; the ranks will.

use crate::accept::accepted::{Accepted, Framework};
use crate::error::Error;
pub use crate::in_force::{InForce, Process, bytes};
pub use crate::level::Level;
use crate::loader;
use crate::log::Logger;
use crate::open_mpi;
use crate::params;
use crate::select::{Candidate, Chooser, Source};
use crate::values::HostParams;
use crate::{help, implementation, in_force};
use oxmpi_mca::{Descriptor, Status};
use oxmpi_mca_params::{CannotSet, Declaration, Resolved, Resolver, Unknown};
use std::cell::RefCell;
use std::path::PathBuf;

/// A component that was found.
#[derive(Clone, Debug)]
pub struct Component {
    pub framework: Framework,
    pub name: String,
    /// The file, or "linked in".
    pub place: String,
    /// The framework's selection permits it, and it can be used.
    pub selected: bool,
    /// The component's descriptor, or the reason why it cannot be used.
    pub state: Result<Accepted, String>,
}

/// Something to be said once: a paragraph of the host's help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub topic: &'static str,
    pub args: Vec<String>,
}

impl Warning {
    /// The whole paragraph, arguments filled in.
    pub fn text(&self) -> String {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        help::paragraph(help::HOST, self.topic, &args).unwrap_or_else(|| self.args.join("\n"))
    }
}

/// See the essay.
#[derive(Debug)]
pub struct Registry {
    resolver: Resolver,
    components: Vec<Component>,
    /// The installation's own components are among them.
    own_seen: bool,
    dirs: Vec<PathBuf>,
    problems: Vec<String>,
    selection_warnings: Vec<Warning>,
}

impl Registry {
    /// Loads all components that can be found, declares all parameters and collects problems and warnings; opens
    /// nothing. `dirs` are searched behind `mca_base_component_path`.
    ///
    /// # Safety
    /// `builtin` must hold descriptors of components that are part of this program.
    pub unsafe fn look(mut resolver: Resolver, dirs: &[PathBuf], builtin: &[*const Descriptor]) -> Registry {
        let mut problems = Vec::new();
        let mut note = |problem: String| {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        };
        // One by one, so that all mistakes are found.
        for framework in Logger::frameworks() {
            if let Err(why) = resolver.declare(Declaration::verbosity(framework)) {
                note(why.to_string());
            }
        }
        params::declare_host(&mut resolver).iter().for_each(|why| note(why.to_string()));
        let host = params::read_host(&resolver);
        // The components are named by whoever lists them; nothing is logged here.
        let logger = Logger::silent();
        let said = RefCell::new(Vec::new());
        let say = |topic: &str, args: &[&str]| {
            let args = args.iter().map(|&a| a.to_owned()).collect();
            said.borrow_mut().extend(known_topic(topic).map(|topic| Warning { topic, args }));
        };
        let mut chooser = Chooser { resolver: &mut resolver, params: &host, logger: &logger, help: &say };
        // SAFETY: the caller's promise.
        let mut candidates = unsafe { chooser.candidates(builtin, dirs) };
        candidates.iter_mut().for_each(Candidate::load);
        let own_seen = !builtin.is_empty() || !loader::search(dirs).is_empty();
        let mut selected = Vec::new();
        for framework in Framework::ALL {
            let of_this: Vec<Candidate> =
                candidates.iter().filter(|c| c.framework == framework).cloned().collect();
            match chooser.choose_in(framework, of_this, dirs) {
                Ok(chosen) => selected.extend(chosen.iter().map(|c| (framework, c.component.name))),
                Err(_) if !own_seen => {}
                Err(why) => note(why.message),
            }
        }
        let all_dirs = host.component_path.iter().chain(dirs).cloned().collect();
        let components: Vec<Component> = candidates
            .into_iter()
            .map(|c| {
                let selected = selected.iter().any(|(f, name)| *f == c.framework && *name == c.name);
                component(c, selected)
            })
            .collect();
        for accepted in components.iter().filter_map(|c| c.state.as_ref().ok()) {
            for problem in params::declare_component(&mut resolver, accepted) {
                note(problem.to_string());
            }
            for refusal in refusals(&mut resolver, accepted, &host) {
                note(refusal);
            }
        }
        let mut selection_warnings = said.into_inner();
        selection_warnings.extend(missing_folders(&resolver, &host.component_path));
        Registry { resolver, components, own_seen, dirs: all_dirs, problems, selection_warnings }
    }

    /// Every parameter, in the order of declaration.
    pub fn params(&self) -> impl Iterator<Item = &Resolved> {
        self.resolver.iter()
    }
    /// Settings and declarations together.
    pub fn resolver(&self) -> &Resolver {
        &self.resolver
    }
    /// All components, by framework and name.
    pub fn components(&self) -> &[Component] {
        &self.components
    }
    /// Where components were looked for, first to last.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }
    /// Why a job could not start with these settings, in sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The value in force of a parameter in a process like `process`, and how it follows from what is set. `None`:
    /// nobody declares it. Its name may be a synonym.
    pub fn in_force(&self, name: &str, process: &Process) -> Option<InForce> {
        let r = self.resolver.get(name)?;
        if let Some(framework) = in_force::selects(&r.declaration) {
            if Framework::FOR_FILES.contains(&framework) {
                return Some(in_force::of_files(r));
            }
            let selected = self.components.iter().filter(|c| c.framework == framework && c.selected);
            let names: Vec<&str> = selected.map(|c| c.name.as_str()).collect();
            return Some(in_force::of_selection(r, names));
        }
        let mut resolver = self.resolver.clone();
        let host = params::read_host(&resolver);
        for accepted in self.components.iter().filter_map(|c| c.state.as_ref().ok()) {
            let Ok(values) = params::component_params(&mut resolver, accepted) else { continue };
            if let Some(at) = values.place(&r.declaration.full_name) {
                return Some(in_force::ask(accepted, &values, &host, process).of(at, r));
            }
        }
        Some(in_force::of_host(r, &host, process))
    }

    /// Sets a parameter on top of all sources, before anything is started (MPI 5.0 §15.3.6). The caller that
    /// starts an instance hands it on ([`Registry::written`]).
    pub fn write(&mut self, name: &str, text: &str) -> Result<&Resolved, CannotSet> {
        self.resolver.set(name, text)
    }

    /// The settings as they were written: for the caller that starts an instance.
    pub fn written(&self) -> Vec<(String, String)> {
        let set = self.resolver.iter().filter(|r| r.origin == oxmpi_mca_params::Origin::Set);
        set.map(|r| (r.declaration.full_name.clone(), r.text.clone())).collect()
    }

    /// The settings with names that no parameter has, as far as they are worth a warning. Left out are those that may
    /// belong to a component which is there and cannot be loaded here.
    pub fn unknown(&self) -> Vec<Unknown> {
        if !self.own_seen {
            return Vec::new();
        }
        let broken: Vec<String> = self
            .components
            .iter()
            .filter(|c| c.state.is_err())
            .map(|c| format!("{}_{}_", c.framework.name(), c.name))
            .collect();
        let mut unknown = self.resolver.unknown();
        unknown.retain(|u| u.deserves_warning() && !broken.iter().any(|b| u.name.starts_with(b)));
        unknown
    }

    /// Collects the warnings about the settings of this process, by looking at all components and parameters; none if
    /// nothing is set.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.selection_warnings.clone();
        let mut list = |topic, lines: Vec<String>| {
            if !lines.is_empty() {
                warnings.push(Warning { topic, args: vec![indented(&lines)] });
            }
        };
        list("open-mpi-parameter", self.theirs());
        list("one-implementation", implementation::told(&self.resolver));
        // A name that only looks like one of ours is more likely misspelt.
        let theirs = |u: &Unknown| u.nearest.is_none() && open_mpi::has_parameter(&u.name);
        let (theirs, unknown): (Vec<_>, Vec<_>) = self.unknown().into_iter().partition(|u| theirs(u));
        list("open-mpi-only", theirs.iter().map(|u| format!("{}, from {}", u.name, u.origin)).collect());
        list("unknown-parameter", unknown.iter().map(ToString::to_string).collect());
        list("deprecated-parameter", self.resolver.deprecated().iter().map(ToString::to_string).collect());
        warnings
    }

    /// Lines about variables of Open MPI's that are for components which only Open MPI has.
    fn theirs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for unknown in self.resolver.unknown().iter().filter(|u| u.origin.is_open_mpi()) {
            let text = self.resolver.setting(&unknown.name).map(|s| s.text.to_string_lossy().into_owned());
            let asked = open_mpi::asked_for(&unknown.name, &text.unwrap_or_default());
            let Some((framework, component)) = asked else { continue };
            let ours = |c: &Component| {
                c.framework.name() == framework
                    && (c.name == component
                        || c.state.as_ref().is_ok_and(|a| a.aliases.contains(&component.as_str())))
            };
            if !self.components.iter().any(ours) {
                lines.push(format!("{} (component {component} of {framework})", unknown.origin));
            }
        }
        lines
    }
}

/// Sentences about values with which a component does not open, wherever it is: those of one parameter that its
/// declaration does not show to be wrong, and those that do not fit each other.
fn refusals(resolver: &mut Resolver, component: &Accepted, host: &HostParams) -> Vec<String> {
    let Ok(values) = params::component_params(resolver, component) else { return Vec::new() };
    let answers = in_force::ask(component, &values, host, &Process::like(2, 2, None, Level::Single));
    let everywhere = answers.refused.iter().filter(|(_, status, _)| *status == Status::BAD_PARAM);
    let named = everywhere.filter_map(|(at, _, why)| Some((values.at(*at)?, why)));
    named.map(|(r, why)| format!("parameter {}, from {}: {why}", r.declaration.full_name, r.origin)).collect()
}

/// Makes the warning about folders of `mca_base_component_path` that are not there. `None`: all are.
fn missing_folders(resolver: &Resolver, path: &[PathBuf]) -> Option<Warning> {
    let missing: Vec<String> =
        path.iter().filter(|dir| !dir.is_dir()).map(|dir| dir.display().to_string()).collect();
    let origin = &resolver.get("mca_base_component_path")?.origin;
    let args = vec![indented(&missing), origin.to_string()];
    (!missing.is_empty()).then_some(Warning { topic: "component-path", args })
}

/// Joins lines, two spaces before each.
fn indented(lines: &[String]) -> String {
    lines.iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
}

/// The topic of the warnings that the choice of components may give, as a static text; `None`: another topic.
fn known_topic(topic: &str) -> Option<&'static str> {
    (topic == "open-mpi-component").then_some("open-mpi-component")
}

/// Turns a candidate into the description of a component, usable or not.
fn component(candidate: Candidate, selected: bool) -> Component {
    let Candidate { framework, name, source } = candidate;
    let (place, state) = match source {
        Source::Known(accepted) => (accepted.place.clone(), Ok(accepted)),
        Source::File(found) => (found.path.display().to_string(), Err("was not loaded".into())),
        Source::Broken { place, why } => (place, Err(why)),
    };
    Component { framework, name, place, selected, state }
}

/// Warnings about the settings of this process, found by looking at everything; nothing if
/// nothing is set.
///
/// # Safety
/// As [`Registry::look`].
pub unsafe fn warnings(settings: &Resolver, dirs: &[PathBuf], builtin: &[*const Descriptor]) -> Vec<Warning> {
    if settings.settings().next().is_none() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { Registry::look(settings.clone(), dirs, builtin) }.warnings()
}

/// Makes the error for a job that does not start, of all problems.
pub fn refusal(problems: &[String]) -> Error {
    let lines = indented(problems);
    let text = help::paragraph(help::HOST, "wrong-parameters", &[&lines]).unwrap_or(lines);
    Error::new(crate::ErrorKind::Other, text)
}

/// The component ABI this library speaks: major and minor.
pub fn component_abi() -> (u16, u16) {
    (oxmpi_mca::ABI_MAJOR, oxmpi_mca::ABI_MINOR)
}
