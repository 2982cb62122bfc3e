//! Thread communicators, `mpi-ext.h`: endpoints behind one handle, of which each thread that has started it means its own.
//!
//! The handle is no communicator's: looking it up finds nothing, and only then is the thread's own endpoint asked for (`thread_rank`), so
//! that ordinary communicators pay nothing.
//!
//! **Who may touch what.** Places are taken and given back under the mutex. Threads meet in `Meeting`: each reads the round, then counts itself;
//! the last one resets the count and begins the next round (release), which the others wait for (acquire) while they make progress. No thread
//! counts itself again before the round has begun.

use crate::comm::{self, adopt, require};
use crate::constants::*;
use crate::endpoints::wanted;
use crate::error::{Failure, Res, call};
use crate::handle::{Kind, Table, is_of};
use crate::memory::{read, write, write_made};
use crate::process::Process;
use crate::thread_rank;
use crate::types::Comm;
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_runtime::Info;
use parking_lot::Mutex;

/// How threads get their ranks (info key `thread_order` of the parent).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// As they come to MPIX_Threadcomm_start.
    Arrival,
    /// By their number in the OpenMP team.
    Omp,
}

/// Where all threads of the process wait for each other.
#[derive(Default)]
struct Meeting {
    here: AtomicUsize,
    round: AtomicUsize,
}

struct Threadcomm {
    endpoints: Box<[Comm]>,
    order: Order,
    /// Which endpoints have a thread.
    taken: Mutex<Box<[bool]>>,
    meeting: Meeting,
}

static TABLE: Table<Threadcomm> = Table::new(Kind::Threadcomm);

fn object(handle: Comm) -> Res<&'static Threadcomm> {
    match TABLE.get(handle.0) {
        Some(object) => Ok(object),
        None if is_of(Kind::Threadcomm, handle.0) => {
            Failure::err(MPI_ERR_COMM, "the thread communicator was freed")
        }
        None => Failure::err(MPI_ERR_COMM, "comm is no thread communicator"),
    }
}

impl Meeting {
    fn wait(&self, process: &Process, threads: usize) {
        let round = self.round.load(Ordering::Relaxed);
        // SYNC POINT with the load below: what threads did before they met is visible to all afterwards.
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == threads {
            self.here.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        process.instance.wait_until(process.thread(), || self.round.load(Ordering::Acquire) != round);
    }
}

impl Threadcomm {
    fn order(info: &Info) -> Result<Order, String> {
        match info.get("thread_order") {
            None | Some("arrival") => Ok(Order::Arrival),
            Some("omp") => Ok(Order::Omp),
            Some(other) => Err(format!("thread_order is {other}; it may be arrival or omp")),
        }
    }

    /// A place for the calling thread.
    fn take(&self) -> Res<usize> {
        let mut taken = self.taken.lock();
        let threads = taken.len();
        let place = match self.order {
            Order::Arrival => taken.iter().position(|taken| !*taken),
            Order::Omp => omp_thread().filter(|thread| taken.get(*thread) == Some(&false)),
        };
        let Some(place) = place else {
            let why = match self.order {
                Order::Arrival => {
                    format!("{threads} threads have started it already, which are all it was made for")
                }
                Order::Omp => format!(
                    "the thread is none of {threads} of an OpenMP team, or another one has its number"
                ),
            };
            return Failure::err(MPI_ERR_ARG, why);
        };
        taken[place] = true;
        Ok(place)
    }
}

/// The calling thread's number in its OpenMP team; `None`: the program has no OpenMP.
fn omp_thread() -> Option<usize> {
    // SAFETY: a look-up by name, and a function without arguments that has this type in every OpenMP.
    let number = unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"omp_get_thread_num".as_ptr());
        let found: Option<extern "C" fn() -> c_int> = core::mem::transmute(found);
        found?()
    };
    usize::try_from(number).ok()
}

mpi_fn! {
    fn MPIX_Threadcomm_init(comm: Comm, num_threads: c_int, newthreadcomm: *mut Comm) -> c_int {
        call(NAME, Some(comm), |process| {
            let parent = require(comm)?;
            let order = Threadcomm::order(&parent.comm.info());
            let count = match &order {
                Err(why) => Err(crate::endpoints::wrong(why.clone())),
                Ok(_) if num_threads == 0 => Err(crate::endpoints::wrong("num_threads is 0".into())),
                Ok(_) => wanted("num_threads", num_threads, newthreadcomm),
            };
            let made = parent.comm.create_endpoints(process.thread(), count, &Info::new())?;
            let endpoints = made.into_iter().map(|comm| adopt(parent, comm)).collect::<Res<Box<[Comm]>>>()?;
            let taken = vec![false; endpoints.len()].into();
            let order = order.unwrap_or(Order::Arrival);
            let object = Threadcomm { endpoints, order, taken: Mutex::new(taken), meeting: Meeting::default() };
            write_made(newthreadcomm, "newthreadcomm", || match TABLE.insert(Box::new(object)) {
                Some(handle) => Ok(Comm(handle)),
                None => Failure::err(MPI_ERR_NO_MEM, "too many thread communicators"),
            })
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_start(threadcomm: Comm) -> c_int {
        call(NAME, None, |process| {
            let object = object(threadcomm)?;
            if thread_rank::of(threadcomm.0).is_some() {
                return Failure::err(MPI_ERR_COMM, "the thread has started it already");
            }
            let place = object.take()?;
            object.meeting.wait(process, object.endpoints.len());
            thread_rank::enter(threadcomm.0, object.endpoints[place].0);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_finish(threadcomm: Comm) -> c_int {
        call(NAME, None, |process| {
            let object = object(threadcomm)?;
            let Some(endpoint) = thread_rank::leave(threadcomm.0) else {
                return Failure::err(MPI_ERR_COMM, "the thread has not started it");
            };
            if let Some(place) = object.endpoints.iter().position(|comm| comm.0 == endpoint) {
                object.taken.lock()[place] = false;
            }
            object.meeting.wait(process, object.endpoints.len());
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_free(threadcomm: *mut Comm) -> c_int {
        call(NAME, None, |process| {
            let handle = read(threadcomm, "threadcomm")?;
            if object(handle)?.taken.lock().contains(&true) {
                return Failure::err(MPI_ERR_COMM, "threads have started it and not finished");
            }
            let Some(object) = TABLE.remove(handle.0) else {
                return Failure::err(MPI_ERR_COMM, "the thread communicator was freed");
            };
            for endpoint in &object.endpoints {
                comm::free(process, *endpoint)?;
            }
            write(threadcomm, "threadcomm", Comm(MPI_COMM_NULL))
        })
    }
}
mpi_fn! {
    fn MPIX_Comm_test_threadcomm(comm: Comm, flag: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let is = match is_of(Kind::Threadcomm, comm.0) {
                true => object(comm).map(|_| true)?,
                false => require(comm)?.comm.group().members().iter().any(|member| member.endpoint != 0),
            };
            write(flag, "flag", is.into())
        })
    }
}
