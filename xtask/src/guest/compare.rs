//! `cargo xtask guest --compare`: latency and rate over soft-RoCE, ours and Debian's Open MPI, in turns in one guest.
//!
//! Open MPI's packages are unpacked and not installed; the guest lays them over its own files. It is told to use libfabric's datagrams of the verbs device
//! (`verbs;ofi_rxd`): of what Debian's build has this is what works on soft-RoCE, see `bench/results/btl-verbs.md`. The device's own counter of packets says
//! that a run went over it.

use super::machine::{self, Machine};
use super::scripts::{GuestSettings, one, path};
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 9;
/// Bytes of messages there and back, and rounds of each.
const SIZES: [u32; 3] = [8, 1024, 16384];
const TURNS: u32 = 300;
/// Bytes of messages in windows, windows, and messages of each.
const RATES: [u32; 2] = [8, 1024];
const WINDOWS: u32 = 50;
const WINDOW: u32 = 64;
/// Of both programs, before their clocks start.
const WARM_UP: u32 = 10;

const OURS: &str = "mpirun -n 2 --mca btl verbs,self";
const THEIRS: &str = "mpirun.openmpi --allow-run-as-root -n 2 --bind-to none -x LD_LIBRARY_PATH --mca pml cm --mca mtl ofi \
     --mca mtl_ofi_provider_include 'verbs;ofi_rxd' --mca opal_common_ofi_provider_include 'verbs;ofi_rxd'";

pub fn run(
    workspace: &Workspace,
    machine: &Machine,
    cache: &Path,
    prefix: &Path,
    how: &GuestSettings,
) -> Result<(), String> {
    let theirs = cache.join("openmpi");
    if !theirs.join("usr/bin/mpirun.openmpi").exists() {
        fetch(cache, &theirs)?;
    }
    let programs = compile(workspace, cache, prefix, &theirs)?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "load of this machine when it began: {}; guests are {}",
        load.split(' ').next().unwrap_or("unknown"),
        if how.kvm { "run by the processor" } else { "emulated" }
    );
    let out = one(machine, cache, "compare", &script(prefix, &theirs, &programs), how)?;
    println!("{}", table(&read(&out)?)?);
    Ok(())
}

/// Open MPI with all that it needs and this machine does not have, unpacked.
fn fetch(cache: &Path, tree: &Path) -> Result<(), String> {
    let plan = machine::output(Command::new("apt-get").args([
        "install",
        "-s",
        "-q",
        "--no-install-recommends",
        "openmpi-bin",
    ]))?;
    let mut packages: Vec<&str> =
        plan.lines().filter_map(|l| l.strip_prefix("Inst ")?.split(' ').next()).collect();
    packages.extend(["openmpi-bin", "libopenmpi-dev"]);
    packages.sort_unstable();
    packages.dedup();
    let own = cache.join("fetched");
    let io = |e: std::io::Error| format!("{}: {e}", own.display());
    let _ = fs::remove_dir_all(&own);
    fs::create_dir_all(&own).map_err(io)?;
    machine::output(Command::new("apt-get").args(["download", "-q"]).args(&packages).current_dir(&own))?;
    for file in fs::read_dir(&own).map_err(io)?.flatten() {
        machine::run(Command::new("dpkg-deb").arg("-x").arg(file.path()).arg(own.join("tree")))?;
    }
    // A script of this package would make the name by which it is looked for.
    let psm = own.join("tree/usr/lib/libpsm1");
    if let Ok(library) = machine::only_entry(&psm, "libpsm_infinipath.so.1.") {
        let name = library.file_name().unwrap_or_default();
        std::os::unix::fs::symlink(name, psm.join("libpsm_infinipath.so.1")).map_err(io)?;
    }
    fs::rename(own.join("tree"), tree).map_err(|e| format!("{}: {e}", tree.display()))?;
    fs::remove_dir_all(&own).map_err(io)
}

/// Both programs by both libraries, in a folder that guests see.
fn compile(workspace: &Workspace, cache: &Path, prefix: &Path, theirs: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("compare");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let library = theirs.join("usr/lib/x86_64-linux-gnu/openmpi");
    for source in ["verbs/latency.c", "multirate/multirate.c"] {
        let source = workspace.root.join("bench").join(source);
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let flags = ["-std=gnu11", "-O2", "-pthread"];
        let mut ours = Command::new(prefix.join("bin/mpicc"));
        machine::run(ours.args(flags).arg(&source).arg("-o").arg(folder.join(format!("{name}-ours"))))?;
        let mut command = Command::new("cc");
        command.args(flags).arg("-I").arg(library.join("include")).arg(&source);
        command.arg("-o").arg(folder.join(format!("{name}-theirs")));
        command.arg("-L").arg(library.join("lib"));
        // Libraries that Open MPI's own libraries need are found in the guest.
        machine::run(command.args(["-lmpi", "-Wl,--unresolved-symbols=ignore-in-shared-libs"]))?;
    }
    Ok(folder)
}

fn script(prefix: &Path, theirs: &Path, programs: &Path) -> String {
    let (tree, programs) = (theirs.display(), programs.display());
    let mut script = format!(
        "{}mount -t overlay usr -o lowerdir='{tree}/usr':/usr /usr && cp -a '{tree}/etc/.' /etc/ || exit 3
export LD_LIBRARY_PATH=/usr/lib/libpsm1
mpirun.openmpi --version | head -n 1
count() {{ cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts; }}
measure() {{
    echo \"@ $1\"; shift; before=$(count)
    timeout 100 \"$@\" 2> errors || {{ cat errors; exit 1; }}
    echo \"packets=$(($(count) - before))\"
}}
",
        path(prefix)
    );
    let sizes = SIZES.map(|n| n.to_string()).join(",");
    for _ in 0..ROUNDS {
        for (whose, launcher) in [("ours", OURS), ("theirs", THEIRS)] {
            // Writing to a String cannot fail.
            let _ = writeln!(
                script,
                "measure '{whose} latency' {launcher} '{programs}/latency-{whose}' -b {sizes} -k {TURNS}"
            );
        }
        for bytes in RATES {
            for (whose, launcher) in [("ours", OURS), ("theirs", THEIRS)] {
                let _ = writeln!(
                    script,
                    "measure '{whose} rate' {launcher} '{programs}/multirate-{whose}' -Dthrds -v -s {bytes} -w {WINDOW} -i {WINDOWS}"
                );
            }
        }
    }
    script
}

/// By quantity: ours and theirs, round by round.
type Values = BTreeMap<(&'static str, u32), [Vec<f64>; 2]>;

/// Reads the values that the guest printed. A run with fewer packets than messages did not go over the device.
fn read(out: &str) -> Result<Values, String> {
    let mut values = Values::new();
    let mut turn = None;
    for line in out.lines() {
        if let Some(title) = line.strip_prefix("@ ") {
            turn = title.split_once(' ').map(|(whose, what)| (usize::from(whose == "theirs"), what));
        }
        let Some((whose, what)) = turn else { continue };
        let field = |name: &str| {
            line.split_whitespace().find_map(|w| w.strip_prefix(name)?.strip_prefix('=')?.parse::<f64>().ok())
        };
        let columns: Vec<&str> = line.split('\t').collect();
        if let Some(packets) = field("packets") {
            let turns = SIZES.len() as u32 * (TURNS + WARM_UP) * 2;
            let due = if what == "latency" { turns } else { WINDOW * (WINDOWS + WARM_UP) };
            if packets < f64::from(due) {
                return Err(format!("{packets} packets for {due} messages: not over the device"));
            }
        } else if let (Some(bytes), Some(value)) = (field("bytes"), field("value")) {
            values.entry(("latency, us", bytes as u32)).or_default()[whose].push(value);
        } else if let [_, _, _, _, bytes, .., rate] = columns[..]
            && let (Ok(bytes), Some(Ok(rate))) = (bytes.parse(), rate.split(' ').next().map(str::parse))
        {
            values.entry(("rate, messages/s", bytes)).or_default()[whose].push(rate);
        }
    }
    Ok(values)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Medians, and how much better ours is in the same round: the median and the range.
fn table(values: &Values) -> Result<String, String> {
    let mut text = String::from(
        "| | bytes | ours | Open MPI | ours is better by (range of rounds) |\n|---|---|---|---|---|\n",
    );
    for ((what, bytes), [ours, theirs]) in values {
        if ours.len() != ROUNDS || theirs.len() != ROUNDS {
            return Err(format!("{what}, {bytes} bytes: {} and {} rounds", ours.len(), theirs.len()));
        }
        let pairs = ours.iter().zip(theirs);
        let by: Vec<f64> = pairs.map(|(o, t)| if what.starts_with("rate") { o / t } else { t / o }).collect();
        let edge = |pick: fn(f64, f64) -> f64| by.iter().copied().reduce(pick).unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "| {what} | {bytes} | {:.1} | {:.1} | {:.2} ({:.2} to {:.2}) |",
            median(ours),
            median(theirs),
            median(&by),
            edge(f64::min),
            edge(f64::max)
        );
    }
    let due = SIZES.len() + RATES.len();
    if values.len() == due { Ok(text) } else { Err(format!("{} of {due} quantities", values.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of a guest in all rounds, ours in half the time of theirs.
    fn printed(packets: u32) -> String {
        let mut out = String::from("mpirun (Open MPI) 4.1.4\n");
        for _ in 0..ROUNDS {
            for (whose, factor) in [("ours", 1), ("theirs", 2)] {
                let _ = writeln!(out, "@ {whose} latency");
                for bytes in SIZES {
                    let _ =
                        writeln!(out, "bytes={bytes} value={}.000 unit=us seconds=1 verified=1", 10 * factor);
                }
                let _ = writeln!(out, "packets={packets}");
                for bytes in RATES {
                    let rate = 1000 / factor;
                    let _ = writeln!(
                        out,
                        "@ {whose} rate\n1\t1\t1\t1\t{bytes}\t64\t0.10 Gbps\t9.00 usec\t{rate}.00 msg/s\npackets=9000"
                    );
                }
            }
        }
        out
    }

    #[test]
    fn rounds_are_compared_one_by_one() {
        let text = table(&read(&printed(9000)).unwrap()).unwrap();
        for due in [
            "| latency, us | 8 | 10.0 | 20.0 | 2.00 (",
            "| rate, messages/s | 1024 | 1000.0 | 500.0 | 2.00 (",
        ] {
            assert!(text.contains(due), "no {due} in\n{text}");
        }
    }

    #[test]
    fn another_way_than_the_device_is_noticed() {
        assert!(read(&printed(12)).is_err_and(|why| why.contains("not over the device")));
        assert!(table(&read("@ ours latency\nbytes=8 value=1\n").unwrap()).is_err());
    }
}
