//! The tables of `mpi/abi/`: tab-separated lines in sections `[name]<tab>what it is`, `#` comments.

use std::fs;
use std::path::Path;

/// A heading and the rows under it.
pub struct Section<T> {
    pub name: String,
    pub title: String,
    pub rows: Vec<T>,
}

pub struct Function {
    pub name: String,
    pub result: String,
    pub parameters: Vec<Parameter>,
    pub remark: String,
}

/// One C parameter, as written and taken apart.
pub struct Parameter {
    /// As in the prototype.
    pub text: String,
    /// Without the name: `const void *`, `int`, `MPI_Comm`; an array is a pointer.
    pub kind: String,
}

pub struct Constant {
    pub name: String,
    /// `define`, `enum`, or the C type the number is cast to.
    pub kind: String,
    pub value: String,
}

pub struct Type {
    /// `scalar`, `struct`, `handle`, `enum`, `callback`, `alias`.
    pub kind: String,
    pub name: String,
    pub definition: String,
    pub parameters: String,
}

pub struct Tables {
    pub functions: Vec<Section<Function>>,
    /// Removed from the standard, and here beside it.
    pub removed: Vec<Section<Function>>,
    pub constants: Vec<Section<Constant>>,
    pub types: Vec<Section<Type>>,
}

impl Tables {
    pub fn read(folder: &Path) -> Result<Tables, String> {
        Ok(Tables {
            functions: sections(&folder.join("functions.tsv"), function)?,
            removed: sections(&folder.join("removed.tsv"), function)?,
            constants: sections(&folder.join("constants.tsv"), constant)?,
            types: sections(&folder.join("types.tsv"), c_type)?,
        })
    }

    pub fn all_functions(&self) -> impl Iterator<Item = (&Section<Function>, &Function)> {
        self.functions.iter().flat_map(|s| s.rows.iter().map(move |f| (s, f)))
    }
}

/// Reads a table whose rows `row` takes apart.
pub fn sections<T>(path: &Path, row: fn(&[&str]) -> Option<T>) -> Result<Vec<Section<T>>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut all: Vec<Section<T>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || format!("{}:{}: not understood: {line}", path.display(), number + 1);
        let columns: Vec<&str> = line.split('\t').collect();
        if let Some(name) = columns[0].strip_prefix('[').and_then(|n| n.strip_suffix(']')) {
            let title = columns.get(1).ok_or_else(wrong)?.to_string();
            all.push(Section { name: name.to_string(), title, rows: Vec::new() });
        } else {
            all.last_mut().ok_or_else(wrong)?.rows.push(row(&columns).ok_or_else(wrong)?);
        }
    }
    Ok(all)
}

fn function(columns: &[&str]) -> Option<Function> {
    let [name, result, parameters, _object, ..] = columns else { return None };
    let parameters =
        if *parameters == "void" { Vec::new() } else { parameters.split(", ").map(parameter).collect() };
    Some(Function {
        name: name.to_string(),
        result: result.to_string(),
        parameters,
        remark: columns.get(4).unwrap_or(&"").to_string(),
    })
}

fn parameter(text: &str) -> Parameter {
    if text == "..." {
        return Parameter { text: text.to_string(), kind: String::new() };
    }
    let (bare, array) = match text.find('[') {
        Some(at) => (&text[..at], true),
        None => (text, false),
    };
    let start = bare.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
    let mut kind = bare[..start].trim().to_string();
    if array {
        kind.push_str(" *");
    }
    Parameter { text: text.to_string(), kind }
}

fn constant(columns: &[&str]) -> Option<Constant> {
    let [name, kind, value] = columns else { return None };
    Some(Constant { name: name.to_string(), kind: kind.to_string(), value: value.to_string() })
}

fn c_type(columns: &[&str]) -> Option<Type> {
    let [kind, name, definition, ..] = columns else { return None };
    Some(Type {
        kind: kind.to_string(),
        name: name.to_string(),
        definition: definition.to_string(),
        parameters: columns.get(3).unwrap_or(&"").to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_apart() {
        let p = parameter("const int ranges[][3]");
        assert_eq!(p.kind, "const int *");
        let p = parameter("char ***argv");
        assert_eq!(p.kind, "char ***");
        let p = parameter("MPI_Comm comm");
        assert_eq!(p.kind, "MPI_Comm");
        assert_eq!(parameter("...").kind, "");
    }
}
