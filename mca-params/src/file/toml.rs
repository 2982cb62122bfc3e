//! TOML: any value that can be written as a text. Arrays are lists.

use super::lines::{Lines, line_at};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) fn parse(text: &str) -> Lines {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut lines = Lines::default();
    for error in errors {
        let line = error.span().map_or(1, |span| line_at(text.as_bytes(), span.start));
        lines.wrong.push((line, one_line(error.message())));
    }
    // Right values are kept beside wrong ones, for a checker; nobody uses them otherwise.
    walk(text, "", table.get_ref(), &mut lines);
    lines.entries.sort_by_key(|e| e.line);
    lines.wrong.sort_by_key(|w| w.0);
    // Consequences of a mistake in the same line are not news.
    lines.wrong.dedup_by_key(|w| w.0);
    lines
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn walk(text: &str, prefix: &str, table: &DeTable<'_>, lines: &mut Lines) {
    for (key, value) in table {
        let line = line_at(text.as_bytes(), key.span().start);
        let name = match prefix {
            "" => key.get_ref().to_string(),
            prefix => format!("{prefix}_{}", key.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(inner) => walk(text, &name, inner, lines),
            DeValue::Array(items) => {
                let texts: Result<Vec<String>, String> = items.iter().map(item).collect();
                match texts {
                    Ok(texts) => lines.enter(name, texts.join(","), line),
                    Err(reason) => lines.wrong.push((line, reason)),
                }
            }
            value => match scalar(value) {
                Ok(text) => lines.enter(name, text, line),
                Err(reason) => lines.wrong.push((line, reason)),
            },
        }
    }
}

fn item(value: &Spanned<DeValue<'_>>) -> Result<String, String> {
    match scalar(value.get_ref()) {
        Ok(text) if text.contains(',') => Err(format!("{text:?} is one item of a list and has a comma")),
        other => other,
    }
}

fn scalar(value: &DeValue<'_>) -> Result<String, String> {
    Ok(match value {
        DeValue::String(text) => text.to_string(),
        // Hexadecimal and the rest become decimal: parameters know other prefixes than TOML.
        DeValue::Integer(n) => i128::from_str_radix(&n.as_str().replace('_', ""), n.radix())
            .map_err(|_| format!("{n} is too large"))?
            .to_string(),
        DeValue::Float(x) => x.as_str().replace('_', ""),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(_) => return Err("is a date, which no parameter takes".into()),
        DeValue::Array(_) | DeValue::Table(_) => {
            return Err("has a list or a table inside a list, which no parameter takes".into());
        }
    })
}
