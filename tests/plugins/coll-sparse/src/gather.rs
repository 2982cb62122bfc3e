//! MPI_Gather (MPI 5.0 §6.5) of blocks without the zeros at their ends. README.md has the protocol.

use crate::component::SparseModule;
use oxmpi_coll::safe::{Call, Gather, Gathered, Memory, Place, Result, Source};
use oxmpi_mca::Status;

/// Bytes of a size on its way.
const SIZE: usize = size_of::<u64>();

impl Gather for SparseModule {
    fn gather(&self, call: &Call<'_>, data: Gathered<'_>, root: u32) -> Result {
        match data {
            // The messages depend on the data, which is looked at when it is due.
            Gathered::Elsewhere { own } => {
                call.learn(own, (), move |call, bytes, ()| give(call, bytes.unwrap_or_default(), root))
            }
            Gathered::Here { own, mut result } => {
                if let Some(own) = own {
                    call.copy(own, result.block(root, call.num_ranks())?)?;
                }
                collect(call, result)
            }
        }
    }
}

/// Gives a block to the root.
fn give(call: &Call<'_>, bytes: &[u8], root: u32) -> Result {
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (size, block) = (call.constant(&(len as u64).to_ne_bytes())?, call.constant(&bytes[..len])?);
    let (_, go) = call.nothing()?;
    call.send(size.source()?, root)?;
    call.recv(go, root)?;
    call.send(block.source()?, root)
}

/// The ranks but for this one.
fn others(call: &Call<'_>) -> impl Iterator<Item = u32> + use<> {
    let rank = call.rank();
    (0..call.num_ranks()).filter(move |other| *other != rank)
}

/// Collects the blocks of all others at the root: their sizes, and then what is left of them.
fn collect(call: &Call<'_>, result: Place<'_>) -> Result {
    let ranks = call.num_ranks();
    let mut sizes = call.bytes(u64::from(ranks) * SIZE as u64)?;
    call.together(|messages| {
        let mut places = (0..).zip(sizes.place()?.blocks(ranks)?).filter(|(from, _)| *from != call.rank());
        places.try_for_each(|(from, size)| messages.recv(size, from))
    })?;
    call.learn(sizes.source()?, result, |call, sizes, result| match sizes {
        Some(sizes) => fetch(call, sizes, result),
        None => give_up(call),
    })
}

/// Fetches what is left of the blocks, by the sizes of all ranks.
fn fetch(call: &Call<'_>, sizes: &[u8], mut result: Place<'_>) -> Result {
    let room = result.bytes() / u64::from(call.num_ranks());
    let (size, _) = sizes.as_chunks::<SIZE>();
    let len = |from: u32| size.get(from as usize).map_or(0, |size| u64::from_ne_bytes(*size));
    // One that says more than its block has room for is received all the same, and then is the call's error.
    let blocks = others(call).map(|from| Ok((from, call.bytes(room.max(len(from)))?)));
    let mut blocks = blocks.collect::<Result<Vec<(u32, Memory<'_>)>>>()?;
    let (go, _) = call.nothing()?;
    let mut due = blocks.iter_mut();
    call.together(|messages| {
        due.try_for_each(|(from, block)| {
            messages.send(go, *from)?;
            messages.recv(block.place()?.into_part(0..len(*from))?, *from)
        })
    })?;
    for (from, block) in &blocks {
        if len(*from) > room {
            return Err(Status::MISMATCH);
        }
        let block: Source<'_> = block.source()?.part(0..room)?;
        call.copy(block, result.block(*from, call.num_ranks())?)?;
    }
    Ok(())
}

/// Goes on without the sizes: every rank is told instead of being asked for its block, and says so in place of that.
fn give_up(call: &Call<'_>) -> Result {
    let (go, _) = call.nothing()?;
    others(call).try_for_each(|from| call.send(go, from))?;
    others(call).try_for_each(|from| {
        let (_, nothing) = call.nothing()?;
        call.recv(nothing, from)
    })
}
