//! The client's side: handles, commands, and the functions that the program calls.
//!
//! Objects: `state` (the job, the proxies, commands and waiting) · `heap` (the segment and its allocator) · `comm`, `end` ·
//! `slot`, `request` · `buffers`, `envelope`, `place` (how a proxy reaches data) · `datatype` · `error` · `window`, `epoch`,
//! `expose`, `replace`, `neighbors` (memory that others reach).
//!
//! Functions: `start` · `create` (MPIX_Comm_create_endpoints) · `message`, `probe`, `persistent`, `complete`, `complete_many` ·
//! `collective`, `collective_v`, `reduce` · `communicator`, `group`, `topology`, `attribute`, `memory` · `windows`, `synchronise`, `one_sided` · `refused` (made by
//! build.rs: what is not there).
#![allow(non_snake_case, reason = "the standard's names")]
#![allow(clippy::too_many_arguments, reason = "the standard's")]
#![allow(clippy::missing_safety_doc, reason = "the standard says what its functions ask for")]

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Defines a function of the C interface; the body runs in an unsafe context and returns an error code.
macro_rules! mpi {
    ($(#[$m:meta])* fn $name:ident($($a:ident: $t:ty),* $(,)?) $body:block) => {
        $(#[$m])*
        // SAFETY: the name is the standard's; this library stands between a program and its MPI.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($($a: $t),*) -> c_int {
            // SAFETY: the arguments are as the standard asks of the caller.
            #[allow(unused_unsafe, reason = "not every function needs it")]
            unsafe { $body }
        }
    };
}

/// Defines a function in one or two widths of counts (N, and D of displacements) that does something of its own on a
/// communicator of endpoints and passes on otherwise. The body gives a class of error.
macro_rules! on_endpoints {
    (fn [$($name:ident $([$n:ty, $d:ty])?),+] $args:tt on $comm:ident, $ep:ident $body:block) => {
        $(on_endpoints!(@one $name [$($n, $d)?] $args $comm $ep $body);)+
    };
    (@one $name:ident [$($n:ty, $d:ty)?] ($($a:ident: $t:ty),* $(,)?) $comm:ident $ep:ident $body:block) => {
        const _: () = {
            $(#[allow(dead_code, reason = "not every function has both")] type N = $n;
            #[allow(dead_code, reason = "not every function has both")] type D = $d;)?
            #[allow(dead_code, reason = "not every function names itself")]
            const NAME: &str = stringify!($name);
            // SAFETY: the name is the standard's; this library stands between a program and its MPI.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($a: $t),*) -> c_int {
                let Some($ep) = comm::find($comm) else {
                    let $comm = comm::native($comm);
                    // SAFETY: the caller's arguments.
                    return unsafe { pmpi::$name($($a),*) };
                };
                #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
                #[allow(unused_unsafe, reason = "not every function needs it")]
                // SAFETY: the arguments are as the standard asks of the caller.
                let body = move || -> Result<(), c_int> { unsafe { $body } };
                error::answer($ep, stringify!($name), body())
            }
        };
    };
}

/// The same as `on_endpoints` for functions on windows.
macro_rules! on_windows {
    (fn [$($name:ident $([$n:ty, $d:ty])?),+] $args:tt on $win:ident, $w:ident $body:block) => {
        $(on_windows!(@one $name [$($n, $d)?] $args $win $w $body);)+
    };
    (@one $name:ident [$($n:ty, $d:ty)?] ($($a:ident: $t:ty),* $(,)?) $win:ident $w:ident $body:block) => {
        const _: () = {
            $(#[allow(dead_code, reason = "not every function has both")] type N = $n;
            #[allow(dead_code, reason = "not every function has both")] type D = $d;)?
            #[allow(dead_code, reason = "not every function names itself")]
            const NAME: &str = stringify!($name);
            // SAFETY: the name is the standard's; this library stands between a program and its MPI.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($a: $t),*) -> c_int {
                let Some($w) = window::find($win) else {
                    let $win = window::native($win);
                    // SAFETY: the caller's arguments.
                    return unsafe { pmpi::$name($($a),*) };
                };
                #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
                #[allow(unused_unsafe, reason = "not every function needs it")]
                // SAFETY: the arguments are as the standard asks of the caller.
                let body = move || -> Result<(), c_int> { unsafe { $body } };
                error::answer($w.comm, stringify!($name), body())
            }
        };
    };
}

mod attribute;
mod buffers;
mod collective;
mod collective_v;
mod comm;
mod communicator;
mod complete;
mod complete_many;
mod create;
mod datatype;
mod end;
mod envelope;
mod epoch;
mod error;
mod expose;
mod group;
mod heap;
mod memory;
mod message;
mod neighbors;
mod one_sided;
mod persistent;
mod place;
mod probe;
mod reduce;
mod refused;
mod replace;
mod request;
mod slot;
mod start;
mod state;
mod synchronise;
mod topology;
mod window;
mod windows;

/// A lock whose holder never panics with half a change made.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
