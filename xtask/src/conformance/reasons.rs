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

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub suite: String,
    pub tests: Vec<String>,
    pub why: String,
    /// Name of the configuration that it is about; `None`: it holds everywhere.
    pub configuration: Option<String>,
}

/// The reasons that hold in a configuration; `None`: in a plain run.
pub fn of(reasons: &[Reason], configuration: Option<&str>) -> Vec<Reason> {
    let holds = |r: &&Reason| r.configuration.is_none() || r.configuration.as_deref() == configuration;
    reasons.iter().filter(holds).cloned().collect()
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
