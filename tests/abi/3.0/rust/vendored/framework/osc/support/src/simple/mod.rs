//! Layer below one-sided components whose operations all travel as messages: their author needs no `unsafe`.
//!
//! An author writes an [`Osc`], which makes a [`Window`] for each window, and gives both to [`module`]. The layer has the window's messages, memory, buffers
//! and requests, and hands out what an author may do with them:
//!
//! - a [`Desk`] while the window is locked: messages are sent, memory is read and changed, operations are ended. Nothing of it waits.
//! - a [`Call`] in a verb: the window is locked for a moment ([`Call::with`]), or waited for ([`Call::until`]). Both borrow the call, so nobody waits with the
//!   window locked, and no answer about the window is kept across a wait but as a value.
//!
//! **Locks.** Each window has two: that of its messages, which is tried and not waited for but where the window begins or ends, and behind it that of its state, a
//! leaf but for the pool of requests. Messages are begun and tested under the first one alone; so a service that makes progress by itself finds it taken and
//! goes on. [`Arrivals::arrived`] runs under both, and everything else of an author's that changes the window under the second.
//!
//! **Lives.** Memory of the window is reached through its desk, which goes with the window. The program's buffers are lent for operations and go back at
//! [`Desk::end`], or with the synchronisation that completes the operation (`loans`), whatever the component does. Messages keep their bytes until they
//! have ended (`parcel`).
//!
//! Map: `operation` (arguments) · `loans` (operations under way) · `desk` · `parcel` (a message) · `inside` (a window: its locks, a turn of progress) · `serve` (turns
//! of all windows) · `call` · `author` (the traits) · `served` (the contract's verbs of a window).

mod author;
mod call;
mod desk;
mod inside;
mod loans;
mod operation;
mod parcel;
mod serve;
mod served;

pub use author::{Osc, Window};
pub use call::{Call, Meeting, Result};
pub use desk::Desk;
pub use inside::{Arrivals, Nonsense};
pub use loans::Open;
pub use operation::{Kind, Operation};
pub use served::module;
