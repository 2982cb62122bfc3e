//! The words that a wrapper adds to the user's, and its answers to questions about them.

use crate::language::Language;
use crate::request::{Question, Request};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const HELP: &str = "\
usage: mpicc|mpicxx|mpifort [question] [compiler arguments]

Runs the compiler with what an MPI program needs. Questions, answered instead of compiling:
  --showme, -show     the command that would run      --showme:command  the compiler alone
  --showme:compile    flags for compiling             --showme:link     flags for linking
  --showme:incdirs    header folders                  --showme:libdirs  library folders
  --showme:libs       libraries                       --showme:version  this library's version
  -compile-info, -link-info                           MPICH's forms of the same
The compiler: -cc=NAME or -cxx=NAME, else OXMPI_CC, OMPI_CC, MPICH_CC, CC (for mpicxx the same with
CXX), else cc. Of mpifort: -fc=NAME, else OXMPI_FC, OMPI_FC, MPICH_FC, FC, else gfortran, flang, ifx
or nvfortran.
  mpifort --prepare [COMPILER] [flags]    compiles the Fortran modules into the installation, once for
all users; otherwise each user's first program has them compiled into a cache, OXMPI_FORTRAN_CACHE.
OXMPI_FORTRAN_DESCRIPTORS=no passes buffers of module mpi_f08 by address, whatever the compiler can do.";

/// The folders of an installation.
#[derive(Clone, Debug)]
pub struct Prefix {
    pub root: PathBuf,
    pub include: PathBuf,
    pub lib: PathBuf,
}

impl Prefix {
    pub fn of(executable: &Path) -> Option<Prefix> {
        let root = executable.parent()?.parent()?;
        Some(Prefix { include: root.join("include"), lib: root.join("lib"), root: root.to_owned() })
    }
}

/// The words of one language in an installation.
pub struct Words<'a> {
    pub language: Language,
    pub prefix: &'a Prefix,
    pub compiler: &'a [String],
    /// The folder of the Fortran modules.
    pub modules: Option<PathBuf>,
}

impl Words<'_> {
    fn folders(&self) -> Vec<PathBuf> {
        std::iter::once(self.prefix.include.clone()).chain(self.modules.clone()).collect()
    }

    fn compile_flags(&self) -> Vec<OsString> {
        self.folders().iter().map(|folder| glue("-I", folder)).collect()
    }

    /// A run path rather than an rpath, so that LD_LIBRARY_PATH can still point elsewhere.
    fn link_flags(&self) -> Vec<OsString> {
        let lib = &self.prefix.lib;
        let mut flags =
            vec![glue("-L", lib), glue("-Wl,-rpath,", lib), OsString::from("-Wl,--enable-new-dtags")];
        flags.extend(self.language.libraries().iter().map(|name| OsString::from(format!("-l{name}"))));
        flags
    }

    /// The whole command: compiler, header folder, what the user wrote, and the library when linking.
    pub fn command(&self, request: &Request) -> Vec<OsString> {
        let mut full: Vec<OsString> = self.compiler.iter().map(OsString::from).collect();
        full.extend(self.compile_flags());
        full.extend(request.rest.iter().cloned());
        // A bare question ("what would you add?") gets everything.
        if request.links() || (request.question.is_some() && request.rest.is_empty()) {
            full.extend(self.link_flags());
        }
        full
    }

    /// The answer to a question, one line.
    pub fn answer(&self, question: Question, name: &str, full: &[OsString]) -> String {
        let compiler: Vec<OsString> = self.compiler.iter().map(OsString::from).collect();
        let paths = |folders: Vec<PathBuf>| {
            line(&folders.into_iter().map(PathBuf::into_os_string).collect::<Vec<OsString>>())
        };
        match question {
            Question::Show => line(full),
            Question::Command => line(&compiler),
            Question::Compile => line(&self.compile_flags()),
            Question::Link => line(&self.link_flags()),
            Question::IncDirs => paths(self.folders()),
            Question::LibDirs => paths(vec![self.prefix.lib.clone()]),
            Question::Libs => self.language.libraries().join(" "),
            Question::CompileInfo => line(&[compiler, self.compile_flags()].concat()),
            Question::LinkInfo => line(&[compiler, self.link_flags()].concat()),
            Question::Version => {
                format!("{name}: oxmpi {} (Language: {})", env!("CARGO_PKG_VERSION"), self.language.name())
            }
            Question::Help => HELP.to_owned(),
        }
    }
}

fn glue(flag: &str, path: &Path) -> OsString {
    let mut text = OsString::from(flag);
    text.push(path);
    text
}

/// Joined so that a shell reads it back.
fn line(words: &[OsString]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| {
            let word = word.to_string_lossy();
            // Nothing that came through argv has a null byte, the one thing that cannot be quoted.
            shlex::try_quote(&word).map(|q| q.into_owned()).unwrap_or_else(|_| word.into_owned())
        })
        .collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<R>(language: Language, compiler: &str, run: impl FnOnce(Words) -> R) -> R {
        let prefix = Prefix::of(Path::new("/opt/ox mpi/bin/mpicc")).unwrap();
        let modules = (language == Language::Fortran).then(|| PathBuf::from("/c/gfortran-1"));
        run(Words { language, prefix: &prefix, compiler: &[compiler.to_owned()], modules })
    }

    fn command(language: Language, compiler: &str, arguments: &[&str]) -> Vec<OsString> {
        let request = Request::parse(language, arguments.iter().map(OsString::from)).unwrap();
        with(language, compiler, |words| words.command(&request))
    }

    #[test]
    fn the_users_arguments_stay_as_they_are() {
        let full = command(Language::C, "gcc", &["-O2", "a.c", "-DX=\"a b\"", "-lm"]);
        assert_eq!(
            full,
            [
                "gcc",
                "-I/opt/ox mpi/include",
                "-O2",
                "a.c",
                "-DX=\"a b\"",
                "-lm",
                "-L/opt/ox mpi/lib",
                "-Wl,-rpath,/opt/ox mpi/lib",
                "-Wl,--enable-new-dtags",
                "-lmpi_abi"
            ]
        );
        assert_eq!(command(Language::C, "gcc", &["-c", "a.c"]).len(), 4);
    }

    #[test]
    fn fortran_has_modules_and_two_libraries() {
        let full = command(Language::Fortran, "gfortran", &["a.f90"]);
        assert_eq!(full[..4], ["gfortran", "-I/opt/ox mpi/include", "-I/c/gfortran-1", "a.f90"]);
        assert_eq!(full[full.len() - 2..], ["-lmpifort_abi", "-lmpi_abi"]);
        assert_eq!(command(Language::Fortran, "gfortran", &["-c", "a.f90"]).len(), 5);
    }

    #[test]
    fn answers_can_be_pasted_into_a_shell() {
        let full = command(Language::C, "gcc", &["-show", "a b.c"]);
        let shown = with(Language::C, "gcc", |words| words.answer(Question::Show, "mpicc", &full));
        let read_back: Vec<OsString> = shlex::split(&shown).unwrap().into_iter().map(Into::into).collect();
        assert_eq!(read_back, full);
        let ask = |question| with(Language::Cxx, "g++", |words| words.answer(question, "mpicxx", &[]));
        assert_eq!(ask(Question::Libs), "mpi_abi");
        assert_eq!(ask(Question::Command), "g++");
        assert!(ask(Question::Version).ends_with("(Language: C++)"));
    }
}
