//! The measurements of a case so far, kept in a file, so that a case which is longer than the time that a machine is quiet
//! can be measured in parts: `NAME.part.json` beside the results, gone when the case is whole.

use crate::program::Measured;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The runs of one library, series and place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Collected {
    pub runs: Vec<Measured>,
    pub iterations: u64,
    pub failure: Option<String>,
}

/// One of them with its names: indices change with the libraries that are asked for.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    pub library: String,
    pub series: String,
    pub x: u64,
    pub collected: Collected,
}

/// The file, and what was asked for when it was written: parts of different questions are not put together.
#[derive(Serialize, Deserialize)]
struct Part {
    question: String,
    kept: Vec<Kept>,
}

fn path(out: &Path, case: &str) -> PathBuf {
    out.join(format!("{case}.part.json"))
}

/// The earlier measurements of a case; none if there were none. A file that answers another question is an error.
pub fn read(out: &Path, case: &str, question: &str) -> Result<Vec<Kept>, String> {
    let path = path(out, case);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{}: {e}", path.display())),
    };
    let part: Part = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    if part.question != question {
        return Err(format!(
            "{}: was begun with {}, now it is {question}; remove it to begin anew",
            path.display(),
            part.question
        ));
    }
    Ok(part.kept)
}

/// Keeps what was measured; never half a file.
pub fn write(out: &Path, case: &str, question: &str, kept: Vec<Kept>) -> Result<(), String> {
    let (path, beside) = (path(out, case), out.join(format!("{case}.part.new")));
    let part = Part { question: question.to_owned(), kept };
    let text = serde_json::to_string(&part).map_err(|e| format!("{}: {e}", path.display()))?;
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, &path))
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// The case is whole.
pub fn remove(out: &Path, case: &str) -> Result<(), String> {
    let path = path(out, case);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {e}", path.display())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_and_only_for_its_question() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path();
        assert!(read(out, "fig1", "q").is_ok_and(|kept| kept.is_empty()), "nothing was kept");
        let run = Measured { value: 1.5, seconds: 0.25, verified: true, ..Measured::default() };
        let collected = Collected { runs: vec![run], iterations: 7, failure: None };
        let kept = Kept { library: "ours".into(), series: "a".into(), x: 8, collected: collected.clone() };
        write(out, "fig1", "q", vec![kept]).expect("written");
        let found = read(out, "fig1", "q").expect("read");
        assert_eq!((found[0].library.as_str(), found[0].x, &found[0].collected), ("ours", 8, &collected));
        let why = read(out, "fig1", "r").err().expect("another question");
        assert!(why.contains("begun with q, now it is r"), "{why}");
        remove(out, "fig1").expect("removed");
        remove(out, "fig1").expect("nothing to remove is fine");
        assert!(read(out, "fig1", "r").is_ok_and(|kept| kept.is_empty()));
    }
}
