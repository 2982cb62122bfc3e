//! Halos by one-sided communication: conjugate gradients, with their two-sided form, and patches (Hjelm et al., ICPP 2018, figures 1e, 1f, 2).

use super::one_sided::COMPONENTS;
use crate::case::{Case, Point, Ratio, Series, SeriesPoint, Sizes};
use crate::program::Program;

case!(611, |sizes| conjugate_gradients(sizes));
case!(612, |sizes| patches(sizes));

fn conjugate_gradients(sizes: &Sizes) -> Case {
    let cells = if sizes.quick { 4 } else { 24 };
    let job = move |ranks: u64, more: &str| Point::new(ranks, format!("-n {cells},{cells},{cells} {more}"));
    let mut series = vec![Series::new("two-sided", move |ranks| Some(job(ranks, ""))).dashed()];
    for component in COMPONENTS {
        let line = move |ranks| Some(job(ranks, "-1").with("osc", component));
        series.push(Series::new(format!("one-sided, {component}"), line).ours());
    }
    series.push(Series::new("one-sided", move |ranks| Some(job(ranks, "-1"))).theirs());
    let ratio = Ratio::new(
        "time of exchanges: rdma over pt2pt, most ranks",
        "below 1, and half the run time at 4,096 cores (5.1)",
        ("one-sided, rdma", SeriesPoint::Last),
        ("one-sided, pt2pt", SeriesPoint::Last),
    );
    Case {
        name: "rma-cg",
        figure: "1e and 1f (RMA)",
        title: format!(
            "A halo exchange of conjugate gradients, {cells}^3 cells a rank, a thread for each neighbor"
        ),
        program: Program::ConjugateGradient,
        x: "ranks",
        xs: if sizes.quick { vec![2, 4] } else { vec![2, 4, 8] },
        unit: "us",
        log_x: true,
        log_y: true,
        series,
        ratios: vec![ratio],
        iterations: Some(1),
    }
}

/// Requests under way, as published for 4, for 8 and 16, and for 32 and 64 threads.
const IN_FLIGHT: [u64; 3] = [4, 16, 32];

fn patches(sizes: &Sizes) -> Case {
    let (edge, check) = (sizes.patch, if sizes.quick { "-v" } else { "" });
    let job = move |threads: u64, in_flight: u64| {
        Point::new(2, format!("-t {threads} -p 2 -n {edge} -k 20 -f {in_flight} -r {{i}} {check}"))
    };
    let mut series = Vec::new();
    for in_flight in IN_FLIGHT {
        for component in COMPONENTS {
            let line = move |threads| Some(job(threads, in_flight).with("osc", component));
            series.push(Series::new(format!("{component}, {in_flight} under way"), line).ours());
        }
        let line = move |threads| Some(job(threads, in_flight));
        series.push(Series::new(format!("{in_flight} under way"), line).theirs().dashed());
    }
    let ratio = Ratio::new(
        "rdma over pt2pt with 16 under way, most threads",
        "not published for these two",
        ("rdma, 16 under way", SeriesPoint::Last),
        ("pt2pt, 16 under way", SeriesPoint::Last),
    );
    Case {
        name: "rma-patches",
        figure: "2 (RMA)",
        title: format!("20 steps of patches of {edge}^3 cells, 2 for each thread, 2 ranks"),
        program: Program::Patches,
        x: "threads",
        xs: if sizes.quick { vec![1, 2] } else { vec![1, 2, 4, 8, 16] },
        unit: "ms",
        log_x: true,
        log_y: true,
        series,
        ratios: vec![ratio],
        iterations: None,
    }
}
