//! The component's state for one communicator.
//!
//! All threads of a process share it, but a communicator has one call at a time. Parts of it that change are atomic or behind a lock; here there is
//! nothing to keep. Each operation is in a file of its own.

pub struct TemplateModule;
