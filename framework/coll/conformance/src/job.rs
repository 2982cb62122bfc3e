//! Checks, and the jobs in one process that they are given: groups of ranks as threads, one communicator, the component's module for it.
//!
//! A check gives what a rank does. [`Job::group`] and [`Job::between`] run it in every *way*: with every variant of the setup's
//! parameters; with sends that complete at once and with sends that wait for their receives (which then may land in any order, as large
//! messages do); by the functions of the table and by plans that are made and then done; with the ranks on one node and on two, or as the setup says. Where
//! the setup names several placements, each of them has one kind of sends with each variant. A way that the component does not offer (no plans, a collective
//! missing, no inter-communicators) is passed over.

use crate::host::Opened;
use crate::net::Net;
use crate::rank::Rank;
use crate::services::SERVICES;
use crate::setup::{Nodes, Setup};
use crate::view::View;
use core::cell::{Cell, UnsafeCell};
use core::ptr::null;
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_coll::{CollComm, CollFn, CollOffer, CollTable, flag};
use oxmpi_mca::{Descriptor, Status, ThreadCtx};
use oxmpi_testing::setup::text;
use std::sync::Arc;

/// A collective by its place in the table.
pub type TableSlot = fn(&CollTable) -> Option<CollFn>;

/// A check, and what it looks at.
pub struct Check {
    pub name: &'static str,
    /// Collectives without which it makes no sense.
    pub needs: &'static [TableSlot],
    pub run: fn(&Job),
}

/// See the file's head.
pub struct Job<'a> {
    setup: &'a Setup,
    check: &'static Check,
    runs: AtomicUsize,
}

/// One way to run a check.
#[derive(Clone, Debug)]
struct RunSettings {
    params: Vec<(String, String)>,
    synchronous: bool,
    planned: bool,
    nodes: Nodes,
    /// After so many operations the net is dead.
    dies_after: usize,
    /// Pairs of ranks that do not reach each other, the lower one first; of two groups the second's follow the first's.
    cut: Vec<(u32, u32)>,
}

/// One rank before its thread starts, and what its communicator points to.
struct Member {
    offer: CollOffer,
    wanted: bool,
    comm: Box<CollComm>,
    _local: Option<Box<CollComm>>,
    #[allow(clippy::vec_box, reason = "their addresses are handed out")]
    _views: Vec<Box<View>>,
    _thread: Box<UnsafeCell<ThreadCtx>>,
    opened: Arc<Opened>,
    side: usize,
}

// SAFETY: a member is handed over to its thread, and modules may be used in any.
unsafe impl Send for Member {}

impl Job<'_> {
    pub(crate) fn new<'a>(setup: &'a Setup, check: &'static Check) -> Job<'a> {
        Job { setup, check, runs: AtomicUsize::new(0) }
    }

    /// Jobs that ran.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// The largest group of those that are tried one by one.
    pub fn ranks(&self) -> u32 {
        self.setup.ranks.min(17)
    }

    /// Runs `main` as ranks 0 to n - 1 of a communicator, in every way.
    pub fn group(&self, n: u32, main: impl Fn(&Rank) + Sync) {
        self.each_run(&[], |settings| self.run([n, 0], settings, &main));
    }

    /// The same in groups of 1 to `most` ranks, one by one.
    pub fn groups(&self, most: u32, main: impl Fn(&Rank) + Sync) {
        (1..=most.min(self.ranks())).for_each(|n| self.group(n, &main));
    }

    /// Runs `main` as the ranks of two groups that an inter-communicator joins, in every way.
    pub fn between(&self, sizes: [u32; 2], main: impl Fn(&Rank) + Sync) {
        self.each_run(&[], |settings| self.run(sizes, settings, &main));
    }

    /// As [`Job::group`], or [`Job::between`] where the second size is not 0, over a net in which these pairs of ranks, the lower one
    /// first, do not reach each other. The second group's ranks count on from the first's.
    pub fn without(&self, cut: &[(u32, u32)], sizes: [u32; 2], main: impl Fn(&Rank) + Sync) {
        self.each_run(cut, |settings| self.run(sizes, settings, &main));
    }

    /// As [`Job::group`], by the functions of the table alone, over a net that is dead after so many operations. False where the component
    /// does not offer it.
    pub fn dying(
        &self,
        n: u32,
        variant: usize,
        synchronous: bool,
        dies_after: usize,
        main: impl Fn(&Rank) + Sync,
    ) -> bool {
        let params = self.params(&self.setup.variants[variant]);
        let before = self.runs();
        let nodes = self.setup.nodes.first().copied().unwrap_or(Nodes::InTurn(1));
        let settings =
            RunSettings { params, synchronous, planned: false, nodes, dies_after, cut: Vec::new() };
        self.run([n, 0], &settings, &main);
        self.runs() > before
    }

    pub fn variants(&self) -> usize {
        self.setup.variants.len()
    }

    fn params(&self, variant: &[(String, String)]) -> Vec<(String, String)> {
        let set = |name: &String| variant.iter().any(|(other, _)| other == name);
        let rest = self.setup.params.iter().filter(|(name, _)| !set(name));
        rest.chain(variant).cloned().collect()
    }

    fn each_run(&self, cut: &[(u32, u32)], run: impl Fn(&RunSettings)) {
        for (number, variant) in self.setup.variants.iter().enumerate() {
            for synchronous in [false, true] {
                for planned in [false, true] {
                    let usual = [Nodes::InTurn(1 + u32::from(synchronous != planned))];
                    let wanted = &self.setup.nodes[..];
                    let all = if wanted.is_empty() { &usual } else { wanted };
                    for (place, nodes) in all.iter().enumerate() {
                        // Of many placements each has one kind of sends with one variant, and the other with the next.
                        if all.len() > 1 && (place + number).is_multiple_of(2) == synchronous {
                            continue;
                        }
                        run(&RunSettings {
                            params: self.params(variant),
                            synchronous,
                            planned,
                            nodes: *nodes,
                            dies_after: usize::MAX,
                            cut: cut.to_vec(),
                        });
                    }
                }
            }
        }
    }

    fn run(&self, sizes: [u32; 2], settings: &RunSettings, main: &(impl Fn(&Rank) + Sync)) {
        // SAFETY: descriptors are statics of their components, which are not unloaded.
        let (descriptor, parts) = unsafe { (&*self.setup.descriptor, self.setup.parts.map(|parts| &*parts)) };
        let net = Arc::new(Net::new(
            parts,
            sizes[0] + sizes[1],
            settings.synchronous,
            settings.dies_after,
            settings.cut.clone(),
            self.setup.patience,
        ));
        let members: Option<Vec<Member>> = (0..2)
            .flat_map(|side| (0..sizes[side]).map(move |rank| (side, rank)))
            .map(|(side, rank)| Member::new(descriptor, settings, &net, sizes, side, rank))
            .collect();
        let Some(members) = members else { return };
        if !self.is_offered(&members, settings) {
            return;
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        let what = format!("{} with {sizes:?} ranks, {settings:?}", self.check.name);
        let panics: Vec<_> = std::thread::scope(|scope| {
            let start = |member: Member| {
                let (net, planned) = (net.clone(), settings.planned);
                scope.spawn(move || {
                    let _ends = net.ends_with_panics();
                    let rank = member.rank(&net, planned);
                    main(&rank);
                })
            };
            let threads: Vec<_> = members.into_iter().map(start).collect();
            threads.into_iter().filter_map(|thread| thread.join().err()).collect()
        });
        let complaints = net.complaints();
        assert!(panics.is_empty() && complaints.is_empty(), "{what}: {}", complaints.join("; "));
    }

    /// Whether all ranks want the communicator and have what the check needs; they must agree.
    fn is_offered(&self, members: &[Member], settings: &RunSettings) -> bool {
        let has = |member: &Member| {
            let table = if settings.planned { member.offer.plans } else { member.offer.table };
            // SAFETY: null, or a table that lives as long as the module.
            let table = unsafe { table.as_ref() };
            member.wanted
                && table.is_some_and(|table| self.check.needs.iter().all(|which| which(table).is_some()))
        };
        let answers: Vec<_> = members.iter().map(|m| (m.wanted, m.offer.priority, has(m))).collect();
        let agree = answers.iter().all(|answer| *answer == answers[0]);
        assert!(agree, "{}: the ranks do not agree on a communicator: {answers:?}", self.check.name);
        answers[0].2
    }
}

impl Member {
    /// `None`: not offered to this component.
    fn new(
        descriptor: &'static Descriptor,
        settings: &RunSettings,
        net: &Arc<Net>,
        sizes: [u32; 2],
        side: usize,
        rank: u32,
    ) -> Option<Member> {
        let first = [0, sizes[0]];
        let group = |side: usize| -> Vec<u32> { (first[side]..first[side] + sizes[side]).collect() };
        let (mine, is_inter) = (group(side), sizes[1] > 0);
        let opened = Arc::new(Opened::new(descriptor, &settings.params, mine[rank as usize], net));
        if is_inter && !opened.has(flag::INTER) {
            return None;
        }
        let theirs = if is_inter { group(1 - side) } else { mine.clone() };
        let name = text(descriptor.name);
        let view = |context, peers| {
            Box::new(View::new(net, &opened, name, context, rank, mine.clone(), peers, settings.nodes))
        };
        let mut views = vec![view(1, theirs)];
        if is_inter {
            views.push(view(2, mine.clone()));
        }
        let thread = Box::new(UnsafeCell::new(ThreadCtx::new(0, 0)));
        let remote = if is_inter { sizes[1 - side] } else { 0 };
        let mut comm = Box::new(seen(&views[0], thread.get(), remote, settings));
        let (mut offer, mut wanted) = (CollOffer::NONE, false);
        views[0].ask(|| {
            let status = (opened.module.comm_query)(opened.module.state, &*comm, &mut offer);
            wanted = status == Status::OK;
            if status.is_err() && status != Status::NOT_AVAILABLE {
                net.violation(format!("comm_query answers {status}"));
            }
        });
        let local = views.get(1).map(|inside| Box::new(seen(inside, thread.get(), 0, settings)));
        comm.local = local.as_ref().map_or(null(), |local| &raw const **local);
        Some(Member { offer, wanted, comm, _local: local, _views: views, _thread: thread, opened, side })
    }

    fn rank<'a>(&'a self, net: &'a Net, planned: bool) -> Rank<'a> {
        // SAFETY: tables live as long as the module.
        let table: &CollTable = unsafe { &*if planned { self.offer.plans } else { self.offer.table } };
        Rank {
            rank: self.comm.rank,
            n: self.comm.num_ranks,
            remote: self.comm.num_remote,
            side: self.side,
            planned,
            comm: &self.comm,
            module: self.offer.module,
            table,
            net,
            component: &self.opened.module,
            prepared: Cell::new(None),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.wanted {
            (self.opened.module.comm_free)(self.opened.module.state, self.offer.module);
        }
    }
}

/// A communicator as a component sees it. Ranks that wait for their receives have fewer cores than they need.
fn seen(view: &View, thread: *mut ThreadCtx, remote: u32, settings: &RunSettings) -> CollComm {
    CollComm {
        size: size_of::<CollComm>() as u32,
        num_ranks: view.size(),
        rank: view.rank,
        oversubscribed: settings.synchronous.into(),
        comm: core::ptr::from_ref(view).cast_mut().cast(),
        thread,
        services: &SERVICES,
        num_remote: remote,
        planning: 0,
        local: null(),
        num_nodes: view.num_nodes(),
        node: view.node_of(view.rank),
    }
}
