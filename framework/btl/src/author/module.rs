//! The builder of a module: a device, its contexts, and the verbs that it offers by name.

use super::device::*;
use super::state::{Core, Module};
use super::thunk;
use crate::table::{BtlAttrs, BtlModule, BtlTable};
use core::cell::UnsafeCell;
use core::mem::size_of;

/// Builds the module of a device: `module(device, contexts).get().sleep().build()`. `S` is what its service context has.
pub struct ModuleBuilder<T: Btl, S = ()> {
    core: Core<T>,
    service: UnsafeCell<S>,
    table: BtlTable,
}

/// Starts with the basic verbs of `device`, which has these contexts: at least 1, at most as many as the host has CRIs.
pub fn module<T: Btl>(device: T, contexts: impl IntoIterator<Item = T::Context>) -> ModuleBuilder<T> {
    let contexts = contexts.into_iter().map(UnsafeCell::new).collect();
    let table = BtlTable {
        add_procs: Some(thunk::add_procs::<T>),
        del_procs: Some(thunk::del_procs::<T>),
        finalize: Some(thunk::finalize::<T>),
        send: Some(thunk::send::<T>),
        progress: Some(thunk::progress::<T>),
        ..BtlTable::EMPTY
    };
    ModuleBuilder { core: Core { device, contexts }, service: UnsafeCell::new(()), table }
}

impl<T: Btl, S: Send + 'static> ModuleBuilder<T, S> {
    /// Offers `get`.
    pub fn get(mut self) -> Self
    where
        T: BtlGet,
    {
        self.table.get = Some(thunk::get::<T>);
        self
    }
    /// Offers `get` only if `yes`: what the machine permits is known when the device opens.
    pub fn get_if(self, yes: bool) -> Self
    where
        T: BtlGet,
    {
        if yes { self.get() } else { self }
    }
    /// Offers `get_vector` only if `yes`.
    pub fn get_vector_if(mut self, yes: bool) -> Self
    where
        T: BtlGetVector,
    {
        self.table.get_vector = yes.then_some(thunk::get_vector::<T>);
        self
    }
    /// Offers `put`.
    pub fn put(mut self) -> Self
    where
        T: BtlPut,
    {
        self.table.put = Some(thunk::put::<T>);
        self
    }
    /// Offers `put` only if `yes`.
    pub fn put_if(self, yes: bool) -> Self
    where
        T: BtlPut,
    {
        if yes { self.put() } else { self }
    }
    /// Offers `partner`.
    pub fn partner(mut self) -> Self
    where
        T: BtlPartner,
    {
        self.table.partner = Some(thunk::partner::<T>);
        self
    }
    /// Offers `place_by`.
    pub fn places(mut self) -> Self
    where
        T: BtlPlaces,
    {
        self.table.place_by = Some(thunk::place_by::<T>);
        self
    }
    /// Offers `send_kept`.
    pub fn keeps(mut self) -> Self
    where
        T: BtlKeeps,
    {
        self.table.send_kept = Some(thunk::send_kept::<T>);
        self
    }
    /// Offers `flush`.
    pub fn flush(mut self) -> Self
    where
        T: BtlFlush,
    {
        self.table.flush = Some(thunk::flush::<T>);
        self
    }
    /// Offers `atomic`.
    pub fn atomics(mut self) -> Self
    where
        T: BtlAtomics,
    {
        self.table.atomic = Some(thunk::atomic::<T>);
        self
    }
    /// Offers `list`.
    pub fn lists(mut self) -> Self
    where
        T: BtlLists,
    {
        self.table.list = Some(thunk::list::<T>);
        self
    }
    /// Offers registration.
    pub fn memory(mut self) -> Self
    where
        T: BtlMemory,
    {
        self.table.register_mem = Some(thunk::register::<T>);
        self.table.deregister_mem = Some(thunk::deregister::<T>);
        self
    }
    /// Lets waiters sleep.
    pub fn sleep(mut self) -> Self
    where
        T: BtlSleep,
    {
        self.table.arm = Some(thunk::arm::<T>);
        self.table.disarm = Some(thunk::disarm::<T>);
        self
    }
    /// Offers `hold` and `held`.
    pub fn hold(mut self) -> Self
    where
        T: BtlHold,
    {
        self.table.hold = Some(thunk::hold::<T>);
        self.table.held = Some(thunk::held::<T>);
        self
    }
    /// The module for `open`'s list. Device and contexts live until `finalize`, table and attributes for good.
    pub fn build(self) -> BtlModule {
        let attrs = BtlAttrs { contexts: self.core.contexts.len() as u32, ..self.core.device.attrs() };
        BtlModule {
            size: size_of::<BtlModule>() as u32,
            reserved: 0,
            state: Box::into_raw(Box::new(Module { core: self.core, service: self.service })).cast(),
            table: Box::leak(Box::new(self.table)),
            attrs: Box::leak(Box::new(attrs)),
        }
    }
}

impl<T: BtlService> ModuleBuilder<T, ()> {
    /// Offers service links; `service` belongs to the service context.
    pub fn service(mut self, service: T::Service) -> ModuleBuilder<T, T::Service> {
        self.table.finalize = Some(thunk::finalize_serving::<T>);
        self.table.service_open = Some(thunk::service_open::<T>);
        self.table.service_request = Some(thunk::service_request::<T>);
        self.table.service_progress = Some(thunk::service_progress::<T>);
        self.table.service_reply = Some(thunk::service_reply::<T>);
        self.table.service_pending = Some(thunk::service_pending::<T>);
        ModuleBuilder { core: self.core, service: UnsafeCell::new(service), table: self.table }
    }
}

impl<T: BtlServiceSleep> ModuleBuilder<T, T::Service> {
    /// Lets the server of requests sleep.
    pub fn service_sleep(mut self) -> Self {
        self.table.service_arm = Some(thunk::service_arm::<T>);
        self.table.service_disarm = Some(thunk::service_disarm::<T>);
        self
    }
}
