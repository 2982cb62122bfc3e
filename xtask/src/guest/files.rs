//! `cargo xtask guest --files VERSIONS`: files on a kernel's NFS server, in two guests that both mount it by those versions of NFS, as `3,4.2`.
//!
//! The first guest exports a folder of its memory and mounts it from itself; the second mounts it over the cable. So there are two clients, which keep data as clients do, and
//! the server's locks. MPICH's programs of files are compiled here and run there with ranks on both, in a folder of the export; then `files_random` with seeds of its own. Results of
//! MPICH's programs go into docs/CONFORMANCE.md.

use super::machine::{self, Machine, Needed};
use super::scripts::{GuestSettings, PAIR, pair, path, two};
use crate::bounded::{self, Outcome};
use crate::conformance::{self, Word, fetch};
use crate::workspace::Workspace;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Programs of the server and the clients.
const NEEDED: [Needed; 3] = [
    ("/usr/sbin/rpc.nfsd", "nfs-kernel-server"),
    ("/usr/sbin/mount.nfs", "nfs-common"),
    ("/usr/sbin/rpcbind", "rpcbind"),
];

/// Seeds of the random operations for each version, and seconds at most.
const SEEDS: u32 = 40;
const SECONDS: u32 = 120;
/// Seconds for one of MPICH's programs. Some write thousands of pieces of 4 bytes, each a message to the server, and the machines are emulated.
const LIMIT: u32 = 900;
/// As a line of the guest names them.
const RANDOM: &str = "random operations";

/// One of MPICH's programs: its folder and name, number of ranks, arguments.
struct Program {
    name: String,
    ranks: u32,
    arguments: String,
}

pub fn run(
    workspace: &Workspace,
    machine: &Machine,
    (cache, prefix): (&Path, &Path),
    versions: &[String],
    how: &GuestSettings,
) -> Result<(), String> {
    machine::install_missing(&NEEDED)?;
    let build = cache.join("files");
    let (programs, suite) = compile(workspace, prefix, &build)?;
    let out = two(machine, cache, &pair(prefix, &script(prefix, &build, &programs, versions)), how)?;
    let mut wrong = Vec::new();
    for version in versions {
        let (passed, failed) = (format!("passed  nfs {version}: "), format!("FAILED  nfs {version}: "));
        let ended = |line: &str| {
            let ended = [(&passed, Word::Pass), (&failed, Word::Fail)];
            ended
                .into_iter()
                .find_map(|(words, word)| Some((line.strip_prefix(words)?.trim_end().to_owned(), word)))
        };
        let mut tests: BTreeMap<String, Word> = out.lines().filter_map(ended).collect();
        if tests.remove(RANDOM) != Some(Word::Pass) {
            wrong.push(format!("nfs {version}: {RANDOM}"));
        }
        if tests.len() != programs.len() {
            wrong.push(format!("nfs {version}: {} of {} programs ran", tests.len(), programs.len()));
        }
        let name = format!("files on a kernel's NFS server, version {version}, two clients");
        wrong.extend(conformance::record_programs(workspace, [&name, &options(), &suite], tests).err());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Options of mpirun in the guests.
fn options() -> String {
    let hosts = PAIR.replace("guest1:1,192.168.77.2:1", "guest1:4,192.168.77.2:4");
    format!("{hosts} --map-by node:oversubscribe --mca btl tcp,shm,self --mca mpi_yield_when_idle 1")
}

/// Compiles MPICH's programs and ours; the tests to run, and the suite's version.
fn compile(workspace: &Workspace, prefix: &Path, build: &Path) -> Result<(Vec<Program>, String), String> {
    let folder = workspace.root.join("target/conformance");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let suite = fetch::mpich(&folder)?;
    let driver = |more: &str| {
        let mut command = Command::new("python3");
        command.arg(workspace.root.join("tests/conformance/mpich_suite.py")).arg(&suite.folder);
        command.arg("--build").arg(build).arg("--mpicc").arg(prefix.join("bin/mpicc"));
        command.args(["--dirs", "io,errors/io", "--keep", more]);
        command
    };
    fetch::must(&mut driver("--build-only"))?;
    let listed = machine::output(&mut driver("--list"))?;
    let programs: Vec<Program> = listed.lines().filter_map(|line| listed_program(build, line)).collect();
    if programs.is_empty() {
        return Err(format!("{}: no program of files was made", build.display()));
    }
    let sources = workspace.root.join("tests/programs");
    let mut command = Command::new(prefix.join("bin/mpicc"));
    command.args(["-O1", "-pthread", "-I"]).arg(&sources).arg(sources.join("files_random.c"));
    match bounded::run(command.arg("-o").arg(build.join("files_random")), Duration::from_secs(120)) {
        Outcome::Passed => Ok((programs, suite.version)),
        Outcome::Failed(why) => Err(format!("files_random.c: {why}")),
    }
}

/// A line of the suite's list, if the program was made, and the suite does not leave it out, which it says behind a `#`.
fn listed_program(build: &Path, line: &str) -> Option<Program> {
    if line.contains('#') {
        return None;
    }
    let mut words = line.split_whitespace();
    let (name, ranks) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
    let made = build.join(&name).is_file();
    made.then(|| Program { name, ranks, arguments: words.collect::<Vec<_>>().join(" ") })
}

/// Lines by which a guest has what NFS needs of it: the port mapper, and whom it asks whether a client is up.
const CLIENT: &str = "mkdir -p /run/rpcbind /tmp/nfs
printf '192.168.77.1 guest1\\n192.168.77.2 guest2\\n' >> /etc/hosts
rpcbind < /dev/null > /tmp/rpcbind.log 2>&1
rpc.statd --no-notify < /dev/null > /tmp/statd.log 2>&1
";

/// The server: an export of memory, locks and opens that need not wait long for clients of an earlier life.
const SERVER: &str = "mkdir -p /export /var/lib/nfs/v4recovery /var/lib/nfs/rpc_pipefs
mount -t tmpfs own /export
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 > /proc/sys/fs/nfs/nlm_grace_period
exportfs -o rw,no_root_squash,no_subtree_check,fsid=0 '*:/export'
rpc.mountd
rpc.nfsd --grace-time 10 --lease-time 10 4
";

/// The script of the first guest: server, clients, and programs by each version.
fn script(prefix: &Path, build: &Path, programs: &[Program], versions: &[String]) -> String {
    let mut script = format!(
        "{}other() {{ python3 /job/agent.py 192.168.77.2 \"$@\"; }}\n{CLIENT}{SERVER}other '{}'\nbad=0\n",
        path(prefix),
        CLIENT.replace('\'', "'\\''")
    );
    let job = format!("mpirun {}", options());
    for version in versions {
        // The export is the root of what version 4 has.
        let export = if version.starts_with('3') { "/export" } else { "/" };
        let mount = format!("mount -t nfs -o vers={version},proto=tcp 192.168.77.1:{export} /tmp/nfs");
        let _ = writeln!(script, "{mount} && other '{mount}' || bad=1");
        let _ = writeln!(script, "other 'grep /tmp/nfs /proc/mounts' | grep -q vers={version} || bad=1");
        for program in programs {
            let Program { name, ranks, arguments } = program;
            let what = format!("{name} np={ranks} {arguments}");
            let folder = format!("/tmp/nfs/{}", name.replace('/', "-"));
            let _ = writeln!(
                script,
                "mkdir -p {folder}; timeout {LIMIT} {job} --wdir {folder} -n {ranks} '{}' {arguments} > out 2>&1 && grep -q 'No Errors' out \
                 && echo 'passed  nfs {version}: {what}' || {{ echo 'FAILED  nfs {version}: {what}'; cat out; }}",
                build.join(name).display()
            );
        }
        let seed = 1_000_000;
        let _ = writeln!(
            script,
            "mkdir -p /tmp/nfs/{version}; timeout 600 {job} -n 4 --mca io_ompio_coll_timing_info 1 '{}' /tmp/nfs/{version} {seed} {SEEDS} {SECONDS} > out 2>&1 \
             && grep -q 'served by nfs' out && [ $(grep -c '^ok' out) = 4 ] && echo 'passed  nfs {version}: {RANDOM}' \
             || {{ echo 'FAILED  nfs {version}: {RANDOM}'; tail -n 40 out; }}",
            build.join("files_random").display()
        );
        let _ = writeln!(script, "grep -c 'served by nfs' out; umount /tmp/nfs; other 'umount /tmp/nfs'");
    }
    script
}
