//! Sends: messages that go at once, and those that need a request.

pub mod by_request;
pub mod destination;
pub mod eager;
pub mod issue;
pub mod sender;
