//! Nobody leaves before all have come.

use crate::Args;
use oxmpi_mca::Status;
use std::sync::atomic::{AtomicU32, Ordering};

crate::check!(barrier, needs: [barrier], |job| {
    for n in 1..=job.ranks() {
        let arrived: Vec<AtomicU32> = (0..40).map(|_| AtomicU32::new(0)).collect();
        let left = AtomicU32::new(0);
        job.group(n, |rank| {
            // Jobs come one after the other.
            let before = left.load(Ordering::Acquire) / n * n;
            for counter in &arrived {
                if counter.fetch_add(1, Ordering::AcqRel) % 3 == 0 {
                    std::thread::yield_now();
                }
                assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK);
                let all = counter.load(Ordering::Acquire);
                assert_eq!(all, before + n, "somebody was let through early");
            }
            left.fetch_add(1, Ordering::AcqRel);
        });
    }
});

crate::check!(barrier_between_groups, needs: [barrier], |job| {
    for sizes in [[1, 1], [1, 5], [4, 3]] {
        let (arrived, left) = ([const { AtomicU32::new(0) }; 2], AtomicU32::new(0));
        job.between(sizes, |rank| {
            let all = sizes[0] + sizes[1];
            // Turns of the jobs before.
            let before = left.load(Ordering::Acquire) / all * 30;
            for turn in before + 1..=before + 30 {
                arrived[rank.side].fetch_add(1, Ordering::AcqRel);
                assert_eq!(rank.call(|t| t.barrier, Args::default()), Status::OK);
                assert!(arrived[1 - rank.side].load(Ordering::Acquire) >= turn * rank.remote);
            }
            left.fetch_add(1, Ordering::AcqRel);
        });
    }
});
