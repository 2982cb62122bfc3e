//! `mpifort` in an installation of its own: the wrapper that was built, a module `mpi` with a tiny library behind it, and a cache in the same
//! temporary folder. Compilers are those that the machine has.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// One constant shows that the module is this one, one procedure that the library is linked.
const MODULE: &str = "module mpi\n  implicit none\n  include 'mpif-parts.h'\n  interface\n    subroutine MPI_Init(ierror)\n      \
    integer, intent(out) :: ierror\n    end subroutine\n    subroutine MPI_Finalize(ierror)\n      integer, intent(out) :: ierror\n    \
    end subroutine\n  end interface\nend module\n";
const PARTS: &str = "      integer MPI_VERSION, MPI_SUBVERSION, MPI_MAX_LIBRARY_VERSION_STRING\n      parameter (MPI_VERSION=5, \
    MPI_SUBVERSION=0)\n      parameter (MPI_MAX_LIBRARY_VERSION_STRING=99)\n      \
    integer MPI_INTEGER_KIND\n      parameter (MPI_INTEGER_KIND=4)\n";
const PROGRAM: &str = "program p\n  use mpi\n  implicit none\n  integer :: e\n  call MPI_Init(e)\n  print *, 'version', MPI_VERSION, e\nend \
    program\n";
const LIBRARY: &str = "void mpi_init_(int *e) { *e = 0; }\nvoid mpi_finalize_(int *e) { *e = 0; }\n\
    void mpi_get_library_version_(char *s, int *n, int *e, unsigned long l) { (void)s; (void)l; *n = 0; *e = 0; }\n";

/// Cargo names its own folders there, which may have the real libraries under the same names.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

struct Installation(tempfile::TempDir);

impl Installation {
    fn new() -> Installation {
        let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("the build's folder can be written");
        let path = folder.path();
        for name in ["bin", "lib", "include", "share/oxmpi/fortran", "work"] {
            fs::create_dir_all(path.join(name)).expect("its own folder");
        }
        // By a process of its own: a child of another test would hold a file that we write, and it could not be started.
        let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_mpicc")).arg(path.join("bin/mpicc")).status();
        assert!(copy.expect("cp runs").success());
        for name in ["mpifort", "mpif90", "mpif77"] {
            symlink("mpicc", path.join("bin").join(name)).expect("its own folder");
        }
        let texts = [
            ("include/mpi.h", ""),
            ("include/mpif.h", PARTS),
            ("share/oxmpi/fortran/mpif-parts.h", PARTS),
            ("share/oxmpi/fortran/modules", "mpi.f90\n"),
            ("share/oxmpi/fortran/mpi.f90", MODULE),
            ("work/p.f90", PROGRAM),
        ];
        for (name, text) in texts {
            fs::write(path.join(name), text).expect("its own folder");
        }
        Installation(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Libraries of which the program needs one procedure.
    fn with_libraries(self) -> Installation {
        fs::write(self.path("lib/parts.c"), LIBRARY).expect("its own folder");
        for name in ["mpi_abi", "mpifort_abi"] {
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "parts.c", "-o", &format!("lib{name}.so")]);
            let ended = command.current_dir(self.path("lib")).output().expect("cc runs");
            assert!(ended.status.success(), "{}", text(&ended));
        }
        self
    }

    /// The wrapper with a compiler, in the folder `work`.
    fn wrapper(&self, name: &str, compiler: &str) -> Command {
        let mut command = Command::new(self.path("bin").join(name));
        for variable in ["OMPI_FC", "MPICH_FC", "FC", "XDG_CACHE_HOME", LIBRARIES] {
            command.env_remove(variable);
        }
        command.env("OXMPI_FC", compiler).env("OXMPI_FORTRAN_CACHE", self.path("cache"));
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// A program that finds the installation's libraries by its own search path.
    fn program(&self, path: &str) -> Command {
        let mut command = Command::new(self.path(path));
        command.env_remove(LIBRARIES);
        command
    }

    /// Finished sets in a folder.
    fn sets(&self, folder: &str) -> usize {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        entries.filter(|e| e.path().is_dir()).inspect(|e| assert!(e.path().join("mpi.mod").exists())).count()
    }

    /// A compiler that notes each module that it is asked to compile, and then is gfortran.
    fn counting(&self) -> String {
        let script = format!(
            "case \"$*\" in *mpi.f90*) echo >> {}; sleep 1;; esac\nexec gfortran \"$@\"\n",
            self.path("count").display()
        );
        let path = self.path("counting-fc");
        fs::write(&path, script).expect("its own folder");
        format!("sh {}", path.display())
    }
}

fn text(ended: &Output) -> String {
    [&ended.stdout[..], &ended.stderr].iter().map(|part| String::from_utf8_lossy(part)).collect()
}

#[track_caller]
fn good(command: &mut Command) -> String {
    let ended = command.output().expect("it can be started");
    assert!(ended.status.success(), "{command:?}: {}", text(&ended));
    text(&ended).trim().to_owned()
}

#[track_caller]
fn refused(command: &mut Command, parts: &[&str]) {
    let ended = command.output().expect("it can be started");
    assert_eq!(ended.status.code(), Some(1), "{command:?}: {}", text(&ended));
    for part in parts {
        assert!(text(&ended).contains(part), "{part:?} is not in\n{}", text(&ended));
    }
    assert!(ended.stdout.is_empty(), "build systems read it");
}

/// Is this program there? It says what is left out where it is not.
fn there(program: &str, package: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|ended| ended.status.success());
    if !found {
        eprintln!("left out: there is no {program} (Debian package {package})");
    }
    found
}

#[track_caller]
fn compiles_and_runs(installation: &Installation, compiler: &str) {
    for name in ["mpifort", "mpif90", "mpif77"] {
        good(installation.wrapper(name, compiler).args(["p.f90", "-o", "p"]));
        let said = good(&mut installation.program("work/p"));
        assert_eq!(said.split_whitespace().collect::<Vec<_>>(), ["version", "5", "0"]);
    }
    assert_eq!(installation.sets("cache"), 1);
    assert!(!installation.path("work/mpi.mod").exists(), "it belongs into the cache alone");
    // In two steps, and with mpif.h.
    good(installation.wrapper("mpifort", compiler).args(["-c", "p.f90"]));
    good(installation.wrapper("mpifort", compiler).args(["p.o", "-o", "p"]));
    fs::write(
        installation.path("work/q.f"),
        "      include 'mpif.h'\n      print *, MPI_VERSION\n      end\n",
    )
    .expect("its own");
    good(installation.wrapper("mpif77", compiler).args(["q.f", "-o", "q"]));
    assert_eq!(good(&mut Command::new(installation.path("work/q"))), "5");
    // Another set for other kinds.
    good(installation.wrapper("mpifort", compiler).args(["-c", "-fdefault-real-8", "p.f90"]));
    assert_eq!(installation.sets("cache"), 2);
}

#[test]
fn programs_by_gfortran() {
    if there("gfortran", "gfortran") {
        compiles_and_runs(&Installation::new().with_libraries(), "gfortran");
    }
}

#[test]
fn programs_by_flang() {
    if there("flang-new-19", "flang-19") {
        compiles_and_runs(&Installation::new().with_libraries(), "flang-new-19");
    }
}

/// Eight wrappers begin together; the modules are compiled by one of them.
#[test]
fn wrappers_at_once_compile_the_modules_once() {
    if !there("gfortran", "gfortran") {
        return;
    }
    let installation = Installation::new();
    let compiler = installation.counting();
    let start = |n: u32| {
        let mut command = installation.wrapper("mpifort", &compiler);
        command
            .args(["-c", "p.f90", "-o", &format!("p{n}.o")])
            .stderr(Stdio::piped())
            .spawn()
            .expect("it can be started")
    };
    let started: Vec<_> = (0..8).map(start).collect();
    for child in started {
        let ended = child.wait_with_output().expect("our child");
        assert!(ended.status.success(), "{}", text(&ended));
    }
    assert_eq!(fs::read_to_string(installation.path("count")).expect("it was compiled"), "\n");
    assert_eq!(installation.sets("cache"), 1);
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    if !there("gfortran", "gfortran") {
        return;
    }
    let installation = Installation::new();
    // A file, because root may write into any folder.
    fs::write(installation.path("file"), "").expect("its own folder");
    let named = installation.path("file/cache");
    let mut command = installation.wrapper("mpifort", "gfortran");
    command.args(["-c", "p.f90"]).env("OXMPI_FORTRAN_CACHE", &named);
    refused(&mut command, &[&named.to_string_lossy(), "OXMPI_FORTRAN_CACHE", "--prepare"]);
    refused(command.env("OXMPI_FORTRAN_CACHE", "here"), &["not an absolute path"]);
    refused(command.env_remove("OXMPI_FORTRAN_CACHE").env_remove("HOME"), &["XDG_CACHE_HOME"]);
    // XDG's folder and the home, in this order.
    good(command.env("XDG_CACHE_HOME", installation.path("xdg")).env("HOME", installation.path("home")));
    assert_eq!(installation.sets("xdg/oxmpi/fortran"), 1);
    good(command.env_remove("XDG_CACHE_HOME"));
    assert_eq!(installation.sets("home/.cache/oxmpi/fortran"), 1);
    // A command that compiles no Fortran needs no modules.
    good(
        installation
            .wrapper("mpifort", "gfortran")
            .args(["-cpp", "-E", "p.f90"])
            .env("OXMPI_FORTRAN_CACHE", &named),
    );
    good(installation.wrapper("mpifort", "gfortran").arg("--version").env("OXMPI_FORTRAN_CACHE", &named));
}

#[test]
fn modules_are_prepared_for_all_users() {
    if !there("gfortran", "gfortran") {
        return;
    }
    let installation = Installation::new();
    let folder = good(installation.wrapper("mpifort", "no-such-compiler").args(["--prepare", "gfortran"]));
    assert!(Path::new(&folder).join("mpi.mod").exists(), "{folder}");
    assert!(Path::new(&folder).starts_with(installation.path("lib/oxmpi/fortran")), "{folder}");
    good(installation.wrapper("mpifort", "gfortran").args(["-c", "p.f90"]));
    assert!(!installation.path("cache").exists(), "nothing was compiled for the user");
    let shown = good(installation.wrapper("mpifort", "gfortran").arg("--showme:incdirs"));
    assert!(shown.ends_with(&folder), "{shown}");
}

#[test]
fn flags_that_the_library_cannot_meet() {
    let installation = Installation::new();
    for flag in ["-fdefault-integer-8", "-i8", "-finteger-4-integer-8"] {
        refused(
            installation.wrapper("mpifort", "false").args([flag, "p.f90"]),
            &[flag, "INTEGER arguments of 4 bytes"],
        );
        refused(installation.wrapper("mpifort", "false").args(["-c", flag, "--showme"]), &[flag]);
        refused(installation.wrapper("mpifort", "false").args(["--prepare", "false", flag]), &[flag]);
    }
    refused(
        installation.wrapper("mpif77", "false").args(["-fsecond-underscore", "q.o"]),
        &["mpif77:", "mpi_send_"],
    );
}

#[test]
fn questions() {
    if !there("gfortran", "gfortran") {
        return;
    }
    let installation = Installation::new();
    let ask = |words: &[&str]| good(installation.wrapper("mpifort", "gfortran").args(words));
    let include = format!("-I{}", installation.path("include").display());
    let compile = ask(&["--showme:compile"]);
    assert!(
        compile.starts_with(&format!("{include} -I{}/gfortran-", installation.path("cache").display())),
        "{compile}"
    );
    assert_eq!(installation.sets("cache"), 1, "a folder that is shown is there");
    assert_eq!(ask(&["-compile-info"]), format!("gfortran {compile}"));
    let link = ask(&["--showme:link"]);
    assert!(link.ends_with(" -lmpifort_abi -lmpi_abi"), "{link}");
    assert_eq!(ask(&["-link-info"]), format!("gfortran {link}"));
    assert_eq!(ask(&["-show"]), format!("gfortran {compile} {link}"));
    assert_eq!(ask(&["-show", "-c", "p.f90"]), format!("gfortran {compile} -c p.f90"));
    assert_eq!(ask(&["-show", "p.o"]), format!("gfortran {include} p.o {link}"));
    assert_eq!(ask(&["--showme:libs"]), "mpifort_abi mpi_abi");
    assert_eq!(ask(&["--showme:command"]), "gfortran");
    assert!(ask(&["--showme:version"]).ends_with("(Language: Fortran)"));
    refused(installation.wrapper("mpifort", "gfortran").arg("--showme:nothing"), &["--showme:help"]);
}

#[test]
fn an_installation_without_fortran_says_so() {
    let installation = Installation::new();
    fs::remove_file(installation.path("include/mpif.h")).expect("it is there");
    for words in [&["p.f90"][..], &["--showme:compile"], &["--prepare"]] {
        refused(
            installation.wrapper("mpifort", "gfortran").args(words),
            &["no Fortran interface", "COMPONENTS C CXX"],
        );
    }
    // A compiler that is not there is a shell's 127.
    let ended = Installation::new()
        .wrapper("mpifort", "no-such-compiler")
        .arg("p.f90")
        .output()
        .expect("it can be started");
    assert_eq!(ended.status.code(), Some(127), "{}", text(&ended));
}

/// CMake's own search finds mpif.h and the module, and a target that is linked with what it found runs.
#[test]
fn cmake_finds_mpi() {
    if !there("gfortran", "gfortran") || !there("cmake", "cmake") || !there("make", "make") {
        return;
    }
    let installation = Installation::new().with_libraries();
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(p Fortran)\nfind_package(MPI REQUIRED COMPONENTS Fortran)\n\
        message(STATUS \"have ${MPI_Fortran_HAVE_F77_HEADER} ${MPI_Fortran_HAVE_F90_MODULE}\")\n\
        add_executable(p p.f90)\ntarget_link_libraries(p MPI::MPI_Fortran)\n";
    fs::write(installation.path("work/CMakeLists.txt"), lists).expect("its own folder");
    let cmake = |words: &[&OsStr]| {
        let mut command = Command::new("cmake");
        let environment = installation.wrapper("mpifort", "gfortran");
        command.args(words).current_dir(installation.path("work"));
        for (name, value) in environment.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        good(&mut command)
    };
    let mut wrapper = std::ffi::OsString::from("-DMPI_Fortran_COMPILER=");
    wrapper.push(installation.path("bin/mpifort"));
    let fc = OsStr::new("-DCMAKE_Fortran_COMPILER=gfortran");
    let said = cmake(&["-S".as_ref(), ".".as_ref(), "-B".as_ref(), "build".as_ref(), &wrapper, fc]);
    assert!(said.contains("have TRUE TRUE"), "{said}");
    cmake(&["--build".as_ref(), "build".as_ref()]);
    assert!(good(&mut installation.program("work/build/p")).starts_with("version"));
}
