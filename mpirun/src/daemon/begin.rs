//! How a daemon begins: its link, its place among the processes, and what it is to launch.

use super::remote_state::RemoteState;
use super::state::Daemon;
use super::{guard, ranks, relay, stand_in};
use crate::launcher::STAND_IN;
use crate::launcher::daemon::NodeDaemon;
use crate::link::{Channel, FromNode};
use crate::remote::agents::Agents;
use crate::remote::subtree::Subtree;
use crate::remote::{join, version};
use crate::{descendants, failed, signals};
use oxmpi_wireup::Secret;
use std::net::TcpListener;
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (status, why) = match words[..] {
        [] => (1, local().err()),
        ["--remote"] => return guard::first(),
        [guard::SECOND] => return guard::second(),
        [guard::GUARDED] => match join::join() {
            Ok(joined) => (1, remote(joined).err()),
            Err(failed) => (failed.status, Some(failed.why)),
        },
        [STAND_IN] => (1, stand_in::main().err()),
        ["--version"] => {
            oxmpi_system::answerln!("oxmpid (oxmpi) {}", version());
            (0, None)
        }
        _ => (2, Some("it takes --remote or --version; mpirun starts this program, and `mpi-info --help running-on-several-nodes` says how it is started by hand".into())),
    };
    match why {
        None => ExitCode::SUCCESS,
        Some(why) => {
            guard::complain(&why);
            ExitCode::from(status)
        }
    }
}

/// On mpirun's machine: the link is standard output, so starting us needs nothing but an ordinary spawn.
fn local() -> Result<(), String> {
    let link = ranks::take_link()?;
    let channel = Channel::new(link).map_err(|why| format!("cannot use the link to mpirun: {why}"))?;
    // A session of our own: the terminal's signals go to mpirun, which decides.
    rustix::process::setsid().map_err(failed("cannot leave mpirun's session"))?;
    run(channel, NodeDaemon::take_door(), None)
}

/// On another machine.
fn remote(joined: join::Joined) -> Result<(), String> {
    // The agent that logged in for us may have made one already.
    let _ = rustix::process::setsid();
    ranks::close_stdin()?;
    ranks::close_stdout()?;
    run(joined.link, joined.door, Some((joined.agents, joined.below, joined.secret)))
}

/// `far`: on another machine than mpirun's; what it has started, what is below it, and the job's secret.
/// `door`: where daemons of other nodes may call.
fn run(
    mut channel: Channel,
    door: Option<TcpListener>,
    far: Option<(Agents, Option<Subtree>, Secret)>,
) -> Result<(), String> {
    descendants::adopt_orphans()?;
    let mask = signals::mask();
    signals::restore_default(libc::SIGCHLD);
    let signals =
        signals::Signals::take(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT])?;
    let mut remote = None;
    let launch = match far {
        None => relay::await_launch(&mut channel, &mut Agents::default(), &mut None)?,
        Some((mut agents, mut below, secret)) => {
            let mut launch = relay::await_launch(&mut channel, &mut agents, &mut below)?;
            if let Some(launch) = &mut launch {
                launch.secret = secret;
                remote = Some(RemoteState::new(agents, below, launch.reads_stdin())?);
            }
            launch
        }
    };
    let Some(launch) = launch else { return Ok(()) };
    let mut daemon = Daemon::new(channel, signals, mask, launch)?;
    daemon.live_remotely(remote)?;
    daemon.open_door(door)?;
    match daemon.start() {
        Ok(()) => daemon.serve(),
        Err(why) => {
            daemon.say(&FromNode::Failed(why));
            daemon.phase.force();
            daemon.serve()
        }
    }
}
