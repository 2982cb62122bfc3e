//! Request handles and what stands behind them.
//!
//! Request objects belong to the component that carries the operation out; the handle is made of the
//! slot and the generation in the header ([`oxmpi_mca::RequestHeader`]), so neither making nor
//! finding one allocates or locks.
//!
//! Map, from below: `word` (what of a header is this layer's, and who may touch it) · `owner` (communicator or window) ·
//! `find` (from handles to requests) · `generalized` (the user's functions) · `end` (results, freeing, starting) ·
//! `second_lookup` (handles that may be with a sync object).

mod end;
mod find;
pub mod generalized;
pub mod owner;
pub mod second_lookup;
pub mod word;

pub use end::{cancel, collect, count, free, may_be_freed, peek, start};
pub use find::{
    done, find, find_attached, find_either, give_sent, held, on, pending_or_null, persistent_done, uses,
    wrong,
};
pub use owner::{Outcome, give, give_of_file, give_of_window, hold, truncated};
pub use word::{
    Header, complete, give_alone, hand_over, handle_of, inactive, is_persistent, is_shared, mark_live, ready,
    retake, was_cancelled,
};
