//! Promises of this component beyond the contract: it refuses what is not defined before it sends anything, and offers everything there
//! is.

use oxmpi_coll_conformance::data::predefined;
use oxmpi_coll_conformance::operations::predefined_op;
use oxmpi_coll_conformance::{Args, Setup, check, checks, run, run_named};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;

fn setup() -> Setup {
    Setup::new(coll_basic::descriptor())
}

check!(own_undefined_operations, needs: [reduce, allreduce], |job| {
    let double = predefined(Base::F64);
    for code in [op::BAND, op::MAXLOC, op::REPLACE, op::NO_OP, op::USER, 99] {
        job.group(3, |rank| {
            let op = predefined_op(code);
            let (input, mut output) = ([1f64], [2f64]);
            for reduce in [false, true] {
                let args = Args {
                    send: (input.as_ptr().cast(), 0, None),
                    recv: (output.as_mut_ptr().cast(), 1, Some(&*double)),
                    op: Some(&op),
                    ..Args::default()
                };
                let status = rank.call(|t| if reduce { t.reduce } else { t.allreduce }, args);
                assert_eq!(status, Status::BAD_PARAM);
            }
            assert_eq!(output, [2f64]);
        });
    }
});

check!(own_scans_between_groups, needs: [scan, exscan], |job| {
    job.between([1, 2], |rank| {
        assert_eq!(rank.call(|t| t.scan, Args::default()), Status::NOT_SUPPORTED);
        assert_eq!(rank.call(|t| t.exscan, Args::default()), Status::NOT_SUPPORTED);
    });
});

#[test]
fn what_is_not_defined_is_refused_before_anything_is_sent() {
    run_named(&setup(), "own_undefined_operations");
}

#[test]
fn scans_are_not_defined_between_groups() {
    run_named(&setup(), "own_scans_between_groups");
}

#[test]
fn no_check_is_left_out() {
    let setup = setup().ranks(2);
    for check in checks().into_iter().filter(|check| !check.name.starts_with("dies_in")) {
        assert!(run(&setup, check), "{} is left out", check.name);
    }
}
