//! A parallel debugger looks for MPIR's names among mpirun's dynamic symbols (`launcher/mpir`). And mpirun and its
//! daemons compare which sources they were built from: `OXMPI_BUILD` is a number of all that say anything on their link.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bin=mpirun=-Wl,--export-dynamic-symbol=MPIR_*");
    let mut number = 0xcbf2_9ce4_8422_2325_u64;
    for folder in ["src", "../framework/wireup/src"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_default();
            for byte in file.to_string_lossy().bytes().chain(text) {
                number = (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    println!("cargo::rustc-env=OXMPI_BUILD={number:016x}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
