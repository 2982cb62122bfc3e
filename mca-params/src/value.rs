//! Texts to values. Everything Open MPI reads is read with the same meaning (base 0 integers,
//! k/m/g, its words for booleans), but what it would silently turn into 0 or cut off is an error.

use crate::declaration::{Declaration, Kind};
use crate::error::ErrorKind;
use crate::similar_names::nearest;

/// A resolved value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Int(i64),
    Unsigned(u64),
    Size(u64),
    Bool(bool),
    Double(f64),
    Text(String),
    Enum {
        /// Position among the declaration's enumerators.
        index: usize,
        /// Spelled as declared.
        name: String,
    },
    List {
        /// `^` stood in front.
        negated: bool,
        items: Vec<String>,
    },
}

impl Value {
    /// As an integer where that makes sense: numbers, sizes (saturating), booleans, enumerators.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Int(n) => Some(n),
            Value::Unsigned(n) | Value::Size(n) => Some(i64::try_from(n).unwrap_or(i64::MAX)),
            Value::Bool(b) => Some(b.into()),
            Value::Enum { index, .. } => i64::try_from(index).ok(),
            _ => None,
        }
    }

    /// The text of a string or enumerator.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(s) => Some(s),
            Value::Enum { name, .. } => Some(name),
            _ => None,
        }
    }

    /// True for a true boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(n) => write!(f, "{n}"),
            Value::Unsigned(n) | Value::Size(n) => write!(f, "{n}"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Double(x) => write!(f, "{x}"),
            Value::Text(s) => f.write_str(s),
            Value::Enum { name, .. } => f.write_str(name),
            Value::List { negated, items } => {
                write!(f, "{}{}", if *negated { "^" } else { "" }, items.join(","))
            }
        }
    }
}

impl Declaration {
    /// Reads a text as a value; a sentence's end if it is none.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        parse(self, text, None).map_err(|(_, reason)| reason)
    }
}

/// The kind of mistake, and the sentence about it.
pub(crate) type ValueMistake = (ErrorKind, String);

/// Reads `text` as a value of `decl`. `home` replaces a leading `~/` in strings.
pub(crate) fn parse(decl: &Declaration, text: &str, home: Option<&str>) -> Result<Value, ValueMistake> {
    let trimmed = text.trim();
    let malformed =
        || (ErrorKind::Malformed, format!("is not {}; it takes {}", decl.kind.phrase(), decl.wanted()));
    match decl.kind {
        Kind::Text => Ok(Value::Text(expand_home(text, home))),
        Kind::Bool => boolean(trimmed).map(Value::Bool).ok_or_else(malformed),
        Kind::Enum => enumerator(decl, trimmed),
        Kind::List => list(trimmed).map_err(|reason| (ErrorKind::Malformed, reason)),
        Kind::Double => {
            let x: f64 = trimmed.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(malformed)?;
            match decl.bounds() {
                Some((min, max)) if x < min as f64 || x > max as f64 => Err(out_of_range(decl)),
                _ => Ok(Value::Double(x)),
            }
        }
        Kind::Int | Kind::Unsigned | Kind::Size => {
            if let Some((_, n)) = decl.words.iter().find(|(word, _)| word.eq_ignore_ascii_case(trimmed)) {
                return Ok(Value::Int(*n));
            }
            match integer(trimmed) {
                Integer::No => Err(malformed()),
                Integer::TooLarge => Err(out_of_range(decl)),
                Integer::Is(n) => bounded(decl, n),
            }
        }
    }
}

fn out_of_range(decl: &Declaration) -> ValueMistake {
    (ErrorKind::OutOfRange, format!("is out of range; it takes {}", decl.wanted()))
}

/// Checks an integer against the type and the declared bounds. For unsigned kinds a bound of
/// `i64::MAX` means no upper bound.
fn bounded(decl: &Declaration, n: i128) -> Result<Value, ValueMistake> {
    if let Some((min, max)) = decl.bounds() {
        let open_end = max == i64::MAX && decl.kind != Kind::Int;
        if n < min.into() || (n > max.into() && !open_end) {
            return Err(out_of_range(decl));
        }
    }
    let value = match decl.kind {
        Kind::Int => i64::try_from(n).ok().map(Value::Int),
        Kind::Unsigned => u64::try_from(n).ok().map(Value::Unsigned),
        // Lengths that do not fit a signed word cannot be lengths of memory.
        _ => i64::try_from(n).ok().and_then(|n| u64::try_from(n).ok()).map(Value::Size),
    };
    value.ok_or_else(|| out_of_range(decl))
}

enum Integer {
    Is(i128),
    No,
    TooLarge,
}

/// Base 0 as C reads it (0x hexadecimal, leading 0 octal), then an optional k, m or g with an
/// optional b or ib.
fn integer(text: &str) -> Integer {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, rest) = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &rest[2..]),
        [b'0', b'0'..=b'9', ..] => (8, &rest[1..]),
        _ => (10, rest),
    };
    let end = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let shift = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Integer::No,
    };
    if digits.is_empty() {
        return Integer::No;
    }
    // Only digits are left, so the one way to fail is size.
    let Ok(n) = u64::from_str_radix(digits, radix) else { return Integer::TooLarge };
    let n = i128::from(n) << shift;
    Integer::Is(if negative { -n } else { n })
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "enabled" | "yes" | "y" | "on" => Some(true),
        "false" | "f" | "disabled" | "no" | "n" | "off" => Some(false),
        other => match other.parse::<i64>() {
            Ok(n) => Some(n != 0),
            Err(_) => None,
        },
    }
}

/// By name whatever the case, else by number.
fn enumerator(decl: &Declaration, text: &str) -> Result<Value, ValueMistake> {
    let by_name = decl.enumerators.iter().position(|e| e.eq_ignore_ascii_case(text));
    let index = by_name.or_else(|| text.parse::<usize>().ok().filter(|&n| n < decl.enumerators.len()));
    match index {
        Some(index) => Ok(Value::Enum { index, name: decl.enumerators[index].clone() }),
        None => {
            let hint = nearest(text, decl.enumerators.iter().map(String::as_str));
            let hint = hint.map(|n| format!(" (did you mean {n}?)")).unwrap_or_default();
            Err((ErrorKind::NotAnEnumerator, format!("is not known{hint}; it takes {}", decl.wanted())))
        }
    }
}

/// A list and whether it is negated. `^` may be repeated in front and stands nowhere else.
pub(crate) fn list(text: &str) -> Result<Value, String> {
    let stripped = text.trim_start_matches('^');
    let negated = stripped.len() != text.len();
    if stripped.contains('^') {
        return Err(
            "has a ^ that is not in front: a list either names what to use or, after one ^, what not to use"
                .into(),
        );
    }
    let items = stripped.split(',').map(str::trim).filter(|i| !i.is_empty()).map(str::to_owned).collect();
    Ok(Value::List { negated, items })
}

/// `~/` at the start and after every colon is the home folder, as in Open MPI.
fn expand_home(text: &str, home: Option<&str>) -> String {
    let Some(home) = home.filter(|_| text.contains("~/")) else { return text.to_owned() };
    let parts: Vec<String> = text
        .split(':')
        .map(|part| match part.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", home.trim_end_matches('/')),
            None => part.to_owned(),
        })
        .collect();
    parts.join(":")
}
