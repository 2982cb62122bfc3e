//! Requests of operations with images (`stage`), and arrays that an operation may read until it is complete.
//!
//! **Numbers of their own.** An image goes back into its section when the operation is complete, so that has to be noticed by whoever completes the request. Fortran gets a number that stands
//! for the request in this library alone: procedures translate it, and C, to which a program may pass the number, knows no such request and says MPI_ERR_REQUEST, instead of completing it without its
//! data. Numbers are negative over oxmpi, whose own are not. MPICH leaves those free that begin with the bits 0010, and ends a program that passes one to MPI_Request_fromint. A number is not
//! given again before 2²⁸ others.
//!
//! **Complete is** what MPI_Request_get_status says behind a call that had the request among its arguments. So it does not matter which of the calls that was, and an
//! inactive persistent request is known, too.

use super::mpi::{PMPI_Request_get_status, REQUEST_NULL};
use super::stage::Image;
use crate::abi::{Fint, Handle};
use crate::dummies::kept::Own;
use crate::kinds::{Kind, Request, are_numbers};
use core::ffi::c_int;
use core::ptr::null_mut;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An operation with images.
struct Operation {
    request: Handle,
    images: Vec<Image>,
    _kept: Vec<Own>,
    /// Started, and its images did not go back yet.
    is_open: bool,
}

#[derive(Default)]
struct Operations {
    all: HashMap<u32, Operation>,
    last: u32,
}

static OPERATIONS: Mutex<Option<Operations>> = Mutex::new(None);

fn operations() -> MutexGuard<'static, Option<Operations>> {
    OPERATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The highest four bits of numbers, over oxmpi and over others.
const OURS: u32 = 8;
const OTHERS: u32 = 2;
const BITS: u32 = 28;

/// Whether a number is one of those.
#[inline(always)]
fn is_one(number: Fint) -> bool {
    let mark = if are_numbers() { OURS } else { OTHERS };
    number as u32 >> BITS == mark
}

/// Gives an operation its number. `is_active`: it is not to be started first.
pub fn register(request: Handle, images: Vec<Image>, kept: Vec<Own>, is_active: bool) -> Fint {
    let mut guard = operations();
    let operations = guard.get_or_insert_default();
    loop {
        operations.last = (operations.last + 1) & ((1 << BITS) - 1);
        if !operations.all.contains_key(&operations.last) {
            break;
        }
    }
    let operation = Operation { request, images, _kept: kept, is_open: is_active };
    operations.all.insert(operations.last, operation);
    let mark = if are_numbers() { OURS } else { OTHERS };
    (mark << BITS | operations.last) as Fint
}

fn key(number: Fint) -> u32 {
    number as u32 & ((1 << BITS) - 1)
}

/// Has images take over what the sections have, before a persistent operation starts.
pub fn start(number: Fint) {
    if is_one(number)
        && let Some(operation) = operations().as_mut().and_then(|all| all.all.get_mut(&key(number)))
    {
        // SAFETY: the program leaves the data of an operation alone when it starts it.
        operation.images.iter_mut().for_each(|image| unsafe { image.fill() });
        operation.is_open = true;
    }
}

/// Has images take over what the sections have of a partition, which is ready.
pub fn ready(number: Fint, partition: Fint) {
    of_partition(number, partition, |image, block| {
        // SAFETY: the program leaves the partition alone from now on.
        unsafe { image.fill_block(block) }
    });
}

/// Gives back what images have of a partition, which has arrived.
pub fn arrived(number: Fint, partition: Fint) {
    of_partition(number, partition, |image, block| {
        // SAFETY: the partition is the library's until the program's call returns.
        unsafe { image.give_back_block(block) }
    });
}

fn of_partition(number: Fint, partition: Fint, act: impl Fn(&mut Image, usize)) {
    if is_one(number)
        && let Ok(block) = usize::try_from(partition)
        && let Some(operation) = operations().as_mut().and_then(|all| all.all.get_mut(&key(number)))
        && operation.is_open
    {
        operation.images.iter_mut().for_each(|image| act(image, block));
    }
}

/// A request, whose number may be one of this library's.
pub struct Pending;

impl Kind for Pending {
    #[inline(always)]
    fn handle(number: Fint) -> Handle {
        if is_one(number) { request(number) } else { Request::handle(number) }
    }
    #[inline(always)]
    fn number(handle: Handle) -> Fint {
        Request::number(handle)
    }
    #[inline(always)]
    fn number_behind(before: Fint, handle: Handle) -> Fint {
        if is_one(before) { settle(before, handle) } else { Request::number(handle) }
    }
    #[inline(always)]
    fn look_after(number: Fint, handle: Handle) {
        if is_one(number) {
            settle(number, handle);
        }
    }
}

/// The request that a number stands for; that of an operation which is complete is none.
#[cold]
fn request(number: Fint) -> Handle {
    let guard = operations();
    let found = guard.as_ref().and_then(|all| all.all.get(&key(number)));
    found.map_or(Handle::MAX, |operation| operation.request)
}

/// Gives images back if the operation is complete, behind a call that had its request. The number that Fortran has from now on.
#[cold]
fn settle(number: Fint, request: Handle) -> Fint {
    let is_freed = request == REQUEST_NULL;
    // Asked without the lock: the library may call the program meanwhile.
    let is_complete = is_freed || request != Handle::MAX && is_complete(request);
    let mut guard = operations();
    let Some(operations) = guard.as_mut() else { return number };
    let Some(operation) = operations.all.get_mut(&key(number)) else { return number };
    if operation.is_open && is_complete {
        operation.is_open = false;
        // SAFETY: the data are the library's until the program's call returns, which is behind this.
        operation.images.iter().for_each(|image| unsafe { image.give_back() });
    }
    if !is_freed {
        return number;
    }
    operations.all.remove(&key(number));
    Request::number(request)
}

fn is_complete(request: Handle) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: a request that is there, a place, and no status.
    unsafe { PMPI_Request_get_status(request, &mut flag, null_mut()) };
    flag != 0
}
