//! Fortran programs with parts in C or in shared libraries, and what linkers say of them.

use oxmpi_tests::{Job, can_compile_fortran, in_path, leave_out, mpi, root};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const FOLDER: &str = "tests/programs/fortran";

/// The path of something that is made.
fn made(name: &str) -> PathBuf {
    mpi().programs().join(name)
}

/// Compiles and links sources of the folder, and files of other places, by a wrapper; what it said.
fn compile(wrapper: &str, sources: &[&str], to: &Path, options: &[&str]) -> String {
    let sources = sources.iter().map(|source| root().join(FOLDER).join(source));
    // Compilers leave files of modules where they are started, and other tests compile at the same time.
    let folder = to.with_extension("modules");
    std::fs::create_dir_all(&folder).expect("a folder for modules");
    let output = Command::new(mpi().bin(wrapper))
        .args(["-g", "-O1", "-o"])
        .arg(to)
        .args(sources)
        .args(options)
        .env("OMPI_FC", "gfortran")
        .env("OXMPI_FORTRAN_CACHE", mpi().programs().join("fortran-modules"))
        .current_dir(&folder)
        .output()
        .expect("the wrapper runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{wrapper} {}: {}\n{said}", to.display(), output.status);
    said
}

/// Attributes that each language sets and the other reads, and conversions of handles and statuses.
#[test]
fn c_and_fortran_in_one_program() {
    if !can_compile_fortran() {
        return;
    }
    let (part, program) = (made("languages_c.o"), made("languages"));
    compile("mpicc", &["languages.c"], &part, &["-c", "-Wall", "-Wextra", "-Werror"]);
    compile("mpifort", &["languages.f90"], &program, &[&part.display().to_string()]);
    for ranks in [1, 2] {
        Job::new(ranks).arg(&program).limit(120).run().all_ok(ranks);
    }
}

/// The page names the functions by which a library says the language of attributes.
#[test]
fn the_page_of_fortran_names_what_says_the_language() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect(name);
    let (header, page) = (read("mpi/include/mpi-ext.h"), read("docs/fortran.md"));
    let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let declared: HashSet<&str> =
        words.filter(|word| word.starts_with("MPIX_") && word.ends_with("_language")).collect();
    assert_eq!(declared.len(), 7, "{declared:?}");
    let missing: Vec<&&str> = declared.iter().filter(|name| !page.contains(**name)).collect();
    assert!(missing.is_empty(), "docs/fortran.md says nothing of {missing:?}");
}

/// How a shared library is linked with the Fortran library.
#[derive(Clone, Copy, PartialEq)]
enum Linked {
    ByMpifort,
    /// By a compiler, with the file that the dynamic linker loads.
    ByName,
}

/// Links an object file into a shared library without a wrapper.
fn link_by_name(object: &Path, library: &Path, option: &str) {
    let lib = mpi().prefix.join("lib");
    let output = Command::new("gfortran")
        .args(["-shared", option, "-o"])
        .args([library, object])
        .args([lib.join("libmpifort_abi.so.1"), lib.join("libmpi_abi.so.1")])
        .arg(format!("-Wl,-rpath,{}", lib.display()))
        .output()
        .expect("gfortran runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{said}", library.display(), output.status);
}

/// Shared libraries that do not see each other know MPI_IN_PLACE and its kin, each its own or all the same. `linker`: gold gives each its own.
fn local_libraries(linker: &str, own: &str, linked: Linked) {
    let option = format!("-fuse-ld={linker}");
    let program = made("local");
    compile("mpicc", &["local.c"], &program, &["-Wall", "-Wextra", "-Werror", "-ldl"]);
    let mut job = Job::new(2).arg(&program).arg(own);
    let mut libraries = Vec::new();
    for name in ["one", "two", "module"] {
        let how = if linked == Linked::ByName { "by_name_" } else { "" };
        let library = made(&format!("liblocal_{linker}_{how}{name}.so"));
        let (check, address) = (format!("-DOWN_CHECK={name}_check"), format!("-DOWN_ADDRESS={name}_address"));
        let included = ["-fallow-argument-mismatch", "-w", "-cpp", &check, &address];
        let (source, options) = match name {
            "module" => ("local_module.f90", &[][..]),
            _ => ("local_included.f", &included[..]),
        };
        if linked == Linked::ByMpifort {
            compile("mpifort", &[source], &library, &[&["-shared", "-fPIC", &option], options].concat());
        } else {
            let object = library.with_extension("o");
            compile("mpifort", &[source], &object, &[&["-c", "-fPIC"], options].concat());
            link_by_name(&object, &library, &option);
        }
        job = job.arg(&library).arg(name);
        libraries.push((library, name));
    }
    job.limit(120).run().all_ok(2);
    in_python(own, &libraries);
}

/// The same libraries in a process of Python, which opens each with RTLD_LOCAL.
fn in_python(own: &str, libraries: &[(PathBuf, &str)]) {
    if !in_path("python3") {
        return leave_out("Fortran libraries in a process of Python", "python3 is missing");
    }
    let mut job = Job::new(2).arg("python3").arg(root().join(FOLDER).join("local.py")).arg(own);
    for (library, name) in libraries {
        job = job.arg(library).arg(name);
    }
    job.limit(120).run().all_ok(2);
}

#[test]
fn libraries_that_see_no_others_share_constants_or_not() {
    if !can_compile_fortran() {
        return;
    }
    for linked in [Linked::ByMpifort, Linked::ByName] {
        local_libraries("bfd", "any", linked);
    }
    if in_path("ld.gold") {
        for linked in [Linked::ByMpifort, Linked::ByName] {
            local_libraries("gold", "own", linked);
        }
    } else {
        leave_out("Fortran libraries with constants of their own", "there is no ld.gold");
    }
}

/// Linking says of each procedure that MPI 3.0 removed what took its place, and of no other; they work.
#[test]
fn removed_procedures_work_and_the_linker_warns() {
    if !can_compile_fortran() {
        return;
    }
    let program = made("removed");
    let said = compile("mpifort", &["removed.f"], &program, &["-fallow-argument-mismatch", "-w"]);
    let text = std::fs::read_to_string(root().join("fortran/src/hand/removed.rs")).expect("the procedures");
    let removed: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter_map(|word| word.strip_suffix('_').filter(|name| name.starts_with("mpi_")))
        .chain(["mpi_errhandler_create"])
        .collect();
    assert!(removed.len() >= 10, "{removed:?}");
    for name in &removed {
        let warning = format!("MPI 3.0 has removed {name}; mpi_");
        assert_eq!(said.matches(&warning).count(), 1, "{warning}: {said}");
    }
    assert_eq!(said.matches("warning: ").count(), removed.len(), "{said}");
    Job::new(2).arg(&program).run().all_ok(2);
}

/// The library is told of the compiler before MPI begins: LOGICAL's values, and sizes other than the usual ones, as the program has them.
#[test]
fn sizes_and_booleans_of_the_compiler() {
    if !can_compile_fortran() {
        return;
    }
    let program = made("abi_f90");
    compile("mpifort", &["abi.f90"], &program, &["-fdefault-real-8"]);
    for ranks in [1, 3] {
        Job::new(ranks).arg(&program).limit(120).run().all_ok(ranks);
    }
}

#[test]
fn extensions_by_module_mpi_ext_f08() {
    if !can_compile_fortran() {
        return;
    }
    let program = made("extensions_f08");
    compile("mpifort", &["extensions_f08.f90"], &program, &["-Wall"]);
    for ranks in [1, 2] {
        Job::new(ranks).arg(&program).limit(120).run().all_ok(ranks);
    }
}

/// Programs of `cases`, each compiled for the three interfaces.
const CASES: [&str; 6] = ["messages", "objects", "collectives", "types", "windows", "files"];

/// The interfaces, by what says them to the preprocessor; the last one has the forms for large counts.
const INTERFACES: [&str; 4] = ["BY_HEADER", "BY_MODULE", "BY_F08", "BY_F08 -DLARGE"];

/// Procedures whose two forms differ in kinds that are equal here, so that no call chooses the one for large counts.
const ONE_FORM: [&str; 4] = [
    "mpi_type_create_resized",
    "mpi_type_get_extent",
    "mpi_type_get_true_extent",
    "mpi_file_get_type_extent",
];

fn cases(program: &str) {
    if !can_compile_fortran() {
        return;
    }
    for interface in INTERFACES {
        let to = made(&format!("cases_{program}_{}", interface.replace(" -D", "_")));
        let defines = format!("-D{interface}");
        let options = ["-cpp", "-ffree-line-length-none", "-w", "-fallow-argument-mismatch"];
        let options: Vec<&str> = defines.split(' ').chain(options).collect();
        compile("mpifort", &[&format!("cases/{program}.F90")], &to, &options);
        if interface.ends_with("LARGE") {
            has_large_forms(program, &to);
        }
        for ranks in [1, 3] {
            Job::new(ranks).arg(&to).limit(120).run().all_ok(ranks);
        }
        is_seen_by_a_tool(&to);
    }
}

/// A tool in C that notes which functions a program calls.
fn tracer() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let tool = made("fortran_tracer.so");
        let output = Command::new("python3")
            .arg(root().join("tests/conformance/tracer.py"))
            .arg(root().join("mpi/abi/functions.tsv"))
            .arg(&tool)
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tracer.py: {}\n{said}", output.status);
        tool
    })
}

/// A tool in C between such a program and the library hears of each procedure that the program calls, by the name of its function in C.
fn is_seen_by_a_tool(compiled: &Path) {
    if !in_path("python3") {
        return leave_out("tools in C that see Fortran's calls", "python3 is missing");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let variable = |name: &str, value: &Path| format!("{name}={}", value.display());
    let notes = [variable("LD_PRELOAD", tracer()), variable("MPI_TRACE_OUT", &folder.path().join("calls"))];
    Job::new(3).arg("env").args(notes).arg(compiled).limit(120).run().all_ok(3);
    let noted = std::fs::read_dir(folder.path()).expect("the folder of notes").flatten();
    let noted: Vec<String> = noted.map(|note| std::fs::read_to_string(note.path()).expect("notes")).collect();
    let noted: HashSet<String> =
        noted.iter().flat_map(|text| text.lines()).map(|line| first(line, ' ').to_lowercase()).collect();
    let table = std::fs::read_to_string(root().join("mpi/abi/functions.tsv")).expect("the table");
    let functions: HashSet<String> = table.lines().map(|line| first(line, '\t').to_lowercase()).collect();
    let listed = Command::new("nm").arg("-u").arg(compiled).output().expect("nm comes with the compiler");
    let called: Vec<String> = String::from_utf8_lossy(&listed.stdout)
        .lines()
        .filter_map(|line| line.trim().strip_prefix("U ")?.strip_suffix('_').map(str::to_owned))
        .map(|name| {
            ["_f08ts", "_f08"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned()
        })
        .filter(|name| functions.contains(name))
        .collect();
    assert!(called.len() > 20, "{}: {} procedures", compiled.display(), called.len());
    let missing: Vec<&String> = called.iter().filter(|name| !noted.contains(*name)).collect();
    assert!(missing.is_empty(), "{}: a tool in C does not see {missing:?}", compiled.display());
}

fn first(line: &str, end: char) -> &str {
    line.split(end).next().unwrap_or(line)
}

/// Each procedure with a form for large counts that a program calls is called in that form by the one that was compiled for them.
fn has_large_forms(program: &str, compiled: &Path) {
    let listed = Command::new("nm").arg("-u").arg(compiled).output().expect("nm comes with the compiler");
    let undefined = String::from_utf8_lossy(&listed.stdout).to_lowercase();
    let read =
        |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let called: HashSet<String> =
        calls(&read(root().join(FOLDER).join(format!("cases/{program}.F90")))).into_iter().collect();
    let table = read(root().join("mpi/abi/fortran.tsv"));
    let large = table.lines().filter_map(|line| {
        let mut columns = line.split('\t');
        let name = columns.next()?.to_lowercase();
        (columns.next() == Some("c")).then_some(name)
    });
    let missing: Vec<String> = large
        .filter(|name| called.contains(name) && !ONE_FORM.contains(&name.as_str()))
        .filter(|name| !undefined.contains(&format!(" {name}_c_")))
        .collect();
    assert!(missing.is_empty(), "cases/{program}.F90 does not call the large forms of {missing:?}");
}

#[test]
fn procedures_of_messages() {
    cases("messages");
}

#[test]
fn procedures_of_objects() {
    cases("objects");
}

#[test]
fn procedures_of_collectives() {
    cases("collectives");
}

#[test]
fn procedures_of_datatypes() {
    cases("types");
}

#[test]
fn procedures_of_windows() {
    cases("windows");
}

#[test]
fn procedures_of_files() {
    cases("files");
}

/// Each procedure of the table is called by a program of `cases`, or stands in the list of those that are not, which has no others.
#[test]
fn every_procedure_of_fortran_has_a_case() {
    let folder = root().join(FOLDER).join("cases");
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let called: HashSet<String> = CASES
        .iter()
        .map(|name| read(&folder.join(format!("{name}.F90"))))
        .chain([read(&folder.join("tail.h"))])
        .flat_map(|text| calls(&text))
        .collect();
    let left = read(&folder.join("uncovered.txt"));
    let left: Vec<&str> = left
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let is_left = |name: &str| {
        left.iter()
            .any(|known| known.strip_suffix('*').map_or(*known == name, |start| name.starts_with(start)))
    };
    let table = read(&root().join("mpi/abi/fortran.tsv"));
    let names: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("MPI_"))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let missing: Vec<&&str> =
        names.iter().filter(|name| !called.contains(&name.to_lowercase()) && !is_left(name)).collect();
    assert!(missing.is_empty(), "no program of {FOLDER}/cases calls {missing:?}");
    let plain = left.iter().filter(|known| !known.ends_with('*'));
    let listed: Vec<&&str> = plain.filter(|known| called.contains(&known.to_lowercase())).collect();
    assert!(listed.is_empty(), "{FOLDER}/cases/uncovered.txt lists what is called: {listed:?}");
}

/// Names of procedures and functions that are called, in lower case.
fn calls(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with('!'));
    code.flat_map(|line| {
        // Texts in quotes are no calls.
        let plain: String = line.split('\'').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
        let mut found = Vec::new();
        for (at, _) in plain.match_indices("mpi_") {
            let name: String =
                plain[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if plain[at + name.len()..].starts_with('(') || plain[..at].ends_with("call ") {
                found.push(name);
            }
        }
        found
    })
    .collect()
}
