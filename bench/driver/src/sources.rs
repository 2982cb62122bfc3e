//! The sources of the programs that measure: found beside an installed driver in `share/oxmpi/bench`, otherwise in the tree that it was built from; and a sum by which
//! files are known.

use std::path::{Path, PathBuf};

/// Below the prefix of an install.
const INSTALLED: &str = "share/oxmpi/bench";

/// The install that this driver is part of, by the place of its own file (`PREFIX/bin/oxmpi-bench`); none for one that runs where it was built.
pub fn prefix() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    prefix_of(&program)
}

fn prefix_of(program: &Path) -> Option<PathBuf> {
    let prefix = program.parent()?.parent()?;
    prefix.join(INSTALLED).is_dir().then(|| prefix.to_owned())
}

/// The folder of the sources; headers that they share lie beside them.
pub fn folder() -> PathBuf {
    match prefix() {
        Some(prefix) => prefix.join(INSTALLED),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned(),
    }
}

/// A sum over bytes (FNV-1a, 64 bits): equal for equal contents, in every build.
#[derive(Clone, Copy)]
pub struct Sum(u64);

impl Default for Sum {
    fn default() -> Sum {
        Sum(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    pub fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_install_is_known_by_its_sources() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("bin/oxmpi-bench");
        assert_eq!(prefix_of(&program), None);
        std::fs::create_dir_all(folder.path().join(INSTALLED)).expect("it can be written");
        assert_eq!(prefix_of(&program).as_deref(), Some(folder.path()));
    }

    #[test]
    fn sums_are_those_of_the_published_algorithm() {
        let of = |text: &str| {
            let mut sum = Sum::default();
            sum.add(text.as_bytes());
            sum.text()
        };
        assert_eq!((of("").as_str(), of("a").as_str()), ("cbf29ce484222325", "af63dc4c8601ec8c"));
    }

    #[test]
    fn the_tree_has_them() {
        assert!(super::folder().join("multirate/multirate.c").is_file());
    }
}
