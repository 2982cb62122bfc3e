//! A daemon: what it has, and what it waits for.

use super::crashes::Crashes;
use super::ending::Phase;
use super::feed::Feed;
use super::own_endings::OwnEndings;
use super::ranks::Rank;
use super::remote_state::RemoteState;
use super::strangers::Strangers;
use crate::direct::Links;
use crate::link::{Channel, FromNode, Launch, window};
use crate::{failed, signals};
use oxmpi_wireup::JobFacts;
use oxmpi_wireup::server::{Job, Membership, Server};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::process::Pid;
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Subject of an epoll event. Outputs come behind the fixed ones: two for each local rank.
pub(super) const LINK: u64 = 0;
pub(super) const SIGNALS: u64 = 1;
pub(super) const SERVER: u64 = 2;
pub(super) const FEED: u64 = 3;
pub(super) const INPUT: u64 = 4;
pub(super) const BELOW: u64 = 5;
pub(super) const DIRECT: u64 = 6;
pub(super) const OUTPUTS: u64 = 7;

/// How much an answer about one rank says of others.
pub(super) const ANSWER: usize = 16 << 20;

/// How long the beginning of a line waits for its rest when a user looks on.
pub(super) const PROMPT: Duration = Duration::from_millis(50);

pub(super) struct Daemon {
    pub(super) link: Channel,
    /// False once mpirun is gone.
    pub(super) linked: bool,
    /// Some: mpirun is on another machine.
    pub(super) remote: Option<RemoteState>,
    /// Links to daemons of other nodes; None: the job has no other machines.
    pub(super) direct: Option<Links>,
    pub(super) signals: signals::Signals,
    /// The signal mask that ranks get: the one mpirun was started with.
    pub(super) mask: libc::sigset_t,
    pub(super) launch: Box<Launch>,
    pub(super) server: Server,
    pub(super) epoll: OwnedFd,
    pub(super) ranks: Vec<Rank>,
    /// Which rank a child is.
    pub(super) children: HashMap<Pid, usize>,
    /// Bytes that each output may have on its way.
    pub(super) window: usize,
    /// Standard input for several ranks.
    pub(super) feed: Option<Feed>,
    /// Where ranks were when a signal came that ends them.
    pub(super) crashes: Crashes,
    /// Ranks are not heard while the backlog is full.
    pub(super) server_watched: bool,
    /// Ranks whose connection is gone: when that becomes news.
    pub(super) vanishing: Vec<(Instant, usize)>,
    pub(super) strangers: Strangers,
    pub(super) phase: Phase,
    /// While ranks may end by themselves.
    pub(super) own_endings: Option<OwnEndings>,
    /// mpirun has asked for the end: it must not wait for a reader who may never read again.
    pub(super) hurry: bool,
    pub(super) finished: bool,
}

impl Daemon {
    pub(super) fn new(
        link: Channel,
        signals: signals::Signals,
        mask: libc::sigset_t,
        launch: Box<Launch>,
    ) -> Result<Daemon, String> {
        let hostname = launch.node_names.get(launch.node as usize).cloned().unwrap_or_default();
        let first = launch.local_ranks.first().copied().ok_or("there is no rank to start")?;
        let facts = JobFacts {
            rank: first,
            size: launch.map.size(),
            map: launch.map.clone(),
            node: launch.node,
            local_ranks: launch.local_ranks.clone(),
            local_rank: 0,
            job_id: launch.job_id,
            oversubscribed: launch.oversubscribed,
            cores: launch.cores,
            bound: false,
            keeper_pid: std::process::id(),
            hostname,
            node_names: launch.node_names.clone(),
            params: launch.params.clone(),
            universe: launch.universe,
            apps: launch.apps.clone(),
            tree: launch.tree,
            sites: launch.sites.clone(),
            parent: launch.parent.clone(),
        };
        let job = Job { facts, secret: launch.secret.clone() };
        let mut server = Server::new(job).map_err(|why| why.to_string())?;
        server.hold(launch.hold);
        let window = window(launch.local_ranks.len());
        let cannot = "cannot wait for several things";
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed(cannot))?;
        for (fd, token) in [(link.as_fd(), LINK), (signals.as_fd(), SIGNALS), (server.as_fd(), SERVER)] {
            epoll::add(&epoll, fd, EventData::new_u64(token), EventFlags::IN).map_err(failed(cannot))?;
        }
        Ok(Daemon {
            link,
            linked: true,
            remote: None,
            direct: None,
            signals,
            mask,
            launch,
            server,
            epoll,
            ranks: Vec::new(),
            children: HashMap::new(),
            window,
            feed: None,
            crashes: Crashes::default(),
            server_watched: true,
            vanishing: Vec::new(),
            strangers: Strangers::new(),
            phase: Phase::Running,
            own_endings: None,
            hurry: false,
            finished: false,
        })
    }

    pub(super) fn say(&mut self, message: &FromNode) {
        if self.linked {
            // Everything that is said has been bounded where it came from.
            let _ = self.link.send(message);
        }
    }

    pub(super) fn place(&self, rank: u32) -> Option<usize> {
        self.launch.local_ranks.binary_search(&rank).ok().filter(|&local| local < self.ranks.len())
    }

    /// The process that says it is this rank; it may be a child of the one we started.
    pub(super) fn pid_of(&self, rank: u32) -> u32 {
        let Some(local) = self.place(rank) else { return 0 };
        match self.server.membership(local) {
            Membership::Joined { pid } | Membership::Finalized { pid } => pid,
            Membership::Absent => self.ranks[local].number(),
        }
    }

    pub(super) fn several_nodes(&self) -> bool {
        self.launch.node_names.len() > 1
    }
}
