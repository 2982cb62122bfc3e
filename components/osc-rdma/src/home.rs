//! State that windows on the same memory share: its registrations, what is attached to it, and the state words behind accumulates and regions.
//!
//! A window that was made by itself has a home of its own, whose shelf has all of its state words. A duplicate has the home of its first window, and a
//! shelf with words of its own for locks, posts, completions and notifications; so each window has its epochs, and accumulates through all of them meet at one
//! word. The home goes with the last window. A rank is met through both shelves ([`crate::peer::OwnWords`]).

use crate::create::{Ways, meet_leaders};
use crate::local::Registered;
use crate::regions::Attached;
use crate::shelf::Shelf;
use crate::wire::Card;
use oxmpi_mca::{Status, ThreadCtx};

/// See the file's text.
pub struct Home {
    pub ways: Ways,
    pub attached: Attached,
    /// Before the shelf: registrations end before memory goes.
    pub registered: Vec<Registered>,
    pub shelf: Shelf,
    /// Somebody asked for atomic updates of more than an element.
    pub coarse: bool,
    /// Every accumulate goes under its target's lock, whatever its elements.
    pub under_lock: bool,
    /// Locks have two levels.
    pub levels: bool,
}

/// The state words of a duplicate.
pub struct OwnShelf {
    _registered: Vec<Registered>,
    pub shelf: Shelf,
}

impl OwnShelf {
    /// Called by all ranks; says what failed here behind the last step.
    pub fn make(
        home: &Home,
        comm: &crate::call::Comm,
        thread: *mut ThreadCtx,
        shelf: Shelf,
    ) -> (OwnShelf, Status) {
        let mut registered = Vec::new();
        let words = shelf.words(shelf.member);
        let mut card = Card { state: words as u64, ..Card::EMPTY };
        let ways = match comm.num_ranks() > shelf.members {
            true => home.ways.for_states(comm),
            false => Ok(home.ways.clone()),
        };
        let mut own = Status::OK;
        let ways = ways.unwrap_or_else(|status| {
            own = status;
            home.ways.clone()
        });
        if comm.num_ranks() > shelf.members && own.is_ok() {
            match ways.register(words.cast_mut().cast(), shelf.layout.bytes(), crate::create::REACHED) {
                Ok((states, all)) => {
                    card.states = states;
                    registered.extend(all);
                }
                Err(status) => own = status,
            }
        }
        shelf.write_card(&card);
        let met = meet_leaders(comm, &shelf, &ways, thread, &mut registered);
        (OwnShelf { _registered: registered, shelf }, if own.is_err() { own } else { met })
    }
}
