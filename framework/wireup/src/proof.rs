//! Proofs that a process knows the job's secret: HMAC-SHA-256 over a list of parts.
//!
//! The secret never leaves the process. The length of each part is signed with it, so that bytes cannot move from one part
//! to the next. A caller names in the first part what the proof is for, so that none is good anywhere else.

use crate::secret::Secret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a proof.
pub const PROOF_BYTES: usize = 32;

impl Secret {
    /// Signs a list of parts.
    pub fn prove(&self, parts: &[&[u8]]) -> [u8; PROOF_BYTES] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Whether `proof` is that of these parts by this secret. Compares in constant time.
    pub fn verify(&self, parts: &[&[u8]], proof: &[u8]) -> bool {
        self.mac(parts).verify_slice(proof).is_ok()
    }

    /// The signature of the parts, still open.
    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac: Hmac<Sha256> = match Hmac::new_from_slice(self.bytes()) {
            Ok(mac) => mac,
            Err(_) => unreachable!("HMAC takes keys of any length"),
        };
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_secret_and_its_parts() {
        let (ours, theirs) = (Secret::from_bytes([1; 32]), Secret::from_bytes([2; 32]));
        let good = ours.prove(&[b"test", &[7; 16], b"client"]);
        assert!(ours.verify(&[b"test", &[7; 16], b"client"], &good));
        assert!(!theirs.verify(&[b"test", &[7; 16], b"client"], &good));
        assert!(!ours.verify(&[b"other", &[7; 16], b"client"], &good));
        assert!(!ours.verify(&[b"test", &[8; 16], b"client"], &good));
        assert!(!ours.verify(&[b"test", &[7; 16], b"server"], &good));
        assert!(!ours.verify(&[b"test", &[7; 16], b"client"], &good[..31]));
        // A byte that moves from one part to the next makes another question.
        assert_ne!(
            ours.prove(&[b"test", &[7; 17], b"client"]),
            ours.prove(&[b"test", &[7; 16], b"\x07client"])
        );
    }
}
