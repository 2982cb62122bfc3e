//! `cargo xtask gni`: libfabric's provider for uGNI, as it was in libfabric 1.17, over the emulation of libugni, with the emulation's rule for threads in force.
//!
//! The interface takes no locks: calls on one device exclude each other by the caller's care. The provider has a lock of each device for that, and calls without it in
//! a few places, [`UNLOCKED`]. So the program of two processes runs twice, with the provider as it is, which the rule is expected to end, and
//! with the lock taken in those places, which has to be whole every time.
//!
//! The provider wants headers and a library of Cray's launcher and of its cache of registrations, which it does not use here: declarations, and functions that
//! fail, stand in `devices/ugni/libfabric`, beside the program.

use crate::conformance::fetch::{self, must};
use crate::workspace::Workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls on a device without its lock: the file, the beginning of the call, and the expression for the device there.
const UNLOCKED: [(&str, &str, &str); 3] = [
    ("gnix_datagram.c", "status = GNI_EpUnbind(d->gni_ep", "d->cm_nic->nic"),
    ("gnix_datagram.c", "status = GNI_EpBind(d->gni_ep", "nic"),
    ("gnix_nic.c", "status = GNI_CqGetEvent(nic->rx_cq_blk", "nic"),
];

/// Providers that are not wanted.
const OTHERS: [&str; 18] = [
    "verbs", "tcp", "udp", "sockets", "rxm", "rxd", "shm", "psm", "psm2", "psm3", "usnic", "efa", "opx",
    "mrail", "rstream", "perf", "bgq", "net",
];

#[derive(clap::Args)]
pub struct Options {
    /// Runs on one node and on two, each
    #[arg(long, default_value_t = 10)]
    rounds: u32,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<(), String> {
    let folder = workspace.target.join("gni");
    let source = fetch::debian(&folder, "libfabric", Some("bookworm"))?;
    println!("gni: libfabric {}", source.version);
    let place = Place { setup: folder.join("setup"), source: source.folder };
    place.set_up(workspace)?;
    let (as_it_is, locked) = (place.build("as-it-is", &|_, text| text)?, place.build("locked", &with_locks)?);
    let program = place.program(workspace)?;
    match place.rounds(&program, &as_it_is, options.rounds) {
        Ok(()) => println!("gni: as it is: whole; no two threads met in {} runs", options.rounds),
        Err(why) => println!("gni: as it is, which is expected: {why}"),
    }
    place.rounds(&program, &locked, options.rounds)?;
    println!(
        "gni: with its lock in {} more places: whole in {} runs on one node and on two",
        UNLOCKED.len(),
        options.rounds
    );
    Ok(())
}

/// Takes the device's lock around the calls of a file that are made without it.
fn with_locks(file: &str, text: String) -> String {
    UNLOCKED.iter().filter(|(of, ..)| *of == file).fold(text, |text, (_, call, nic)| {
        let Some((before, rest)) = text.split_once(call) else { return text };
        let Some((arguments, after)) = rest.split_once(';') else { return text };
        // A thread that is cancelled keeps no lock.
        let cancel = |state| match file {
            "gnix_nic.c" => format!("pthread_setcancelstate({state}, &prev_state); "),
            _ => String::new(),
        };
        format!(
            "{before}{}COND_ACQUIRE({nic}->requires_lock, &{nic}->lock); {call}{arguments}; COND_RELEASE({nic}->requires_lock, &{nic}->lock);{} {after}",
            cancel("PTHREAD_CANCEL_DISABLE"),
            cancel("PTHREAD_CANCEL_ENABLE").trim_end(),
        )
    })
}

struct Place {
    /// `include` and `lib`, as on a Cray.
    setup: PathBuf,
    source: PathBuf,
}

impl Place {
    fn set_up(&self, workspace: &Workspace) -> Result<(), String> {
        must(&mut workspace.cargo(&["build", "--quiet", "-p", "oxmpi-ugni-emulation"]))?;
        let (lib, include) = (self.setup.join("lib"), self.setup.join("include"));
        for folder in [&lib, &include.join("alps")] {
            fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let device = workspace.root.join("devices/ugni");
        let ours = device.join("libfabric");
        copy(&workspace.target.join("debug/liboxmpi_ugni_emulation.so"), &lib.join("libugni.so.0"))?;
        copy(&workspace.target.join("debug/liboxmpi_ugni_emulation.so"), &lib.join("libugni.so"))?;
        copy(&device.join("include/gni_pub.h"), &include.join("gni_pub.h"))?;
        copy(&ours.join("udreg_pub.h"), &include.join("udreg_pub.h"))?;
        for name in ["alps.h", "alps_toolAssist.h", "libalpsutil.h", "libalpslli.h"] {
            copy(&ours.join("alps").join(name), &include.join("alps").join(name))?;
        }
        let mut none = Command::new("cc");
        none.args(["-shared", "-fPIC", "-I"]).arg(&include).arg(ours.join("none.c"));
        must(none.arg("-o").arg(lib.join("libalps_none.so")))?;
        let (lib, include) = (lib.display(), include.display());
        for name in ["cray-gni-headers", "cray-ugni", "cray-alpslli", "cray-alpsutil", "cray-udreg"] {
            let text = format!(
                "Name: {name}\nDescription: in software\nVersion: 6.0.14\nCflags: -I{include}\nLibs: -L{lib} -lugni -lalps_none\n"
            );
            write(&self.setup.join(format!("lib/{name}.pc")), text)?;
        }
        // Version, tag and cookie: the provider's way to them without a launcher.
        let credentials: Vec<u8> = [0_u32, 10, 10].into_iter().flat_map(u32::to_ne_bytes).collect();
        write(&self.setup.join("credentials"), credentials)
    }

    /// The folder of a library whose provider's files went through `change`.
    fn build(&self, name: &str, change: &dyn Fn(&str, String) -> String) -> Result<PathBuf, String> {
        let installed = self.setup.join(name);
        if !self.source.join("configure").is_file() {
            must(Command::new("./autogen.sh").current_dir(&self.source))?;
        }
        let files = self.source.join("prov/gni/src");
        for file in ["gnix_datagram.c", "gnix_nic.c", "gnix_util.c"] {
            let (now, kept) = (files.join(file), files.join(format!("{file}.orig")));
            if !kept.is_file() {
                copy(&now, &kept)?;
            }
            let text = fs::read_to_string(&kept).map_err(|e| format!("{}: {e}", kept.display()))?;
            let credentials = self.setup.join("credentials");
            let text = text.replace("/tmp/ccm_alps_info", &credentials.display().to_string());
            write(&now, change(file, text))?;
        }
        if !self.source.join("Makefile").is_file() {
            let mut configure = Command::new("./configure");
            configure.args(["--quiet", "--disable-static", "--enable-gni", "--disable-xpmem"]);
            configure.args(OTHERS.map(|provider| format!("--disable-{provider}")));
            configure.arg("CFLAGS=-O1 -g -w").arg("LIBS=-lpthread -ldl -lm -lrt -latomic");
            must(configure.current_dir(&self.source).env("PKG_CONFIG_PATH", self.setup.join("lib")))?;
        }
        let mut make = Command::new("make");
        // It may look for the packages once more.
        make.current_dir(&self.source).env("PKG_CONFIG_PATH", self.setup.join("lib"));
        must(make.args(["--silent", "-j2", "src/libfabric.la"]))?;
        fs::create_dir_all(&installed).map_err(|e| format!("{}: {e}", installed.display()))?;
        copy(&self.source.join("src/.libs/libfabric.so.1"), &installed.join("libfabric.so.1"))?;
        Ok(installed)
    }

    fn program(&self, workspace: &Workspace) -> Result<PathBuf, String> {
        let program = self.setup.join("exchange");
        let mut compile = Command::new("cc");
        compile.arg("-O1").arg("-I").arg(self.source.join("include"));
        compile.arg(workspace.root.join("devices/ugni/libfabric/exchange.c"));
        compile.arg(self.setup.join("as-it-is/libfabric.so.1"));
        compile.arg(format!("-Wl,-rpath-link,{}", self.setup.join("lib").display()));
        must(compile.arg("-o").arg(&program))?;
        Ok(program)
    }

    /// Runs the program on one node and on two.
    fn rounds(&self, program: &Path, library: &Path, rounds: u32) -> Result<(), String> {
        for round in 0..rounds {
            for nodes in ["1", "2"] {
                let mut command = Command::new("timeout");
                command.arg("60").arg(program).arg(nodes).env_remove("OXMPI_UGNI");
                let libraries = format!("{}:{}", library.display(), self.setup.join("lib").display());
                let done = command.env("LD_LIBRARY_PATH", libraries).output().map_err(|e| e.to_string())?;
                if !done.status.success() {
                    let said = String::from_utf8_lossy(&done.stderr);
                    let said = said.lines().rev().take(3).collect::<Vec<_>>().join("; ");
                    return Err(format!("run {round} on {nodes} node(s): {}: {said}", done.status));
                }
            }
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|e| format!("{}: {e}", from.display()))
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::with_locks;

    #[test]
    fn a_call_is_put_between_lock_and_unlock() {
        let text = "a;\nstatus = GNI_EpBind(d->gni_ep,\n x);\nb;".to_owned();
        let locked = with_locks("gnix_datagram.c", text.clone());
        let at = |part: &str| locked.find(part).unwrap_or_else(|| panic!("{part} in {locked}"));
        assert!(at("COND_ACQUIRE(nic->requires_lock") < at("GNI_EpBind") && at(" x);") < at("COND_RELEASE"));
        assert!(at("COND_RELEASE") < at("b;"));
        assert_eq!(with_locks("gnix_util.c", text.clone()), text);
    }
}
