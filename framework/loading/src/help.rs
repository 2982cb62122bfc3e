//! Named paragraphs for operators: what happened, why it probably did, what to do.
//!
//! A component brings its `help.txt` in its descriptor. A paragraph begins behind a line `[topic]` and ends
//! at the next such line; `%1` to `%9` stand for arguments. Lines that begin with `#` in front of the first
//! topic are remarks.

/// The host's own paragraphs.
pub const HOST: &str = include_str!("help.txt");

/// The paragraph `topic` of `help`, with `args` filled in.
pub fn paragraph(help: &str, topic: &str, args: &[&str]) -> Option<String> {
    let mut lines = help.lines().skip_while(|l| topic_of(l) != Some(topic)).skip(1).peekable();
    lines.peek()?;
    let lines: Vec<&str> = lines.take_while(|l| topic_of(l).is_none()).collect();
    Some(fill(lines.join("\n").trim(), args))
}

/// The topic of a line `[topic]`; `None`: the line begins no paragraph.
fn topic_of(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.trim_end().strip_suffix(']')
}

/// Replaces `%1`…`%9`; a number without argument stays as it is, `%%` is a percent sign.
fn fill(text: &str, args: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        let tail = &rest[at + 1..];
        match tail.chars().next() {
            Some('%') => {
                out.push('%');
                rest = &tail[1..];
            }
            Some(d @ '1'..='9') if (d as usize - '1' as usize) < args.len() => {
                out += args[d as usize - '1' as usize];
                rest = &tail[1..];
            }
            _ => {
                out.push('%');
                rest = tail;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# remark\n[one]\nA %1 of %2, %3.\n\nMore: 100%%.\n\n[two]\nB\n[empty]\n";

    #[test]
    fn paragraphs_and_arguments() {
        assert_eq!(
            paragraph(TEXT, "one", &["x", "%1"]).as_deref(),
            Some("A x of %1, %3.\n\nMore: 100%."),
            "arguments are not looked into, missing ones stay visible"
        );
        assert_eq!(paragraph(TEXT, "two", &[]).as_deref(), Some("B"));
        assert_eq!(paragraph(TEXT, "three", &[]), None);
        assert_eq!(paragraph("", "one", &[]), None);
    }

    #[test]
    fn the_hosts_own_are_there() {
        for topic in [
            "unknown-parameter",
            "deprecated-parameter",
            "open-mpi-component",
            "open-mpi-parameter",
            "wrong-parameters",
        ] {
            assert!(paragraph(HOST, topic, &[]).is_some_and(|p| !p.is_empty()), "{topic}");
        }
    }
}
