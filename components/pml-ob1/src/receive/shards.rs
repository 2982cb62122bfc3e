//! One shard or many: how the matching of a communicator is spread over locks, and brought together again.
//!
//! **The objects.** A communicator has a *home* shard and, once it needed them, a *table* with shards made on
//! demand. Each shard has a lock, and a flag under that lock: *open*. Exactly one of two sides is open:
//!
//! | mode | `many` | open | what a message or receive enters |
//! |---|---|---|---|
//! | one | null | home | home |
//! | many | the table | all shards of the table | the shard that the layout names for it |
//!
//! **Entering.** Read `many`, lock the shard it leads to, look at *open*. Open: the mode is still the one that
//! was read, and stays while the lock is held, because who changes it holds all these locks. Closed: begin
//! again. So a thread that slept between the two steps does no harm, and in both modes there is one lock.
//! For a call whose entry is alone there is only home, and nothing of this is looked at. Whoever is inside a shard has borrowed the entry, so that no CRI is
//! taken meanwhile, and no transport called.
//!
//! **Changing the mode.** [`Shards::spread`] and [`Shards::gather`] take home's lock and then those of all
//! shards of the table in rising order; nobody takes home's lock while holding another. They close one side,
//! move all that waits, open the other, and only then unlock. Entries that were in one shard in some order
//! stay in that order, and those that enter later come behind them. A shard that a table lacks is made under
//! home's lock, so a table gets none during a change but those that the change itself makes, which are locked
//! before anybody can see them.
//!
//! **A receive that does not fit into one shard** (one with MPI_ANY_TAG, [`Place::AllOver`]) gathers first. So in
//! mode many there is no such receive, and what decides between it and the others in mode one is the order of
//! posting, as ever. When to spread again is for the content to say (`spread.rs`): the cost of moving is
//! weighed there against what was received since.
//!
//! **Layouts.** The map from a message to its shard is a table's own and never changes: with another layout
//! comes another table. A thread that still knows the old one finds its shards closed. Tables stay until the
//! communicator goes; there are as many as layouts.
//!
//! The model (`models/shards.rs`) runs this very code.

use crate::receive::content::Content;
use crate::receive::place::{MOST, Place};
use crate::state::locked::ALWAYS;
use core::cell::UnsafeCell;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};
use oxmpi_mca::sync::{AtomicPtr, Ordering};
use oxmpi_mca::{Caller, Entry, Seat};

/// A thread is inside one shard at a time.
#[cfg(not(all(test, loom)))]
pub type Lock = oxmpi_mca::biased::BiasedLock<{ oxmpi_mca::biased::level::SHARD }>;
#[cfg(not(all(test, loom)))]
use oxmpi_mca::biased::Pass;

#[cfg(all(test, loom))]
pub use crate::models::shards::{Lock, Pass};

struct ShardState<T> {
    open: bool,
    content: T,
}

struct Shard<T> {
    lock: Lock,
    state: UnsafeCell<ShardState<T>>,
}

/// On cache lines of its own; two, because processors fetch lines in pairs.
#[repr(align(128))]
struct PaddedShard<T>(Shard<T>);

struct ShardTable<T: Content> {
    layout: T::Layout,
    /// The one before, with another layout.
    next: *mut ShardTable<T>,
    slots: [AtomicPtr<PaddedShard<T>>; MOST],
}

/// See the module's head.
pub struct Shards<T: Content> {
    /// Null: mode one.
    many: AtomicPtr<ShardTable<T>>,
    /// All tables, youngest first; guarded by home's lock.
    tables: UnsafeCell<*mut ShardTable<T>>,
    home: Shard<T>,
}

// SAFETY: contents are reached under their shards' locks, or by a call that is alone, and the list of tables under home's; `Send`, because threads have a
// content one after the other.
unsafe impl<T: Content + Send> Sync for Shards<T> {}
// SAFETY: tables and shards are its own boxes, which only it leads to.
unsafe impl<T: Content + Send> Send for Shards<T> {}

/// The inside of a shard while its lock is held, or while nobody else is here.
pub struct Entered<'a, T> {
    shard: &'a Shard<T>,
    pass: Pass,
}

/// The same by a thread that owns the shard's lock (`oxmpi_mca::biased`), and comes and goes without a look at anything else.
pub struct Owned<'a, T> {
    shard: &'a Shard<T>,
    seat: &'static Seat,
}

/// A shard that something was led to, for what is led there again: it is good for the same place of the same layout as
/// long as its [`Shards`] live. In other modes and layouts it is closed.
pub struct Spot<T>(NonNull<Shard<T>>);

// SAFETY: it only names a shard; the content is reached by entering that, under its lock, for which `Send` is enough.
unsafe impl<T: Send> Send for Spot<T> {}
// SAFETY: a shared one is as good as a copy, which any thread may have.
unsafe impl<T: Send> Sync for Spot<T> {}

impl<T> Clone for Spot<T> {
    fn clone(&self) -> Spot<T> {
        *self
    }
}
impl<T> Copy for Spot<T> {}

impl<T> Spot<T> {
    /// Into it, if the thread of that seat owns its lock, which the entry's is. `None`: it does not, or the shard is closed.
    ///
    /// # Safety
    /// The `Shards` that it is of lives for as long as what is returned.
    #[inline(always)]
    pub unsafe fn enter_own<'a>(self, entry: &'a Entry, seat: &'static Seat) -> Option<Owned<'a, T>> {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }.enter_own(entry, seat)
    }
}

impl<'a, T> Owned<'a, T> {
    /// The shard that this is inside of, for entering it again.
    #[inline(always)]
    pub fn spot(&self) -> Spot<T> {
        Spot(self.shard.into())
    }
    /// Turns the owner's entry into a general one; the lock stays held.
    pub fn into_entered(self) -> Entered<'a, T> {
        let this = ManuallyDrop::new(self);
        Entered { shard: this.shard, pass: Pass::of(this.seat) }
    }
}

impl<T> Drop for Owned<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.shard.lock.leave_own(self.seat);
    }
}

impl<T> Deref for Owned<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held; entering is never nested.
        unsafe { &(*self.shard.state.get()).content }
    }
}
impl<T> DerefMut for Owned<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and this is borrowed mutably.
        unsafe { &mut (*self.shard.state.get()).content }
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.shard.lock.leave(self.pass);
    }
}

impl<T> Shard<T> {
    fn new(content: T, open: bool, lock: Lock) -> Shard<T> {
        Shard { lock, state: UnsafeCell::new(ShardState { open, content }) }
    }
    #[inline(always)]
    fn enter<'a>(&'a self, entry: &'a Entry, who: Caller) -> Entered<'a, T> {
        Entered { shard: self, pass: self.lock.enter(entry, who) }
    }
    #[inline(always)]
    fn enter_own<'a>(&'a self, _entry: &'a Entry, seat: &'static Seat) -> Option<Owned<'a, T>> {
        if !self.lock.enter_own(seat) {
            return None;
        }
        let inside = Owned { shard: self, seat };
        // SAFETY: the lock is held.
        let open = unsafe { (*self.state.get()).open };
        open.then_some(inside)
    }
}

impl<T> Entered<'_, T> {
    /// Where this is.
    #[cfg(all(test, loom))]
    pub fn spot(&self) -> Spot<T> {
        Spot(self.shard.into())
    }
    #[inline(always)]
    fn state(&self) -> &ShardState<T> {
        // SAFETY: the lock is held, or we are alone; entering is never nested.
        unsafe { &*self.shard.state.get() }
    }
    #[inline(always)]
    fn state_mut(&mut self) -> &mut ShardState<T> {
        // SAFETY: the lock is held, or we are alone, and this is borrowed mutably.
        unsafe { &mut *self.shard.state.get() }
    }
    #[inline(always)]
    fn is_open(&self) -> bool {
        self.state().open
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.state().content
    }
}
impl<T> DerefMut for Entered<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state_mut().content
    }
}

impl<T: Content> ShardTable<T> {
    fn new(layout: T::Layout, next: *mut ShardTable<T>) -> Box<ShardTable<T>> {
        Box::new(ShardTable { layout, next, slots: core::array::from_fn(|_| AtomicPtr::new(null_mut())) })
    }

    #[inline(always)]
    fn shard(&self, number: usize) -> Option<&Shard<T>> {
        // SYNC POINT with the release stores in `put`.
        // SAFETY: shards stay until the communicator goes.
        unsafe { self.slots[number].load(Ordering::Acquire).as_ref() }.map(|s| &s.0)
    }
    fn put(&self, number: usize, shard: Shard<T>) {
        // SYNC POINT with the acquire load in `shard`.
        self.slots[number].store(Box::into_raw(Box::new(PaddedShard(shard))), Ordering::Release);
    }
    fn shards(&self) -> impl Iterator<Item = &Shard<T>> {
        (0..MOST).filter_map(|number| self.shard(number))
    }
}

impl<T: Content> Shards<T> {
    /// `lock`: of home; those of other shards are like it.
    pub fn new(content: T, lock: Lock) -> Shards<T> {
        let (many, tables) = (AtomicPtr::new(null_mut()), UnsafeCell::new(null_mut()));
        Shards { many, tables, home: Shard::new(content, true, lock) }
    }

    /// Enters home, whatever the mode. Below the lock only a pool's lock may be taken, never a CRI's.
    #[inline(always)]
    pub fn home<'a>(&'a self, entry: &'a Entry) -> Entered<'a, T> {
        self.home.enter(entry, None)
    }

    /// The shard at the place that a layout has for something; home in mode one.
    #[inline(always)]
    pub fn enter<'a>(
        &'a self,
        entry: &'a Entry,
        who: Caller,
        place: impl Fn(T::Layout) -> Place,
    ) -> Entered<'a, T> {
        if !entry.is_among() {
            return self.home.enter(entry, None);
        }
        // SYNC POINT with the release stores in `spread` and `gather`.
        // SAFETY: null, or a table, which stays until the communicator goes.
        let shard = match unsafe { self.many.load(Ordering::Acquire).as_ref() } {
            None => Some(&self.home),
            Some(table) => match place(table.layout) {
                Place::AllOver => None,
                Place::In(number) => table.shard(number),
            },
        };
        if let Some(shard) = shard {
            let entered = shard.enter(entry, who);
            if entered.is_open() {
                return entered;
            }
        }
        self.enter_again(who, place)
    }

    /// With several threads, where the shard at the place is that a layout has for something. `None`: nowhere, or not
    /// yet.
    #[inline(always)]
    pub fn spot(&self, place: impl Fn(T::Layout) -> Place) -> Option<Spot<T>> {
        // SYNC POINT with the release stores in `spread` and `gather`.
        // SAFETY: null, or a table, which stays until the communicator goes.
        let shard = match unsafe { self.many.load(Ordering::Acquire).as_ref() } {
            None => &self.home,
            Some(table) => match place(table.layout) {
                Place::AllOver => return None,
                Place::In(number) => table.shard(number)?,
            },
        };
        Some(Spot(shard.into()))
    }

    /// With several threads, the shard at the place that a layout has for something, if the thread of that seat owns its
    /// lock, which the entry's is. `None`: any other way is open.
    #[inline(always)]
    pub fn enter_own<'a>(
        &'a self,
        entry: &'a Entry,
        seat: &'static Seat,
        place: impl Fn(T::Layout) -> Place,
    ) -> Option<Owned<'a, T>> {
        // SAFETY: it is of these shards, which are borrowed as long as the result.
        self.spot(place).and_then(|spot| unsafe { spot.enter_own(entry, seat) })
    }

    /// Enters the shard at the place of something, among other threads, after the first try found it closed or missing; tries until a shard
    /// is open.
    #[inline(never)]
    fn enter_again(&self, who: Caller, place: impl Fn(T::Layout) -> Place) -> Entered<'_, T> {
        loop {
            // SYNC POINT with the release stores in `spread` and `gather`.
            // SAFETY: null, or a table, which stays until the communicator goes.
            let entered = match unsafe { self.many.load(Ordering::Acquire).as_ref() } {
                None => self.home.enter(ALWAYS, who),
                Some(table) => match place(table.layout) {
                    Place::AllOver => return self.enter_in_mode_one(ALWAYS),
                    Place::In(number) => match table.shard(number) {
                        Some(shard) => shard.enter(ALWAYS, who),
                        None => {
                            self.make(table, number);
                            continue;
                        }
                    },
                },
            };
            if entered.is_open() {
                return entered;
            }
        }
    }

    /// Home, in mode one.
    #[inline(always)]
    pub fn enter_in_mode_one<'a>(&'a self, entry: &'a Entry) -> Entered<'a, T> {
        let home = self.home.enter(entry, None);
        if !entry.is_among() || home.is_open() { home } else { self.gather(home) }
    }

    /// Makes a shard that the table lacks, if the table is still the one in use.
    #[cold]
    fn make(&self, table: &ShardTable<T>, number: usize) {
        let home = self.home.enter(ALWAYS, None);
        let current = core::ptr::eq(self.many.load(Ordering::Relaxed), table);
        if current && table.shard(number).is_none() {
            table.put(number, Shard::new(home.another(), true, self.home.lock.another()));
        }
    }

    /// Brings the contents of all shards of the table together in home, and opens home alone.
    #[cold]
    fn gather<'a>(&'a self, mut home: Entered<'a, T>) -> Entered<'a, T> {
        // SAFETY: home is closed, so this is the table of the mode, which stays.
        let table = unsafe { &*self.many.load(Ordering::Relaxed) };
        let mut all: Vec<Entered<'_, T>> = table.shards().map(|s| s.enter(ALWAYS, None)).collect();
        all.iter_mut().for_each(|s| s.state_mut().open = false);
        let mut contents: Vec<&mut T> = all.iter_mut().map(|s| &mut **s).collect();
        home.gather(&mut contents);
        // SYNC POINT with the acquire load in `enter`.
        self.many.store(null_mut(), Ordering::Release);
        home.state_mut().open = true;
        home
    }

    /// Spreads home's content, which was entered among other threads, over the shards of a table, and opens these. `false`: that is not possible now.
    #[cold]
    pub fn spread(&self, mut home: Entered<'_, T>) -> bool {
        if !home.is_open() {
            return false;
        }
        let table = self.table_of(&home);
        let mut all: Vec<Option<Entered<'_, T>>> =
            (0..MOST).map(|number| table.shard(number).map(|s| s.enter(ALWAYS, None))).collect();
        for shard in all.iter_mut().flatten() {
            shard.begin(&home);
        }
        let Some(parts) = home.take_apart() else { return false };
        let mut fresh: Vec<Option<T>> = (0..MOST).map(|_| None).collect();
        for (number, part) in parts {
            match &mut all[number] {
                Some(shard) => shard.accept(part),
                None => fresh[number].get_or_insert_with(|| home.another()).accept(part),
            }
        }
        // A thread that knows this table from an earlier time may enter a shard before the mode is told: everything for
        // it is in it, and home, where others look for that, is locked.
        for (number, content) in fresh.into_iter().enumerate() {
            if let Some(content) = content {
                table.put(number, Shard::new(content, true, self.home.lock.another()));
            }
        }
        all.iter_mut().flatten().for_each(|s| s.state_mut().open = true);
        home.state_mut().open = false;
        // SYNC POINT with the acquire load in `enter`.
        self.many.store(core::ptr::from_ref(table).cast_mut(), Ordering::Release);
        true
    }

    /// The table with the layout that home wants, made if there is none.
    fn table_of(&self, home: &Entered<'_, T>) -> &ShardTable<T> {
        let layout = home.layout();
        // SAFETY: home's lock is held, and the list is used nowhere without it; tables stay.
        let tables = unsafe { &mut *self.tables.get() };
        // SAFETY: home's lock is held.
        if let Some(table) = unsafe { each_table(*tables) }.find(|t| t.layout == layout) {
            return table;
        }
        *tables = Box::into_raw(ShardTable::new(layout, *tables));
        // SAFETY: just made, and it stays until the communicator goes.
        unsafe { &**tables }
    }

    /// Every content there is, home's first, each under its lock. The mode stays meanwhile.
    pub fn each(&self, entry: &Entry, mut f: impl FnMut(&mut T)) {
        let mut home = self.home.enter(entry, None);
        f(&mut home);
        // SAFETY: home's lock is held.
        for shard in unsafe { each_table(*self.tables.get()) }.flat_map(ShardTable::shards) {
            f(&mut shard.enter(entry, None));
        }
    }
}

/// The tables of a list.
///
/// # Safety
/// The caller has home's lock, and the shards as long as the result.
unsafe fn each_table<'a, T: Content + 'a>(
    first: *mut ShardTable<T>,
) -> impl Iterator<Item = &'a ShardTable<T>> {
    // SAFETY: null, or a table, which stays until the communicator goes.
    core::iter::successors(unsafe { first.as_ref() }, |t| unsafe { t.next.as_ref() })
}

impl<T: Content> Drop for Shards<T> {
    fn drop(&mut self) {
        let mut tables = Vec::new();
        let mut at = *self.tables.get_mut();
        while !at.is_null() {
            // SAFETY: made by Box::into_raw, and nobody else is left.
            tables.push(unsafe { Box::from_raw(at) });
            at = tables.last().map_or(null_mut(), |table| table.next);
        }
        let shards = tables.iter().flat_map(|table| &table.slots).map(|slot| slot.load(Ordering::Relaxed));
        // SAFETY: made by Box::into_raw, and nobody else is left.
        let mut shards: Vec<_> =
            shards.filter(|s| !s.is_null()).map(|s| unsafe { Box::from_raw(s) }).collect();
        // All before any goes: records of a content may lie in another's memory.
        self.home.state.get_mut().content.clear();
        shards.iter_mut().for_each(|shard| shard.0.state.get_mut().content.clear());
    }
}
