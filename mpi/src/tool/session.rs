//! Sessions of performance variables, and handles on them (MPI 5.0 §15.3.7).
//!
//! The library's count is one number for all; a handle that counts has what that number was when it
//! was started or reset last, and what it had before. So handles do not see each other's starts, stops,
//! resets and writes, and none of these touches anything that is counted. The library's counting of calls
//! is on while any handle on one of them is started.

use super::arguments::{at, give, offer};
use super::handles::Handles;
use super::pvar::{Binding, Object, ValueSource, Variable};
use super::pvar_list::all;
use super::users::{Res, call, instance};
use super::window_pvar::Count;
use crate::call::counting;
use crate::call::memory::{Address, Out, read, slice};
use crate::constants::*;
use crate::types::{Comm, Win};
use crate::{comm, win};
use core::ffi::c_int;
use oxmpi_runtime::Instance;
use parking_lot::Mutex;
use std::sync::Arc;

struct Handle {
    session: usize,
    variable: &'static Variable,
    object: Object,
    elements: usize,
    state: Mutex<State>,
}

struct State {
    started: bool,
    /// The library's numbers at the last start, reset or write.
    base: Vec<u64>,
    /// The handle's numbers then.
    before: Vec<u64>,
}

static SESSIONS: Handles<()> = Handles::new();
static HANDLES: Handles<Handle> = Handles::new();
/// Variables that are counted or measured only while somebody asks.
#[derive(Clone, Copy)]
enum OnDemandCount {
    Calls,
    /// Of communicators.
    OfComm,
    MatchTime,
}

/// Started handles on each.
static ASKING: Mutex<[usize; 3]> = Mutex::new([0; 3]);

/// A runtime instance was started; `publish` lets others find it. Under the lock, so that each who asks is
/// heard once.
pub fn started(instance: &Instance, publish: impl FnOnce()) {
    let asking = ASKING.lock();
    publish();
    for what in [OnDemandCount::Calls, OnDemandCount::OfComm, OnDemandCount::MatchTime] {
        if asking[what as usize] > 0 {
            tell(instance, what, true);
        }
    }
}

fn tell(instance: &Instance, what: OnDemandCount, more: bool) {
    match what {
        OnDemandCount::Calls => {
            instance.ask_counting(more);
            crate::call::users::refresh();
        }
        OnDemandCount::OfComm => {
            counting::set_of_comm(more);
            instance.ask_counting(more);
            crate::call::users::refresh();
        }
        OnDemandCount::MatchTime => instance.ask_match_time(more),
    }
}

/// Nobody uses the interface any more.
pub fn forget() {
    HANDLES.clear();
    SESSIONS.clear();
}

/// One more started handle on such a variable, or one less.
fn ask(what: Option<OnDemandCount>, more: bool) {
    let Some(what) = what else { return };
    let mut asking = ASKING.lock();
    let count = &mut asking[what as usize];
    *count = if more { *count + 1 } else { count.saturating_sub(1) };
    let changed = if more { *count == 1 } else { *count == 0 };
    if let (true, Some(instance)) = (changed, instance()) {
        tell(&instance, what, more);
    }
}

impl Handle {
    fn now(&self) -> Res<Vec<u64>> {
        self.variable.now(&self.object, self.elements)
    }

    /// The value that the handle shows.
    fn values(&self, state: &State, now: &[u64]) -> Vec<u64> {
        if !self.variable.counts() {
            return now.to_vec();
        }
        let since = |i: usize| if state.started { now[i].wrapping_sub(state.base[i]) } else { 0 };
        (0..self.elements).map(|i| state.before[i].wrapping_add(since(i))).collect()
    }

    fn asks(&self) -> Option<OnDemandCount> {
        match self.variable.source {
            ValueSource::Counter(_) | ValueSource::Algorithm | ValueSource::Window(Count::Calls(_)) => {
                Some(OnDemandCount::Calls)
            }
            ValueSource::Comm(_) => Some(OnDemandCount::OfComm),
            ValueSource::MatchTime => Some(OnDemandCount::MatchTime),
            _ => None,
        }
    }

    fn start(&self) -> Res {
        let mut state = self.state.lock();
        if !state.started {
            ask(self.asks(), true);
            state.base = self.now()?;
            state.started = true;
        }
        Ok(())
    }

    fn stop(&self) -> Res {
        let mut state = self.state.lock();
        if state.started {
            state.before = self.values(&state, &self.now()?);
            state.started = false;
            ask(self.asks(), false);
        }
        Ok(())
    }

    /// Stores the values of the handle.
    ///
    /// # Safety
    /// There is room for as many of the variable's type as it has elements.
    unsafe fn read(&self, buf: Address, reset: bool) -> Res {
        if buf.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let mut state = self.state.lock();
        let now = self.now()?;
        let values = self.values(&state, &now);
        if reset {
            state.before = vec![0; self.elements];
            state.base = now;
        }
        for (i, value) in values.iter().enumerate() {
            let buf = buf.as_mut_ptr();
            // SAFETY: the caller's promise.
            unsafe {
                match self.variable.is_int() {
                    true => buf.cast::<c_int>().add(i).write_unaligned(*value as c_int),
                    false => buf.cast::<u64>().add(i).write_unaligned(*value),
                }
            }
        }
        Ok(())
    }

    fn set(&self, values: Vec<u64>) -> Res {
        let mut state = self.state.lock();
        state.base = self.now()?;
        state.before = values;
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.state.get_mut().started {
            ask(self.asks(), false);
        }
    }
}

fn session(number: usize) -> Res {
    SESSIONS.get(number).map(drop).ok_or(MPI_T_ERR_INVALID_SESSION)
}

/// A handle of a session.
fn handle(session_: usize, number: usize) -> Res<Arc<Handle>> {
    session(session_)?;
    HANDLES.get(number).filter(|h| h.session == session_).ok_or(MPI_T_ERR_INVALID_HANDLE)
}

/// Does something with a handle, or with all of a session that it can be done with.
fn each(
    session_: usize,
    number: usize,
    can: impl Fn(&Variable) -> Res,
    body: impl Fn(&Handle) -> Res,
) -> Res {
    if number != MPI_T_PVAR_ALL_HANDLES {
        let handle = handle(session_, number)?;
        can(handle.variable)?;
        return body(&handle);
    }
    session(session_)?;
    let of_session = HANDLES.all().into_iter().filter(|(_, h)| h.session == session_);
    let able: Vec<_> = of_session.filter(|(_, h)| can(h.variable).is_ok()).collect();
    able.iter().try_for_each(|(_, h)| body(h))
}

fn can_start(v: &Variable) -> Res {
    if v.continuous { Err(MPI_T_ERR_PVAR_NO_STARTSTOP) } else { Ok(()) }
}

fn can_write(v: &Variable) -> Res {
    if v.readonly { Err(MPI_T_ERR_PVAR_NO_WRITE) } else { Ok(()) }
}

mpi_fn! {
    fn MPI_T_pvar_session_create(session: Out<usize>) -> c_int {
        call(|| match session.is_null() {
            true => Err(MPI_T_ERR_INVALID),
            false => give(session, SESSIONS.insert(())),
        })
    }
}
mpi_fn! {
    /// The session's handles go with it.
    fn MPI_T_pvar_session_free(session: Out<usize>) -> c_int {
        call(|| {
            let number = read(session, "").map_err(|_| MPI_T_ERR_INVALID)?;
            SESSIONS.remove(number).ok_or(MPI_T_ERR_INVALID_SESSION)?;
            for (handle, _) in HANDLES.all().into_iter().filter(|(_, h)| h.session == number) {
                HANDLES.remove(handle);
            }
            give(session, MPI_T_PVAR_SESSION_NULL)
        })
    }
}
mpi_fn! {
    fn MPI_T_pvar_handle_alloc(session_: usize, pvar_index: c_int, obj_handle: Address, handle: Out<usize>, count: Out<c_int>) -> c_int {
        call(|| {
            session(session_)?;
            let variable = at(all(), pvar_index)?;
            if handle.is_null() || count.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let object = match variable.bound {
                Binding::Nothing => Object::Nothing,
                Binding::Comm => {
                    // SAFETY: the standard has the caller pass the address of a handle of the kind that the variable is bound to.
                    let comm = unsafe { obj_handle.place_of::<Comm>() };
                    let comm = read(comm, "").map_err(|_| MPI_T_ERR_INVALID)?;
                    let object = comm::get(comm).ok_or(MPI_T_ERR_INVALID)?;
                    Object::Comm(Arc::downgrade(&object.comm))
                }
                Binding::Win => {
                    // SAFETY: the standard has the caller pass the address of a handle of the kind that the variable is bound to.
                    let win = unsafe { obj_handle.place_of::<Win>() };
                    let win = read(win, "").map_err(|_| MPI_T_ERR_INVALID)?;
                    let object = win::get(win).ok_or(MPI_T_ERR_INVALID)?;
                    Object::Win(Arc::downgrade(&object.window))
                }
            };
            let elements = variable.elements();
            // A counter always shows what was counted so far.
            let state = State { started: variable.continuous, base: vec![0; elements], before: vec![0; elements] };
            offer(handle, HANDLES.insert(Handle { session: session_, variable, object, elements, state: Mutex::new(state) }));
            give(count, elements as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_T_pvar_handle_free(session: usize, handle_: Out<usize>) -> c_int {
        call(|| {
            let number = read(handle_, "").map_err(|_| MPI_T_ERR_INVALID)?;
            handle(session, number)?;
            HANDLES.remove(number);
            give(handle_, MPI_T_PVAR_HANDLE_NULL)
        })
    }
}
mpi_fn! {
    fn MPI_T_pvar_start(session: usize, handle: usize) -> c_int {
        call(|| each(session, handle, can_start, Handle::start))
    }
}
mpi_fn! {
    fn MPI_T_pvar_stop(session: usize, handle: usize) -> c_int {
        call(|| each(session, handle, can_start, Handle::stop))
    }
}
mpi_fn! {
    fn MPI_T_pvar_read(session: usize, handle_: usize, buf: Address) -> c_int {
        // SAFETY: the standard has the caller pass room for all elements.
        call(|| unsafe { handle(session, handle_)?.read(buf, false) })
    }
}
mpi_fn! {
    fn MPI_T_pvar_write(session: usize, handle_: usize, buf: Address) -> c_int {
        call(|| {
            let handle = handle(session, handle_)?;
            can_write(handle.variable)?;
            // Variables that can be written are of MPI_UNSIGNED_LONG_LONG.
            // SAFETY: the standard has the caller pass a value for each element.
            let values = unsafe { slice(buf.place_of::<u64>(), handle.elements, "") };
            handle.set(values.map_err(|_| MPI_T_ERR_INVALID)?.to_vec())
        })
    }
}
mpi_fn! {
    fn MPI_T_pvar_reset(session: usize, handle: usize) -> c_int {
        call(|| each(session, handle, can_write, |h| h.set(vec![0; h.elements])))
    }
}
mpi_fn! {
    fn MPI_T_pvar_readreset(session: usize, handle_: usize, buf: Address) -> c_int {
        call(|| {
            let handle = handle(session, handle_)?;
            // Where it cannot be reset it cannot be read and reset in one step (`atomic` of its description).
            can_write(handle.variable).map_err(|_| MPI_T_ERR_PVAR_NO_ATOMIC)?;
            // SAFETY: the standard has the caller pass room for all elements.
            unsafe { handle.read(buf, true) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_its_own_start_and_stop() {
        let variable = &all()[0];
        let state = State { started: false, base: vec![0], before: vec![0] };
        let h =
            Handle { session: 0, variable, object: Object::Nothing, elements: 1, state: Mutex::new(state) };
        let shown = |now: u64| h.values(&h.state.lock(), &[now])[0];
        assert_eq!(shown(100), 0);
        *h.state.lock() = State { started: true, base: vec![100], before: vec![0] };
        assert_eq!(shown(107), 7);
        *h.state.lock() = State { started: true, base: vec![200], before: vec![7] };
        assert_eq!(shown(203), 10);
        // Not started through `start`, so nothing is given back.
        h.state.lock().started = false;
    }
}
