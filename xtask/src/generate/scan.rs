//! Finds the functions that the files under `mpi/src` define: lines `fn MPI_A...` inside `mpi_fn!`, several
//! names with commas between for the plain and the large-count form of one body.

use crate::generate::table::Tables;
use crate::generate::tested::Tested;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where a function is and what is missing in it.
pub struct Place {
    pub file: String,
    pub line: usize,
    /// From a comment line `/// Partial: …` above it.
    pub partial: Option<String>,
}

/// Function to place, for everything in the tables.
pub type Found = BTreeMap<String, Place>;

pub fn scan(folder: &Path, tables: &Tables) -> Result<Found, String> {
    let mut found = Found::new();
    scan_folder(folder, "", &mut found)?;
    let known: Vec<&str> = tables.all_functions().map(|(_, f)| f.name.as_str()).collect();
    // The Fortran handle conversions come on top of the standard's table.
    found.retain(|name, _| known.contains(&name.as_str()));
    let missing: Vec<&str> = known.into_iter().filter(|name| !found.contains_key(*name)).collect();
    if !missing.is_empty() {
        return Err(format!("no file under {} defines {}", folder.display(), missing.join(", ")));
    }
    Ok(found)
}

/// A function is whole where a test shows it.
pub fn judge(found: &mut Found, tested: &Tested, tables: &Tables) {
    for section in &tables.functions {
        for function in &section.rows {
            let Some(place) = found.get_mut(&function.name) else { continue };
            if place.partial.is_some() {
                continue;
            }
            if !tested.contains(&function.name) {
                place.partial = Some("no test calls it.".into());
            }
        }
    }
}

/// The files of a folder and of those in it; `under` is its path with a slash.
fn scan_folder(folder: &Path, under: &str, found: &mut Found) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        if path.is_dir() {
            scan_folder(&path, &format!("{under}{name}/"), found)?;
            continue;
        }
        if !name.ends_with(".rs") || name == "constants.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        scan_file(&format!("{under}{name}"), &text, found)?;
    }
    Ok(())
}

fn scan_file(file: &str, text: &str, found: &mut Found) -> Result<(), String> {
    let mut partial = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if let Some(what) = line.strip_prefix("/// Partial: ") {
            partial = Some(what.to_string());
        }
        let names = names(line);
        let defines = !names.is_empty();
        for name in names {
            let place = Place { file: file.to_string(), line: number + 1, partial: partial.clone() };
            if let Some(other) = found.insert(name.clone(), place) {
                return Err(format!(
                    "{name} is defined twice: {}:{} and {file}:{}",
                    other.file,
                    other.line,
                    number + 1
                ));
            }
        }
        if defines {
            partial = None;
        }
    }
    Ok(())
}

/// The functions that a line defines: `fn MPI_A[..], MPI_A_c[..]<N>(..)`, or a row of the macro
/// `conversions!`, which reads `Kind: MPI_A MPI_B;`.
fn names(line: &str) -> Vec<String> {
    let bare = |name: &str| name.split('[').next().unwrap_or("").trim().to_string();
    let line = ["any_time ", "hot "].iter().find_map(|form| line.strip_prefix(form)).unwrap_or(line);
    if line.starts_with("fn MPI_") {
        let rest = &line["fn ".len()..];
        let end = rest.find(['(', '<']).unwrap_or(rest.len());
        return rest[..end].split(", ").map(bare).collect();
    }
    match line.split_once(": MPI_") {
        Some((kind, _)) if kind.chars().all(char::is_alphanumeric) && line.ends_with(';') => {
            line[kind.len() + 1..].trim_end_matches(';').split_whitespace().map(bare).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_found() {
        let mut found = Found::new();
        let text = "mpi_fn! {\n    /// Partial: no colours.\n    hot fn MPI_Send[c_int], MPI_Send_c[Count]<N>(a: N)\n}\nfn MPI_Wtime() {}\n    Op: MPI_Op_toint MPI_Op_c2f;\n";
        scan_file("x.rs", text, &mut found).unwrap();
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["MPI_Op_c2f", "MPI_Op_toint", "MPI_Send", "MPI_Send_c", "MPI_Wtime"]);
        assert_eq!(found["MPI_Send"].partial.as_deref(), Some("no colours."));
        assert_eq!(found["MPI_Wtime"].partial, None);
        assert_eq!(found["MPI_Send_c"].line, 3);
        assert!(scan_file("y.rs", text, &mut found).is_err());
    }
}
