//! All ranks have the same bits, also where the operation is not associative.

use crate::Args;
use crate::data::{Random, predefined};
use crate::operations::predefined_op;
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use std::sync::Mutex;

crate::check!(agreement, needs: [allreduce], |job| {
    let double = predefined(Base::F64);
    for n in 2..=job.ranks() {
        for count in [3, 5000] {
            // Every way may have bits of its own.
            let results = Mutex::new(vec![]);
            job.group(n, |rank| {
                let sum = predefined_op(op::SUM);
                let mut random = Random::new(u64::from(rank.rank) + 3);
                let input: Vec<f64> =
                    (0..count).map(|_| (random.number() as f64).powf(1.7) - random.number() as f64).collect();
                let mut output = vec![0f64; count];
                let args = Args {
                    send: (input.as_ptr().cast(), 0, None),
                    recv: (output.as_mut_ptr().cast(), count as u64, Some(&*double)),
                    op: Some(&sum),
                    ..Args::default()
                };
                assert_eq!(rank.call(|t| t.allreduce, args), Status::OK);
                let bits: Vec<u64> = output.iter().map(|f| f.to_bits()).collect();
                let mut results = results.lock().expect("no rank fails with it");
                results.push(bits);
                if results.len() == n as usize {
                    assert!(results.iter().all(|bits| *bits == results[0]), "{n} ranks, {count} numbers");
                    results.clear();
                }
            });
        }
    }
});
