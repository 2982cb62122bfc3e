//! Ports that a process has open, by name.

use oxmpi_system::locks::Mutex;
use oxmpi_wireup::port::Port;
use std::collections::HashMap;
use std::sync::Arc;

/// Each is shared with the threads that wait at it.
#[derive(Default)]
pub(crate) struct OpenPorts(Mutex<HashMap<String, Arc<Mutex<Port>>>>);

impl OpenPorts {
    pub fn insert(&self, name: String, port: Port) {
        self.0.lock().insert(name, Arc::new(Mutex::new(port)));
    }

    /// Whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        self.0.lock().remove(name).is_some()
    }

    pub fn get(&self, name: &str) -> Option<Arc<Mutex<Port>>> {
        self.0.lock().get(name).cloned()
    }
}
