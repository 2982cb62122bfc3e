//! The Fortran modules of an installation, for one compiler: a set that stands in the installation, or is compiled once into a cache.
//!
//! A set is a folder whose name, the key, is made of all that it depends on: the compiler's file and version, the flags that
//! change kinds, and every byte of the sources. So a set is never stale, and sets of several compilers stand side by side.
//!
//! **Several wrappers at once** (`make -j`) compile a set once. The first holds a lock on `KEY.lock`, compiles in a folder of its own and
//! renames that to `KEY`; the others wait for the lock and find the set. Where the file system has no locks, several compile, and the first
//! rename counts. A set that has its name is whole.
//!
//! **No set, no compiling.** Whether a source uses a module is known only to the compiler, whose own message ("cannot open module file")
//! would name neither the folder that could not be written nor the variable that chooses another. So a set that cannot be made is an error
//! here, for programs with `mpif.h`, too.
//!
//! A program that the compiler builds decides between two sources of a module (`probe`). Its answer depends on nothing that the key has not.

use crate::probe::{DESCRIPTORS, Probe, Source, are_asked};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Folder of the sources in an installation, and the file there that lists them in the order in which they are compiled.
const SOURCES: &str = "share/oxmpi/fortran";
const LIST: &str = "modules";

/// Folder of sets in an installation.
const INSTALLED: &str = "lib/oxmpi/fortran";

/// The variable that names the cache.
pub const CACHE: &str = "OXMPI_FORTRAN_CACHE";

/// The longest time that a wrapper waits for another one that compiles the same set.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The sources, the compiler and the flags of a set.
pub struct Modules<'a> {
    root: &'a Path,
    compiler: &'a [String],
    /// The compiler's file, for it is started in another folder.
    program: PathBuf,
    flags: Vec<OsString>,
    /// In order.
    sources: Vec<Source>,
    /// Programs are asked which of two sources is taken.
    asks: bool,
    key: String,
}

/// Of several places for sets: the one in the installation, or the user's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Room {
    Installation,
    Cache,
}

impl<'a> Modules<'a> {
    /// `None`: the installation has no modules.
    ///
    /// # Errors
    /// A sentence: a source cannot be read, or the compiler cannot be asked for its version.
    pub fn of(
        root: &'a Path,
        compiler: &'a [String],
        file: &Path,
        flags: Vec<OsString>,
    ) -> Result<Option<Modules<'a>>, String> {
        let folder = root.join(SOURCES);
        let list = match fs::read_to_string(folder.join(LIST)) {
            Ok(list) => list,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("{}: {e}", folder.join(LIST).display())),
        };
        let lines = list.lines().filter(|line| !line.trim().is_empty());
        let sources: Vec<Source> = lines.map(|line| Source::of(&folder, line)).collect();
        let asks = are_asked(std::env::var(DESCRIPTORS).ok().as_deref())?;
        let mut hash = Hash::new();
        let program = std::path::absolute(file).map_err(|e| format!("{}: {e}", file.display()))?;
        // Links of Debian's alternatives are followed: one compiler has one set, whatever name it is called by.
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        hash.add(file.as_os_str().as_encoded_bytes());
        compiler[1..].iter().for_each(|word| hash.add(word.as_bytes()));
        hash.add(&version(&program, &compiler[1..])?);
        flags.iter().for_each(|flag| hash.add(flag.as_encoded_bytes()));
        hash.add(list.as_bytes());
        hash.add(&[u8::from(asks)]);
        // All files, for a source may include another one.
        for path in files_of(&folder)? {
            hash.add(&fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?);
        }
        let name = Path::new(&compiler[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some(Modules {
            root,
            compiler,
            program,
            flags,
            sources,
            asks,
            key: format!("{name}-{:032x}", hash.0),
        }))
    }

    /// The folder of the set, which is compiled into the cache if it is nowhere.
    ///
    /// # Errors
    /// A sentence that names the folder that cannot be written, or the compiler's own words.
    pub fn folder(&self) -> Result<PathBuf, String> {
        let installed = self.root.join(INSTALLED).join(&self.key);
        if installed.is_dir() {
            return Ok(installed);
        }
        let there = cache()?.join(&self.key);
        if there.is_dir() { Ok(there) } else { self.make(Room::Cache) }
    }

    /// Compiles the set if it is not in that room; its folder.
    ///
    /// # Errors
    /// As [`Modules::folder`].
    pub fn make(&self, room: Room) -> Result<PathBuf, String> {
        let place = match room {
            Room::Installation => self.root.join(INSTALLED),
            Room::Cache => cache()?,
        };
        let denied = |path: &Path, e: io::Error| {
            let advice = match room {
                Room::Installation => "mpifort --prepare writes into the installation".to_owned(),
                Room::Cache => {
                    format!(
                        "set {CACHE} to a folder that can be written, or have mpifort --prepare run by the owner of the installation"
                    )
                }
            };
            format!(
                "the Fortran modules for {} cannot be compiled: {}: {e}; {advice}",
                self.compiler[0],
                path.display()
            )
        };
        fs::create_dir_all(&place).map_err(|e| denied(&place, e))?;
        let path = place.join(format!("{}.lock", self.key));
        let lock = File::create(&path).map_err(|e| denied(&path, e))?;
        let locked = wait_for(&lock, &path)?;
        let there = place.join(&self.key);
        if there.is_dir() {
            return Ok(there);
        }
        let beginning = format!("{}.new-", self.key);
        if locked {
            remove_left_over(&place, &beginning);
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let new = Unfinished(place.join(format!("{beginning}{}-{}", std::process::id(), since.as_nanos())));
        fs::create_dir(&new.0).map_err(|e| denied(&new.0, e))?;
        for source in &self.sources {
            self.compile(&self.choose(source, &new.0)?, &new.0)?;
        }
        match fs::rename(&new.0, &there) {
            // Another one, of a file system without locks, was first.
            Err(_) if there.is_dir() => Ok(there),
            Err(e) => Err(denied(&there, e)),
            Ok(()) => Ok(there),
        }
    }

    /// The path of a source, after its question where it has one. The answer is written into the folder.
    fn choose(&self, source: &Source, folder: &Path) -> Result<PathBuf, String> {
        let (probe, yes, no) = match source {
            Source::Plain(path) => return Ok(path.clone()),
            Source::Asked { probe, yes, no } => (probe, yes, no),
        };
        let asked = Probe {
            program: &self.program,
            words: &self.compiler[1..],
            flags: &self.flags,
            folder,
            libraries: &self.root.join("lib"),
        };
        let answer = if self.asks { asked.ask(probe) } else { Err(format!("{DESCRIPTORS} is no")) };
        let text = match &answer {
            Ok(()) => "yes\n".to_owned(),
            Err(why) => format!("no: {why}\n"),
        };
        let path = folder.join(probe.with_extension("txt").file_name().unwrap_or_default());
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(if answer.is_ok() { yes.clone() } else { no.clone() })
    }

    /// Compiles one source in the folder, where every compiler puts its module files unasked. The object is not kept: the sources are
    /// interfaces and constants, and code is in the library alone.
    fn compile(&self, source: &Path, folder: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(&self.compiler[1..]).args(&self.flags).arg("-I").arg(folder).arg("-c").arg(source);
        command.args(["-o", "module.o"]).current_dir(folder).stdin(Stdio::null());
        let ended =
            command.output().map_err(|e| format!("cannot run the compiler {}: {e}", self.compiler[0]))?;
        if !ended.status.success() {
            let words = [ended.stdout, ended.stderr].concat();
            return Err(format!(
                "{} does not compile the module source {}: {}\n{}",
                self.compiler[0],
                source.display(),
                ended.status,
                String::from_utf8_lossy(&words).trim_end()
            ));
        }
        let object = folder.join("module.o");
        match fs::remove_file(&object) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(format!("{}: {e}", object.display())),
            _ => Ok(()),
        }
    }
}

/// A folder that is removed with its contents, unless it was renamed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes away what makers that were killed have left; none is at work while we hold the lock.
fn remove_left_over(place: &Path, beginning: &str) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(beginning) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Waits for the lock; `false`: this file system has none.
fn wait_for(lock: &File, path: &Path) -> Result<bool, String> {
    let began = Instant::now();
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) if began.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(format!(
                    "waited {} minutes for another wrapper that compiles the Fortran modules and holds {}",
                    PATIENCE.as_secs() / 60,
                    path.display()
                ));
            }
            Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => return Ok(false),
            Err(e) => return Err(format!("cannot lock {}: {e}", path.display())),
        }
    }
}

/// The user's folder of sets. A relative name is none, as the specification of XDG_CACHE_HOME says: builds change folders.
fn cache() -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(path) = named(CACHE) {
        return if path.is_absolute() {
            Ok(path)
        } else {
            Err(format!("{CACHE} is {}, which is not an absolute path", path.display()))
        };
    }
    let of_user = named("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let of_user =
        of_user.or_else(|| named("HOME").filter(|path| path.is_absolute()).map(|home| home.join(".cache")));
    of_user.map(|path| path.join("oxmpi/fortran")).ok_or_else(|| {
        format!("there is no folder to compile the Fortran modules into: none of {CACHE}, XDG_CACHE_HOME and HOME is set")
    })
}

/// The compiler's answer to `--version`, byte for byte. A compiler without that question answers with an error, which serves as well.
fn version(program: &Path, always: &[String]) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(always).arg("--version").stdin(Stdio::null());
    let ended =
        command.output().map_err(|e| format!("cannot run the compiler {}: {e}", program.display()))?;
    Ok([ended.stdout, ended.stderr].concat())
}

/// Files in a folder, by name.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let entries = entries.map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> =
        entries.into_iter().map(|e| e.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    Ok(paths)
}

/// FNV-1a of 128 bits: equal on every machine and in every build, so that a set made by one installation is found by a copy of it.
struct Hash(u128);

impl Hash {
    fn new() -> Hash {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a text and its length, so that no two lists of texts run together.
    fn add(&mut self, text: &[u8]) {
        for byte in (text.len() as u64).to_le_bytes().iter().chain(text) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An installation with one module, and a compiler in shell that notes its calls. The shell reads it, so that no other test's child
    /// holds it as an executable that is being written.
    fn installation(folder: &Path) -> Vec<String> {
        fs::create_dir_all(folder.join(SOURCES)).unwrap();
        fs::write(folder.join(SOURCES).join(LIST), "one.f90\n").unwrap();
        fs::write(folder.join(SOURCES).join("one.f90"), "module one\nend module\n").unwrap();
        let compiler = folder.join("fc");
        let script =
            "[ \"$1\" = --version ] && { echo fc 1; exit; }\necho called >> \"$0.calls\"\n> one.mod\n";
        fs::write(&compiler, script).unwrap();
        vec!["/bin/sh".to_owned(), compiler.to_string_lossy().into_owned()]
    }

    #[test]
    fn a_set_is_made_once_and_its_key_has_all_it_depends_on() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = installation(folder.path());
        let file = Path::new(&compiler[0]);
        let of = |flags: &[&str]| {
            let flags = flags.iter().map(OsString::from).collect();
            Modules::of(folder.path(), &compiler, file, flags).unwrap().unwrap()
        };
        let plain = of(&[]);
        let made = plain.make(Room::Installation).unwrap();
        // A later one compiles nothing.
        assert_eq!(of(&[]).folder().unwrap(), made);
        assert_eq!(plain.make(Room::Installation).unwrap(), made);
        assert_eq!(fs::read_to_string(folder.path().join("fc.calls")).unwrap(), "called\n");
        let names: Vec<_> = fs::read_dir(&made).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["one.mod"]);
        let real = of(&["-fdefault-real-8"]).key;
        fs::write(folder.path().join(SOURCES).join("one.f90"), "module one\nend module one\n").unwrap();
        let keys = [&plain.key, &real, &of(&[]).key];
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");
    }

    #[test]
    fn a_program_chooses_between_two_sources() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = installation(folder.path());
        let share = folder.path().join(SOURCES);
        fs::write(share.join(LIST), "ask.f90 ? one.f90 : other.f90\n").unwrap();
        // Compiles a program that answers with what stands in the source of the question, and notes the source of a module.
        let script = "[ \"$1\" = --version ] && exit\nfor word; do case $word in *.f90) from=$word;; esac; done\n\
                      case $from in */ask.f90) cp $from probe; chmod +x probe;; *) basename $from >> one.mod;; esac\n";
        fs::write(&compiler[1], script).unwrap();
        let answered = |question: &str| {
            fs::write(share.join("ask.f90"), question).unwrap();
            let modules =
                Modules::of(folder.path(), &compiler, Path::new(&compiler[0]), vec![]).unwrap().unwrap();
            let made = modules.make(Room::Installation).unwrap();
            let read = |name: &str| fs::read_to_string(made.join(name)).unwrap();
            assert!(!made.join("probe").exists());
            (read("one.mod"), read("ask.txt"))
        };
        assert_eq!(answered("#!/bin/sh\necho ok\n"), ("one.f90\n".to_owned(), "yes\n".to_owned()));
        let (source, why) = answered("#!/bin/sh\necho strides are wrong\n");
        assert_eq!(source, "other.f90\n");
        assert!(why.starts_with("no: ") && why.contains("strides are wrong"), "{why}");
        let (source, why) = answered("no program\n");
        assert_eq!(source, "other.f90\n");
        assert!(why.contains("cannot be run"), "{why}");
    }

    #[test]
    fn what_a_killed_maker_left_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = installation(folder.path());
        let modules =
            Modules::of(folder.path(), &compiler, Path::new(&compiler[0]), vec![]).unwrap().unwrap();
        let left = folder.path().join(INSTALLED).join(format!("{}.new-1-1", modules.key));
        fs::create_dir_all(left.join("x")).unwrap();
        assert!(modules.make(Room::Installation).unwrap().join("one.mod").exists());
        assert!(!left.exists());
    }

    #[test]
    fn a_source_that_does_not_compile_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = installation(folder.path());
        fs::write(&compiler[1], "[ \"$1\" = --version ] || { echo no such type; exit 1; }\n").unwrap();
        let modules =
            Modules::of(folder.path(), &compiler, Path::new(&compiler[0]), vec![]).unwrap().unwrap();
        let why = modules.make(Room::Installation).unwrap_err();
        assert!(why.contains("one.f90") && why.contains("no such type"), "{why}");
        let left: Vec<_> = files_of(&folder.path().join(INSTALLED)).unwrap();
        assert_eq!(left.len(), 1, "the lock alone: {left:?}");
        assert_eq!(fs::read_dir(folder.path().join(INSTALLED)).unwrap().count(), 1);
    }
}
