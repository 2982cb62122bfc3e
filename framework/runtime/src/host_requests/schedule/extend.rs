//! Steps that write further steps (`CollServices::extend`), and giving steps up.
//!
//! **Where they stand.** A plan's list has first what was recorded. Such a step appends what its component writes to the end of the list,
//! with a step behind it that returns, and goes on there:
//!
//! ```text
//! recorded            written by `extend`            written by the second one
//! a  extend  b  rest │ c  extend  d  return to b │ e  f  return to d │
//!    └────────────────►└──────────────────────────►
//! ```
//!
//! So steps never move, a plan is done by the same loop whether it grows or not, and how deep such steps stand in each other costs no stack.
//!
//! **The end of a start.** When the last step is done all messages are over, since that step waits for them. Then everything behind what was
//! recorded is thrown away: steps, slots and memory. A persistent operation begins its next start with what was recorded.

use super::record;
use super::steps::{Core, Message, Recorded, Step};
use oxmpi_coll::{extend, step};
use oxmpi_mca::{Entry, Status};
use std::ptr::null;

impl Core {
    /// Does the step at `at`, which writes further ones: these are next.
    #[cold]
    pub fn extend(&mut self, entry: &mut Entry) -> Status {
        let Some(&Step::Extend { function, ctx }) = self.steps.get(self.at) else { return Status::INTERNAL };
        let first = self.steps.len();
        let what = if self.spoiled { extend::LOST } else { extend::WRITE };
        // SAFETY: in use as long as the request is (the module's head).
        let comm = unsafe { &*self.comm };
        // SAFETY: a step of this plan; those that were dropped are no more in it.
        let answer = unsafe { record::extend(self, comm, (function, ctx), entry, what) };
        let status = if answer == Status::PENDING { Status::INTERNAL } else { answer };
        self.spoiled |= status.is_err();
        self.steps.push(Step::Return { at: self.at });
        self.messages.resize(self.slots as usize, Message::default());
        // The step before the next one; there is one, since this step stands before what it has written.
        self.at = first - 1;
        status
    }

    /// Throws away what such steps have written, when no message is under way.
    #[inline]
    pub fn forget_extensions(&mut self) {
        if self.steps.len() > self.recorded.steps {
            self.cut_to_recorded();
        }
    }

    #[cold]
    fn cut_to_recorded(&mut self) {
        self.drop_steps(self.recorded.steps);
        self.at = self.recorded.steps;
        self.slots = self.recorded.slots;
        self.messages.truncate(self.slots as usize);
        self.memory.clear(self.recorded.memory);
    }

    /// Gives up the plan, of which nothing is under way.
    pub fn clear(&mut self) {
        self.drop_steps(0);
        self.memory.clear(0);
        self.slots = 0;
        self.recorded = Recorded::default();
        self.op = None;
        self.kept = None;
        self.bytes = None;
        self.comm = null();
    }

    /// Takes the steps from `first` on out of the plan, and has the component let go of what they keep.
    fn drop_steps(&mut self, first: usize) {
        for step in self.steps.drain(first..) {
            match step {
                Step::Own { function, ctx } => {
                    function(ctx, step::DROP);
                }
                Step::Extend { function, ctx } => {
                    // SAFETY: the step is not in the plan any more, so this is the last call.
                    unsafe { function(ctx, null(), extend::DROP) };
                }
                _ => {}
            }
        }
    }
}
