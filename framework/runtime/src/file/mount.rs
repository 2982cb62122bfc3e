//! All that the system says of the mount that a path is on, and the prefix by which a path names the component that is to serve it.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Prefixes that ROMIO and Open MPI take, with the name of the component here; an empty name: whichever serves the path.
const PREFIXES: &[(&str, &str)] = &[
    ("ufs", "ufs"),
    ("nfs", "nfs"),
    ("lustre", "lustre"),
    ("xfs", "ufs"),
    ("testfs", ""),
    ("gpfs", ""),
    ("panfs", ""),
    ("pvfs2", ""),
    ("pvfs", ""),
    ("daos", ""),
    ("ime", ""),
    ("quobyte", ""),
];

/// A path without its prefix, and the component that the prefix names; a colon behind anything else belongs to the path.
pub(super) fn split(path: &[u8]) -> (&[u8], Option<&'static str>) {
    let Some(at) = path.iter().position(|b| *b == b':') else { return (path, None) };
    let known = PREFIXES.iter().find(|(prefix, _)| prefix.as_bytes().eq_ignore_ascii_case(&path[..at]));
    match known {
        Some((_, name)) => (&path[at + 1..], Some(*name).filter(|name| !name.is_empty())),
        None => (path, None),
    }
}

/// A mount, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// Number of the file system's type, 0: not known.
    pub magic: u64,
    /// Its type, by name.
    pub fs_type: String,
    /// Device or server.
    pub source: String,
    /// Options, joined by commas.
    pub options: String,
}

impl Mount {
    /// The mount of a file that is there, or of the folder that it would be in.
    pub fn of(path: &Path) -> Mount {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let there = if path.exists() { path.to_owned() } else { folder };
        let mut mount = Mount { magic: magic(&there).unwrap_or(0), ..Mount::default() };
        let whole = std::fs::canonicalize(&there).unwrap_or(there);
        if let Ok(text) = std::fs::read("/proc/self/mountinfo") {
            mount.find(&text, &whole);
        }
        mount
    }

    /// Takes type, source and options from the line of the mount that `path` is on: the one with the longest mount point above it, and of equal ones the last.
    fn find(&mut self, mountinfo: &[u8], path: &Path) {
        let mut longest = 0;
        for line in mountinfo.split(|b| *b == b'\n') {
            let mut fields = line.split(|b| *b == b' ');
            let (Some(point), Some(options)) = (fields.nth(4), fields.next()) else { continue };
            let point = unescaped(point);
            let length = point.len();
            if !path.starts_with(OsStr::from_bytes(&point)) || length < longest {
                continue;
            }
            let mut behind = fields.skip_while(|field| *field != b"-").skip(1);
            let (Some(fs_type), Some(source)) = (behind.next(), behind.next()) else { continue };
            let text = |bytes: &[u8]| String::from_utf8_lossy(&unescaped(bytes)).into_owned();
            longest = length;
            self.fs_type = text(fs_type);
            self.source = text(source);
            self.options = match behind.next() {
                Some(of_superblock) => format!("{},{}", text(options), text(of_superblock)),
                None => text(options),
            };
        }
    }
}

/// A field of mountinfo, in which blanks and backslashes are octal numbers.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let octal = behind.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, octal.and_then(|digits| u8::from_str_radix(digits, 8).ok())) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                rest = &behind[3..];
            }
            _ => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}

/// The type's number as statfs answers it; `None`: it cannot be asked.
fn magic(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    Some(rustix::fs::statfs(path.as_c_str()).ok()?.f_type as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (path, due) in [
            ("/a/b", ("/a/b", None)),
            ("ufs:/a", ("/a", Some("ufs"))),
            ("NFS:a:b", ("a:b", Some("nfs"))),
            ("daos:/a", ("/a", None)),
            ("./ufs:/a", ("./ufs:/a", None)),
            ("c:/a", ("c:/a", None)),
        ] {
            assert_eq!(split(path.as_bytes()), (due.0.as_bytes(), due.1), "{path}");
        }
    }

    #[test]
    fn the_mount_is_the_longest_one_above() {
        let text = b"1 0 0:1 / / rw,noatime shared:1 - ext4 /dev/a rw,errors=x\n\
            2 1 0:2 / /data\\040one rw - nfs4 host:/x rw,nolock\n\
            3 1 0:3 / /data ro - tmpfs none\n";
        let find = |path: &str| {
            let mut mount = Mount::default();
            mount.find(text, Path::new(path));
            (mount.fs_type, mount.source, mount.options)
        };
        let due = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(find("/home/f"), due("ext4", "/dev/a", "rw,noatime,rw,errors=x"));
        assert_eq!(find("/data one/f"), due("nfs4", "host:/x", "rw,rw,nolock"));
        assert_eq!(find("/data/f"), due("tmpfs", "none", "ro"));
        assert_eq!(find("/database"), due("ext4", "/dev/a", "rw,noatime,rw,errors=x"));
    }

    #[test]
    fn a_path_that_is_there_has_a_mount() {
        let mount = Mount::of(Path::new("/proc/self/status"));
        assert_eq!((mount.magic, mount.fs_type.as_str()), (0x9fa0, "proc"));
    }
}
