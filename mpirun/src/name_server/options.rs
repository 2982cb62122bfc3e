//! Options of `ompi-server`, as Open MPI has them.

use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Where the URI goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Nowhere,
    Out,
    Err,
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub report: Report,
    /// Stay in the foreground, and say what is done.
    pub debug: bool,
    pub stays: bool,
}

/// Reads the words behind the program's name; an error is clap's, with what to print.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Options, clap::Error> {
    let command = Command::new("ompi-server")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Keeps names of services (MPI_Publish_name) for jobs that mpirun --ompi-server starts")
        .arg(
            Arg::new("report-uri")
                .short('r')
                .long("report-uri")
                .value_name("WHERE")
                .value_parser(clap::value_parser!(OsString))
                .allow_hyphen_values(true)
                .help("Write the URI for --ompi-server to WHERE: - (standard output), + (standard error), or FILE or file:FILE"),
        )
        .arg(Arg::new("no-daemonize").long("no-daemonize").action(ArgAction::SetTrue).help("Stay in the foreground"))
        .arg(
            Arg::new("debug")
                .short('d')
                .long("debug")
                .action(ArgAction::SetTrue)
                .help("Stay in the foreground and tell on standard error what is done"),
        );
    // Long options may have one dash, as Open MPI's.
    let words = words.map(|word| match word.as_bytes() {
        [b'-', first, _, ..]
            if *first != b'-'
                && b"-report-uri -no-daemonize -debug -help -version"
                    .split(|&c| c == b' ')
                    .any(|long| long == word.as_bytes()) =>
        {
            OsString::from_vec([b"-", word.as_bytes()].concat())
        }
        _ => word,
    });
    let given = command.try_get_matches_from(std::iter::once(OsString::from("ompi-server")).chain(words))?;
    let debug = given.get_flag("debug");
    let report = match given.get_one::<OsString>("report-uri").map(|text| text.as_bytes()) {
        None => Report::Nowhere,
        Some(b"-") => Report::Out,
        Some(b"+") => Report::Err,
        Some(text) => {
            let path = text.strip_prefix(b"file:").unwrap_or(text);
            Report::File(PathBuf::from(OsString::from_vec(path.to_vec())))
        }
    };
    Ok(Options { report, debug, stays: debug || given.get_flag("no-daemonize") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, clap::Error> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_as_open_mpi_has_them() {
        let plain = Options { report: Report::Nowhere, debug: false, stays: false };
        assert_eq!(read("").expect("sound"), plain);
        for (text, report) in [
            ("-", Report::Out),
            ("+", Report::Err),
            ("a/b", Report::File("a/b".into())),
            ("file:a/b", Report::File("a/b".into())),
        ] {
            for option in ["-r", "--report-uri", "-report-uri"] {
                let options = read(&format!("{option} {text}")).expect("sound");
                assert_eq!(options, Options { report: report.clone(), ..plain.clone() });
            }
        }
        assert!(read("--no-daemonize").expect("sound").stays && read("-no-daemonize").expect("sound").stays);
        let debug = read("-d").expect("sound");
        assert!(debug.debug && debug.stays);
        for wrong in ["-x", "--report", "here", "-r"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
