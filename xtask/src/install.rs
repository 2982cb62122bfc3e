//! `cargo xtask install`: a relocatable install.
//!
//! Every program in it finds its neighbours relative to its own file, the library finds its
//! components relative to its own, and the pkg-config file relative to its own; so the folder can
//! be moved. Files are written beside their place and renamed into it, which replaces the program
//! of a job that is running without touching it.

use crate::bounded::{self, Outcome};
use crate::generate;
use crate::workspace::Workspace;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A cold release build on two cores takes a few minutes.
const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The result of an installation.
pub struct Installed {
    pub prefix: PathBuf,
    pub files: usize,
}

/// Names under which the launcher and the wrapper are also known.
const LINKS: [(&str, &str); 9] = [
    ("bin/mpiexec", "mpirun"),
    ("bin/ompi_info", "mpi-info"),
    ("bin/mpicxx", "mpicc"),
    ("bin/mpic++", "mpicc"),
    ("bin/mpiCC", "mpicc"),
    ("bin/mpifort", "mpicc"),
    ("bin/mpif90", "mpicc"),
    ("bin/mpif77", "mpicc"),
    ("lib/libmpi_abi.so", "libmpi_abi.so.1"),
];

const MANIFEST: &str = "share/oxmpi/manifest.txt";

/// Builds for release and installs into `prefix`.
pub fn run(workspace: &Workspace, prefix: &Path, builtin: bool) -> Result<Installed, String> {
    build(workspace, builtin)?;
    fs::create_dir_all(prefix).map_err(|e| format!("{}: {e}", prefix.display()))?;
    let prefix = prefix.canonicalize().map_err(|e| format!("{}: {e}", prefix.display()))?;
    let before = fs::read_to_string(prefix.join(MANIFEST)).unwrap_or_default();
    let mut place = Place { prefix: prefix.clone(), files: Vec::new() };

    let release = workspace.target.join("release");
    for program in ["mpirun", "oxmpid", "mpicc", "mpi-info", "ompi-server", "oxmpi-ep-server", "oxmpi-bench"]
    {
        place.copy(&release.join(program), &format!("bin/{program}"))?;
    }
    place.copy(&release.join("libmpi_abi.so"), "lib/libmpi_abi.so.1")?;
    place.copy(&release.join("liboxmpi_ep.so"), "lib/liboxmpi_ep.so")?;
    for component in workspace.components() {
        let file = format!("lib{}.so", component.replace('-', "_"));
        place.copy(&release.join(&file), &format!("lib/oxmpi/{file}"))?;
    }
    for (link, target) in LINKS {
        place.link(target, link)?;
    }
    headers(workspace, &mut place)?;
    place.text("lib/pkgconfig/oxmpi.pc", &pkg_config())?;
    if has_fortran(workspace) {
        fortran(workspace, &mut place)?;
    }
    texts(workspace, &mut place)?;
    benchmarks(workspace, &mut place)?;
    device(workspace, &mut place)?;
    parameters(workspace, &mut place)?;
    // Site-wide parameters go here; nothing is put in, so that nothing of the site's is overwritten.
    place.folder("etc")?;
    place.files.push(MANIFEST.to_owned());
    place.files.sort();
    place.files.dedup();
    let manifest = place.files.join("\n") + "\n";
    place.text(MANIFEST, &manifest)?;
    place.remove_stale(&before)?;
    Ok(Installed { prefix, files: place.files.len() })
}

fn build(workspace: &Workspace, builtin: bool) -> Result<(), String> {
    let mut arguments = vec!["build", "--release", "--quiet"];
    for package in ["oxmpi-mpi", "oxmpi-mpirun", "oxmpi-ep", "oxmpi-bench", "oxmpi-verbs-fake"] {
        arguments.extend(["-p", package]);
    }
    if has_fortran(workspace) {
        arguments.extend(["-p", FORTRAN]);
    }
    let components = workspace.components();
    for component in &components {
        arguments.extend(["-p", component]);
    }
    if builtin {
        arguments.extend(["--features", "oxmpi-mpi/builtin"]);
    }
    let mut command = workspace.cargo(&arguments);
    match bounded::run(&mut command, BUILD_LIMIT) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("the release build failed: {why}")),
    }
}

fn headers(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    // Headers that applications include, and headers that authors of components in C include.
    for (from, to) in [("mpi/include", "include"), ("framework/include", "include/oxmpi")] {
        for file in files_in(&workspace.root.join(from), "h")? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            place.copy(&file, &format!("{to}/{name}"))?;
        }
    }
    Ok(())
}

/// The package of the Fortran library. A tree without it installs without Fortran, and `mpifort` says so.
const FORTRAN: &str = "oxmpi-fortran";

fn has_fortran(workspace: &Workspace) -> bool {
    workspace.package_in("fortran").is_some()
}

/// The file that linkers take for the Fortran library: a script, whose first words keep `ldconfig` from calling it a broken library. Names are
/// looked for in its own folder, and in those that the linker searches.
const LINKED_FORTRAN: &str = "/* GNU ld script: what an executable or a shared library is linked with. */\n\
    INPUT ( mpifort_object.o libmpifort_abi.so.1 )\n";

/// Compiles the object file that stands in each executable and shared library.
fn object(source: &Path, folder: &Path, place: &mut Place) -> Result<(), String> {
    let made = folder.join("mpifort_object.o");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-O2", "-fPIC", "-c", "-o"]).arg(&made).arg(source);
    match bounded::run(&mut command, Duration::from_secs(60)) {
        Outcome::Passed => place.copy(&made, "lib/mpifort_object.o"),
        Outcome::Failed(why) => Err(format!("{compiler} {}: {why}", source.display())),
    }
}

/// The library of Fortran's procedures, `mpif.h`, and the modules, which `mpifort` compiles for the compiler at hand.
fn fortran(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    place.copy(&workspace.target.join("release/libmpifort_abi.so"), "lib/libmpifort_abi.so.1")?;
    place.text("lib/libmpifort_abi.so", LINKED_FORTRAN)?;
    object(&workspace.root.join("fortran/object/object.c"), &workspace.target.join("release"), place)?;
    for name in ["oxmpi-fort", "mpi-fort"] {
        place.text(&format!("lib/pkgconfig/{name}.pc"), &pkg_config_of_fortran(name))?;
    }
    let folder = workspace.root.join("fortran");
    for file in files_in(&folder.join("include"), "h")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        place.copy(&file, &format!("include/{name}"))?;
    }
    for file in files_in(&folder.join("probes"), "f90")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        place.copy(&file, &format!("share/oxmpi/fortran/{name}"))?;
    }
    for (name, source) in generate::fortran_sources(&workspace.root)? {
        place.text(&format!("share/oxmpi/fortran/{name}"), &source)?;
    }
    Ok(())
}

/// Pages that `mpi-info --help TOPIC` shows, by topic: for a page of docs/ its name. Pages that a message, a header or another of these pages
/// points to are among them.
const PAGES: [(&str, &str); 24] = [
    ("functions", "mpi/INDEX.md"),
    ("mpirun-options", "docs/mpirun-options.md"),
    ("ompi_info-options", "docs/ompi_info-options.md"),
    ("mistakes", "docs/mistakes.md"),
    ("parameters", "mca-params/CATALOGUE.md"),
    ("python", "docs/python.md"),
    ("endpoints", "docs/endpoints.md"),
    ("one-sided-extensions", "docs/one-sided-extensions.md"),
    ("adding-a-btl", "docs/adding-a-btl.md"),
    ("adding-a-coll", "docs/adding-a-coll.md"),
    ("adding-a-fcoll", "docs/adding-a-fcoll.md"),
    ("adding-a-fbtl", "docs/adding-a-fbtl.md"),
    ("adding-a-fs", "docs/adding-a-fs.md"),
    ("adding-a-pml", "docs/adding-a-pml.md"),
    ("adding-an-osc", "docs/adding-an-osc.md"),
    ("collectives", "docs/collectives.md"),
    ("conformance", "docs/CONFORMANCE.md"),
    ("endpoints-by-proxies", "docs/endpoints-by-proxies.md"),
    ("fortran", "docs/fortran.md"),
    ("running-on-several-nodes", "docs/running-on-several-nodes.md"),
    ("sync-objects", "docs/sync-objects.md"),
    ("threads", "docs/threads.md"),
    ("abi", "docs/abi.md"),
    ("files", "docs/files.md"),
];

/// The examples that the pages for authors of components compile.
const EXAMPLES: [&str; 5] = ["btl_cloop.c", "coll_cring.c", "fs_cplain.c", "fbtl_cplain.c", "fcoll_ceach.c"];

/// Help paragraphs to read, pages, and the licences.
fn texts(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    let root = &workspace.root;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        place.copy(&root.join(licence), &format!("share/oxmpi/{licence}"))?;
    }
    for (topic, page) in PAGES {
        place.copy(&root.join(page), &format!("share/oxmpi/pages/{topic}.md"))?;
    }
    for example in EXAMPLES {
        place
            .copy(&root.join("tests/plugins/c").join(example), &format!("share/oxmpi/examples/{example}"))?;
    }
    let components = workspace.components().into_iter().map(|c| (format!("components/{c}"), c));
    let rooms = [("mpirun", "mpirun"), ("framework/loading", "runtime"), ("mpi", "mpi")];
    let rooms = rooms.map(|(folder, name)| (folder.to_owned(), name.to_owned()));
    for (folder, name) in rooms.into_iter().chain(components) {
        let help = root.join(folder).join("src/help.txt");
        if help.exists() {
            place.copy(&help, &format!("share/oxmpi/help-{name}.txt"))?;
        }
    }
    Ok(())
}

/// Sources of the programs that measure, each folder of `bench/` with its headers, which the driver compiles by the library's own wrapper; and
/// the results that are kept in the repository.
fn benchmarks(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    let root = workspace.root.join("bench");
    let entries = fs::read_dir(&root).map_err(|e| format!("{}: {e}", root.display()))?;
    let folders = entries.flatten().map(|e| e.path()).filter(|path| path.is_dir());
    for folder in folders.chain([root.clone(), root.join("results/papers")]) {
        for extension in ["c", "h", "json"] {
            for file in files_in(&folder, extension)? {
                let name = file.strip_prefix(&root).unwrap_or(&file);
                place.copy(&file, &format!("share/oxmpi/bench/{}", name.display()))?;
            }
        }
    }
    Ok(())
}

/// The verbs device in software, on which the programs of `bench/verbs` run; it lies where no loader looks for it.
fn device(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    let release = workspace.target.join("release");
    let (archive, made) = (release.join("liboxmpi_verbs_fake.a"), release.join("libibverbs.so.1"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let versions = workspace.root.join("devices/verbs/libibverbs.map");
    let mut command = Command::new(&compiler);
    command.args(["-shared", "-s", "-Wl,-soname,libibverbs.so.1", "-Wl,--whole-archive"]).arg(archive);
    command.args(["-Wl,--no-whole-archive", &format!("-Wl,--version-script={}", versions.display())]);
    command.args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"]).arg(&made);
    match bounded::run(&mut command, Duration::from_secs(120)) {
        Outcome::Passed => place.copy(&made, "share/oxmpi/bench/verbs/libibverbs.so.1"),
        Outcome::Failed(why) => Err(format!("{compiler}, the device in software: {why}")),
    }
}

/// Profiles, and the parameter file to copy from.
fn parameters(workspace: &Workspace, place: &mut Place) -> Result<(), String> {
    let folder = workspace.root.join("mca-params");
    for file in files_in(&folder.join("profiles"), "toml")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        place.copy(&file, &format!("share/oxmpi/profiles/{name}"))?;
    }
    place.copy(&folder.join("oxmpi-mca-params.toml"), "share/oxmpi/oxmpi-mca-params.toml")
}

fn files_in(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{}: {e}", folder.display())),
    };
    let paths = entries.flatten().map(|e| e.path());
    Ok(paths.filter(|p| p.extension().is_some_and(|e| e == extension)).collect())
}

fn pkg_config() -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\
         \n\
         Name: oxmpi\n\
         Description: MPI library with the MPI 5.0 standard ABI\n\
         Version: {}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lmpi_abi\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Fortran's flags are a variable of their own: build systems give `Cflags` to the compiler of C, too. The folder of the modules
/// depends on the compiler, so it is asked of the wrapper.
fn pkg_config_of_fortran(name: &str) -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\
         fc=${{prefix}}/bin/mpifort\n\
         fflags=-I${{includedir}}\n\
         # Flags with the folder of the modules for a compiler: OXMPI_FC=COMPILER ${{prefix}}/bin/mpifort --showme:compile\n\
         \n\
         Name: {name}\n\
         Description: Fortran interface of oxmpi, an MPI library with the MPI 5.0 standard ABI\n\
         Version: {}\n\
         Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lmpifort_abi -lmpi_abi\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The folder installed into, and what has been put there.
struct Place {
    prefix: PathBuf,
    files: Vec<String>,
}

impl Place {
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.prefix.join(name);
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    /// Makes a file beside its place and moves it there.
    fn put(&mut self, name: &str, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), String> {
        let path = self.prefix.join(name);
        self.folder(Path::new(name).parent().and_then(Path::to_str).unwrap_or(""))?;
        let mut new = path.clone().into_os_string();
        new.push(".new");
        let new = PathBuf::from(new);
        // Left by an install that was interrupted.
        let _ = fs::remove_file(&new);
        make(&new).and_then(|()| fs::rename(&new, &path)).map_err(|e| format!("{}: {e}", path.display()))?;
        self.files.push(name.to_owned());
        Ok(())
    }

    fn copy(&mut self, from: &Path, name: &str) -> Result<(), String> {
        if !from.exists() {
            return Err(format!("{} was not built", from.display()));
        }
        self.put(name, |new| fs::copy(from, new).map(drop))
    }

    fn link(&mut self, target: &str, name: &str) -> Result<(), String> {
        self.put(name, |new| symlink(target, new))
    }

    fn text(&mut self, name: &str, text: &str) -> Result<(), String> {
        self.put(name, |new| fs::write(new, text))
    }

    /// Takes away what an earlier install put here and this one did not: an old component would
    /// still be loaded. Other files in the folder are not ours.
    fn remove_stale(&self, manifest: &str) -> Result<(), String> {
        for name in manifest.lines().filter(|name| !self.files.iter().any(|f| f == name)) {
            let stays_inside = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
            let path = self.prefix.join(name);
            if stays_inside && path.is_file() {
                fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pkg_config_gives_flags_of_fortran_to_nobody_else() {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        for name in ["oxmpi-fort", "mpi-fort"] {
            let file = folder.path().join(format!("{name}.pc"));
            fs::write(&file, pkg_config_of_fortran(name)).expect("its own folder");
            let ask = |words: &[&str]| {
                let mut command = Command::new("pkg-config");
                command.args(words).arg(name).env("PKG_CONFIG_PATH", folder.path());
                let out = command.output().ok()?;
                assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
                Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
            };
            let Some(c) = ask(&["--cflags"]) else {
                eprintln!("left out: pkg-config is not installed (Debian package pkg-config)");
                return;
            };
            assert_eq!(c, "");
            assert!(ask(&["--libs"]).is_some_and(|libs| libs.ends_with("-lmpifort_abi -lmpi_abi")));
            assert!(
                ask(&["--variable=fflags"])
                    .is_some_and(|flags| flags.starts_with("-I/") && flags.ends_with("/include"))
            );
            assert!(ask(&["--variable=fc"]).is_some_and(|fc| fc.ends_with("/bin/mpifort")));
        }
    }
}
