//! A process of another job parts for good (MPI_Comm_disconnect): its peers are freed.
//!
//! By then no communicator has it, and all that both have said to each other has come. Only words of the protocols may still be on their way: an index that
//! was told, credit that was returned. **Such a message is dropped.** It finds no peer, and none is made for it, since the host knows no such process
//! any more; nor is anything of the process kept for a communicator to come.
//!
//! **Nobody uses a peer when it is freed:** who uses one is in a verb that names its process, which there is none of, or holds a CRI, and all of them are held here.

use crate::ob1::Ob1;
use oxmpi_mca::{Entry, Status};

impl Ob1 {
    /// Frees what is kept of a process that has parted: its peers, what waits for room to it, and messages of it that are for no communicator. Takes all
    /// CRI locks. Does nothing where there is no such process.
    pub fn part_from(&self, entry: &mut Entry, proc: u32) -> Status {
        let mut all = self.instance().hold_all(entry);
        all.for_each(|held| {
            self.receiver().drop_early_of(held, proc);
            self.receiver().drop_kept_of(held, proc);
            self.peers().shut_on(held, proc);
        });
        // SAFETY: the host's promise, and all CRIs are held.
        unsafe { self.peers().free_process(&all, proc) };
        Status::OK
    }
}
