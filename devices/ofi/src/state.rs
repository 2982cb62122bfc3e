//! All that this library knows: the faults, the library behind, and the functions that it has put its own before.

use crate::faults::{Faults, VARIABLE};
use crate::queue::Queue;
use crate::tables::{function, replace};
use core::ffi::c_void;
use core::sync::atomic::AtomicU64;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The library's own functions of an endpoint; 0: it has none of that name.
#[derive(Clone, Default)]
pub struct Calls {
    pub bind: usize,
    pub recv: usize,
    pub send: usize,
    pub inject: usize,
    pub read: usize,
    pub writemsg: usize,
    pub queue: Option<Arc<Mutex<Queue>>>,
    /// Number of its domain, in the order of opening.
    pub domain: usize,
}

/// The lock, whoever has panicked with it.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// The state of the process.
pub struct State {
    pub faults: Faults,
    library: Library,
    pub posts: AtomicU64,
    /// Messages sent.
    pub messages: AtomicU64,
    pub endpoints: AtomicU64,
    /// Sends that are complete, and messages that have come.
    pub counts: Mutex<(u64, u64)>,
    /// The library's own functions, by object.
    opens: Mutex<HashMap<(usize, usize), usize>>,
    pub calls: Mutex<HashMap<usize, Calls>>,
    pub queues: Mutex<HashMap<usize, Arc<Mutex<Queue>>>>,
    /// Domains, in the order of opening, with bytes that their endpoints have sent, put and got.
    pub domains: Mutex<Vec<(usize, u64)>>,
}

impl State {
    /// The state, made at the first call.
    pub fn get() -> &'static State {
        static STATE: OnceLock<State> = OnceLock::new();
        STATE.get_or_init(|| {
            let made = Faults::parse(&std::env::var(VARIABLE).unwrap_or_default()).and_then(State::new);
            made.unwrap_or_else(|why| {
                eprintln!("libfabric with faults: {why}");
                std::process::exit(1)
            })
        })
    }

    fn new(faults: Faults) -> Result<State, String> {
        // SAFETY: the constructors of the library that the user has named.
        let library = unsafe { Library::open(Some(&faults.library), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|why| format!("{}: {why}", faults.library))?;
        Ok(State {
            faults,
            library,
            posts: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            endpoints: AtomicU64::new(0),
            counts: Mutex::default(),
            opens: Mutex::default(),
            calls: Mutex::default(),
            queues: Mutex::default(),
            domains: Mutex::default(),
        })
    }

    /// A function of the library behind, which has it.
    ///
    /// # Safety
    /// `T` is the type of a pointer to that function.
    pub unsafe fn behind<T: Copy>(&self, name: &str) -> T {
        // SAFETY: the caller's promise.
        match unsafe { self.library.get::<T>(name) } {
            Ok(function) => *function,
            Err(why) => {
                eprintln!("libfabric with faults: {why}");
                std::process::exit(1)
            }
        }
    }

    /// The library's own functions of an endpoint.
    pub fn calls(&self, ep: *mut c_void) -> Calls {
        held(&self.calls).get(&(ep as usize)).cloned().unwrap_or_default()
    }

    /// Changes them.
    pub fn change(&self, ep: *mut c_void, change: impl FnOnce(&mut Calls)) {
        change(held(&self.calls).entry(ep as usize).or_default());
    }

    /// A domain is open.
    pub fn opened(&self, domain: *mut usize) {
        held(&self.domains).push((domain as usize, 0));
    }

    /// Number of a domain; that of the newest where there were several at one address.
    pub fn number_of(&self, domain: *mut c_void) -> usize {
        held(&self.domains).iter().rposition(|(of, _)| *of == domain as usize).unwrap_or_default()
    }

    /// An endpoint of a domain has sent, put or got so many bytes.
    pub fn carries(&self, domain: usize, bytes: usize) {
        if let Some((_, carried)) = held(&self.domains).get_mut(domain) {
            *carried += bytes as u64;
        }
    }

    /// Bytes that a domain has carried.
    pub fn carried(&self, domain: usize) -> u64 {
        held(&self.domains).get(domain).map_or(0, |(_, carried)| *carried)
    }

    /// A completion queue of ours. `None`: the object is none.
    pub fn queue(&self, cq: *mut c_void) -> Option<Arc<Mutex<Queue>>> {
        held(&self.queues).get(&(cq as usize)).cloned()
    }

    /// Notes the library's own function of an object, and puts ours in its place.
    ///
    /// # Safety
    /// As for [`replace`].
    pub unsafe fn stand_in(&self, of: *mut usize, table: usize, op: usize, ours: usize) {
        // SAFETY: the caller's promise.
        if let Some(address) = unsafe { function(of, table, op) } {
            held(&self.opens).insert((of as usize, op), address);
            // SAFETY: the caller's promise.
            unsafe { replace(of, table, &[(op, ours)]) };
        }
    }

    /// The library's own function of another object.
    pub fn own(&self, of: *mut c_void, op: usize) -> usize {
        held(&self.opens).get(&(of as usize, op)).copied().unwrap_or_default()
    }
}
