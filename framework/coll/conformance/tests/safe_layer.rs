//! The layer for authors (`oxmpi_coll::safe`): a component that has every operation of it, each as plain as can be, passes the suite.

use oxmpi_coll::safe::{
    Allgather, Allreduce, Alltoall, Barrier, Bcast, Broadcast, Call, Exscan, Gather, Gathered, Memory, Offer,
    Op, Place, Reduce, ReduceScatterBlock, Result, Scan, Scatter, Scattered, Source,
};
use oxmpi_coll::{Coll, CollComm, CollModule, CollTable};
use oxmpi_coll_conformance::{Setup, checks, run, suite};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

struct Example;

impl Component for Example {
    type Module = CollModule;
    const NAME: &'static str = "example";
    fn open(_: Host, _: Params<'_>) -> core::result::Result<(i32, Vec<CollModule>), OpenError> {
        Ok((20, vec![oxmpi_coll::module(Example)]))
    }
}

impl Coll for Example {
    type Module = Example;
    fn query(&self, _: &CollComm) -> Option<(i32, Example)> {
        Some((20, Example))
    }
    const TABLE: CollTable = Offer::<Example>::new()
        .barrier()
        .bcast()
        .gather()
        .scatter()
        .allgather()
        .alltoall()
        .reduce()
        .allreduce()
        .reduce_scatter_block()
        .scan()
        .exscan()
        .table();
    const PLANS: Option<CollTable> = Some(Example::TABLE);
}

mod component {
    oxmpi_mca::component! {
        component: super::Example,
        symbol: oxmpi_component_coll_example,
        framework: oxmpi_coll::FRAMEWORK,
        framework_version: oxmpi_coll::VERSION,
        name: "example",
        aliases: [],
        params: &[],
        help: "",
    }
}

fn others(call: &Call<'_>) -> impl Iterator<Item = u32> + use<> {
    let rank = call.rank();
    (0..call.num_ranks()).filter(move |other| *other != rank)
}

impl Barrier for Example {
    fn barrier(&self, call: &Call<'_>) -> Result {
        for other in others(call) {
            let (nothing, into) = call.nothing()?;
            call.exchange(nothing, other, into, other)?;
        }
        Ok(())
    }
}

impl Bcast for Example {
    fn bcast(&self, call: &Call<'_>, data: Broadcast<'_>, root: u32) -> Result {
        match data {
            Broadcast::Root(data) => others(call).try_for_each(|other| call.send(data, other)),
            Broadcast::Other(place) => call.recv(place, root),
        }
    }
}

impl Gather for Example {
    fn gather(&self, call: &Call<'_>, data: Gathered<'_>, root: u32) -> Result {
        match data {
            Gathered::Elsewhere { own } => call.send(own, root),
            Gathered::Here { own, mut result } => {
                if let Some(own) = own {
                    call.copy(own, result.block(call.rank(), call.num_ranks())?)?;
                }
                let blocks = (0..).zip(result.blocks(call.num_ranks())?);
                let mut theirs = blocks.filter(|(rank, _)| *rank != root);
                call.together(|messages| theirs.try_for_each(|(rank, block)| messages.recv(block, rank)))
            }
        }
    }
}

impl Scatter for Example {
    fn scatter(&self, call: &Call<'_>, data: Scattered<'_>, root: u32) -> Result {
        match data {
            Scattered::Other { own } => call.recv(own, root),
            Scattered::Root { blocks, own } => {
                let block = |rank| blocks.block(rank, call.num_ranks());
                if let Some(own) = own {
                    call.copy(block(root)?, own)?;
                }
                others(call).try_for_each(|other| call.send(block(other)?, other))
            }
        }
    }
}

impl Allgather for Example {
    fn allgather(&self, call: &Call<'_>, own: Option<Source<'_>>, mut result: Place<'_>) -> Result {
        let (ranks, rank) = (call.num_ranks(), call.rank());
        if let Some(own) = own {
            call.copy(own, result.block(rank, ranks)?)?;
        }
        for distance in 1..ranks {
            let (to, from) = ((rank + distance) % ranks, (rank + ranks - distance) % ranks);
            let (block, into) = result.pair(rank, from, ranks)?;
            call.exchange(block, to, into, from)?;
        }
        Ok(())
    }
}

impl Alltoall for Example {
    fn alltoall(&self, call: &Call<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result {
        let (ranks, rank) = (call.num_ranks(), call.rank());
        let mut packed = call.bytes(if own.is_some() { 0 } else { result.bytes() })?;
        if own.is_none() {
            call.copy(result.source(), packed.place()?)?;
        }
        let own = own.map_or_else(|| packed.source(), Ok)?;
        call.together(|messages| {
            for (other, block) in (0..).zip(result.blocks(ranks)?) {
                if other == rank {
                    call.copy(own.block(rank, ranks)?, block)?;
                } else {
                    messages.recv(block, other)?;
                }
            }
            others(call).try_for_each(|other| messages.send(own.block(other, ranks)?, other))
        })
    }
}

/// Sums along the chain of ranks: of those before this one, where there are any, and with this one.
struct Sums<'a> {
    before: Memory<'a>,
    with_own: Memory<'a>,
}

fn chain<'a>(call: &Call<'_>, op: Op<'a>, own: Source<'_>) -> Result<Sums<'a>> {
    let mut before = call.operands(op, own.count())?;
    let mut with_own = call.operands(op, own.count())?;
    call.copy(own, with_own.place()?)?;
    if call.rank() > 0 {
        call.recv(before.place()?, call.rank() - 1)?;
        call.reduce(op, before.source()?, with_own.place()?)?;
    }
    if call.rank() + 1 < call.num_ranks() {
        call.send(with_own.source()?, call.rank() + 1)?;
    }
    Ok(Sums { before, with_own })
}

impl Scan for Example {
    fn scan(&self, call: &Call<'_>, op: Op<'_>, own: Option<Source<'_>>, result: Place<'_>) -> Result {
        let sums = chain(call, op, own.unwrap_or(result.source()))?;
        call.copy(sums.with_own.source()?, result)
    }
}

impl Exscan for Example {
    fn exscan(&self, call: &Call<'_>, op: Op<'_>, data: Gathered<'_>) -> Result {
        let sums = chain(call, op, data.operand())?;
        match data {
            Gathered::Here { result, .. } => call.copy(sums.before.source()?, result),
            Gathered::Elsewhere { .. } => Ok(()),
        }
    }
}

impl Reduce for Example {
    fn reduce(&self, call: &Call<'_>, op: Op<'_>, data: Gathered<'_>, root: u32) -> Result {
        let (sums, last) = (chain(call, op, data.operand())?, call.num_ranks() - 1);
        match data {
            Gathered::Here { result, .. } if call.rank() == last => {
                call.copy(sums.with_own.source()?, result)
            }
            Gathered::Here { result, .. } => call.recv(result, last),
            Gathered::Elsewhere { .. } if call.rank() == last => call.send(sums.with_own.source()?, root),
            Gathered::Elsewhere { .. } => Ok(()),
        }
    }
}

impl Allreduce for Example {
    fn allreduce(
        &self,
        call: &Call<'_>,
        op: Op<'_>,
        own: Option<Source<'_>>,
        mut result: Place<'_>,
    ) -> Result {
        let (sums, last) = (chain(call, op, own.unwrap_or(result.source()))?, call.num_ranks() - 1);
        if call.rank() < last {
            return self.bcast(call, Broadcast::Other(result), last);
        }
        call.copy(sums.with_own.source()?, result.all())?;
        self.bcast(call, Broadcast::Root(result.source()), last)
    }
}

impl ReduceScatterBlock for Example {
    fn reduce_scatter_block(
        &self,
        call: &Call<'_>,
        op: Op<'_>,
        own: Option<Source<'_>>,
        mut result: Place<'_>,
    ) -> Result {
        let (ranks, last) = (call.num_ranks(), call.num_ranks() - 1);
        let each = own.map_or(result.count(), |own| own.count()) / u64::from(ranks);
        let sums = chain(call, op, own.unwrap_or(result.source()))?;
        let own = result.part(0..each)?;
        let data = match call.rank() == last {
            true => Scattered::Root { blocks: sums.with_own.source()?, own: Some(own) },
            false => Scattered::Other { own },
        };
        self.scatter(call, data, last)
    }
}

suite!(Setup::new(component::descriptor()).ranks(8));

/// A component that goes wrong where the layer has to refuse it.
mod refused {
    use super::*;

    struct Wrong;

    impl Component for Wrong {
        type Module = CollModule;
        const NAME: &'static str = "wrong";
        fn open(_: Host, _: Params<'_>) -> core::result::Result<(i32, Vec<CollModule>), OpenError> {
            Ok((20, vec![oxmpi_coll::module(Wrong)]))
        }
    }

    impl Coll for Wrong {
        type Module = Wrong;
        fn query(&self, _: &CollComm) -> Option<(i32, Wrong)> {
            Some((20, Wrong))
        }
        const TABLE: CollTable = Offer::<Wrong>::new().allreduce().table();
        const PLANS: Option<CollTable> = Some(Wrong::TABLE);
    }

    impl Allreduce for Wrong {
        fn allreduce(
            &self,
            call: &Call<'_>,
            op: Op<'_>,
            own: Option<Source<'_>>,
            mut result: Place<'_>,
        ) -> Result {
            let (ranks, bad) = (call.num_ranks(), Err(Status::BAD_PARAM));
            let own_bytes = own.map_or(0, |own| own.bytes());
            let (mut bytes, operands) =
                (call.bytes(own_bytes.max(8))?, call.operands(op, result.count() + 1)?);
            let (nothing, nowhere) = call.nothing()?;
            assert_eq!(call.send(nothing, ranks), bad);
            assert_eq!(call.recv(nowhere, u32::MAX), bad);
            let (nothing, nowhere) = call.nothing()?;
            assert_eq!(call.exchange(nothing, ranks, nowhere, 0), bad);
            assert_eq!(call.together(|messages| messages.send(nothing, ranks)), bad);
            // Operands of another type or number.
            assert_eq!(call.reduce(op, result.source(), bytes.place()?), bad);
            assert_eq!(call.reduce(op, bytes.source()?, result.all()), bad);
            assert_eq!(call.reduce(op, operands.source()?, result.all()), bad);
            assert!(result.pair(0, 0, 1).is_err() && result.block(0, 0).is_err());
            bad
        }
    }

    mod component {
        oxmpi_mca::component! {
            component: super::Wrong,
            symbol: oxmpi_component_coll_wrong,
            framework: oxmpi_coll::FRAMEWORK,
            framework_version: oxmpi_coll::VERSION,
            name: "wrong",
            aliases: [],
            params: &[],
            help: "",
        }
    }

    oxmpi_coll_conformance::check!(own_refusals, needs: [allreduce], |job| {
        use oxmpi_coll_conformance::{Args, data::predefined, operations::predefined_op};
        let int = predefined(oxmpi_datatype::Base::I32);
        job.group(2, |rank| {
            let op = predefined_op(oxmpi_datatype::kernel::op::SUM);
            let (input, mut output) = ([1i32, 2], [3i32, 4]);
            let args = Args {
                send: (input.as_ptr().cast(), 0, None),
                recv: (output.as_mut_ptr().cast(), 2, Some(&*int)),
                op: Some(&op),
                ..Args::default()
            };
            // The suite above runs this check, too, over the component that is right.
            if rank.call(|t| t.allreduce, args) == Status::BAD_PARAM {
                assert_eq!(output, [3, 4]);
            }
        });
    });

    #[test]
    fn what_an_author_must_not_do_is_refused() {
        let all = checks();
        let check = all.iter().find(|check| check.name == "own_refusals").expect("the check");
        assert!(run(&Setup::new(component::descriptor()), check));
    }
}

/// A host of coll 2.0, whose services end before `extend`.
mod older_host {
    use super::*;
    use core::ffi::c_void;
    use core::mem::offset_of;
    use core::sync::atomic::{AtomicU32, Ordering};
    use oxmpi_coll::{CollArgs, CollFn, CollServices};

    static REFUSED: AtomicU32 = AtomicU32::new(0);
    static MADE: AtomicU32 = AtomicU32::new(0);
    static DROPPED: AtomicU32 = AtomicU32::new(0);

    struct Learner;

    impl Component for Learner {
        type Module = CollModule;
        const NAME: &'static str = "learner";
        fn open(_: Host, _: Params<'_>) -> core::result::Result<(i32, Vec<CollModule>), OpenError> {
            Ok((20, vec![oxmpi_coll::module(Learner)]))
        }
    }

    const RIGHT: CollTable = Offer::<Learner>::new().barrier().table();

    impl Coll for Learner {
        type Module = Learner;
        fn query(&self, _: &CollComm) -> Option<(i32, Learner)> {
            Some((20, Learner))
        }
        const TABLE: CollTable = RIGHT;
        const PLANS: Option<CollTable> = Some(CollTable { barrier: Some(shortened as CollFn), ..RIGHT });
    }

    /// Lives as long as the function that has it.
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Barrier for Learner {
        fn barrier(&self, call: &Call<'_>) -> Result {
            MADE.fetch_add(1, Ordering::Relaxed);
            let (guard, (nothing, _)) = (Guard, call.nothing()?);
            call.learn(nothing, (), move |call, _, ()| {
                let _ = &guard;
                Example.barrier(call)
            })
        }
    }

    /// Plans with a table of services that ends early.
    extern "C" fn shortened(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
        // SAFETY: the host's, valid during the call.
        let (comm, services) = unsafe { (&*comm, &*(*comm).services) };
        let services = CollServices { size: offset_of!(CollServices, extend) as u32, ..*services };
        let barrier = RIGHT.barrier.expect("it was added");
        let status = barrier(module, &CollComm { services: &services, ..*comm }, args);
        REFUSED.fetch_add(u32::from(status == Status::NOT_SUPPORTED), Ordering::Relaxed);
        status
    }

    mod component {
        oxmpi_mca::component! {
            component: super::Learner,
            symbol: oxmpi_component_coll_learner,
            framework: oxmpi_coll::FRAMEWORK,
            framework_version: oxmpi_coll::VERSION,
            name: "learner",
            aliases: [],
            params: &[],
            help: "",
        }
    }

    oxmpi_coll_conformance::check!(own_barriers, needs: [barrier], |job| {
        use oxmpi_coll_conformance::Args;
        job.group(2, |rank| {
            let status = rank.call(|t| t.barrier, Args::default());
            assert!(status == Status::OK || rank.planned && status == Status::NOT_SUPPORTED, "{status}");
        });
    });

    #[test]
    fn a_step_that_the_host_does_not_have_is_refused_and_dropped() {
        let all = checks();
        let check = all.iter().find(|check| check.name == "own_barriers").expect("the check");
        assert!(run(&Setup::new(component::descriptor()), check));
        let counts = [&REFUSED, &MADE, &DROPPED].map(|count| count.load(Ordering::Relaxed));
        assert!(counts[0] > 0 && counts[1] > counts[0], "blocking ones are done: {counts:?}");
        assert_eq!(counts[1], counts[2], "every function is dropped");
    }
}
