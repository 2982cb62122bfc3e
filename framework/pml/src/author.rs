//! How an author writes a PML: one safe trait, from which [`module`] makes the table.

use crate::polling::Words;
use crate::table::*;
use core::ffi::c_void;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

/// A point-to-point layer. `&self` everywhere: all verbs may run concurrently.
///
/// Pointers in arguments are valid during the call; requests handed out are objects of the PML's
/// own pools.
pub trait Pml: Send + Sync + Sized + 'static {
    const MAX_TAG: i32 = i32::MAX;

    /// Asked at the beginning of the verbs of a message's path, and told them as `SEVERAL`: there are two copies of
    /// their code, and neither saves registers for the other.
    fn is_threaded(&self) -> bool;
    /// Answers the words by which the host's engine calls `after_turn`; they stay until `finalize`.
    fn enable(&self, transports: &Transports) -> Result<Words, Status>;
    fn add_comm(&self, desc: &CommDesc) -> Result<*mut c_void, Status>;
    fn del_comm(&self, comm: *mut c_void) -> Status;
    /// `Ok(null)`: done.
    fn send<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status>;
    fn isend<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status>;
    /// `Ok(null)`: done, `status` filled.
    fn recv<const SEVERAL: bool>(
        &self,
        args: &RecvArgs,
        status: &mut MsgStatus,
    ) -> Result<*mut RequestHeader, Status>;
    fn irecv<const SEVERAL: bool>(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status>;
    /// `irecv::<true>` for a component that goes one of several ways then: what each is given is all here, so that the way may be the
    /// last call. Writes the request and returns PENDING, or an error.
    #[inline(always)]
    fn irecv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        thunk::hand_out(self.irecv::<true>(args), out)
    }
    fn send_init(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status>;
    fn recv_init(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status>;
    /// `Some(message)` if one is there; the message is null unless `take`.
    fn probe(&self, args: &RecvArgs, status: &mut MsgStatus, take: bool) -> Option<*mut Message>;
    fn imrecv(&self, message: *mut Message, args: &RecvArgs) -> Result<*mut RequestHeader, Status>;
    /// Called behind the transports' turn of a context, under its lock, while there is work; how many messages went on.
    fn after_turn(&self, ctx: u32) -> i32;
    fn threads_begin(&self) -> Status;
    fn flush(&self) -> Status;
    /// A process failed.
    fn peer_failed(&self, proc: u32) -> Status;
    /// All operations on a communicator end with PEER_FAILED.
    fn revoke(&self, comm: *mut c_void) -> Status {
        let _ = comm;
        Status::NOT_SUPPORTED
    }
    /// Sends an empty message whose receive completes with `error`; `Ok(request)` as of `isend`.
    fn send_failure(&self, args: &SendArgs, error: Status) -> Result<*mut RequestHeader, Status> {
        let _ = (args, error);
        Err(Status::NOT_SUPPORTED)
    }
    fn finalize(&self) -> Status;
    /// Counts of a communicator; `None`: nothing is counted.
    fn counts(&self, comm: *mut c_void) -> Option<Counts> {
        let _ = comm;
        None
    }
    /// The assertions on a communicator changed ([`assert_flag`]).
    fn set_flags(&self, comm: *mut c_void, flags: u32) -> Status {
        let _ = (comm, flags);
        Status::NOT_SUPPORTED
    }
    /// The time of matching is to be measured from now on, or not any more.
    fn measure(&self, on: bool) -> Status {
        let _ = on;
        Status::NOT_SUPPORTED
    }
}

mod thunk {
    use super::*;

    // SAFETY (all thunks): the host passes the state `module` made and valid argument pointers.
    macro_rules! at {
        ($t:ty, $p:expr) => {
            // SAFETY: see the module's note.
            unsafe { &*($p as *const $t) }
        };
    }
    macro_rules! out {
        ($p:expr) => {
            // SAFETY: see the module's note.
            unsafe { &mut *$p }
        };
    }
    #[inline(always)]
    pub(super) fn hand_out(r: Result<*mut RequestHeader, Status>, out: *mut *mut RequestHeader) -> Status {
        match r {
            Ok(req) if req.is_null() => Status::OK,
            Ok(req) => {
                *out!(out) = req;
                Status::PENDING
            }
            Err(e) => e,
        }
    }

    pub extern "C" fn enable<T: Pml>(s: State, transports: *const Transports, words: *mut Words) -> Status {
        match at!(T, s).enable(at!(Transports, transports)) {
            Ok(filled) => {
                *out!(words) = filled;
                Status::OK
            }
            Err(e) => e,
        }
    }
    pub extern "C" fn add_comm<T: Pml>(s: State, d: *const CommDesc, out: *mut *mut c_void) -> Status {
        match at!(T, s).add_comm(at!(CommDesc, d)) {
            Ok(c) => {
                *out!(out) = c;
                Status::OK
            }
            Err(e) => e,
        }
    }
    pub extern "C" fn del_comm<T: Pml>(s: State, comm: *mut c_void) -> Status {
        at!(T, s).del_comm(comm)
    }
    /// The two copies of a verb. Each is a function of its own, so that the first instructions are a jump to one of
    /// them, and registers are saved for what it does.
    macro_rules! verb {
        ($name:ident($($a:ident : $t:ty),*), $($arg:expr),*) => {
            pub extern "C" fn $name<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                #[inline(never)]
                extern "C" fn one<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                    hand_out(at!(T, s).$name::<false>($($arg),*), out)
                }
                #[inline(never)]
                extern "C" fn several<T: Pml>(s: State, $($a: $t,)* out: *mut *mut RequestHeader) -> Status {
                    hand_out(at!(T, s).$name::<true>($($arg),*), out)
                }
                if at!(T, s).is_threaded() { several::<T>(s, $($a,)* out) } else { one::<T>(s, $($a,)* out) }
            }
        };
    }
    verb!(send(a: *const SendArgs), at!(SendArgs, a));
    verb!(isend(a: *const SendArgs), at!(SendArgs, a));
    verb!(recv(a: *const RecvArgs, status: *mut MsgStatus), at!(RecvArgs, a), out!(status));
    pub extern "C" fn irecv<T: Pml>(s: State, a: *const RecvArgs, out: *mut *mut RequestHeader) -> Status {
        #[inline(never)]
        extern "C" fn one<T: Pml>(s: State, a: *const RecvArgs, out: *mut *mut RequestHeader) -> Status {
            hand_out(at!(T, s).irecv::<false>(at!(RecvArgs, a)), out)
        }
        #[inline(never)]
        extern "C" fn several<T: Pml>(s: State, a: *const RecvArgs, out: *mut *mut RequestHeader) -> Status {
            at!(T, s).irecv_among(at!(RecvArgs, a), out!(out))
        }
        if at!(T, s).is_threaded() { several::<T>(s, a, out) } else { one::<T>(s, a, out) }
    }
    pub extern "C" fn send_init<T: Pml>(
        s: State,
        a: *const SendArgs,
        out: *mut *mut RequestHeader,
    ) -> Status {
        hand_out(at!(T, s).send_init(at!(SendArgs, a)), out)
    }
    pub extern "C" fn recv_init<T: Pml>(
        s: State,
        a: *const RecvArgs,
        out: *mut *mut RequestHeader,
    ) -> Status {
        hand_out(at!(T, s).recv_init(at!(RecvArgs, a)), out)
    }
    pub extern "C" fn probe<T: Pml>(
        s: State,
        a: *const RecvArgs,
        status: *mut MsgStatus,
        message: *mut *mut Message,
    ) -> Status {
        match at!(T, s).probe(at!(RecvArgs, a), out!(status), !message.is_null()) {
            Some(m) => {
                if !message.is_null() {
                    *out!(message) = m;
                }
                Status::OK
            }
            None => Status::PENDING,
        }
    }
    pub extern "C" fn imrecv<T: Pml>(
        s: State,
        m: *mut Message,
        a: *const RecvArgs,
        out: *mut *mut RequestHeader,
    ) -> Status {
        hand_out(at!(T, s).imrecv(m, at!(RecvArgs, a)), out)
    }
    pub extern "C" fn after_turn<T: Pml>(s: State, ctx: u32) -> i32 {
        at!(T, s).after_turn(ctx)
    }
    pub extern "C" fn threads_begin<T: Pml>(s: State) -> Status {
        at!(T, s).threads_begin()
    }
    pub extern "C" fn flush<T: Pml>(s: State) -> Status {
        at!(T, s).flush()
    }
    pub extern "C" fn peer_failed<T: Pml>(s: State, proc: u32) -> Status {
        at!(T, s).peer_failed(proc)
    }
    pub extern "C" fn revoke<T: Pml>(s: State, comm: *mut c_void) -> Status {
        at!(T, s).revoke(comm)
    }
    pub extern "C" fn counts<T: Pml>(s: State, comm: *mut c_void, out: *mut Counts) -> Status {
        let Some(mut counts) = at!(T, s).counts(comm) else { return Status::NOT_SUPPORTED };
        let size = core::mem::size_of::<Counts>() as u32;
        counts.size = size.min(out!(out).size);
        // SAFETY: the host's struct has as many bytes as it says, ours at least as many as copied.
        unsafe {
            core::ptr::copy_nonoverlapping(
                (&raw const counts).cast::<u8>(),
                out.cast::<u8>(),
                counts.size as usize,
            )
        };
        Status::OK
    }
    pub extern "C" fn set_flags<T: Pml>(s: State, comm: *mut c_void, flags: u32) -> Status {
        at!(T, s).set_flags(comm, flags)
    }
    pub extern "C" fn measure<T: Pml>(s: State, on: u32) -> Status {
        at!(T, s).measure(on != 0)
    }
    pub extern "C" fn send_failure<T: Pml>(
        s: State,
        a: *const SendArgs,
        error: Status,
        out: *mut *mut RequestHeader,
    ) -> Status {
        hand_out(at!(T, s).send_failure(at!(SendArgs, a), error), out)
    }
    pub extern "C" fn finalize<T: Pml>(s: State) -> Status {
        let run = std::panic::AssertUnwindSafe(|| {
            // SAFETY: last call; `module` made it with Box::into_raw.
            let pml = unsafe { Box::from_raw(s as *mut T) };
            pml.finalize()
        });
        std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
    }
}

/// The module of a PML, for `open`'s list.
pub fn module<T: Pml>(pml: T) -> PmlModule {
    let table = PmlTable {
        size: core::mem::size_of::<PmlTable>() as u32,
        version: TABLE_VERSION,
        enable: thunk::enable::<T>,
        add_comm: thunk::add_comm::<T>,
        del_comm: thunk::del_comm::<T>,
        send: thunk::send::<T>,
        isend: thunk::isend::<T>,
        recv: thunk::recv::<T>,
        irecv: thunk::irecv::<T>,
        send_init: thunk::send_init::<T>,
        recv_init: thunk::recv_init::<T>,
        probe: thunk::probe::<T>,
        imrecv: thunk::imrecv::<T>,
        after_turn: thunk::after_turn::<T>,
        threads_begin: thunk::threads_begin::<T>,
        flush: thunk::flush::<T>,
        peer_failed: thunk::peer_failed::<T>,
        finalize: thunk::finalize::<T>,
        counts: thunk::counts::<T>,
        set_flags: thunk::set_flags::<T>,
        measure: thunk::measure::<T>,
        revoke: thunk::revoke::<T>,
        send_failure: thunk::send_failure::<T>,
    };
    PmlModule {
        size: core::mem::size_of::<PmlModule>() as u32,
        max_tag: T::MAX_TAG,
        state: Box::into_raw(Box::new(pml)).cast(),
        table: Box::leak(Box::new(table)),
    }
}
