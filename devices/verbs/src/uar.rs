//! Doorbell registers of a context, by mlx5's rules.
//!
//! A UAR page has two registers (micro UARs) for data. *Static*, as in 2018: a context owns eight pages from the start. A queue pair
//! without a thread domain gets a low-latency register of its own while there is one, then the least-loaded medium one (shared,
//! locked), and the first register, which takes plain doorbells only, where there is no medium one. *Lazy*, as today: a page for completion
//! queues' doorbells at open, and pages for queue pairs when they ask: first registers of their own, then up to twelve
//! shared ones, then the least used of these. In both a thread domain takes a register off the context's list, or a new page whose second register
//! goes on the list; with the extension's `sharing` 1 the second one is left unused. A domain that ends gives its register back, never the page.

use crate::config::UarMode;
use crate::counters::{self, Counter};
use crate::lock::ModelLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Pages that domains of one context take at most.
const MOST_DYNAMIC: u32 = 512;
/// Shared registers of a lazy context, at most.
const MOST_SHARED: usize = 12;

/// A register.
#[derive(Clone)]
pub struct Uuar {
    pub page: u64,
    pub index: u64,
    /// Doorbells only.
    pub plain: bool,
    pub lock: Arc<ModelLock>,
    /// Pairs on it, and on the other register of its page.
    pub pairs: Arc<AtomicU32>,
    pub neighbours: Arc<AtomicU32>,
    /// A thread domain's: its pairs are one thread's.
    pub is_domains: bool,
}

impl Uuar {
    /// Another thread may ring it: pairs without a domain share it.
    pub fn is_shared(&self) -> bool {
        !self.is_domains && self.pairs.load(Ordering::Relaxed) > 1
    }
    /// The other register of its page is in use.
    pub fn has_neighbours(&self) -> bool {
        self.neighbours.load(Ordering::Relaxed) > 0
    }

    /// Where it is mapped, as `mlx5dv_init_obj` tells: nobody writes there.
    pub fn address(&self) -> u64 {
        (self.page << 12) + 0x800 + self.index * 512
    }
}

/// How a register is used.
#[derive(Clone, Copy)]
struct Kind {
    plain: bool,
    locked: bool,
    is_domains: bool,
}

struct Slot {
    uuar: Uuar,
    users: u32,
}

/// The registers of one context.
pub struct Uars {
    mode: UarMode,
    lenient: bool,
    low_latency: usize,
    /// Static: all, by number. Lazy: those of their own first, as far as they are there.
    slots: Vec<Slot>,
    shared: Vec<Slot>,
    free: Vec<Uuar>,
    dynamic: u32,
    pages: u64,
}

/// How many registers a context wants, as the provider reads it from the environment.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub total: u32,
    pub low_latency: u32,
    pub single_threaded: bool,
}

impl Wish {
    /// `MLX5_TOTAL_UUARS`, `MLX5_NUM_LOW_LAT_UUARS`, `MLX5_SINGLE_THREADED`.
    pub fn of_environment() -> Option<Wish> {
        let number = |name: &str, default| match std::env::var(name) {
            Ok(text) => text.parse::<u32>().ok(),
            Err(_) => Some(default),
        };
        let total = number("MLX5_TOTAL_UUARS", 16)?.next_multiple_of(2);
        if !(2..=512).contains(&total) {
            return None;
        }
        let low = number("MLX5_NUM_LOW_LAT_UUARS", 4)?;
        if low > total - 1 {
            return None;
        }
        let single_threaded = std::env::var("MLX5_SINGLE_THREADED").is_ok_and(|v| v == "1");
        Some(Wish { total, low_latency: low.max(total.saturating_sub(12)), single_threaded })
    }
}

fn new_page(pages: &mut u64) -> u64 {
    /// Pages are told apart in the whole process; the first one is not at address 0.
    static NEXT: AtomicU64 = AtomicU64::new(0x7f00_0000);
    *pages += 1;
    counters::add(Counter::UarPages, 1);
    counters::add(Counter::Uuars, 2);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Uars {
    pub fn open(mode: UarMode, wish: Wish, lenient: bool) -> Uars {
        let mut uars = Uars {
            mode,
            lenient,
            low_latency: wish.low_latency as usize,
            slots: Vec::new(),
            shared: Vec::new(),
            free: Vec::new(),
            dynamic: 0,
            pages: 0,
        };
        match mode {
            UarMode::Lazy => _ = new_page(&mut uars.pages),
            UarMode::Static => {
                let medium = 1..(wish.total as usize).saturating_sub(uars.low_latency);
                for first in (0..wish.total as usize).step_by(2) {
                    let page = new_page(&mut uars.pages);
                    let kinds = [first, first + 1].map(|number| Kind {
                        plain: number == 0,
                        locked: medium.contains(&number) && !wish.single_threaded,
                        is_domains: false,
                    });
                    let both = uars.registers(page, kinds);
                    uars.slots.extend(both.map(|uuar| Slot { uuar, users: 0 }));
                }
            }
        }
        uars
    }

    /// Both of a page.
    fn registers(&self, page: u64, kinds: [Kind; 2]) -> [Uuar; 2] {
        let pairs = [const { AtomicU32::new(0) }; 2].map(Arc::new);
        [0, 1].map(|index| {
            let Kind { plain, locked, is_domains } = kinds[index];
            // A plain doorbell is one atomic write, by however many threads.
            let lock = ModelLock::new(locked.then_some(Counter::UuarLocks), self.lenient || plain);
            Uuar {
                page,
                index: index as u64,
                plain,
                lock: Arc::new(lock),
                pairs: pairs[index].clone(),
                neighbours: pairs[1 - index].clone(),
                is_domains,
            }
        })
    }

    /// A register for a queue pair without a domain.
    pub fn assign(&mut self) -> Uuar {
        match self.mode {
            UarMode::Static => {
                let medium = self.slots.len() - self.low_latency;
                let own = (medium..self.slots.len()).find(|i| self.slots[*i].users == 0);
                let least = || (1..medium).min_by_key(|i| self.slots[*i].users);
                let number = own.or_else(least).unwrap_or(0);
                self.slots[number].users += 1;
                self.slots[number].uuar.clone()
            }
            UarMode::Lazy => self.assign_lazily(),
        }
    }

    fn assign_lazily(&mut self) -> Uuar {
        if let Some(slot) = self.slots.iter_mut().find(|s| s.users == 0) {
            slot.users = 1;
            return slot.uuar.clone();
        }
        let own = self.slots.len() < self.low_latency;
        if own || self.shared.len() < MOST_SHARED {
            let unused = self.shared.iter_mut().find(|s| s.users == 0);
            if let (false, Some(slot)) = (own, unused) {
                slot.users = 1;
                return slot.uuar.clone();
            }
            let page = new_page(&mut self.pages);
            let kind = Kind { plain: false, locked: !own, is_domains: false };
            let both = self.registers(page, [kind; 2]);
            let list = if own { &mut self.slots } else { &mut self.shared };
            list.extend(both.map(|uuar| Slot { uuar, users: 0 }));
            let list = if own { &mut self.slots } else { &mut self.shared };
            let at = list.len() - 2;
            list[at].users = 1;
            return list[at].uuar.clone();
        }
        let slot = self.shared.iter_mut().min_by_key(|s| s.users).expect("there are twelve");
        slot.users += 1;
        slot.uuar.clone()
    }

    /// Takes back what [`Uars::assign`] gave.
    pub fn release(&mut self, uuar: &Uuar) {
        let all = self.slots.iter_mut().chain(&mut self.shared);
        for slot in all.filter(|s| s.uuar.address() == uuar.address()) {
            slot.users = slot.users.saturating_sub(1);
        }
    }

    /// A register for a domain; `None`: the context has as many as it may.
    pub fn for_domain(&mut self, sharing: u32) -> Option<Uuar> {
        if sharing != 1
            && let Some(uuar) = self.free.pop()
        {
            return Some(uuar);
        }
        if self.dynamic == MOST_DYNAMIC {
            return None;
        }
        self.dynamic += 1;
        let page = new_page(&mut self.pages);
        let kind = Kind { plain: false, locked: false, is_domains: true };
        let [first, second] = self.registers(page, [kind; 2]);
        if sharing != 1 {
            self.free.push(second);
        }
        Some(first)
    }

    pub fn end_of_domain(&mut self, uuar: Uuar) {
        self.free.push(uuar);
    }
}

impl Drop for Uars {
    fn drop(&mut self) {
        counters::sub(Counter::UarPages, self.pages);
        counters::sub(Counter::Uuars, 2 * self.pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish = Wish { total: 16, low_latency: 4, single_threaded: false };

    fn places(mode: UarMode, n: usize) -> (Vec<u64>, u64) {
        let mut uars = Uars::open(mode, WISH, false);
        let got = (0..n).map(|_| uars.assign().address()).collect();
        (got, uars.pages)
    }

    #[test]
    fn sixteen_pairs_leave_one_register_unused() {
        let (at, pages) = places(UarMode::Static, 16);
        let mut distinct = at.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!((pages, distinct.len()), (8, 15));
        assert_eq!(at[4], at[15], "the fifth and the sixteenth share one");
        assert!(at[..4].iter().all(|a| at.iter().filter(|b| *b == a).count() == 1), "low latency is alone");
    }

    #[test]
    fn lazy_contexts_grow_to_nine_pages() {
        for (n, pages) in [(0, 1), (1, 2), (2, 2), (3, 3), (4, 3), (5, 4), (16, 9), (17, 9), (64, 9)] {
            assert_eq!(places(UarMode::Lazy, n).1, pages, "{n} queue pairs");
        }
    }

    #[test]
    fn domains_share_pages_by_two_or_not() {
        for (sharing, n, pages) in [(2, 5, 3), (1, 5, 5)] {
            let mut uars = Uars::open(UarMode::Static, WISH, false);
            (0..n).for_each(|_| drop(uars.for_domain(sharing).expect("room")));
            assert_eq!(uars.pages, 8 + pages);
        }
        let mut uars = Uars::open(UarMode::Static, WISH, false);
        let count = core::iter::from_fn(|| uars.for_domain(2)).count();
        assert_eq!(count, 1024);
    }
}
