//! Broken planners: the suite refuses each, and for its fault.

use oxmpi_fcoll::{Call, Fcoll, FcollFacts, FcollModule, Moved, Outcome, Range};
use oxmpi_fcoll_conformance::{Setup, run_all, run_named};
use oxmpi_mca::{Component, Host, OpenError, ParamDecl, Params, Status};

/// Makes a component of a planning function, in a module of its own.
macro_rules! planner {
    ($name:ident, $symbol:ident, $plan:expr) => {
        mod $name {
            use super::*;
            pub struct Broken;
            struct Planner;
            const PARAMS: &[ParamDecl] = &[];

            impl Component for Broken {
                type Module = FcollModule;
                const NAME: &'static str = "broken";
                fn open(_: Host, _: Params<'_>) -> Result<(i32, Vec<FcollModule>), OpenError> {
                    Ok((0, vec![oxmpi_fcoll::module(Planner)]))
                }
            }
            impl Fcoll for Planner {
                fn query(&self, _: &FcollFacts) -> Option<i32> {
                    Some(0)
                }
                fn plan(&self, call: &Call<'_>) -> Result<(), Status> {
                    let plan: fn(&Call<'_>) -> Result<(), Status> = $plan;
                    plan(call)
                }
            }
            oxmpi_mca::component! {
                component: Broken,
                symbol: $symbol,
                framework: oxmpi_fcoll::FRAMEWORK,
                framework_version: oxmpi_fcoll::VERSION,
                name: "broken",
                aliases: [],
                params: PARAMS,
                help: "",
            }
        }
    };
}

planner!(fine, oxmpi_component_fcoll_fine, |call| call.transfer_own(|call, moved| call.end_of_own(moved)));

planner!(silent, oxmpi_component_fcoll_silent, |call| call.transfer_own(|_, _| Ok(())));

planner!(twice, oxmpi_component_fcoll_twice, |call| call.transfer_own(|call, moved| {
    call.moved(moved.bytes, Status::OK);
    call.end_of_own(moved)
}));

planner!(alone, oxmpi_component_fcoll_alone, |call| call.transfer_own(|call, moved| {
    call.moved(moved.bytes, moved.outcome.status);
    Ok(())
}));

planner!(lazy, oxmpi_component_fcoll_lazy, |call| {
    let moved = Moved { bytes: call.access().len, outcome: Outcome::FINE };
    call.end_of_own(moved)
});

planner!(hopeful, oxmpi_component_fcoll_hopeful, |call| call.transfer_own(|call, moved| {
    let all = Moved { bytes: call.access().len, ..moved };
    call.end_of_own(all)
}));

// An agreement only of those who have data.
planner!(selective, oxmpi_component_fcoll_selective, |call| match call.access().len {
    0 => {
        call.moved(0, Status::OK);
        Ok(())
    }
    _ => call.transfer_own(|call, moved| call.end_of_own(moved)),
});

// A message more from rank 0.
planner!(talkative, oxmpi_component_fcoll_talkative, |call| {
    let mut requests = Vec::new();
    if call.rank() == 0 && call.num_ranks() > 1 {
        let (memory, byte) = (call.memory(8)?, call.byte()?);
        // SAFETY: the plan's memory; the type is kept for ever.
        requests.push(unsafe { call.send(memory.at(), 8, &byte, 1)? });
        core::mem::forget(byte);
    }
    call.transfer_own(|call, moved| call.end_of_own(moved))
});

// Asks for memory by the size of the access.
planner!(greedy, oxmpi_component_fcoll_greedy, |call| {
    call.memory(call.access().len)?;
    call.transfer_own(|call, moved| call.end_of_own(moved))
});

// Each rank reads, and writes back, the whole range that it accesses.
planner!(sieving, oxmpi_component_fcoll_sieving, |call| {
    let (access, view) = (call.access(), call.view());
    let (Some(first), Some(end)) = (view.offset(access.from), view.end(access.from, access.len)) else {
        return call.end_of_own(Moved { bytes: 0, outcome: Outcome::FINE });
    };
    if !call.writes() || access.len == 0 {
        return call.transfer_own(|call, moved| call.end_of_own(moved));
    }
    let (memory, result) = (call.memory(end - first)?, call.result()?);
    let piece = oxmpi_fbtl::Piece { offset: first, memory: memory.at(), len: end - first };
    // SAFETY: the plan's memory.
    unsafe { call.transfer(oxmpi_fbtl::transfer::READ, &[piece], &result, false)? };
    call.then(move |call, _| {
        let mut at = call.access().from;
        for (offset, len) in call.view().blocks(at, call.access().len) {
            let place = memory.part(offset - first, len);
            // SAFETY: a part of it, and the user's memory.
            unsafe {
                oxmpi_datatype::pack(
                    call.memtype(),
                    call.access().count,
                    call.access().memory,
                    at - call.access().from,
                    place.at(),
                    len,
                )
            };
            at += len;
        }
        let piece = oxmpi_fbtl::Piece { offset: first, memory: memory.at(), len: memory.len() };
        // SAFETY: as above.
        unsafe { call.transfer(oxmpi_fbtl::transfer::WRITE, &[piece], &result, false)? };
        call.then(|call, _| call.end_of_own(Moved { bytes: call.access().len, outcome: Outcome::FINE }))
    })
});

// Decides by the ranges of all, but goes on with a rank's own.
planner!(divided, oxmpi_component_fcoll_divided, |call| {
    let mine = Range { bytes: call.access().len, ..Range::default() };
    call.tell(mine, move |call, _| match mine.bytes {
        0 => {
            call.moved(0, Status::OK);
            Ok(())
        }
        _ => call.transfer_own(|call, moved| call.end_of_own(moved)),
    })
});

fn refused(setup: &Setup, check: &str, why: &str) {
    let setup = setup.clone().cases(60);
    let run = std::panic::AssertUnwindSafe(|| run_named(&setup, check));
    let fault = std::panic::catch_unwind(run).expect_err("the suite lets it pass");
    let text = fault.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(text.contains(why), "{check} fails for another reason: {text}");
}

#[test]
fn one_that_is_right_passes() {
    run_all(&Setup::new(fine::descriptor()));
}

#[test]
fn the_components_of_this_repository_pass_a_few_cases() {
    run_all(&Setup::new(fcoll_twophase::descriptor()).cases(10));
    run_all(&Setup::new(fcoll_individual::descriptor()).cases(10));
}

#[test]
fn faults_are_found() {
    let cases: [(Setup, &str, &str); 12] = [
        (Setup::new(silent::descriptor()), "nobody_has_data", "0 times what it has moved"),
        (Setup::new(twice::descriptor()), "nobody_has_data", "2 times what it has moved"),
        (Setup::new(alone::descriptor()), "a_failed_transfer_is_everybodys", "the outcome in rank"),
        (
            Setup::new(lazy::descriptor()),
            "random_writes_do_not_touch_other_bytes",
            "is not what was written there",
        ),
        (Setup::new(lazy::descriptor()), "random_reads_may_overlap", "byte"),
        (Setup::new(hopeful::descriptor()), "counts_at_the_end_of_the_file", "has moved"),
        (Setup::new(selective::descriptor()), "ranks_without_data_take_part", "nothing can go on"),
        (Setup::new(talkative::descriptor()), "nobody_has_data", "rank"),
        (Setup::new(greedy::descriptor()), "memory_does_not_grow_with_the_data", "bytes of plan memory"),
        (Setup::new(sieving::descriptor()), "random_writes_do_not_touch_other_bytes", "byte"),
        (Setup::new(sieving::descriptor()), "arrays_of_four_dimensions", "byte"),
        (Setup::new(divided::descriptor()), "ranks_without_data_take_part", "nothing can go on"),
    ];
    for (setup, check, why) in cases {
        refused(&setup, check, why);
    }
}
