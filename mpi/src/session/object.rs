//! The object behind a handle of a session.

use crate::buffered::Slot;
use crate::call::handle::{Kind, Table};
use crate::constants::*;
use crate::error::handler::Handler;
use crate::error::{Failure, Res};
use crate::types::Session;
use parking_lot::Mutex;
use std::sync::Arc;

/// The world as a user; sessions have numbers above.
pub const WORLD: u64 = 0;

/// Settings, hints and error handler of a session.
pub struct SessionObject {
    /// Settings that its groups carry.
    pub number: u64,
    /// Hints as they are used.
    pub info: oxmpi_runtime::Info,
    pub handler: Mutex<Handler>,
    /// For buffered sends on its communicators.
    pub buffer: Arc<Slot>,
}

impl SessionObject {
    /// A copy, so that no guard is alive when it is called.
    pub fn handler(&self) -> Handler {
        self.handler.lock().clone()
    }

    pub fn set_handler(&self, handler: Handler) {
        let old = core::mem::replace(&mut *self.handler.lock(), handler);
        drop(old);
    }
}

pub static TABLE: Table<SessionObject> = Table::new(Kind::Session);

/// The object of a handle.
pub fn get(session: Session) -> Option<&'static SessionObject> {
    TABLE.get(session.0)
}

/// The object of a handle, or what to tell the user.
pub fn require(session: Session) -> Res<&'static SessionObject> {
    get(session).ok_or_else(|| match session.0 {
        MPI_SESSION_NULL => Failure::new(MPI_ERR_SESSION, "session is MPI_SESSION_NULL"),
        other => Failure::new(MPI_ERR_SESSION, format!("session {other:#x} is no session, or was finalized")),
    })
}

/// The buffer of the session with this number.
pub fn buffer_of(number: u64) -> Option<Arc<Slot>> {
    let sessions = TABLE.handles();
    let found = sessions.iter().filter_map(|h| TABLE.get(*h)).find(|session| session.number == number);
    found.map(|session| session.buffer.clone())
}
