//! The table of options keeps its word: every option is given to `mpirun`, which does what
//! `docs/mpirun-options.md` says of it.

use crate::support::{eventually, mpirun};
use oxmpi_mpirun::cli::document;
use oxmpi_mpirun::cli::table::{OPTIONS, Opt, Standing};
use std::path::Path;

/// Values that the option takes.
fn values(option: &Opt, folder: &Path) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let all: &[&str] = match option.name {
        "app" => return vec![file("app")],
        "wdir" | "prefix" | "output-directory" | "output-filename" => return vec![file("")],
        "hostfile" | "f" | "default-hostfile" => return vec![file("hosts")],
        "rankfile" => return vec![file("ranks")],
        "tune" => return vec![file("tune")],
        "report-pid" => return vec![file("pid")],
        "ompi-server" => return vec![format!("file:{}", file("uri"))],
        "path" => &["/usr/bin:/bin"],
        "arch" => &[std::env::consts::ARCH],
        "host" => &["localhost:2"],
        "hosts" => &["localhost"],
        "map-by" => &["slot:oversubscribe"],
        "rank-by" => &["slot"],
        "bind-to" => &["none"],
        "display" => &["map"],
        "append-env" | "prepend-env" => &["A[:]", "b"],
        "set-env" => &["A=b"],
        "prtemca" => &["rmaps_default_mapping_policy", "slot"],
        "mca" | "omca" | "gmca" => &["mpi_yield_when_idle", "1"],
        "output" => &["tag"],
        "stdin" => &["all"],
        "runtime-options" => &["error-nonzero-status=1"],
        "forward-signals" => &["SIGUSR1"],
        "personality" => &["ompi"],
        "with-ft" => &["none"],
        "cpu-set" => return vec![first_core()],
        "ppr" => &["1:node"],
        "timeout" | "spawn-timeout" => &["100"],
        _ => &[],
    };
    let given = all.iter().map(|value| (*value).to_owned());
    let plain = option.values.iter().map(|_| "1".to_owned());
    if all.is_empty() { plain.collect() } else { given.collect() }
}

/// The logical number of a core that we may use.
fn first_core() -> String {
    let shown = mpirun("-n 1 --display topo:parseable --do-not-launch true").run();
    let line = shown.out.lines().find_map(|line| line.split(":core=").nth(1)).expect("a core");
    line.split(':').next().expect("a number").to_owned()
}

/// The file of the user's key.
const KEY: &str = "OXMPI_PORT_KEY_FILE";

/// A server of names, which ends with this.
struct Server(std::process::Child);

impl Server {
    fn start(folder: &Path) -> Server {
        let uri = folder.join("uri");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ompi-server"));
        command.args(["--no-daemonize", "-r"]).arg(&uri).env(KEY, folder.join("key"));
        let server = Server(command.env("OXMPI_SERVER_DIR", folder).spawn().expect("it was built"));
        eventually("the server's URI", || uri.exists().then_some(()));
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_option_does_what_the_table_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    put("app", "-n 1 true\n");
    put("hosts", "localhost slots=2\n");
    put("ranks", &format!("rank 0=localhost slot={}\n", first_core()));
    put("tune", "mpi_yield_when_idle = 1\n");
    let _server = Server::start(folder.path());
    for option in OPTIONS {
        let counted = matches!(option.name, "app" | "np");
        let mut job = mpirun(if counted { "" } else { "-n 1" });
        job.command.env(KEY, folder.path().join("key"));
        let dashes = if option.name.len() == 1 { "-" } else { "--" };
        job.command.arg(format!("{dashes}{}", option.name)).args(values(option, folder.path()));
        if option.name != "app" {
            job.command.arg("true");
        }
        let ended = job.run();
        match option.standing() {
            Standing::Missing(why) => {
                ended.expect(1, &["is known and not supported"]);
                let said = ended.err.replace('\n', " ");
                assert!(said.contains(&format!(" not supported: {why}.")), "--{}: {ended:?}", option.name);
            }
            // It leaves no node to run on.
            _ if option.name == "nolocal" => ended.expect(1, &[":NOLOCAL"]),
            _ => assert_eq!(ended.code(), 0, "--{}: {ended:?}", option.name),
        }
    }
}

#[test]
fn the_page_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mpirun-options.md");
    let page = document::page();
    if std::env::var_os("OXMPI_BLESS").is_some() {
        return std::fs::write(path, page).expect("the page can be written");
    }
    let there = std::fs::read_to_string(path).expect("the page is there");
    assert!(
        there == page,
        "docs/mpirun-options.md is stale: OXMPI_BLESS=1 cargo test -p oxmpi-mpirun --test jobs table"
    );
}
