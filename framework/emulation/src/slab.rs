//! Objects by number and generation: a number that outlives its object finds nothing.

/// Objects that have been inserted and not removed, by ids that are used once.
pub struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

/// A place for one object, and how many have gone from it.
struct Place<T> {
    generation: u32,
    here: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Keeps an object and returns its id, which is never `u64::MAX`.
    pub fn insert(&mut self, object: T) -> u64 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, here: None });
            self.places.len() as u32 - 1
        });
        let place = &mut self.places[at as usize];
        place.here = Some(object);
        u64::from(place.generation) << 32 | u64::from(at)
    }

    /// The place of an object with that id; `None`: the object has gone.
    fn place(&mut self, id: u64) -> Option<&mut Place<T>> {
        self.places.get_mut(id as u32 as usize).filter(|place| place.generation == (id >> 32) as u32)
    }

    /// The object with that id; `None`: it has gone.
    pub fn get(&self, id: u64) -> Option<&T> {
        let place = self.places.get(id as u32 as usize)?;
        if place.generation == (id >> 32) as u32 { place.here.as_ref() } else { None }
    }

    /// The object with that id, to be changed; `None`: it has gone.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        self.place(id)?.here.as_mut()
    }

    /// Takes the object with that id out; `None`: it has gone before.
    pub fn remove(&mut self, id: u64) -> Option<T> {
        let place = self.place(id)?;
        let object = place.here.take()?;
        place.generation = place.generation.wrapping_add(1) & (u32::MAX >> 1);
        self.free.push(id as u32);
        Some(object)
    }

    /// Whether no object is kept.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }

    /// The ids of all objects for which `yes` says so.
    pub fn ids_of(&self, yes: impl Fn(&T) -> bool) -> Vec<u64> {
        let of = |(at, place): (usize, &Place<T>)| {
            place.here.as_ref().filter(|t| yes(t)).map(|_| u64::from(place.generation) << 32 | at as u64)
        };
        self.places.iter().enumerate().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_numbers_find_nothing() {
        let mut slab = Slab::default();
        assert!(slab.is_empty());
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.get(a), Some(&'a'));
        assert_eq!(slab.get_mut(b), Some(&mut 'b'));
        assert_eq!(slab.ids_of(|c| *c == 'b'), [b]);
        assert_eq!((slab.remove(a), slab.remove(a)), (Some('a'), None));
        let c = slab.insert('c');
        assert_eq!((slab.get(a), slab.get(c)), (None, Some(&'c')));
        for id in [u64::MAX, 7, a | 1 << 40] {
            assert_eq!(slab.get(id), None);
            assert_eq!(slab.remove(id), None);
        }
        slab.remove(b);
        slab.remove(c);
        assert!(slab.is_empty());
    }
}
