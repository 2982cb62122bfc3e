//! The command line of a wrapper, sorted into what is for it and what is for the compiler.

use crate::language::Language;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The request to us instead of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
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

/// Arguments sorted into what is for us and what is for the compiler.
#[derive(Debug, PartialEq)]
pub struct Request {
    pub question: Option<Question>,
    /// From `-cc=`, `-cxx=`, `-fc=` and their like.
    pub compiler: Option<String>,
    pub rest: Vec<OsString>,
}

impl Request {
    pub fn parse(
        language: Language,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Request, String> {
        let mut request = Request { question: None, compiler: None, rest: Vec::new() };
        for argument in arguments {
            match argument.to_str().map(|text| classify(language, text)) {
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
    pub fn links(&self) -> bool {
        let stops = |a: &OsString| {
            matches!(
                a.as_bytes(),
                b"-c" | b"-E" | b"-S" | b"-M" | b"-MM" | b"-fsyntax-only" | b"-syntax-only"
            )
        };
        // A library named by the user is something to link.
        let library = |a: &OsString| a.as_bytes().starts_with(b"-l");
        let own = self.without_values();
        !own.iter().any(|a| stops(a)) && own.iter().any(|a| library(a) || is_input(a))
    }

    /// Is a source of Fortran compiled? A list in a file (`@FILE`) may have one; nothing that is only preprocessed reads a module.
    pub fn compiles_fortran(&self) -> bool {
        let own = self.without_values();
        let is_source = |a: &OsString| {
            let extension = Path::new(a).extension().map(|e| e.to_string_lossy().to_lowercase());
            let known = ["f", "for", "ftn", "fpp", "f77", "f90", "f95", "f03", "f08", "f18", "f23", "cuf"];
            let by_name = extension.is_some_and(|e| known.contains(&e.as_str()));
            is_input(a) && (by_name || a == "-" || a.as_bytes().starts_with(b"@"))
        };
        // `-x f95` makes a source of whatever follows.
        let told = self.rest.iter().any(|a| {
            let text = a.to_string_lossy();
            text == "f77" || text == "f95" || text.starts_with("-xf")
        });
        !own.iter().any(|a| *a == "-E") && own.iter().any(|a| is_source(a) || (told && is_input(a)))
    }

    /// The arguments that are no value of the one before.
    fn without_values(&self) -> Vec<&OsString> {
        let mut own = Vec::new();
        let mut arguments = self.rest.iter();
        while let Some(argument) = arguments.next() {
            own.push(argument);
            if has_value(argument.as_bytes()) {
                arguments.next();
            }
        }
        own
    }
}

fn is_input(argument: &OsString) -> bool {
    argument == "-" || !argument.as_bytes().starts_with(b"-")
}

/// Is the next argument the value of this one, and no input?
fn has_value(argument: &[u8]) -> bool {
    matches!(
        argument,
        b"-o" | b"-I" | b"-L" | b"-D" | b"-U" | b"-x" | b"-include" | b"-imacros" | b"-isystem" | b"-iquote"
            | b"-idirafter" | b"-MF" | b"-MT" | b"-MQ" | b"-T" | b"-u" | b"-z" | b"-Xlinker"
            | b"-Xpreprocessor" | b"-Xassembler" | b"--param" | b"-aux-info" | b"-B" | b"-arch" | b"-target"
            | b"-framework"
            // Of compilers of Fortran.
            | b"-J" | b"-module" | b"-module-dir" | b"-assume" | b"-names" | b"-integer-size" | b"-real-size"
            | b"-double-size" | b"-fpscomp" | b"-check" | b"-warn" | b"-debug" | b"-align"
    )
}

enum Argument<'a> {
    Question(Question),
    UnknownQuestion,
    Compiler(&'a str),
    Other,
}

fn classify(language: Language, text: &str) -> Argument<'_> {
    let names: &[&str] = match language {
        Language::C | Language::Cxx => &["-cc=", "-cxx="],
        Language::Fortran => &["-fc=", "-f90=", "-f77="],
    };
    if let Some(name) = names.iter().find_map(|flag| text.strip_prefix(flag)) {
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
        // There is no static library: a static program is linked by the same words, and fails by the linker's.
        "showme:libdirs" | "showme:libdirs_static" => Question::LibDirs,
        "showme:libs" | "showme:libs_static" => Question::Libs,
        "showme:version" => Question::Version,
        "showme:help" => Question::Help,
        _ if word.starts_with("showme:") => return Argument::UnknownQuestion,
        _ => return Argument::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> Request {
        Request::parse(Language::C, arguments.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn linking_is_seen_as_the_compiler_sees_it() {
        for links in [
            &["a.c"][..],
            &["a.o", "-o", "a"],
            &["-", "-x", "c"],
            &["-shared", "-lfoo"],
            &["-o", "a", "a.o"],
            &["-J", "m", "a.f90"],
        ] {
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
            &["-J", "a"],
            &["-real-size", "64"],
            &[],
        ] {
            assert!(!request(not).links(), "{not:?}");
        }
    }

    #[test]
    fn a_source_of_fortran_is_seen() {
        for compiles in [
            &["-c", "a.f90"][..],
            &["b.o", "a.F"],
            &["a.F08", "-o", "x.o"],
            &["-x", "f95", "-"],
            &["-x", "f95", "a.txt"],
            &["@list"],
        ] {
            assert!(request(compiles).compiles_fortran(), "{compiles:?}");
        }
        for not in [&["a.o"][..], &["a.c"], &["-E", "a.F90"], &["-o", "a.f90"], &["-v"], &["-x", "f95"], &[]]
        {
            assert!(!request(not).compiles_fortran(), "{not:?}");
        }
    }

    #[test]
    fn questions_of_both_families() {
        for (text, question) in [
            ("-show", Question::Show),
            ("--showme", Question::Show),
            ("-showme:compile", Question::Compile),
            ("--showme:incdirs", Question::IncDirs),
            ("--showme:libs_static", Question::Libs),
            ("-link_info", Question::LinkInfo),
        ] {
            assert_eq!(request(&[text, "-c", "x.c"]).question, Some(question), "{text}");
            assert_eq!(request(&[text, "-c", "x.c"]).rest.len(), 2);
        }
        assert!(Request::parse(Language::C, [OsString::from("--showme:nonsense")]).is_err());
        assert_eq!(request(&["-cc=icx", "a.c"]).compiler.as_deref(), Some("icx"));
        assert_eq!(request(&["-showcase"]).question, None);
        let fortran = Request::parse(Language::Fortran, ["-fc=ifx", "-cc=x"].map(OsString::from)).unwrap();
        assert_eq!((fortran.compiler.as_deref(), fortran.rest.len()), (Some("ifx"), 1));
    }
}
