//! Paragraphs for the user. They stand in `help.txt` under their topics; `%1` to `%9` are filled
//! in.

const TEXTS: &str = include_str!("help.txt");
const LINE: &str = "--------------------------------------------------------------------------";

/// A topic's paragraph, filled in and framed.
pub fn paragraph(topic: &str, arguments: &[&str]) -> String {
    match section(topic) {
        Some(text) => framed(&fill(text, arguments)),
        // A topic that is missing is a mistake here, and a test finds it; what is to be said is
        // said even so.
        None => framed(&format!("{topic}: {}", arguments.join(", "))),
    }
}

/// Between two dashed lines, so that it is found among a program's output.
pub fn framed(text: &str) -> String {
    format!("{LINE}\n{}\n{LINE}\n", text.trim_end())
}

/// A paragraph without its lines, for a place in another one.
pub fn unframed(text: &str) -> &str {
    let text = text.trim_end();
    let inside = text.strip_prefix(LINE).and_then(|text| text.strip_suffix(LINE));
    inside.unwrap_or(text).trim()
}

/// Is it a whole paragraph already?
pub fn is_framed(text: &str) -> bool {
    text.starts_with(LINE)
}

/// A topic's paragraph as it stands in the file.
pub fn section(topic: &str) -> Option<&'static str> {
    let start = TEXTS.find(&format!("\n[{topic}]\n"))? + topic.len() + 4;
    let rest = &TEXTS[start..];
    Some(rest.find("\n[").map_or(rest, |end| &rest[..end]).trim())
}

/// Topics that `--help` has more to say about.
pub fn topics() -> impl Iterator<Item = &'static str> {
    TEXTS.lines().filter_map(|line| line.strip_prefix("[help ")?.strip_suffix(']'))
}

/// One pass, so that an argument which looks like a place is left as it is.
fn fill(text: &str, arguments: &[&str]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let number = after.chars().next().and_then(|c| c.to_digit(10)).filter(|&n| n > 0);
        match number.and_then(|n| arguments.get(n as usize - 1)) {
            Some(argument) => {
                out.push_str(argument);
                rest = &after[1..];
            }
            None => {
                out.push('%');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_that_is_used_has_a_paragraph() {
        let sources = [
            include_str!("launcher/mod.rs"),
            include_str!("launcher/verdict.rs"),
            include_str!("cli/mod.rs"),
            include_str!("cli/words.rs"),
            include_str!("cli/policy.rs"),
            include_str!("cli/runtime_options.rs"),
            include_str!("plan/mod.rs"),
            include_str!("plan/spawned.rs"),
            include_str!("launcher/spawn.rs"),
            include_str!("launcher/births.rs"),
            include_str!("launcher/state.rs"),
            include_str!("launcher/hearing.rs"),
            include_str!("name_server/find.rs"),
            include_str!("launcher/opening.rs"),
            include_str!("remote/addresses.rs"),
            include_str!("remote/hub.rs"),
            include_str!("remote/options.rs"),
            include_str!("remote/start.rs"),
            include_str!("remote/failure_reasons.rs"),
            include_str!("plan/allocation.rs"),
            include_str!("plan/hosts.rs"),
            include_str!("plan/map.rs"),
            include_str!("plan/listed.rs"),
            include_str!("plan/bind.rs"),
            include_str!("plan/place.rs"),
            include_str!("plan/programs.rs"),
            include_str!("plan/environment.rs"),
        ];
        let mut topics = 0;
        for source in sources {
            // Arguments may begin on the next line.
            let source = source.replace("paragraph(\n", "paragraph(").replace("( ", "(");
            for rest in source.split("paragraph(").skip(1) {
                let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
                let topic = rest.split('"').next().expect("a literal");
                assert!(section(topic).is_some_and(|text| !text.is_empty()), "{topic}");
                topics += 1;
            }
        }
        assert!(topics > 8, "found only {topics}");
    }

    #[test]
    fn places_are_filled_once() {
        assert_eq!(fill("%1 and %2, 100%, %9", &["%2", "b"]), "%2 and b, 100%, %9");
        assert!(paragraph("no such topic", &["x"]).contains("no such topic: x"));
        assert_eq!((unframed(&framed("a\nb\n")), unframed("c\n")), ("a\nb", "c"));
    }
}
