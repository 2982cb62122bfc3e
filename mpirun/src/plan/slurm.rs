//! Slurm's lists: names as `a[01-03,7],b`, counts as `2(x3),1`.

/// More nodes or counts than an allocation has: a bound on what a wrong variable makes of itself.
const MOST: usize = 1 << 20;

/// The names, in order. None: it is no such list.
pub fn names(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for part in split(text)? {
        expand("", part, &mut all)?;
    }
    (!all.is_empty()).then_some(all)
}

/// Parts between commas that are in no bracket.
fn split(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' if !inside => inside = true,
            ']' if inside => inside = false,
            '[' | ']' => return None,
            ',' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!inside && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Each range in brackets with what stands before and behind it.
fn expand(before: &str, text: &str, into: &mut Vec<String>) -> Option<()> {
    let Some((prefix, rest)) = text.split_once('[') else {
        into.push(format!("{before}{text}"));
        return (into.len() <= MOST).then_some(());
    };
    let (ranges, rest) = rest.split_once(']')?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (low, high): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if high.checked_sub(low)? > MOST as u64 {
            return None;
        }
        for number in low..=high {
            // Zeroes in front are part of the name.
            expand(&format!("{before}{prefix}{number:0width$}", width = first.len()), rest, into)?;
        }
    }
    Some(())
}

/// The counts, one for each node. None: it is no such list.
pub fn counts(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (count, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1_usize),
        };
        let count = count.trim().parse().ok().filter(|&n: &u32| n > 0)?;
        if all.len() + times > MOST {
            return None;
        }
        all.extend(std::iter::repeat_n(count, times));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names() {
        for (text, wanted) in [
            ("h1", "h1"),
            ("h[1-3]", "h1 h2 h3"),
            ("g[01-03,7],b", "g01 g02 g03 g7 b"),
            ("r[1-2]n[08-10]", "r1n08 r1n09 r1n10 r2n08 r2n09 r2n10"),
            ("a,b-c", "a b-c"),
        ] {
            assert_eq!(names(text).expect(text).join(" "), wanted);
        }
        for wrong in ["", "a,,b", "h[1-3", "h1-3]", "h[3-1]", "h[x]", "h[]", "h[[1]]", "h[1-99999999]"] {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lists_of_counts() {
        assert_eq!(counts("2(x3),1"), Some(vec![2, 2, 2, 1]));
        assert_eq!(counts("4"), Some(vec![4]));
        for wrong in ["", "0", "2(x", "2(xa)", "x", "1(x99999999)"] {
            assert_eq!(counts(wrong), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9\\[\\],()x-]{0,30}") {
            let _ = (names(&text), counts(&text));
        }
    }
}
