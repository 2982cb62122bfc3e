//! Lines of a parameter file: what each sets, or why it is wrong.

/// One line that sets a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub text: String,
    /// From 1.
    pub line: u32,
}

/// A line `-x VARIABLE[=VALUE]` of a tune file: a variable for the ranks' environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    pub variable: String,
    /// None: the value the launcher has.
    pub value: Option<String>,
    pub line: u32,
}

/// A file's lines, right and wrong ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    pub exports: Vec<Export>,
    /// Line and what is wrong with it.
    pub wrong: Vec<(u32, String)>,
}

impl Lines {
    pub(super) fn enter(&mut self, name: String, text: String, line: u32) {
        match is_name(&name) {
            true => self.entries.push(Entry { name, text, line }),
            false => self.wrong.push((line, format!("{name:?} cannot be the name of a parameter"))),
        }
    }
}

/// The line, from 1, of a position.
pub(super) fn line_at(bytes: &[u8], at: usize) -> u32 {
    let before = &bytes[..at.min(bytes.len())];
    u32::try_from(before.iter().filter(|&&b| b == b'\n').count()).unwrap_or(u32::MAX - 1) + 1
}

/// Whether Open MPI's reader takes it for a name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}
