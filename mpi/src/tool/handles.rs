//! Handles of the tool interface.

use core::sync::atomic::{AtomicUsize, Ordering};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers to objects. A number is used once, so a stale one is always told apart.
pub struct Handles<T> {
    objects: RwLock<BTreeMap<usize, Arc<T>>>,
}

/// Above what the standard fixes, and a multiple of 16 like the address a tool may take it for.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

impl<T> Handles<T> {
    pub const fn new() -> Handles<T> {
        Handles { objects: RwLock::new(BTreeMap::new()) }
    }
    pub fn insert(&self, object: T) -> usize {
        let number = NEXT.fetch_add(16, Ordering::Relaxed);
        self.objects.write().insert(number, Arc::new(object));
        number
    }
    pub fn get(&self, number: usize) -> Option<Arc<T>> {
        self.objects.read().get(&number).cloned()
    }
    pub fn remove(&self, number: usize) -> Option<Arc<T>> {
        self.objects.write().remove(&number)
    }
    pub fn all(&self) -> Vec<(usize, Arc<T>)> {
        self.objects.read().iter().map(|(n, o)| (*n, o.clone())).collect()
    }
    /// Forgets all; they are dropped when no guard is alive any more.
    pub fn clear(&self) {
        let gone = core::mem::take(&mut *self.objects.write());
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_never_used_twice() {
        static H: Handles<u32> = Handles::new();
        let a = H.insert(1);
        assert_eq!(H.remove(a).as_deref(), Some(&1));
        let b = H.insert(2);
        assert!(a != b && H.get(a).is_none() && H.remove(a).is_none());
        assert_eq!(H.all().len(), 1);
    }
}
