//! Info objects: ordered key-value hints (MPI 5.0 §10).

/// Ordered pairs of key and value. Keys are unique; setting one again keeps its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(String, String)>);

impl Info {
    /// Makes an info object without keys.
    pub fn new() -> Info {
        Info::default()
    }
    /// Sets a key; a key that is there keeps its place and gets the new value.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some((_, v)) => value.clone_into(v),
            None => self.0.push((key.to_owned(), value.to_owned())),
        }
    }
    /// The value of a key; `None`: there is no such key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }
    /// Removes a key; false: there was no such key.
    pub fn delete(&mut self, key: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(k, _)| k != key);
        self.0.len() != before
    }
    /// The number of keys.
    pub fn nkeys(&self) -> usize {
        self.0.len()
    }
    /// The key and value at a place, from 0; `None`: there are not so many.
    pub fn nth(&self, n: usize) -> Option<(&str, &str)> {
        self.0.get(n).map(|(k, v)| (k.as_str(), v.as_str()))
    }
    /// Iterates over keys and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
    /// Sets all keys of `other` in this one.
    pub fn merge(&mut self, other: &Info) {
        for (k, v) in other.iter() {
            self.set(k, v);
        }
    }
    /// Whether a hint has the value `true`, in whatever case it is written.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }
}

#[cfg(test)]
mod tests {
    use super::Info;

    #[test]
    fn keeps_order_and_replaces_in_place() {
        let mut info = Info::new();
        info.set("a", "1");
        info.set("b", "2");
        info.set("a", "3");
        assert_eq!(info.nth(0), Some(("a", "3")));
        assert_eq!(info.nth(1), Some(("b", "2")));
        assert!(info.delete("a") && !info.delete("a"));
        assert_eq!((info.nkeys(), info.get("b"), info.get("a")), (1, Some("2"), None));
        info.set("c", "TRUE");
        assert!(info.is_true("c") && !info.is_true("b"));
    }
}
