//! The author's side of a collective component: one safe trait, from which [`module`] makes the functions that the host calls.

use crate::table::*;
use core::ffi::c_void;
use oxmpi_mca::{SliceRef, Status, StrRef};

/// A collective component of one instance.
pub trait Coll: Send + Sync + Sized + 'static {
    /// Its state for one communicator.
    type Module: Send + Sync + 'static;

    /// Looks at a new communicator, and answers the priority and the module to serve it with. `None`: does not want it (`rank` and `num_ranks` of `comm` are set, it may not
    /// communicate yet). The answer and the priority follow from facts that are equal in all ranks of the communicator: what one rank alone may lack
    /// is tried in [`prepare`](Coll::prepare). Called by one thread at a time for a communicator; others may be asked about at the same time.
    fn query(&self, comm: &CollComm) -> Option<(i32, Self::Module)>;
    /// The collectives it has; the same for all its communicators.
    const TABLE: CollTable;
    /// Those it can plan (see the crate's text).
    const PLANS: Option<CollTable> = None;
    /// It takes inter-communicators, too.
    const INTER: bool = false;
    /// It uses `node_memory` or `sub_comm`.
    const NESTS: bool = false;
    /// It has something to [`prepare`](Coll::prepare).
    const PREPARES: bool = false;
    /// Names of its algorithms, each with its operation's before it (`bcast_binomial`), for counters that tools read; their numbers in the list are what
    /// [`CollServices::tell_algorithm`] takes.
    const ALGORITHMS: &'static [StrRef] = &[];
    /// Gets ready for blocking collectives on the communicator, as [`CollModule::comm_prepare`] says. An error: this rank is not served, and so no
    /// rank is.
    fn prepare(&self, module: &Self::Module, comm: &CollComm) -> Result<(), Status> {
        let _ = (module, comm);
        Ok(())
    }
    /// Ends the component: the last call, when no module of it is left.
    fn finalize(&self) {}
}

/// The module of a coll component as its `open` returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CollModule {
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// First argument of `comm_query`, `comm_free` and `finalize`.
    pub state: *mut c_void,
    /// OK: `offer` filled. NOT_AVAILABLE: not this communicator. All ranks of a communicator must answer alike, with the same priority, so a component
    /// answers by facts that are equal in all of them: the number of ranks and nodes, the launcher's word, parameters. A step that may fail in one rank alone
    /// belongs to `comm_prepare`.
    pub comm_query: extern "C" fn(*mut c_void, *const CollComm, offer: *mut CollOffer) -> Status,
    /// Gives back a module that `comm_query` made.
    pub comm_free: extern "C" fn(*mut c_void, module: *mut c_void),
    /// Ends the component and frees `state`: the last call, when all its modules were given back.
    pub finalize: extern "C" fn(*mut c_void),
    /// Gets a module ready, or null: there is nothing to prepare. Called in every rank of the communicator, once, before the first blocking collective that
    /// a function of its `table` would serve, before that function; not on inter-communicators. Everything that may fail in one rank alone is tried here: mapping
    /// memory, reaching the memory of peers. It may communicate by the services, all of them but those of plans, and then goes on with its messages
    /// whatever has failed, as a collective does. An error refuses: when all ranks are through, the host asks whether one has refused, and then takes the
    /// functions of this component out of the stack of all, so that those below serve this collective and the later ones. NOT_AVAILABLE refuses
    /// without a word in the log. Plans do not wait for it, and are taken out with the rest; those that were made stay, and with them the module.
    /// Modules of coll 2.1 end before this field.
    pub comm_prepare:
        Option<extern "C" fn(*mut c_void, module: *mut c_void, comm: *const CollComm) -> Status>,
    /// Names of the component's algorithms, lower-case words, each with its operation's before it (`bcast_binomial`); none: nothing is counted. Tools see `coll_`, the component's
    /// name and this. A static list, of which a number is what [`CollServices::took`] takes. Modules of coll 2.3 end before this field.
    pub algorithms: SliceRef<StrRef>,
}

impl oxmpi_mca::component::Module for CollModule {
    const TABLE_VERSION: u32 = TABLE_VERSION;
}

extern "C" fn comm_query<T: Coll>(s: *mut c_void, comm: *const CollComm, offer: *mut CollOffer) -> Status {
    let run = std::panic::AssertUnwindSafe(|| {
        // SAFETY: the host passes the state `module` made and valid pointers.
        let (coll, comm) = unsafe { (&*(s as *const T), &*comm) };
        match coll.query(comm) {
            Some((priority, module)) => {
                // SAFETY: the host's out pointer.
                unsafe {
                    *offer = CollOffer {
                        priority,
                        reserved: 0,
                        module: Box::into_raw(Box::new(module)).cast(),
                        table: const { &T::TABLE },
                        plans: const { &T::PLANS }.as_ref().map_or(core::ptr::null(), |t| t),
                    }
                }
                Status::OK
            }
            None => Status::NOT_AVAILABLE,
        }
    });
    std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
}

extern "C" fn comm_free<T: Coll>(_s: *mut c_void, module: *mut c_void) {
    // SAFETY: made by `comm_query`, given back once.
    drop(unsafe { Box::from_raw(module as *mut T::Module) });
}

extern "C" fn comm_prepare<T: Coll>(s: *mut c_void, module: *mut c_void, comm: *const CollComm) -> Status {
    let run = std::panic::AssertUnwindSafe(|| {
        // SAFETY: the host passes the state `module` made, a module that `comm_query` made, and a communicator that is valid during the call.
        let (coll, module, comm) = unsafe { (&*(s as *const T), &*(module as *const T::Module), &*comm) };
        coll.prepare(module, comm).map_or_else(|status| status, |()| Status::OK)
    });
    std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
}

extern "C" fn finalize<T: Coll>(s: *mut c_void) {
    // SAFETY: last call; `module` made it.
    let coll = unsafe { Box::from_raw(s as *mut T) };
    coll.finalize();
}

/// The module of a component, for `open`'s list.
pub fn module<T: Coll>(coll: T) -> CollModule {
    CollModule {
        size: core::mem::size_of::<CollModule>() as u32,
        flags: if T::INTER { flag::INTER } else { 0 } | if T::NESTS { flag::NESTS } else { 0 },
        state: Box::into_raw(Box::new(coll)).cast(),
        comm_query: comm_query::<T>,
        comm_free: comm_free::<T>,
        finalize: finalize::<T>,
        comm_prepare: if T::PREPARES { Some(comm_prepare::<T>) } else { None },
        algorithms: SliceRef::new(T::ALGORITHMS),
    }
}
