//! Parameters of the launcher: Open MPI's names, as far as they have a meaning here.

use crate::help::paragraph;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How daemons are started by an agent such as ssh; what daemons hand on to each other is in the boot line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launcher {
    /// The agent and its own arguments.
    pub agent: Vec<String>,
    /// Before the node's name.
    pub arguments: Vec<String>,
    /// The commands for a shell on the node.
    pub command: String,
    /// How many each starts.
    pub width: usize,
    /// Where each listens for those that it starts: ports, interfaces and networks.
    pub ports: Vec<RangeInclusive<u16>>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// How many mpirun has start at the same time, and the time between two.
    pub concurrent: usize,
    pub delay: Duration,
}

/// Everything that parameters say about starting daemons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub agents: String,
    pub arguments: String,
    pub concurrent: usize,
    pub tree: bool,
    pub width: usize,
    pub delay: Duration,
    pub libraries: Vec<String>,
    pub pass_environment_parameters: bool,
    pub slurm_arguments: String,
    pub launch_agent: String,
    /// None: as long as it takes.
    pub timeout: Option<Duration>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub ports: Vec<RangeInclusive<u16>>,
    pub default_hostfile: Option<PathBuf>,
}

/// All that are read here, under the names by which they are declared, with Open MPI's other names for the same.
pub const NAMES: &[(&str, &[&str])] = &[
    ("plm", &[]),
    ("plm_ssh_agent", &["plm_rsh_agent"]),
    ("plm_ssh_args", &["plm_rsh_args"]),
    ("plm_ssh_num_concurrent", &["plm_rsh_num_concurrent"]),
    ("plm_ssh_no_tree_spawn", &["plm_rsh_no_tree_spawn"]),
    ("plm_ssh_delay", &["plm_rsh_delay"]),
    ("plm_ssh_pass_libpath", &["plm_rsh_pass_libpath"]),
    ("plm_ssh_pass_environ_mca_params", &["plm_rsh_pass_environ_mca_params"]),
    ("plm_slurm_args", &[]),
    ("prte_launch_agent", &["orte_launch_agent"]),
    ("prte_startup_timeout", &["orte_startup_timeout"]),
    ("prte_if_include", &["oob_tcp_if_include"]),
    ("prte_if_exclude", &["oob_tcp_if_exclude"]),
    (
        "prte_dynamic_ipv4_ports",
        &["oob_tcp_dynamic_ipv4_ports", "oob_tcp_static_ipv4_ports", "prte_static_ipv4_ports"],
    ),
    ("prte_default_hostfile", &["orte_default_hostfile"]),
    ("rml_base_radix", &["routed_radix", "prte_rml_radix"]),
];

/// Is this a parameter of the launcher, under any of its names?
pub fn is_one(name: &str) -> bool {
    NAMES.iter().any(|(own, others)| *own == name || others.contains(&name))
}

/// PRRTE's variables set our parameters of the same meaning, below `OMPI_MCA_`.
pub fn with_prrte(mut variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut more = Vec::new();
    for (name, value) in &variables {
        let name = name.to_str().unwrap_or_default();
        let rest = name.strip_prefix("PRTE_MCA_").or_else(|| name.strip_prefix("PRRTE_MCA_"));
        let Some(rest) = rest.filter(|rest| is_one(rest)) else { continue };
        let ours = OsString::from(format!("OMPI_MCA_{rest}"));
        if !variables.iter().chain(&more).any(|(other, _)| *other == ours) {
            more.push((ours, value.clone()));
        }
    }
    variables.append(&mut more);
    variables
}

impl Default for Options {
    fn default() -> Options {
        Options {
            agents: "ssh : rsh".into(),
            arguments: String::new(),
            concurrent: 128,
            tree: true,
            width: 32,
            delay: Duration::ZERO,
            libraries: Vec::new(),
            pass_environment_parameters: true,
            slurm_arguments: String::new(),
            launch_agent: String::new(),
            timeout: Some(Duration::from_secs(60)),
            include: Vec::new(),
            exclude: Vec::new(),
            ports: Vec::new(),
            default_hostfile: None,
        }
    }
}

impl Options {
    /// From texts that have been checked where they were declared.
    pub fn of(values: &BTreeMap<String, String>) -> Result<Options, String> {
        let mut options = Options::default();
        let text = |name: &str| values.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
        let number = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
        let truth =
            |name: &str| text(name).map(|text| matches!(text, "1" | "true" | "yes" | "on" | "enabled"));
        let list = |name: &str, mark: char| -> Vec<String> {
            let parts = text(name).unwrap_or_default().split(mark).map(str::trim);
            parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        if let Some(agents) = text("plm_ssh_agent") {
            options.agents = agents.to_owned();
        }
        options.arguments = text("plm_ssh_args").unwrap_or_default().to_owned();
        options.concurrent = number("plm_ssh_num_concurrent").map_or(options.concurrent, |n| n as usize);
        options.tree = !truth("plm_ssh_no_tree_spawn").unwrap_or(false);
        options.width = number("rml_base_radix").map_or(options.width, |n| n as usize);
        options.delay = Duration::from_secs(number("plm_ssh_delay").unwrap_or(0));
        options.libraries = list("plm_ssh_pass_libpath", ':');
        options.pass_environment_parameters = truth("plm_ssh_pass_environ_mca_params").unwrap_or(true);
        options.slurm_arguments = text("plm_slurm_args").unwrap_or_default().to_owned();
        options.launch_agent = text("prte_launch_agent").unwrap_or_default().to_owned();
        if let Some(seconds) = number("prte_startup_timeout") {
            options.timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
        }
        options.include = list("prte_if_include", ',');
        options.exclude = list("prte_if_exclude", ',');
        if !options.include.is_empty() && !options.exclude.is_empty() {
            return Err(paragraph("both-interfaces", &[]));
        }
        for part in list("prte_dynamic_ipv4_ports", ',') {
            options.ports.push(ports(&part).ok_or_else(|| paragraph("bad-ports", &[&part]))?);
        }
        options.default_hostfile = text("prte_default_hostfile").map(PathBuf::from);
        Ok(options)
    }

    /// The agent that is there, with what daemons are started by.
    pub fn launcher(&self, command: String) -> Result<Launcher, String> {
        let words = |text: &str| shlex::split(text).ok_or_else(|| paragraph("agent-words", &[text]));
        let mut agent = Vec::new();
        for one in self.agents.split(':').map(str::trim).filter(|one| !one.is_empty()) {
            let one = words(one)?;
            if one.first().is_some_and(|program| crate::program::exists(program.as_ref())) {
                agent = one;
                break;
            }
        }
        if agent.is_empty() {
            return Err(paragraph("no-agent", &[&self.agents]));
        }
        let mut arguments = words(&self.arguments)?;
        let program = Path::new(&agent[0]).file_name().unwrap_or_default();
        if program == "ssh" {
            // Behind the user's: of an option that is said twice ssh takes the first.
            let own = ["-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"];
            arguments.extend(own.map(str::to_owned));
        }
        let width = if self.tree { self.width } else { u32::MAX as usize };
        let (concurrent, delay) = (self.concurrent, self.delay);
        let (ports, include, exclude) = (self.ports.clone(), self.include.clone(), self.exclude.clone());
        Ok(Launcher { agent, arguments, command, width, ports, include, exclude, concurrent, delay })
    }
}

/// A port, or FIRST-LAST.
pub fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (0 < first && first <= last).then_some(first..=last)
}

/// A word for a shell, whichever it is.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<Options, String> {
        Options::of(&pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn values() {
        assert_eq!(options(&[]), Ok(Options::default()));
        let all = options(&[
            ("plm_ssh_agent", "/bin/sh -e : ssh"),
            ("plm_ssh_args", "-p 2222"),
            ("plm_ssh_no_tree_spawn", "true"),
            ("prte_startup_timeout", "0"),
            ("prte_if_include", "eth0, 10.0.0.0/8"),
            ("prte_dynamic_ipv4_ports", "4000-4002,5000"),
            ("plm_ssh_pass_libpath", "/a:/b"),
        ])
        .expect("sound");
        assert_eq!((all.timeout, all.tree), (None, false));
        assert_eq!(all.include, ["eth0", "10.0.0.0/8"]);
        assert_eq!(all.ports, [4000..=4002, 5000..=5000]);
        let launcher = all.launcher("x".into()).expect("a shell is there");
        assert_eq!(
            (launcher.agent, launcher.arguments),
            (vec!["/bin/sh".into(), "-e".into()], vec!["-p".into(), "2222".into()])
        );
        assert_eq!(launcher.width, u32::MAX as usize);
        for wrong in ["x", "5-4", "0", "70000"] {
            assert!(options(&[("prte_dynamic_ipv4_ports", wrong)]).is_err(), "{wrong}");
        }
        assert!(options(&[("prte_if_include", "a"), ("prte_if_exclude", "b")]).is_err());
        let none = options(&[("plm_ssh_agent", "no-such-agent : nor-this")]).expect("sound");
        assert!(none.launcher("x".into()).expect_err("not there").contains("no-such-agent"));
    }

    #[test]
    fn ssh_asks_nobody() {
        let options = options(&[("plm_ssh_args", "-o BatchMode=no")]).expect("sound");
        if let Ok(launcher) = options.launcher("x".into()) {
            let said = launcher.arguments.join(" ");
            assert!(said.starts_with("-o BatchMode=no -x -o BatchMode=yes"), "{said}");
        }
    }

    #[test]
    fn variables_of_prrte() {
        let pair = |(n, v): &(&str, &str)| (OsString::from(n), OsString::from(v));
        let all = [
            ("PRTE_MCA_plm_ssh_agent", "a"),
            ("PRRTE_MCA_plm", "ssh"),
            ("OMPI_MCA_plm", "slurm"),
            ("PRTE_MCA_other", "1"),
        ];
        let found = with_prrte(all.iter().map(pair).collect());
        assert_eq!(found[4..], [pair(&("OMPI_MCA_plm_ssh_agent", "a"))]);
    }

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quoted("/opt/mpi/bin/oxmpid"), "/opt/mpi/bin/oxmpid");
        assert_eq!(quoted("/a b/it's"), "'/a b/it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
