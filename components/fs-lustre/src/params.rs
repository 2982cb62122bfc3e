//! Parameters, under Open MPI's names.

use oxmpi_fs_support::params::{HELP, WITHOUT_LOCKS};
use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        9,
        "20",
        "Priority for files of Lustre mounts; other files are not served unless the component is named. Lower it below that of ufs to leave layouts alone",
    )
    .range(0, 100),
    ParamDecl::new("lock_algorithm", ParamKind::INT, 9, "0", HELP).range(0, 3),
    ParamDecl::new(
        "stripe_size",
        ParamKind::SIZE,
        9,
        "0",
        "Bytes of a stripe of new files for which no hint says otherwise; 0: as their folder says. Raise it for large contiguous writes",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "stripe_width",
        ParamKind::INT,
        9,
        "0",
        "Number of storage targets of new files for which no hint says otherwise; 0: as their folder says. Raise it for files that many nodes write",
    )
    .range(0, 2000),
];

/// The values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    /// Locks are taken where an operation needs them.
    pub locks: bool,
    /// 0: as the folder says.
    pub stripe_size: u64,
    /// 0 likewise.
    pub stripe_width: u32,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            priority: params.int(0) as i32,
            locks: params.int(1) != WITHOUT_LOCKS,
            stripe_size: params.size(2) as u64,
            stripe_width: params.int(3) as u32,
        }
    }
}

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) {
    oxmpi_fs_support::params::tell(params, 1, answers);
    for index in [2, 3] {
        if params.int(index) == 0 {
            answers.as_set(index, "0: as the folder of a new file says");
        }
    }
}
