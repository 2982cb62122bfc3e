//! Locks of cold paths: parking_lot's. In builds for valgrind (`--cfg oxmpi_annotated`) they are made of an atomic word
//! that says what it orders, since those tools do not know parking_lot's.

#[cfg(oxmpi_annotated)]
pub use annotated::{Condvar, Mutex, MutexGuard, RwLock};
#[cfg(not(oxmpi_annotated))]
pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};

#[cfg(oxmpi_annotated)]
mod annotated {
    use oxmpi_mca::Lock;
    use parking_lot::lock_api::{self, RawMutex};

    /// A lock of an atomic word, as lock_api asks for it.
    pub struct Raw(Lock);

    // SAFETY: `Lock` excludes, and orders what is done under it.
    unsafe impl RawMutex for Raw {
        #[allow(clippy::declare_interior_mutable_const, reason = "lock_api asks for it")]
        const INIT: Raw = Raw(Lock::new());
        type Guard = ();
        fn lock(&self) {
            self.0.lock();
        }
        fn try_lock(&self) -> Option<()> {
            self.0.try_lock().then_some(())
        }
        unsafe fn unlock(&self, _: ()) {
            // SAFETY: the caller holds the mutex, so it took this lock by one of the functions above.
            unsafe { self.0.unlock() };
        }
        fn is_locked(&self) -> bool {
            self.0.try_guard().is_none()
        }
    }

    pub type Mutex<T> = lock_api::Mutex<Raw, T>;
    pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, Raw, T>;

    /// A lock for readers and writers that lets in one at a time, readers, too.
    #[derive(Default)]
    pub struct RwLock<T>(Mutex<T>);

    impl<T> RwLock<T> {
        /// Makes a lock that nobody holds, around a value.
        pub const fn new(value: T) -> RwLock<T> {
            RwLock(Mutex::new(value))
        }
        /// Takes the lock for reading; other readers wait, too.
        pub fn read(&self) -> MutexGuard<'_, T> {
            self.0.lock()
        }
        /// Takes the lock for writing.
        pub fn write(&self) -> MutexGuard<'_, T> {
            self.0.lock()
        }
    }

    /// A condition on which waiters look again, over and over, without being woken.
    #[derive(Debug, Default)]
    pub struct Condvar;

    impl Condvar {
        /// Makes a condition.
        pub const fn new() -> Condvar {
            Condvar
        }
        /// Does nothing: waiters look again by themselves.
        pub fn notify_all(&self) {}
        /// Releases the lock, yields the core once and takes the lock again; the caller looks at its condition then.
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            lock_api::MutexGuard::unlocked(guard, std::thread::yield_now);
        }
    }
}
