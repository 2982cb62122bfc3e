//! The user's key, by which jobs of one user know each other: 256 random bits in a file that only the user reads.
//!
//! It is made by who first needs it. Two who do so at once agree: each writes a file of its own and gives it the name
//! unless that is taken, and then both read what has the name.

use crate::error::{Error, ErrorKind};
use crate::secret::{Secret, random_id};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Another file than `~/.oxmpi/port-key`.
const VARIABLE: &str = "OXMPI_PORT_KEY_FILE";

/// The user's key, and the number by which names of ports call it. With `make` it is made where there is none.
pub fn user_key(make: bool) -> Result<(u32, Secret), Error> {
    let path = path()?;
    match read(&path) {
        Ok(Some(key)) => return Ok(numbered(key)),
        Ok(None) if make => {}
        Ok(None) => {
            let what = format!("there is no key of this user's in {}", path.display());
            return Err(Error::new(ErrorKind::Environment, what));
        }
        Err(why) => return Err(why),
    }
    let cannot = |why: std::io::Error| {
        Error::system(&format!("the user's key cannot be made in {}", path.display()), why)
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cannot)?;
    }
    let own = path.with_extension(format!("{:016x}", random_id()?));
    let write = || {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&own)?;
        file.write_all(Secret::random().map_err(std::io::Error::other)?.to_hex().as_bytes())?;
        file.sync_all()
    };
    let written = write().and_then(|()| match std::fs::hard_link(&own, &path) {
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    let _ = std::fs::remove_file(&own);
    written.map_err(cannot)?;
    match read(&path)? {
        Some(key) => Ok(numbered(key)),
        None => {
            Err(Error::new(ErrorKind::Environment, format!("the user's key in {} has gone", path.display())))
        }
    }
}

fn path() -> Result<PathBuf, Error> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match (set(VARIABLE), set("HOME")) {
        (Some(file), _) => Ok(file.into()),
        (None, Some(home)) => Ok(Path::new(&home).join(".oxmpi").join("port-key")),
        (None, None) => Err(Error::new(
            ErrorKind::Environment,
            format!(
                "HOME is not set, so there is no place for the user's key; {VARIABLE} names a file for it"
            ),
        )),
    }
}

/// The key in a file; `None`: there is no file. One that others can read or that is another user's is no key.
fn read(path: &Path) -> Result<Option<Secret>, Error> {
    let cannot =
        |why: std::io::Error| Error::system(&format!("cannot read the user's key {}", path.display()), why);
    let refuse = |why: &str| Err(Error::new(ErrorKind::Environment, format!("{} {why}", path.display())));
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(cannot(why)),
    };
    if about.uid() != rustix::process::geteuid().as_raw() {
        return refuse("is another user's, so it is no key of this one's");
    }
    if about.mode() & 0o077 != 0 {
        return refuse("can be read or written by others, so it is no secret; remove it, or `chmod 600` it");
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    match Secret::from_hex(text.trim()) {
        Some(key) => Ok(Some(key)),
        None => refuse("has no key in it: 64 hexadecimal digits"),
    }
}

/// The number of a key, which tells nothing of it.
fn numbered(key: Secret) -> (u32, Secret) {
    let [a, b, c, d, ..] = key.prove(&[b"oxmpi number of a key"]);
    (u32::from_le_bytes([a, b, c, d]), key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_for_its_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        assert!(read(&path).expect("no file").is_none());
        let text = Secret::from_bytes([5; 32]).to_hex();
        std::fs::write(&path, format!("{text}\n")).expect("writable");
        let mode =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        mode(0o640);
        assert!(read(&path).is_err_and(|why| why.message.contains("others")));
        mode(0o600);
        let key = read(&path).expect("readable").expect("a key");
        assert!(key.matches(&[5; 32]));
        std::fs::write(&path, "no key").expect("writable");
        assert!(read(&path).is_err_and(|why| why.message.contains("digits")));
    }
}
