//! Words that waiters sleep on beside what the transports name: those of waits for a word, and those that plans wait for.
//!
//! **A list** has the words for which nobody waits by name: a step of a plan wants one changed, and whoever has the progress takes the step
//! when it is. So every thread that sleeps for the transports sleeps on these, too. A thread that waits for one word ([`Awaited`]) brings it
//! along.
//!
//! **Announcing** ([`Words::announce`]) adds the sleeper to the number in each word, then looks at each once more (`oxmpi_mca::waking`). An
//! [`Announcement`] takes the sleeper off again when it is dropped. A word of the list may go while its sleeper sleeps: another thread took
//! the step, and then the memory is the component's to give back. The thread that takes a word off the list takes the announcement back with it, under the
//! list's lock, and the sleeper, when it is awake, takes back what is still there. At most one thread of an instance sleeps for the transports, so an
//! entry is announced or not.
//!
//! **News** is a word of the instance's own that is counted up where something happened that may end any such wait and that no transport
//! tells of: a process has failed. A sleeper has read it *before* it looked whether its wait is over, and sleeps only while it is still the same.

use crate::lock::{Mutex, lock};
use oxmpi_mca::WakingWord;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{WaitSet, WaitWord};

/// A word, and the value that a wait wants changed.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    word: *const WakingWord,
    value: u32,
}

impl Awaited {
    /// A wait until `word` is not `value` any more.
    ///
    /// # Safety
    /// The word must live until the wait is over.
    pub unsafe fn new(word: *const WakingWord, value: u32) -> Awaited {
        Awaited { word, value }
    }

    /// Whether the word has another value now; what its writer did before is visible then.
    #[inline]
    pub fn has_changed(&self) -> bool {
        self.word().load() != self.value
    }

    /// Announces that the calling thread is going to sleep on the word alone. `None`: it must not, the word has changed.
    pub(crate) fn announce(&self) -> Option<OwnWord> {
        self.word().announce();
        let announced = OwnWord(*self);
        (!self.has_changed()).then_some(announced)
    }

    /// The word.
    fn word(&self) -> &WakingWord {
        // SAFETY: alive by the promise of `new`.
        unsafe { &*self.word }
    }

    /// The word for a sleep.
    fn wait_word(&self) -> WaitWord {
        WaitWord { addr: self.word().address(), expected: self.value, reserved: 0 }
    }
}

/// A sleeper that has announced itself on its own word. It is taken off when this is dropped.
pub(crate) struct OwnWord(Awaited);

impl OwnWord {
    /// The word for a sleep.
    pub(crate) fn wait_word(&self) -> WaitWord {
        self.0.wait_word()
    }
}

impl Drop for OwnWord {
    fn drop(&mut self) {
        self.0.word().retract();
    }
}

/// A word of the list: who put it there, and whether the sleeper of this instance has announced itself on it.
struct Entry {
    owner: usize,
    awaited: Awaited,
    is_announced: bool,
}

// SAFETY: the word may be used by any thread, and lives as long as its entry.
unsafe impl Send for Entry {}

/// The words that a sleeper of an instance sleeps on.
pub struct Words {
    /// How many there are in the list; a hint that costs no lock.
    count: AtomicU32,
    news: AtomicU32,
    list: Mutex<Vec<Entry>>,
}

/// A sleeper that has announced itself on its own word, if it has one, and on those of the list. It is taken off when this is dropped.
pub(crate) struct Announcement<'a> {
    words: &'a Words,
    _own: Option<OwnWord>,
    /// How many words were put into the set.
    pub(crate) num_words: usize,
}

impl Words {
    /// An empty list, without news.
    pub fn new() -> Words {
        Words { count: AtomicU32::new(0), news: AtomicU32::new(0), list: Mutex::new(Vec::new()) }
    }

    /// Puts a word into the list. `owner` names the caller, who has at most one there.
    pub fn enter(&self, owner: usize, awaited: Awaited) {
        let mut list = lock(&self.list);
        debug_assert!(list.iter().all(|entry| entry.owner != owner), "one word for each owner");
        list.push(Entry { owner, awaited, is_announced: false });
        self.count.store(list.len() as u32, Ordering::Relaxed);
    }

    /// Takes the word of `owner` off the list. Nobody of this instance touches it afterwards.
    pub fn leave(&self, owner: usize) {
        let mut list = lock(&self.list);
        if let Some(at) = list.iter().position(|entry| entry.owner == owner) {
            list.swap_remove(at).retract();
        }
        self.count.store(list.len() as u32, Ordering::Relaxed);
    }

    /// Counts the news up, and returns the address of their word, whose sleepers the caller wakes.
    pub(crate) fn ring(&self) -> usize {
        // SYNC POINT with `is_news`.
        self.news.fetch_add(1, Ordering::Release);
        (&raw const self.news).expose_provenance()
    }

    /// Whether there are news since the count that the waiter has `seen`, which becomes the present one: then it looks whether its wait is
    /// over before it sleeps.
    fn is_news(&self, seen: &mut u32) -> bool {
        // SYNC POINT with `ring`.
        let now = self.news.load(Ordering::Acquire);
        std::mem::replace(seen, now) != now
    }

    /// Announces that the calling thread is going to sleep on `own` and all words of the list, and puts them into `set`, with the word of
    /// the news if there are any others. `None`: it must not sleep, because one has changed, or there are news since those that it has
    /// `seen`. Where the set is too small the thread still may, if its sleep is short.
    pub(crate) fn announce(
        &self,
        own: Option<Awaited>,
        seen: &mut u32,
        set: &mut WaitSet,
    ) -> Option<Announcement<'_>> {
        if self.is_news(seen) {
            return None;
        }
        let own = match own.map(|own| own.announce()) {
            Some(None) => return None,
            own => own.flatten(),
        };
        if let Some(own) = &own {
            set.add_word(own.wait_word());
        }
        let mut announcement = Announcement { words: self, _own: own, num_words: 0 };
        let mut changed = false;
        // A word that another thread puts there now: the caller is nudged or, alone, has put it there itself.
        if self.count.load(Ordering::Relaxed) != 0 {
            for entry in lock(&self.list).iter_mut() {
                entry.awaited.word().announce();
                entry.is_announced = true;
                changed |= entry.awaited.has_changed();
                set.add_word(entry.awaited.wait_word());
            }
        }
        if set.num_words > 0 {
            let news = (&raw const self.news).cast();
            set.add_word(WaitWord { addr: news, expected: *seen, reserved: 0 });
        }
        announcement.num_words = set.num_words as usize;
        (!changed).then_some(announcement)
    }
}

impl Entry {
    /// Takes the sleeper off the word if it is announced there. The caller holds the list's lock.
    fn retract(&mut self) {
        if std::mem::take(&mut self.is_announced) {
            self.awaited.word().retract();
        }
    }
}

impl Drop for Announcement<'_> {
    fn drop(&mut self) {
        // Those that were announced are still counted here or were taken back by who took them off.
        if self.words.count.load(Ordering::Relaxed) != 0 {
            lock(&self.words.list).iter_mut().for_each(Entry::retract);
        }
    }
}

#[cfg(all(test, loom))]
mod model;
