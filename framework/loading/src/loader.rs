//! Finds component files and opens them.
//!
//! A component is a file `lib<framework>_<name>.so` in one of the search directories and exports
//! `oxmpi_component_<framework>_<name>`. The first directory that has a file of that name wins.
//!
//! **Opened for good.** RTLD_NODELETE and no close: a Rust library that was loaded can never be unloaded
//! soundly (threads may hold destructors of its thread-locals). RTLD_LOCAL: nobody finds its symbols by
//! accident. RTLD_NOW: what is missing is missing now and not in the middle of a message.
//!
//! **The symbol must come from that very file.** `dlsym` also looks into the libraries a file depends
//! on, so a file without the function could hand over another component's.

use crate::accept::accepted::{Accepted, Framework};
use crate::accept::{Promise, accept};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use oxmpi_mca::Descriptor;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that calls itself a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub framework: Framework,
    pub name: String,
    pub path: PathBuf,
}

/// Reads framework and component name from a file name `lib<framework>_<name>.so`; `None`: it is no component's.
pub fn parse_file_name(file: &str) -> Option<(Framework, &str)> {
    let stem = file.strip_prefix("lib")?.strip_suffix(".so")?;
    let (framework, name) = stem.split_once('_')?;
    let framework = Framework::by_name(framework)?;
    let good =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    good.then_some((framework, name))
}

/// Lists all component files of the directories, each framework and name once (the first directory wins), in their
/// order. A directory that does not exist has none.
pub fn search(dirs: &[PathBuf]) -> Vec<Found> {
    let mut found = BTreeMap::new();
    for dir in dirs {
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let Some((framework, name)) = file.to_str().and_then(parse_file_name) else { continue };
            found.entry((framework, name.to_owned())).or_insert_with(|| Found {
                framework,
                name: name.to_owned(),
                path: entry.path(),
            });
        }
    }
    found.into_values().collect()
}

/// Opens a component file and checks its descriptor; no function of the component but the one that returns it is
/// called. `Err`: a sentence that names the file and the reason.
pub fn load(found: &Found) -> Result<Accepted, String> {
    let place = found.path.display().to_string();
    // SAFETY: loading runs the file's initialisers; that the directory holds what an operator installed
    // is the trust that any plugin needs.
    let library = unsafe {
        Library::open(Some(&found.path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE)
            .map_err(|e| format!("{place}: cannot be loaded: {}", with_source(&e)))?
    };
    let symbol = format!("oxmpi_component_{}_{}", found.framework.name(), found.name);
    // SAFETY: the symbol is that function by the plugin ABI; the file is checked next.
    let function = unsafe {
        library
            .get::<extern "C" fn() -> *const Descriptor>(symbol.as_bytes())
            .map(|f| *f)
            .map_err(|_| format!("{place}: does not export {symbol}"))
    };
    // Leaked: see the essay.
    std::mem::forget(library);
    let function = function?;
    if !lies_in(function as *const c_void, &found.path) {
        return Err(format!("{place}: {symbol} comes from another file, which this one depends on"));
    }
    let promise = Promise { framework: found.framework, name: &found.name };
    // SAFETY: a component's function returns its static descriptor.
    unsafe { accept(function(), Some(promise), &place) }.map_err(|refusal| refusal.to_string())
}

/// The text of the innermost cause that an error names, else its own.
fn with_source(e: &dyn std::error::Error) -> String {
    match e.source() {
        Some(source) => source.to_string(),
        None => e.to_string(),
    }
}

/// Whether the code at `address` comes from this file.
fn lies_in(address: *const c_void, path: &Path) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address and fills `info` when it answers other than 0.
    let name = unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return false;
        }
        let name = info.assume_init_ref().dli_fname;
        if name.is_null() {
            return false;
        }
        CStr::from_ptr(name)
    };
    let origin = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    if origin == path {
        return true;
    }
    // The same file under another name (a link, a relative path).
    let file = |p: &Path| std::fs::metadata(p).ok().map(|m| (m.dev(), m.ino()));
    file(origin).is_some_and(|o| Some(o) == file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names() {
        assert_eq!(parse_file_name("libbtl_shm.so"), Some((Framework::Btl, "shm")));
        assert_eq!(parse_file_name("libcoll_two_words.so"), Some((Framework::Coll, "two_words")));
        for other in
            ["libbtl.so", "libbtl_.so", "btl_shm.so", "libbtl_shm.so.1", "libfoo_shm.so", "libbtl_SHM.so"]
        {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
    }

    #[test]
    fn the_first_directory_wins_and_a_missing_one_is_empty() {
        let tmp = tempfile::tempdir().expect("a temporary directory");
        let (a, b) = (tmp.path().join("a"), tmp.path().join("b"));
        for (dir, file) in [(&a, "libbtl_x.so"), (&b, "libbtl_x.so"), (&b, "libpml_y.so"), (&b, "note.txt")] {
            std::fs::create_dir_all(dir).and_then(|()| std::fs::write(dir.join(file), "")).expect("a file");
        }
        let found = search(&[tmp.path().join("none"), a.clone(), b.clone()]);
        let paths: Vec<_> = found.iter().map(|f| f.path.clone()).collect();
        assert_eq!(paths, [a.join("libbtl_x.so"), b.join("libpml_y.so")]);
        let why = load(&found[0]).expect_err("an empty file");
        assert!(why.contains("libbtl_x.so") && why.contains("cannot be loaded"), "{why}");
    }

    #[test]
    fn an_address_belongs_to_its_own_file_only() {
        let exe = std::env::current_exe().expect("a path");
        let here = an_address_belongs_to_its_own_file_only as *const c_void;
        assert!(lies_in(here, &exe));
        assert!(!lies_in(libc::getpid as *const c_void, &exe));
    }
}
