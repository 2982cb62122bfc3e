//! `mpicc` and `mpicxx`: the compiler, with what it needs to find `mpi.h` and `libmpi_abi`.
//!
//! One program; the name it is called by says which language. Everything is found relative to the
//! program's own file, so an installation can be moved as a whole. Nothing is checked or changed
//! among the user's arguments, and the compiler replaces this process (exec), so exit status,
//! signals and output are the compiler's.
//!
//! The questions of Open MPI's wrapper (`--showme`, `--showme:compile` …) and of MPICH's (`-show`,
//! `-compile-info`, `-link-info`, `-cc=`) are both answered, because build systems ask either.
//!
//! **`CC=mpicc`.** Build systems export exactly that, and a wrapper that believed it would start
//! itself for ever. A compiler variable that names an MPI wrapper is therefore ignored.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
}

impl Language {
    fn of_program_name(name: &str) -> Language {
        match name {
            "mpicxx" | "mpic++" | "mpiCC" | "mpicpc" => Language::Cxx,
            _ => Language::C,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cxx => "C++",
        }
    }

    /// Variables that may name the compiler, strongest first.
    fn variables(self) -> [&'static str; 4] {
        match self {
            Language::C => ["OXMPI_CC", "OMPI_CC", "MPICH_CC", "CC"],
            Language::Cxx => ["OXMPI_CXX", "OMPI_CXX", "MPICH_CXX", "CXX"],
        }
    }

    /// Tried in this order where no variable says otherwise.
    fn candidates(self) -> [&'static str; 3] {
        match self {
            Language::C => ["cc", "gcc", "clang"],
            Language::Cxx => ["c++", "g++", "clang++"],
        }
    }
}

/// The request to us instead of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    /// The whole command.
    Show,
    Command,
    Compile,
    Link,
    IncDirs,
    LibDirs,
    Libs,
    Version,
    Help,
    /// MPICH's: the whole compile or link command without any user arguments.
    CompileInfo,
    LinkInfo,
}

/// The library's name when linking.
const LIBRARY: &str = "mpi_abi";

const HELP: &str = "\
usage: mpicc|mpicxx [question] [compiler arguments]

Runs the compiler with what an MPI program needs. Questions, answered instead of compiling:
  --showme, -show     the command that would run      --showme:command  the compiler alone
  --showme:compile    flags for compiling             --showme:link     flags for linking
  --showme:incdirs    header folders                  --showme:libdirs  library folders
  --showme:libs       libraries                       --showme:version  this library's version
  -compile-info, -link-info                           MPICH's forms of the same
The compiler: -cc=NAME or -cxx=NAME, else OXMPI_CC, OMPI_CC, MPICH_CC, CC (for mpicxx the same with
CXX), else cc.";

/// The folders of an installation.
#[derive(Clone, Debug)]
struct Prefix {
    include: PathBuf,
    lib: PathBuf,
}

impl Prefix {
    fn of(executable: &Path) -> Option<Prefix> {
        let root = executable.parent()?.parent()?;
        Some(Prefix { include: root.join("include"), lib: root.join("lib") })
    }

    fn compile_flags(&self) -> Vec<OsString> {
        vec![glue("-I", &self.include)]
    }

    /// A run path rather than an rpath, so that LD_LIBRARY_PATH can still point elsewhere.
    fn link_flags(&self) -> Vec<OsString> {
        let run_path = glue("-Wl,-rpath,", &self.lib);
        vec![glue("-L", &self.lib), run_path, "-Wl,--enable-new-dtags".into(), format!("-l{LIBRARY}").into()]
    }
}

fn glue(flag: &str, path: &Path) -> OsString {
    let mut text = OsString::from(flag);
    text.push(path);
    text
}

/// Arguments sorted into what is for us and what is for the compiler.
#[derive(Debug, PartialEq)]
struct Request {
    question: Option<Question>,
    /// From `-cc=` or `-cxx=`.
    compiler: Option<String>,
    rest: Vec<OsString>,
}

impl Request {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
        let mut request = Request { question: None, compiler: None, rest: Vec::new() };
        for argument in arguments {
            match argument.to_str().map(classify) {
                Some(Argument::Question(question)) => request.question = Some(question),
                Some(Argument::Compiler(name)) => request.compiler = Some(name.to_owned()),
                Some(Argument::UnknownQuestion) => {
                    return Err(format!(
                        "{} is not a question; --showme:help lists them",
                        argument.display()
                    ));
                }
                Some(Argument::Other) | None => request.rest.push(argument),
            }
        }
        Ok(request)
    }

    /// Is this a command that links? Flags for linking would only make the compiler warn otherwise,
    /// or make `mpicc -v` fail for want of a main function.
    fn links(&self) -> bool {
        let mut inputs = false;
        let mut skip = false;
        for argument in &self.rest {
            let bytes = argument.as_bytes();
            if std::mem::take(&mut skip) {
                continue;
            }
            match bytes {
                b"-c" | b"-E" | b"-S" | b"-M" | b"-MM" | b"-fsyntax-only" => return false,
                // Their value is the next argument and no input.
                b"-o" | b"-I" | b"-L" | b"-D" | b"-U" | b"-x" | b"-include" | b"-imacros" | b"-isystem"
                | b"-iquote" | b"-idirafter" | b"-MF" | b"-MT" | b"-MQ" | b"-T" | b"-u" | b"-z"
                | b"-Xlinker" | b"-Xpreprocessor" | b"-Xassembler" | b"--param" | b"-aux-info" | b"-B"
                | b"-arch" | b"-target" | b"-framework" => skip = true,
                b"-" => inputs = true,
                // A library named by the user is something to link.
                [b'-', b'l', ..] => inputs = true,
                [b'-', ..] => {}
                _ => inputs = true,
            }
        }
        inputs
    }
}

enum Argument<'a> {
    Question(Question),
    UnknownQuestion,
    Compiler(&'a str),
    Other,
}

fn classify(text: &str) -> Argument<'_> {
    if let Some(name) = text.strip_prefix("-cc=").or_else(|| text.strip_prefix("-cxx=")) {
        return Argument::Compiler(name);
    }
    match text {
        "-compile-info" | "-compile_info" => return Argument::Question(Question::CompileInfo),
        "-link-info" | "-link_info" => return Argument::Question(Question::LinkInfo),
        _ => {}
    }
    let Some(word) = text.strip_prefix("--").or_else(|| text.strip_prefix('-')) else {
        return Argument::Other;
    };
    Argument::Question(match word {
        "show" | "showme" => Question::Show,
        "showme:command" => Question::Command,
        "showme:compile" => Question::Compile,
        "showme:link" => Question::Link,
        "showme:incdirs" => Question::IncDirs,
        "showme:libdirs" => Question::LibDirs,
        "showme:libs" => Question::Libs,
        "showme:version" => Question::Version,
        "showme:help" => Question::Help,
        _ if word.starts_with("showme:") => return Argument::UnknownQuestion,
        _ => return Argument::Other,
    })
}

/// The compiler and the arguments it always gets (`CC="ccache gcc"`).
fn compiler(
    language: Language,
    asked: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
    exists: impl Fn(&str) -> bool,
) -> Result<Vec<String>, String> {
    if let Some(text) = asked {
        return words("-cc= or -cxx=", text);
    }
    for name in language.variables() {
        let Some(text) = variable(name).filter(|t| !t.trim().is_empty()) else { continue };
        let command = words(name, &text)?;
        if !command.iter().any(|word| is_wrapper(word)) {
            return Ok(command);
        }
    }
    let candidates = language.candidates();
    let found = candidates.into_iter().find(|name| exists(name));
    found.map(|name| vec![name.to_owned()]).ok_or_else(|| {
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
        "mpicc" | "mpicxx" | "mpic++" | "mpiCC" | "mpicpc" | "mpigcc" | "mpigxx" | "mpiicc" | "mpiicpc"
    )
}

fn in_path(name: &str) -> bool {
    use rustix::fs::{Access, access};
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| access(folder.join(name), Access::EXEC_OK).is_ok())
}

/// The answer to a question, one line.
fn answer(
    question: Question,
    language: Language,
    name: &str,
    prefix: &Prefix,
    full: &[OsString],
    compiler: &[String],
) -> String {
    let compiler: Vec<OsString> = compiler.iter().map(OsString::from).collect();
    match question {
        Question::Show => line(full),
        Question::Command => line(&compiler),
        Question::Compile => line(&prefix.compile_flags()),
        Question::Link => line(&prefix.link_flags()),
        Question::IncDirs => line(&[prefix.include.clone().into_os_string()]),
        Question::LibDirs => line(&[prefix.lib.clone().into_os_string()]),
        Question::Libs => LIBRARY.to_owned(),
        Question::CompileInfo => line(&[compiler, prefix.compile_flags()].concat()),
        Question::LinkInfo => line(&[compiler, prefix.link_flags()].concat()),
        Question::Version => {
            format!("{name}: oxmpi {} (Language: {})", env!("CARGO_PKG_VERSION"), language.name())
        }
        Question::Help => HELP.to_owned(),
    }
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

/// The whole command: compiler, header folder, what the user wrote, and the library when linking.
fn command(compiler: &[String], prefix: &Prefix, request: &Request) -> Vec<OsString> {
    let mut full: Vec<OsString> = compiler.iter().map(OsString::from).collect();
    full.extend(prefix.compile_flags());
    full.extend(request.rest.iter().cloned());
    // A bare question ("what would you add?") gets everything.
    if request.links() || (request.question.is_some() && request.rest.is_empty()) {
        full.extend(prefix.link_flags());
    }
    full
}

fn run() -> Result<ExitCode, (u8, String)> {
    let usage = |text: String| (1, text);
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let name = Path::new(&called).file_name().unwrap_or(OsStr::new("mpicc")).to_string_lossy().into_owned();
    let language = Language::of_program_name(&name);
    let executable = std::env::current_exe().map_err(|e| usage(format!("cannot find my own file: {e}")))?;
    let prefix = Prefix::of(&executable)
        .ok_or_else(|| usage(format!("{} is not in a bin folder", executable.display())))?;
    let request = Request::parse(arguments).map_err(usage)?;
    let variable = |name: &str| std::env::var(name).ok();
    let compiler = compiler(language, request.compiler.as_deref(), variable, in_path).map_err(usage)?;
    let full = command(&compiler, &prefix, &request);
    if let Some(question) = request.question {
        println!("{}", answer(question, language, &name, &prefix, &full, &compiler));
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

/// The message of the wrappers of Fortran, whatever they are asked: there is nothing to compile with.
const NO_FORTRAN: &str = "\
There is no Fortran interface in this version of oxmpi: no mpif.h, no module mpi
or mpi_f08. A program in C or C++ is compiled by mpicc or mpicxx. For CMake ask
for the languages that are there: find_package(MPI REQUIRED COMPONENTS C CXX);
for configure scripts leave Fortran out (--disable-fortran, --without-fortran,
MPIF90=no, or what the script calls it). A Fortran program needs another MPI.";

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if ["mpifort", "mpif90", "mpif77"].contains(&name.as_str()) {
        eprintln!("{name}: {NO_FORTRAN}");
        return ExitCode::FAILURE;
    }
    match run() {
        Ok(code) => code,
        Err((status, text)) => {
            eprintln!("mpicc: {text}");
            ExitCode::from(status)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Request {
        Request::parse(arguments.iter().map(OsString::from)).unwrap()
    }

    fn prefix() -> Prefix {
        Prefix::of(Path::new("/opt/ox mpi/bin/mpicc")).unwrap()
    }

    fn choose(language: Language, variables: &[(&str, &str)]) -> Vec<String> {
        let get = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
        compiler(language, None, get, |name| name == "gcc" || name == "g++").unwrap()
    }

    #[test]
    fn linking_is_seen_as_the_compiler_sees_it() {
        for links in
            [&["a.c"][..], &["a.o", "-o", "a"], &["-", "-x", "c"], &["-shared", "-lfoo"], &["-o", "a", "a.o"]]
        {
            assert!(request(links).links(), "{links:?}");
        }
        for not in [
            &["-c", "a.c"][..],
            &["a.c", "-E"],
            &["a.c", "-S", "-o", "a.s"],
            &["-MM", "a.c"],
            &["-v"],
            &["--version"],
            &["-I", "dir"],
            &["-o", "a"],
            &[],
        ] {
            assert!(!request(not).links(), "{not:?}");
        }
    }

    #[test]
    fn the_users_arguments_stay_as_they_are() {
        let full = command(&["gcc".into()], &prefix(), &request(&["-O2", "a.c", "-DX=\"a b\"", "-lm"]));
        let texts: Vec<&str> = full.iter().map(|w| w.to_str().unwrap()).collect();
        assert_eq!(
            texts,
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
        let full = command(&["gcc".into()], &prefix(), &request(&["-c", "a.c"]));
        assert_eq!(full.len(), 4);
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
    fn questions_of_both_families() {
        for (text, question) in [
            ("-show", Question::Show),
            ("--showme", Question::Show),
            ("-showme:compile", Question::Compile),
            ("--showme:incdirs", Question::IncDirs),
            ("-link_info", Question::LinkInfo),
        ] {
            assert_eq!(request(&[text, "-c", "x.c"]).question, Some(question), "{text}");
            assert_eq!(request(&[text, "-c", "x.c"]).rest.len(), 2);
        }
        assert!(Request::parse([OsString::from("--showme:nonsense")]).is_err());
        assert_eq!(request(&["-cc=icx", "a.c"]).compiler.as_deref(), Some("icx"));
        assert_eq!(request(&["-showcase"]).question, None);
    }

    #[test]
    fn answers_can_be_pasted_into_a_shell() {
        let request = request(&["-show", "a b.c"]);
        let full = command(&["gcc".into()], &prefix(), &request);
        let shown = answer(Question::Show, Language::C, "mpicc", &prefix(), &full, &["gcc".into()]);
        let read_back: Vec<OsString> = shlex::split(&shown).unwrap().into_iter().map(Into::into).collect();
        assert_eq!(read_back, full);
        let ask = |q| answer(q, Language::Cxx, "mpicxx", &prefix(), &[], &["g++".into()]);
        assert_eq!(ask(Question::Libs), "mpi_abi");
        assert_eq!(ask(Question::Command), "g++");
        assert!(ask(Question::Version).ends_with("(Language: C++)"));
    }
}
