//! Answers challenges with the job's secret, by a proof over challenge and context ([`oxmpi_wireup::Secret::prove`]).
//!
//! The context says which side of which connection answers in which protocol, so that no answer is good anywhere else. Where it names a process of
//! another mpirun's job, what the two share is the secret (`dynamic/connect.rs`).

use super::caller::caller;
use crate::objects::Instance;
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{SliceRef, Status};
use oxmpi_wireup::{PROOF_BYTES, Secret};
use std::ffi::c_void;

/// The label keeps these answers apart from whatever else the secret is used for.
const LABEL: &[u8] = b"oxmpi auth 1";
/// Least bytes of a challenge: shorter ones may have been seen before.
const LEAST_CHALLENGE: usize = 16;

const _: () = assert!(PROOF_BYTES == AUTH_BYTES);

/// The secret of those whom a context is about.
fn secret_for(instance: &Instance, context: &[u8]) -> Secret {
    instance.strangers().bridge_named_in(context).unwrap_or_else(|| instance.client().secret().clone())
}

/// The parts that are signed: the label, the challenge and its context.
fn parts<'a>(challenge: &'a [u8], context: &'a [u8]) -> [&'a [u8]; 3] {
    [LABEL, challenge, context]
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
    let answer = secret_for(caller!(ctx).1, context).prove(&parts(challenge, context));
    // SAFETY: the component's place has `AUTH_BYTES` bytes.
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
    // SAFETY: the component's bytes are there during the call.
    let (challenge, context, answer) = unsafe { (challenge.get(), context.get(), answer.get()) };
    if challenge.len() < LEAST_CHALLENGE {
        return Status::BAD_PARAM;
    }
    match secret_for(caller!(ctx).1, context).verify(&parts(challenge, context), answer) {
        true => Status::OK,
        false => Status::NO_PERMISSION,
    }
}
