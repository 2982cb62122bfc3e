//! Options about the processes' input and output, and about the end of a job.

use super::words::{bad_value, numbers, pick};
use std::path::PathBuf;

/// The text before each line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tag {
    #[default]
    Nothing,
    /// `[JOB,RANK]<stream>: `
    Short,
    /// `[NAMESPACE,RANK][HOST:PROCESS]<stream>: `
    Detailed,
    /// `[NAMESPACE,RANK]<stream>: `
    FullName,
    /// MPICH's `-l`: `[RANK] `
    Rank,
}

/// `--output` and its older spellings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub tag: Tag,
    pub timestamp: bool,
    pub xml: bool,
    /// Standard error is written where standard output goes.
    pub merge: bool,
    /// `FOLDER/job/rank/std{out,err}` instead of mpirun's own, as well as with `copy`.
    pub dir: Option<PathBuf>,
    /// `FILE.job.rank.{out,err}`, likewise.
    pub file: Option<PathBuf>,
    /// `file`'s name is a pattern: %n namespace, %r rank, %R rank with zeros, %h host.
    pub pattern: bool,
    /// With `dir` or `file`: also to mpirun's own. Open MPI's default is to copy.
    pub nocopy: bool,
    /// Parts of lines are passed on as they come.
    pub raw: bool,
}

/// How a rank's own buffers of its output are set (`--stream-buffering`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffering {
    /// Each write of the program is one of the system.
    None,
    #[default]
    Lines,
    Full,
}

impl Buffering {
    pub fn parse(text: &str) -> Result<Buffering, String> {
        match text {
            "0" => Ok(Buffering::None),
            "1" => Ok(Buffering::Lines),
            "2" => Ok(Buffering::Full),
            _ => Err(bad_value("--stream-buffering", text, "0 (no buffers), 1 (lines), 2 (full buffers)")),
        }
    }

    /// Variables of a rank's environment by which those who buffer are told; the first one is for the MPI library
    /// (`mpi/src/call/stdio.rs`). Python and gfortran's library know no buffering by lines into a pipe, only none.
    pub fn variables(self) -> &'static [(&'static str, &'static str)] {
        const OURS: &str = "OXMPI_STREAM_BUFFERING";
        match self {
            Buffering::None => {
                &[(OURS, "0"), ("PYTHONUNBUFFERED", "1"), ("GFORTRAN_UNBUFFERED_PRECONNECTED", "y")]
            }
            Buffering::Lines => {
                &[(OURS, "1"), ("PYTHONUNBUFFERED", "1"), ("GFORTRAN_UNBUFFERED_PRECONNECTED", "y")]
            }
            Buffering::Full => &[(OURS, "2")],
        }
    }
}

/// Reader of mpirun's standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    Ranks(Vec<u32>),
    All,
    None,
}

impl Default for Stdin {
    fn default() -> Stdin {
        Stdin::Ranks(vec![0])
    }
}

/// Actions when the time limit has passed. The limit itself: `JobOptions::time_limit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtTimeLimit {
    pub stack_traces: bool,
    pub state: bool,
}

/// How much mpirun says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors, nothing else.
    Quiet,
    #[default]
    Normal,
    Verbose,
}

const DIRECTIVES: &[&str] = &[
    "tag",
    "tag-detailed",
    "tag-fullname",
    "rank",
    "timestamp",
    "xml",
    "merge-stderr-to-stdout",
    "dir",
    "directory",
    "file",
    "filename",
];
const QUALIFIERS: &[&str] = &["copy", "nocopy", "raw", "pattern"];

impl Output {
    /// Adds one `--output` value: directives separated by commas, qualifiers behind colons.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let expected = || format!("{}, with the qualifiers {}", DIRECTIVES.join(", "), QUALIFIERS.join(", "));
        let bad = |word: &str| bad_value("--output", word, &expected());
        for directive in text.split(',') {
            let (directive, qualifiers) = directive.split_once(':').unwrap_or((directive, ""));
            let (word, value) = match directive.split_once('=') {
                Some((word, value)) => (word, Some(value)),
                None => (directive, None),
            };
            let wants_value = |value: Option<&str>| match value {
                Some(value) if !value.is_empty() => Ok(PathBuf::from(value)),
                _ => Err(bad(directive)),
            };
            match pick(word, DIRECTIVES) {
                // Qualifiers alone: for what was or will be said.
                None if word.is_empty() && value.is_none() && !qualifiers.is_empty() => {}
                Some("dir" | "directory") => self.dir = Some(wants_value(value)?),
                Some("file" | "filename") => self.file = Some(wants_value(value)?),
                Some(_) if value.is_some() => return Err(bad(directive)),
                Some("tag") => self.tag = Tag::Short,
                Some("tag-detailed") => self.tag = Tag::Detailed,
                Some("tag-fullname") => self.tag = Tag::FullName,
                Some("rank") => self.tag = Tag::Rank,
                Some("timestamp") => self.timestamp = true,
                Some("xml") => self.xml = true,
                Some("merge-stderr-to-stdout") => self.merge = true,
                _ => return Err(bad(directive)),
            }
            for qualifier in qualifiers.split(':').filter(|q| !q.is_empty()) {
                match pick(qualifier, QUALIFIERS) {
                    Some("copy") => self.nocopy = false,
                    Some("nocopy") => self.nocopy = true,
                    Some("raw") => self.raw = true,
                    Some("pattern") => self.pattern = true,
                    _ => return Err(bad(qualifier)),
                }
            }
        }
        Ok(())
    }
}

impl Stdin {
    pub fn parse(text: &str) -> Result<Stdin, String> {
        match text.to_ascii_lowercase().as_str() {
            "all" => Ok(Stdin::All),
            "none" => Ok(Stdin::None),
            "rank" => Ok(Stdin::default()),
            list => {
                numbers(list).map(Stdin::Ranks).ok_or_else(|| bad_value("--stdin", text, "a rank, all, none"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Result<Output, String> {
        let mut output = Output::default();
        output.add(text).map(|()| output)
    }

    #[test]
    fn directives() {
        let o = output("TAG-D,time,merge,file=/a/b:nocopy:pattern").expect("sound");
        assert_eq!((o.tag, o.timestamp, o.merge), (Tag::Detailed, true, true));
        assert_eq!((o.file, o.nocopy, o.pattern, o.raw), (Some("/a/b".into()), true, true, false));
        assert_eq!(output("dir=x:raw").expect("sound").dir, Some("x".into()));
        assert!(output(":raw").expect("a qualifier alone").raw);
        for wrong in ["", "tags", "dir", "file=", "tag=3", "tag:often", "t"] {
            let why = output(wrong).expect_err(wrong);
            assert!(why.contains("--output"), "{why}");
        }
    }

    #[test]
    fn readers_of_standard_input() {
        assert_eq!(Stdin::parse("all"), Ok(Stdin::All));
        assert_eq!(Stdin::parse("NONE"), Ok(Stdin::None));
        assert_eq!(Stdin::parse("3"), Ok(Stdin::Ranks(vec![3])));
        assert!(Stdin::parse("-1").is_err());
        assert!(Stdin::parse("everyone").is_err());
    }
}
