//! Steps that depend on received data: a function of the author's looks at the data when it is there, and goes on from that.
//!
//! **Blocking and planned.** [`Call::learn`] runs the function at once in a blocking call. In a plan it writes a step down, and the host runs the function
//! when the plan has come to it ([`extend`]): the verbs that it uses write further steps then, which are done before those behind. So the
//! order is that of the program in both, and an author cannot tell the difference.
//!
//! **Buffers.** The function gets again what it was given to carry (`carry.rs`). The borrow of that ends when `learn` returns, in the program's
//! order; in a plan it is made again when the step is done. Steps of verbs before have ended then, their messages included, and those of verbs
//! behind have not begun. Everything that a source, a place or an operation names in a plan is the user's or the plan's, and lives as long
//! as the step: the user's for the whole plan, memory got by a function of an earlier `learn` until the end of the start, when the steps that
//! it wrote are thrown away.

use crate::safe::buffers::{Result, Source};
use crate::safe::call::{ByteType, Call, noted};
use crate::safe::carry::Carry;
use crate::table::{CollComm, extend};
use core::ffi::c_void;
use oxmpi_datatype::pack;
use oxmpi_mca::Status;

/// A step that learns: the data to look at, the buffers, the function.
struct LearnStep<S, C, F> {
    data: S,
    carried: C,
    function: F,
    tag: i32,
}

impl Call<'_> {
    /// Looks at data, and goes on from that: `function` gets the bytes of `data` in packed form, as they are when all verbs before are done, and
    /// the buffers that it is given by `carried`. In a persistent operation it runs once for each start.
    ///
    /// It gets no bytes where data of the call is missing, since a message has failed: it sends then to those who may wait for a message of this
    /// rank, as far as it knows them, and they are told. Its error is the call's, unless that had one.
    ///
    /// The function may run in another thread, in which it must not block. NOT_SUPPORTED: the host has no such steps (its contract is coll 2.0).
    pub fn learn<C, F>(&self, data: Source<'_>, carried: C, function: F) -> Result
    where
        C: Carry,
        F: for<'x> Fn(&Call<'x>, Option<&'x [u8]>, C::At<'x>) -> Result + Send + 'static,
    {
        if self.comm.planning != 0 {
            return self.learn_later(LearnStep { data, carried, function, tag: self.tag });
        }
        let bytes = if self.failure.has_spoiled() { None } else { Some(packed(data)?) };
        // SAFETY: for as long as `carried` is there, which was moved here with its borrows.
        let carried = unsafe { carried.again() };
        function(self, bytes.as_deref(), carried)
    }

    /// Writes down a step that runs the function.
    fn learn_later<C, F>(&self, later: LearnStep<Source<'_>, C, F>) -> Result
    where
        C: Carry,
        F: for<'x> Fn(&Call<'x>, Option<&'x [u8]>, C::At<'x>) -> Result + Send + 'static,
    {
        if !self.services.can_extend() {
            return Err(Status::NOT_SUPPORTED);
        }
        let ctx = Box::into_raw(Box::new(later));
        let status = (self.services.extend)(self.comm, step::<C, F>, ctx.cast());
        noted(status).inspect_err(|_| {
            // SAFETY: made above, and the host did not take it.
            drop(unsafe { Box::from_raw(ctx) });
        })
    }
}

/// The step of [`Call::learn`].
///
/// # Safety
/// As the contract has it; `ctx` must be a [`LearnStep`] of these types.
unsafe extern "C" fn step<C, F>(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status
where
    C: Carry,
    F: for<'x> Fn(&Call<'x>, Option<&'x [u8]>, C::At<'x>) -> Result + Send + 'static,
{
    let ctx = ctx.cast::<LearnStep<Source<'_>, C, F>>();
    if what == extend::DROP {
        // SAFETY: `learn_later` made it, and DROP comes once and last.
        drop(unsafe { Box::from_raw(ctx) });
        return Status::OK;
    }
    // SAFETY: nobody changes what a step keeps, and the communicator is there during the call.
    let (later, comm) = unsafe { (&*ctx, &*comm) };
    let byte = ByteType::new();
    // SAFETY: the services live as long as the communicator.
    let call = match unsafe { Call::new(comm, &byte, later.tag) } {
        Ok(call) => call,
        Err(status) => return status,
    };
    let data = if what == extend::LOST { None } else { Some(packed(later.data)) };
    let data = match data.transpose() {
        Ok(data) => data,
        Err(status) => return status,
    };
    // SAFETY: what a plan's buffers name lives as long as the step, and in the order of the plan's steps this is the time for which they
    // were borrowed (the file's head).
    let carried = unsafe { later.carried.again() };
    call.outcome((later.function)(&call, data.as_deref(), carried))
}

/// The bytes of data, packed. OUT_OF_MEMORY: there is no room for them.
fn packed(data: Source<'_>) -> Result<Vec<u8>> {
    let (at, count, dtype) = data.raw();
    let (total, mut bytes) = (data.bytes(), Vec::new());
    let len = usize::try_from(total).map_err(|_| Status::OUT_OF_MEMORY)?;
    bytes.try_reserve_exact(len).map_err(|_| Status::OUT_OF_MEMORY)?;
    bytes.resize(len, 0);
    // SAFETY: the source holds its elements, and the bytes are as many as theirs.
    unsafe { pack(dtype, count, at, 0, bytes.as_mut_ptr(), total) };
    Ok(bytes)
}
