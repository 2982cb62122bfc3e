//! Shared memory between the processes of a node.
