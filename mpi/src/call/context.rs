//! Where a thread's context is found once there are several: a word of each thread's own.
//!
//! A thread-local variable of a shared library costs a call and the registers that it may overwrite (the general model: the
//! library may be loaded at any time). One word is little enough for the space that the loader keeps free for
//! libraries that come late, so on x86-64 it is in the *initial-exec* model, where it is found by two loads. Elsewhere it
//! is an ordinary thread-local.

pub use word::{get, set};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod word {
    use core::arch::{asm, global_asm};
    use core::ptr::with_exposed_provenance_mut;
    use oxmpi_mca::ThreadCtx;

    global_asm!(
        ".pushsection .tbss.oxmpi_own_context,\"awT\",@nobits",
        ".hidden oxmpi_own_context",
        ".globl oxmpi_own_context",
        ".type oxmpi_own_context,@object",
        ".size oxmpi_own_context,8",
        ".p2align 3",
        "oxmpi_own_context:",
        ".zero 8",
        ".popsection",
    );

    /// The context that the calling thread has set, or null.
    #[inline(always)]
    pub fn get() -> *mut ThreadCtx {
        let context: usize;
        // SAFETY: the offset of the variable from the thread pointer is what the linker put there for it; only this
        // thread writes it.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + oxmpi_own_context@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) context,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        with_exposed_provenance_mut(context)
    }

    pub fn set(context: *mut ThreadCtx) {
        // SAFETY: the offset is the linker's, and the variable is this thread's alone.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + oxmpi_own_context@GOTTPOFF]",
                "mov qword ptr fs:[{0}], {1}",
                out(reg) _,
                in(reg) context.expose_provenance(),
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod word {
    use core::cell::Cell;
    use core::ptr::null_mut;
    use oxmpi_mca::ThreadCtx;

    thread_local! {
        static CONTEXT: Cell<*mut ThreadCtx> = const { Cell::new(null_mut()) };
    }

    /// The context that the calling thread has set, or null.
    #[inline(always)]
    pub fn get() -> *mut ThreadCtx {
        CONTEXT.get()
    }

    pub fn set(context: *mut ThreadCtx) {
        CONTEXT.set(context);
    }
}

#[cfg(test)]
mod tests {
    use super::{get, set};
    use core::ptr::{null_mut, without_provenance_mut};

    #[test]
    fn each_thread_has_its_own() {
        assert!(get().is_null());
        set(without_provenance_mut(64));
        std::thread::scope(|s| {
            for n in 1..8 {
                s.spawn(move || {
                    assert!(get().is_null(), "it begins with none");
                    set(without_provenance_mut(64 + n));
                    std::thread::yield_now();
                    assert_eq!(get().addr(), 64 + n);
                });
            }
        });
        assert_eq!(get().addr(), 64);
        set(null_mut());
        assert!(get().is_null());
    }
}
