//! Lines of an appfile that go on in the next.

/// Whether the line ends in a `\` that stands for "goes on": neither behind another one, nor in a comment. Between apostrophes,
/// where a shell would take it as it is, it goes on, too.
pub fn goes_on(line: &str) -> bool {
    let mut quote = None;
    let mut between_words = true;
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (None, '#') if between_words => return false,
            (Some('\''), '\\') if letters.as_str().is_empty() => return true,
            (None | Some('"'), '\\') if letters.next().is_none() => return true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        between_words = quote.is_none() && matches!(c, ' ' | '\t' | '\n');
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_backslash_of_a_line() {
        for line in [r"-n 1 \", r"\", r"a \\\", r#"a "b \"#, r"a 'b \", r"a#b \", r"'#' \", r"\# \"] {
            assert!(goes_on(line), "{line}");
        }
        for line in ["", "a", r"a \\", r"a \ ", r"# a \", r"  # a \", r"a # b \", r"a '\'", r#"a "\\""#] {
            assert!(!goes_on(line), "{line}");
        }
    }
}
