//! How threads hear that an operation of a file has ended: the bell of the instance, and looks for completions that lie somewhere.
//!
//! **The bell** is one word of the instance. The one who ends an operation adds to it, and those who wait for operations sleep on it beside what the transports name. A sleeper has read
//! the word *before* it looked at its operation, so nothing that ends in between is missed.
//!
//! **Looking.** A component whose completions lie in a ring of the kernel has a descriptor that tells of them. While operations of such a component are under way its `harvest` is
//! called in turns of progress, and sleepers sleep on the descriptor, too.

use crate::objects::{Instance, Sought};
use core::ffi::c_void;
use oxmpi_fbtl::Bell;
use oxmpi_loading::accept::FbtlComponent;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{LayerFunction, Status, ThreadCtx, WaitFd, WaitSet, WakingWord};
use oxmpi_waiting::Awaited;
use oxmpi_waiting::futex::wake_shared;
use std::ptr::null_mut;

/// Wakes those who sleep on the bell.
extern "C" fn wake(_: *mut c_void, word: *const WakingWord) -> Status {
    wake_shared(word.addr());
    Status::OK
}

impl Instance {
    /// The bell, as components get it.
    pub(super) fn file_bell(&self) -> Bell {
        Bell { word: &raw const self.files().bell, wake, ctx: null_mut() }
    }

    /// The bell's value, to be read before an operation is looked at, and the wait for another one.
    pub(super) fn file_bell_rung(&self) -> (u32, Awaited) {
        let word = &self.files().bell;
        let value = word.load();
        // SAFETY: the word lives as long as the instance, in which the wait is.
        (value, unsafe { Awaited::new(word, value) })
    }

    /// The number of operations of a component that are under way, if its completions have to be looked for.
    pub(super) fn sought(&self, component: &FbtlComponent) -> Option<&AtomicU32> {
        let list = self.files().sought.lock();
        let found = list.iter().find(|sought| sought.component.module.state == component.module.state)?;
        let word: *const AtomicU32 = &found.under_way;
        // SAFETY: boxed, and in the list as long as the instance.
        Some(unsafe { &*word })
    }
}

/// Has turns of progress look for the completions of those components that want it.
pub(super) fn seek(instance: &Instance, components: &[FbtlComponent]) {
    for component in components {
        if (component.table.event_fd)(component.module.state) < 0 {
            continue;
        }
        let sought = Box::new(Sought { component: *component, under_way: AtomicU32::new(0) });
        let function = LayerFunction {
            arm: Some(arm),
            ..LayerFunction::new(harvest, &*sought, Some(&sought.under_way))
        };
        instance.files().sought.lock().push(sought);
        // SAFETY: what it points to is boxed and in the instance's list, and the engine is cleared before the instance goes.
        let status = unsafe { instance.waiting().engine().register(&function) };
        debug_assert!(status.is_ok(), "each component once");
    }
}

/// The object that a layer function was registered with.
///
/// # Safety
/// `ctx` is that of `seek`.
unsafe fn at<'a>(ctx: *mut c_void) -> &'a Sought {
    // SAFETY: the caller's promise; it lives as long as the engine that calls.
    unsafe { &*ctx.cast::<Sought>() }
}

/// Layer function: ends the operations whose completions are there.
extern "C" fn harvest(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with that.
    let sought = unsafe { at(ctx) };
    let events = (sought.component.table.harvest)(sought.component.module.state);
    i32::try_from(events).unwrap_or(i32::MAX)
}

/// Layer function: has a sleeper wake when there is something to look for.
extern "C" fn arm(ctx: *mut c_void, _: *mut ThreadCtx, set: *mut WaitSet) -> Status {
    // SAFETY: registered with that; the set is the caller's for the call.
    let (sought, set) = unsafe { (at(ctx), &mut *set) };
    if sought.under_way.load(Ordering::Relaxed) == 0 {
        return Status::OK;
    }
    match (sought.component.table.event_fd)(sought.component.module.state) {
        fd if fd < 0 => Status::OK,
        fd => set.add_fd(WaitFd { fd, events: libc::POLLIN as u32 }),
    }
}
