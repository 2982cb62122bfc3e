//! Set-up of the device by one variable of the environment: `OXMPI_FAKE_VERBS=name=value,name=value`.
//! README.md has the list. A name or value that is not known is an error of whoever asks for devices.

use oxmpi_verbs_abi::numbers::{atomic_cap, wc_status};
use std::time::Duration;

/// How a context has its doorbell registers (`uar.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UarMode {
    /// All at open, as drivers of 2018.
    Static,
    /// When a queue pair asks, as those of today.
    Lazy,
}

#[derive(Clone, Debug)]
pub struct Config {
    /// Devices of different names do not meet.
    pub fabric: String,
    pub devices: u32,
    pub ethernet: bool,
    pub uar: UarMode,
    /// Thread domains take the attribute `sharing`.
    pub patched: bool,
    pub max_qp: u32,
    pub max_cq: u32,
    pub max_cqe: u32,
    pub max_mr: u32,
    pub max_qp_wr: u32,
    pub max_srq_wr: u32,
    pub max_rd_atomic: u32,
    pub inline: u32,
    pub atomics: u32,
    pub mtu: u32,
    /// Thread domains and parent domains are there.
    pub domains: bool,
    // --- faults, 0: none ---
    /// Every n-th packet is lost.
    pub drop: u64,
    pub down_at: u64,
    /// The process stops itself when it has taken so many packets, before it answers them.
    pub stop_at: u64,
    /// Every n-th packet waits so long.
    pub delay_every: u64,
    pub delay: Duration,
    /// The n-th send request of the process fails, with this status.
    pub error_at: u64,
    pub error_status: u32,
    /// Every n-th message finds no receive request.
    pub rnr: u64,
    /// Completions that a completion queue takes beyond what its size says: none, or it is as if it was full here.
    pub cq_full_at: u64,
    /// Atomics are torn for the processor's eye.
    pub tear: bool,
    /// A broken rule is counted and goes on, instead of ending the process.
    pub lenient: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            fabric: "default".into(),
            devices: 1,
            ethernet: true,
            uar: UarMode::Lazy,
            patched: false,
            max_qp: 4000,
            max_cq: 4000,
            max_cqe: 1 << 20,
            max_mr: 1 << 20,
            max_qp_wr: 1 << 15,
            max_srq_wr: 1 << 15,
            max_rd_atomic: 16,
            inline: 220,
            atomics: atomic_cap::HCA,
            mtu: 5,
            domains: true,
            drop: 0,
            down_at: 0,
            stop_at: 0,
            delay_every: 0,
            delay: Duration::ZERO,
            error_at: 0,
            error_status: wc_status::GENERAL_ERR,
            rnr: 0,
            cq_full_at: 0,
            tear: false,
            lenient: false,
        }
    }
}

impl Config {
    pub const VARIABLE: &'static str = "OXMPI_FAKE_VERBS";

    pub fn of_environment() -> Result<Config, String> {
        Config::parse(&std::env::var(Config::VARIABLE).unwrap_or_default())
    }

    pub fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        for pair in text.split(',').filter(|p| !p.trim().is_empty()) {
            let (name, value) = pair.split_once('=').ok_or(format!("{pair} is not name=value"))?;
            config
                .set(name.trim(), value.trim())
                .ok_or(format!("{name}={value} is not known or not possible"))?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let number = || value.parse::<u32>().ok();
        let long = || value.parse::<u64>().ok();
        let yes = || number().filter(|n| *n < 2).map(|n| n == 1);
        match name {
            "fabric" => self.fabric = value.into(),
            "devices" => self.devices = number().filter(|n| (0..=8).contains(n))?,
            "link" => {
                self.ethernet = match value {
                    "ethernet" => true,
                    "infiniband" => false,
                    _ => return None,
                }
            }
            "uar" => {
                self.uar = match value {
                    "static" => UarMode::Static,
                    "lazy" => UarMode::Lazy,
                    _ => return None,
                }
            }
            "patched" => self.patched = yes()?,
            "domains" => self.domains = yes()?,
            "max_qp" => self.max_qp = number().filter(|n| *n <= 4000)?,
            "max_cq" => self.max_cq = number()?,
            "max_cqe" => self.max_cqe = number()?,
            "max_mr" => self.max_mr = number()?,
            "max_qp_wr" => self.max_qp_wr = number()?,
            "max_srq_wr" => self.max_srq_wr = number()?,
            "max_rd_atomic" => self.max_rd_atomic = number().filter(|n| (1..=128).contains(n))?,
            "inline" => self.inline = number().filter(|n| *n <= 1024)?,
            "atomics" => {
                self.atomics = match value {
                    "none" => atomic_cap::NONE,
                    "hca" => atomic_cap::HCA,
                    "glob" => atomic_cap::GLOB,
                    _ => return None,
                }
            }
            "mtu" => self.mtu = number().filter(|n| (1..=5).contains(n))?,
            "drop" => self.drop = long().filter(|n| *n != 1)?,
            "down_at" => self.down_at = long()?,
            "stop_at" => self.stop_at = long()?,
            "delay_every" => self.delay_every = long()?,
            "delay_us" => self.delay = Duration::from_micros(long()?),
            "error_at" => self.error_at = long()?,
            "error_status" => self.error_status = number().filter(|n| (1..=23).contains(n))?,
            "rnr" => self.rnr = long().filter(|n| *n != 1)?,
            "cq_full_at" => self.cq_full_at = long()?,
            "tear" => self.tear = yes()?,
            "lenient" => self.lenient = yes()?,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_refused() {
        let c = Config::parse("uar=static, patched=1,max_qp=7").expect("fine");
        assert_eq!((c.uar, c.patched, c.max_qp), (UarMode::Static, true, 7));
        for bad in ["uar=old", "nonsense=1", "max_qp=99999", "drop=1", "devices", "tear=2"] {
            assert!(Config::parse(bad).is_err(), "{bad}");
        }
    }
}
