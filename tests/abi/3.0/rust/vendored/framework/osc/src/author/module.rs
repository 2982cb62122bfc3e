//! The module of a component and the tables of its windows, from the implementors.

use super::opened::Module;
use super::thunk;
use super::window::{Osc, Window};
use crate::table::{OscModule, OscTable, TABLE_VERSION};
use oxmpi_mca::Host;

/// The module of a component, for `open`'s list.
pub fn module<T: Osc>(host: Host, osc: T) -> OscModule {
    OscModule {
        size: size_of::<OscModule>() as u32,
        reserved: 0,
        state: Box::into_raw(Box::new(Module { osc, host, table: const { &table::<T::Window>() } })).cast(),
        query: thunk::query::<T>,
        create: thunk::create::<T>,
        threads_begin: thunk::threads_begin::<T>,
        finalize: thunk::finalize::<T>,
    }
}

const fn table<W: Window>() -> OscTable {
    OscTable {
        size: size_of::<OscTable>() as u32,
        version: TABLE_VERSION,
        put: thunk::put::<W>,
        get: thunk::get::<W>,
        accumulate: thunk::accumulate::<W>,
        get_accumulate: thunk::get_accumulate::<W>,
        fetch_and_op: thunk::fetch_and_op::<W>,
        compare_and_swap: thunk::compare_and_swap::<W>,
        fence: thunk::fence::<W>,
        post: thunk::post::<W>,
        start: thunk::start::<W>,
        complete: thunk::complete::<W>,
        wait: thunk::wait::<W>,
        lock: thunk::lock::<W>,
        unlock: thunk::unlock::<W>,
        lock_all: thunk::lock_all::<W>,
        unlock_all: thunk::unlock_all::<W>,
        flush: thunk::flush::<W>,
        sync: thunk::sync::<W>,
        attach: thunk::attach::<W>,
        detach: thunk::detach::<W>,
        set_hints: thunk::set_hints::<W>,
        free: thunk::free::<W>,
        put_notify: thunk::put_notify::<W>,
        get_notify: thunk::get_notify::<W>,
        notify_read: thunk::notify_read::<W>,
        notify_wait: thunk::notify_wait::<W>,
        dup: thunk::dup::<W>,
        counts: thunk::counts::<W>,
        flush_begin: thunk::flush_begin::<W>,
    }
}
