//! A program's side of the interface, in few words. Every wait is bounded.
#![allow(dead_code, reason = "each test file uses its part")]

use oxmpi_ugni_emulation::api::{
    datagrams::*, domains::*, endpoints::*, memory::*, posts::*, queues::*, smsg::*,
};
use oxmpi_ugni_emulation::layouts::{MemHandle, PostDescriptor, SmsgAttr};
use oxmpi_ugni_emulation::numbers::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

pub type Handle = *mut c_void;
pub const COOKIE: u32 = 0x1234;
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Sets the emulation up for this process; the first call decides. The fabric is this process's alone.
pub fn set_up(how: &str) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let text = format!("fabric=test{},{how}", std::process::id());
        // SAFETY: before any other thread of this test reads the environment: each test begins with this call.
        unsafe { std::env::set_var("OXMPI_UGNI", text) };
        oxmpi_ugni_emulation::config::config();
    });
}

/// A domain on the first device, with a queue for local events.
pub struct Domain {
    pub cdm: Handle,
    pub nic: Handle,
    pub address: u32,
    pub inst: u32,
    pub cq: Handle,
}

pub fn attach(inst: u32, modes: u32) -> Result<(Handle, Handle, u32), Return> {
    let (mut cdm, mut nic, mut address) = (null_mut(), null_mut(), 0);
    // SAFETY: places of ours.
    unsafe {
        assert_eq!(GNI_CdmCreate(inst, 10, COOKIE, modes, &mut cdm), rc::SUCCESS);
        match GNI_CdmAttach(cdm, 0, &mut address, &mut nic) {
            rc::SUCCESS => Ok((cdm, nic, address)),
            code => Err(code),
        }
    }
}

pub fn queue(nic: Handle, entries: u32, mode: u32) -> Handle {
    let mut cq = null_mut();
    // SAFETY: a place of ours.
    assert_eq!(unsafe { GNI_CqCreate(nic, entries, 0, mode, None, null_mut(), &mut cq) }, rc::SUCCESS);
    cq
}

impl Domain {
    pub fn new(inst: u32, modes: u32, entries: u32) -> Domain {
        let (cdm, nic, address) = attach(inst, modes).expect("attached");
        Domain { cdm, nic, address, inst, cq: queue(nic, entries, 0) }
    }

    /// An endpoint to a peer.
    pub fn to(&self, address: u32, inst: u32) -> Handle {
        let ep = self.unbound();
        assert_eq!(GNI_EpBind(ep, address, inst), rc::SUCCESS);
        ep
    }

    pub fn unbound(&self) -> Handle {
        let mut ep = null_mut();
        // SAFETY: a place of ours.
        assert_eq!(unsafe { GNI_EpCreate(self.nic, self.cq, &mut ep) }, rc::SUCCESS);
        ep
    }

    pub fn register<T>(&self, memory: &[T], cq: Handle, flags: u32) -> MemHandle {
        self.try_register(memory.as_ptr() as u64, size_of_val(memory) as u64, cq, flags).expect("registered")
    }

    pub fn try_register(
        &self,
        address: u64,
        bytes: u64,
        cq: Handle,
        flags: u32,
    ) -> Result<MemHandle, Return> {
        let mut handle = MemHandle::default();
        // SAFETY: a place of ours.
        match unsafe { GNI_MemRegister(self.nic, address, bytes, cq, flags, u32::MAX, &mut handle) } {
            rc::SUCCESS => Ok(handle),
            code => Err(code),
        }
    }
}

/// A descriptor of zeros.
pub fn descriptor(kind: i32, mode: u16) -> Box<PostDescriptor> {
    // SAFETY: it consists of integers and pointers.
    let mut d: Box<PostDescriptor> = Box::new(unsafe { core::mem::zeroed() });
    (d.kind, d.cq_mode, d.post_id) = (kind, mode, 4711);
    d
}

/// Waits for the next event: the code, and the entry.
pub fn event(cq: Handle) -> (Return, u64) {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut entry = 0;
        // SAFETY: a place of ours.
        let code = unsafe { GNI_CqGetEvent(cq, &mut entry) };
        if code != rc::NOT_DONE {
            return (code, entry);
        }
        assert!(Instant::now() < end, "no event within {PATIENCE:?}");
        std::thread::yield_now();
    }
}

/// Waits for a post's completion: its code. It must be that of `d`.
pub fn complete(cq: Handle, d: &PostDescriptor) -> Return {
    let (code, entry) = event(cq);
    let mut done = null_mut();
    // SAFETY: a place of ours.
    let completed = unsafe { GNI_GetCompleted(cq, entry, &mut done) };
    assert_eq!(done.cast_const(), core::ptr::from_ref(d), "the very descriptor");
    assert_eq!(d.post_id, 4711, "restored");
    assert_eq!((completed, d.status), (code, code as u64), "the event, the call and the descriptor agree");
    code
}

pub fn fma(ep: Handle, d: &mut PostDescriptor) -> Return {
    // SAFETY: tests keep descriptors until they are complete.
    unsafe { GNI_PostFma(ep, d) }
}

pub fn rdma(ep: Handle, d: &mut PostDescriptor) -> Return {
    // SAFETY: as above.
    unsafe { GNI_PostRdma(ep, d) }
}

/// A mailbox with its memory. Its registration ends before the memory goes.
pub struct Mailbox {
    pub attr: SmsgAttr,
    nic: Handle,
    _memory: Vec<u64>,
}

impl Mailbox {
    pub fn new(d: &Domain, cq: Handle, credits: u16, size: u32) -> Mailbox {
        let mut attr = SmsgAttr {
            msg_type: smsg_type::MBOX_AUTO_RETRANSMIT,
            msg_buffer: null_mut(),
            buff_size: 0,
            mem_hndl: MemHandle::default(),
            mbox_offset: 0,
            mbox_maxcredit: credits,
            msg_maxsize: size,
        };
        let mut bytes = 0;
        // SAFETY: places of ours.
        assert_eq!(unsafe { GNI_SmsgBufferSizeNeeded(&attr, &mut bytes) }, rc::SUCCESS);
        let mut memory = vec![0u64; bytes as usize / 8];
        attr.buff_size = bytes;
        attr.msg_buffer = memory.as_mut_ptr().cast();
        attr.mem_hndl = d.register(&memory, cq, 0);
        Mailbox { attr, nic: d.nic, _memory: memory }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // SAFETY: a handle of ours.
        let code = unsafe { GNI_MemDeregister(self.nic, &mut self.attr.mem_hndl) };
        assert!(code == rc::SUCCESS || std::thread::panicking(), "deregistered: {code}");
    }
}

/// Posts a datagram with identifier, waits for its end: the state and the peer.
pub fn exchange(ep: Handle, data: &[u8], out: &mut [u8], id: u64) -> (i32, u32, u32) {
    // SAFETY: places of ours, which stay until the wait is over.
    unsafe {
        let (d, o) = (data.as_ptr().cast_mut().cast(), out.as_mut_ptr().cast());
        assert_eq!(GNI_EpPostDataWId(ep, d, data.len() as u16, o, out.len() as u16, id), rc::SUCCESS);
        let (mut state, mut address, mut inst) = (0, 0, 0);
        let code =
            GNI_EpPostDataWaitById(ep, id, PATIENCE.as_millis() as u32, &mut state, &mut address, &mut inst);
        assert_eq!(code, rc::SUCCESS, "the datagram ended");
        (state, address, inst)
    }
}

pub fn send(ep: Handle, data: &[u8], id: u32, tag: u8) -> Return {
    // SAFETY: tests keep the data until the event.
    unsafe {
        GNI_SmsgSendWTag(ep, null_mut(), 0, data.as_ptr().cast_mut().cast(), data.len() as u32, id, tag)
    }
}

/// The next message, copied and released. `None`: there is none.
pub fn receive(ep: Handle, len: usize) -> Option<(Vec<u8>, u8)> {
    let (mut message, mut tag) = (null_mut(), SMSG_ANY_TAG);
    // SAFETY: places of ours; a message has the length that the sender gave.
    unsafe {
        match GNI_SmsgGetNextWTag(ep, &mut message, &mut tag) {
            rc::SUCCESS => {
                let copy = core::slice::from_raw_parts(message.cast::<u8>(), len).to_vec();
                assert_eq!(GNI_SmsgRelease(ep), rc::SUCCESS);
                Some((copy, tag))
            }
            code => {
                assert_eq!(code, rc::NOT_DONE);
                None
            }
        }
    }
}
