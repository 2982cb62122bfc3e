//! A request completed twice.

use oxmpi_mca::MsgStatus;
use oxmpi_pml::simple::Open;

pub fn end(open: Open) {
    open.complete(MsgStatus::EMPTY);
    open.complete(MsgStatus::EMPTY);
}

fn main() {}
