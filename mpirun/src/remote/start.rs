//! Having the daemons of all other nodes started: by ssh in a tree, by one srun, or by somebody's hand.

use super::agents::{Agents, Order};
use super::boot::Boot;
use super::hub::{DoorPlace, Gathered, Hub};
use super::options::{Launcher, Options, quoted};
use super::tree::{Member, split};
use super::{addresses, socket};
use crate::help::paragraph;
use crate::plm::Plm;
use oxmpi_mca_params::Places;
use oxmpi_wireup::Secret;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// How long a daemon looks for its way back, at most: less than mpirun waits for it, so that its word still counts.
const WAY_BACK: Duration = Duration::from_secs(20);

/// Daemons that are wanted.
#[derive(Clone, Debug)]
pub struct Request {
    /// Nodes by number, with what the agent is to be told: a name, or USER@NAME.
    pub nodes: Vec<Member>,
    pub plm: Plm,
    pub options: Options,
    /// Where the installation is on the nodes; None: where it is here.
    pub prefix: Option<String>,
    /// The nodes find the daemon by their PATH.
    pub no_prefix: bool,
}

/// Variables of an allocation that would have an inner srun start something else than one daemon for each node.
const SLURM_UNSET: &[&str] = &[
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_NNODES",
    "SLURM_TASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_DISTRIBUTION",
    "SLURM_CPU_BIND",
    "SLURM_MPI_TYPE",
    "SLURM_KILL_BAD_EXIT",
];
/// The daemons share what the allocation has with whatever else runs in it, and have all of it.
const SLURM_SET: &[(&str, &str)] = &[("SLURM_OVERLAP", "1"), ("SLURM_WHOLE", "1")];

/// Starts all daemons and waits until they are there.
pub fn gather(request: &Request) -> Result<Gathered, String> {
    begin(request, Secret::random().map_err(|why| why.to_string())?, None)?.run()
}

/// Begins to start all daemons, which know this secret. `mask`: the signal mask that what starts them gets in the place of mpirun's.
pub fn begin(request: &Request, secret: Secret, mask: Option<libc::sigset_t>) -> Result<Hub, String> {
    let options = &request.options;
    let interfaces = addresses::interfaces()?;
    let own = addresses::reachable(&interfaces, &options.include, &options.exclude)?;
    raise_limit_of_files();
    let door = DoorPlace { addresses: own.clone(), ports: options.ports.clone() };
    let listener = socket::listen(&options.ports)
        .map_err(|why| paragraph("no-port", &[&ports_in_words(options), &why.to_string()]))?;
    let port = listener.local_addr().map_err(|why| why.to_string())?.port();
    let command = daemon_command(request);
    let launcher = match request.plm {
        Plm::Ssh => options.launcher(command)?,
        _ => Launcher { command, width: 1, concurrent: 1, ..Launcher::default() },
    };
    let (path, libraries) = folders(request);
    let patience = options.timeout.map_or(WAY_BACK, |timeout| (timeout * 3 / 4).min(WAY_BACK));
    let boot = Boot {
        secret: secret.clone(),
        addresses: own.into_iter().map(|address| SocketAddr::new(address, port)).collect(),
        node: None,
        nodes: request.nodes.clone(),
        launcher: launcher.clone(),
        path,
        libraries,
        patience: patience.max(Duration::from_secs(1)),
    };
    let orders = match request.plm {
        Plm::Ssh => orders(&boot),
        Plm::Slurm => vec![srun(&boot, options)?],
        Plm::Manual | Plm::Local => {
            ask_for_hands(&boot);
            Vec::new()
        }
    };
    let agents = Agents::new(orders, launcher.concurrent, launcher.delay).with_mask(mask);
    // Somebody who types takes the time it takes.
    let timeout = options.timeout.filter(|_| request.plm != Plm::Manual);
    Hub::new(listener, door, secret, &request.nodes, agents, timeout)
}

/// The nodes that the owner of this line starts by its agent: the first node of each part of its nodes.
pub fn orders(boot: &Boot) -> Vec<Order> {
    let order = |part: Vec<Member>| {
        let (head, rest) = part.split_first()?;
        let line = Boot { node: Some(head.0), nodes: rest.to_vec(), ..boot.clone() }.to_line();
        let launcher = &boot.launcher;
        let behind = [head.1.clone(), launcher.command.clone()];
        let words = launcher.agent.iter().chain(&launcher.arguments).cloned().chain(behind).collect();
        let nodes = part.iter().map(|(number, _)| *number).collect();
        Some(Order { nodes, words, set: Vec::new(), unset: &[], line, all: false })
    };
    split(&boot.nodes, boot.launcher.width).into_iter().filter_map(order).collect()
}

/// One srun for all nodes.
fn srun(boot: &Boot, options: &Options) -> Result<Order, String> {
    if !crate::program::exists("srun".as_ref()) {
        return Err(paragraph("no-srun", &[]));
    }
    let count = boot.nodes.len();
    let names: Vec<&str> = boot.nodes.iter().map(|(_, name)| name.as_str()).collect();
    let mut words: Vec<String> = [
        "srun",
        "--mpi=none",
        "--cpu-bind=none",
        "--kill-on-bad-exit=0",
        "--ntasks-per-node=1",
        &format!("--nodes={count}"),
        &format!("--ntasks={count}"),
        &format!("--nodelist={}", names.join(",")),
    ]
    .map(str::to_owned)
    .into();
    let more = shlex::split(&options.slurm_arguments);
    words.extend(more.ok_or_else(|| paragraph("agent-words", &[&options.slurm_arguments]))?);
    let command = shlex::split(&boot.launcher.command);
    words.extend(command.ok_or_else(|| paragraph("agent-words", &[&boot.launcher.command]))?);
    let nodes = boot.nodes.iter().map(|(number, _)| *number).collect();
    Ok(Order { nodes, words, set: SLURM_SET.to_vec(), unset: SLURM_UNSET, line: boot.to_line(), all: true })
}

/// Shows what is to be done on each node. The line has the job's secret: it is for a standard input.
fn ask_for_hands(boot: &Boot) {
    let mut text = String::new();
    for (number, name) in &boot.nodes {
        let line = Boot { node: Some(*number), nodes: Vec::new(), ..boot.clone() }.to_line();
        text += &format!(
            "On {name} start\n\n    {}\n\nand give it this line on its standard input:\n\n{line}\n",
            boot.launcher.command
        );
    }
    oxmpi_system::report!("{}", paragraph("by-hand", &[text.trim_end()]));
}

/// The command for a node.
fn daemon_command(request: &Request) -> String {
    if !request.options.launch_agent.is_empty() {
        return format!("{} --remote", request.options.launch_agent);
    }
    let own = crate::launcher::daemon::path();
    let program = match &request.prefix {
        _ if request.no_prefix => "oxmpid".to_owned(),
        None => std::path::absolute(&own).unwrap_or(own).display().to_string(),
        Some(prefix) => {
            // At the same place in it as here.
            let here = Places::of_this_program().prefix;
            let whole = own.canonicalize().unwrap_or(own);
            let below = here.as_deref().and_then(|here| whole.strip_prefix(here).ok());
            let below = below.filter(|below| below.starts_with("bin") || below.starts_with("libexec"));
            Path::new(prefix).join(below.unwrap_or(Path::new("bin/oxmpid"))).display().to_string()
        }
    };
    format!("{} --remote", quoted(&program))
}

/// Folders of the installation for PATH and LD_LIBRARY_PATH on the nodes.
fn folders(request: &Request) -> (Vec<String>, Vec<String>) {
    let mut libraries = request.options.libraries.clone();
    let own = Places::of_this_program();
    let installed = own.prefix.filter(|prefix| prefix.join("bin/mpirun").exists());
    let prefix = request.prefix.clone().or_else(|| Some(installed?.display().to_string()));
    match prefix.filter(|_| !request.no_prefix) {
        None => (Vec::new(), libraries),
        Some(prefix) => {
            libraries.push(format!("{prefix}/lib"));
            (vec![format!("{prefix}/bin")], libraries)
        }
    }
}

fn ports_in_words(options: &Options) -> String {
    let ranges = options.ports.iter().map(|range| match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}-{}", range.start(), range.end()),
    });
    match options.ports.is_empty() {
        true => "that the system would choose".to_owned(),
        false => ranges.collect::<Vec<_>>().join(","),
    }
}

/// A connection for each node, and a few for each agent.
fn raise_limit_of_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it cannot be raised it is what it was.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(count: u32, width: usize) -> Boot {
        Boot {
            secret: Secret::from_bytes([1; 32]),
            addresses: vec!["10.0.0.1:4000".parse().expect("sound")],
            node: None,
            nodes: (1..=count).map(|n| (n, format!("u@n{n}"))).collect(),
            launcher: Launcher {
                agent: vec!["ssh".into()],
                arguments: vec!["-x".into()],
                command: "oxmpid --remote".into(),
                width,
                ..Launcher::default()
            },
            path: vec![],
            libraries: vec![],
            patience: WAY_BACK,
        }
    }

    /// Every node is started once, by an agent whose words have no secret.
    #[test]
    fn a_tree_of_orders() {
        let mut look = vec![boot(20, 3)];
        let mut started = Vec::new();
        while let Some(boot) = look.pop() {
            for order in orders(&boot) {
                assert_eq!(order.words[..2], ["ssh", "-x"]);
                assert_eq!(order.words[3], "oxmpid --remote");
                assert!(!order.words.join(" ").contains(&boot.secret.to_hex()));
                let next = Boot::parse(&order.line).expect("its own line");
                assert_eq!(next.node, Some(order.nodes[0]));
                assert_eq!(order.words[2], format!("u@n{}", order.nodes[0]));
                started.push(order.nodes[0]);
                look.push(next);
            }
        }
        started.sort_unstable();
        assert_eq!(started, (1..=20).collect::<Vec<_>>());
        assert_eq!(orders(&boot(20, u32::MAX as usize)).len(), 20, "no tree");
    }
}
