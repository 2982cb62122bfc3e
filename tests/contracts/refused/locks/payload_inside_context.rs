//! A payload that lies inside the context, handed up.

use oxmpi_btl::{Arrival, Entered};
use oxmpi_mca::Host;

pub fn hand_up(host: &Host, at: &mut Entered<'_, Vec<u8>>) {
    at.deliver(host, Arrival { proc: 0, tag: 0, bytes: (&at[..]).into(), link: 0 });
}

fn main() {}
