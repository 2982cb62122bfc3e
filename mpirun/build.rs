//! A parallel debugger looks for MPIR's names among mpirun's dynamic symbols (`launcher/mpir`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bin=mpirun=-Wl,--export-dynamic-symbol=MPIR_*");
}
