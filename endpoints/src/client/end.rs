//! The end of a communicator, and a duplicate that may come to one at once: attributes may refuse both.

use super::attribute;
use super::comm::{self, EpComm, from_facts};
use super::state::{Client, Proxy};
use crate::abi::*;
use crate::protocol::record::{Record, op};
use std::sync::atomic::Ordering;

/// A duplicate is there: the attributes' copy functions run, and may refuse it.
pub fn duplicated(
    parent: &'static EpComm,
    client: &'static Client,
    proxy: &'static Proxy,
    record: &Record,
) -> Result<Comm, c_int> {
    let handle = from_facts(client, proxy, record, parent.errhandler.load(Ordering::Relaxed))?;
    if let Some(new) = comm::find(handle)
        && let Err(class) = attribute::copy(parent, new)
    {
        free(new)?;
        return Err(class);
    }
    Ok(handle)
}

/// The delete functions of attributes run first, and may refuse.
pub fn free(ep: &'static EpComm) -> Result<(), c_int> {
    attribute::delete_all(ep)?;
    ep.command(op::COMM_FREE, |_| (), |_| Ok(()))?;
    comm::forget(ep);
    Ok(())
}
