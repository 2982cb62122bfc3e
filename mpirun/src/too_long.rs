//! The string, or the sum of them all, by which a program has more arguments and variables than the system takes.

use oxmpi_wireup::limits::{self, STRING_LIMIT};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

/// Bytes that a string takes besides its own: its end, and the pointer to it.
const BESIDE: usize = 1 + size_of::<usize>();

/// Names the limits behind a failed start: `errno`, of `command`, which was given nothing of our variables if `cleared`.
pub fn named(errno: i32, command: &Command, cleared: bool) -> String {
    match errno {
        libc::E2BIG => format!("{}: {}", limits::named(errno), cause(command, cleared)),
        _ => limits::named(errno),
    }
}

fn cause(command: &Command, cleared: bool) -> String {
    let arguments: Vec<usize> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.len()).collect();
    let mut variables: BTreeMap<OsString, usize> = BTreeMap::new();
    if !cleared {
        variables.extend(std::env::vars_os().map(|(name, value)| (name, value.len())));
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => variables.insert(name.to_owned(), value.len()),
            None => variables.remove(name),
        };
    }
    let variables: Vec<(OsString, usize)> =
        variables.into_iter().map(|(name, bytes)| (name.clone(), name.len() + 1 + bytes)).collect();
    let words = arguments.iter().enumerate().map(|(at, bytes)| match at {
        0 => ("the program's name".to_owned(), *bytes),
        at => (format!("argument {at}"), *bytes),
    });
    let named = variables.iter().map(|(name, bytes)| (format!("the variable {}", name.display()), *bytes));
    let Some((what, bytes)) = words.chain(named).max_by_key(|(_, bytes)| *bytes) else {
        return String::new();
    };
    if bytes >= STRING_LIMIT {
        return format!("{what} has {}", bytes + 1);
    }
    let of_arguments: usize = arguments.iter().map(|bytes| bytes + BESIDE).sum();
    let of_variables: usize = variables.iter().map(|(_, bytes)| bytes + BESIDE).sum();
    format!(
        "here they have {}, of which {} arguments have {of_arguments} and {} variables {of_variables}",
        of_arguments + of_variables,
        arguments.len() - 1,
        variables.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_named() {
        let mut command = Command::new("program");
        command.arg("short").env_clear().env("NAME", "x".repeat(STRING_LIMIT - 6));
        let text = named(libc::E2BIG, &command, true);
        assert!(
            text.ends_with("here they have 131110, of which 1 arguments have 30 and 1 variables 131080"),
            "{text}"
        );
        command.env("NAME", "x".repeat(STRING_LIMIT)).env("OTHER", "x").env_remove("OTHER");
        assert!(named(libc::E2BIG, &command, true).ends_with("the variable NAME has 131078"));
        command.arg("y".repeat(2 * STRING_LIMIT));
        assert!(named(libc::E2BIG, &command, false).ends_with("argument 2 has 262145"));
        assert_eq!(named(libc::ENOENT, &command, true), "");
    }

    /// The kernel's own view.
    #[test]
    fn the_sum_is_the_kernels() {
        let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
        let Some(limit) = stack.map(|stack| stack / 4).filter(|limit| (1 << 20..=6 << 20).contains(limit))
        else {
            return;
        };
        let with = |bytes: usize| {
            let mut command = Command::new("/bin/true");
            command.env_clear();
            let each = STRING_LIMIT - 20;
            command.args(std::iter::repeat_n("x".repeat(each), bytes / (each + BESIDE)));
            command.arg("x".repeat((bytes % (each + BESIDE)).saturating_sub(BESIDE)));
            let text = cause(&command, true);
            (command.status().map(|_| ()).map_err(|why| why.raw_os_error()), text)
        };
        // The program's name stands there a second time, and a few pointers.
        let (below, text) = with(limit as usize - 200);
        assert_eq!(below, Ok(()), "{text}");
        let (above, text) = with(limit as usize + 200);
        assert_eq!(above, Err(Some(libc::E2BIG)), "{text}");
        let total = text
            .split_ascii_whitespace()
            .nth(3)
            .and_then(|word| word.trim_end_matches(',').parse::<u64>().ok());
        assert!(total.is_some_and(|total| total > limit), "{text}");
    }
}
