//! Why a test does not pass: `tests/conformance/reasons.toml`, a list of
//!
//! ```toml
//! [[reason]]
//! suite = "mpich"
//! tests = ["rma/*", "spawn/*"]
//! why = "One-sided communication is not there yet."
//! ```
//!
//! `*` stands for anything, slashes too.

use serde::Deserialize;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub suite: String,
    pub tests: Vec<String>,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    reason: Vec<Reason>,
}

pub fn read(path: &Path) -> Result<Vec<Reason>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file: File = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    for reason in &file.reason {
        for test in &reason.tests {
            glob::Pattern::new(test).map_err(|e| format!("{}: {test}: {e}", path.display()))?;
        }
    }
    Ok(file.reason)
}

impl Reason {
    pub fn explains(&self, suite: &str, test: &str) -> bool {
        // Patterns were checked when they were read.
        let fits = |pattern: &String| glob::Pattern::new(pattern).is_ok_and(|p| p.matches(test));
        self.suite == suite && self.tests.iter().any(fits)
    }
}
