//! Parts of transports that tests play: a handle whose verbs fail the test, to be filled with those that a transport has, and the copy
//! of a message.

use core::ffi::c_void;
use core::ptr::{from_ref, null};
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, Endpoint, FlushDesc, KeptDesc, ListDesc, PlaceBy, ProcList, RegHandle,
    RmaDesc, RmaVectorDesc, SAME_NUMBER, SendDesc, WaitSet,
};
use oxmpi_mca::{MemKind, SliceRef, Status, StrRef};

type State = *mut c_void;

/// Makes a handle without capabilities. Its verbs end the process with their name, except those that need no answer of a device:
/// `hold`, `held`, `service_progress`, `service_pending`, `service_disarm`, `partner` and `place_by` do nothing. State and attributes must outlive
/// the handle.
pub fn bare<T>(state: &T, attrs: &BtlAttrs, name: &'static str) -> BtlHandle {
    BtlHandle {
        size: size_of::<BtlHandle>() as u32,
        caps: 0,
        state: from_ref(state).cast_mut().cast(),
        send,
        progress,
        get,
        put,
        flush,
        atomic,
        register_mem,
        deregister_mem,
        arm,
        disarm,
        get_vector,
        hold,
        held,
        service_open,
        service_request,
        service_progress,
        service_reply,
        service_pending,
        service_arm,
        service_disarm,
        add_procs,
        del_procs,
        finalize,
        attrs,
        name: StrRef::new(name),
        emulated: 0,
        index: 0,
        list,
        partner,
        place_by,
        send_kept,
    }
}

/// Verbs that end the process: a panic does not leave a function of the boundary.
macro_rules! refused {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {$(
        extern "C" fn $name($(_: $argument),*) $(-> $answer)? {
            panic!(concat!(stringify!($name), " is a verb that the transport did not offer, or that is the host's to call"))
        }
    )*};
}

refused! {
    send(State, *mut Endpoint, u32, *const SendDesc) -> Status;
    progress(State, u32) -> i32;
    get(State, *mut Endpoint, u32, *const RmaDesc) -> Status;
    put(State, *mut Endpoint, u32, *const RmaDesc) -> Status;
    flush(State, *mut Endpoint, u32, *const FlushDesc) -> Status;
    atomic(State, *mut Endpoint, u32, *const AtomicDesc) -> Status;
    register_mem(State, *mut u8, u64, u32, MemKind, *mut RegHandle) -> Status;
    deregister_mem(State, *const RegHandle) -> Status;
    arm(State, u32, *mut WaitSet) -> Status;
    disarm(State, u32);
    get_vector(State, *mut Endpoint, u32, *const RmaVectorDesc) -> Status;
    service_open(State) -> Status;
    service_request(State, *mut Endpoint, u32, *const SendDesc) -> Status;
    service_reply(State, u64, *const SendDesc) -> Status;
    service_arm(State, *mut WaitSet) -> Status;
    add_procs(State, ProcList, *mut *mut Endpoint) -> Status;
    del_procs(State, SliceRef<*mut Endpoint>) -> Status;
    finalize(State) -> Status;
    list(State, *mut Endpoint, u32, *const ListDesc) -> Status;
    send_kept(State, *mut Endpoint, u32, *const KeptDesc) -> Status;
}

extern "C" fn hold(_: State, _: *mut Endpoint, _: u64) {}

extern "C" fn held(_: State, _: *mut Endpoint) -> u64 {
    0
}

extern "C" fn service_progress(_: State) -> i32 {
    0
}

extern "C" fn service_pending(_: State) -> *const u32 {
    null()
}

extern "C" fn service_disarm(_: State) {}

extern "C" fn partner(_: State, _: *mut Endpoint) -> u32 {
    SAME_NUMBER
}

extern "C" fn place_by(_: State, _: *const PlaceBy) -> Status {
    Status::NOT_SUPPORTED
}

/// Appends a message's header and payload. A packer is asked in two parts, since it has to be resumable.
///
/// # Safety
/// The descriptor keeps its promises: header and payload are readable, and the packer writes as many bytes as it is asked for.
pub unsafe fn append(message: &SendDesc, bytes: &mut Vec<u8>) {
    let (header, payload) = (message.hdr_len as usize, message.len as usize);
    let start = bytes.len();
    bytes.resize(start + header + payload, 0xEE);
    let half = message.len / 2;
    // SAFETY: the caller's promise; the room was made above.
    unsafe {
        let at = bytes.as_mut_ptr().add(start);
        core::ptr::copy_nonoverlapping(message.hdr, at, header);
        let at = at.add(header);
        match message.pack {
            Some(pack) => {
                pack(message.pack_ctx, 0, at, half);
                pack(message.pack_ctx, half, at.add(half as usize), message.len - half);
            }
            None if payload > 0 => core::ptr::copy_nonoverlapping(message.payload, at, payload),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packer that notes what it is asked for and writes the numbers of the bytes.
    extern "C" fn pack(asked: *mut c_void, offset: u64, to: *mut u8, len: u64) {
        // SAFETY: the test's list, and room for as many bytes.
        unsafe {
            (*asked.cast::<Vec<(u64, u64)>>()).push((offset, len));
            (0..len).for_each(|i| to.add(i as usize).write((offset + i) as u8));
        }
    }

    #[test]
    fn a_message_is_header_and_payload() {
        let (header, payload) = ([7, 8], [1, 2, 3]);
        let mut asked: Vec<(u64, u64)> = Vec::new();
        let plain = SendDesc {
            tag: 0,
            hdr_len: 2,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: 3,
            pack: None,
            pack_ctx: (&raw mut asked).cast(),
        };
        let mut bytes = vec![9];
        // SAFETY: slices of this test; a packer that writes what it is asked for.
        unsafe {
            append(&plain, &mut bytes);
            append(&SendDesc { pack: Some(pack), len: 5, ..plain }, &mut bytes);
        }
        assert_eq!(bytes, [9, 7, 8, 1, 2, 3, 7, 8, 0, 1, 2, 3, 4]);
        assert_eq!(asked, [(0, 2), (2, 3)], "each byte once, in order");
    }

    #[test]
    fn a_bare_handle_offers_nothing() {
        let (state, attrs) = (7u32, BtlAttrs::new());
        let handle = bare(&state, &attrs, "part");
        assert_eq!(
            (handle.caps, handle.state.cast_const().cast(), handle.name()),
            (0, from_ref(&state), "part")
        );
        // SAFETY: the function above, which looks at nothing.
        assert_eq!(unsafe { (handle.partner)(handle.state, core::ptr::null_mut()) }, SAME_NUMBER);
    }
}
