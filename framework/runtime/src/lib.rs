//! The host side of oxmpi. Everything an MPI process has is reached from one value, [`Instance`];
//! there is no process-wide state here, so several instances (several ranks) may live in one process.
//!
//! Map: `instance` (start, the parts, finalize) · `loader` (find and open files) · `accept` (the
//! handshake and the host's own tables) · `select` (who wins) · `host` (the table given to
//! components) · `params` (resolution for one instance) · `progress` (engine, sync object, waiting)
//! · `thread` (contexts, level) · `request` (slots) · `group`, `communicator`, `gid` · `coll`
//! (stacking of collective modules, their services) · `info` · `help` · `spc` · `wireup` (the node
//! daemon's protocol: job facts, key-value store, shared segment).


