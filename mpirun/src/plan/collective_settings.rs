//! Settings of collectives of a job's programs, compared before anything starts: ranks choose components and algorithms of a collective operation by them,
//! each for itself, so two programs with different ones would wait for each other's messages for ever.

use super::environment::Environment;
use crate::help::paragraph;
use oxmpi_mca_params::{ENVIRONMENT, ENVIRONMENT_OPEN_MPI};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Full names of parameters, with their values.
type Values = BTreeMap<String, OsString>;

/// The settings of the program that was looked at first.
#[derive(Debug, Default)]
pub struct CollectiveSettings(Option<Values>);

impl CollectiveSettings {
    /// Compares the settings of one more program. `own` is the environment of mpirun. `Err`: the text for the user.
    pub fn compare(
        &mut self,
        environment: &Environment,
        own: &BTreeMap<OsString, OsString>,
    ) -> Result<(), String> {
        let these = values(environment, own);
        let Some(first) = &self.0 else {
            self.0 = Some(these);
            return Ok(());
        };
        let differs = |name: &&String| first.get(*name) != these.get(*name);
        let Some(name) = first.keys().chain(these.keys()).find(differs) else { return Ok(()) };
        let text = |values: &Values| match values.get(name) {
            Some(value) => shown(&value.to_string_lossy()),
            None => "not set".to_owned(),
        };
        Err(paragraph("collectives-differ", &[name, &text(first), &text(&these)]))
    }
}

/// Settings as ranks will find them; our own variables count before Open MPI's.
fn values(environment: &Environment, own: &BTreeMap<OsString, OsString>) -> Values {
    let mut values = Values::new();
    for prefix in [ENVIRONMENT_OPEN_MPI, ENVIRONMENT] {
        for variable in environment.names(own) {
            let name = variable.to_str().and_then(|variable| variable.strip_prefix(prefix));
            let Some(name) = name.filter(|name| counts(name)) else { continue };
            if let Some(value) = environment.get(variable, own) {
                values.insert(name.to_owned(), value);
            }
        }
    }
    values
}

/// A value for people; rules may be long.
fn shown(value: &str) -> String {
    let most = 80;
    match value.char_indices().nth(most) {
        Some((end, _)) => format!("{:?} and further", &value[..end]),
        None => format!("{value:?}"),
    }
}

/// Whether ranks choose by a parameter: the selection of components of collectives, and their own parameters.
fn counts(name: &str) -> bool {
    name == "coll" || name.starts_with("coll_") && !name.ends_with("_verbose")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::environment::{Change, EnvironmentOptions};

    fn program(own: &BTreeMap<OsString, OsString>, set: &[(&str, &str)]) -> Environment {
        let changes = set.iter().map(|(n, v)| Change::Set(n.into(), v.into())).collect();
        let app = EnvironmentOptions { inherit: None, changes };
        Environment::new(&EnvironmentOptions::default(), &app, own)
    }

    fn compared(own: &[(&str, &str)], programs: &[&[(&str, &str)]]) -> Result<(), String> {
        let own = own.iter().map(|(n, v)| (n.into(), v.into())).collect();
        let mut settings = CollectiveSettings::default();
        programs.iter().try_for_each(|set| settings.compare(&program(&own, set), &own))
    }

    #[test]
    fn equal_settings_pass() {
        assert_eq!(compared(&[], &[&[], &[]]), Ok(()));
        let own = [("OMPI_MCA_coll", "basic")];
        assert_eq!(compared(&own, &[&[], &[]]), Ok(()));
        // The same value, from another place; and others, which nobody chooses by.
        assert_eq!(compared(&own, &[&[("OXMPI_MCA_coll", "basic")], &[]]), Ok(()));
        let loud = [("OXMPI_MCA_coll_base_verbose", "10"), ("OXMPI_MCA_btl", "tcp"), ("coll", "x")];
        assert_eq!(compared(&[], &[&loud, &[]]), Ok(()));
    }

    #[test]
    fn different_settings_are_refused_by_name() {
        let one: &[(&str, &str)] = &[("OXMPI_MCA_coll_tuned_bcast_algorithm", "3")];
        let other: &[(&str, &str)] = &[("OXMPI_MCA_coll_tuned_bcast_algorithm", "4")];
        for programs in [[one, other], [one, &[]], [&[], one]] {
            let why = compared(&[], &programs).expect_err("they differ");
            assert!(why.contains("coll_tuned_bcast_algorithm"), "{why}");
        }
        let why = compared(&[("OMPI_MCA_coll", "basic")], &[&[], &[("OXMPI_MCA_coll", "^han")]]);
        assert!(why.expect_err("they differ").contains("\"^han\""));
        let rules = "ä".repeat(1000);
        let why = compared(&[], &[&[("OXMPI_MCA_coll_tuned_dynamic_rules", &rules)], &[]]);
        assert!(why.expect_err("they differ").len() < 1000);
    }
}
