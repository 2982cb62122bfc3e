//! Active-message tags: allotted to one-sided components by name, and the host's own kept from everybody.

mod common;

use common::{Form, config, job};
use oxmpi_mca::host::{am_tag, receive};
use oxmpi_mca::services::OSC_TAGS;
use oxmpi_mca::{Component, Host, OpenError, Params, RecvDesc, Status};
use oxmpi_runtime::{Config, Level};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Answers that a component was given, by job, rank and component.
static ANSWERS: Mutex<Option<Answers>> = Mutex::new(None);
type Answers = HashMap<(u64, u32, &'static str), Result<u8, Status>>;

fn note(host: Host, name: &'static str) -> Result<u8, Status> {
    let answer = host.osc_tags();
    assert_eq!(host.osc_tags(), answer, "asked again");
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    answers.get_or_insert_default().insert((host.job().job_id, host.job().rank, name), answer);
    answer
}

extern "C" fn deaf(_: *mut c_void, _: *const RecvDesc) -> u32 {
    receive::CONTINUE
}

/// Asks for its tags, registers all, and has nothing to offer.
macro_rules! asking {
    ($module:ident, $contract:ident, $descriptor:ident, $name:literal, $symbol:ident) => {
        mod $module {
            use super::*;
            struct It;
            impl Component for It {
                type Module = $contract::$descriptor;
                const NAME: &'static str = $name;
                fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<Self::Module>), OpenError> {
                    // SAFETY: the receiver looks at nothing that it is given.
                    let register = |tag| unsafe { host.am_register(tag, deaf, std::ptr::null_mut()) };
                    for tag in [am_tag::HOST, am_tag::HOST + 1, am_tag::BTL - 1] {
                        assert_eq!(register(tag), Status::BAD_PARAM, "tag {tag} is the host's");
                    }
                    if let Ok(first) = note(host, $name) {
                        (first..first + OSC_TAGS).for_each(|tag| assert_eq!(register(tag), Status::OK));
                    }
                    Err(OpenError::not_available("it only asks"))
                }
            }
            oxmpi_mca::component! {
                component: It, symbol: $symbol, framework: $contract::FRAMEWORK,
                framework_version: $contract::VERSION, name: $name, aliases: [], params: &[], help: "",
            }
        }
    };
}

asking!(transport, oxmpi_btl, BtlModule, "asker", oxmpi_component_btl_asker);
asking!(alone, oxmpi_osc, OscModule, "mine", oxmpi_component_osc_mine);
// The names of these fall on the same tags.
asking!(one, oxmpi_osc, OscModule, "twin", oxmpi_component_osc_twin);
asking!(other, oxmpi_osc, OscModule, "other", oxmpi_component_osc_other);

#[test]
fn tags_are_alike_whatever_else_a_process_has_and_collisions_are_told() {
    let job_id = Mutex::new(0);
    let ranks = Mutex::new(0..4u32);
    let make = || -> Config {
        let mut config = config(Form::LinkedIn, Level::Single, &[]);
        // Every rank has other components, in another order.
        let which = ranks.lock().expect("nobody panics with it").next();
        config.builtin.extend(match which {
            Some(0) => vec![transport::descriptor(), alone::descriptor()],
            Some(1) => vec![one::descriptor(), other::descriptor(), alone::descriptor()],
            Some(2) => vec![other::descriptor(), one::descriptor()],
            _ => vec![other::descriptor()],
        });
        config
    };
    job(4, make, |instance| *job_id.lock().expect("as above") = instance.job().job_id);
    let job_id = job_id.into_inner().expect("nobody panicked");
    let answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |name: &str| -> Vec<Result<u8, Status>> {
        let all = answers.iter().flatten().filter(|(key, _)| key.0 == job_id && key.2 == name);
        all.map(|(_, answer)| *answer).collect()
    };
    assert_eq!(of("asker"), [Err(Status::NOT_FOUND)], "no one-sided component");
    let (mine, twin, others) = (of("mine"), of("twin"), of("other"));
    assert!(mine.len() == 2 && mine[0] == mine[1], "{mine:?}");
    assert!(mine[0].is_ok_and(|first| (am_tag::OSC..=am_tag::USER - OSC_TAGS).contains(&first)), "{mine:?}");
    let shared: Vec<u8> = twin.iter().chain(&others).filter_map(|answer| answer.ok()).collect();
    assert!(shared.len() == 3 && shared.iter().all(|first| *first == shared[0]), "{twin:?} {others:?}");
    assert_ne!(Ok(shared[0]), mine[0]);
    let refused = |list: &[Result<u8, Status>]| list.iter().filter(|a| **a == Err(Status::BAD_PARAM)).count();
    assert_eq!((refused(&twin), refused(&others)), (1, 1), "whoever came second in its process");
}
