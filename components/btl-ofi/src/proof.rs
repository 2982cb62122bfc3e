//! Proofs of the two sides of a link, made by the host with the job's secret. Each side answers the other's nonce, over a word for its side and
//! all that both have said, so an answer is good for one side of one link.

use crate::wire::{Challenge, Hello, NONCE};
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{Host, SliceRef};

fn slice(bytes: &[u8]) -> SliceRef<u8> {
    SliceRef { ptr: bytes.as_ptr(), len: bytes.len() }
}

/// The facts that one side proves.
pub struct Claim {
    nonce: [u8; NONCE],
    context: Vec<u8>,
}

impl Claim {
    /// The called process's.
    pub fn of_called(hello: &Hello, challenge: &Challenge) -> Claim {
        let context = [&b"btl ofi called"[..], &hello.encode(), &challenge.said()].concat();
        Claim { nonce: hello.nonce, context }
    }

    /// The caller's.
    pub fn of_caller(hello: &Hello, challenge: &Challenge) -> Claim {
        let context = [&b"btl ofi caller"[..], &hello.encode(), &challenge.said()].concat();
        Claim { nonce: challenge.nonce, context }
    }

    /// `None`: the host has no secret.
    pub fn prove(&self, host: &Host) -> Option<[u8; AUTH_BYTES]> {
        let mut out = [0; AUTH_BYTES];
        let make = host.services().auth_make;
        let status = make(host.table().instance, slice(&self.nonce), slice(&self.context), out.as_mut_ptr());
        status.is_ok().then_some(out)
    }

    pub fn is_proved_by(&self, host: &Host, answer: &[u8]) -> bool {
        let check = host.services().auth_check;
        check(host.table().instance, slice(&self.nonce), slice(&self.context), slice(answer)).is_ok()
    }
}
