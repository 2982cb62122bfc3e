//! Accumulates under the lock: elements are read, combined and written.
//!
//! **With the lock alone** at a rank that is reached by a transport, that is two round trips and a request on its way: one for the lock, one to read; what was
//! combined is written by a list whose last entry gives the lock back, and the call does not wait for it. A list is carried out in its order, so whoever has
//! the lock next finds what was written. The list is an operation like others: flushes wait for it, and so does an accumulate that has to come
//! behind it (`order.rs`). Where it does not fit into one list, or the lock's word is mapped here, writing is waited for before the lock is given back.

use crate::call::Call;
use crate::claim::Claim;
use crate::issue::Noted;
use crate::layout::Block;
use crate::mapped_targets::{read_here, write_here};
use crate::op::Draft;
use crate::order::Touch;
use crate::piece::{Stretch, gets, lists, puts};
use crate::runs::Runs;
use crate::spot::RemoteTarget;
use crate::task::{OldElements, Task};
use crate::wire::word;
use crate::writes::Kind;
use oxmpi_btl::{LIST_PUT, amo};
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc_support::{Entries, Entry};

impl Call<'_> {
    /// Blocks while nobody else updates any; `touch` says of the order.
    ///
    /// # Safety
    /// Where the target is not reached by a transport (`there` is `None`) the blocks are in mapped memory of the window's.
    pub unsafe fn combine_alone(
        &mut self,
        task: &Task<'_>,
        there: Option<&RemoteTarget<'_>>,
        blocks: &[&Block],
        old: &mut OldElements<'_>,
    ) -> Result<(), Status> {
        let peer = task.peer;
        let claim = self.claim(peer, Claim::ALONE)?;
        // SAFETY: the caller's promise.
        let combined = unsafe { self.combined(task, there, blocks, old) };
        let done = match (combined, there) {
            (Ok(Some(now)), Some(there)) => match self.write_and_release(task, there, blocks, &now, claim) {
                Ok(true) => return Ok(()),
                Ok(false) => self.write_there(there, blocks, &now),
                Err(status) => Err(status),
            },
            (Ok(Some(now)), None) => {
                // SAFETY: the caller's promise.
                unsafe { write_here(blocks, &now) };
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
        &mut self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        from: &[u8],
        claim: Claim,
    ) -> Result<bool, Status> {
        let (peer, route) = (task.peer, there.route);
        if route.link().lists == 0 || peer.mapped_word(word::ACCUMULATE).is_some() {
            return Ok(false);
        }
        let runs = Runs::of(there, blocks)?;
        let mut bytes = vec![0; from.len()];
        runs.gather(from, &mut bytes);
        let change = claim.change().to_ne_bytes();
        let (word, registration) = peer.remote_word(word::ACCUMULATE);
        let (mut entries, mut room) = (Entries::new(1, None), 0);
        for run in stretches(&runs) {
            let data = &bytes[run.local as usize..(run.local + run.len) as usize];
            let entry = Entry::new(LIST_PUT, run.remote, run.registration, data);
            room += entry.room();
            entries.push(entry);
        }
        let release = Entry::new(amo::ADD, word, registration, &change);
        if room + release.room() > route.link().lists {
            return Ok(false);
        }
        entries.push(release);
        let touch = Touch { kind: Touch::ALONE, ..task.touch() };
        self.wait_for_order(peer, touch)?;
        // Its request is complete before the list is.
        let noted = task.wanted.then(|| Noted {
            kind: Kind::ACCUMULATE,
            ends_there: true,
            settled: true,
            first: true,
            places: task.places(),
        });
        let mut op = Draft::default();
        op.ordered = touch.into();
        self.launch(route, op, lists(entries, route.link().lists), noted);
        peer.may_ask();
        Ok(true)
    }

    /// The blocks' new bytes; `None`: they stay. Several together may make up an element, so all are read before any is combined.
    ///
    /// # Safety
    /// As [`Call::combine_alone`].
    pub unsafe fn combined(
        &mut self,
        task: &Task<'_>,
        there: Option<&RemoteTarget<'_>>,
        blocks: &[&Block],
        old: &mut OldElements<'_>,
    ) -> Result<Option<Vec<u8>>, Status> {
        let len: u64 = blocks.iter().map(|block| block.len).sum();
        let mut now = vec![0u8; len as usize];
        // Bytes that are replaced and not asked for are nobody's.
        let blind = task.update.code == op::REPLACE && !old.are_wanted();
        match there {
            _ if blind => {}
            // SAFETY: the caller's promise.
            None => unsafe { read_here(blocks, &mut now) },
            Some(there) => self.read_there(there, blocks, &mut now)?,
        }
        let (mut at, mut input) = (0, Vec::new());
        for block in blocks {
            let end = at + block.len as usize;
            old.give(block.packed, &now[at..end]);
            if let Some(packed) = &task.input {
                input.extend_from_slice(packed.bytes(block.packed, block.len));
            }
            at = end;
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
        &mut self,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        into: &mut [u8],
    ) -> Result<(), Status> {
        let (route, runs) = (there.route, Runs::of(there, blocks)?);
        let local = self.scratch(route.link(), into.len())?;
        let read = self.run(route, Some(local), gets(route, stretches(&runs)))?;
        runs.scatter(read.bytes(), into);
        Ok(())
    }

    /// Writes, and waits until it is visible.
    pub fn write_there(
        &mut self,
        there: &RemoteTarget<'_>,
        blocks: &[&Block],
        from: &[u8],
    ) -> Result<(), Status> {
        let (route, runs) = (there.route, Runs::of(there, blocks)?);
        let mut local = self.scratch(route.link(), from.len())?;
        runs.gather(from, local.bytes_mut());
        self.run(route, Some(local), puts(route, stretches(&runs)))?;
        self.settle(&[route.met()], true).ok().map(|_| ())
    }
}

/// The runs, whose bytes stand behind each other in local memory.
fn stretches<'p>(runs: &Runs<'p>) -> impl Iterator<Item = Stretch<'p>> {
    let mut local = 0;
    runs.all().iter().map(move |run| {
        let stretch = Stretch { local, remote: run.at, len: run.len, registration: run.registration };
        local += run.len;
        stretch
    })
}
