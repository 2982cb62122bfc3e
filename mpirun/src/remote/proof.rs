//! Proves to each end of a link that the other knows the job's secret, by a proof over both challenges, the node and the side
//! ([`oxmpi_wireup::Secret::prove`]).
//!
//! Each side's proof is over a challenge of the other, so none can be replayed, and names the side, so none can be sent
//! back to where it came from.

use oxmpi_wireup::{PROOF_BYTES, Secret};

/// A challenge, or a proof.
pub type Bytes = [u8; PROOF_BYTES];

/// An end of a link between mpirun and a daemon.
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
    /// Lends the parts that a side signs.
    fn with_parts<R>(&self, side: Side, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
        let label: &[u8] = match side {
            Side::Launcher => b"oxmpi link 2 launcher",
            Side::Daemon => b"oxmpi link 2 daemon",
        };
        use_them(&[label, &self.launcher, &self.daemon, &self.node.to_le_bytes()])
    }

    /// Makes the proof of a side.
    pub fn prove(&self, secret: &Secret, side: Side) -> Bytes {
        self.with_parts(side, |parts| secret.prove(parts))
    }

    /// Whether the other side knows the secret. Compares in constant time.
    pub fn check(&self, secret: &Secret, side: Side, proof: &Bytes) -> bool {
        self.with_parts(side, |parts| secret.verify(parts, proof))
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
