//! Data that belongs to the holders of CRIs' locks, reached by the proofs of holding them.
//!
//! | type | whose | reached by |
//! |---|---|---|
//! | [`PerCri`] | one value for each CRI | the guard's own number |
//! | [`OfCri`] | of one CRI, which it names | a guard, whose number is compared in every build |
//! | [`UnderAll`] | of all CRIs | any guard to read it, the guard of all of them to change it |
//!
//! Access borrows the guard mutably, so that of all data under one guard one thing is borrowed at a time: nested access does not compile. A call of the host that may
//! come back (a transport's verb) borrows it, too. Data under the guard of all may be had beside the guard of one, which keeps it as it is ([`UnderAll::beside`]).

use crate::cri::{CriGuard, set_below};
use crate::holding::CriSetGuard;
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;

/// One value for each CRI.
pub struct PerCri<T>(Box<[UnsafeCell<T>]>);

// SAFETY: a value is reached by `get` alone, whose guard says that its thread holds the CRI of that number; so threads touch it one after the
// other, for which `Send` is enough.
unsafe impl<T: Send> Sync for PerCri<T> {}

impl<T> PerCri<T> {
    /// Values in the order of the CRIs, one for each of the instance.
    pub fn new(values: impl IntoIterator<Item = T>) -> PerCri<T> {
        PerCri(values.into_iter().map(UnsafeCell::new).collect())
    }

    /// The value of the CRI that is held. Panics where there is none of that number.
    #[inline(always)]
    pub fn get<'s>(&'s self, held: &'s mut CriGuard<'_>) -> &'s mut T {
        // SAFETY: the CRI of that number is held, by one guard in one thread, and that guard is borrowed as long as the result lives.
        unsafe { &mut *self.0[held.ctx() as usize].get() }
    }
}

/// A value that belongs to one CRI. Its number stands in front of it.
#[repr(C)]
pub struct OfCri<T> {
    ctx: u32,
    value: UnsafeCell<T>,
}

// SAFETY: as for `PerCri`; the number is compared in every access.
unsafe impl<T: Send> Sync for OfCri<T> {}

impl<T> OfCri<T> {
    /// A value of CRI `ctx`.
    pub const fn new(ctx: u32, value: T) -> OfCri<T> {
        OfCri { ctx, value: UnsafeCell::new(value) }
    }

    /// Number of the CRI to which it belongs.
    #[inline(always)]
    pub const fn ctx(&self) -> u32 {
        self.ctx
    }

    /// The value. Panics where another CRI is held.
    #[inline(always)]
    pub fn get<'s>(&'s self, held: &'s mut CriGuard<'_>) -> &'s mut T {
        if held.ctx() != self.ctx {
            another(held.ctx());
        }
        // SAFETY: its CRI is held, by one guard in one thread, and that guard is borrowed as long as the result lives.
        unsafe { &mut *self.value.get() }
    }

    /// Calls `f` with the value. Panics where another CRI is held.
    #[inline(always)]
    pub fn with<R>(&self, held: &mut CriGuard<'_>, f: impl FnOnce(&mut T) -> R) -> R {
        f(self.get(held))
    }
}

/// Refuses the guard of another CRI.
#[cold]
#[inline(never)]
#[track_caller]
fn another(held: u32) -> ! {
    panic!("data of another CRI was asked for than CRI {held}, which is held")
}

/// A value that all CRIs share: read by whoever holds any of them, changed by who holds them all.
pub struct UnderAll<T> {
    /// As many CRIs as the instance has.
    cris: u32,
    value: UnsafeCell<T>,
}

// SAFETY: it is read under any CRI and changed under all, so never both at once; `Sync` for several readers, `Send` because any holder of all may change it.
unsafe impl<T: Send + Sync> Sync for UnderAll<T> {}

impl<T> UnderAll<T> {
    /// A value of an instance with so many CRIs.
    pub const fn new(cris: u32, value: T) -> UnderAll<T> {
        UnderAll { cris, value: UnsafeCell::new(value) }
    }

    /// The value, for whoever holds a CRI.
    #[inline(always)]
    pub fn read<'s>(&'s self, _held: &'s CriGuard<'_>) -> &'s T {
        // SAFETY: a CRI is held as long as the result lives, so nobody holds all of them but through this very guard, which is borrowed.
        unsafe { &*self.value.get() }
    }

    /// The value, for whoever holds a CRI, and the proof of that beside it: the value stays as it is while the CRI is held.
    #[inline(always)]
    pub fn beside<'s>(&'s self, held: &'s mut CriGuard<'_>) -> (&'s T, ManuallyDrop<CriGuard<'s>>) {
        // SAFETY: a CRI is held as long as both live, by the guard that is borrowed; nobody holds all of them meanwhile, nor does this thread: that takes the
        // entry, which the guard has borrowed.
        (unsafe { &*self.value.get() }, held.lend())
    }

    /// The value, for who holds all CRIs. Panics where one is missing.
    pub fn write<'s>(&'s self, all: &'s mut CriSetGuard<'_>) -> &'s mut T {
        let missing = set_below(self.cris) & !all.set();
        assert!(
            missing == 0,
            "data of all CRIs was to be changed without holding those of the set {missing:#x}"
        );
        // SAFETY: all CRIs are held, by this guard, which is borrowed as long as the result lives.
        unsafe { &mut *self.value.get() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Cri, Cris, Entry, LockServices};

    fn cris() -> Vec<Cri> {
        (0..2).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect()
    }

    #[test]
    fn data_is_reached_by_the_guard_s_own_number() {
        let (cris, values) = (cris(), PerCri::new([10, 20]));
        let mut entry = Entry::among();
        for ctx in 0..2 {
            *values.get(&mut Cris::new(&cris).hold(&mut entry, ctx)) += 1;
        }
        let mut all = Cris::new(&cris).hold_set(&mut entry, 0b11);
        assert_eq!(*values.get(&mut all.held(0)), 11);
        assert_eq!(*values.get(&mut all.held(1)), 21);
    }

    #[test]
    #[should_panic(expected = "data of another CRI was asked for than CRI 0")]
    fn the_guard_of_another_cri_is_refused() {
        let (cris, value) = (cris(), OfCri::new(1, 7));
        let mut entry = Entry::among();
        assert_eq!(*value.get(&mut Cris::new(&cris).hold(&mut entry, 1)), 7);
        value.get(&mut Cris::new(&cris).hold(&mut entry, 0));
    }

    #[test]
    #[should_panic(expected = "without holding those of the set 0x2")]
    fn data_of_all_is_not_changed_under_some() {
        let (cris, value) = (cris(), UnderAll::new(2, 7));
        let mut entry = Entry::among();
        *value.write(&mut Cris::new(&cris).hold_set(&mut entry, 0b11)) += 1;
        assert_eq!(*value.read(&Cris::new(&cris).hold(&mut entry, 1)), 8);
        value.write(&mut Cris::new(&cris).hold_set(&mut entry, 0b01));
    }
}
