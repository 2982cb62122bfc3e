//! Programs of Debian's ibverbs-utils run on the device, which stands in for their libibverbs.

mod library;

use library::{library, programs};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

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
        let begun = Instant::now();
        loop {
            let (ok, said) = self.pair_at_a_port(program, setup, arguments);
            // Somebody else has taken the port meanwhile.
            if !said.contains("Couldn't listen") || begun.elapsed() > LIMIT {
                return (ok, said);
            }
        }
    }

    fn pair_at_a_port(&self, program: &str, setup: &str, arguments: &[&str]) -> (bool, String) {
        let port = Rig::port();
        let all = [&["-p", &port], arguments].concat();
        let mut server = self.start(program, setup, &all);
        // The server listens some time after it was started; a client that is too early is started anew.
        let begun = Instant::now();
        let (client_ok, client_said) = loop {
            let client = self.start(program, setup, &[&all[..], &["localhost"]].concat());
            let (ok, said) = end(client, program);
            let is_there = matches!(server.try_wait(), Ok(None));
            if !said.contains("Couldn't connect") || !is_there || begun.elapsed() > LIMIT {
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
