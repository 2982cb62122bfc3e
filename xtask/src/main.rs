//! The project's commands: `cargo xtask --help`.
//!
//! Map: `workspace` (what cargo knows of it) · `bounded` (runs a command within a limit) ·
//! `install` · `package` (tar, Debian, wheel) · `demo` · `suite` (`cargo xtask test`) · `generate` (files made from `mpi/abi`) ·
//! `conformance` (suites that others wrote) · `apps` (programs of others) · `sanitize`
//! (ThreadSanitizer) · `helgrind` (and DRD) · `bindings` (our declarations against crates with the same interface), `ibverbs` · `libfabric` (2.x beside the machine's) · `gni` (libfabric's provider over libugni in software) · `guest` (virtual machines with soft-RoCE) · `freeze` (the contracts of a version, kept).

mod apps;
mod bindings;
mod bounded;
mod conformance;
mod demo;
mod freeze;
mod generate;
mod gni;
mod guest;
mod helgrind;
mod ibverbs;
mod install;
mod libfabric;
mod package;
mod sanitize;
mod suite;
mod transcript;
mod workspace;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, installs, tests and generates")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install into target/oxmpi, compile bench/multirate with mpicc and run it on 2 ranks
    Demo,
    /// Run all tests
    Test {
        /// Run only the steps whose names contain one of these
        steps: Vec<String>,
        /// Name the steps and stop
        #[arg(long)]
        list: bool,
    },
    /// Make a relocatable install
    Install {
        /// Folder to install into; made if missing
        #[arg(long)]
        prefix: PathBuf,
        /// Link the components into the library as well
        #[arg(long)]
        builtin: bool,
    },
    /// Build and run programs of others and write their section of docs/CONFORMANCE.md
    Apps(apps::Options),
    /// Make a tar file, a Debian package and a Python wheel; needs tar, dpkg-deb and python3
    Package(package::Options),
    /// Run suites that others wrote and write docs/CONFORMANCE.md
    Conformance(conformance::Options),
    /// Run btl-verbs over soft-RoCE in virtual machines; installs QEMU and fetches Debian's kernel
    Guest(guest::Options),
    /// Build libfabric's provider for uGNI, which is fetched, over libugni in software, and run two processes with it, as it is and
    /// with its locks
    Gni(gni::Options),
    /// Run the tests of crates with shared state under ThreadSanitizer; needs a nightly toolchain
    Sanitize {
        /// The tests of messages between threads under valgrind's helgrind and DRD instead; needs valgrind
        #[arg(long)]
        helgrind: bool,
    },
    /// Run the layouts, tests and jobs of btl-ofi with a libfabric of 2.x, which is fetched, beside the machine's
    Libfabric {
        /// Only these
        steps: Vec<libfabric::Step>,
    },
    /// Compare our layouts and numbers of libibverbs and libfabric with the crates ibverbs, libfabric-sys and ofi-libfabric-sys, which
    /// are fetched; needs libclang
    Bindings,
    /// Keep the contracts of a version of the component ABI in tests/abi, with components of it in C and in Rust; once for each
    /// version, when it is released, and never again
    Freeze(freeze::Options),
    /// Write the files made from mpi/abi and mpi/src
    Generate {
        /// Write nothing and fail when one is stale
        #[arg(long)]
        check: bool,
    },
}

fn run(arguments: Arguments) -> Result<(), String> {
    let workspace = Workspace::read()?;
    match arguments.command {
        Command::Demo => demo::run(&workspace),
        Command::Test { steps, list } => suite::run(&workspace, &steps, list),
        Command::Install { prefix, builtin } => {
            let done = install::run(&workspace, &prefix, builtin)?;
            println!("installed {} files into {}", done.files, done.prefix.display());
            Ok(())
        }
        Command::Apps(options) => apps::run(&workspace, &options),
        Command::Package(options) => package::run(&workspace, &options),
        Command::Conformance(options) => conformance::run(&workspace, &options),
        Command::Gni(options) => gni::run(&workspace, &options),
        Command::Guest(options) => guest::run(&workspace, &options),
        Command::Libfabric { steps } => libfabric::run(&workspace, &steps),
        Command::Bindings => {
            ibverbs::run(&workspace)?;
            libfabric::run(&workspace, &[libfabric::Step::Crates])
        }
        Command::Freeze(options) => freeze::run(&workspace, &options),
        Command::Sanitize { helgrind: false } => sanitize::run(&workspace),
        Command::Sanitize { helgrind: true } => helgrind::run(&workspace),
        Command::Generate { check } => {
            let action = if check { generate::Action::Check } else { generate::Action::Write };
            generate::run(&workspace.root, action)
        }
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("xtask: {text}");
            ExitCode::FAILURE
        }
    }
}
