//! The receiving side: shards of a communicator, messages that arrive, and receives that are posted.

pub mod arrive;
pub mod claimed;
pub mod communicators;
pub mod content;
pub mod counts;
pub mod escalated;
pub mod handlers;
#[cfg(all(test, not(loom)))]
mod histories;
pub mod incoming;
pub mod look;
pub mod meet;
pub mod moving;
pub mod naming;
pub mod numbered;
pub mod ordered;
pub mod orphan;
pub mod owed;
pub mod place;
pub mod post;
pub mod probe;
pub mod receiver;
pub mod shard;
pub mod shards;
pub mod spread;
pub mod stamped;
pub mod streamed;
pub mod sweep;
pub mod switched;
pub mod timing;
pub mod unknown;
pub mod withdraw;
