//! State in memory: the instance, communicators, CRIs, and by which lock each is guarded.

pub mod cri;
pub mod expect;
pub mod fifos;
pub mod guarded;
pub mod instance;
pub mod note;
pub mod paged;
