//! Virtual machines with Debian's stock kernel and soft-RoCE: what they are made of, kept in a folder, and one that runs a script.
//!
//! A guest has the host's file tree, read-only, under an overlay in its memory, and a folder of its own to write results to. QEMU emulates it, or
//! the processor runs it, where that is asked for.

use crate::bounded::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Modules that the first process loads, with those that they need. The two of checksums, and NFS's versions, are asked for by name, which no dependency tells.
const MODULES: [&str; 13] = [
    "virtio_pci",
    "virtio_net",
    "9pnet_virtio",
    "9p",
    "overlay",
    "dummy",
    "rdma_rxe",
    "rdma_ucm",
    "crc32_generic",
    "crc32c_generic",
    "nfsd",
    "nfsv3",
    "nfsv4",
];

/// A file of a Debian package that has to be installed, and the package.
pub type Needed = (&'static str, &'static str);

/// Packages of all guests.
const NEEDED: [Needed; 7] = [
    ("/usr/bin/qemu-system-x86_64", "qemu-system-x86"),
    ("/bin/busybox", "busybox-static"),
    ("/sbin/modprobe", "kmod"),
    ("/usr/bin/cpio", "cpio"),
    ("/usr/bin/rdma", "iproute2"),
    ("/usr/bin/ibv_devinfo", "ibverbs-utils"),
    ("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so", "ibverbs-providers"),
];

/// A kernel and the files of its first process.
pub struct Machine {
    kernel: PathBuf,
    first: PathBuf,
    /// Folders of the host that guests see even below /tmp, of which they have one of their own.
    shown: Vec<PathBuf>,
}

/// A guest's place among others.
pub struct Place {
    /// 1 or 2: the last number of its address.
    pub number: u32,
    /// It has a cable to the other one.
    pub joined: bool,
    /// The processor runs it instead of QEMU.
    pub kvm: bool,
}

pub fn run(command: &mut Command) -> Result<(), String> {
    match bounded::run(command, Duration::from_secs(600)) {
        Outcome::Passed => Ok(()),
        Outcome::Failed(why) => Err(format!("{:?}: {why}", command.get_program())),
    }
}

pub fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    if !out.status.success() {
        return Err(format!("{:?}: {}", command.get_program(), String::from_utf8_lossy(&out.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Installs packages that are missing (as root).
pub fn install_missing(needed: &[Needed]) -> Result<(), String> {
    let missing: Vec<&str> =
        needed.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(&missing);
    run(install.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null()))
        .map_err(|e| format!("a guest needs the Debian packages {}: {e}", missing.join(", ")))
}

impl Machine {
    /// Installs programs that are missing (as root), fetches the kernel once, and packs the first files.
    pub fn prepare(cache: &Path, shown: &[&Path]) -> Result<Machine, String> {
        if cfg!(not(target_arch = "x86_64")) {
            return Err("guests are made for x86-64 alone".into());
        }
        install_missing(&NEEDED)?;
        fs::create_dir_all(cache).map_err(|e| format!("{}: {e}", cache.display()))?;
        let tree = cache.join("kernel");
        if !tree.join("lib/modules").is_dir() {
            fetch_kernel(cache, &tree)?;
        }
        let kernel = only_entry(&tree.join("boot"), "vmlinuz-")?;
        let first = cache.join("first.cpio");
        pack(cache, &tree, &first)?;
        Ok(Machine { kernel, first, shown: shown.iter().map(|folder| folder.to_path_buf()).collect() })
    }

    /// Starts a guest that runs `run.sh` of `folder`.
    pub fn start(&self, folder: &Path, place: &Place, limit: Duration) -> Result<Guest, String> {
        let write = |name: &str, text: &str| {
            fs::write(folder.join(name), text).map_err(|e| format!("{}/{name}: {e}", folder.display()))
        };
        write("main.sh", include_str!("main.sh"))?;
        write("agent.py", include_str!("agent.py"))?;
        let device = if place.joined { "eth0" } else { "" };
        let (number, seconds) = (place.number, limit.as_secs());
        write(
            "settings",
            &format!(
                "name=guest{number} address=192.168.77.{number} device='{device}' limit={seconds} shown='{}'\n",
                self.shown.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" ")
            ),
        )?;
        let _ = fs::remove_file(folder.join("status"));
        let share = |id: &str, path: &Path, options: &str| {
            let device = format!("virtio-9p-pci,fsdev={id},mount_tag={id}");
            let share = format!("local,id={id},path={},security_model=none{options}", path.display());
            ["-fsdev".to_owned(), share, "-device".to_owned(), device]
        };
        // A /dev/kvm that opens may still run no guest, in a virtual machine, say.
        let accelerator = if place.kvm { "kvm" } else { "tcg,thread=multi" };
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args([
                "-M",
                "q35",
                "-cpu",
                "max,arch-capabilities=off",
                "-accel",
                accelerator,
                "-smp",
                "2",
                "-m",
                "2048",
            ])
            .args(["-nodefaults", "-display", "none", "-no-reboot", "-serial"])
            .arg(format!("file:{}", folder.join("console").display()))
            .arg("-kernel")
            .arg(&self.kernel)
            .arg("-initrd")
            .arg(&self.first)
            .args(["-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"])
            .args(share("host", Path::new("/"), ",readonly=on,multidevs=remap"))
            .args(share("job", folder, ""))
            .stdin(Stdio::null());
        if place.joined {
            // An Ethernet between two guests that loses no packet: the bursts of a long RDMA read are more than a socket for datagrams holds, and
            // each that is lost costs the seconds which librdmacm gives an answer.
            let cable = format!("oxmpi-guest-{}", std::process::id());
            if number > 1 {
                until_it_listens(&cable)?;
            }
            let server = if number > 1 { "off" } else { "on" };
            command.arg("-netdev").arg(format!(
                "stream,id=cable,server={server},addr.type=unix,addr.abstract=on,addr.path={cable}"
            ));
            command
                .arg("-device")
                .arg(format!("virtio-net-pci,netdev=cable,host_mtu=4200,mac=52:54:00:77:00:0{number}"));
        }
        let child = command.spawn().map_err(|e| format!("qemu-system-x86_64: {e}"))?;
        // Starting and ending take their time, too, where the machine is busy.
        Ok(Guest {
            child,
            folder: folder.to_owned(),
            until: Instant::now() + limit + Duration::from_secs(120),
        })
    }
}

/// Waits for the first guest's end of the cable, an abstract socket of this name.
fn until_it_listens(cable: &str) -> Result<(), String> {
    let limit = Instant::now() + Duration::from_secs(60);
    let name = format!("@{cable}");
    // The fourth word is 00010000 from listen on.
    let listens = |line: &str| line.ends_with(&name) && line.split_whitespace().nth(3) == Some("00010000");
    while Instant::now() < limit {
        let sockets = fs::read_to_string("/proc/net/unix").map_err(|e| format!("/proc/net/unix: {e}"))?;
        if sockets.lines().any(listens) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("the first guest did not lay its cable in 60 s".into())
}

/// A running guest; ended when this is dropped.
pub struct Guest {
    child: Child,
    folder: PathBuf,
    until: Instant,
}

impl Guest {
    /// Waits for its end: what the script printed, and whether it ended well.
    pub fn end(mut self) -> Result<(bool, String), String> {
        while self.child.try_wait().map_err(|e| e.to_string())?.is_none() {
            if Instant::now() > self.until {
                return Err(format!(
                    "the guest does not end; {} may say why",
                    self.folder.join("console").display()
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let read =
            |name: &str| fs::read(self.folder.join(name)).map(|b| String::from_utf8_lossy(&b).into_owned());
        let Ok(status) = read("status") else {
            return Err(format!(
                "the guest left no result; {} may say why",
                self.folder.join("console").display()
            ));
        };
        Ok((status.trim() == "0", read("out").unwrap_or_default()))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Ended already, mostly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel package that Debian's own one depends on, unpacked and not installed.
fn fetch_kernel(cache: &Path, tree: &Path) -> Result<(), String> {
    let depends = output(Command::new("apt-cache").args(["depends", "linux-image-amd64"]))?;
    let package = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    let package = package.ok_or("apt-cache does not know linux-image-amd64: apt-get update")?.trim();
    let own = cache.join("fetched");
    let _ = fs::remove_dir_all(&own);
    fs::create_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))?;
    output(Command::new("apt-get").args(["download", "-q", package]).current_dir(&own))?;
    let file = only_entry(&own, package)?;
    run(Command::new("dpkg-deb").arg("-x").arg(file).arg(own.join("tree")))?;
    fs::rename(own.join("tree"), tree).map_err(|e| format!("{}: {e}", tree.display()))?;
    fs::remove_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))
}

pub fn only_entry(folder: &Path, prefix: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names = entries.flatten().map(|e| e.path());
    names
        .find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)))
        .ok_or_else(|| format!("{} has no {prefix}*", folder.display()))
}

/// The first process, busybox, and modules in the order of loading.
fn pack(cache: &Path, tree: &Path, out: &Path) -> Result<(), String> {
    let folder = cache.join("first");
    let _ = fs::remove_dir_all(&folder);
    let io = |e: std::io::Error| format!("{}: {e}", folder.display());
    for name in ["bin", "modules", "proc", "sys", "dev"] {
        fs::create_dir_all(folder.join(name)).map_err(io)?;
    }
    fs::copy("/bin/busybox", folder.join("bin/busybox")).map_err(io)?;
    fs::write(folder.join("init"), include_str!("init.sh")).map_err(io)?;
    run(Command::new("chmod").arg("755").arg(folder.join("init")))?;
    let version = only_entry(&tree.join("lib/modules"), "")?;
    let version = version.file_name().unwrap_or_default().to_owned();
    run(Command::new("depmod").arg("-b").arg(tree).arg(&version))?;
    let mut order: Vec<String> = Vec::new();
    for module in MODULES {
        let mut ask = Command::new("modprobe");
        ask.arg("-d").arg(tree).arg("-S").arg(&version).args(["--show-depends", module]);
        // One that is compiled in has nothing to load.
        for path in output(&mut ask)?.lines().filter_map(|line| line.trim().strip_prefix("insmod ")) {
            let path = Path::new(path.split(' ').next().unwrap_or(path));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !order.contains(&name) {
                fs::copy(path, folder.join("modules").join(&name)).map_err(io)?;
                order.push(name);
            }
        }
    }
    fs::write(folder.join("modules/order"), order.join("\n") + "\n").map_err(io)?;
    let pipe = format!("find . | cpio -o -H newc --quiet > '{}'", out.display());
    run(Command::new("sh").args(["-c", &pipe]).current_dir(&folder))
}
