//! Files whose whole text is the value of a parameter: read by whoever reads parameter files, once for the job.

use crate::origin::{Origin, Tier};
use std::ffi::OsString;
use std::path::Path;

/// Most bytes of such a file: its text travels as one variable of the environment, which Linux bounds by 128 KiB.
pub const MOST: u64 = 100 << 10;

/// Reads the text of a file. `Err`: the reason, to follow the file's name.
pub fn read(path: &Path) -> Result<OsString, String> {
    let cannot = |why: std::io::Error| format!("cannot be read: {why}");
    let facts = std::fs::metadata(path).map_err(cannot)?;
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    if facts.len() > MOST {
        return Err(format!("has {} bytes, which are more than {MOST}", facts.len()));
    }
    let text = std::fs::read(path).map_err(cannot)?;
    match String::from_utf8(text) {
        Ok(text) if text.contains('\0') => Err("is not text: it has a zero byte".into()),
        Ok(text) => Ok(text.into()),
        Err(_) => Err("is not UTF-8 text".into()),
    }
}

/// The source of the text: the file, with the weight of the one that names it, as far as a file can have that.
pub fn origin(path: &Path, named_by: &Origin) -> Origin {
    let tier = match named_by {
        Origin::File { tier, .. } => *tier,
        _ => Tier::Tune,
    };
    Origin::File { tier, path: path.into(), line: 1 }
}
