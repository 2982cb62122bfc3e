//! State in memory: requests, peers, communicators, and by which lock each is guarded.

pub mod abilities;
pub mod attention;
pub mod comm;
pub mod communicators;
pub mod contact;
pub mod counts;
pub mod cri;
pub mod escalated;
pub mod fifos;
pub mod free_list;
pub mod guarded;
pub mod inbound;
pub mod instance;
pub mod links;
pub mod members;
pub mod memory;
pub mod note;
pub mod objects;
pub mod orphan;
pub mod owed;
pub mod paged;
pub mod peer;
pub mod request;
pub mod request_life;
pub mod route;
pub mod thread_state;
