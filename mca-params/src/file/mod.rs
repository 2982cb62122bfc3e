//! Parameter files: bytes to names and texts, each with its line.
//!
//! Two syntaxes. A file whose name ends in `.toml` is TOML: `name = value` with TOML's values, and
//! tables whose names are put in front with an underscore (`[btl_shm]` or `[btl.shm]`). Every other
//! file has Open MPI's syntax: see `conf`. Neither stops at the first mistake, so that a checker
//! can name them all; a start stops if there is any.

mod conf;
mod lines;
mod toml;

pub use lines::{Entry, Export, Lines, is_name};

use crate::origin::Tier;
use lines::line_at;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No parameter file is longer; what is, is something else.
const LIMIT: u64 = 1 << 20;

/// A mistake in a file, or in one of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    pub path: PathBuf,
    /// None: the file as a whole.
    pub line: Option<u32>,
    pub reason: String,
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "parameter file {}:{line}: {}", self.path.display(), self.reason),
            None => write!(f, "parameter file {}: {}", self.path.display(), self.reason),
        }
    }
}

impl std::error::Error for FileError {}

/// A parameter file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFile {
    pub path: PathBuf,
    pub tier: Tier,
    pub lines: Lines,
}

impl ParamFile {
    /// The mistakes, with the file's name.
    pub fn errors(&self) -> impl Iterator<Item = FileError> {
        self.lines.wrong.iter().map(|(line, reason)| FileError {
            path: self.path.clone(),
            line: Some(*line),
            reason: reason.clone(),
        })
    }
}

/// Reads a file; `None` if there is none of that name.
pub fn read(path: &Path, tier: Tier) -> Result<Option<ParamFile>, FileError> {
    let wrong = |reason: String| FileError { path: path.into(), line: None, reason };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(why) if is_absence(&why) => return Ok(None),
        Err(why) => return Err(wrong(format!("cannot be read: {why}"))),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|why| wrong(format!("cannot be read: {why}")))?;
    if bytes.len() as u64 > LIMIT {
        return Err(wrong(format!("is longer than {LIMIT} bytes and thus no parameter file")));
    }
    let is_toml = path.extension().is_some_and(|e| e == "toml");
    Ok(Some(ParamFile { path: path.into(), tier, lines: parse(&bytes, is_toml) }))
}

fn is_absence(why: &std::io::Error) -> bool {
    // A file where a folder is expected is no file of ours either.
    matches!(why.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The lines of a file with these bytes. It answers for any bytes.
pub fn parse(bytes: &[u8], is_toml: bool) -> Lines {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(why) => {
            let line = line_at(bytes, why.valid_up_to());
            return Lines { wrong: vec![(line, "is not UTF-8 text".into())], ..Lines::default() };
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match is_toml {
        true => toml::parse(text),
        false => conf::parse(text),
    }
}
