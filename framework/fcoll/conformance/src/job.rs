//! A job: a component opened for each rank, and one collective access played to its end.

use crate::access::Access;
use crate::file::File;
use crate::services::{ACCESS, CALLED, Recorder, SERVICES, TRANSFERS};
use crate::world::{Step, World};
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr::{from_mut, from_ref, null, null_mut};
use oxmpi_coll::CollComm;
use oxmpi_fcoll::{Access as RawAccess, FcollFacts, FcollModule, Layout, PlanArgs, want};
use oxmpi_mca::host::HostTable;
use oxmpi_mca::{Descriptor, Status};
use oxmpi_testing::{Desk, FakeHost, JobState, setup};
use std::sync::Arc;

/// A component and the parameters it is tested with.
#[derive(Clone, Debug)]
pub struct Setup {
    descriptor: *const Descriptor,
    params: Vec<(String, String)>,
    cases: u64,
}

impl Setup {
    /// Every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup { descriptor, params: Vec::new(), cases: 60 }
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// How many random cases each check has.
    pub fn cases(mut self, cases: u64) -> Setup {
        self.cases = cases;
        self
    }

    /// The seeds of a check's random cases. The environment variable `OXMPI_SEED` names one to play alone, `OXMPI_CASES` how many there are.
    pub fn seeds(&self) -> Vec<u64> {
        let given = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        match given("OXMPI_SEED") {
            Some(seed) => vec![seed],
            None => (1..=given("OXMPI_CASES").unwrap_or(self.cases)).collect(),
        }
    }

    /// Whether a check's cases are all there, so that among them are such as it is about.
    pub fn is_whole(&self) -> bool {
        std::env::var_os("OXMPI_SEED").is_none()
    }
}

struct Ears {
    desk: Desk,
}

impl FakeHost for Ears {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        eprintln!("rank {} {what}", self.desk.job.rank);
        Status::NOT_SUPPORTED
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        eprintln!("rank {} reported process {proc}: {message}", self.desk.job.rank);
    }
}

struct Opened {
    module: FcollModule,
    _table: Box<HostTable>,
    _host: Box<Ears>,
}

impl Opened {
    fn new(with: &Setup, rank: u32, n: u32) -> Opened {
        let desk = Desk::new(Desk::job_of(rank, n), 1, false, Arc::<JobState>::default());
        let host = Box::new(Ears { desk });
        let table = Box::new(host.desk.table(&*host));
        // SAFETY: a descriptor is a static of its component.
        let descriptor = unsafe { &*with.descriptor };
        let (_, modules) = setup::open::<FcollModule>(descriptor, &table, &with.params)
            .unwrap_or_else(|status| panic!("open: {status}"));
        assert_eq!(modules.len(), 1, "a component for collective file access has one module");
        Opened { module: modules[0], _table: table, _host: host }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        (self.module.finalize)(self.module.state);
    }
}

/// One collective access and the circumstances of it.
pub struct Case {
    pub seed: u64,
    pub what: u32,
    pub aggregators: Vec<u32>,
    pub unit: u64,
    pub buffer: u64,
    pub want: u32,
    pub file: File,
    pub parts: Vec<Access>,
    /// A pair of ranks that do not reach each other.
    pub cut: Option<(u32, u32)>,
}

impl Case {
    /// With one aggregator, and a buffer for everything.
    pub fn new(seed: u64, what: u32, file: File, parts: Vec<Access>) -> Case {
        let (aggregators, want) = (vec![0], want::AUTOMATIC);
        Case { seed, what, aggregators, unit: 64, buffer: 1 << 16, want, file, parts, cut: None }
    }
}

/// How a case has ended.
pub struct Ended {
    pub file: File,
    /// By rank.
    pub parts: Vec<Access>,
    pub moved: Vec<(u64, Status)>,
    pub errors: Vec<Option<Status>>,
    /// Bytes of plan memory, by rank.
    pub asked: Vec<u64>,
    pub messages: u64,
    pub transfers: u64,
    pub complaints: Vec<String>,
}

/// Plays a case. Every promise that holds whatever happens is checked here.
pub fn play(with: &Setup, mut case: Case) -> Ended {
    let n = case.parts.len() as u32;
    let opened: Vec<_> = (0..n).map(|rank| Opened::new(with, rank, n)).collect();
    let layout = Layout {
        size: size_of::<Layout>() as u32,
        num_aggregators: case.aggregators.len() as u32,
        aggregators: case.aggregators.as_ptr(),
        unit: case.unit,
        buffer: case.buffer,
        read: case.want,
        write: case.want,
        keeps: 0,
        reserved: 0,
    };
    let facts = FcollFacts {
        size: size_of::<FcollFacts>() as u32,
        num_ranks: n,
        num_nodes: 1,
        keeps: 0,
        layout: &layout,
    };
    let answers: Vec<_> = opened
        .iter()
        .map(|component| {
            let mut priority = -1;
            ((component.module.query)(component.module.state, &facts, &mut priority), priority)
        })
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "ranks do not answer alike: {answers:?}");
    assert_eq!(answers[0].0, Status::OK, "the file is not wanted");
    let accesses: Vec<RawAccess> = case
        .parts
        .iter_mut()
        .map(|part| RawAccess {
            size: size_of::<RawAccess>() as u32,
            what: case.what,
            displacement: part.displacement,
            filetype: part.filetype.as_ptr(),
            from: part.from,
            len: part.num_bytes(),
            memory: part.memory.as_mut_ptr(),
            count: part.count,
            memtype: part.memtype.as_ptr(),
        })
        .collect();
    let mut world = World::new(n, case.file, case.seed);
    world.cut = case.cut;
    for rank in 0..n {
        let table = opened[rank as usize].module.table;
        let (status, steps) = recorded(&mut world, rank, |comm| {
            let args = PlanArgs {
                size: size_of::<PlanArgs>() as u32,
                reserved: 0,
                comm,
                layout: &layout,
                access: &accesses[rank as usize],
                services: from_ref(const { &TRANSFERS }),
                ctx: ACCESS,
            };
            // SAFETY: the component's table.
            unsafe { ((*table).plan)(opened[rank as usize].module.state, &args) }
        });
        assert_eq!(status, Status::OK, "the plan of rank {rank}");
        world.ranks[rank as usize].get_mut().steps.extend(steps);
    }
    world.play(&|world, rank, f, ctx, what| {
        // SAFETY: what the component gave.
        recorded(world, rank, |comm| unsafe { f(ctx, comm, what) })
    });
    let mut ended = Ended {
        file: world.file.clone(),
        parts: case.parts,
        moved: Vec::new(),
        errors: Vec::new(),
        asked: Vec::new(),
        messages: world.messages,
        transfers: world.transfers,
        complaints: world.complaints.clone(),
    };
    for (rank, state) in world.ranks.iter_mut().enumerate() {
        let state = state.get_mut();
        let stuck = !state.steps.is_empty();
        drop_steps(&mut state.steps);
        ended.errors.push(state.error);
        ended.asked.push(state.asked);
        if !stuck && state.moved.len() != 1 {
            ended.complaints.push(format!("rank {rank} says {} times what it has moved", state.moved.len()));
        }
        ended.moved.push(state.moved.first().copied().unwrap_or((0, Status::INTERNAL)));
    }
    ended
}

/// Gives up what was not done.
fn drop_steps(steps: &mut std::collections::VecDeque<Step>) {
    for step in steps.drain(..) {
        match step {
            // SAFETY: the last call with what the component gave.
            Step::Extend { f, ctx } => _ = unsafe { f(ctx, null(), oxmpi_coll::extend::DROP) },
            Step::Own { f, ctx, .. } => _ = f(ctx, oxmpi_coll::step::DROP),
            _ => {}
        }
    }
}

/// Has a component write steps.
fn recorded(world: &mut World, rank: u32, call: impl FnOnce(&CollComm) -> Status) -> (Status, Vec<Step>) {
    let n = world.ranks.len() as u32;
    let recorder = Recorder { world: Cell::new(from_mut(world)), rank, steps: RefCell::default() };
    let comm = CollComm {
        size: size_of::<CollComm>() as u32,
        num_ranks: n,
        rank,
        oversubscribed: 0,
        comm: from_ref(&recorder).cast_mut().cast::<c_void>(),
        thread: null_mut(),
        services: const { &SERVICES },
        num_remote: 0,
        planning: 1,
        local: null(),
        num_nodes: 1,
        node: 0,
    };
    CALLED.set(Some((recorder.world.get(), rank)));
    let status = call(&comm);
    CALLED.set(None);
    (status, recorder.steps.into_inner())
}
