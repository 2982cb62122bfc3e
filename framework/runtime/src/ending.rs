//! The end of an instance, its rest, and its waking (the essay is in `instance`).

use crate::objects::{Communicator, Instance};
use crate::spc;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

impl Instance {
    /// Ends the instance: flushes queued messages, prints counters, closes communicators, windows and components, and
    /// tells the keeper. Later calls do nothing. All requests have been waited for and no other thread is in the
    /// library.
    pub fn finalize(&self) -> Result<(), Error> {
        if self.in_child() || self.life().finalized.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        if self.life().resting.load(Ordering::Acquire) {
            self.close();
            return Ok(());
        }
        // SAFETY: no other thread is in the library, so the context of who makes calls alone is this one's.
        let flushed = self.flush(&mut unsafe { self.entry(self.main_thread()) });
        self.dump_counters();
        self.close();
        self.client().finalized();
        flushed
    }

    /// Closes all communicators but world and self, and tells the keeper that the process may end.
    /// All requests have been waited for, queued messages sent ([`Instance::flush`]), and no other
    /// thread is in the library.
    pub fn rest(&self) {
        if self.in_child() || self.life().finalized.load(Ordering::Acquire) {
            return;
        }
        self.life().resting.store(true, Ordering::Release);
        self.dump_counters();
        self.close_files(false);
        self.close_windows();
        let live = std::mem::take(&mut *self.life().live.lock());
        let predefined = self.life().predefined.lock();
        let kept = |c: &Arc<Communicator>| {
            predefined.as_ref().is_some_and(|p| Arc::ptr_eq(c, &p.world) || Arc::ptr_eq(c, &p.self_comm))
        };
        for communicator in live.iter().filter_map(Weak::upgrade) {
            match kept(&communicator) {
                true => self.life().live.lock().push(Arc::downgrade(&communicator)),
                false => communicator.close(),
            }
        }
        // The program goes on with its memory, perhaps without MPI.
        self.empty_cache(false);
        self.client().finalized();
    }

    /// Takes an instance that rests back into use: tells the keeper that the process is in MPI again. An error in a
    /// forked child and after `finalize`.
    pub fn wake(&self) -> Result<(), Error> {
        if self.in_child() || self.life().finalized.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::Other, "this process has no part in the job any more"));
        }
        self.client().resumed()?;
        self.life().resting.store(false, Ordering::Release);
        Ok(())
    }

    /// Closes MPI_COMM_WORLD and MPI_COMM_SELF for good; they are not made again.
    pub fn end_world(&self) {
        if self.in_child() {
            return;
        }
        let predefined = self.life().predefined.lock().take();
        if let Some(p) = predefined {
            p.world.close();
            p.self_comm.close();
        }
    }

    /// Prints the counters of this rank to the standard error, if `mpi_spc_dump_enabled` is set.
    fn dump_counters(&self) {
        if self.host_params().spc_dump {
            let (rank, attached) = (self.job().rank, &self.host_params().spc_attach);
            let (counters, messages, cris) = (self.counters(), self.message_counts(), self.cri_counts());
            let text = spc::dump(rank, attached, &counters, &messages, &cris, self.algorithms_taken());
            oxmpi_system::report!("{text}");
        }
    }

    /// Waits, with progress, until the PML has handed everything that this rank has sent to the transports.
    pub fn flush(&self, entry: &mut Entry) -> Result<(), Error> {
        if self.in_child() {
            return Ok(());
        }
        let Some(pml) = self.pml() else { return Ok(()) };
        let mut answer = Status::PENDING;
        self.wait_until(entry, |_| {
            answer = (pml.table.flush)(pml.state);
            answer != Status::PENDING
        });
        match answer.is_err() {
            true => Err(Error::status(answer, "messages could not be sent before the end")),
            false => Ok(()),
        }
    }

    /// Closes windows, communicators and everything that the instance has opened, in the order users before what they
    /// use. Called once, by the end of the instance.
    fn close(&self) {
        self.close_files(true);
        self.close_windows();
        let predefined = self.life().predefined.lock().take();
        let live = std::mem::take(&mut *self.life().live.lock());
        for communicator in live.iter().filter_map(Weak::upgrade) {
            communicator.close();
        }
        drop(predefined);
        self.waiting().engine().clear();
        self.empty_cache(true);
        self.end_service();
        self.end_emulation();
        self.waiting().end();
        if let Some(parts) = self.parts() {
            parts.close(self.logger(), self.transports());
        }
        self.end_cache();
        self.end_node_memory();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !self.in_child() && !self.life().finalized.swap(true, Ordering::AcqRel) {
            self.close();
        }
    }
}
