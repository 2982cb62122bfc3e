//! Chapter 4 of the dissertation on threads: waiting, sync objects, tasks.

use super::figure::{Counter, Explanation, Figure, Position, Published, Value, drawing, view};

pub fn figures() -> Vec<Figure> {
    let mut all = vec![
        fig41(),
        drawing(
            "fig4.2",
            "Waiting of several threads before and with sync objects",
            "4.4",
            "A drawing; ours: docs/sync-objects.md.",
        ),
    ];
    all.extend(waiting());
    all.push(drawing(
        "fig4.5",
        "The user's interface of sync objects",
        "4.6.1",
        "A drawing; ours: docs/sync-objects.md.",
    ));
    all.extend(asking());
    all.push(drawing("fig4.7", "Threads that wait take tasks", "4.6.2", "A drawing; ours: docs/threads.md."));
    all.push(packing());
    all
}

fn fig41() -> Figure {
    Figure {
        id: "fig4.1",
        title: "The cost of one lock, by threads",
        place: "4.3",
        x: "threads",
        y: "ns",
        views: vec![view("fig4.1")],
        published: vec![
            Published::new(
                "rises faster than threads: most threads over one",
                "20 threads",
                Value::AtLeast(20.0),
                "times",
            )
            .ratio(
                "fig4.1",
                "value",
                ("one lock", Position::Last),
                ("one lock", Position::First),
            ),
        ],
        absent: "The figure has no numbers in the text: a rise as fast as the threads is the least that it claims.",
        ..Figure::default()
    }
}

fn waiting() -> Vec<Figure> {
    let gain = |case: &'static str, at: &'static str, value| {
        Published::new("sync objects over Algorithm 1", at, value, "times").ratio(
            case,
            "value",
            ("MPI_Waitall", Position::Last),
            ("MPI_Waitall, Algorithm 1", Position::Last),
        )
    };
    let made = |id: &'static str, title: &'static str, published| Figure {
        id,
        title,
        place: "4.5",
        x: "threads",
        y: "msg/s",
        views: vec![view(id), view(id).over("tcp")],
        published,
        absent: "Algorithm 1 is runtime_wait race with runtime_progress one_lock. TCP on one machine stands for InfiniBand.",
        ..Figure::default()
    };
    vec![
        made(
            "fig4.3",
            "Message rate of threads that wait by sync objects and by racing",
            vec![
                gain("fig4.3", "shared memory", Value::AtMost(8.0)),
                gain("fig4.3 over tcp", "InfiniBand", Value::Between(2.5, 3.0)),
            ],
        ),
        Figure {
            why: Some(one_core()),
            ..made(
                "fig4.4",
                "The same with all threads on one core",
                vec![
                    gain("fig4.4", "shared memory", Value::AtMost(250.0)),
                    gain("fig4.4 over tcp", "InfiniBand", Value::AtMost(60.0)),
                ],
            )
        },
    ]
}

/// Racing threads on one core.
fn one_core() -> Explanation {
    let lines = [
        ("MPI_Waitall", "MPI_Waitall"),
        ("Algorithm 1", "MPI_Waitall, Algorithm 1"),
        ("racing", "MPI_Waitall, racing"),
    ];
    let quantity = "context switches per message";
    Explanation {
        text: "Algorithm 1 as it is listed keeps a core until the end of its time slice. Where ranks share one our threads give it away behind every turn \
               that brought nothing, whichever way they wait (mpi_yield_when_idle), so whoever has something to do runs at once, and \
               racing threads switch no more often than others.",
        counters: vec![Counter { what: quantity, case: "fig4.4", quantity, of: lines.to_vec() }],
    }
}

fn asking() -> Vec<Figure> {
    let growth = Published::new(
        "MPIX_Sync_query, none complete: most requests over one",
        "all",
        Value::About(1.0),
        "times",
    )
    .ratio("fig4.6", "value", ("MPIX_Sync_query", Position::Last), ("MPIX_Sync_query", Position::First));
    let mut table = Vec::new();
    for (bytes, percent) in [(400, 13.73), (4000, 7.15), (40_000, 3.1), (400_000, 2.55)] {
        let row = Published::new(
            "ping-pong: MPI_Testsome over MPIX_Sync_query",
            format!("{bytes} B"),
            Value::Is(1.0 + percent / 100.0),
            "times",
        );
        let at = Position::X(bytes);
        table.push(row.ratio("table4.1", "value", ("MPI_Testsome", at), ("MPIX_Sync_query", at)));
    }
    for (what, case) in [
        ("dpotrf: with sync objects over MPI_Testsome", "table4.1-cholesky"),
        ("dgeqrf: with sync objects over MPI_Testsome", "table4.1-qr"),
    ] {
        table.push(Published::new(what, "rate", Value::About(1.0), "times").ratio(
            case,
            "value",
            ("MPIX_Sync_query", Position::First),
            ("MPI_Testsome", Position::First),
        ));
    }
    vec![
        Figure {
            id: "fig4.6",
            title: "Time of asking for completed requests: none, one, half of them complete",
            place: "4.6.1",
            x: "requests",
            y: "ns",
            views: vec![view("fig4.6"), view("fig4.6-completed"), view("fig4.6-half")],
            published: vec![growth],
            ..Figure::default()
        },
        Figure {
            id: "table4.1",
            title: "A task runtime with sync objects",
            place: "4.6.1",
            x: "bytes; worker threads",
            y: "us; GFLOP/s",
            views: vec![view("table4.1"), view("table4.1-cholesky"), view("table4.1-qr")],
            published: table,
            absent: "The runtime is of our own (bench/tasks), not PaRSEC.",
            ..Figure::default()
        },
    ]
}

fn packing() -> Figure {
    Figure {
        id: "fig4.8",
        title: "MPI_Pack of a vector with the help of threads that wait",
        place: "4.6.2",
        x: "bytes",
        y: "MB/s",
        views: vec![view("fig4.8")],
        published: vec![
            Published::new("a gain from", "size", Value::About(100.0), "KB"),
            Published::new(
                "a thread that waits over none, about 10 MB",
                "10 MiB",
                Value::AtLeast(1.0),
                "times",
            )
            .ratio(
                "fig4.8",
                "value",
                ("1 thread waits", Position::X(10_485_760)),
                ("nobody waits", Position::X(10_485_760)),
            ),
        ],
        ..Figure::default()
    }
}
