//! Proofs that both ends of a link know the job's secret: HMAC-SHA-256 over both challenges, the node and the side.
//!
//! Each side's proof is over a challenge of the other, so none can be replayed, and names the side, so none can be sent
//! back to where it came from.

use hmac::{Hmac, KeyInit, Mac};
use oxmpi_runtime::wireup::Secret;
use sha2::Sha256;

pub const BYTES: usize = 32;
pub type Bytes = [u8; BYTES];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Launcher,
    Daemon,
}

/// The bytes that both sides have said.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    pub launcher: Bytes,
    pub daemon: Bytes,
    pub node: u32,
}

impl Talk {
    fn mac(&self, secret: &Secret, side: Side) -> Hmac<Sha256> {
        let mut mac: Hmac<Sha256> = match Hmac::new_from_slice(secret.bytes()) {
            Ok(mac) => mac,
            Err(_) => unreachable!("HMAC takes keys of any length"),
        };
        // All parts have fixed lengths: bytes cannot move from one to another.
        mac.update(match side {
            Side::Launcher => b"oxmpi link 1 launcher",
            Side::Daemon => b"oxmpi link 1 daemon..",
        });
        mac.update(&self.launcher);
        mac.update(&self.daemon);
        mac.update(&self.node.to_le_bytes());
        mac
    }

    /// This side's bytes.
    pub fn prove(&self, secret: &Secret, side: Side) -> Bytes {
        self.mac(secret, side).finalize().into_bytes().into()
    }

    /// Does the other side know the secret? Compares in constant time.
    pub fn check(&self, secret: &Secret, side: Side, proof: &Bytes) -> bool {
        self.mac(secret, side).verify_slice(proof).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_talk_and_one_side() {
        let (secret, other) = (Secret::from_bytes([1; 32]), Secret::from_bytes([2; 32]));
        let talk = Talk { launcher: [3; 32], daemon: [4; 32], node: 5 };
        let proof = talk.prove(&secret, Side::Daemon);
        assert!(talk.check(&secret, Side::Daemon, &proof));
        assert!(!talk.check(&other, Side::Daemon, &proof));
        assert!(!talk.check(&secret, Side::Launcher, &proof));
        for changed in [
            Talk { node: 6, ..talk },
            Talk { launcher: [9; 32], ..talk },
            Talk { daemon: [9; 32], ..talk },
            Talk { launcher: talk.daemon, daemon: talk.launcher, ..talk },
        ] {
            assert!(!changed.check(&secret, Side::Daemon, &proof));
        }
    }
}
