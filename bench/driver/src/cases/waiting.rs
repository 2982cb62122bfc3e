//! Chapter 4: locks, waiting with more threads than cores, asking for completed requests, packing with the help of
//! threads that wait.

use super::multirate;
use crate::case::{At, Case, Point, Ratio, Series, Sizes};
use crate::library::Binding;
use crate::program::Program;

pub fn cases(sizes: &Sizes) -> Vec<Case> {
    vec![
        locks(sizes),
        waits(sizes, "fig4.3", "4.3", Binding::None),
        waits(sizes, "fig4.4", "4.4", Binding::OneCore),
        asking(sizes, "fig4.6", 0),
        asking(sizes, "fig4.6-completed", 1),
        asking(sizes, "fig4.6-half", 2),
        ping_pong(sizes),
        cholesky(sizes),
        packing(sizes),
    ]
}

fn locks(sizes: &Sizes) -> Case {
    let series = Series::new("one lock", |t| Some(Point::new(1, format!("-t {t} -i {{i}}"))));
    Case {
        name: "fig4.1",
        figure: "4.1",
        title: "Time to take one lock, by threads".into(),
        program: Program::Locks,
        x: "threads",
        xs: sizes.entities.clone(),
        unit: "ns",
        log_x: false,
        log_y: false,
        // A library's name stands here, too, but the lock is the system's.
        series: vec![series],
        ratios: vec![Ratio::new(
            "most threads over fewest",
            "rises faster than the threads (4.2)",
            ("one lock", At::Last),
            ("one lock", At::First),
        )],
        iterations: None,
    }
}

/// The library's own wait, and the loop of tests that a wait was before there were sync objects.
fn waits(sizes: &Sizes, name: &'static str, figure: &'static str, binding: Binding) -> Case {
    let line = |label: &str, more: &'static str| {
        let rest = multirate(sizes, 8);
        Series::new(label, move |t| Some(Point::new(2, format!("-p -t {t} {rest} -u {more}")).bound(binding)))
    };
    let (title, published) = match binding {
        Binding::OneCore => ("all on one core", "up to 250 in shared memory, 60 between nodes (4.5)"),
        _ => ("on all cores", "up to 8 in shared memory (7 in 4.7), 2.5 to 3 between nodes (4.5)"),
    };
    let mut switches = Ratio::new(
        "context switches for each message: loop over wait, most threads",
        "not published; the cause named in 4.5",
        ("loop of MPI_Testall", At::Last),
        ("MPI_Waitall", At::Last),
    );
    switches.quantity = "context switches per message";
    Case {
        name,
        figure,
        title: format!("Waiting threads, {title}: MPI_Waitall against a loop, 8 bytes"),
        program: Program::Multirate,
        x: "threads",
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series: vec![line("MPI_Waitall", ""), line("loop of MPI_Testall", "-l").dashed()],
        ratios: vec![
            Ratio::new(
                "MPI_Waitall over the loop, most threads",
                published,
                ("MPI_Waitall", At::Last),
                ("loop of MPI_Testall", At::Last),
            ),
            switches,
        ],
        iterations: None,
    }
}

/// Time of asking once by the number of requests; of each `share`-th part (0: none) is complete, one at least.
fn asking(sizes: &Sizes, name: &'static str, share: u64) -> Case {
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |n| {
            let complete = match share {
                0 => 0,
                1 => 1,
                _ => n.div_ceil(share),
            };
            Some(Point::new(2, format!("-m {mode} -n {n} -c {complete} -i {{i}}")).bound(Binding::Core))
        })
    };
    let what = match share {
        0 => "none complete",
        1 => "one complete",
        _ => "half of them complete",
    };
    let mut series = vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "query").ours().dashed()];
    if share > 1 {
        series.push(line("MPIX_Sync_query_bulk", "bulk").ours().dashed());
    }
    let published = match share {
        0 => "optimal, whatever the number of requests (4.6.1)",
        _ => "the gain shrinks with the number completed, down to none (4.6.1)",
    };
    let growth = |label: &str| {
        let what = format!("{label}: most requests over fewest, {what}");
        Ratio::new(&what, published, (label, At::Last), (label, At::First))
    };
    Case {
        name,
        figure: "4.6",
        title: format!("Time of asking for completed requests, {what}"),
        program: Program::Sync,
        x: "requests",
        xs: sizes.cut(&[1, 4, 16, 64, 256, 1024, 4096]),
        unit: "ns",
        log_x: true,
        log_y: true,
        ratios: vec![
            growth("MPIX_Sync_query"),
            growth("MPI_Testsome"),
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, most requests",
                published,
                ("MPI_Testsome", At::Last),
                ("MPIX_Sync_query", At::Last),
            ),
        ],
        series,
        iterations: None,
    }
}

/// As a task runtime sends: persistent receives that wait for anybody, asked for again and again.
fn ping_pong(sizes: &Sizes) -> Case {
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |bytes| {
            Some(Point::new(2, format!("-m {mode} -n 16 -p {bytes} -i {{i}}")).bound(Binding::Core))
        })
    };
    Case {
        name: "table4.1",
        figure: "table 4.1",
        title: "Ping-pong of a runtime with 16 persistent receives".into(),
        program: Program::Sync,
        x: "bytes",
        xs: sizes.cut(&[400, 4000, 40_000, 400_000]),
        unit: "us",
        log_x: true,
        log_y: true,
        series: vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "query").ours().dashed()],
        ratios: vec![
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, 400 bytes",
                "1.1373 (4000: 1.0715, 40000: 1.031, 400000: 1.0255; table 4.1)",
                ("MPI_Testsome", At::First),
                ("MPIX_Sync_query", At::First),
            ),
            Ratio::new(
                "MPI_Testsome over MPIX_Sync_query, most bytes",
                "1.0255 at 400000 (table 4.1)",
                ("MPI_Testsome", At::Last),
                ("MPIX_Sync_query", At::Last),
            ),
        ],
        iterations: None,
    }
}

fn cholesky(sizes: &Sizes) -> Case {
    let (tiles, side) = if sizes.quick { (4, 16) } else { (24, 64) };
    let line = |label: &str, mode: &'static str| {
        Series::new(label, move |w| Some(Point::new(2, format!("-t {tiles} -b {side} -w {w} -m {mode}"))))
    };
    Case {
        name: "table4.1-cholesky",
        figure: "table 4.1",
        title: format!("Tiled Cholesky factorisation by tasks, {tiles} by {tiles} tiles of {side}"),
        program: Program::Cholesky,
        x: "worker threads",
        xs: sizes.cut(&[1, 2, 4]),
        unit: "GFLOP/s",
        log_x: false,
        log_y: false,
        series: vec![line("MPI_Testsome", "testsome"), line("MPIX_Sync_query", "sync").ours().dashed()],
        ratios: vec![Ratio::new(
            "MPIX_Sync_query over MPI_Testsome, one worker",
            "about 1 for dpotrf and dgeqrf (table 4.1)",
            ("MPIX_Sync_query", At::First),
            ("MPI_Testsome", At::First),
        )],
        // It has a length of its own.
        iterations: Some(1),
    }
}

fn packing(sizes: &Sizes) -> Case {
    let list: &[u64] = if sizes.quick { &[0, 2] } else { &[0, 1, 3, 7] };
    let label = |t: u64| match t {
        0 => "nobody waits".to_owned(),
        1 => "1 thread waits".to_owned(),
        _ => format!("{t} threads wait"),
    };
    let series = list.iter().map(|&t| {
        Series::new(label(t), move |bytes| Some(Point::new(1, format!("-b {bytes} -t {t} -i {{i}}"))))
    });
    Case {
        name: "fig4.8",
        figure: "4.8",
        title: "Bandwidth of MPI_Pack of a vector".into(),
        program: Program::Pack,
        x: "bytes",
        xs: sizes.cut(&[10_240, 102_400, 1_048_576, 10_485_760, 104_857_600]),
        unit: "MB/s",
        log_x: true,
        // What fits a cache is packed ten times as fast as what threads can help with.
        log_y: true,
        series: series.collect(),
        ratios: vec![Ratio::new(
            "a thread that waits over none, most bytes",
            "a gain above 100 KB, most around 10 MB (4.6.2)",
            (&label(list[1]), At::Last),
            (&label(0), At::Last),
        )],
        iterations: None,
    }
}
