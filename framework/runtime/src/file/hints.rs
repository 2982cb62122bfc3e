//! Hints of a file: which keys are known, and what is in force (MPI 5.0 §14.2.8).
//!
//! Keys and values stay as the user spelled them. What the library decided stands beside: aggregators, buffer, striping.

use super::object::File;
use crate::info::Info;
use oxmpi_mca::Entry;
use oxmpi_loading::error::Error;
use std::sync::Arc;

/// Keys that have a meaning here or in the other libraries, and are kept.
const KNOWN: &[&str] = &[
    "access_style",
    "collective_buffering",
    "cb_block_size",
    "cb_buffer_size",
    "cb_nodes",
    "chunked",
    "chunked_item",
    "chunked_size",
    "direct_read",
    "direct_write",
    "file_perm",
    "filename",
    "ind_rd_buffer_size",
    "ind_wr_buffer_size",
    "io_node_list",
    "nb_proc",
    "num_io_nodes",
    "romio_cb_read",
    "romio_cb_write",
    "romio_ds_read",
    "romio_ds_write",
    "romio_no_indep_rw",
    "start_iodevice",
    "striping_factor",
    "striping_unit",
];

/// The known keys of an info object.
pub(super) fn accepted(info: &Info) -> Info {
    let mut kept = Info::new();
    for (key, value) in info.iter().filter(|(key, _)| KNOWN.contains(key)) {
        kept.set(key, value);
    }
    kept
}

/// Bytes that a read may use at once for holes between pieces, 0: the component's own measure; `None`: holes are not read.
fn sieve(info: &Info) -> Option<u64> {
    match info.get("romio_ds_read").map(str::trim) {
        Some("disable" | "false") => None,
        _ => Some(super::layout::number(info, "ind_rd_buffer_size").unwrap_or(0)),
    }
}

impl File {
    /// How holes are read; `None`: they are not.
    pub(super) fn sieve(&self) -> Option<u64> {
        sieve(&self.state.lock().info)
    }

    /// The hints in force, as MPI_File_get_info tells them.
    pub fn info(&self) -> Info {
        let (mut info, layout) = {
            let state = self.state.lock();
            (state.info.clone(), Arc::clone(&state.layout))
        };
        let (nodes, buffer) = layout.told();
        info.set("cb_nodes", &nodes.to_string());
        info.set("cb_buffer_size", &buffer.to_string());
        info.set("filename", &self.path.to_string_lossy());
        let facts = &self.disk.facts;
        for (key, value) in
            [("striping_factor", u64::from(facts.striping_factor)), ("striping_unit", facts.striping_unit)]
        {
            match value {
                0 => drop(info.delete(key)),
                value => info.set(key, &value.to_string()),
            }
        }
        info
    }

    /// MPI_File_set_info of all ranks: hints that may change while a file is open.
    pub fn set_info(&self, entry: &mut Entry, info: &Info) -> Result<(), Error> {
        {
            let mut state = self.state.lock();
            for (key, value) in accepted(info).iter() {
                state.info.set(key, value);
            }
        }
        // A rank that goes on finds the others' hints in force.
        self.comm.first_without(entry, true).map(|_| ())
    }
}
