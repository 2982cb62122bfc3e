//! `cargo xtask guest --ofi`: btl-ofi by libfabric's `verbs;ofi_rxm` over a real kernel's soft-RoCE.
//!
//! In one guest: libfabric's own `fi_pingpong` between two ends, which proves the rig, the conformance suite of BTLs, and programs of two ranks. In two guests
//! that are joined: the same programs with a rank on each.

use super::machine::{self, Machine, Needed};
use super::programs::{compile, each};
use super::scripts::{GuestSettings, PAIR, one, pair, path, two};
use crate::sanitize::programs;
use crate::workspace::Workspace;
use std::path::Path;

/// Libraries and programs of the guest, which sees the machine's.
const NEEDED: [Needed; 3] = [
    ("/usr/bin/fi_pingpong", "libfabric-bin"),
    ("/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "libibverbs1"),
    ("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "ibverbs-providers"),
];
/// Options by which a job takes the provider alone.
const OVER_OFI: &str = "--mca btl ofi,self --mca btl_ofi_provider_include 'verbs;ofi_rxm' --mca mpi_yield_when_idle 1 -x FI_UNIVERSE_SIZE";
/// ofi_rxm makes a completion queue for 256 peers; soft-RoCE has none that is so long.
const SETTINGS: &str = "export FI_UNIVERSE_SIZE=64\n";
/// Both ends of `fi_pingpong` on the guest's address.
const PINGPONG: &str = "timeout 120 fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 10 > /tmp/server 2>&1 &
sleep 3
timeout 120 fi_pingpong -p 'verbs;ofi_rxm' -e rdm -I 10 192.168.77.1 && wait $! || { cat /tmp/server; exit 1; }
";

pub fn run(
    workspace: &Workspace,
    machine: &Machine,
    (cache, prefix): (&Path, &Path),
    how: &GuestSettings,
) -> Result<(), String> {
    machine::install_missing(&NEEDED)?;
    let compiled = compile(workspace, cache, prefix)?;
    let in_one = format!("{SETTINGS}{}exit $bad\n", each(prefix, &compiled, ("", OVER_OFI)));
    let in_two = format!("{SETTINGS}{}", each(prefix, &compiled, (PAIR, OVER_OFI)));
    let mut failed = Vec::new();
    let alone =
        [("pingpong", SETTINGS.to_owned() + PINGPONG), ("suite", suite(workspace)?), ("programs", in_one)];
    for (name, script) in alone {
        println!("--- {name}, one guest");
        if let Err(why) = one(machine, cache, name, &script, how) {
            println!("FAILED {name}: {why}");
            failed.push(name);
        }
    }
    println!("--- programs, two guests");
    if let Err(why) = two(machine, cache, &pair(prefix, &in_two), how) {
        println!("FAILED programs, two guests: {why}");
        failed.push("programs in two guests");
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// The suite over the provider, as far as components/btl-ofi/README.md says that it goes.
fn suite(workspace: &Workspace) -> Result<String, String> {
    let cargo = workspace.cargo(&["test", "-p", "btl-ofi"]);
    let built = programs(workspace, cargo, &["providers"])?;
    let program = built.into_iter().find(|p| p.package == "btl-ofi" && p.test.is_some());
    let program = program.ok_or("btl-ofi has no test program providers")?;
    Ok(format!(
        "{SETTINGS}{}cd '{}'\n'{}' --test-threads 1 --nocapture --exact verbs | tee /tmp/suite || exit 1\n! grep 'left out: \\|without libfabric' /tmp/suite\n",
        path(&workspace.root),
        workspace.root.join("components/btl-ofi").display(),
        program.path.display()
    ))
}
