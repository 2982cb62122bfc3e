//! The parameters of a job: all sources are read here, once, checked, and handed to the ranks.
//!
//! **Nothing starts with a wrong parameter.** If anything is set anywhere, the components are loaded (not
//! opened) for what they declare, those of third parties in `mca_base_component_path`, too, and every
//! value is read as a rank would read it. If nothing is set, there is nothing to check and nothing is
//! loaded. Components that are linked into the library and have no file are not seen from here;
//! their values are checked by the ranks.
//!
//! **The ranks' settings** are in their environment: each winning value that did not come from there, with
//! its source beside it, and the word that files need not be read again.

use crate::remote::options;
use oxmpi_loading::registry::{self, Registry};
use oxmpi_mca_params::{CHECKED, CommandSetting, FILES_ARE_READ, Origin, Places, Reader, Sources};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Consequences of the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Settings of the command line and the files, as names and texts.
    pub params: Vec<(String, String)>,
    /// For the ranks' environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Further variables that tune files want there: as words of `-x`.
    pub exports: Vec<OsString>,
    /// The parameter `plm`, and whether it was set for Open MPI.
    pub plm: (String, bool),
    /// Parameters about starting daemons that somebody has set, by the names they are declared under.
    pub launcher: BTreeMap<String, String>,
    /// Processes may each run alone, as rank 0 of 1.
    pub permits_singletons: bool,
    /// To be said once.
    pub warnings: Vec<String>,
}

/// Reads and checks everything. `given` is the command line's part, in its order: `--gmca`, `--mca` and
/// the like as parameters, `--tune` and `-am` as files. The error is the whole text for the user.
pub fn resolve(given: &[CommandSetting]) -> Result<Settings, String> {
    let places = Places::of_this_program();
    resolve_with(given, std::env::vars_os(), &places)
}

fn resolve_with(
    given: &[CommandSetting],
    variables: impl Iterator<Item = (OsString, OsString)>,
    places: &Places,
) -> Result<Settings, String> {
    for parameter in given {
        if let CommandSetting::Parameter { name, value } = parameter
            && !oxmpi_mca_params::file::is_name(name)
        {
            return Err(format!("--mca {name:?} {value:?}: {name:?} cannot be the name of a parameter"));
        }
    }
    let variables: Vec<(OsString, OsString)> = variables.collect();
    let variables = options::with_prrte(variables);
    let sources = Sources::read(Reader::Launcher, variables, places, given);
    if !sources.errors.is_empty() {
        let problems: Vec<String> = sources.errors.iter().map(ToString::to_string).collect();
        return Err(registry::refusal(&problems).message);
    }
    let mut resolver = sources.resolver;
    let mut settings = Settings::default();
    if let Some(plm) = resolver.setting("plm") {
        settings.plm = (plm.text.to_string_lossy().into_owned(), plm.origin.is_open_mpi());
    }
    let mut checked = true;
    if resolver.settings().next().is_some() {
        let dirs: Vec<_> = places.components().into_iter().collect();
        // SAFETY: no component is linked into the launcher.
        let registry = unsafe { Registry::look(resolver.clone(), &dirs, &[]) };
        if !registry.problems().is_empty() {
            return Err(registry::refusal(registry.problems()).message);
        }
        for (name, _) in options::NAMES {
            let known = registry.resolver().get(name).filter(|known| known.origin != Origin::Default);
            if let Some(known) = known {
                settings.launcher.insert((*name).to_owned(), known.text.clone());
            }
        }
        let alone = registry.resolver().get("mpi_permit_singletons");
        settings.permits_singletons = alone.and_then(|known| known.value.as_bool()).unwrap_or(false);
        settings.warnings = registry.warnings().iter().map(registry::Warning::text).collect();
        checked = !registry.components().is_empty();
        // With the texts of files that parameters of components name.
        resolver = registry.resolver().clone();
    }
    settings.environment = resolver.variables();
    let word = if checked { CHECKED } else { "read" };
    settings.environment.push((FILES_ARE_READ.into(), word.into()));
    for (name, setting) in resolver.settings().filter(|(_, s)| s.origin.label().is_some()) {
        // A value that is not text has been refused above.
        settings.params.push((name.to_owned(), setting.text.to_string_lossy().into_owned()));
    }
    for export in sources.exports {
        settings.exports.push(match export.value {
            Some(value) => format!("{}={value}", export.variable).into(),
            None => export.variable.into(),
        });
    }
    Ok(settings)
}

/// The folder with the library that belongs to this mpirun, which its ranks are to find before any other's. `None`: it is not
/// installed, or lies where the loader looks anyway, and there what a user has put before those folders is to stay before them.
pub fn own_libraries() -> Option<PathBuf> {
    let prefix = Places::of_this_program().prefix.filter(|prefix| prefix.join("bin/mpirun").exists())?;
    (prefix != Path::new("/usr") && prefix != Path::new("/")).then(|| prefix.join("lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Vec<CommandSetting> {
        let one = |&(n, v): &(&str, &str)| CommandSetting::Parameter { name: n.into(), value: v.into() };
        pairs.iter().map(one).collect()
    }

    fn with(given: &[CommandSetting]) -> Result<Settings, String> {
        resolve_with(given, std::iter::empty(), &Places::default())
    }

    #[test]
    fn a_parameter_is_given_once() {
        let settings =
            with(&given(&[("btl", "shm"), ("a", "1"), ("btl", "shm")])).expect("the same value twice");
        assert_eq!(settings.params, [("a".into(), "1".into()), ("btl".into(), "shm".into())]);
        let why = with(&given(&[("btl", "shm"), ("btl", "tcp")])).expect_err("two values");
        assert!(why.contains("btl") && why.contains("shm"), "{why}");
        assert!(with(&given(&[("a=b", "1")])).is_err());
    }

    #[test]
    fn the_hosts_own_values_are_checked_without_any_component() {
        let why = with(&given(&[("runtime_num_cris", "129"), ("mpi_spin_count", "soon")])).expect_err("two");
        assert!(why.contains("runtime_num_cris") && why.contains("soon"), "{why}");
        // Without components nobody can say whether a name exists.
        let settings = with(&given(&[("btl_nobody_knows", "1")])).expect("perhaps linked in");
        assert_eq!(settings.warnings, [] as [String; 0]);
        assert!(settings.environment.contains(&(FILES_ARE_READ.into(), "read".into())));
    }

    #[test]
    fn folders_for_components_that_are_not_there_are_told() {
        let path = "/no/where:/tmp:/nor/here";
        let settings = with(&given(&[("mca_base_component_path", path)])).expect("a warning only");
        let text = settings.warnings.join("");
        for part in ["  /no/where\n  /nor/here\n", "mca_base_component_path", "command line"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let there = with(&given(&[("mca_base_component_path", "/tmp")])).expect("sound");
        assert_eq!(there.warnings, [] as [String; 0]);
    }

    #[test]
    fn ranks_get_values_with_their_sources() {
        let settings = with(&given(&[("mpi_spin_count", "7")])).expect("sound");
        let pairs: Vec<_> =
            settings.environment.iter().filter_map(|(n, v)| n.to_str().zip(v.to_str())).collect();
        assert!(pairs.contains(&("OXMPI_MCA_mpi_spin_count", "7")), "{pairs:?}");
        assert!(pairs.contains(&("OXMPI_MCA_SOURCE_mpi_spin_count", "command line")), "{pairs:?}");
        let nothing = with(&[]).expect("sound");
        assert_eq!(nothing.environment, [(FILES_ARE_READ.into(), CHECKED.into())]);
    }
}
