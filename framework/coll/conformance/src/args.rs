//! Arguments of collectives that a check gives safely.

use core::ptr::{null, null_mut};
use oxmpi_coll::{CollArgs, Neighbors};
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};

/// Arguments of a collective; the buffers of a call that does not use them are null.
pub struct Args<'a> {
    pub send: (*const u8, u64, Option<&'a TypeDesc>),
    pub recv: (*mut u8, u64, Option<&'a TypeDesc>),
    pub op: Option<&'a OpDesc>,
    pub root: u32,
    /// Counts and displacements per rank; types where they differ.
    pub send_blocks: Blocks<'a>,
    pub recv_blocks: Blocks<'a>,
    pub neighbors: Option<&'a Neighbors>,
}

/// One entry per rank, or none at all.
#[derive(Clone, Copy, Default)]
pub struct Blocks<'a> {
    pub counts: &'a [u64],
    pub displs: &'a [i64],
    pub types: &'a [*const TypeDesc],
}

impl Default for Args<'_> {
    fn default() -> Self {
        Args {
            send: (null(), 0, None),
            recv: (null_mut(), 0, None),
            op: None,
            root: 0,
            send_blocks: Blocks::default(),
            recv_blocks: Blocks::default(),
            neighbors: None,
        }
    }
}

impl Args<'_> {
    pub(crate) fn raw(&self) -> CollArgs {
        let dtype = |d: Option<&TypeDesc>| d.map_or(null(), |d| &raw const *d);
        CollArgs {
            sendbuf: self.send.0,
            sendcount: self.send.1,
            sendtype: dtype(self.send.2),
            recvbuf: self.recv.0,
            recvcount: self.recv.1,
            recvtype: dtype(self.recv.2),
            op: self.op.map_or(null(), |o| &raw const *o),
            root: self.root as i32,
            reserved: 0,
            sendcounts: self.send_blocks.counts.as_ptr(),
            sdispls: self.send_blocks.displs.as_ptr(),
            sendtypes: self.send_blocks.types.as_ptr(),
            recvcounts: self.recv_blocks.counts.as_ptr(),
            rdispls: self.recv_blocks.displs.as_ptr(),
            recvtypes: self.recv_blocks.types.as_ptr(),
            neighbors: self.neighbors.map_or(null(), |n| &raw const *n),
        }
    }
}
