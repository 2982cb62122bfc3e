//! The services that a component asks for off a message's path: the table of [`HostServices`].
//!
//! One table serves all components of all instances; the first argument of every function is the calling
//! component's context (`host::ComponentCtx`).

mod auth;
mod caller;
pub(crate) mod card;
mod cards;
mod description;
pub(crate) mod exchange;
pub(crate) mod failed;
pub(crate) mod failures;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod node;
pub(crate) mod osc_tags;
pub(crate) mod pieces;
mod segments;
pub(crate) mod tags;
mod waiting;

use oxmpi_mca::HostServices;

/// The table of services, one for all components of all instances.
pub(crate) fn table() -> *const HostServices {
    const TABLE: &HostServices = &HostServices {
        size: size_of::<HostServices>() as u32,
        reserved: 0,
        name_of: names::name_of,
        index_of: names::index_of,
        place_of: names::place_of,
        exchange_put: exchange::put,
        exchange_try: exchange::get,
        auth_make: auth::make,
        auth_check: auth::check,
        node_memory: node::node_memory,
        peer_read: memory::peer_read,
        peer_write: memory::peer_write,
        peer_pointer: memory::peer_pointer,
        wait_until: waiting::wait_until,
        wait_word: waiting::wait_word,
        on_peer_failure: failures::subscribe,
        off_peer_failure: failures::unsubscribe,
        peer_failed: failures::failed,
        osc_tags: tags::osc_tags,
        node_memory_free: node::node_memory_free,
        wake_word: waiting::wake_word,
        segment: segments::segment,
    };
    TABLE
}
