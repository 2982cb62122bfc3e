//! Open MPI's syntax: `name = value`, the value being the rest of the line without the blanks
//! around it: no quotes, no remark behind it. Remarks are lines that begin with `#` or `//`, and
//! C's `/* … */`. Tune files may have options as on the command line: `--mca NAME VALUE` and
//! `-x VARIABLE[=VALUE]`, several in one line, quoted as for a shell.

use super::lines::{Export, Lines};

pub(super) fn parse(text: &str) -> Lines {
    let mut lines = Lines::default();
    // Where the remark began that has not ended.
    let mut remark: Option<u32> = None;
    for (number, line) in (1u32..).zip(text.lines()) {
        let mut rest = line.trim();
        loop {
            if remark.is_some() {
                let Some((_, behind)) = rest.split_once("*/") else { break };
                remark = None;
                rest = behind.trim_start();
            }
            let Some(inside) = rest.strip_prefix("/*") else {
                one(rest, number, &mut lines);
                break;
            };
            remark = Some(number);
            rest = inside;
        }
    }
    if let Some(began) = remark {
        lines.wrong.push((began, "the remark that begins here does not end".into()));
    }
    lines
}

fn one(line: &str, number: u32, lines: &mut Lines) {
    if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
        return;
    }
    if line.starts_with('-') {
        return options(line, number, lines);
    }
    match line.split_once('=') {
        Some((name, value)) => lines.enter(name.trim_end().into(), value.trim_start().into(), number),
        None => {
            let reason = format!("{line:?} has no \"=\"; a line is \"name = value\", or a remark behind #");
            lines.wrong.push((number, reason));
        }
    }
}

/// `--mca NAME VALUE`, `-x VARIABLE[=VALUE]`.
fn options(line: &str, number: u32, lines: &mut Lines) {
    let Some(words) = shlex::split(line) else {
        return lines.wrong.push((number, "a quotation mark is not closed".into()));
    };
    let mut words = words.into_iter();
    while let Some(option) = words.next() {
        let bare = option.strip_prefix('-').map(|o| o.strip_prefix('-').unwrap_or(o));
        match bare {
            Some("mca" | "gmca" | "omca") => match (words.next(), words.next()) {
                (Some(name), Some(value)) => lines.enter(name, value, number),
                _ => return lines.wrong.push((number, format!("{option} takes a name and a value"))),
            },
            Some("x") => match words.next() {
                Some(word) if !word.is_empty() && !word.starts_with('=') => {
                    let (variable, value) = match word.split_once('=') {
                        Some((variable, value)) => (variable.to_owned(), Some(value.to_owned())),
                        None => (word, None),
                    };
                    lines.exports.push(Export { variable, value, line: number });
                }
                _ => return lines.wrong.push((number, "-x takes a variable".into())),
            },
            _ => {
                let reason =
                    format!("{option:?} is not an option of parameter files; those are --mca and -x");
                return lines.wrong.push((number, reason));
            }
        }
    }
}
