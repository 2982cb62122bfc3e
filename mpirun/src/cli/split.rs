//! From a line of words to contexts: options, and a program with its arguments.
//!
//! clap reads options; what it cannot know is done here. Open MPI's long options may have one
//! dash (`-np`, `-mca`), everything from a program's name on belongs to the program, `-n`
//! included, and `:` begins the next program. The table says which options take how many values.

use super::table::{OPTIONS, Opt};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One program's part of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// For clap: long options have two dashes, values stand apart.
    pub options: Vec<OsString>,
    /// The program and its arguments.
    pub rest: Vec<OsString>,
    /// The last of the options is in no table, so what is behind it may be its value.
    pub unknown: bool,
}

/// The parts of a line that `:` separates.
pub fn contexts(arguments: Vec<OsString>) -> Vec<Words> {
    arguments.split(|word| word == ":").map(|part| words(part.to_vec())).collect()
}

fn long(name: &[u8]) -> Option<&'static Opt> {
    OPTIONS.iter().find(|o| o.name.as_bytes() == name || o.aliases.iter().any(|a| a.as_bytes() == name))
}

fn short(c: u8) -> Option<&'static Opt> {
    OPTIONS.iter().find(|o| o.short.contains(&char::from(c)))
}

fn words(arguments: Vec<OsString>) -> Words {
    let mut options = Vec::new();
    let mut unknown = false;
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let text = argument.as_bytes();
        if text == b"--" {
            break;
        }
        let Some(body) = text.strip_prefix(b"-").filter(|body| !body.is_empty()) else {
            return Words { options, rest: std::iter::once(argument).chain(rest).collect(), unknown };
        };
        let name = body.strip_prefix(b"-").unwrap_or(body);
        let two_dashes = name.len() < body.len();
        // `-n4`: a short option with its number.
        let counted = body.len() > 1
            && matches!(body[0], b'n' | b'c' | b'N')
            && body[1..].iter().all(u8::is_ascii_digit);
        let values = if counted && !two_dashes {
            options.push(OsString::from_vec(vec![b'-', body[0]]));
            options.push(OsString::from_vec(body[1..].to_vec()));
            0
        } else if two_dashes || body.len() > 1 {
            // A long option; one that nobody knows goes to clap, which names the nearest.
            options.push(OsString::from_vec([b"--", name].concat()));
            let bare = name.split(|&c| c == b'=').next().unwrap_or(name);
            let Some(known) = long(bare) else {
                unknown = true;
                break;
            };
            known.values.len().saturating_sub(usize::from(bare.len() < name.len()))
        } else {
            let Some(known) = short(body[0]) else {
                options.push(argument);
                unknown = true;
                break;
            };
            options.push(argument);
            known.values.len()
        };
        options.extend(rest.by_ref().take(values));
    }
    Words { options, rest: rest.collect(), unknown }
}

/// The request in place of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InfoRequest {
    Version,
    Help(Option<String>),
}

/// Looks for `--help [TOPIC]` and `--version` among the options before the first program.
pub fn asked_instead(arguments: &[OsString]) -> Option<InfoRequest> {
    let first = words(arguments.split(|word| word == ":").next()?.to_vec());
    if !first.unknown {
        return None;
    }
    let (last, values) = match first.options.last()?.to_str()?.split_once('=') {
        Some((last, value)) => (last.to_owned(), Some(value.to_owned())),
        None => (first.options.last()?.to_str()?.to_owned(), None),
    };
    match last.as_str() {
        "--version" | "-V" => Some(InfoRequest::Version),
        "--help" | "-h" => {
            Some(InfoRequest::Help(values.or_else(|| first.rest.first()?.to_str().map(str::to_owned))))
        }
        _ => None,
    }
}
