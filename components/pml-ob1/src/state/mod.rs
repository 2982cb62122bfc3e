//! State in memory: the instance, communicators, CRIs, and by which lock each is guarded.

pub mod cri;
pub mod expect;
pub mod fifos;
pub mod hand;
pub mod instance;
pub mod locked;
pub mod note;
pub mod paged;
