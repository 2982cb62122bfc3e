//! Accumulates under the lock: elements are read, combined and written.
//!
//! **With the lock alone** at a rank that is reached by a transport, that is two round trips and a request on its way: one for the lock, one to read; what was
//! combined is written by a list whose last entry gives the lock back, and the call does not wait for it. A list is carried out in its order, so whoever has
//! the lock next finds what was written. The list is an operation like others: flushes wait for it, and so does an accumulate that has to come
//! behind it (`order.rs`). Where it does not fit into one list, or the lock's word is mapped here, writing is waited for before the lock is given back.

use crate::call::Call;
use crate::claim::Claim;
use crate::issue::Issue;
use crate::layout::Block;
use crate::mapped_targets::{read_here, write_here};
use crate::op::Op;
use crate::order::Touch;
use crate::peer::Peer;
use crate::runs::Runs;
use crate::spot::RemoteTarget;
use crate::task::{OldElements, Task};
use crate::wire::word;
use crate::writes::Kind;
use core::ptr::{null, null_mut};
use oxmpi_btl::{LIST_ENTRY, LIST_PUT, ListEntry, amo};
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;

impl Call<'_> {
    /// Blocks while nobody else updates any; `touch` says of the order.
    pub fn combine_alone(
        &self,
        task: &Task<'_>,
        there: Option<&RemoteTarget<'_>>,
        blocks: &[&Block],
        old: &mut OldElements,
    ) -> Result<(), Status> {
        let peer = task.peer;
        let claim = self.claim(peer, Claim::ALONE)?;
        let done = match (self.combined(task, there, blocks, old), there) {
            (Ok(Some(now)), Some(there)) => match self.write_and_release(task, there, blocks, &now, claim) {
                Ok(true) => return Ok(()),
                Ok(false) => self.write_there(peer, there, blocks, &now),
                Err(status) => Err(status),
            },
            (Ok(Some(now)), None) => {
                write_here(blocks, &now);
                Ok(())
            }
            (Ok(None), _) => Ok(()),
            (Err(status), _) => Err(status),
        };
        self.release(peer, claim)?;
        done
    }

    /// By one list that is on its way then; false: not so. After a failure nothing is on its way.
    fn write_and_release(
        &self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        from: &[u8],
        claim: Claim,
    ) -> Result<bool, Status> {
        let (peer, link) = (task.peer, there.link);
        if link.lists == 0 || peer.mapped_word(word::ACCUMULATE).is_some() {
            return Ok(false);
        }
        let runs = Runs::of(there, blocks)?;
        let mut bytes = vec![0; from.len()];
        runs.gather(from, &mut bytes);
        let change = claim.change();
        let (word, handle) = peer.remote_word(word::ACCUMULATE);
        let put = |at: u64, remote, len, handle| ListEntry {
            remote,
            remote_handle: handle,
            len,
            data: bytes.as_ptr().wrapping_add(at as usize),
            result: null_mut(),
            result_handle: null(),
            op: LIST_PUT,
            flags: 0,
            compare: 0,
        };
        let mut entries = Vec::new();
        runs.each(|at, run| {
            entries.push(put(at, run.at, run.len, run.handle));
            true
        });
        let data = core::ptr::from_ref(&change).cast();
        entries.push(ListEntry { data, op: amo::ADD, ..put(0, word, 8, handle) });
        let len: u64 = entries.iter().map(|entry| LIST_ENTRY + entry.len.next_multiple_of(8)).sum();
        if len > link.lists {
            return Ok(false);
        }
        let touch = Touch { kind: Touch::ALONE, ..task.touch() };
        self.wait_for_order(peer, touch)?;
        let op = Op { ordered: Some(touch), ..Op::new(self.rdma(), peer) };
        let mut pieces = Issue::begin(*self, link, op);
        if task.wanted {
            // Its request is complete before the list is.
            pieces.record(Kind::ACCUMULATE, true, true, task.places());
        }
        pieces.list(&entries);
        pieces.end();
        peer.may_ask();
        Ok(true)
    }

    /// The blocks' new bytes; `None`: they stay. Several together may make up an element, so all are read before any is combined.
    pub fn combined(
        &self,
        task: &Task<'_>,
        there: Option<&RemoteTarget<'_>>,
        blocks: &[&Block],
        old: &mut OldElements,
    ) -> Result<Option<Vec<u8>>, Status> {
        let len: u64 = blocks.iter().map(|block| block.len).sum();
        let mut now = vec![0u8; len as usize];
        // Bytes that are replaced and not asked for are nobody's.
        let blind = task.update.code == op::REPLACE && matches!(old, OldElements::Nobody);
        match there {
            _ if blind => {}
            None => read_here(blocks, &mut now),
            Some(there) => self.read_there(task.peer, there, blocks, &mut now)?,
        }
        let (mut at, mut input) = (0, Vec::new());
        for block in blocks {
            let to = old.at(block.packed);
            // SAFETY: the result, and the origin, have as many packed bytes as the target.
            unsafe {
                if !to.is_null() {
                    core::ptr::copy(now.as_ptr().add(at), to, block.len as usize);
                }
                if let Some(packed) = &task.input {
                    let from = core::slice::from_raw_parts(packed.at(block.packed), block.len as usize);
                    input.extend_from_slice(from);
                }
            }
            at += block.len as usize;
        }
        if task.input.is_none() {
            return Ok(None);
        }
        // SAFETY: both have so many packed elements.
        let status =
            unsafe { task.update.combine(input.as_ptr(), now.as_mut_ptr(), len / task.update.width) };
        if status.is_err() { Err(status) } else { Ok(Some(now)) }
    }

    fn read_there(
        &self,
        peer: &Peer,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        into: &mut [u8],
    ) -> Result<(), Status> {
        let runs = Runs::of(there, blocks)?;
        let local = self.scratch(there.link, into.len())?;
        self.run(peer, there.link, |pieces| {
            runs.each(|at, run| pieces.get(&local, at, run.at, run.len, run.handle));
        })?;
        // SAFETY: as many bytes as were asked for.
        runs.scatter(unsafe { core::slice::from_raw_parts(local.at(), into.len()) }, into);
        Ok(())
    }

    /// Writes, and waits until it is visible.
    pub fn write_there(
        &self,
        peer: &Peer,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        from: &[u8],
    ) -> Result<(), Status> {
        let runs = Runs::of(there, blocks)?;
        let local = self.scratch(there.link, from.len())?;
        // SAFETY: room for as many, which nobody else uses until they are sent.
        runs.gather(from, unsafe { core::slice::from_raw_parts_mut(local.at(), from.len()) });
        self.run(peer, there.link, |pieces| {
            runs.each(|at, run| pieces.put(&local, at, run.at, run.len, run.handle));
        })?;
        self.settle(&[peer], true).ok().map(|_| ())
    }
}
