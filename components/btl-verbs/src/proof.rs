//! Proofs of the two sides of a connection, made by the host with the job's secret: each side answers the other's challenge with an
//! authentication code over its whole datagram, behind a word for its side, so that an answer is valid nowhere else.

use crate::wire::{Datagram, NONCE, Say};
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{Host, SliceRef};

fn slice(bytes: &[u8]) -> SliceRef<u8> {
    SliceRef { ptr: bytes.as_ptr(), len: bytes.len() }
}

/// The challenge that a datagram answers, and what is answered.
fn said(d: &Datagram) -> ([u8; NONCE], Vec<u8>) {
    let (challenge, side) = match d.say {
        Say::Request | Say::Prove => (d.ours, &b"btl verbs caller"[..]),
        Say::Reply | Say::Ready | Say::Refuse => (d.theirs, &b"btl verbs called"[..]),
    };
    (challenge, [side, &d.said()].concat())
}

pub fn sign(host: &Host, d: &mut Datagram) {
    let (challenge, context) = said(d);
    let mut out = [0; AUTH_BYTES];
    let make = host.services().auth_make;
    if make(host.table().instance, slice(&challenge), slice(&context), out.as_mut_ptr()).is_ok() {
        d.proof = out;
    }
}

pub fn is_right(host: &Host, d: &Datagram) -> bool {
    let (challenge, context) = said(d);
    let check = host.services().auth_check;
    check(host.table().instance, slice(&challenge), slice(&context), slice(&d.proof)).is_ok()
}
