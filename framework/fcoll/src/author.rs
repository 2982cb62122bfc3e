//! The author's side of a planner: one safe trait, from which [`module`] makes the functions that the host calls.

use crate::call::Call;
use crate::table::*;
use core::ffi::c_void;
use oxmpi_mca::Status;

/// A component that plans collective file access, of one instance.
pub trait Fcoll: Send + Sync + Sized + 'static {
    /// Looks at a file, and answers the priority to plan its accesses with. `None`: not this one. All ranks answer alike, so it follows from `facts` and parameters alone.
    fn query(&self, facts: &FcollFacts) -> Option<i32>;
    /// Writes down the plan of one collective access. It ends with one call of [`Call::moved`] in every rank. An error is one that all ranks come to.
    fn plan(&self, call: &Call<'_>) -> Result<(), Status>;
    /// Ends the component: the last call, when all files are closed.
    fn finalize(&self) {}
}

extern "C" fn query<T: Fcoll>(state: *mut c_void, facts: *const FcollFacts, priority: *mut i32) -> Status {
    let run = std::panic::AssertUnwindSafe(|| {
        // SAFETY: the host passes the state that `module` made, and facts that are there during the call.
        let (planner, facts) = unsafe { (&*(state as *const T), &*facts) };
        planner.query(facts)
    });
    match std::panic::catch_unwind(run) {
        Ok(Some(answer)) => {
            // SAFETY: the host's place for the answer.
            unsafe { *priority = answer };
            Status::OK
        }
        Ok(None) => Status::NOT_AVAILABLE,
        Err(_) => Status::PANICKED,
    }
}

extern "C" fn plan<T: Fcoll>(state: *mut c_void, args: *const PlanArgs) -> Status {
    let run = std::panic::AssertUnwindSafe(|| {
        // SAFETY: as above; the arguments are there during the call, what they lead to until the plan has ended.
        let (planner, call) = unsafe { (&*(state as *const T), Call::of(&*args)) };
        planner.plan(&call).err().unwrap_or(Status::OK)
    });
    std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
}

extern "C" fn finalize<T: Fcoll>(state: *mut c_void) {
    // SAFETY: the last call; `module` made the state.
    let planner = unsafe { Box::from_raw(state as *mut T) };
    planner.finalize();
}

/// The table of a planner's functions, at an address of its own.
struct Table<T>(core::marker::PhantomData<T>);

impl<T: Fcoll> Table<T> {
    const TABLE: FcollTable =
        FcollTable { size: size_of::<FcollTable>() as u32, version: TABLE_VERSION, plan: plan::<T> };
}

/// The module of a component, for `open`'s list.
pub fn module<T: Fcoll>(planner: T) -> FcollModule {
    FcollModule {
        size: size_of::<FcollModule>() as u32,
        reserved: 0,
        state: Box::into_raw(Box::new(planner)).cast(),
        table: const { &Table::<T>::TABLE },
        query: query::<T>,
        finalize: finalize::<T>,
    }
}
