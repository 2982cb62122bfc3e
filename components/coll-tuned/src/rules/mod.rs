//! Rules: which algorithm from so many ranks and bytes on. Texts are read by pure functions: a table in TOML (`table.rs`), or the numbers of
//! Open MPI's files (`numbers.rs`).

mod numbers;
mod rule;
mod table;

use crate::choice::Choice;
use crate::op::Op;
use rule::Rule;

/// All rules.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Reads a text, empty if there are none. Errors name the line.
    pub fn of(text: &str) -> Result<Rules, String> {
        let first =
            text.lines().map(|line| line.trim()).find(|line| !line.is_empty() && !line.starts_with('#'));
        let rules = match first {
            None => Vec::new(),
            Some(line) if line.starts_with('{') => {
                return Err("line 1: rules in JSON are not read; write them in TOML, or as numbers".into());
            }
            Some(line) if numbers::is_begun_by(line) => numbers::read(text)?,
            Some(_) => table::read(text)?,
        };
        Ok(Rules { rules })
    }

    /// The rule for an operation of so many ranks and bytes: of those that begin with the most ranks the one that begins with the most bytes.
    pub fn find(&self, op: Op, ranks: u32, bytes: u64) -> Option<Choice> {
        let of_op = || self.rules.iter().filter(move |rule| rule.op == op && rule.ranks <= ranks);
        let most = of_op().map(|rule| rule.ranks).max()?;
        let fitting = of_op().filter(|rule| rule.ranks == most && rule.bytes <= bytes);
        fitting.max_by_key(|rule| rule.bytes).map(|rule| rule.choice)
    }

    /// Whether an operation has rules for so many ranks.
    pub fn has(&self, op: Op, ranks: u32) -> bool {
        self.rules.iter().any(|rule| rule.op == op && rule.ranks <= ranks && rule.choice.algorithm != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_rule_counts() {
        let text = "
            [[rule]]
            operation = 'bcast'
            algorithm = 1
            [[rule]]
            operation = 'bcast'
            ranks = 8
            bytes = 1000
            algorithm = 'pipeline'
            segment = 4096
        ";
        let rules = Rules::of(text).expect("rules");
        let number = |ranks, bytes| rules.find(Op::Bcast, ranks, bytes).map(|choice| choice.algorithm);
        assert_eq!([number(7, 1 << 20), number(8, 1000), number(8, 999)], [Some(1), Some(3), None]);
        assert_eq!(rules.find(Op::Bcast, 9, 5000), Some(Choice { segment: 4096, ..Choice::of(3) }));
        assert!(rules.has(Op::Bcast, 2) && !rules.has(Op::Reduce, 2));
        assert_eq!(Rules::of(" \n# nothing\n"), Ok(Rules::default()));
        assert!(Rules::of("{\"collectives\": {}}").is_err());
    }
}
