//! Where the data of an operation lies at its target, and the answer of a call that operates on it.

use crate::call::Call;
use crate::known_regions::{Span, cut};
use crate::layout::{Block, blocks_at};
use crate::peer::{Link, Peer};
use core::ptr::null_mut;
use oxmpi_btl::RegHandle;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_osc_support::{Request, offset};

/// Where the data of an operation lies at its target.
pub enum Spot<'a> {
    /// Mapped: the address of the first element here.
    Here(*mut u8),
    /// Reached by a transport: the address there.
    There(RemoteTarget<'a>),
}

/// Memory of a target that a transport reaches.
pub struct RemoteTarget<'a> {
    pub base: u64,
    pub link: &'a Link,
    handles: Handles,
}

enum Handles {
    One(*const RegHandle),
    Regions(Vec<Span>),
}

impl RemoteTarget<'_> {
    /// Blocks as pieces of the operation, each within one registration. `None`: some of it is not attached.
    pub fn cut(&self, blocks: Vec<Block>) -> Option<Vec<Block>> {
        match &self.handles {
            Handles::One(_) => Some(blocks),
            Handles::Regions(spans) => cut(spans, &blocks),
        }
    }

    /// The handle of all, if there is one for all.
    pub fn only_handle(&self) -> Option<*const RegHandle> {
        match &self.handles {
            Handles::One(handle) => Some(*handle),
            Handles::Regions(_) => None,
        }
    }

    /// The handle for a block.
    pub fn handle(&self, at: u64, len: u64) -> Option<*const RegHandle> {
        match &self.handles {
            Handles::One(handle) => Some(*handle),
            Handles::Regions(spans) => {
                spans.iter().find(|span| span.has(at, len)).map(|s| s.registration.handle())
            }
        }
    }
}

impl<'a> Call<'a> {
    /// Where an operation's data lies; RMA_RANGE if it is not all in the window.
    #[inline]
    pub fn spot(&self, peer: &'a Peer, disp: i64, count: u64, dtype: &TypeDesc) -> Result<Spot<'a>, Status> {
        if self.win.dynamic {
            return self.dynamic_spot(peer, disp, count, dtype);
        }
        let offset = offset(disp, peer.disp_unit, peer.bytes, count, dtype)?;
        if !peer.base.is_null() {
            return Ok(Spot::Here(peer.base.wrapping_offset(offset as isize)));
        }
        let link = peer.link.as_ref().ok_or(Status::UNREACHABLE)?;
        let base = peer.remote.wrapping_add(offset as u64);
        Ok(Spot::There(RemoteTarget { base, link, handles: Handles::One(peer.data.handle()) }))
    }

    fn dynamic_spot(
        &self,
        peer: &'a Peer,
        disp: i64,
        count: u64,
        dtype: &TypeDesc,
    ) -> Result<Spot<'a>, Status> {
        let base = disp as u64;
        let spans = match dtype.one_block(count) {
            Some((disp, len)) => {
                self.regions(peer, &[Block { at: base.wrapping_add(disp as u64), len, packed: 0 }])
            }
            None => self.regions(peer, &blocks_at(base, count, dtype)),
        }?;
        match &peer.link {
            Some(link) if peer.rank != self.win.comm.rank() => {
                Ok(Spot::There(RemoteTarget { base, link, handles: Handles::Regions(spans) }))
            }
            _ => Ok(Spot::Here(core::ptr::with_exposed_provenance_mut(base as usize))),
        }
    }

    /// A request if one is wanted.
    pub fn request(&self, wanted: bool) -> Result<*mut Request, Status> {
        if wanted { self.rdma().requests.take(null_mut()) } else { Ok(null_mut()) }
    }

    /// The answer of a call whose target is not all in the window. Of a dynamic window only the target knows, so a request says it.
    pub fn refused(&self, status: Status, wanted: bool) -> Result<*mut RequestHeader, Status> {
        if !wanted || !self.win.dynamic || status != Status::RMA_RANGE {
            return Err(status);
        }
        let (request, rdma) = (self.request(true)?, self.rdma());
        // SAFETY: taken above; nobody else knows it.
        unsafe { rdma.requests.complete(request, status) };
        Ok(request.cast())
    }

    /// The operation is complete: so is its request.
    pub fn complete(&self, request: *mut Request) -> *mut RequestHeader {
        if !request.is_null() {
            // SAFETY: the call's own, which no operation under way has.
            unsafe { self.rdma().requests.complete(request, Status::OK) };
        }
        request.cast()
    }

    /// The answer of a call whose operation was started, or not.
    pub fn started(
        &self,
        started: Result<(), Status>,
        request: *mut Request,
    ) -> Result<*mut RequestHeader, Status> {
        match started {
            Ok(()) => Ok(request.cast()),
            Err(status) => {
                if !request.is_null() {
                    let rdma = self.rdma();
                    // SAFETY: the call's own: an operation that was not started has not completed it. The program never sees it.
                    unsafe {
                        rdma.requests.complete(request, status);
                        rdma.requests.forget(request);
                    }
                }
                Err(status)
            }
        }
    }
}
