//! Values in force: the library's and the components' as the registry knows them, the launcher's own as mpirun reads them.

use crate::plan;
use crate::remote::options::Options;
use oxmpi_loading::registry::{InForce, Process, Registry};
use oxmpi_mca_params::{Places, Resolved};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Sources of the explanations: all parameters that are declared, the files that were read, and the installation.
pub struct ExplanationSources<'a> {
    pub registry: &'a Registry,
    pub files: &'a [PathBuf],
    pub places: &'a Places,
}

/// Which value a parameter has, and how it follows.
pub fn of(known: &ExplanationSources<'_>, r: &Resolved, process: &Process) -> InForce {
    let own = launchers(known, r).or_else(|| sources(known, r));
    let others = || known.registry.in_force(&r.declaration.full_name, process);
    own.or_else(others).unwrap_or_else(|| InForce::as_set(r))
}

/// A parameter of mpirun's, which ranks never look at.
fn launchers(known: &ExplanationSources<'_>, r: &Resolved) -> Option<InForce> {
    let name = r.declaration.full_name.as_str();
    let told = |value: &str, because: &str| Some(InForce::told(r, value, because));
    let texts: BTreeMap<String, String> = crate::remote::options::NAMES
        .iter()
        .filter_map(|(name, _)| Some(((*name).to_owned(), known.registry.resolver().get(name)?.text.clone())))
        .collect();
    let empty = r.text.trim().is_empty();
    let started = || Options::of(&texts).and_then(|options| options.launcher(String::new()));
    match name {
        "plm" if empty => match plan::has_nodes_of_slurm() {
            true => told("slurm", "empty: mpirun runs in a Slurm allocation"),
            false => told("ssh", "empty: mpirun does not run in a Slurm allocation"),
        },
        "plm_ssh_agent" => match started() {
            Ok(launcher) if launcher.agent.join(" ") != r.text => {
                told(&launcher.agent.join(" "), "the first of these programs that is there")
            }
            Ok(_) => None,
            Err(_) => told("", "none of these programs is there, so that no daemon can be started by one"),
        },
        "plm_ssh_args" => match started() {
            Ok(launcher) if launcher.arguments.is_empty() => told("", "empty: none"),
            Ok(launcher) => told(
                &launcher.arguments.join(" "),
                "with those that mpirun itself gives to ssh, behind the others",
            ),
            Err(_) => None,
        },
        "plm_ssh_delay" if r.value.as_i64() == Some(0) => told("", "0: without a pause"),
        "plm_ssh_pass_libpath" if empty => told("", "empty: LD_LIBRARY_PATH stays as it is on other nodes"),
        "plm_slurm_args" if empty => told("", "empty: none"),
        "prte_launch_agent" if empty => {
            told("oxmpid", "empty: below --prefix if that is given, else where it is on mpirun's own node")
        }
        "prte_startup_timeout" if r.value.as_i64() == Some(0) => told("", "0: no limit"),
        "prte_if_include" if empty => told("", "empty: addresses of all interfaces that are not loopback"),
        "prte_if_exclude" if empty => told("", "empty: no interface is left out"),
        "prte_dynamic_ipv4_ports" if empty => told("", "empty: the system chooses a port"),
        "prte_default_hostfile" if empty => told(
            "",
            "empty: jobs that name no nodes run on this machine, or on all nodes of a Slurm allocation",
        ),
        _ => None,
    }
}

/// A parameter about the sources of parameters.
fn sources(known: &ExplanationSources<'_>, r: &Resolved) -> Option<InForce> {
    if !r.text.trim().is_empty() {
        return None;
    }
    let (value, because) = match r.declaration.full_name.as_str() {
        "mca_base_param_files" => {
            let files: Vec<String> =
                known.files.iter().rev().map(|file| file.display().to_string()).collect();
            (
                files.join(","),
                "empty: those that exist of etc/oxmpi-mca-params.* and ~/.oxmpi/mca-params.*, and of --tune",
            )
        }
        "mca_base_param_file_path" => {
            let profiles = known.places.prefix.as_ref().map(|prefix| prefix.join("share/oxmpi/profiles"));
            let profiles = profiles.map(|folder| folder.display().to_string()).unwrap_or_default();
            (profiles, "empty: the profiles of this installation, then the current folder")
        }
        "mca_base_param_file_prefix" | "mca_base_envar_file_prefix" => (String::new(), "empty: no file"),
        "io" | "sharedfp" => (String::new(), "empty: the one implementation"),
        "mca_base_env_list" => (String::new(), "empty: none beside those of -x"),
        _ => return None,
    };
    Some(InForce::told(r, &value, because))
}
