//! Messages of a process to itself.
