//! A thread notes the CRIs on which something of its own will come, so that the host's engine has it progress them.

use crate::communicators::comm::Comm;
use crate::matching::Pattern;
use crate::state::instance::Instance;
use crate::wire::tag_of;
use oxmpi_mca::Entry;
use oxmpi_mca::cri::set_below;

impl Instance {
    /// Has the thread of an entry progress that CRI: something of it will come or waits for room there.
    #[inline(always)]
    pub fn expect_on(&self, entry: &Entry, ctx: u32) {
        // SAFETY: an entry has the context of the calling thread, or null.
        unsafe { self.host().expect(entry.thread(), 1 << (ctx % u64::BITS)) }
    }

    /// Has the thread of an entry progress all CRIs, since something of it may come on any.
    #[inline(always)]
    pub fn expect_on_all(&self, entry: &Entry) {
        // SAFETY: an entry has the context of the calling thread, or null.
        unsafe { self.host().expect(entry.thread(), set_below(self.width())) }
    }

    /// Marks a CRI as nobody's in particular, so that every waiter looks after it soon.
    pub fn share(&self, ctx: u32) {
        self.host().cri(ctx).share();
    }

    /// Marks the CRIs as shared on which messages of a receive may come that was posted without a thread's context.
    pub fn mark_cris_shared(&self, comm: &Comm, pattern: Pattern) {
        if pattern.has_tag() && comm.by_tag() && !comm.fifos().prefers() {
            let width = self.width();
            let ctxs = [comm.fifos().home(width), comm.fifos().of_tag(tag_of(pattern.want), width)];
            ctxs.iter().for_each(|&ctx| self.share(ctx));
        } else {
            (0..self.width()).for_each(|ctx| self.share(ctx));
        }
    }
}
