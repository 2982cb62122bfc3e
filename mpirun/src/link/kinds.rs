//! Kinds of frames of the link.

pub(super) const JOB: u8 = 0x81;
pub(super) const WRITTEN: u8 = 0x82;
pub(super) const CLOSED: u8 = 0x83;
pub(super) const SIGNAL: u8 = 0x84;
pub(super) const TERMINATE: u8 = 0x85;
pub(super) const RELEASE: u8 = 0x86;
pub(super) const CENSUS: u8 = 0x87;
pub(super) const TO_NODE: u8 = 0x88;
pub(super) const INPUT_FRAME: u8 = 0x89;
pub(super) const PART: u8 = 0x8a;
pub(super) const LET_END: u8 = 0x8b;
pub(super) const JOBS_DOWN: u8 = 0x8c;
pub(super) const OUTPUT: u8 = 0xc1;
pub(super) const EXITED: u8 = 0xc2;
pub(super) const CANNOT_START: u8 = 0xc3;
pub(super) const HELP: u8 = 0xc4;
pub(super) const ABORT: u8 = 0xc5;
pub(super) const VANISHED: u8 = 0xc6;
pub(super) const BROKEN: u8 = 0xc7;
pub(super) const FAILED: u8 = 0xc8;
pub(super) const DONE: u8 = 0xc9;
pub(super) const STARTED: u8 = 0xca;
pub(super) const CRASHED: u8 = 0xcb;
pub(super) const STATE: u8 = 0xcc;
pub(super) const COUNTED: u8 = 0xcd;
pub(super) const FROM_NODE: u8 = 0xce;
pub(super) const NEVER_INIT: u8 = 0xcf;
pub(super) const HERE: u8 = 0xb1;
pub(super) const UNSTARTED: u8 = 0xb2;
pub(super) const TOOK: u8 = 0xb3;
pub(super) const LOST: u8 = 0xb4;
pub(super) const OTHER_MPI: u8 = 0xb5;
pub(super) const JOBS_UP: u8 = 0xb6;
pub(super) const BARRED: u8 = 0xb7;
pub(super) const REFUSED: u8 = 0xb8;
/// Envelopes.
pub(super) const TO: u8 = 0xa1;
pub(super) const ALL: u8 = 0xa2;
pub(super) const FROM: u8 = 0xa3;
/// Of `Exchange`: the first byte of the payload.
pub(super) const FENCE: u8 = 0;
pub(super) const GONE: u8 = 1;
pub(super) const ASK: u8 = 2;
pub(super) const ANSWER: u8 = 3;
pub(super) const NEVER: u8 = 4;
/// Between two daemons.
pub(super) const DIRECT: u8 = 0xe1;
