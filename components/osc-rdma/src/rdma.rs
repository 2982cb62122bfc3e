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
