//! Thread communicators, `mpi-ext.h`: endpoints behind one handle, of which each thread that has started it means its own.
//!
//! The handle is no communicator's: looking it up finds nothing, and only then is the thread's own endpoint asked for (`thread_rank`), so
//! that ordinary communicators pay nothing.
//!
//! **Access.** Threads that start are listed under the mutex, in their order. They meet (`progress::meeting`), and the last one makes
//! ranks of the list, before any goes on. They meet again in finish, where the last one empties it.

use crate::call::gate;
use crate::call::handle::{Kind, Table, is_of};
use crate::call::memory::{Out, read, write};
use crate::call::process::Process;
use crate::call::thread_rank;
use crate::comm::lifetime::free;
use crate::comm::require;
use crate::constants::*;
use crate::endpoints::{adopt_all, wanted};
use crate::error::{Failure, Res, call};
use crate::types::Comm;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_mca::Entry;
use oxmpi_runtime::Info;
use oxmpi_runtime::Level;
use oxmpi_waiting::meeting::Meeting;
use parking_lot::Mutex;

/// How threads get their ranks (info key `thread_order` of the parent).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    /// By their keys, then as they come to MPIX_Threadcomm_start. The key is that of threads which have not set their own
    /// (`thread_order` by MPI_Comm_set_info on the handle).
    Keys(i32),
    /// By their number in the OpenMP team.
    Omp,
}

/// A thread that has started: its key, and its place among the endpoints once all have come.
#[derive(Clone, Copy)]
struct Started {
    key: i64,
    place: usize,
}

struct Threadcomm {
    /// See `thread_rank`.
    number: AtomicU64,
    endpoints: Box<[Comm]>,
    order: Order,
    /// As they came.
    started: Mutex<Vec<Started>>,
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

impl Threadcomm {
    fn order(info: &Info) -> Result<Order, String> {
        match info.get("thread_order") {
            None | Some("arrival") => Ok(Order::Keys(0)),
            Some("omp") => Ok(Order::Omp),
            Some(other) => other
                .trim()
                .parse()
                .map(Order::Keys)
                .map_err(|_| format!("thread_order is {other}; it may be arrival, omp or an integer")),
        }
    }

    /// The calling thread is one of those that start: the how-manieth.
    fn list(&self) -> Res<usize> {
        let threads = self.endpoints.len();
        let key = match self.order {
            Order::Keys(default) => {
                i64::from(thread_rank::key(self.number.load(Ordering::Relaxed)).unwrap_or(default))
            }
            Order::Omp => match omp_thread().filter(|thread| *thread < threads) {
                Some(thread) => thread as i64,
                None => return not_of_a_team(threads),
            },
        };
        let mut started = self.started.lock();
        if started.len() == threads {
            let why = format!("{threads} threads have started it already, which are all it was made for");
            return Failure::err(MPI_ERR_ARG, why);
        }
        if self.order == Order::Omp && started.iter().any(|other| other.key == key) {
            return not_of_a_team(threads);
        }
        started.push(Started { key, place: 0 });
        Ok(started.len() - 1)
    }

    /// Waits for all threads. The last one runs `last` before any goes on.
    fn meet(&self, process: &Process, entry: &mut Entry, last: impl FnOnce(&mut Vec<Started>)) {
        let threads = self.endpoints.len() as u32;
        if let Some(round) = self.meeting.come(threads, || last(&mut self.started.lock())) {
            process.instance.wait_until(entry, |_| self.meeting.is_over(round));
        }
    }
}

/// Ranks by key, and then as they came.
fn give_places(started: &mut [Started]) {
    let mut order: Vec<usize> = (0..started.len()).collect();
    order.sort_by_key(|nth| started[*nth].key);
    for (place, nth) in order.into_iter().enumerate() {
        started[nth].place = place;
    }
}

fn not_of_a_team<T>(threads: usize) -> Res<T> {
    let why = format!("the thread is none of {threads} of an OpenMP team, or another one has its number");
    Failure::err(MPI_ERR_ARG, why)
}

/// Threads will call the library together, so the level is MPI_THREAD_MULTIPLE from now on, whatever the program asked for. False: that
/// is not possible here.
fn several_threads(process: &Process, entry: &mut Entry) -> bool {
    let raise = || process.instance.raise_level(Level::Multiple);
    process.instance.level() == Level::Multiple || gate::run_outside(entry, raise) == Level::Multiple
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
    fn MPIX_Threadcomm_init(comm: Comm, num_threads: c_int, newthreadcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |process, entry| {
            let parent = require(comm)?;
            let order = Threadcomm::order(&parent.comm.info());
            let count = match &order {
                Err(why) => Err(crate::endpoints::wrong(why.clone())),
                Ok(_) if num_threads == 0 => Err(crate::endpoints::wrong("num_threads is 0".into())),
                Ok(_) if num_threads > 1 && !several_threads(process, entry) => {
                    let why = "several threads cannot be let in below MPI_THREAD_MULTIPLE on this kernel, which has no membarrier";
                    Err(crate::endpoints::wrong(why.into()))
                }
                Ok(_) => wanted("num_threads", num_threads, newthreadcomm),
            };
            let made = parent.comm.create_endpoints(entry, count, &Info::new())?;
            let endpoints: Box<[Comm]> = adopt_all(process, entry, parent, made)?.into();
            let object = Threadcomm {
                number: AtomicU64::new(0),
                endpoints: endpoints.clone(),
                order: order.unwrap_or(Order::Keys(0)),
                started: Mutex::default(),
                meeting: Meeting::default(),
            };
            let Some(handle) = TABLE.insert(Box::new(object)) else {
                for endpoint in endpoints {
                    free(process, entry, endpoint)?;
                }
                return Failure::err(MPI_ERR_NO_MEM, "too many thread communicators");
            };
            // Nobody else has the handle yet.
            if let Some(object) = TABLE.get(handle) {
                object.number.store(thread_rank::born(handle), Ordering::Relaxed);
            }
            write(newthreadcomm, "newthreadcomm", Comm(handle))
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_start(threadcomm: Comm) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let object = object(threadcomm)?;
            if thread_rank::of(threadcomm.0).is_some() {
                return Failure::err(MPI_ERR_COMM, "the thread has started it already");
            }
            let nth = object.list()?;
            object.meet(process, entry, |started| give_places(started));
            let place = object.started.lock()[nth].place;
            thread_rank::enter(threadcomm.0, object.endpoints[place].0);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_finish(threadcomm: Comm) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let object = object(threadcomm)?;
            if thread_rank::leave(threadcomm.0).is_none() {
                return Failure::err(MPI_ERR_COMM, "the thread has not started it");
            }
            object.meet(process, entry, Vec::clear);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPIX_Threadcomm_free(threadcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, None, |process, entry| {
            let handle = read(threadcomm, "threadcomm")?;
            if !object(handle)?.started.lock().is_empty() {
                return Failure::err(MPI_ERR_COMM, "threads have started it and not finished");
            }
            let Some(object) = TABLE.remove(handle.0) else {
                return Failure::err(MPI_ERR_COMM, "the thread communicator was freed");
            };
            thread_rank::died(handle.0);
            for endpoint in &object.endpoints {
                free(process, entry, *endpoint)?;
            }
            write(threadcomm, "threadcomm", Comm(MPI_COMM_NULL))
        })
    }
}
mpi_fn! {
    fn MPIX_Comm_test_threadcomm(comm: Comm, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let is = match is_of(Kind::Threadcomm, comm.0) {
                true => object(comm).map(|_| true)?,
                false => require(comm)?.comm.group().members().iter().any(|member| member.endpoint != 0),
            };
            write(flag, "flag", is.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_keys_and_then_the_order_of_coming() {
        let places = |keys: &[i64]| {
            let mut started: Vec<Started> = keys.iter().map(|&key| Started { key, place: 9 }).collect();
            give_places(&mut started);
            started.iter().map(|one| one.place).collect::<Vec<_>>()
        };
        assert_eq!(places(&[0, 0, 0]), [0, 1, 2]);
        assert_eq!(places(&[5, -1, 5, 0]), [2, 0, 3, 1]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn orders_that_the_info_names() {
        let order = |text: Option<&str>| {
            let mut info = Info::new();
            if let Some(text) = text {
                info.set("thread_order", text);
            }
            Threadcomm::order(&info)
        };
        assert_eq!(order(None), Ok(Order::Keys(0)));
        assert_eq!(order(Some("arrival")), Ok(Order::Keys(0)));
        assert_eq!(order(Some("omp")), Ok(Order::Omp));
        assert_eq!(order(Some(" -7")), Ok(Order::Keys(-7)));
        assert!(order(Some("7a")).is_err_and(|why| why.contains("7a")));
    }
}
