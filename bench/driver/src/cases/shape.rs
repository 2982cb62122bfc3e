//! Patterns of messages between processes or threads, as multirate makes them.

use crate::case::{Case, Point, Series, Sizes};
use crate::library::Binding;
use crate::program::Program;

/// Labels of series.
pub const PROCESSES: &str = "processes";
pub const THREADS: &str = "threads";

/// A case of multirate over a number of entities.
pub fn rate(sizes: &Sizes, name: &'static str, figure: &'static str, title: String, x: &'static str) -> Case {
    Case {
        name,
        figure,
        title,
        program: Program::Multirate,
        x,
        xs: sizes.entities.clone(),
        unit: "msg/s",
        log_x: false,
        log_y: true,
        series: Vec::new(),
        ratios: Vec::new(),
        iterations: None,
    }
}

/// Of messages between entities.
#[derive(Clone, Copy)]
pub enum Shape {
    Pairwise,
    ManyToOne,
    OneToMany,
}

/// `k` entities that are processes.
pub fn of_processes(shape: Shape, k: u64, rest: &str) -> Point {
    let arguments = match shape {
        Shape::Pairwise => format!("-p -n {k} -m {k} {rest}"),
        Shape::ManyToOne => format!("-a -n {k} -m 1 {rest}"),
        Shape::OneToMany => format!("-a -n 1 -m {k} {rest}"),
    };
    Point::new(2 * k, arguments).bound(if k == 1 { Binding::Core } else { Binding::None })
}

/// The same of threads in two processes.
pub fn of_threads(shape: Shape, k: u64, rest: &str) -> Point {
    let arguments = match shape {
        Shape::Pairwise => format!("-p -t {k} {rest}"),
        Shape::ManyToOne => format!("-a -x {k} -y 1 {rest}"),
        Shape::OneToMany => format!("-a -x 1 -y {k} {rest}"),
    };
    Point::new(2, arguments)
}

/// The same of both.
pub fn both(shape: Shape, rest: &str) -> Vec<Series> {
    let (a, b) = (rest.to_owned(), rest.to_owned());
    vec![
        Series::new(PROCESSES, move |k| Some(of_processes(shape, k, &a))),
        Series::new(THREADS, move |k| Some(of_threads(shape, k, &b))).dashed(),
    ]
}
