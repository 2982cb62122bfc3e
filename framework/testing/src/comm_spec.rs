//! Communicators as tests describe them.

use core::ptr::null;
use oxmpi_mca::StrRef;
use oxmpi_pml::{CommDesc, NO_HINT};

/// Describes a communicator as one of its ranks sees it.
#[derive(Clone)]
pub struct CommSpec<'a> {
    pub gid: [u64; 2],
    pub procs: &'a [u32],
    pub endpoints: &'a [u16],
    pub my_rank: i32,
    pub my_endpoint: u16,
    pub fixed: Option<u32>,
    /// Bits of [`oxmpi_pml::assert_flag`] say what is asserted.
    pub flags: u32,
    pub hint: u32,
}

impl Default for CommSpec<'_> {
    fn default() -> Self {
        CommSpec {
            gid: [7, 7],
            procs: &[0, 1],
            endpoints: &[],
            my_rank: 0,
            my_endpoint: 0,
            fixed: None,
            flags: 0,
            hint: NO_HINT,
        }
    }
}

impl CommSpec<'_> {
    /// Makes the description for a PML. It points into the slices of this one, so they stay until `del_comm`.
    pub fn desc(&self) -> CommDesc {
        CommDesc {
            size: self.procs.len() as u32,
            flags: self.flags,
            gid: self.gid,
            my_rank: self.my_rank,
            num_peers: self.procs.len() as u32,
            procs: self.procs.as_ptr(),
            endpoints: if self.endpoints.is_empty() { null() } else { self.endpoints.as_ptr() },
            my_endpoint: self.my_endpoint,
            has_fixed_index: self.fixed.is_some().into(),
            fixed_index: self.fixed.unwrap_or(0),
            matching: StrRef::EMPTY,
            fifo_hint: self.hint,
            reserved: 0,
        }
    }
}
