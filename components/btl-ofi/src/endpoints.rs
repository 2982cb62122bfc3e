//! Endpoints with their queues: those of their own, and contexts of a scalable endpoint, which share its address; and registered memory, which a
//! provider may want to bind to one.

use crate::abi::*;
use crate::objects::{Av, Code, Cq, Domain, Info, answered, any_thread, bind, close, control, of_table};
use crate::wire::Address;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::Arc;

any_thread!(Scalable, Ep, Region);

/// A scalable endpoint: one address, behind which each context sends and receives for itself.
pub struct Scalable {
    object: *mut EpObject,
    _av: Arc<Av>,
}

impl Scalable {
    /// Makes one of so many contexts. The error says why the provider does not.
    pub fn new(info: &Info, domain: &Arc<Domain>, av: &Arc<Av>, count: usize) -> Result<Arc<Scalable>, Code> {
        let info = info.of_contexts(count).ok_or(err::NOMEM)?;
        // SAFETY: the domain lives.
        let open = of_table!(unsafe { (*domain.object).ops }, scalable_ep)?;
        let mut object = null_mut();
        // SAFETY: the domain and a description of it live; a place.
        answered(unsafe { open(domain.object, info.list, &mut object, null_mut()) } as isize)?;
        let scalable = Scalable { object, _av: av.clone() };
        // SAFETY: objects of one domain that live.
        unsafe {
            bind(object.cast(), av.object.cast(), 0)?;
            control(object.cast(), ENABLE, null_mut())?;
        }
        Ok(Arc::new(scalable))
    }

    /// Opens the two sides of a context.
    fn sides(&self, number: u16) -> Result<[*mut EpObject; 2], Code> {
        // SAFETY: the endpoint lives.
        let ops = unsafe { (*self.object).ops };
        let (open_tx, open_rx) = (of_table!(ops, tx_ctx)?, of_table!(ops, rx_ctx)?);
        let (mut tx, mut rx) = (null_mut(), null_mut());
        // SAFETY: the endpoint lives; null asks for what its description says; places.
        unsafe {
            answered(open_tx(self.object, c_int::from(number), null_mut(), &mut tx, null_mut()) as isize)?;
            let opened = open_rx(self.object, c_int::from(number), null_mut(), &mut rx, null_mut());
            answered(opened as isize).inspect_err(|_| close(tx.cast()))?;
        }
        Ok([tx, rx])
    }
}

impl Drop for Scalable {
    fn drop(&mut self) {
        // SAFETY: its contexts have ended, since they keep it.
        unsafe { close(self.object.cast()) }
    }
}

/// An endpoint that is enabled, with its queue.
pub struct Ep {
    /// It sends, puts and gets.
    pub object: *mut EpObject,
    /// It receives: the same object, but in a scalable endpoint's context.
    pub receiver: *mut EpObject,
    pub recv: RecvCall,
    pub send: SendCall,
    pub inject: InjectCall,
    pub read: Option<ReadCall>,
    pub write: Option<WriteMsg>,
    pub cq: Arc<Cq>,
    /// The scalable endpoint, and the number of the context there.
    part_of: Option<(Arc<Scalable>, u16)>,
    _av: Arc<Av>,
}

impl Ep {
    /// An endpoint of its own.
    pub fn new(info: &Info, av: &Arc<Av>, cq: Cq) -> Result<Ep, Code> {
        let domain = &cq.domain;
        // SAFETY: the domain lives.
        let open = of_table!(unsafe { (*domain.object).ops }, endpoint)?;
        let mut object = null_mut();
        // SAFETY: the domain and a description of it live; a place.
        answered(unsafe { open(domain.object, info.list, &mut object, null_mut()) } as isize)?;
        Sides([object; 2]).set_up(av, cq, None)
    }

    /// A context of a scalable endpoint.
    pub fn of(scalable: &Arc<Scalable>, number: u16, av: &Arc<Av>, cq: Cq) -> Result<Ep, Code> {
        let sides = scalable.sides(number)?;
        Sides(sides).set_up(av, cq, Some((scalable.clone(), number)))
    }

    /// The address under which peers reach it.
    pub fn address(&self) -> Result<Address, Code> {
        let (named, context) = match &self.part_of {
            Some((scalable, number)) => (scalable.object, *number),
            None => (self.object, 0),
        };
        // SAFETY: the endpoint lives.
        let getname = of_table!(unsafe { (*named).cm }, getname)?;
        let mut bytes = vec![0; 256];
        let mut len = bytes.len();
        // SAFETY: so many places.
        answered(unsafe { getname(named.cast(), bytes.as_mut_ptr().cast(), &mut len) } as isize)?;
        bytes.truncate(len);
        Ok(Address { bytes, context })
    }

    /// Table of atomic operations; null: there is none.
    pub fn atomics(&self) -> *const AtomicOps {
        // SAFETY: the endpoint lives.
        unsafe { (*self.object).atomic }
    }
}

impl Drop for Ep {
    fn drop(&mut self) {
        Sides([self.object, self.receiver]).close();
    }
}

/// The sending and the receiving object of an endpoint, one and the same in an endpoint of its own.
struct Sides([*mut EpObject; 2]);

impl Sides {
    /// Binds and enables them; closes them where that fails.
    fn set_up(self, av: &Arc<Av>, cq: Cq, part_of: Option<(Arc<Scalable>, u16)>) -> Result<Ep, Code> {
        let [object, receiver] = self.0;
        let done = || -> Result<(RecvCall, SendCall, InjectCall), Code> {
            // SAFETY: objects of one domain that live.
            unsafe {
                if object == receiver {
                    bind(object.cast(), av.object.cast(), 0)?;
                    bind(object.cast(), cq.object.cast(), SEND | RECV)?;
                } else {
                    bind(object.cast(), cq.object.cast(), SEND)?;
                    bind(receiver.cast(), cq.object.cast(), RECV)?;
                    control(receiver.cast(), ENABLE, null_mut())?;
                }
                control(object.cast(), ENABLE, null_mut())?;
            }
            // SAFETY: as above.
            let (out, into) = unsafe { ((*object).msg, (*receiver).msg) };
            Ok((of_table!(into, recv)?, of_table!(out, send)?, of_table!(out, inject)?))
        };
        let (recv, send, inject) = done().inspect_err(|_| self.close())?;
        // SAFETY: the endpoint lives.
        let rma = unsafe { (*object).rma };
        let (read, write) = (of_table!(rma, read).ok(), of_table!(rma, writemsg).ok());
        let (cq, _av) = (Arc::new(cq), av.clone());
        Ok(Ep { object, receiver, recv, send, inject, read, write, cq, part_of, _av })
    }

    fn close(&self) {
        let [object, receiver] = self.0;
        // SAFETY: the owner ends all use of them before.
        unsafe {
            if receiver != object {
                close(receiver.cast());
            }
            close(object.cast());
        }
    }
}

/// Registered memory.
pub struct Region {
    object: *mut MrObject,
    _domain: Arc<Domain>,
}

impl Region {
    /// Registers memory for these accesses (bits of [`READ`] and its like). `bound_to`: where the provider wants to know the endpoint.
    ///
    /// # Safety
    /// So many bytes stay mapped from there as long as the region lives.
    pub unsafe fn new(
        domain: &Arc<Domain>,
        (base, len): (*const c_void, usize),
        access: u64,
        key: u64,
        bound_to: Option<&Ep>,
    ) -> Result<Region, Code> {
        // SAFETY: the domain lives.
        let reg = of_table!(unsafe { (*domain.object).mr }, reg)?;
        let mut object = null_mut();
        // SAFETY: memory by the caller's promise; a place.
        let code =
            unsafe { reg(domain.object.cast(), base, len, access, 0, key, 0, &mut object, null_mut()) };
        answered(code as isize)?;
        let region = Region { object, _domain: domain.clone() };
        if let Some(ep) = bound_to {
            // SAFETY: objects of one domain that live.
            unsafe {
                bind(object.cast(), ep.object.cast(), 0)?;
                control(object.cast(), ENABLE, null_mut())?;
            }
        }
        Ok(region)
    }

    /// The key by which peers name it.
    pub fn key(&self) -> u64 {
        // SAFETY: the region lives.
        unsafe { (*self.object).key }
    }

    /// The name by which local operations know it.
    pub fn desc(&self) -> *mut c_void {
        // SAFETY: as above.
        unsafe { (*self.object).desc }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the owner ends all use of it before.
        unsafe { close(self.object.cast()) }
    }
}
