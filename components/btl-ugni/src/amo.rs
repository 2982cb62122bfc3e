//! Atomics by the device, where `btl_ugni_atomics` asks for them.
//!
//! They are atomic to each other and not to the processors at the target, so by default the host carries atomics out by service requests, which
//! are. Only forms that fetch are used: those of Aries that do not have rules of alignment of their own, and Gemini's exchange does not exist
//! without. Aries adds doubles wrongly, and neither device knows minimum and maximum of unsigned numbers: these are left to the host.

use crate::abi::{MemHandle, amo as cmd, device as kind, post};
use crate::context::Context;
use crate::link::UgniEndpoint;
use crate::memory::Handle;
use crate::posts::{Copied, Piece};
use crate::rail::Rail;
use crate::rma::Plan;
use oxmpi_btl::{AtomicDesc, Completion, Entered, Vouched, access, amo};
use oxmpi_mca::Status;

/// Operations of both devices, and the operands of each.
pub const OPS: u32 =
    1 << amo::ADD | 1 << amo::AND | 1 << amo::OR | 1 << amo::XOR | 1 << amo::SWAP | 1 << amo::COMPARE_SWAP;

/// On which operands a device has them.
pub fn operands(of: i32) -> u32 {
    let wide = amo::operand::U64 | amo::operand::I64;
    match of {
        kind::ARIES => wide | amo::operand::U32 | amo::operand::I32 | amo::operand::F32,
        _ => wide,
    }
}

/// The command and its operands. `None`: the device has it not.
fn command(of: i32, op: &AtomicDesc) -> Option<(i32, [u64; 2])> {
    let narrow = op.flags & amo::WIDTH_32 != 0;
    let float = op.flags & amo::FLOAT != 0 && op.op == amo::ADD;
    if narrow && of != kind::ARIES {
        return None;
    }
    let value = if narrow { u64::from(op.operand as u32) } else { op.operand };
    let compare = if narrow { u64::from(op.compare as u32) } else { op.compare };
    let (command, operands) = match (op.op, narrow) {
        (amo::ADD, false) if !float => (cmd::AT_FADD, [value, 0]),
        (amo::ADD, true) if float => (cmd::AT2_FFPADD_S, [value, 0]),
        (amo::ADD, true) => (cmd::AT2_FIADD_S, [value, 0]),
        (amo::AND, false) => (cmd::AT_FAND, [value, 0]),
        (amo::AND, true) => (cmd::AT2_FAND_S, [value, 0]),
        (amo::OR, false) => (cmd::AT_FOR, [value, 0]),
        (amo::OR, true) => (cmd::AT2_FOR_S, [value, 0]),
        (amo::XOR, false) => (cmd::AT_FXOR, [value, 0]),
        (amo::XOR, true) => (cmd::AT2_FXOR_S, [value, 0]),
        // And with nothing, then exclusive or.
        (amo::SWAP, false) if of == kind::GEMINI => (cmd::AT_FAX, [0, value]),
        (amo::SWAP, false) => (cmd::AT2_FSWAP, [value, 0]),
        (amo::SWAP, true) => (cmd::AT2_FSWAP_S, [value, 0]),
        (amo::COMPARE_SWAP, false) => (cmd::AT_CSWAP, [compare, value]),
        (amo::COMPARE_SWAP, true) => (cmd::AT2_FCSWAP_S, [compare, value]),
        _ => return None,
    };
    Some((command, operands))
}

impl Rail {
    pub fn update(
        &self,
        at: &mut Entered<'_, Context>,
        to: &UgniEndpoint,
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status {
        let Some((command, operands)) = command(self.kind, &op) else { return Status::NOT_SUPPORTED };
        let len: u64 = if op.flags & amo::WIDTH_32 != 0 { 4 } else { 8 };
        if op.remote_handle.is_null() || !op.remote.is_multiple_of(len) {
            return Status::BAD_PARAM;
        }
        // SAFETY: the descriptor is vouched for: what it names, and is not null, are the bytes of a peer's handle.
        let remote = Handle::read(unsafe { &*op.remote_handle.cast() });
        if !remote.allows(op.remote, len, access::REMOTE_ATOMIC) {
            return Status::NO_PERMISSION;
        }
        let result = op.result.expose_provenance() as u64;
        let piece = Piece {
            kind: post::AMO,
            fast: true,
            local: 0,
            local_handle: MemHandle::default(),
            remote: op.remote,
            remote_handle: remote.gni,
            len,
            command,
            operands,
            lands: true,
            copied: (result != 0).then_some(Copied { skip: 0, to: result, len: len as usize }),
        };
        let plan = Plan { pieces: vec![piece], detour: None };
        self.issue(at, to, plan, done)
    }
}
