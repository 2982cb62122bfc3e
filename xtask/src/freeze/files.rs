//! Copies of files, and the list of their SHA-256 sums in the form that `sha256sum -c` reads.

use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The list's name.
const SUMS: &str = "SHA256SUMS";

/// Removes a folder that may be there.
pub fn clear(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(format!("{}: {e}", folder.display())),
        _ => Ok(()),
    }
}

pub fn write(file: &Path, text: &str) -> Result<(), String> {
    make_folder_of(file)?;
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_folder_of(to)?;
    fs::copy(from, to).map(drop).map_err(|e| format!("{} to {}: {e}", from.display(), to.display()))
}

fn make_folder_of(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

/// A file or folder of tests or models alone, by the names that the house gives them.
fn is_of_tests(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    ["tests", "model", "models"].contains(&&*stem) || stem.ends_with("_tests")
}

/// Copies the sources of a library, without files of tests and models.
pub fn copy_sources(from: &Path, to: &Path) -> Result<(), String> {
    for path in sorted(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if is_of_tests(&path) {
            continue;
        }
        if path.is_dir() { copy_sources(&path, &target)? } else { copy(&path, &target)? }
    }
    Ok(())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |e: io::Error| format!("{}: {e}", folder.display());
    let entries: Result<Vec<_>, _> =
        fs::read_dir(folder).map_err(wrong)?.map(|e| e.map(|e| e.path())).collect();
    let mut paths = entries.map_err(wrong)?;
    paths.sort();
    Ok(paths)
}

fn add_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in sorted(folder)? {
        if path.is_dir() { add_files(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

/// Writes the list of all files below `folder`; how many they are.
pub fn write_sums(folder: &Path) -> Result<usize, String> {
    let mut files = Vec::new();
    add_files(folder, &mut files)?;
    let mut list = String::new();
    for file in &files {
        let bytes = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.strip_prefix(folder).unwrap_or(file).display();
        let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        list += &format!("{hex}  {name}\n");
    }
    write(&folder.join(SUMS), &list)?;
    Ok(files.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tests_are_known_by_name() {
        for (name, is) in [("tests.rs", true), ("model.rs", true), ("lock_tests.rs", true), ("models", true)]
        {
            assert_eq!(is_of_tests(Path::new(name)), is, "{name}");
        }
        for name in ["lib.rs", "help.txt", "testing.rs", "modelled.rs"] {
            assert!(!is_of_tests(Path::new(name)), "{name}");
        }
    }
}
