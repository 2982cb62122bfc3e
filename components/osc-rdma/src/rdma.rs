//! State of the component for one instance: what all its windows share.

use crate::local::Pools;
use crate::params::Settings;
use oxmpi_mca::Host;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_osc_support::RequestPool;

/// The component's state for one instance.
pub struct Rdma {
    pub host: Host,
    pub settings: Settings,
    pub requests: RequestPool,
    pub pools: Pools,
    /// How many shelves in node memory this process has led.
    pub shelves: AtomicU64,
}

#[cfg(all(test, not(loom)))]
pub mod tests {
    use super::*;

    /// A component of no host: nothing of it may be called.
    pub fn without_host() -> Rdma {
        // SAFETY: tests that have this call nothing of the host's.
        let host = unsafe { Host::new(core::ptr::null(), "rdma") };
        Rdma {
            host,
            settings: Settings {
                priority: 0,
                on_demand: false,
                max_attach: 1,
                granularity: 0,
                aggregation: 0,
            },
            // SAFETY: nobody takes a request.
            requests: unsafe { RequestPool::new(host) },
            pools: Pools::default(),
            shelves: AtomicU64::new(0),
        }
    }
}
