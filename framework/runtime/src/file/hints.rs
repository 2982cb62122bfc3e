//! Hints of a file: what is known of an info object, and what is in force (MPI 5.0 §14.2.8). Keys and spellings are `oxmpi_files`'.

use super::object::File;
use crate::info::Info;
use oxmpi_files::hints::{Choice, Hints};
use oxmpi_fs::keeps;
use oxmpi_loading::error::Error;
use oxmpi_mca::Entry;
use std::sync::Arc;

/// The hints of an info object that are known.
pub(super) fn of(info: &Info) -> Hints {
    let mut hints = Hints::default();
    for (key, value) in info.iter() {
        hints.set(key, value);
    }
    hints
}

impl File {
    /// Bytes that a read may use at once for holes between pieces, 0: the component's own measure; `None`: holes are not read.
    pub(super) fn sieve(&self) -> Option<u64> {
        let state = self.state.lock();
        match state.hints.choice("romio_ds_read") {
            Some(Choice::Disable) => None,
            _ => Some(state.hints.positive("ind_rd_buffer_size").unwrap_or(0)),
        }
    }

    /// The hints in force, as MPI_File_get_info tells them.
    pub fn info(&self) -> Info {
        let (hints, layout) = {
            let state = self.state.lock();
            (state.hints.clone(), Arc::clone(&state.layout))
        };
        let (nodes, buffer) = layout.told();
        let facts = &self.disk.facts;
        let mut actual = vec![
            ("cb_nodes", nodes.to_string()),
            ("cb_buffer_size", buffer.to_string()),
            ("filename", self.path.to_string_lossy().into_owned()),
        ];
        if facts.striping_factor > 0 {
            actual.push(("striping_factor", facts.striping_factor.to_string()));
        }
        if facts.striping_unit > 0 {
            actual.push(("striping_unit", facts.striping_unit.to_string()));
        }
        if self.disk.keeps(keeps::COHERENT) {
            actual.push(("romio_visibility_immediate", "true".to_owned()));
        }
        let mut info = Info::new();
        for (key, value) in hints.in_force(&actual) {
            info.set(&key, &value);
        }
        info
    }

    /// MPI_File_set_info of all ranks: hints that may change while a file is open.
    pub fn set_info(&self, entry: &mut Entry, info: &Info) -> Result<(), Error> {
        self.take_hints(info);
        // A rank that goes on finds the others' hints in force.
        self.comm.first_without(entry, true).map(|_| ())
    }

    /// Takes further hints.
    pub fn take_hints(&self, info: &Info) {
        let mut state = self.state.lock();
        for (key, value) in info.iter() {
            state.hints.set(key, value);
        }
    }
}
