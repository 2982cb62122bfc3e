//! Arguments of the calls on a window: the target, data at origin and target, the operation, ranks and assertions (MPI 5.0
//! §12.3, §12.6.2). Everything that needs no state of the window is checked here; epochs and ranges of memory are the
//! component's.

use super::WinObject;
use crate::call::memory::Address;
use crate::call::operands::check_buffer;
use crate::call::process::Process;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res};
use crate::p2p::Data;
use crate::types::{Aint, Datatype};
use core::ffi::c_int;
use core::ptr::{null, null_mut};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Entry;
use oxmpi_osc::{RmaArgs, assertion};
use oxmpi_runtime::window::Verbs;

/// The component's verbs, or what to tell the user where no component serves the window.
pub fn served(object: &WinObject) -> Res<&Verbs> {
    object.window.verbs().ok_or_else(nobody)
}

#[cold]
pub fn nobody() -> Failure {
    Failure::new(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "no one-sided component serves the window: none of framework osc is loaded, or none takes it; mpi-info lists them",
    )
}

/// A rank of the window; `None`: MPI_PROC_NULL.
pub fn target(object: &WinObject, rank: c_int, what: &str) -> Res<Option<u32>> {
    let size = object.comm().size();
    match u32::try_from(rank) {
        Ok(rank) if rank < size => Ok(Some(rank)),
        _ if rank == MPI_PROC_NULL => Ok(None),
        _ => {
            Failure::err(MPI_ERR_RANK, format!("{what} is {rank}, ranks are 0 to {}", size.saturating_sub(1)))
        }
    }
}

/// The names of the arguments about one side's data.
pub struct Side {
    name: &'static str,
    count: &'static str,
    datatype: &'static str,
    addr: &'static str,
}

macro_rules! side {
    ($name:literal) => {
        Side {
            name: $name,
            count: concat!($name, "_count"),
            datatype: concat!($name, "_datatype"),
            addr: concat!($name, "_addr"),
        }
    };
}

impl Side {
    pub const ORIGIN: &'static Side = &side!("origin");
    pub const TARGET: &'static Side = &side!("target");
    pub const RESULT: &'static Side = &side!("result");
    pub const COMPARE: &'static Side = &side!("compare");
}

/// Elements of a type, without the place where they lie.
#[derive(Clone, Copy)]
pub struct Elements {
    pub count: u64,
    pub desc: &'static TypeDesc,
}

impl Elements {
    pub fn new(count: i64, datatype: Datatype, side: &Side) -> Res<Elements> {
        let Ok(n) = u64::try_from(count) else {
            return Failure::err(MPI_ERR_COUNT, format!("{} is {count}", side.count));
        };
        // Programs name no type for no data.
        let nothing = n == 0 && datatype.0 == MPI_DATATYPE_NULL;
        let datatype = if nothing { Datatype(MPI_BYTE) } else { datatype };
        let desc = datatype::require_committed(datatype, side.datatype)?;
        Ok(Elements { count: n, desc })
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.desc.packed)
    }
}

/// Elements in the memory of the calling process.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub at: Address,
    pub of: Elements,
}

impl Buffer {
    pub fn new(process: &Process, (at, count, datatype): Data, side: &Side) -> Res<Buffer> {
        let of = Elements::new(count, datatype, side)?;
        if at.addr() == MPI_IN_PLACE {
            return Failure::err(MPI_ERR_BUFFER, format!("{} is MPI_IN_PLACE", side.addr));
        }
        check_buffer(process, at, count, of.desc, side.addr)?;
        Ok(Buffer { at, of })
    }
}

/// A displacement in the target's memory; an address in a dynamic window.
pub fn displacement(object: &WinObject, disp: Aint) -> Res<Aint> {
    if disp < 0 && object.facts.flavor != MPI_WIN_FLAVOR_DYNAMIC {
        return Failure::err(MPI_ERR_DISP, format!("target_disp is {disp}"));
    }
    Ok(disp)
}

/// `from` must fit into `into`.
pub fn fits(from: &Elements, into: &Elements, whose: &Side) -> Res {
    if from.bytes() > into.bytes() {
        let message = format!("{} bytes do not fit into the {}'s {}", from.bytes(), whose.name, into.bytes());
        return Failure::err(MPI_ERR_TRUNCATE, message);
    }
    Ok(())
}

/// The basic type of data that is accumulated: one, and the same at origin and target (MPI 5.0 §12.3.4). `None`: there is no
/// data, so nothing is done that would have to be defined.
pub fn one_base(target: &Elements, others: &[(&Elements, &Side)]) -> Res<Option<Base>> {
    let base = target.desc.base;
    if base == Base::MIXED && target.bytes() > 0 {
        return Failure::err(MPI_ERR_TYPE, "target_datatype has more than one basic datatype");
    }
    for (elements, side) in others {
        if elements.desc.base != base && elements.bytes() > 0 && target.bytes() > 0 {
            let message = format!("{} has another basic datatype than target_datatype", side.datatype);
            return Failure::err(MPI_ERR_TYPE, message);
        }
    }
    Ok(Some(base).filter(|_| target.bytes() > 0))
}

/// Arguments with nothing in them but the target.
pub fn arguments(entry: &Entry, rank: u32, disp: Aint) -> RmaArgs {
    RmaArgs {
        thread: entry.thread(),
        origin: null_mut(),
        origin_count: 0,
        origin_type: null(),
        result: null_mut(),
        result_count: 0,
        result_type: null(),
        compare: null(),
        target: rank,
        reserved: 0,
        disp,
        target_count: 0,
        target_type: null(),
        op: null(),
    }
}

/// Fills in what lies at the origin and at the target.
pub fn with_data(args: &mut RmaArgs, origin: Option<&Buffer>, target: &Elements) {
    if let Some(origin) = origin {
        (args.origin, args.origin_count, args.origin_type) =
            (origin.at.as_mut_ptr(), origin.of.count, origin.of.desc);
    }
    (args.target_count, args.target_type) = (target.count, target.desc);
}

/// The program's MPI_MODE_ bits as the contract's; those that the call does not know are refused.
pub fn assertions(assert: c_int, known: c_int) -> Res<u32> {
    if assert & !known != 0 {
        return Failure::err(MPI_ERR_ASSERT, format!("assert is {assert:#x}, which this call does not know"));
    }
    let all = [
        (MPI_MODE_NOCHECK, assertion::NOCHECK),
        (MPI_MODE_NOSTORE, assertion::NOSTORE),
        (MPI_MODE_NOPUT, assertion::NOPUT),
        (MPI_MODE_NOPRECEDE, assertion::NOPRECEDE),
        (MPI_MODE_NOSUCCEED, assertion::NOSUCCEED),
    ];
    Ok(all.iter().filter(|(bit, _)| assert & bit != 0).fold(0, |bits, (_, bit)| bits | bit))
}

/// C integer, Fortran integer, logical, multi-language types and byte (MPI 5.0 §12.3.4).
pub fn can_be_compared(base: Base) -> bool {
    matches!(
        base,
        Base::I8
            | Base::U8
            | Base::I16
            | Base::U16
            | Base::I32
            | Base::U32
            | Base::I64
            | Base::U64
            | Base::I128
            | Base::BOOL
            | Base::LOGICAL1
            | Base::LOGICAL2
            | Base::LOGICAL4
            | Base::LOGICAL8
            | Base::LOGICAL16
            | Base::AINT
            | Base::BYTE
    )
}
