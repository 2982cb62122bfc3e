//! Parameters of files under the names that they have in Open MPI (`io_ompio_…`): those that do the same here, and those that scripts set and that change nothing.

use oxmpi_mca_params::{Declaration, Kind, Resolver};

/// Values of the parameters of files that the host uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileParams {
    /// Ranks that transfer for others where no hint says how many; `None`: the library decides.
    pub num_aggregators: Option<u32>,
    /// Bytes that such a rank uses at once where no hint says how many; `None`: the library decides.
    pub buffer: Option<u64>,
    /// A line about each file when it is closed.
    pub timing: bool,
    /// Which ranks say what they make of hints: 0 none, 1 rank 0, 2 all.
    pub tells_hints: u32,
}

/// The declarations.
pub fn declarations() -> Vec<Declaration> {
    let d = |name: &str, kind, default: &str, help: &str| {
        Declaration::new("io", "ompio", name, kind, default, help).level(9)
    };
    let unused = |name: &str, kind, default: &str, why: &str| {
        d(
            name,
            kind,
            default,
            &format!("Accepted for scripts of Open MPI and without effect: {why}. Leave it out"),
        )
    };
    vec![
        d("num_aggregators", Kind::Int, "-1", "Number of ranks that transfer for others in collective access to files, where the hint cb_nodes does not say it; -1: one on each node. Raise it where one process does not use what a node's connection to the file system carries").range(-1, i64::from(i32::MAX)),
        d("bytes_per_agg", Kind::Size, "0", "Bytes that such a rank uses at once, where the hint cb_buffer_size does not say it; 0: 16m. Raise it for file systems with long stripes, lower it where memory is scarce"),
        d("coll_timing_info", Kind::Bool, "false", "Rank 0 of each file prints a line when the file is closed: who served it, accesses, bytes and transfers of all ranks. Set it to see how a program uses its files"),
        d("verbose_info_parsing", Kind::Int, "0", "Whether hints that are not known, or whose values are malformed, are reported when a file is opened: 0 by no rank, 1 by rank 0 of the file, 2 by all. Set it to 1 to find a hint that does nothing").range(0, 2),
        unused("cycle_buffer_size", Kind::Size, "512m", "an access of one rank needs no buffer"),
        unused("pipeline_buffer_size", Kind::Size, "1m", "data in the memory of an accelerator is not staged here"),
        unused("use_accelerator_buffers", Kind::Bool, "false", "data in the memory of an accelerator is not staged here"),
        unused("grouping_option", Kind::Int, "5", "aggregators are spread over nodes, at equal distances among the ranks of a node"),
        unused("max_aggregators_ratio", Kind::Int, "8", "aggregators are spread over nodes, and num_aggregators says how many"),
        unused("aggregators_cutoff_threshold", Kind::Int, "3", "aggregators are spread over nodes, and num_aggregators says how many"),
        unused("overwrite_amode", Kind::Int, "1", "no file is opened for reading that is only to be written"),
        unused("record_file_offset_info", Kind::Int, "0", "offsets are not recorded; runtime_files_pieces counts them"),
    ]
}

/// Reads the values, which have been declared.
pub fn read(resolver: &Resolver) -> FileParams {
    let number = |name: &str| resolver.get(name).and_then(|r| r.value.as_i64()).unwrap_or(0);
    FileParams {
        num_aggregators: u32::try_from(number("io_ompio_num_aggregators")).ok().filter(|n| *n > 0),
        buffer: u64::try_from(number("io_ompio_bytes_per_agg")).ok().filter(|n| *n > 0),
        timing: resolver.get("io_ompio_coll_timing_info").and_then(|r| r.value.as_bool()).unwrap_or(false),
        tells_hints: u32::try_from(number("io_ompio_verbose_info_parsing")).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_open_mpis_names() {
        let values = |set: &[(&'static str, &'static str)]| {
            let mut resolver = Resolver::new().with(set.iter().copied());
            declarations().into_iter().for_each(|d| _ = resolver.declare(d).expect("a good value"));
            read(&resolver)
        };
        assert_eq!(values(&[]), FileParams::default());
        let set = values(&[
            ("io_ompio_num_aggregators", "4"),
            ("io_ompio_bytes_per_agg", "32m"),
            ("io_ompio_coll_timing_info", "1"),
            ("io_ompio_grouping_option", "7"),
        ]);
        assert_eq!((set.num_aggregators, set.buffer, set.timing), (Some(4), Some(32 << 20), true));
    }
}
