//! The service contexts of this process: requests of peers that are served though the program makes no MPI call.
//!
//! **Servers.** A thread that waits in MPI looks at one word of each open transport in turns that brought nothing, and serves if it
//! is set; where a transport has no such word, once in [`BLIND_EVERY`](contexts::BLIND_EVERY) such turns, and more often behind requests. If nobody has looked for a while, the helper
//! thread of the transport serves (`helper`, `watch`). Nothing else touches a service context.
//!
//! **The service lock** guards all service contexts of the instance and the memory that requests reach. It is a plain lock, taken
//! at every thread level, since the helper is a thread; it is a leaf: whoever holds it calls `service_*` verbs, whose receivers touch window
//! memory and answer, and nothing that takes another lock. Waiters and helper only try it. A thread that takes memory back takes the lock,
//! so no request is at that memory afterwards. A message's path never comes here: the look is a progress function of idle turns, and there
//! is none before the first transport with emulated verbs is used.
//!
//! **Lists of open transports** are immutable and kept until the instance goes, as those of progress functions are.
//!
//! **fork.** The child has no helper and never comes here: it finalizes nothing, and rings and joins nobody.

pub(crate) mod contexts;
mod helper;
mod watch;

use crate::objects::Instance;
use crate::service::contexts::{Open, ServiceCounts};
use contexts::Helper;
use oxmpi_btl::BtlHandle;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

impl Instance {
    /// Opens the service context of a transport and starts its helper, if that has not happened.
    pub(crate) fn open_service(&self, raw: &BtlHandle) -> Result<(), Status> {
        let mut opening = self.service().opening.lock();
        let mut list = self.service().list().cloned().unwrap_or_default();
        if list.0.iter().any(|open| std::ptr::eq(open.raw, raw)) {
            return Ok(());
        }
        // SAFETY: a verb for any thread.
        let status = unsafe { (raw.service_open)(raw.state) };
        if status.is_err() {
            return Err(status);
        }
        // SAFETY: a verb for any thread, behind `service_open`.
        let pending = unsafe { (raw.service_pending)(raw.state) }.cast::<AtomicU32>();
        let open = Open { raw, pending };
        let helper = Helper::start(self.service(), open).map_err(|why| {
            self.logger().error("btl", &format!("no thread to serve requests can be started: {why}"));
            Status::OUT_OF_MEMORY
        })?;
        opening.helpers.push(helper);
        list.0.push(open);
        let list = Box::new(list);
        // SYNC POINT with `Service::list`.
        self.service().open.store((&raw const *list).cast_mut(), Ordering::Release);
        opening.lists.push(list);
        Ok(())
    }

    /// Ends the helpers, so that nobody serves any more. Not for a forked child, which has no helpers.
    pub(crate) fn end_service(&self) {
        let helpers = std::mem::take(&mut self.service().opening.lock().helpers);
        for helper in helpers {
            helper.end();
        }
        self.service().open.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// How often the service contexts of this process were served so far, and by whom.
    pub fn service_counts(&self) -> ServiceCounts {
        self.service().counts()
    }
}
