//! Programs of Debian's ibverbs-utils run on the device, which stands in for their libibverbs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// The library with symbol versions, linked out of the archive that was built with this test.
fn library(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("the path of this test");
    let profile = exe.ancestors().nth(2).expect("target/<profile>");
    let archive = [profile.join("liboxmpi_verbs_fake.a"), profile.join("deps/liboxmpi_verbs_fake.a")]
        .into_iter()
        .find(|p| p.is_file())
        .expect("the archive beside this test");
    let dir = profile.join("verbs-fake").join(format!("{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("libibverbs.map");
    let status = Command::new("cc")
        .args(["-shared", "-Wl,-soname,libibverbs.so.1", "-Wl,--whole-archive"])
        .arg(archive)
        .arg("-Wl,--no-whole-archive")
        .arg(format!("-Wl,--version-script={}", map.display()))
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"])
        .arg(dir.join("libibverbs.so.1"))
        .status()
        .expect("a C compiler");
    assert!(status.success(), "linking the library");
    dir
}

/// The folder with the programs: where they are installed, or of the package, which apt fetches once and nobody installs. `None`, with the reason
/// printed: it cannot be had.
fn programs() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let is_there = |folder: &PathBuf| folder.join("ibv_srq_pingpong").is_file();
            if let Some(folder) = std::env::split_paths(&path).find(is_there) {
                return Some(folder);
            }
            let fetched = fetched();
            if let Err(why) = &fetched {
                eprintln!("left out: package ibverbs-utils is not installed and cannot be fetched: {why}");
            }
            fetched.ok()
        })
        .as_deref()
}

fn fetched() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let profile = exe.ancestors().nth(2).ok_or("this test is in no target folder")?;
    let whole = profile.join("verbs-fake/ibverbs-utils");
    let programs = whole.join("usr/bin");
    if programs.join("ibv_srq_pingpong").is_file() {
        return Ok(programs);
    }
    // Unpacked beside it and put there whole: other tests do the same.
    let own = profile.join("verbs-fake").join(format!("{}-package", std::process::id()));
    std::fs::create_dir_all(&own).map_err(|e| e.to_string())?;
    let run = |command: &mut Command| match command.current_dir(&own).output() {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(String::from_utf8_lossy(&out.stderr).trim().to_owned()),
        Err(e) => Err(format!("{}: {e}", command.get_program().display())),
    };
    let made = run(Command::new("timeout").args(["60", "apt-get", "download", "ibverbs-utils"]))
        .and_then(|()| run(Command::new("sh").args(["-c", "dpkg-deb -x ibverbs-utils_*.deb tree"])))
        .and_then(|()| match std::fs::rename(own.join("tree"), &whole) {
            Err(e) if !programs.is_dir() => Err(e.to_string()),
            _ => Ok(programs),
        });
    let _ = std::fs::remove_dir_all(&own);
    made
}

struct Rig {
    dir: PathBuf,
    fabric: String,
}

impl Rig {
    fn new(name: &str) -> Rig {
        Rig { dir: library(name), fabric: format!("test-{}-{name}", std::process::id()) }
    }

    fn start(&self, program: &str, setup: &str, arguments: &[&str]) -> Child {
        Command::new(programs().expect("asked for before").join(program))
            .args(arguments)
            .env("LD_LIBRARY_PATH", &self.dir)
            .env("OXMPI_FAKE_VERBS", format!("fabric={},{setup}", self.fabric))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"))
    }

    /// A port that nobody listens at.
    fn port() -> String {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        socket.local_addr().expect("an address").port().to_string()
    }

    /// Server and client; what both said, and whether both ended well.
    fn pair(&self, program: &str, setup: &str, arguments: &[&str]) -> (bool, String) {
        let port = Rig::port();
        let all = [&["-p", &port], arguments].concat();
        let mut server = self.start(program, setup, &all);
        // The server listens some time after it was started; a client that is too early is started anew.
        let begun = Instant::now();
        let (client_ok, client_said) = loop {
            let client = self.start(program, setup, &[&all[..], &["localhost"]].concat());
            let (ok, said) = end(client, program);
            if !said.contains("Couldn't connect") || begun.elapsed() > LIMIT {
                break (ok, said);
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if !client_ok {
            // It waits for a client that is gone.
            let _ = server.kill();
        }
        let (server_ok, server_said) = end(server, program);
        (client_ok && server_ok, format!("client: {client_said}\nserver: {server_said}"))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn end(mut child: Child, program: &str) -> (bool, String) {
    let begun = Instant::now();
    let ok = loop {
        match child.try_wait().expect("a child of ours") {
            Some(status) => break status.success(),
            None if begun.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                break false;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = String::new();
    let _ = child.stdout.take().expect("piped").read_to_string(&mut said);
    let _ = child.stderr.take().expect("piped").read_to_string(&mut said);
    if begun.elapsed() > LIMIT {
        said += &format!("{program} did not end in {LIMIT:?}");
    }
    (ok, said)
}

#[test]
fn devinfo_shows_the_device() {
    if programs().is_none() {
        return;
    }
    let rig = Rig::new("info");
    let (ok, said) = end(rig.start("ibv_devinfo", "", &["-v"]), "ibv_devinfo");
    assert!(ok, "{said}");
    for wanted in ["fake0", "PORT_ACTIVE", "::ffff:192.168.77.1", "RoCE v2", "ATOMIC_HCA"] {
        assert!(said.contains(wanted), "no {wanted} in\n{said}");
    }
    assert!(!said.contains("no version information"), "{said}");
    let (_, said) = end(rig.start("ibv_devinfo", "devices=0", &[]), "ibv_devinfo");
    assert!(said.contains("No IB devices found"), "{said}");
}

#[test]
fn ping_pongs_run() {
    if programs().is_none() {
        return;
    }
    let rig = Rig::new("pingpong");
    for (program, setup, arguments) in [
        ("ibv_rc_pingpong", "", &["-g", "1", "-c"][..]),
        ("ibv_rc_pingpong", "", &["-g", "1", "-e"]),
        ("ibv_rc_pingpong", "", &["-g", "1", "-s", "300000", "-n", "50", "-c"]),
        ("ibv_rc_pingpong", "link=infiniband,mtu=3", &["-n", "200"]),
        ("ibv_rc_pingpong", "uar=static,delay_every=100,delay_us=500", &["-g", "1", "-n", "200"]),
        ("ibv_srq_pingpong", "", &["-g", "1"]),
        ("ibv_srq_pingpong", "", &["-g", "1", "-e", "-n", "300"]),
        ("ibv_ud_pingpong", "", &["-g", "1", "-s", "1024", "-n", "200"]),
    ] {
        let (ok, said) = rig.pair(program, setup, arguments);
        assert!(ok, "{program} {arguments:?} {setup}\n{said}");
        assert!(said.matches("iters in").count() == 2, "{said}");
    }
}

/// Packets that are lost or find no receive request come again; failures are told by name.
#[test]
fn faults_are_mended_or_told() {
    if programs().is_none() {
        return;
    }
    let rig = Rig::new("faults");
    for setup in ["drop=61", "rnr=7", "drop=31,rnr=11"] {
        let (ok, said) = rig.pair("ibv_rc_pingpong", setup, &["-g", "1", "-n", "100", "-c"]);
        assert!(ok, "{setup}\n{said}");
    }
    let (ok, said) = rig.pair("ibv_rc_pingpong", "error_at=20", &["-g", "1", "-n", "100"]);
    assert!(!ok && said.contains("Failed status"), "{said}");
}
