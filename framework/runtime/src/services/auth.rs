//! Challenge and answer with the job's secret: HMAC-SHA-256 over challenge and context.
//!
//! The secret never leaves the host. The context says which side of which connection answers in which protocol, so
//! that no answer is good anywhere else; lengths are part of what is signed, so that bytes cannot move from one to the other.

use super::caller::caller;
use crate::wireup::Secret;
use hmac::{Hmac, KeyInit, Mac};
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{SliceRef, Status};
use sha2::Sha256;
use std::ffi::c_void;

/// The label keeps these answers apart from whatever else the secret is used for.
const LABEL: &[u8] = b"oxmpi auth 1";
/// Least bytes of a challenge: shorter ones may have been seen before.
const LEAST_CHALLENGE: usize = 16;

/// The signature of challenge and context by the job's secret, still open.
fn mac(secret: &Secret, challenge: &[u8], context: &[u8]) -> Hmac<Sha256> {
    let mut mac: Hmac<Sha256> = match Hmac::new_from_slice(secret.bytes()) {
        Ok(mac) => mac,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    };
    for part in [LABEL, challenge, context] {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac
}

/// Writes the answer to a challenge, for a context, to `out`; in the table as `HostServices::auth_make`. `BAD_PARAM`:
/// the challenge is too short.
pub(super) extern "C" fn make(
    ctx: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    out: *mut u8,
) -> Status {
    // SAFETY: the component's bytes are readable during the call.
    let (challenge, context) = unsafe { (challenge.get(), context.get()) };
    if challenge.len() < LEAST_CHALLENGE {
        return Status::BAD_PARAM;
    }
    let answer = mac(caller(ctx).1.client.secret(), challenge, context).finalize().into_bytes();
    // SAFETY: the component's place has `AUTH_BYTES` bytes, which is what SHA-256 gives.
    unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), out, AUTH_BYTES) };
    Status::OK
}

/// Checks a peer's answer to a challenge, in constant time; in the table as `HostServices::auth_check`.
/// `NO_PERMISSION`: the peer does not know the secret.
pub(super) extern "C" fn check(
    ctx: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    answer: SliceRef<u8>,
) -> Status {
    // SAFETY: as above.
    let (challenge, context, answer) = unsafe { (challenge.get(), context.get(), answer.get()) };
    if challenge.len() < LEAST_CHALLENGE {
        return Status::BAD_PARAM;
    }
    // Compares in constant time.
    match mac(caller(ctx).1.client.secret(), challenge, context).verify_slice(answer) {
        Ok(()) => Status::OK,
        Err(_) => Status::NO_PERMISSION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(secret: &Secret, challenge: &[u8], context: &[u8]) -> Vec<u8> {
        mac(secret, challenge, context).finalize().into_bytes().to_vec()
    }

    #[test]
    fn an_answer_is_good_for_one_secret_challenge_and_context() {
        let (ours, theirs) = (Secret::from_bytes([1; 32]), Secret::from_bytes([2; 32]));
        let good = answer(&ours, &[7; 16], b"client");
        assert_eq!(good.len(), AUTH_BYTES);
        assert!(mac(&ours, &[7; 16], b"client").verify_slice(&good).is_ok());
        assert!(mac(&theirs, &[7; 16], b"client").verify_slice(&good).is_err());
        assert!(mac(&ours, &[8; 16], b"client").verify_slice(&good).is_err());
        assert!(mac(&ours, &[7; 16], b"server").verify_slice(&good).is_err());
        assert!(mac(&ours, &[7; 16], b"client").verify_slice(&good[..31]).is_err());
        // A byte that moves from the challenge to the context is another question.
        assert_ne!(answer(&ours, &[7; 17], b"client"), answer(&ours, &[7; 16], b"\x07client"));
    }
}
