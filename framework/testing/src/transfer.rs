//! Gets and puts that transports of tests carry out in one process. Handles are checked when a verb is called and again when its bytes
//! move, so what comes late finds the door closed.

use crate::registry::Registry;
use core::ffi::c_void;
use oxmpi_btl::{Done, RmaDesc, access};
use oxmpi_mca::Status;

/// A transfer moves the bytes of one get or put.
pub struct Transfer {
    put: bool,
    local: u64,
    remote: u64,
    len: u64,
    /// The numbers of both sides' handles name their memory.
    handles: Option<(u64, u64)>,
    /// A put carries its bytes, since its caller may reuse the buffer before they are visible.
    bytes: Vec<u8>,
}

impl Transfer {
    /// Takes what a descriptor says; the memory it names has to be registered for it.
    pub fn new(registry: &Registry, desc: &RmaDesc, put: bool) -> Transfer {
        let handles = match registry.is_needed() {
            true => Some((registry.number_of(desc.local_handle), registry.number_of(desc.remote_handle))),
            false => {
                let none = desc.local_handle.is_null() && desc.remote_handle.is_null();
                assert!(none, "a handle where memory needs no registration");
                None
            }
        };
        let (local, remote) = (desc.local as u64, desc.remote);
        let len = if put { desc.len as usize } else { 0 };
        // SAFETY: readable during the call by the promise of a verb's caller.
        let bytes = unsafe { core::slice::from_raw_parts(desc.local, len) }.to_vec();
        let transfer = Transfer { put, local, remote, len: desc.len, handles, bytes };
        assert!(
            transfer.has_local(registry) && transfer.has_remote(registry),
            "a verb on memory that is not registered for it"
        );
        transfer
    }

    /// Says whether local memory is registered as far as the transfer still needs it.
    fn has_local(&self, registry: &Registry) -> bool {
        let fits = |local| registry.allows(local, self.local, self.len, access::LOCAL_WRITE);
        self.put || self.handles.is_none_or(|(local, _)| fits(local))
    }

    /// Says whether the other side's memory is registered for the transfer.
    fn has_remote(&self, registry: &Registry) -> bool {
        let wanted = if self.put { access::REMOTE_WRITE } else { access::REMOTE_READ };
        self.handles.is_none_or(|(_, remote)| registry.allows(remote, self.remote, self.len, wanted))
    }

    /// Moves the bytes, unless the other side's memory is not registered any more, which the registry counts. Local memory of a get
    /// has to be registered still.
    pub fn land(&self, registry: &mut Registry) {
        assert!(self.has_local(registry), "local memory of a get under way is not registered any more");
        if !self.has_remote(registry) {
            registry.late += 1;
            return;
        }
        let (from, to) = match self.put {
            true => (self.bytes.as_ptr(), self.remote),
            false => (self.remote as *const u8, self.local),
        };
        // SAFETY: both ends lie in memory of this process that their owners keep while it is registered or the request is
        // pending: that is what is being tested.
        unsafe { core::ptr::copy_nonoverlapping(from, to as *mut u8, self.len as usize) };
    }
}

/// An operation stays a landing until its `done` is called. It is a piece, or a flush, which has no transfer.
pub struct Landing {
    pub done: Done,
    pub done_ctx: *mut c_void,
    /// This end is told; nothing moves where it is a failure.
    pub status: Status,
    pub transfer: Option<Transfer>,
}

// SAFETY: the context belongs to who gave it and goes back to its thread.
unsafe impl Send for Landing {}

impl Landing {
    /// Notes what a verb's descriptor says about its end.
    pub fn new(done: Option<Done>, done_ctx: *mut c_void, transfer: Option<Transfer>) -> Landing {
        let done = done.expect("a verb without a completion");
        Landing { done, done_ctx, status: Status::OK, transfer }
    }

    /// Tells the end.
    pub fn tell(self) {
        // SAFETY: the test that gave both waits for this call, which consumes them.
        unsafe { (self.done)(self.done_ctx, self.status) };
    }
}

/// The puts of one context wait here until a flush makes their bytes visible.
#[derive(Default)]
pub struct Unflushed {
    puts: Vec<Transfer>,
    /// None waits.
    at_once: bool,
}

impl Unflushed {
    /// Makes one for a transport whose puts are visible when they are done.
    pub fn at_once() -> Unflushed {
        Unflushed { puts: Vec::new(), at_once: true }
    }

    /// A piece arrives: a get's bytes move, a put's wait for a flush.
    pub fn arrive(&mut self, piece: Transfer, registry: &mut Registry) {
        match piece.put && !self.at_once {
            true => self.puts.push(piece),
            false => piece.land(registry),
        }
    }

    /// Makes the bytes of all puts visible.
    pub fn flush(&mut self, registry: &mut Registry) {
        self.puts.drain(..).for_each(|piece| piece.land(registry));
    }

    /// Does what a landing is about, before its end is told.
    pub fn land(&mut self, landing: &mut Landing, registry: &mut Registry) {
        match landing.transfer.take() {
            Some(piece) => self.arrive(piece, registry),
            None if landing.status.is_ok() => self.flush(registry),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null_mut;
    use oxmpi_btl::Registration;

    /// A job of two pieces of memory, both registered for everything.
    struct Two {
        registry: Registry,
        memory: [Vec<u8>; 2],
        registered: [*const Registration; 2],
    }

    impl Two {
        fn new() -> Two {
            let (mut registry, mut memory) = (Registry::new(24), [vec![1; 16], vec![2; 16]]);
            let all = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
            let registered = [0, 1].map(|i| registry.register(i as u32, memory[i].as_mut_ptr(), 16, all));
            Two { registry, memory, registered }
        }

        /// A transfer between all of the first and all of the second.
        fn desc(&mut self) -> RmaDesc {
            // SAFETY: registrations that are still there.
            let [local_handle, remote_handle] = self.registered.map(|r| unsafe { (*r).handle });
            let (local, remote) = (self.memory[0].as_mut_ptr(), self.memory[1].as_mut_ptr() as u64);
            RmaDesc { local, remote, len: 16, local_handle, remote_handle, done: None, done_ctx: null_mut() }
        }

        /// Ends a registration.
        fn close(&mut self, which: usize) {
            // SAFETY: given by `register`, ended once.
            unsafe { self.registry.deregister(self.registered[which]) };
        }
    }

    #[test]
    fn puts_wait_for_a_flush_and_gets_do_not() {
        let mut two = Two::new();
        let (desc, mut unflushed) = (two.desc(), Unflushed::default());
        unflushed.arrive(Transfer::new(&two.registry, &desc, true), &mut two.registry);
        assert_eq!(two.memory[1], [2; 16], "a put that no flush has made visible");
        two.memory[0].fill(3);
        unflushed.flush(&mut two.registry);
        assert_eq!(two.memory[1], [1; 16], "the bytes of the call");
        unflushed.arrive(Transfer::new(&two.registry, &desc, false), &mut two.registry);
        assert_eq!(two.memory[0], [1; 16]);
        two.memory[0].fill(4);
        let put = Transfer::new(&two.registry, &desc, true);
        Unflushed::at_once().arrive(put, &mut two.registry);
        assert_eq!(two.memory[1], [4; 16]);
    }

    #[test]
    fn what_comes_late_is_counted_and_moves_nothing() {
        let mut two = Two::new();
        let desc = two.desc();
        let put = Transfer::new(&two.registry, &desc, true);
        two.close(1);
        put.land(&mut two.registry);
        assert_eq!((&two.memory[1][..], two.registry.late, two.registry.count()), (&[2; 16][..], 1, 1));
    }

    #[test]
    #[should_panic(expected = "local memory of a get under way is not registered any more")]
    fn local_memory_stays_until_a_get_is_over() {
        let mut two = Two::new();
        let desc = two.desc();
        let get = Transfer::new(&two.registry, &desc, false);
        two.close(0);
        get.land(&mut two.registry);
    }

    #[test]
    #[should_panic(expected = "memory that is not registered for it")]
    fn a_verb_keeps_to_registered_memory() {
        let mut two = Two::new();
        let desc = RmaDesc { len: 17, ..two.desc() };
        Transfer::new(&two.registry, &desc, false);
    }

    #[test]
    #[should_panic(expected = "a handle that was changed on its way")]
    fn a_changed_handle_is_seen() {
        let mut two = Two::new();
        let desc = two.desc();
        // SAFETY: handles have three words.
        let mut words = unsafe { desc.remote_handle.cast::<[u64; 3]>().read() };
        words[2] ^= 1;
        let desc = RmaDesc { remote_handle: words.as_ptr().cast(), ..desc };
        Transfer::new(&two.registry, &desc, true);
    }
}
