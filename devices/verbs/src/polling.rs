//! Polling of a completion queue by the program, the extended way.

use crate::channel::Channel;
use crate::objects::{CqCore, FakeCq};
use oxmpi_verbs_abi::{Cq, CqEx, Wc};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

impl FakeCq {
    /// # Safety
    /// A live queue of ours.
    pub unsafe fn of<'a>(cq: *mut Cq) -> &'a FakeCq {
        // SAFETY: ours begin with it.
        unsafe { &*cq.cast::<FakeCq>() }
    }

    pub fn new(
        raw: Cq,
        core: CqCore,
        channel: Option<Arc<Channel>>,
        context: Arc<crate::objects::ContextCore>,
    ) -> Box<FakeCq> {
        let raw = CqEx {
            cq: raw,
            comp_mask: 0,
            status: 0,
            wr_id: 0,
            start_poll: Some(start_poll),
            next_poll: Some(next_poll),
            end_poll: Some(end_poll),
            read_opcode: Some(read_opcode),
            read_vendor_err: Some(read_vendor_err),
            read_byte_len: Some(read_byte_len),
            read_imm_data: Some(read_imm_data),
            read_qp_num: Some(read_qp_num),
            read_src_qp: Some(read_src_qp),
            read_wc_flags: Some(read_wc_flags),
            others: [0; 8],
        };
        let core = Arc::new(core);
        Box::new(FakeCq { raw, core, current: Mutex::default(), channel, acked: AtomicU32::new(0), context })
    }

    fn current(&self) -> Wc {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
    }
}

const ENOENT: i32 = 2;

/// The extended poll of an entry into the queue's own fields.
unsafe fn step(cq: *mut CqEx) -> i32 {
    // SAFETY: ours; the fields are its poller's.
    unsafe {
        let fake = FakeCq::of(cq.cast());
        let pop = || {
            let mut taken = None;
            fake.core.take(1, |wc| taken = Some(wc));
            taken
        };
        let entry = pop().or_else(|| {
            fake.context.nic.turn_for_caller();
            pop()
        });
        let Some(wc) = entry else { return ENOENT };
        (*cq).wr_id = wc.wr_id;
        (*cq).status = wc.status;
        *fake.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(wc);
    }
    0
}

unsafe extern "C" fn start_poll(cq: *mut CqEx, _: *mut core::ffi::c_void) -> i32 {
    // SAFETY: a queue of ours.
    let fake = unsafe { FakeCq::of(cq.cast()) };
    // The lock lasts for an entry, not from start to end: nobody counts the difference.
    let _inside = fake.core.lock.enter("a completion queue");
    // SAFETY: as above.
    unsafe { step(cq) }
}
unsafe extern "C" fn next_poll(cq: *mut CqEx) -> i32 {
    // SAFETY: as above.
    unsafe { step(cq) }
}
unsafe extern "C" fn end_poll(_: *mut CqEx) {}

macro_rules! readers {
    ($($name:ident = $field:ident;)*) => { $(
        unsafe extern "C" fn $name(cq: *mut CqEx) -> u32 {
            // SAFETY: a queue of ours.
            unsafe { FakeCq::of(cq.cast()) }.current().$field
        }
    )* };
}
readers! {
    read_opcode = opcode;
    read_vendor_err = vendor_err;
    read_byte_len = byte_len;
    read_imm_data = imm_data;
    read_qp_num = qp_num;
    read_src_qp = src_qp;
    read_wc_flags = wc_flags;
}
