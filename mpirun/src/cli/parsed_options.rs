//! Options by name, as clap has read them.

use super::table::{OPTIONS, Opt, Scope};
use super::words::bad_value;
use clap::ArgMatches;
use std::ffi::{OsStr, OsString};

/// Result of clap.
pub struct ParsedOptions<'a>(pub(super) &'a ArgMatches);

impl ParsedOptions<'_> {
    pub fn flag(&self, name: &str) -> bool {
        self.0.get_flag(name)
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &OsString> {
        self.0.get_many::<OsString>(name).into_iter().flatten()
    }

    pub fn one(&self, name: &str) -> Option<&OsString> {
        self.all(name).next()
    }

    /// Values that have to be text.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>, String> {
        let not_text = |value: &OsStr| bad_value(&format!("--{name}"), &value.to_string_lossy(), "text");
        self.all(name).map(|value| value.to_str().ok_or_else(|| not_text(value))).collect()
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>, String> {
        Ok(self.texts(name)?.into_iter().next())
    }

    pub fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, String> {
        let words = self.texts(name)?;
        Ok(words.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect())
    }

    /// The first option of this scope that was given.
    pub(super) fn first_of(&self, scope: Scope) -> Option<&'static str> {
        let given = |o: &&Opt| match o.values.is_empty() {
            true => self.flag(o.name),
            false => self.0.contains_id(o.name),
        };
        OPTIONS.iter().filter(|o| o.scope == scope && o.name != "app").find(given).map(|o| o.name)
    }
}
