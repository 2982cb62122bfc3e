//! The figures and tables of the five papers that this project was founded on, as data: what each shows, the numbers that its text gives, and which case of
//! ours measures it. `oxmpi-bench papers` runs those cases and writes a page with each figure beside ours.
//!
//! Map: `figure` (types) · a file for each paper, two for the dissertation · `list` (all of them, by name) · `kept` (what was measured, in files) · `study` (runs
//! cases, or finds what was kept) · `progress` (a line on the terminal) · `tables` (published values beside measured ones) · `page` (HTML) · `summary` (for the repository) · `command` (the command line).

#[cfg(test)]
mod browser_tests;
pub mod command;
mod endpoints;
pub mod figure;
mod fuzzy_matching;
mod kept;
pub mod list;
mod one_sided;
mod page;
mod progress;
mod scalable;
mod study;
mod summary;
mod tables;
mod threads;
mod waits;
