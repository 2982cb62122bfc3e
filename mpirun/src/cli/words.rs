//! Small readers that several options share: shortened words, lists of numbers, times.

use crate::help::paragraph;

/// Meaning of a word, whatever its case, also when it is shortened as far as one choice is
/// left.
pub fn pick<'a>(word: &str, choices: &[&'a str]) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    if let Some(exact) = choices.iter().find(|choice| **choice == word) {
        return Some(exact);
    }
    let mut found = choices.iter().filter(|choice| !word.is_empty() && choice.starts_with(&word));
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The paragraph about a value that an option does not take, with the nearest word of those it takes.
pub fn bad_value(option: &str, value: &str, expected: &str) -> String {
    let words =
        expected.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| word.len() > 2);
    let hint = match oxmpi_mca_params::nearest(value, words) {
        Some(near) => format!(" The nearest is {near}."),
        None => String::new(),
    };
    paragraph("bad-value", &[option, value, expected, &hint])
}

/// A number above 0 that fits a count of processes.
pub fn count(option: &str, text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(n) if n > 0 && i32::try_from(n).is_ok() => Ok(n),
        _ => Err(bad_value(option, text, "a number above 0")),
    }
}

/// `0,2-4`: numbers and ranges, in the order given.
pub fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last.checked_sub(first)? > 65_536 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// `yes`, `1`, `true`, shortened, and their contraries; nothing is yes.
pub fn truth(text: Option<&str>) -> Option<bool> {
    let Some(text) = text else { return Some(true) };
    if let Ok(number) = text.parse::<i64>() {
        return Some(number != 0);
    }
    match pick(text, &["true", "false", "yes", "no"])? {
        "true" | "yes" => Some(true),
        _ => Some(false),
    }
}

/// Seconds, or `days:hours:minutes:seconds` with parts left out from the left.
pub fn seconds(text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    let parts: Vec<&str> = text.trim().split(':').collect();
    let units: &[u64] = &[1, 60, 3600, 86400];
    if parts.len() > units.len() {
        return None;
    }
    for (part, unit) in parts.iter().rev().zip(units) {
        total = total.checked_add(part.parse::<u64>().ok()?.checked_mul(*unit)?)?;
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_shortened_while_they_are_clear() {
        let choices = ["tag", "tag-detailed", "timestamp"];
        assert_eq!(pick("TAG", &choices), Some("tag"));
        assert_eq!(pick("Tag-D", &choices), Some("tag-detailed"));
        assert_eq!(pick("ti", &choices), Some("timestamp"));
        assert_eq!(pick("t", &choices), None);
        assert_eq!(pick("", &choices), None);
        assert_eq!(pick("x", &choices), None);
    }

    #[test]
    fn times() {
        assert_eq!(seconds("7"), Some(7));
        assert_eq!(seconds("1:00"), Some(60));
        assert_eq!(seconds("01:20:13:05"), Some(86400 + 20 * 3600 + 13 * 60 + 5));
        for wrong in ["", "0", "1:2:3:4:5", "-1", "soon", "99999999999999999999"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lists_and_truths() {
        assert_eq!(numbers("0,2-4"), Some(vec![0, 2, 3, 4]));
        for wrong in ["", "4-2", "a", "0-99999999"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
        assert_eq!(truth(None), Some(true));
        assert_eq!(truth(Some("F")), Some(false));
        assert_eq!(truth(Some("0")), Some(false));
        assert_eq!(truth(Some("2")), Some(true));
        assert_eq!(truth(Some("maybe")), None);
    }
}
