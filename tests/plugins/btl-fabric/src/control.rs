//! The control function, by which a test makes things happen at its time. Not part of the contract: who loads the
//! component's file looks it up by name.

use crate::module::FabricModule;
use core::ffi::c_void;

/// So many held completions come now.
pub const RELEASE: u32 = 1;
/// The peer with that number on the node fails.
pub const FAIL: u32 = 2;
/// Puts that failed and were kept land at their targets.
pub const LAND: u32 = 3;

/// Gives an order to the device of a module. 0: given; -1: there is no such order, or it would have no effect.
#[unsafe(no_mangle)]
pub extern "C" fn oxmpi_btl_fabric_control(state: *mut c_void, order: u32, argument: u64) -> i32 {
    // SAFETY: `BtlModule::state` of one of our modules that is not finalized.
    let module = unsafe { &*state.cast::<FabricModule>() };
    match order {
        RELEASE if module.waits_for_orders() => module.nic.order(|o| o.release += argument),
        FAIL => module.nic.order(|o| o.fail.push(argument as usize)),
        LAND if module.nic.settings.late_landing => module.nic.order(|o| o.land = true),
        _ => return -1,
    }
    0
}
