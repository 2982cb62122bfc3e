//! Windows: made and freed by all proxies together, once all have been asked.
//!
//! The library's window is made on memory that this process shares with its client, and is under one MPI_Win_lock_all
//! until it is freed. So every operation is a request-based one that a proxy starts and looks at like any other; what orders
//! them (fences, epochs of groups, locks) is flushes and messages (`epochs`, `locks`).

use crate::abi::*;
use crate::errors::class;
use crate::lock_queue::LockQueue;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use crate::state::{Event, Server, Window};

/// The worst class of all ranks.
fn worst(comm: Comm, mine: c_int) -> c_int {
    let mut worst = ERR_OTHER;
    // SAFETY: locals; all ranks are here.
    let error =
        unsafe { pmpi::MPI_Allreduce((&raw const mine).cast(), (&raw mut worst).cast(), 1, INT, MAX, comm) };
    if error == SUCCESS { worst } else { class(error) }
}

impl Server {
    /// All members have asked for this.
    pub fn window_agreed(&mut self, record: &mut Record, number: i64) -> c_int {
        let done = match record.op {
            op::WIN_CREATE => self.make_window(record, number),
            op::WIN_FREE => self.free_window(record),
            _ => {
                let hints = self.hints(record);
                let window = self.windows.get(&(record.args[3] as u32));
                match (window, hints.info()) {
                    (None, _) => Err(ERR_WIN),
                    (_, None) => Ok(()),
                    (Some(window), Some(info)) => {
                        // SAFETY: handles of this process.
                        let error = unsafe { pmpi::MPI_Win_set_info(window.native, info) };
                        if error == SUCCESS { Ok(()) } else { Err(error) }
                    }
                }
            }
        };
        done.err().unwrap_or(SUCCESS)
    }

    fn make_window(&mut self, record: &mut Record, number: i64) -> Result<(), c_int> {
        let parent = record.comm as usize;
        // An error of one rank is one of all, or the others would wait for it.
        let exposed = match record.args[4] as c_int {
            SUCCESS => self.exposed(record, true),
            class => Err(class),
        };
        let mine = exposed.as_ref().err().copied().unwrap_or(SUCCESS);
        let worst = worst(parent, mine);
        let (at, view) = exposed.unwrap_or((core::ptr::null_mut(), None));
        if worst != SUCCESS {
            return Err(worst);
        }
        let (mut comm, mut native) = (COMM_NULL, WIN_NULL);
        let (bytes, unit) = (record.args[1] as isize, record.args[2] as isize);
        let dynamic = record.args[7] as c_int == FLAVOR_DYNAMIC;
        let hints = self.hints(record);
        // SAFETY: the memory is mapped as long as the window; locals.
        let error = unsafe {
            pmpi::MPI_Comm_dup(parent, &raw mut comm);
            pmpi::MPI_Comm_set_errhandler(comm, ERRORS_RETURN);
            match dynamic {
                true => pmpi::MPI_Win_create_dynamic(hints.0, comm, &raw mut native),
                false => pmpi::MPI_Win_create_c(at.cast(), bytes, unit, hints.0, comm, &raw mut native),
            }
        };
        if error != SUCCESS {
            return Err(error);
        }
        let model = begin(native);
        self.creations.register(comm, number);
        let error = self.facts(record, comm);
        let size = record.args[1] as usize;
        let mut distances = Vec::new();
        if dynamic {
            let mine = self.distance();
            distances.resize(size, 0i64);
            // SAFETY: a list with a place for each rank.
            unsafe {
                let (from, to) = ((&raw const mine).cast(), distances.as_mut_ptr().cast());
                pmpi::MPI_Allgather(from, 1, INT64, to, 1, INT64, comm);
            }
        }
        self.windows_made += 1;
        record.out[1] = self.windows_made.into();
        record.out[2] = model as u64;
        let window = Window {
            native,
            comm,
            distances,
            view,
            lock: LockQueue::default(),
            heard: Box::new(0),
            came: 0,
            sent: vec![0; size],
            exposure: None,
        };
        self.windows.insert(self.windows_made, window);
        self.listen(self.windows_made);
        if error == SUCCESS { Ok(()) } else { Err(error) }
    }

    fn free_window(&mut self, record: &Record) -> Result<(), c_int> {
        let number = record.args[3] as u32;
        let worst = worst(record.comm as usize, record.args[4] as c_int);
        if worst != SUCCESS {
            return Err(worst);
        }
        let Some(window) = self.windows.get(&number) else { return Err(ERR_WIN) };
        let mut sent = 0;
        // SAFETY: a list with a place for each rank, and a local.
        unsafe {
            let (from, to) = (window.sent.as_ptr().cast(), (&raw mut sent).cast());
            pmpi::MPI_Reduce_scatter_block(from, to, 1, INT, SUM, window.comm);
        }
        self.hear_the_rest(number, sent);
        let Some(mut window) = self.windows.remove(&number) else { return Err(ERR_WIN) };
        self.creations.forget(window.comm);
        // SAFETY: nobody uses the window any more.
        let error = unsafe {
            pmpi::MPI_Win_unlock_all(window.native);
            let error = pmpi::MPI_Win_free(&raw mut window.native);
            pmpi::MPI_Comm_free(&raw mut window.comm);
            error
        };
        if let Some((at, bytes)) = window.view {
            crate::protocol::sys::unmap(at, bytes);
        }
        if error == SUCCESS { Ok(()) } else { Err(error) }
    }

    /// Takes the messages about locks that are still on their way, and ends the listener.
    fn hear_the_rest(&mut self, number: u32, sent: c_int) {
        while let Some(at) = self.works.iter().position(|w| matches!(w.event, Event::Heard(n) if n == number))
        {
            let mut request = self.requests.swap_remove(at);
            self.works.swap_remove(at);
            let mut status = Status::default();
            let more = self.windows.get(&number).is_some_and(|w| w.came < sent);
            // SAFETY: a receive of this process whose buffer stays until it is over.
            unsafe {
                if !more {
                    pmpi::MPI_Cancel(&raw mut request);
                }
                pmpi::MPI_Wait(&raw mut request, &raw mut status);
            }
            if more {
                self.hear(number, status.source);
            }
        }
    }
}

/// Opens the lock that lasts as long as the window; gives the memory model.
fn begin(native: Win) -> c_int {
    let (mut model, mut flag) = (core::ptr::null_mut::<c_int>(), 0);
    // SAFETY: a window of this process; the attribute is a pointer to an int.
    unsafe {
        pmpi::MPI_Win_set_errhandler(native, ERRORS_RETURN);
        pmpi::MPI_Win_lock_all(MODE_NOCHECK, native);
        pmpi::MPI_Win_get_attr(native, WIN_MODEL, (&raw mut model).cast(), &raw mut flag);
        if flag != 0 && !model.is_null() { *model } else { WIN_UNIFIED }
    }
}
