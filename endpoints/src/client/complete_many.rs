//! Arrays of requests, of endpoints and conventional ones mixed (EP-lib paper, §III.C).
//!
//! Wait-all is split in two: the conventional requests are waited for in the library, the proxies complete theirs meanwhile, and then
//! those are waited for. Wait-any and wait-some look at both in turn; with requests of endpoints alone the thread sleeps
//! on all their completion words at once. The records' words are the shared flags: nothing is started that would have to be
//! stopped. An array without requests of endpoints goes to the library as it is.

use super::complete::{empty, test};
use super::request::{self, Slot};
use super::state::client;
use crate::abi::*;
use crate::pmpi;
use crate::protocol::{completion, sys};
use std::time::Duration;

/// The requests of a call.
struct Array {
    requests: *mut Request,
    count: usize,
}

impl Array {
    /// `None`: there are none of endpoints.
    ///
    /// # Safety
    /// The program's array.
    unsafe fn mixed(count: c_int, requests: *mut Request) -> Option<Array> {
        let array = Array { requests, count: count.max(0) as usize };
        (0..array.count).any(|i| request::is_ours(array.get(i))).then_some(array)
    }

    fn get(&self, i: usize) -> Request {
        // SAFETY: inside the program's array.
        unsafe { *self.requests.add(i) }
    }

    #[allow(clippy::mut_from_ref, reason = "the slot is the request's, not the array's")]
    fn slot(&self, i: usize) -> Option<&mut Slot> {
        // SAFETY: the program's request.
        unsafe { request::find(self.get(i)) }
    }

    /// Requests of endpoints that are under way.
    fn active(&self) -> impl Iterator<Item = (usize, &mut Slot)> {
        (0..self.count).filter_map(|i| Some((i, self.slot(i).filter(|s| s.active)?)))
    }

    /// Conventional requests, with their places.
    fn conventional(&self) -> (Vec<usize>, Vec<Request>) {
        (0..self.count)
            .map(|i| (i, self.get(i)))
            .filter(|(_, r)| !request::is_ours(*r) && *r != REQUEST_NULL)
            .unzip()
    }

    fn put_back(&self, places: &[usize], requests: &[Request]) {
        for (place, request) in places.iter().zip(requests) {
            // SAFETY: inside the program's array.
            unsafe { *self.requests.add(*place) = *request };
        }
    }

    fn end(&self, i: usize, slot: &mut Slot, status: *mut Status) -> c_int {
        // SAFETY: inside the program's array.
        slot.end(unsafe { &mut *self.requests.add(i) }, status)
    }

    /// Threads that wait are told to the proxies where those make progress in calls only.
    fn waits(&self, begins: bool) {
        for (_, slot) in self.active().filter(|(_, s)| !s.client.asynchronous) {
            slot.proxy.waits(begins);
        }
    }

    /// Waits until one of them might be complete.
    fn sleep(&self) {
        let words: Vec<_> = self
            .active()
            .filter(|(_, slot)| slot.record().state.announce())
            .map(|(_, slot)| (slot.record().state.word(), completion::WAITED))
            .collect();
        if words.len() < self.active().count() {
            return;
        }
        if !sys::wait_any(&words, Duration::from_secs(1)) {
            std::thread::sleep(Duration::from_micros(50));
        }
        self.active().filter(|(_, slot)| !slot.is_done()).for_each(|(_, slot)| slot.proxy.must_live());
    }

    /// Repeats `look` until it has found something. Where there are conventional requests the thread does not sleep, for
    /// their progress is made by looking.
    fn until(&self, conventional: bool, look: impl FnMut() -> bool) {
        let Some(client) = client() else { return };
        self.waits(true);
        let sleep = || match conventional {
            true => std::thread::yield_now(),
            false => self.sleep(),
        };
        client.wait_until(look, sleep);
        // Those that were complete are not active any more, but none has ended yet.
        self.waits(false);
    }
}

fn status_at(statuses: *mut Status, i: usize) -> *mut Status {
    if statuses.is_null() { statuses } else { statuses.wrapping_add(i) }
}

/// Sets the error of one status of many.
fn note(statuses: *mut Status, i: usize, class: c_int) {
    if !statuses.is_null() {
        // SAFETY: the program's array of statuses is as long as that of requests.
        unsafe { (*statuses.add(i)).error = class };
    }
}

/// Raises MPI_ERR_IN_STATUS by the handler of the first request that failed.
fn in_status(failed: Option<(Errhandler, Comm)>, name: &str) -> c_int {
    match failed {
        Some((errhandler, comm)) => Slot::raise(errhandler, comm, name, ERR_IN_STATUS),
        None => SUCCESS,
    }
}

mpi! {
    fn MPI_Waitall(count: c_int, requests: *mut Request, statuses: *mut Status) {
        let Some(array) = Array::mixed(count, requests) else { return pmpi::MPI_Waitall(count, requests, statuses) };
        array.waits(true);
        let (places, mut natives) = array.conventional();
        let mut theirs = vec![Status::default(); natives.len()];
        let mut error = SUCCESS;
        if !natives.is_empty() {
            error = pmpi::MPI_Waitall(natives.len() as c_int, natives.as_mut_ptr(), theirs.as_mut_ptr());
        }
        array.active().for_each(|(_, slot)| slot.wait());
        array.waits(false);
        all_done(&array, &places, &natives, &theirs, error, statuses, "MPI_Waitall")
    }
}

/// Everything is complete: ends our requests and fills the statuses.
fn all_done(
    array: &Array,
    places: &[usize],
    natives: &[Request],
    theirs: &[Status],
    error: c_int,
    statuses: *mut Status,
    name: &str,
) -> c_int {
    let mut failed = None;
    let mut classes = vec![SUCCESS; array.count];
    for (i, error) in classes.iter_mut().enumerate() {
        let status = status_at(statuses, i);
        match array.slot(i) {
            Some(slot) if slot.active => {
                let handler = (slot.errhandler, slot.comm);
                *error = array.end(i, slot, status);
                if *error != SUCCESS {
                    failed.get_or_insert(handler);
                }
            }
            // SAFETY: the program's place.
            _ => unsafe { empty(status) },
        }
    }
    let mut class = SUCCESS;
    // SAFETY: a local.
    unsafe { pmpi::MPI_Error_class(error, &raw mut class) };
    for (place, status) in places.iter().zip(theirs) {
        if class == ERR_IN_STATUS {
            classes[*place] = status.error;
        }
        if !statuses.is_null() {
            // SAFETY: the program's array.
            unsafe { *statuses.add(*place) = *status };
        }
    }
    array.put_back(places, natives);
    if failed.is_some() || class == ERR_IN_STATUS {
        (0..array.count).for_each(|i| note(statuses, i, classes[i]));
    }
    if failed.is_some() { in_status(failed, name) } else { error }
}

mpi! {
    fn MPI_Testall(count: c_int, requests: *mut Request, flag: *mut c_int, statuses: *mut Status) {
        let Some(array) = Array::mixed(count, requests) else {
            return pmpi::MPI_Testall(count, requests, flag, statuses);
        };
        *flag = 0;
        let mut done = true;
        array.active().for_each(|(_, slot)| done &= test(slot));
        let (places, mut natives) = array.conventional();
        let mut theirs = vec![Status::default(); natives.len()];
        let mut error = SUCCESS;
        if !natives.is_empty() {
            let mut all = 0;
            if done {
                error = pmpi::MPI_Testall(natives.len() as c_int, natives.as_mut_ptr(), &raw mut all, theirs.as_mut_ptr());
            } else {
                // Progress for them, and no end of any.
                pmpi::MPI_Request_get_status(natives[0], &raw mut all, core::ptr::null_mut());
            }
            done &= all != 0;
        }
        if !done {
            if let Some(client) = client() {
                client.yield_after_empty_look();
            }
            return SUCCESS;
        }
        *flag = 1;
        all_done(&array, &places, &natives, &theirs, error, statuses, "MPI_Testall")
    }
}

/// The result of a look at all requests: the place, and for a conventional one its error and status.
type Found = Option<(usize, Option<(c_int, Status)>)>;

/// One request that is complete, if any; a conventional one has been ended.
fn look(array: &Array) -> Found {
    if let Some((i, _)) = array.active().find(|(_, slot)| test(slot)) {
        return Some((i, None));
    }
    let (places, mut natives) = array.conventional();
    if natives.is_empty() {
        return None;
    }
    let (mut index, mut flag, mut status) = (UNDEFINED, 0, Status::default());
    // SAFETY: a copy of the program's handles, and locals.
    let error = unsafe {
        pmpi::MPI_Testany(
            natives.len() as c_int,
            natives.as_mut_ptr(),
            &raw mut index,
            &raw mut flag,
            &raw mut status,
        )
    };
    if flag == 0 || index == UNDEFINED {
        return None;
    }
    array.put_back(&places, &natives);
    Some((places[index as usize], Some((error, status))))
}

/// Ends what `look` found.
fn take(
    array: &Array,
    found: (usize, Option<(c_int, Status)>),
    index: *mut c_int,
    status: *mut Status,
    name: &str,
) -> c_int {
    let (i, native) = found;
    // SAFETY: the program's places.
    unsafe {
        *index = i as c_int;
        if let Some((error, theirs)) = native {
            if !status.is_null() {
                *status = theirs;
            }
            return error;
        }
    }
    let Some(slot) = array.slot(i) else { return ERR_REQUEST };
    let (errhandler, comm) = (slot.errhandler, slot.comm);
    let class = array.end(i, slot, status);
    Slot::raise(errhandler, comm, name, class)
}

/// Is there anything that could complete?
fn is_idle(array: &Array) -> bool {
    array.active().next().is_none() && {
        let (_, mut natives) = array.conventional();
        let mut flag = 0;
        // SAFETY: a copy of the program's handles: inactive ones alone leave UNDEFINED, and end nothing.
        unsafe {
            natives.is_empty() || {
                let mut all_inactive = true;
                for native in &mut natives {
                    let mut status = Status::default();
                    pmpi::MPI_Request_get_status(*native, &raw mut flag, &raw mut status);
                    all_inactive &= flag != 0 && status.source == ANY_SOURCE && status.tag == ANY_TAG;
                }
                all_inactive
            }
        }
    }
}

mpi! {
    fn MPI_Waitany(count: c_int, requests: *mut Request, indx: *mut c_int, status: *mut Status) {
        let Some(array) = Array::mixed(count, requests) else { return pmpi::MPI_Waitany(count, requests, indx, status) };
        if is_idle(&array) {
            *indx = UNDEFINED;
            empty(status);
            return SUCCESS;
        }
        let mut found = None;
        let conventional = !array.conventional().0.is_empty();
        array.until(conventional, || {
            found = look(&array);
            found.is_some()
        });
        match found {
            Some(found) => take(&array, found, indx, status, "MPI_Waitany"),
            None => ERR_REQUEST,
        }
    }
}

mpi! {
    fn MPI_Testany(count: c_int, requests: *mut Request, indx: *mut c_int, flag: *mut c_int, status: *mut Status) {
        let Some(array) = Array::mixed(count, requests) else {
            return pmpi::MPI_Testany(count, requests, indx, flag, status);
        };
        *indx = UNDEFINED;
        *flag = 1;
        if let Some(found) = look(&array) {
            return take(&array, found, indx, status, "MPI_Testany");
        }
        if is_idle(&array) {
            empty(status);
            return SUCCESS;
        }
        *flag = 0;
        if let Some(client) = client() {
            client.yield_after_empty_look();
        }
        SUCCESS
    }
}

/// Ends all that is complete; gives how many that were.
fn some(
    array: &Array,
    indices: *mut c_int,
    statuses: *mut Status,
) -> (usize, c_int, Option<(Errhandler, Comm)>) {
    let (mut n, mut failed, mut error) = (0, None, SUCCESS);
    let mut classes = Vec::new();
    let place = |n: usize, i: usize| {
        // SAFETY: the program's array has room for all.
        unsafe { *indices.add(n) = i as c_int };
    };
    for i in 0..array.count {
        let Some(slot) = array.slot(i).filter(|s| s.active && test(s)) else { continue };
        let handler = (slot.errhandler, slot.comm);
        let class = array.end(i, slot, status_at(statuses, n));
        if class != SUCCESS {
            failed.get_or_insert(handler);
        }
        classes.push(class);
        place(n, i);
        n += 1;
    }
    let (places, mut natives) = array.conventional();
    if !natives.is_empty() {
        let mut done = 0;
        let mut which = vec![0; natives.len()];
        let mut theirs = vec![Status::default(); natives.len()];
        let count = natives.len() as c_int;
        let (r, w, s) = (natives.as_mut_ptr(), which.as_mut_ptr(), theirs.as_mut_ptr());
        // SAFETY: lists of that length.
        error = unsafe { pmpi::MPI_Testsome(count, r, &raw mut done, w, s) };
        for j in 0..done.max(0) as usize {
            place(n, places[which[j] as usize]);
            if !statuses.is_null() {
                // SAFETY: the program's array.
                unsafe { *statuses.add(n) = theirs[j] };
            }
            classes.push(if error == SUCCESS { SUCCESS } else { theirs[j].error });
            n += 1;
        }
        array.put_back(&places, &natives);
    }
    if failed.is_some() || error != SUCCESS {
        classes.iter().enumerate().for_each(|(i, class)| note(statuses, i, *class));
    }
    (n, error, failed)
}

mpi! {
    fn MPI_Waitsome(incount: c_int, requests: *mut Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut Status) {
        let Some(array) = Array::mixed(incount, requests) else {
            return pmpi::MPI_Waitsome(incount, requests, outcount, indices, statuses);
        };
        if is_idle(&array) {
            *outcount = UNDEFINED;
            return SUCCESS;
        }
        let mut found = (0, SUCCESS, None);
        let conventional = !array.conventional().0.is_empty();
        let waiting: Vec<_> = array.active().filter(|(_, s)| !s.client.asynchronous).map(|(_, s)| s.proxy).collect();
        waiting.iter().for_each(|p| p.waits(true));
        if let Some(client) = client() {
            let sleep = || if conventional { std::thread::yield_now() } else { array.sleep() };
            client.wait_until(|| { found = some(&array, indices, statuses); found.0 > 0 }, sleep);
        }
        waiting.iter().for_each(|p| p.waits(false));
        *outcount = found.0 as c_int;
        if found.2.is_some() { in_status(found.2, "MPI_Waitsome") } else { found.1 }
    }
}

mpi! {
    fn MPI_Testsome(incount: c_int, requests: *mut Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut Status) {
        let Some(array) = Array::mixed(incount, requests) else {
            return pmpi::MPI_Testsome(incount, requests, outcount, indices, statuses);
        };
        let found = some(&array, indices, statuses);
        *outcount = found.0 as c_int;
        if found.0 == 0 {
            if is_idle(&array) {
                *outcount = UNDEFINED;
            } else if let Some(client) = client() {
                client.yield_after_empty_look();
            }
        }
        if found.2.is_some() { in_status(found.2, "MPI_Testsome") } else { found.1 }
    }
}
