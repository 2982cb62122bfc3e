//! Files by which a server is found by its process number: `~/.oxmpi/servers/HOST.PID`, with the URI in them, for the user alone.

use oxmpi_wireup::server::hostname;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Another folder than `~/.oxmpi/servers`.
const VARIABLE: &str = "OXMPI_SERVER_DIR";

/// The file of a process on this host; None: there is no place for one.
pub fn file_of(pid: u32) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = set(VARIABLE).map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".oxmpi").join("servers")))?;
    Some(folder.join(format!("{}.{pid}", hostname())))
}

/// Writes a file that is there when it is whole, for the user alone.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let own = PathBuf::from(name);
    let written = || {
        let mut file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&own)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&own, path)
    };
    let outcome = written();
    if outcome.is_err() {
        let _ = std::fs::remove_file(&own);
    }
    outcome
}

/// Writes the file of a process.
pub fn enter(pid: u32, uri: &str) -> std::io::Result<PathBuf> {
    let path = file_of(pid).ok_or_else(|| std::io::Error::other("HOME is not set"))?;
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    write(&path, &format!("{uri}\n"))?;
    Ok(path)
}

/// Removes a file if it still has this URI in it.
pub fn remove(path: &Path, uri: &str) {
    let has = std::fs::read_to_string(path).is_ok_and(|text| text.trim() == uri);
    if has {
        let _ = std::fs::remove_file(path);
    }
}
