//! Open MPI's files of rules: numbers with blanks between them, remarks from `#` to the end of a line.
//!
//! First how many operations have rules. For each: its number, how many communicator sizes have rules; for each of them: the size from which
//! on they count, how many message sizes; for each of them: the size in bytes from which on it counts, algorithm, fanout, segment size. The
//! first message size of each is 0. Files that begin with `rule-file-version-2` may have a fifth number in the line of a rule: the requests.

use super::rule::Rule;
use crate::choice::Choice;
use crate::op::Op;

const VERSION: &str = "rule-file-version-";

/// Whether a text whose first line is this one is such a file.
pub fn is_begun_by(line: &str) -> bool {
    line.starts_with(VERSION) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// Numbers of a text, each with its line.
struct Numbers<'a> {
    words: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Numbers<'a> {
    fn line(&self) -> usize {
        self.words.get(self.next.min(self.words.len().saturating_sub(1))).map_or(1, |word| word.0)
    }

    fn take(&mut self, what: &str) -> Result<u64, String> {
        let Some((line, word)) = self.words.get(self.next) else {
            return Err(format!("line {}: the text ends where {what} should stand", self.line()));
        };
        self.next += 1;
        word.parse().map_err(|_| format!("line {line}: {word:?} stands where {what} should"))
    }

    /// Whether the next number stands in the line of the last one.
    fn goes_on(&self) -> bool {
        let line = |at: usize| self.words.get(at).map(|word| word.0);
        self.next > 0 && line(self.next).is_some_and(|next| line(self.next - 1) == Some(next))
    }
}

pub fn read(text: &str) -> Result<Vec<Rule>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words =
        (1..).zip(lines).flat_map(|(number, line)| line.split_whitespace().map(move |word| (number, word)));
    let mut numbers = Numbers { words: words.collect(), next: 0 };
    let mut version = 1;
    if let Some((line, word)) = numbers.words.first()
        && let Some(given) = word.strip_prefix(VERSION)
    {
        version = given.parse().map_err(|_| format!("line {line}: {given:?} is no version"))?;
        numbers.next = 1;
    }
    let mut rules = Vec::new();
    for _ in 0..numbers.take("the number of operations")? {
        let line = numbers.line();
        let number = numbers.take("the number of an operation")?;
        if number > Op::LAST_NUMBER {
            return Err(format!("line {line}: there is no operation {number}"));
        }
        let op = Op::of_number(number);
        for _ in 0..numbers.take("the number of communicator sizes")? {
            of_size(&mut numbers, op, version, &mut rules)?;
        }
    }
    match numbers.words.get(numbers.next) {
        Some((line, word)) => Err(format!("line {line}: {word:?} stands behind the last rule")),
        None => Ok(rules),
    }
}

/// Rules of one communicator size. Those of operations that are served by others are read over.
fn of_size(
    numbers: &mut Numbers<'_>,
    op: Option<Op>,
    version: u32,
    rules: &mut Vec<Rule>,
) -> Result<(), String> {
    let line = numbers.line();
    let ranks = numbers.take("a communicator size")?;
    let ranks = u32::try_from(ranks).map_err(|_| format!("line {line}: {ranks} is too much"))?;
    let sizes = numbers.take("the number of message sizes")?;
    if let (0, Some(op)) = (sizes, op) {
        // From here on there are none.
        rules.push(Rule { op, ranks, bytes: 0, choice: Choice::default() });
    }
    for size in 0..sizes {
        let line = numbers.line();
        let bytes = numbers.take("a message size")?;
        if size == 0 && bytes != 0 {
            return Err(format!("line {line}: the first message size is 0"));
        }
        let algorithm = numbers.take("an algorithm")?;
        let fanout = numbers.take("a fanout")?;
        let segment = numbers.take("a segment size")?;
        let requests = if version > 1 && numbers.goes_on() { numbers.take("the requests")? } else { 0 };
        let Some(op) = op else { continue };
        let short =
            |number: u64| u32::try_from(number).map_err(|_| format!("line {line}: {number} is too much"));
        let choice = Choice {
            algorithm: short(algorithm)?,
            segment,
            fanout: short(fanout)?,
            requests: short(requests)?,
        };
        if op.algorithm(choice.algorithm).is_none() {
            return Err(format!("line {line}: {} has no algorithm {algorithm}", op.name()));
        }
        rules.push(Rule { op, ranks, bytes, choice });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "2 # operations
        3 # alltoall
        2 # communicator sizes
        8
        2
        0 3 0 0
        1024 2 0 0
        64
        0
        5 # alltoallw, which is not ours
        1
        4 1
        0 77 1 2
    ";

    #[test]
    fn files_are_read() {
        let rule =
            |ranks, bytes, algorithm| Rule { op: Op::Alltoall, ranks, bytes, choice: Choice::of(algorithm) };
        assert_eq!(read(FILE), Ok(vec![rule(8, 0, 3), rule(8, 1024, 2), rule(64, 0, 0)]));
        let second = "rule-file-version-2\n1\n7\n1\n2\n2\n0 3 1 8 5\n9 6 0 0\n";
        let rules = read(second).expect("rules");
        assert_eq!(rules[0].choice, Choice { algorithm: 3, segment: 8, fanout: 1, requests: 5 });
        assert_eq!(rules[1].choice, Choice::of(6));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, wanted) in [
            ("1\n30\n", "line 2: there is no operation 30"),
            ("1\n7\n1\n2\n1\n5 1 0 0\n", "line 6: the first message size is 0"),
            ("1\n7\n1\n2\n1\n0 10 0 0\n", "line 6: bcast has no algorithm 10"),
            ("1\n7\n1\n2\n1\n0 1 0\n", "line 6: the text ends where a segment size should stand"),
            ("1\n7\n1\nx\n", "line 4: \"x\" stands where a communicator size should"),
            ("0\n7\n", "line 2: \"7\" stands behind the last rule"),
            ("rule-file-version-x\n", "line 1: \"x\" is no version"),
        ] {
            assert_eq!(read(text), Err(wanted.into()), "{text}");
        }
    }
}
