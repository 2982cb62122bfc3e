//! Models under loom of the engine's own code: a context that is taken from an idle owner against the owner's turn, arming against a layer's word
//! that changes, a layer function against its unregistration, threads at a limit. Each has variants that leave a step out and must fail.

mod layers;
mod limit;
mod taking;
