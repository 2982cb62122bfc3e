//! Where the data of an operation lies at its target, and the answer of a call that operates on it.

use crate::call::Call;
use crate::known_regions::{Span, cut};
use crate::layout::{Block, blocks_at};
use crate::peer::{Met, Route};
use crate::piece::Stretch;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;
use oxmpi_osc::{Asked, Want};
use oxmpi_osc_support::{Address, Pending, RemoteRegistration, Request, offset};

/// Where the data of an operation lies at its target.
pub enum Spot<'a> {
    /// Mapped: the address of the first element here. All elements lie in memory of the window's.
    Here(*mut u8),
    /// Reached by a transport: the address there.
    There(RemoteTarget<'a>),
}

/// Memory of a target that a transport reaches.
pub struct RemoteTarget<'a> {
    pub base: u64,
    pub route: Route<'a>,
    registrations: Registrations<'a>,
}

enum Registrations<'a> {
    One(&'a RemoteRegistration),
    Regions(Vec<Span>),
}

impl<'a> RemoteTarget<'a> {
    /// The blocks of the first `len` bytes of elements there, as pieces of the operation, each within one registration. RMA_RANGE: some of it is not attached.
    pub fn blocks(&self, count: u64, dtype: &TypeDesc, len: u64) -> Result<Vec<Block>, Status> {
        let blocks = first_blocks(self.base, count, dtype, len);
        match &self.registrations {
            Registrations::One(_) => Some(blocks),
            Registrations::Regions(spans) => cut(spans, &blocks),
        }
        .ok_or(Status::RMA_RANGE)
    }

    /// Whether all of it has one registration, that of the rank's memory.
    pub fn is_whole(&self) -> bool {
        matches!(self.registrations, Registrations::One(_))
    }

    /// The registration for a block; RMA_RANGE: it is in none.
    pub fn registration(&self, block: &Block) -> Result<&RemoteRegistration, Status> {
        match &self.registrations {
            Registrations::One(registration) => Some(*registration),
            Registrations::Regions(spans) => {
                spans.iter().find(|span| span.has(block.at, block.len)).map(|span| &span.registration)
            }
        }
        .ok_or(Status::RMA_RANGE)
    }

    /// The blocks, whose packed bytes lie in local memory, as what is moved. RMA_RANGE: one is in no registration.
    pub fn stretches<'p>(&'p self, blocks: &'p [Block]) -> Result<impl Iterator<Item = Stretch<'p>>, Status> {
        if !self.is_whole() {
            self.registrations(blocks)?;
        }
        Ok(blocks.iter().filter_map(|block| {
            let registration = self.registration(block).ok()?;
            Some(Stretch { local: block.packed, remote: block.at, len: block.len, registration })
        }))
    }

    /// The registrations of all blocks.
    pub fn registrations(&self, blocks: &[Block]) -> Result<Vec<&RemoteRegistration>, Status> {
        blocks.iter().map(|block| self.registration(block)).collect()
    }
}

/// The blocks of elements at an address, as far as they have the first `len` bytes.
fn first_blocks(base: u64, count: u64, dtype: &TypeDesc, len: u64) -> Vec<Block> {
    match dtype.one_block(count) {
        Some((disp, all)) => {
            vec![Block { at: base.wrapping_add(disp as u64), len: all.min(len), packed: 0 }]
        }
        None => first(blocks_at(base, count, dtype), len),
    }
}

/// The first `len` packed bytes of blocks.
fn first(mut blocks: Vec<Block>, len: u64) -> Vec<Block> {
    blocks.retain(|block| block.packed < len);
    if let Some(last) = blocks.last_mut() {
        last.len = last.len.min(len - last.packed);
    }
    blocks
}

impl Spot<'_> {
    /// The blocks of the first `len` bytes of an operation's elements; RMA_RANGE: some of it is not attached.
    pub fn blocks(&self, count: u64, dtype: &TypeDesc, len: u64) -> Result<Vec<Block>, Status> {
        match self {
            Spot::Here(at) => Ok(first_blocks(at.expose_provenance() as u64, count, dtype, len)),
            Spot::There(there) => there.blocks(count, dtype, len),
        }
    }

    /// Its address, here or there.
    pub fn address(&self) -> u64 {
        match self {
            Spot::Here(at) => at.expose_provenance() as u64,
            Spot::There(there) => there.base,
        }
    }
}

impl<'a> Call<'a> {
    /// Where an operation's data lies; RMA_RANGE if it is not all in the window.
    #[inline(always)]
    pub fn spot(
        &mut self,
        peer: Met<'a>,
        disp: i64,
        count: u64,
        dtype: &TypeDesc,
    ) -> Result<Spot<'a>, Status> {
        if self.win.dynamic {
            return self.dynamic_spot(peer, disp, count, dtype);
        }
        let offset = offset(disp, peer.disp_unit, peer.bytes, count, dtype)?;
        if !peer.base.is_null() {
            return Ok(Spot::Here(peer.base.get().wrapping_offset(offset as isize)));
        }
        let route = peer.route().ok_or(Status::UNREACHABLE)?;
        let base = peer.remote.wrapping_add(offset as u64);
        let registrations = Registrations::One(&route.peer().data);
        Ok(Spot::There(RemoteTarget { base, route, registrations }))
    }

    #[inline(never)]
    fn dynamic_spot(
        &mut self,
        peer: Met<'a>,
        disp: i64,
        count: u64,
        dtype: &TypeDesc,
    ) -> Result<Spot<'a>, Status> {
        let base = disp as u64;
        let spans = self.regions(peer, &first_blocks(base, count, dtype, u64::MAX))?;
        match peer.route() {
            Some(route) if peer.rank != self.win.comm.rank() => {
                Ok(Spot::There(RemoteTarget { base, route, registrations: Registrations::Regions(spans) }))
            }
            _ => Ok(Spot::Here(core::ptr::with_exposed_provenance_mut(base as usize))),
        }
    }

    /// A request if one is wanted.
    pub fn request(&self, want: Want) -> Result<Option<Pending>, Status> {
        match want {
            Want::Request => self.rdma().requests.take(Address::NULL).map(Some),
            Want::Nothing => Ok(None),
        }
    }

    /// The answer of a call that has nothing left to do.
    #[inline(always)]
    pub fn done(&self, want: Want) -> Asked<Request> {
        if want == Want::Nothing { Ok(None) } else { self.request(want).map(complete) }
    }

    /// The answer of a call whose target is not all in the window. Of a dynamic window only the target knows, so a request says it.
    pub fn refused(&self, status: Status, want: Want) -> Asked<Request> {
        if !self.win.dynamic || status != Status::RMA_RANGE {
            return Err(status);
        }
        let request = self.request(want)?.ok_or(status)?;
        let shown = request.request();
        request.complete(status);
        Ok(Some(shown))
    }
}

/// The operation is complete: so is its request, which is the answer.
pub fn complete(request: Option<Pending>) -> Option<&'static Request> {
    let request = request?;
    let shown = request.request();
    request.complete(Status::OK);
    Some(shown)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_where_the_data_does() {
        let block = |at, len, packed| Block { at, len, packed };
        let all = || vec![block(100, 8, 0), block(200, 8, 8), block(300, 8, 16)];
        assert_eq!(first(all(), 24), all());
        assert_eq!(first(all(), 12), [block(100, 8, 0), block(200, 4, 8)]);
        assert_eq!(first(all(), 8), [block(100, 8, 0)]);
        assert_eq!(first(all(), 0), []);
    }
}
