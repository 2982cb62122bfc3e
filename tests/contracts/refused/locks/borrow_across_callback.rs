//! A borrow of a context's contents while a message is handed up.

use oxmpi_btl::{Arrival, Entered};
use oxmpi_mca::Host;

pub fn hand_up(host: &Host, at: &mut Entered<'_, Vec<u8>>, arrival: Arrival<'_>) {
    let first = &mut at[0];
    at.deliver(host, arrival);
    *first = 1;
}

fn main() {}
