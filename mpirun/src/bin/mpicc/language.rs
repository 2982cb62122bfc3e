//! The language of a wrapper, and the compiler that it starts.
//!
//! **`CC=mpicc`.** Build systems export exactly that, and a wrapper that believed it would start itself for ever. A compiler
//! variable that names an MPI wrapper is therefore ignored.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    pub fn of_program_name(name: &str) -> Language {
        match name {
            "mpicxx" | "mpic++" | "mpiCC" | "mpicpc" => Language::Cxx,
            "mpifort" | "mpif90" | "mpif77" => Language::Fortran,
            _ => Language::C,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cxx => "C++",
            Language::Fortran => "Fortran",
        }
    }

    /// Variables that may name the compiler, strongest first.
    fn variables(self) -> [&'static str; 4] {
        match self {
            Language::C => ["OXMPI_CC", "OMPI_CC", "MPICH_CC", "CC"],
            Language::Cxx => ["OXMPI_CXX", "OMPI_CXX", "MPICH_CXX", "CXX"],
            Language::Fortran => ["OXMPI_FC", "OMPI_FC", "MPICH_FC", "FC"],
        }
    }

    /// Tried in this order where no variable says otherwise.
    fn candidates(self) -> &'static [&'static str] {
        match self {
            Language::C => &["cc", "gcc", "clang"],
            Language::Cxx => &["c++", "g++", "clang++"],
            Language::Fortran => {
                &["gfortran", "flang-new", "flang", "flang-19", "flang-new-19", "ifx", "nvfortran"]
            }
        }
    }

    /// Libraries of a program, in the order in which they are linked.
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Language::C | Language::Cxx => &["mpi_abi"],
            Language::Fortran => &["mpifort_abi", "mpi_abi"],
        }
    }
}

/// The compiler and the arguments it always gets (`CC="ccache gcc"`).
pub fn compiler(
    language: Language,
    asked: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
    exists: impl Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    if let Some(text) = asked {
        return words("the compiler asked for", text);
    }
    for name in language.variables() {
        let Some(text) = variable(name).filter(|t| !t.trim().is_empty()) else { continue };
        let command = words(name, &text)?;
        if !command.iter().any(|word| is_wrapper(word)) {
            return Ok(command);
        }
    }
    let candidates = language.candidates();
    let found = candidates.iter().find(|name| exists(name));
    found.map(|name| vec![(*name).to_owned()]).ok_or_else(|| {
        format!(
            "no {} compiler: none of {} is in PATH and {} is not set",
            language.name(),
            candidates.join(", "),
            language.variables()[3]
        )
    })
}

fn words(source: &str, text: &str) -> Result<Vec<String>, String> {
    match shlex::split(text) {
        Some(words) if !words.is_empty() => Ok(words),
        _ => Err(format!("{source} is {text:?}, which is not a command")),
    }
}

/// Does this word name an MPI compiler wrapper, ours or another's?
fn is_wrapper(word: &str) -> bool {
    let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or(word);
    matches!(
        name,
        "mpicc"
            | "mpicxx"
            | "mpic++"
            | "mpiCC"
            | "mpicpc"
            | "mpigcc"
            | "mpigxx"
            | "mpiicc"
            | "mpiicpc"
            | "mpifort"
            | "mpif90"
            | "mpif77"
            | "mpif08"
            | "mpifc"
            | "mpiifort"
            | "mpiifx"
    )
}

/// The file that a shell would run for this name.
pub fn in_path(name: &str) -> Option<PathBuf> {
    use rustix::fs::{Access, access};
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| access(place, Access::EXEC_OK).is_ok() && !place.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(language: Language, variables: &[(&str, &str)]) -> Vec<String> {
        let get = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
        compiler(language, None, get, |name| ["gcc", "g++", "flang-19"].contains(&name)).unwrap()
    }

    #[test]
    fn the_compiler_is_chosen_by_variable_and_never_a_wrapper() {
        assert_eq!(choose(Language::C, &[]), ["gcc"]);
        assert_eq!(choose(Language::Cxx, &[("CC", "clang")]), ["g++"]);
        assert_eq!(choose(Language::C, &[("CC", "clang"), ("OMPI_CC", "icx")]), ["icx"]);
        assert_eq!(choose(Language::C, &[("OMPI_CC", "icx"), ("OXMPI_CC", "ccache gcc")]), ["ccache", "gcc"]);
        assert_eq!(choose(Language::C, &[("CC", "/usr/bin/mpicc")]), ["gcc"]);
        assert_eq!(choose(Language::C, &[("CC", "ccache mpicc")]), ["gcc"]);
        assert_eq!(choose(Language::Cxx, &[("CXX", "mpicxx"), ("OMPI_CXX", " ")]), ["g++"]);
        assert!(compiler(Language::C, None, |_| None, |_| false).unwrap_err().contains("clang"));
        assert!(compiler(Language::C, Some("\"x"), |_| None, |_| true).is_err());
    }

    #[test]
    fn the_compiler_of_fortran() {
        assert_eq!(choose(Language::Fortran, &[("CC", "gcc"), ("FC", "mpif90")]), ["flang-19"]);
        assert_eq!(choose(Language::Fortran, &[("FC", "ifx"), ("MPICH_FC", "gfortran-12")]), ["gfortran-12"]);
        assert_eq!(choose(Language::Fortran, &[("MPICH_FC", "a"), ("OMPI_FC", "b")]), ["b"]);
        assert_eq!(choose(Language::Fortran, &[("OMPI_FC", "b"), ("OXMPI_FC", "c")]), ["c"]);
        assert!(
            compiler(Language::Fortran, None, |_| None, |_| false).unwrap_err().contains("FC is not set")
        );
        for name in ["mpifort", "mpif90", "mpif77"] {
            assert_eq!(Language::of_program_name(name), Language::Fortran);
        }
    }
}
