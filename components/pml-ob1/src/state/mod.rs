//! State in memory: the instance, communicators, CRIs, and by which lock each is guarded.

pub mod counts;
pub mod cri;
pub mod escalated;
pub mod expect;
pub mod fifos;
pub mod guarded;
pub mod instance;
pub mod note;
pub mod orphan;
pub mod owed;
pub mod paged;
