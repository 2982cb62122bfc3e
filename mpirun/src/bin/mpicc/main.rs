//! `mpicc`, `mpicxx` and `mpifort`: the compiler, with what it needs to find `mpi.h`, `mpif.h`, modules and libraries.
//!
//! One program; the name it is called by says which language. Everything is found relative to the
//! program's own file, so an installation can be moved as a whole. Nothing is changed
//! among the user's arguments, and the compiler replaces this process (exec), so exit status,
//! signals and output are the compiler's. Arguments are checked of Fortran alone, where some flags would change
//! what a call of the library means (`kinds`).
//!
//! The questions of Open MPI's wrapper (`--showme`, `--showme:compile` …) and of MPICH's (`-show`,
//! `-compile-info`, `-link-info`, `-cc=`) are both answered, because build systems ask either.
//!
//! Map: `language` (which compiler) · `request` (whose each argument is) · `answer` (the words added) · `kinds` (flags of Fortran
//! compilers) · `modules` (Fortran modules for a compiler) · `probe` (questions to it).

mod answer;
mod kinds;
mod language;
mod modules;
mod probe;
mod request;

use answer::{Prefix, Words};
use language::{Language, compiler, in_path};
use modules::{Modules, Room};
use request::{Question, Request};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The message of the wrappers of Fortran, whatever they are asked, where there is nothing to compile with.
const NO_FORTRAN: &str = "\
There is no Fortran interface in this version of oxmpi: no mpif.h, no module mpi
or mpi_f08. A program in C or C++ is compiled by mpicc or mpicxx. For CMake ask
for the languages that are there: find_package(MPI REQUIRED COMPONENTS C CXX);
for configure scripts leave Fortran out (--disable-fortran, --without-fortran,
MPIF90=no, or what the script calls it). A Fortran program needs another MPI.";

/// An exit status and a message.
type Failed = (u8, String);

fn usage(text: String) -> Failed {
    (1, text)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or(OsStr::new("mpicc")).to_string_lossy().into_owned();
    match run(&name, arguments.collect()) {
        Ok(code) => code,
        Err((status, text)) => {
            oxmpi_system::reportln!("{name}: {text}");
            ExitCode::from(status)
        }
    }
}

fn run(name: &str, arguments: Vec<OsString>) -> Result<ExitCode, Failed> {
    let language = Language::of_program_name(name);
    let executable = std::env::current_exe().map_err(|e| usage(format!("cannot find my own file: {e}")))?;
    let prefix = Prefix::of(&executable)
        .ok_or_else(|| usage(format!("{} is not in a bin folder", executable.display())))?;
    if language == Language::Fortran {
        if !prefix.include.join("mpif.h").exists() {
            return Err(usage(NO_FORTRAN.into()));
        }
        if arguments.first().is_some_and(|first| first == "--prepare") {
            return prepare(&prefix, &arguments[1..]);
        }
    }
    let request = Request::parse(language, arguments).map_err(usage)?;
    let compiler = chosen(language, request.compiler.as_deref())?;
    let mut words = Words { language, prefix: &prefix, compiler: &compiler, modules: None };
    if language == Language::Fortran {
        words.modules = modules(&prefix, &compiler, &request)?;
    }
    let full = words.command(&request);
    if let Some(question) = request.question {
        oxmpi_system::answerln!("{}", words.answer(question, name, &full));
        return Ok(ExitCode::SUCCESS);
    }
    if !prefix.include.join("mpi.h").exists() {
        let reason = "the installation is incomplete, or this program was copied out of it";
        return Err(usage(format!("there is no mpi.h in {}: {reason}", prefix.include.display())));
    }
    let error = Command::new(&full[0]).args(&full[1..]).exec();
    let status = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    Err((status, format!("cannot run the compiler {}: {error}", full[0].display())))
}

fn chosen(language: Language, asked: Option<&str>) -> Result<Vec<String>, Failed> {
    compiler(language, asked, |name| std::env::var(name).ok(), |name| in_path(name).is_some()).map_err(usage)
}

/// The modules of an installation for a compiler. A compiler that is not there is reported as when it cannot be started.
fn set<'a>(
    prefix: &'a Prefix,
    compiler: &'a [String],
    flags: &[OsString],
) -> Result<Option<Modules<'a>>, Failed> {
    let own = kinds::own_set(flags).map_err(usage)?;
    let file = in_path(&compiler[0]).filter(|file| file.exists());
    let file = file
        .ok_or_else(|| (127, format!("cannot run the compiler {}: there is no such program", compiler[0])))?;
    Modules::of(&prefix.root, compiler, &file, own).map_err(usage)
}

/// The folder with modules, where this command or the answer to this question has a use for it: build systems compile with the flags that
/// they are told.
fn modules(prefix: &Prefix, compiler: &[String], request: &Request) -> Result<Option<PathBuf>, Failed> {
    let wanted = match request.question {
        None => request.compiles_fortran(),
        Some(Question::Show) => request.rest.is_empty() || request.compiles_fortran(),
        Some(question) => matches!(question, Question::Compile | Question::IncDirs | Question::CompileInfo),
    };
    if !wanted {
        // Refused flags are told wherever they stand.
        return kinds::own_set(&request.rest).map(|_| None).map_err(usage);
    }
    let set = set(prefix, compiler, &request.rest)?;
    set.map(|set| set.folder().map_err(usage)).transpose()
}

/// `mpifort --prepare [COMPILER] [flags]`: the modules are compiled into the installation.
fn prepare(prefix: &Prefix, arguments: &[OsString]) -> Result<ExitCode, Failed> {
    let asked = arguments.first().and_then(|first| first.to_str()).filter(|first| !first.starts_with('-'));
    let flags = &arguments[usize::from(asked.is_some())..];
    let compiler = chosen(Language::Fortran, asked)?;
    let Some(set) = set(prefix, &compiler, flags)? else {
        return Err(usage("there are no Fortran modules in this installation, only mpif.h".into()));
    };
    let folder = set.make(Room::Installation).map_err(usage)?;
    oxmpi_system::answerln!("{}", folder.display());
    Ok(ExitCode::SUCCESS)
}
