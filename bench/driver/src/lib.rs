//! The experiments of a dissertation on MPI and threads (Patinyasakdikul, *Improving MPI Threading Support for
//! Current Hardware Architectures*, Tennessee 2019, chapters 3 to 5) as named cases, each with the number of its figure.
//!
//! A case has series; a series gives for each place on the x axis a job to start. Every job is started in every
//! round for every library, the libraries taking turns, and what came of it is kept: all values, not only
//! their median. Programs are portable C, compiled by each library's own `mpicc`.
//!
//! Map: `library` (an installed MPI) · `job` (one command, bounded and cleared away) · `program` (the C programs, their
//! output) · `case`, `cases` (what there is to run) · `run` (rounds and turns), `keep` (what is measured in parts) · `results` (values, medians,
//! ratios; CSV and JSON) · `picture` (SVG), `plot` (a case as a picture) · `machine` (where it ran) · `transport_setup` (which transport, between which
//! nodes) · `device` (verbs in software, for programs without MPI), `cost_model` (their rates) · `sources` (where the programs are) · `papers` (every figure of the five papers, on a page).

pub mod case;
pub mod cases;
pub mod cost_model;
pub mod device;
pub mod job;
mod keep;
pub mod library;
pub mod machine;
pub mod papers;
pub mod picture;
pub mod plot;
pub mod program;
pub mod results;
pub mod run;
pub mod sources;
pub mod transport_setup;
