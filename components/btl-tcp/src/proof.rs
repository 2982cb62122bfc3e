//! Answers of the two sides of a handshake, with the job's secret that only the host knows.
//!
//! The connector answers the acceptor's nonce, the acceptor the connector's. Each answer covers a word for its side, the
//! whole hello (both names, contexts, rails, the attempt's number) and the position that it tells, so that it is good
//! nowhere else.

use crate::hello::{Hello, NONCE};
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{Host, SliceRef};

fn slice(bytes: &[u8]) -> SliceRef<u8> {
    SliceRef { ptr: bytes.as_ptr(), len: bytes.len() }
}

/// The facts that are answered, besides the nonce.
pub struct ProofContext {
    context: Vec<u8>,
}

impl ProofContext {
    pub fn by_connector(hello: &[u8; Hello::BYTES], position: u64) -> ProofContext {
        ProofContext { context: [b"btl tcp connector", &hello[..], &position.to_le_bytes()].concat() }
    }
    pub fn by_acceptor(
        hello: &[u8; Hello::BYTES],
        nonce: &[u8; NONCE],
        window: u32,
        position: u64,
    ) -> ProofContext {
        let context =
            [b"btl tcp acceptor", &hello[..], nonce, &window.to_le_bytes(), &position.to_le_bytes()].concat();
        ProofContext { context }
    }

    pub fn answer(&self, host: &Host, nonce: &[u8; NONCE]) -> Option<[u8; AUTH_BYTES]> {
        let mut out = [0; AUTH_BYTES];
        let make = host.services().auth_make;
        let status = make(host.table().instance, slice(nonce), slice(&self.context), out.as_mut_ptr());
        status.is_ok().then_some(out)
    }

    pub fn check(&self, host: &Host, nonce: &[u8; NONCE], answer: &[u8; AUTH_BYTES]) -> bool {
        let check = host.services().auth_check;
        check(host.table().instance, slice(nonce), slice(&self.context), slice(answer)).is_ok()
    }
}
