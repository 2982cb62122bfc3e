//! Proves to two daemons of a job that the other knows its secret, by a proof over both challenges, both nodes, the job and the side.

use super::identity::DaemonIdentity;
use crate::remote::proof::Bytes;

/// An end of a direct link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Caller,
    Door,
}

/// The bytes that both sides have said, and the nodes of both.
#[derive(Clone, Copy, Debug)]
pub struct Talk {
    pub door: Bytes,
    pub caller: Bytes,
    pub from: u32,
    pub to: u32,
}

impl Talk {
    /// Lends the parts that a side signs.
    fn with_parts<R>(&self, job: u64, side: Side, use_them: impl FnOnce(&[&[u8]]) -> R) -> R {
        let label: &[u8] = match side {
            Side::Caller => b"oxmpi direct 1 caller",
            Side::Door => b"oxmpi direct 1 door",
        };
        let (from, to) = (self.from.to_le_bytes(), self.to.to_le_bytes());
        use_them(&[label, &self.door, &self.caller, &from, &to, &job.to_le_bytes()])
    }

    /// Makes the proof of a side.
    pub fn prove(&self, own: &DaemonIdentity, side: Side) -> Bytes {
        self.with_parts(own.job, side, |parts| own.secret.prove(parts))
    }

    /// Whether the other side knows the secret. Compares in constant time.
    pub fn check(&self, own: &DaemonIdentity, side: Side, proof: &Bytes) -> bool {
        self.with_parts(own.job, side, |parts| own.secret.verify(parts, proof))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_wireup::Secret;

    #[test]
    fn a_proof_is_good_for_one_talk_one_side_and_one_job() {
        let own = DaemonIdentity { node: 5, job: 7, secret: Secret::from_bytes([1; 32]) };
        let talk = Talk { door: [3; 32], caller: [4; 32], from: 5, to: 6 };
        let proof = talk.prove(&own, Side::Caller);
        assert!(talk.check(&own, Side::Caller, &proof));
        assert!(!talk.check(&own, Side::Door, &proof));
        assert!(!talk.check(&DaemonIdentity { job: 8, ..own.clone() }, Side::Caller, &proof));
        assert!(!talk.check(
            &DaemonIdentity { secret: Secret::from_bytes([2; 32]), ..own.clone() },
            Side::Caller,
            &proof
        ));
        for changed in [
            Talk { from: 6, ..talk },
            Talk { to: 5, ..talk },
            Talk { door: [9; 32], ..talk },
            Talk { caller: [9; 32], ..talk },
            Talk { door: talk.caller, caller: talk.door, ..talk },
        ] {
            assert!(!changed.check(&own, Side::Caller, &proof));
        }
    }
}
