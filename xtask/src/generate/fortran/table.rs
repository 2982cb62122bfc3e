//! The rows of `mpi/abi/fortran.tsv`, taken apart.

use crate::generate::table::{Section, sections};
use std::path::Path;

/// A procedure: those of a row without, and with large counts.
pub struct Procedure {
    pub name: String,
    pub has_large: bool,
    pub dummies: Vec<Dummy>,
    /// The library's sources have it.
    pub by_hand: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// A dummy argument.
pub struct Dummy {
    pub direction: Direction,
    pub kind: String,
    pub name: String,
    /// In brackets behind the name.
    pub shape: Option<String>,
    /// In the form for large counts alone.
    pub large_only: bool,
    pub asynchronous: bool,
}

impl Dummy {
    /// The name in Rust, which has a word of one.
    pub fn identifier(&self) -> String {
        match self.name.as_str() {
            "type" => "type_".to_owned(),
            name => name.to_lowercase(),
        }
    }

    /// The kind in the form without, or with large counts.
    pub fn kind_in(&self, large: bool) -> &str {
        match self.kind.split_once('/') {
            Some((plain, of_large)) => {
                if large {
                    of_large
                } else {
                    plain
                }
            }
            None => &self.kind,
        }
    }
}

/// Reads the table of that folder.
pub fn read(folder: &Path) -> Result<Vec<Section<Procedure>>, String> {
    sections(&folder.join("fortran.tsv"), procedure)
}

/// Reads the table of extensions of that folder.
pub fn read_extensions(folder: &Path) -> Result<Vec<Section<Procedure>>, String> {
    sections(&folder.join("fortran-extensions.tsv"), procedure)
}

fn procedure(columns: &[&str]) -> Option<Procedure> {
    let [name, large, dummies, ..] = columns else { return None };
    let dummies = match *dummies {
        "none" => Vec::new(),
        all => split(all).into_iter().map(dummy).collect::<Option<_>>()?,
    };
    Some(Procedure {
        name: name.to_string(),
        has_large: *large == "c",
        dummies,
        by_hand: columns.get(3) == Some(&"hand"),
    })
}

fn split(all: &str) -> Vec<&str> {
    all.split("; ").collect()
}

fn dummy(text: &str) -> Option<Dummy> {
    let (words, shape) = match text.split_once('(') {
        Some((words, shape)) => (words, Some(shape.strip_suffix(')')?.to_owned())),
        None => (text, None),
    };
    let words: Vec<&str> = words.split(' ').collect();
    let (name, rest) = words.split_last()?;
    let (kind, rest) = rest.split_last()?;
    let (direction, flags) = rest.split_first()?;
    let direction = match *direction {
        "in" => Direction::In,
        "out" => Direction::Out,
        "inout" => Direction::InOut,
        _ => return None,
    };
    Some(Dummy {
        direction,
        kind: kind.to_string(),
        name: name.to_string(),
        shape,
        large_only: flags.contains(&"large"),
        asynchronous: flags.contains(&"async"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dummies_are_taken_apart() {
        let d = dummy("in async int/count recvcounts(*)").expect("one");
        assert_eq!((d.kind_in(false), d.kind_in(true), d.name.as_str()), ("int", "count", "recvcounts"));
        assert!(d.asynchronous && !d.large_only && d.shape.as_deref() == Some("*"));
        assert!(dummy("int count").is_none() && dummy("in int count(").is_none());
    }
}
