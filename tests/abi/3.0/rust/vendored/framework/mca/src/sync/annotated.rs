//! Atomics for runs under valgrind's helgrind and DRD (`cargo xtask sanitize --helgrind`), in no other build.
//!
//! Those tools know the synchronisation of libpthread and nothing else: to them a release store is a plain store, and
//! everything it publishes looks like a race. So each atomic here says what the memory model says: a release is a
//! "happens before" on its address, an acquire a "happens after", and the word itself is not looked at. A fence is
//! both on one address for all, and so is a compiler fence, which this library pairs with membarrier: that is more order
//! than there is, so races between threads that both passed a fence are missed (the models have those).
//! The reports that remain are races of plain data.
//!
//! A client request is a sequence of instructions that does nothing outside valgrind. Numbers and registers are
//! those of valgrind's `valgrind.h`, `helgrind.h` and `drd.h`.

pub use core::sync::atomic::Ordering;

const HELGRIND: u64 = ((b'H' as u64) << 24) | ((b'G' as u64) << 16);
const DRD: u64 = ((b'D' as u64) << 24) | ((b'R' as u64) << 16);
/// Understood by both.
const HAPPENS_BEFORE: u64 = HELGRIND + 256 + 33;
const HAPPENS_AFTER: u64 = HELGRIND + 256 + 34;
const HELGRIND_UNTRACKED: u64 = HELGRIND + 256 + 39;
const DRD_SUPPRESSED: u64 = DRD + 2;

/// Stands for the address of all fences; a name, nothing is there.
const FENCE: usize = 8;

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn request(code: u64, address: usize, bytes: u64) {
    let arguments = [code, address as u64, bytes, 0, 0, 0];
    // SAFETY: four rotations that together turn by nothing, and an exchange of a register with itself. Under
    // valgrind the request reads the arguments and writes the default answer, 0, to rdx.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0u64 => _,
        );
    }
}
#[cfg(not(target_arch = "x86_64"))]
compile_error!("annotated atomics are written for x86-64");

/// The word itself is atomic; accesses to it are no races.
#[inline(always)]
fn exempt<T>(word: *const T) {
    request(HELGRIND_UNTRACKED, word as usize, size_of::<T>() as u64);
    request(DRD_SUPPRESSED, word as usize, size_of::<T>() as u64);
}
#[inline(always)]
fn before<T>(word: *const T, order: Ordering) {
    exempt(word);
    if matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
        request(HAPPENS_BEFORE, word as usize, 0);
    }
}
#[inline(always)]
fn after<T>(word: *const T, order: Ordering) {
    if matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
        request(HAPPENS_AFTER, word as usize, 0);
    }
}

/// The standard library's fence, told to the tools as a release and an acquire of one address.
#[inline(always)]
pub fn fence(order: Ordering) {
    request(HAPPENS_BEFORE, FENCE, 0);
    core::sync::atomic::fence(order);
    request(HAPPENS_AFTER, FENCE, 0);
}
/// A full fence to the tools and to the processor: the protocol pairs it with a barrier on all cores that the tools do not see.
#[inline(always)]
pub fn compiler_fence(order: Ordering) {
    fence(order);
}

macro_rules! common {
    ([$($generic:ident)?] $name:ident, $value:ty) => {
        impl$(<$generic>)? $name$(<$generic>)? {
            /// A word with this value.
            #[inline(always)]
            pub const fn new(value: $value) -> Self {
                $name(core::sync::atomic::$name::new(value))
            }
            /// The word at this address.
            ///
            /// # Safety
            /// `word` is aligned, and valid to read and to write for `'a`; meanwhile it is reached by atomic operations alone.
            #[inline(always)]
            pub unsafe fn from_ptr<'a>(word: *mut $value) -> &'a Self {
                // SAFETY: transparent; the rest is the caller's promise.
                unsafe { &*word.cast::<Self>() }
            }
            /// The word's address.
            #[inline(always)]
            pub fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }
            /// The value, which nobody else reaches meanwhile.
            #[inline(always)]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
            /// The value, when the word is not needed any more.
            #[inline(always)]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }
            /// As the standard library's `load`; an acquire is told to the tools.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                before(self, Ordering::Relaxed);
                let value = self.0.load(order);
                after(self, order);
                value
            }
            /// As the standard library's `store`; a release is told to the tools.
            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                before(self, order);
                self.0.store(value, order);
            }
            /// As the standard library's `swap`, with its order told to the tools.
            #[inline(always)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                before(self, order);
                let old = self.0.swap(value, order);
                after(self, order);
                old
            }
            /// As the standard library's `compare_exchange`, with the order that it had told to the tools.
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                order: Ordering,
                otherwise: Ordering,
            ) -> Result<$value, $value> {
                before(self, order);
                let answer = self.0.compare_exchange(current, new, order, otherwise);
                after(self, if answer.is_ok() { order } else { otherwise });
                answer
            }
            /// As [`Self::compare_exchange`]; it does not fail by chance.
            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                order: Ordering,
                otherwise: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, order, otherwise)
            }
            /// As the standard library's `fetch_update`, with the order that it had told to the tools.
            #[inline(always)]
            pub fn fetch_update(
                &self,
                order: Ordering,
                read: Ordering,
                update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                before(self, order);
                let answer = self.0.fetch_update(order, read, update);
                after(self, if answer.is_ok() { order } else { read });
                answer
            }
        }
        impl$(<$generic>)? core::fmt::Debug for $name$(<$generic>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(f)
            }
        }
        impl$(<$generic>)? Default for $name$(<$generic>)? {
            fn default() -> Self {
                $name(Default::default())
            }
        }
    };
}

macro_rules! read_modify_write {
    ($name:ident, $value:ty: $($verb:ident)*) => {
        impl $name {
            $(
                #[doc = concat!("As the standard library's `", stringify!($verb), "`, with its order told to the tools.")]
                #[inline(always)]
                pub fn $verb(&self, value: $value, order: Ordering) -> $value {
                    before(self, order);
                    let old = self.0.$verb(value, order);
                    after(self, order);
                    old
                }
            )*
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ty;)*) => { $(
        /// The standard library's atomic of the same name, and its orders told to the tools.
        #[repr(transparent)]
        pub struct $name(core::sync::atomic::$name);
        common!([] $name, $value);
        read_modify_write!($name, $value:
            fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_max fetch_min);
    )* };
}

integers! {
    AtomicU8 u8;
    AtomicU32 u32;
    AtomicU64 u64;
    AtomicUsize usize;
    AtomicI32 i32;
    AtomicI64 i64;
}

/// The standard library's atomic of the same name, and its orders told to the tools.
#[repr(transparent)]
pub struct AtomicBool(core::sync::atomic::AtomicBool);
common!([] AtomicBool, bool);
read_modify_write!(AtomicBool, bool: fetch_and fetch_or fetch_xor);

/// The standard library's atomic of the same name, and its orders told to the tools.
#[repr(transparent)]
pub struct AtomicPtr<T>(core::sync::atomic::AtomicPtr<T>);
common!([T] AtomicPtr, *mut T);
