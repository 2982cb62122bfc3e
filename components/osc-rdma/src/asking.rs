//! Accumulates that a target's listener carries out: a message there and an answer (`ask.rs`, `serve.rs`), or as many as their data needs.
//!
//! **In line** are those that atomics alone carry out at the target: they are never refused, and the call does not wait for them. All others need the target's
//! `ACCUMULATE` word alone there, which somebody else may have; so they have no line, the call waits for the answer, and asks again if they are refused.
//! Where all accumulates of a window go under the lock and few elements share it (`claim.rs`), somebody may have it all the time, and origins take the lock
//! themselves, which those who share it leave to them.

use crate::ask::{self, Deed};
use crate::call::Call;
use crate::issue::NOTHING;
use crate::layout::Block;
use crate::local::Local;
use crate::op::{Draft, FinalStep};
use crate::peer::Route;
use crate::piece::{Piece, lists};
use crate::tally::Attempt;
use crate::task::{OldElements, Task};
use core::iter::once;
use oxmpi_btl::LIST_ENTRY;
use oxmpi_datatype::Base;
use oxmpi_mca::Status;
use oxmpi_osc_support::{Entries, Entry, Pending, RemoteRegistration};

/// A part of an operation that one message asks for.
struct Question {
    bytes: Vec<u8>,
    /// Where its elements are among the packed ones, and how many bytes.
    packed: u64,
    len: u64,
}

impl Question {
    /// It by itself. `results`: the memory that all answers go to, if they are wanted, with the first at `first` of the packed bytes.
    fn piece<'p>(
        &'p self,
        ear: &'p RemoteRegistration,
        results: Option<&Local>,
        first: u64,
    ) -> Option<Piece<'p>> {
        let mut entries = Entries::new(1, results.map(Local::results));
        entries.push(Entry::ask(ear, &self.bytes, results.map(|_| (self.packed - first, self.len))));
        lists(entries, u64::MAX).next()
    }
}

/// An operation as questions of at most `limit` bytes, whose answers have no more. `None`: not even an element fits.
fn questions(task: &Task<'_>, limit: u64) -> Option<Vec<Question>> {
    let (mut all, mut rest) = (Vec::new(), vec![task.blocks.clone()]);
    while let Some(blocks) = rest.pop() {
        let len: u64 = blocks.iter().map(|block| block.len).sum();
        let mut bytes = Vec::new();
        ask::write(task.deed(), &blocks, &mut bytes);
        let operands = if task.input.is_some() { len } else { 0 };
        if bytes.len() as u64 + operands <= limit && len <= limit {
            if let Some(input) = &task.input {
                blocks.iter().for_each(|block| bytes.extend_from_slice(input.bytes(block.packed, block.len)));
            }
            all.push(Question { bytes, packed: blocks.first()?.packed, len });
            continue;
        }
        let (first, second) = halves(blocks, task.update.width)?;
        rest.extend([second, first]);
    }
    Some(all)
}

/// Two parts of blocks in the order of their packed bytes, with whole elements in each. `None`: there is one element.
fn halves(mut blocks: Vec<Block>, width: u64) -> Option<(Vec<Block>, Vec<Block>)> {
    let len: u64 = blocks.iter().map(|block| block.len).sum();
    let middle = len / 2 / width * width;
    let at = blocks.first()?.packed + middle;
    if middle == 0 {
        return None;
    }
    let i = blocks.partition_point(|block| block.packed + block.len <= at);
    let mut second = blocks.split_off(i);
    if let Some(block) = second.first_mut()
        && block.packed < at
    {
        let head = at - block.packed;
        blocks.push(Block { len: head, ..*block });
        *block = Block { at: block.at.wrapping_add(head), len: block.len - head, packed: at };
    }
    Some((blocks, second))
}

impl<'a> Call<'a> {
    /// The registration at which a rank's listener can be asked; `None`: it cannot, or another way is faster.
    pub fn ear<'p>(&self, route: Route<'p>) -> Option<&'p RemoteRegistration> {
        let peer = route.peer();
        let registration = if self.win.dynamic { &peer.state } else { &peer.data };
        (route.link().asks && registration.module != 0).then_some(registration)
    }

    /// An accumulate that atomics carry out at the target; it is under way.
    pub fn ask_in_line(
        &mut self,
        task: &Task<'_>,
        route: Route<'_>,
        ear: &RemoteRegistration,
        request: Option<Pending>,
    ) -> Result<(), Status> {
        let link = route.link();
        let questions = questions(task, (link.lists - LIST_ENTRY) & !7).ok_or(Status::INTERNAL)?;
        let touch = task.touch().in_line(self.context(link));
        let mut op = Draft::default();
        (op.request, op.ordered) = (request, touch.into());
        if let Some(result) = &task.result {
            op.local = Some(Local::Scratch(self.scratch(link, task.len as usize)?));
            op.final_step = FinalStep::to(result, task.len as usize);
        }
        self.wait_for_order(task.peer, touch)?;
        let pieces: Vec<Piece<'_>> =
            questions.iter().filter_map(|question| question.piece(ear, op.local.as_ref(), 0)).collect();
        self.launch(route, op, pieces.into_iter(), NOTHING);
        Ok(())
    }

    /// An accumulate whose elements, or some of them, are updated under the target's lock, from which the caller has nothing to come behind. False: it is not to be asked for,
    /// and nothing has been done.
    pub fn ask_alone(
        &mut self,
        task: &Task<'_>,
        route: Route<'_>,
        old: &mut OldElements<'_>,
    ) -> Result<bool, Status> {
        let (Some(ear), true) = (self.ear(route), self.may_ask_alone()) else { return Ok(false) };
        let Some(questions) = questions(task, (route.link().lists - LIST_ENTRY) & !7) else {
            return Ok(false);
        };
        // All of it is one update there.
        if self.win.rules.coarse && questions.len() > 1 {
            return Ok(false);
        }
        for question in &questions {
            let wanted = task.result.is_some();
            let answer = self.ask_until_done(route, ear, question, wanted)?;
            if wanted {
                old.give(question.packed, &answer);
            }
        }
        Ok(true)
    }

    /// Whether those who have the lock alone are all whom one who asks meets there, and so nobody has it all the time.
    fn may_ask_alone(&self) -> bool {
        !self.win.rules.under_lock || self.win.rules.coarse
    }

    /// A compare-and-swap under the target's lock, from which the caller has nothing to come behind; the old element. `None`: it is not to be asked for.
    pub fn ask_swap(
        &mut self,
        route: Route<'_>,
        place: Block,
        base: Base,
        [compare, new]: [u64; 2],
    ) -> Result<Option<Vec<u8>>, Status> {
        let (Some(ear), true) = (self.ear(route), self.may_ask_alone()) else { return Ok(None) };
        let (mut bytes, width) = (Vec::new(), place.len as usize);
        ask::write(Deed::Swap { base: base.0 }, &[place], &mut bytes);
        bytes.extend_from_slice(&compare.to_ne_bytes()[..width]);
        bytes.extend_from_slice(&new.to_ne_bytes()[..width]);
        let question = Question { bytes, packed: 0, len: place.len };
        self.ask_until_done(route, ear, &question, true).map(Some)
    }

    /// Asks until it is not refused for somebody else's sake; the answer, if one is wanted.
    fn ask_until_done(
        &mut self,
        route: Route<'_>,
        ear: &RemoteRegistration,
        question: &Question,
        wanted: bool,
    ) -> Result<Vec<u8>, Status> {
        let (tally, mut answer) = (&self.win.tally, Vec::new());
        self.insist(|call| {
            let local = if wanted { Some(call.scratch(route.link(), question.len as usize)?) } else { None };
            let results = local.map(Local::Scratch);
            let piece = question.piece(ear, results.as_ref(), question.packed);
            let mut op = Draft::default();
            op.local = results;
            let waiting = call.set_off(route, op, once(piece.ok_or(Status::INTERNAL)?), NOTHING);
            let outcome = match call.finish(waiting) {
                Ok(ended) => {
                    answer = ended.bytes().to_vec();
                    Ok(true)
                }
                Err(Status::NOT_AVAILABLE) => Ok(false),
                Err(status) => Err(status),
            };
            tally.tried(Attempt::Accumulate, outcome)
        })?;
        Ok(answer)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_have_whole_elements_in_order() {
        let block = |at, len, packed| Block { at, len, packed };
        let all = || vec![block(100, 6, 0), block(200, 10, 6), block(300, 8, 16)];
        let (first, second) = halves(all(), 8).expect("two parts");
        assert_eq!(first, [block(100, 6, 0), block(200, 2, 6)]);
        assert_eq!(second, [block(202, 8, 8), block(300, 8, 16)]);
        let (first, second) = halves(second, 8).expect("two parts");
        assert_eq!((first, second), (vec![block(202, 8, 8)], vec![block(300, 8, 16)]));
        assert_eq!(halves(vec![block(300, 8, 16)], 8), None, "one element");
        assert_eq!(halves(Vec::new(), 8), None);
    }
}
