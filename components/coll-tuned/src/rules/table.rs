//! Rules in TOML: an array of tables `rule`, each with `operation` and `algorithm` (a name or a number), and `ranks`, `bytes`, `segment`, `fanout` and
//! `requests`, which are 0 where they are missing.

use super::rule::Rule;
use crate::choice::Choice;
use crate::op::Op;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, from 1, of a position in a text.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

pub fn read(text: &str) -> Result<Vec<Rule>, String> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        format!(
            "line {}: {}",
            line_of(text, at),
            error.message().split_whitespace().collect::<Vec<_>>().join(" ")
        )
    })?;
    let mut rules = Vec::new();
    for (key, value) in document.get_ref() {
        let line = line_of(text, key.span().start);
        let (true, DeValue::Array(tables)) = (key.get_ref() == "rule", value.get_ref()) else {
            return Err(format!("line {line}: {:?} is none of the tables [[rule]]", key.get_ref()));
        };
        for table in tables.iter() {
            rules.push(rule(text, table)?);
        }
    }
    Ok(rules)
}

fn rule(text: &str, value: &Spanned<DeValue<'_>>) -> Result<Rule, String> {
    let line = line_of(text, value.span().start);
    let DeValue::Table(table) = value.get_ref() else {
        return Err(format!("line {line}: a rule is a table"));
    };
    let (mut op, mut algorithm) = (None, None);
    let [mut ranks, mut bytes, mut segment, mut fanout, mut requests] = [0u64; 5];
    for (key, value) in table.iter() {
        let line = line_of(text, key.span().start);
        let number = || {
            number(value.get_ref())
                .ok_or_else(|| format!("line {line}: {} is a whole number from 0 on", key.get_ref()))
        };
        match &**key.get_ref() {
            "operation" => {
                let name = name(value.get_ref());
                op = Op::ALL.into_iter().find(|op| op.name() == name);
                if op.is_none() {
                    return Err(format!("line {line}: there is no operation {name:?}"));
                }
            }
            "algorithm" => algorithm = Some(name(value.get_ref())),
            "ranks" => ranks = number()?,
            "bytes" => bytes = number()?,
            "segment" => segment = number()?,
            "fanout" => fanout = number()?,
            "requests" => requests = number()?,
            other => return Err(format!("line {line}: a rule has no {other:?}")),
        }
    }
    let op = op.ok_or_else(|| format!("line {line}: the rule names no operation"))?;
    let algorithm = algorithm.ok_or_else(|| format!("line {line}: the rule names no algorithm"))?;
    let short = |number: u64| u32::try_from(number).map_err(|_| format!("line {line}: {number} is too much"));
    let number = op.number_of(&algorithm);
    let number =
        number.ok_or_else(|| format!("line {line}: {} has no algorithm {algorithm:?}", op.name()))?;
    let choice = Choice { algorithm: number, segment, fanout: short(fanout)?, requests: short(requests)? };
    Ok(Rule { op, ranks: short(ranks)?, bytes, choice })
}

/// A text, or a number as one.
fn name(value: &DeValue<'_>) -> String {
    match (value, number(value)) {
        (DeValue::String(text), _) => text.to_string(),
        (_, Some(number)) => number.to_string(),
        _ => String::new(),
    }
}

fn number(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, wanted) in [
            ("\n[[rule]]\noperation = 'bcast'\n", "line 2: the rule names no algorithm"),
            ("[[rule]]\nalgorithm = 1\n", "line 1: the rule names no operation"),
            ("[[rule]]\noperation = 'bcst'\n", "line 2: there is no operation \"bcst\""),
            ("[[rule]]\noperation = 'scan'\nalgorithm = 'ring'\n", "line 1: scan has no algorithm \"ring\""),
            ("[[rule]]\noperation = 'scan'\nalgorithm = 3\n", "line 1: scan has no algorithm \"3\""),
            ("[[rule]]\nbytes = -1\n", "line 2: bytes is a whole number from 0 on"),
            ("[[rule]]\nsize = 1\n", "line 2: a rule has no \"size\""),
            ("[rule]\nsize = 1\n", "line 1: \"rule\" is none of the tables [[rule]]"),
            ("bcast = 1\n", "line 1: \"bcast\" is none of the tables [[rule]]"),
            (
                "[[rule]]\noperation = 'bcast'\nalgorithm = 1\nranks = 5000000000\n",
                "line 1: 5000000000 is too much",
            ),
        ] {
            assert_eq!(read(text), Err(wanted.into()), "{text}");
        }
        assert!(read("a = [\n1").is_err_and(|error| error.starts_with("line ")));
    }
}
