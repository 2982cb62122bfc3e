//! One rank of a job: its host, and the component that was opened in it, read exactly as far as its table sizes say.

use crate::host::{Arrived, FakeHost, Hook};
use crate::placer::place_by;
use crate::places::PLACED_TAGS;
use crate::setup::Setup;
use core::mem::size_of;
use core::sync::atomic::Ordering;
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlModule, BtlTable, Endpoint, cap};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{Descriptor, Entry, OpenArgs, SliceRef};
use oxmpi_testing::setup::values;
use std::sync::{Arc, Mutex};

/// One rank: a host, the component opened in it, and endpoints to everyone.
pub struct Rank {
    pub host: Box<FakeHost>,
    pub btl: BtlHandle,
    /// The table that the component gave; the handle is made from it.
    pub table: *const BtlTable,
    /// The host's full copy, which the handle names.
    _attrs: Box<BtlAttrs>,
    pub(crate) endpoints: Vec<*mut Endpoint>,
    /// The service context's.
    service: Mutex<()>,
    pub(crate) finalized: bool,
}

// SAFETY: the module's functions may be called from any thread under the contract's serialisation,
// which `Rank` keeps by the CRI locks where the host says threads are there; endpoints are used only
// as their arguments.
unsafe impl Send for Rank {}
// SAFETY: as above.
unsafe impl Sync for Rank {}

impl Rank {
    pub(crate) fn open(setup: &Setup, descriptor: &Descriptor, host: Box<FakeHost>) -> Result<Rank, String> {
        let opened = open(setup, descriptor, &host)?;
        if setup.module >= opened.count {
            return Err(format!("open gave {} modules, number {} is asked for", opened.count, setup.module));
        }
        // SAFETY: `count` modules stand there, `stride` apart, each as long as its size word says.
        let module = unsafe {
            let at = opened.modules.cast::<u8>().add(setup.module * opened.stride).cast::<BtlModule>();
            if ((*at).size as usize) < size_of::<BtlModule>() || opened.stride < size_of::<BtlModule>() {
                return Err("the module is shorter than the first version of the contract".into());
            }
            &*at
        };
        host.module_state.store(module.state, Ordering::Relaxed);
        // SAFETY: a component's module.
        let (attrs, table) = unsafe { (Box::new(attributes(module)?), BtlTable::read(module.table)) };
        host.let_parts_come(attrs.flags & BtlAttrs::PARTIAL_DELIVERY != 0);
        // SAFETY: table and state of one module, which stays open as long as the rank.
        let completed = unsafe { table.complete(module.state, &attrs, descriptor.name) };
        let btl = completed.map_err(|slot| format!("the module has no {slot}"))?;
        for tag in PLACED_TAGS {
            let status = place_by(&btl, &host.rows[usize::from(tag)]);
            if btl.can(cap::PLACES) && status.is_err() {
                host.violation(format!("place_by of tag {tag}: {status}"));
            }
        }
        Ok(Rank {
            host,
            btl,
            table: module.table,
            _attrs: attrs,
            endpoints: Vec::new(),
            service: Mutex::new(()),
            finalized: false,
        })
    }

    pub fn contexts(&self) -> u32 {
        self.btl.attrs().contexts
    }

    pub fn reaches(&self, to: usize) -> bool {
        self.endpoints.get(to).is_some_and(|endpoint| !endpoint.is_null())
    }

    pub fn endpoint(&self, to: usize) -> *mut Endpoint {
        self.endpoints[to]
    }

    /// Runs `verb` as the contract wants verbs of a context to run: alone.
    pub fn on<R>(&self, ctx: u32, verb: impl FnOnce() -> R) -> R {
        let host = self.host.view();
        // SAFETY: where the host does not say that there are threads, one thread alone runs the harness. The context is null. Proofs by this entry
        // are not given to `verb`: what runs in there, a hook that calls this again included, makes an entry of its own.
        let mut entry = unsafe { Entry::of(host.threaded(), core::ptr::null_mut()) };
        let _alone = host.hold(&mut entry, ctx);
        verb()
    }

    /// Runs a verb of the service context, whose lock is always taken.
    pub fn on_service<R>(&self, verb: impl FnOnce() -> R) -> R {
        let _alone = self.service.lock().unwrap_or_else(|poison| poison.into_inner());
        verb()
    }

    pub fn can(&self, capability: u32) -> bool {
        self.btl.caps & capability != 0
    }

    pub fn set_hook(&self, hook: impl Fn(&Arrived) + Send + Sync + 'static) {
        self.host.set_hook(Some(Arc::new(hook) as Hook));
    }
}

/// Calls a component's `open`.
pub fn open(setup: &Setup, descriptor: &Descriptor, host: &FakeHost) -> Result<Opened, String> {
    // SAFETY: statics of the component.
    let values = values(unsafe { descriptor.params.get() }, &setup.params)?;
    let args: &'static OpenArgs = Box::leak(Box::new(OpenArgs {
        size: size_of::<OpenArgs>() as u32,
        reserved: 0,
        host: host.table(),
        values: SliceRef::new(values),
        flags: OpenArgs::NAMED,
    }));
    let mut opened = Opened {
        size: size_of::<Opened>() as u32,
        priority: 0,
        modules: core::ptr::null(),
        count: 0,
        stride: 0,
    };
    let status = (descriptor.open)(args, &mut opened);
    if !status.is_ok() {
        return Err(format!("open: {status}\n{}", host.logged()));
    }
    Ok(opened)
}

/// The module's attributes; what an older component does not say keeps its default.
///
/// # Safety
/// `module` must be a component's.
unsafe fn attributes(module: &BtlModule) -> Result<BtlAttrs, String> {
    if module.attrs.is_null() || !module.attrs.is_aligned() {
        return Err("the module has no attributes".into());
    }
    // SAFETY: attributes begin with their size.
    let size = unsafe { (*module.attrs).size };
    if size < 8 {
        return Err(format!("attrs.size is {size}"));
    }
    // SAFETY: the caller's promise: so many bytes are there.
    Ok(unsafe { BtlAttrs::read(module.attrs) })
}
