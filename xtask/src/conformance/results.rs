//! The results that are kept of a run: one file per suite under `target/conformance`. A run of a part of a suite
//! replaces the results of that part only.

use crate::conformance::suite::Suite;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Pass,
    Skip,
    Fail,
    Timeout,
    /// Did not compile or link.
    Build,
}

impl Word {
    pub fn is_bad(self) -> bool {
        !matches!(self, Word::Pass | Word::Skip)
    }
}

/// Of one suite: when, with what, and every test. The key of a test is `group/name`, with its
/// arguments and number of ranks behind.
#[derive(Default, Serialize, Deserialize)]
pub struct Results {
    pub date: String,
    pub version: String,
    /// The library that was tested: version and revision.
    pub tested: String,
    pub machine: String,
    pub tests: BTreeMap<String, Word>,
}

/// Merges `new` into what is kept: groups that `new` has are replaced whole, unless only `single` tests of them
/// were run.
pub fn keep(folder: &Path, suite: Suite, new: Results, single: bool) -> Result<(), String> {
    let mut all = read(folder, suite)?.unwrap_or_default();
    if all.version == new.version {
        let again: Vec<&str> = new.tests.keys().map(|k| group(k)).collect();
        all.tests.retain(|key, _| single || !again.contains(&group(key)));
        all.tests.extend(new.tests);
    } else {
        all.tests = new.tests;
    }
    (all.date, all.version, all.tested, all.machine) = (new.date, new.version, new.tested, new.machine);
    let path = folder.join(format!("{}.json", suite.name()));
    let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?;
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The part of a key before the last slash of its first word.
pub fn group(key: &str) -> &str {
    let name = key.split(' ').next().unwrap_or(key);
    name.rsplit_once('/').map_or(name, |(group, _)| group)
}

pub fn read_all(folder: &Path) -> Result<Vec<(Suite, Results)>, String> {
    let mut all = Vec::new();
    for suite in Suite::ALL {
        if let Some(results) = read(folder, suite)? {
            all.push((suite, results));
        }
    }
    Ok(all)
}

pub fn read(folder: &Path, suite: Suite) -> Result<Option<Results>, String> {
    let path = folder.join(format!("{}.json", suite.name()));
    match fs::read_to_string(&path) {
        Err(_) => Ok(None),
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|e| format!("{}: {e}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_the_folder_or_module() {
        assert_eq!(group("pt2pt/bsend1 np=1"), "pt2pt");
        assert_eq!(group("errors/comm/cfree np=2 -a/b"), "errors/comm");
        assert_eq!(group("np=2/test_comm/TestComm.testX"), "np=2/test_comm");
    }
}
