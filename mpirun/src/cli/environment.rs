//! Changes of the processes' environment by options.

use super::parsed_options::ParsedOptions;
use super::words::bad_value;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One change, in the order of the command line within its option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Set(OsString, OsString),
    /// As mpirun has it; `NAME*` is every name that begins so.
    Pass(OsString),
    Unset(OsString),
    Append {
        name: OsString,
        between: OsString,
        value: OsString,
    },
    Prepend {
        name: OsString,
        between: OsString,
        value: OsString,
    },
}

/// The part of mpirun's own environment that the processes begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    #[default]
    All,
    Nothing,
    Only(Vec<OsString>),
}

/// Everything the options say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentOptions {
    /// None: nothing was said.
    pub inherit: Option<Inherit>,
    pub changes: Vec<Change>,
}

impl EnvironmentOptions {
    /// `-genv` and its kin.
    pub fn read_for_all(given: &ParsedOptions<'_>) -> Result<EnvironmentOptions, String> {
        let mut options = EnvironmentOptions { inherit: inherit(given, "g")?, changes: Vec::new() };
        options.sets(given, "genv");
        Ok(options)
    }

    /// `-x`, `--set-env`, `-env` and theirs.
    pub fn read_for_app(given: &ParsedOptions<'_>) -> Result<EnvironmentOptions, String> {
        let mut options = EnvironmentOptions { inherit: inherit(given, "")?, changes: Vec::new() };
        for word in given.all("x") {
            options.changes.push(exported(word)?);
        }
        options.sets(given, "env");
        for word in given.all("set-env") {
            match split_at_equals(word) {
                (name, Some(value)) if !name.is_empty() => options.changes.push(Change::Set(name, value)),
                _ => return Err(bad_value("--set-env", &word.to_string_lossy(), "NAME=VALUE")),
            }
        }
        options.changes.extend(given.all("unset-env").map(|name| Change::Unset(name.clone())));
        for (option, append) in [("append-env", true), ("prepend-env", false)] {
            let words: Vec<&OsString> = given.all(option).collect();
            for pair in words.chunks_exact(2) {
                let (name, between) = with_separator(option, pair[0])?;
                let value = pair[1].clone();
                options.changes.push(match append {
                    true => Change::Append { name, between, value },
                    false => Change::Prepend { name, between, value },
                });
            }
        }
        options.check()?;
        Ok(options)
    }

    fn sets(&mut self, given: &ParsedOptions<'_>, option: &str) {
        let words: Vec<&OsString> = given.all(option).collect();
        let pairs = words.chunks_exact(2).map(|pair| Change::Set(pair[0].clone(), pair[1].clone()));
        self.changes.extend(pairs);
    }

    /// The same variable with two values.
    fn check(&self) -> Result<(), String> {
        for (at, change) in self.changes.iter().enumerate() {
            let Change::Set(name, value) = change else { continue };
            for before in &self.changes[..at] {
                if let Change::Set(other, first) = before
                    && other == name
                    && first != value
                {
                    return Err(super::policy::conflict(
                        &format!("{}={}", name.display(), first.display()),
                        &format!("{}={}", name.display(), value.display()),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A word of `-x`.
pub fn exported(word: &OsStr) -> Result<Change, String> {
    match split_at_equals(word) {
        (name, _) if name.is_empty() => Err(bad_value("-x", &word.to_string_lossy(), "NAME or NAME=VALUE")),
        (name, Some(_)) if name.as_bytes().ends_with(b"*") => {
            Err(bad_value("-x", &word.to_string_lossy(), "a name without *: a pattern has no value"))
        }
        (name, Some(value)) => Ok(Change::Set(name, value)),
        (name, None) => Ok(Change::Pass(name)),
    }
}

/// `-envall`, `-envnone`, `-envlist`, or with `g` before them.
fn inherit(given: &ParsedOptions<'_>, prefix: &str) -> Result<Option<Inherit>, String> {
    let mut said = Vec::new();
    if given.flag(&format!("{prefix}envall")) {
        said.push(Inherit::All);
    }
    if given.flag(&format!("{prefix}envnone")) {
        said.push(Inherit::Nothing);
    }
    if let Some(list) = given.text(&format!("{prefix}envlist"))? {
        said.push(Inherit::Only(list.split(',').map(|name| OsString::from(name.trim())).collect()));
    }
    match said.len() {
        0 | 1 => Ok(said.pop()),
        _ => Err(super::policy::conflict("-envall, -envnone and -envlist", "each other")),
    }
}

fn split_at_equals(word: &OsStr) -> (OsString, Option<OsString>) {
    let bytes = word.as_bytes();
    match bytes.iter().position(|&c| c == b'=') {
        Some(at) => {
            (OsString::from_vec(bytes[..at].to_vec()), Some(OsString::from_vec(bytes[at + 1..].to_vec())))
        }
        None => (word.to_owned(), None),
    }
}

/// `NAME[C]`: the brackets are meant.
fn with_separator(option: &str, word: &OsStr) -> Result<(OsString, OsString), String> {
    let bad = || bad_value(&format!("--{option}"), &word.to_string_lossy(), "NAME[C], as in PATH[:]");
    let bytes = word.as_bytes().strip_suffix(b"]").ok_or_else(bad)?;
    let at = bytes.iter().position(|&c| c == b'[').filter(|&at| at > 0).ok_or_else(bad)?;
    Ok((OsString::from_vec(bytes[..at].to_vec()), OsString::from_vec(bytes[at + 1..].to_vec())))
}
