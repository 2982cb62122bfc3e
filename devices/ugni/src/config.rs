//! Set-up of the emulation by one variable of the environment: `OXMPI_UGNI=name=value,name=value`. README.md has the list.
//!
//! The job's credentials come from where Cray's process manager leaves them: PMI_GNI_PTAG, PMI_GNI_COOKIE and PMI_GNI_LOC_ADDR, the first
//! number of each list. Where they are absent any pair is permitted, and the node's address is 1.

use crate::numbers::{device, status};
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Processes of different fabrics do not meet.
    pub fabric: String,
    /// GNI_DEVICE_GEMINI or GNI_DEVICE_ARIES.
    pub device: i32,
    pub devices: u32,
    /// Address of this process's node.
    pub node: u32,
    /// The variable whose value stands for the node, where neither set-up nor manager gives an address.
    pub node_by: Option<String>,
    pub version: u32,
    /// The pair that a domain must have; `None`: any.
    pub ptag: Option<u8>,
    pub cookie: Option<u32>,
    // --- limits of a node ---
    pub fma: u32,
    pub cqs: u32,
    pub mdds: u32,
    /// Pages of 4 KiB that may be registered, 0: no limit.
    pub mrt: u64,
    /// Bulk transfers under way in a process.
    pub bte: u32,
    // --- faults; 0: none ---
    /// The n-th post of the process completes with `error_status`.
    pub error_at: u64,
    pub error_status: u8,
    /// Every n-th post is refused with ERROR_RESOURCE.
    pub refuse: u64,
    /// Every completion queue overruns at its n-th entry.
    pub overrun_at: u64,
    /// Every n-th datagram packet is lost once.
    pub datagram_drop: u64,
    pub datagram_delay: Duration,
    /// Every n-th message is lost once.
    pub smsg_drop: u64,
    /// Remote events of puts precede their data.
    pub early_event: bool,
    /// Completions come in an order drawn from this seed.
    pub shuffle: u64,
    /// The source of a fast put is read when the packet is made, as on Aries, not in the call.
    pub late: bool,
    /// A fast get and an atomic need an aligned local address on Aries, too.
    pub strict: bool,
    /// Two threads in one device are counted instead of ending the process.
    pub lenient: bool,
}

impl Config {
    pub const VARIABLE: &'static str = "OXMPI_UGNI";

    fn of(device: i32) -> Config {
        let gemini = device == device::GEMINI;
        Config {
            fabric: "default".into(),
            device,
            devices: 1,
            node: 1,
            node_by: None,
            version: if gemini { 0x5500_00ad } else { 0x5d01_0002 },
            ptag: None,
            cookie: None,
            fma: if gemini { 64 } else { 123 },
            cqs: if gemini { 1024 } else { 2037 },
            mdds: if gemini { 4096 } else { 3686 },
            mrt: if gemini { 16384 } else { 0 },
            bte: 1023,
            error_at: 0,
            error_status: status::SSID_TIMEOUT,
            refuse: 0,
            overrun_at: 0,
            datagram_drop: 0,
            datagram_delay: Duration::ZERO,
            smsg_drop: 0,
            early_event: false,
            shuffle: 0,
            late: !gemini,
            strict: false,
            lenient: false,
        }
    }

    /// Reads a set-up. The device's type is applied first, since it chooses the other defaults.
    pub fn parse(text: &str) -> Result<Config, String> {
        let mut pairs = Vec::new();
        for pair in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or(format!("{pair} is not name=value"))?;
            pairs.push((name.trim(), value.trim()));
        }
        let kind = match pairs.iter().rev().find(|(name, _)| *name == "device") {
            None | Some((_, "aries")) => device::ARIES,
            Some((_, "gemini")) => device::GEMINI,
            Some((_, other)) => return Err(format!("device={other} is neither gemini nor aries")),
        };
        let mut config = Config::of(kind);
        for (name, value) in pairs {
            config.set(name, value).ok_or(format!("{name}={value} is not known or not possible"))?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let number =
            || value.strip_prefix("0x").map_or(value.parse().ok(), |h| u64::from_str_radix(h, 16).ok());
        let small = || number().and_then(|n| u32::try_from(n).ok());
        let yes = || number().filter(|n| *n < 2).map(|n| n == 1);
        match name {
            "device" => {}
            "fabric" => self.fabric = value.into(),
            "devices" => self.devices = small().filter(|n| (1..=4).contains(n))?,
            "node" => self.node = small()?,
            "node_by" => self.node_by = Some(value.into()),
            "version" => self.version = small()?,
            "ptag" => self.ptag = Some(number()?.try_into().ok()?),
            "cookie" => self.cookie = Some(small()?),
            "fma" => self.fma = small()?,
            "cqs" => self.cqs = small()?,
            "mdds" => self.mdds = small().filter(|n| *n <= 4096)?,
            "mrt" => self.mrt = number()?,
            "bte" => self.bte = small()?,
            "error_at" => self.error_at = number()?,
            "error_status" => self.error_status = number()?.try_into().ok().filter(|s| *s < 64)?,
            "refuse" => self.refuse = number()?,
            "overrun_at" => self.overrun_at = number()?,
            "datagram_drop" => self.datagram_drop = number()?,
            "datagram_delay_ms" => self.datagram_delay = Duration::from_millis(number()?),
            "smsg_drop" => self.smsg_drop = number()?,
            "early_event" => self.early_event = yes()?,
            "shuffle" => self.shuffle = number()?,
            "late" => self.late = yes()?,
            "strict" => self.strict = yes()?,
            "lenient" => self.lenient = yes()?,
            _ => return None,
        }
        Some(())
    }

    /// The credentials that a process manager left, where the set-up has none.
    fn with_credentials(mut self, read: impl Fn(&str) -> Option<String>) -> Config {
        // Numbers are written signed, so a large cookie is negative.
        let first = |name: &str| read(name)?.split(':').next()?.trim().parse::<i64>().ok();
        self.ptag = self.ptag.or(first("PMI_GNI_PTAG").map(|n| n as u8));
        self.cookie = self.cookie.or(first("PMI_GNI_COOKIE").map(|n| n as u32));
        if let Some(address) = first("PMI_GNI_LOC_ADDR")
            && self.node == 1
        {
            self.node = address as u32;
        }
        if let Some(value) = self.node_by.as_deref().and_then(read)
            && self.node == 1
        {
            self.node = address_of(&value);
        }
        self
    }

    pub fn is_gemini(&self) -> bool {
        self.device == device::GEMINI
    }
}

/// A node's address out of words that all of its processes, and no others, find in their environment: 18 bits, as Aries has them, not 0
/// or 1 (FNV-1a).
fn address_of(words: &str) -> u32 {
    let hash = words.bytes().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    ((hash >> 14) ^ hash & 0x3_ffff).max(2)
}

/// This process's set-up, read at the first call. One that cannot be read ends the process: a test that ran with another would prove nothing.
pub fn config() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let text = std::env::var(Config::VARIABLE).unwrap_or_default();
        match Config::parse(&text) {
            Ok(config) => config.with_credentials(|name| std::env::var(name).ok()),
            Err(why) => {
                eprintln!("{}: {why}", Config::VARIABLE);
                std::process::abort()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_chooses_the_limits_wherever_it_stands() {
        let gemini = Config::parse("cqs=7,device=gemini").expect("a set-up");
        assert_eq!((gemini.cqs, gemini.mdds, gemini.mrt, gemini.late), (7, 4096, 16384, false));
        let aries = Config::parse("").expect("a set-up");
        assert_eq!((aries.fma, aries.cqs, aries.mdds, aries.late), (123, 2037, 3686, true));
    }

    #[test]
    fn an_unknown_name_or_value_is_an_error() {
        for bad in ["nonsense=1", "device=slingshot", "fma", "strict=2", "mdds=5000", "error_status=64"] {
            assert!(Config::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn credentials_are_the_first_of_each_list_and_may_be_negative() {
        let read = |name: &str| match name {
            "PMI_GNI_PTAG" => Some("17:18".to_string()),
            "PMI_GNI_COOKIE" => Some("-2:5".to_string()),
            "PMI_GNI_LOC_ADDR" => Some("4711".to_string()),
            _ => None,
        };
        let config = Config::parse("").expect("a set-up").with_credentials(read);
        assert_eq!((config.ptag, config.cookie, config.node), (Some(17), Some(0xffff_fffe), 4711));
    }

    #[test]
    fn a_variable_may_stand_for_the_node() {
        let of = |value: &str, set_up: &str| {
            let read = |name: &str| (name == "SLURM_NODEID").then(|| value.to_string());
            Config::parse(set_up).expect("a set-up").with_credentials(read).node
        };
        let by = "node_by=SLURM_NODEID";
        assert_eq!(of("nid7", by), of("nid7", by), "the same node");
        assert_ne!(of("nid7", by), of("nid8", by));
        assert_eq!(of("nid7", "node=5,node_by=SLURM_NODEID"), 5, "an address that is given counts");
        assert_eq!(of("nid7", "node_by=OTHER"), 1, "a variable that is not set does not");
    }
}
