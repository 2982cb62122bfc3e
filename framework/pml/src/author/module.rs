//! The module of a PML, from its implementor.

use super::care::Care;
use super::layer::Pml;
use super::state::Module;
use super::thunk;
use crate::table::{PmlModule, PmlTable, TABLE_VERSION};
use oxmpi_mca::{Host, Owner, RequestOps};

/// The module of a PML, for `open`'s list.
pub fn module<T: Pml>(host: Host, pml: T) -> PmlModule {
    let table = PmlTable {
        size: size_of::<PmlTable>() as u32,
        version: TABLE_VERSION,
        enable: thunk::enable::<T>,
        add_comm: thunk::add_comm::<T>,
        del_comm: thunk::del_comm::<T>,
        send: thunk::send::<T>,
        isend: thunk::isend::<T>,
        recv: thunk::recv::<T>,
        irecv: thunk::irecv::<T>,
        send_init: thunk::send_init::<T>,
        recv_init: thunk::recv_init::<T>,
        probe: thunk::probe::<T>,
        imrecv: thunk::imrecv::<T>,
        after_turn: thunk::after_turn::<T>,
        threads_begin: thunk::threads_begin::<T>,
        flush: thunk::flush::<T>,
        peer_failed: thunk::peer_failed::<T>,
        finalize: thunk::finalize::<T>,
        counts: thunk::counts::<T>,
        set_flags: thunk::set_flags::<T>,
        measure: thunk::measure::<T>,
        revoke: thunk::revoke::<T>,
        send_failure: thunk::send_failure::<T>,
        peer_parted: thunk::peer_parted::<T>,
    };
    let state = Box::new(Module { care: Care::of(&host), pml, host });
    state.care.be_of(Owner::of(&*state));
    PmlModule {
        size: size_of::<PmlModule>() as u32,
        max_tag: T::MAX_TAG,
        state: Box::into_raw(state).cast(),
        table: Box::leak(Box::new(table)),
    }
}

/// The operations of a layer's requests, for their headers; their `owner` is what [`Care::owner`] answers.
pub const fn operations<T: Pml>() -> &'static RequestOps {
    &const {
        RequestOps {
            size: size_of::<RequestOps>() as u32,
            reserved: 0,
            release: thunk::release::<T>,
            cancel: thunk::cancel::<T>,
            start: thunk::start::<T>,
        }
    }
}
