//! Names the shared library as the standard does, and has it need `libmpi_abi.so.1` without that library being there: an empty one of that name stands for
//! it at link time, so this crate is built alone, and over whatever library with the standard ABI is installed.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpifort_abi.so.1");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-rpath,$ORIGIN");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let source = Path::new(&out).join("empty.c");
    fs::write(&source, "").expect("OUT_DIR can be written");
    let library = Path::new(&out).join("libmpi_abi.so");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let made = Command::new(&compiler)
        .args(["-shared", "-Wl,-soname,libmpi_abi.so.1", "-o"])
        .args([&library, &source])
        .status()
        .unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(made.success(), "{compiler} does not link an empty library");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--no-as-needed");
    println!("cargo::rustc-cdylib-link-arg=-L{out}");
    println!("cargo::rustc-cdylib-link-arg=-lmpi_abi");
}
