//! Parameters.

use oxmpi_fs_support::params::{HELP, WITHOUT_LOCKS};
use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        9,
        "20",
        "Priority for files of NFS mounts; other files are not served unless the component is named. Lower it below that of ufs to have NFS served like a local file system",
    )
    .range(0, 100),
    ParamDecl::new("lock_algorithm", ParamKind::INT, 9, "0", HELP).range(0, 3),
];

/// The index of `lock_algorithm`.
pub const LOCK_ALGORITHM: usize = 1;

/// The values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    /// Locks are taken where an operation needs them.
    pub locks: bool,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings { priority: params.int(0) as i32, locks: params.int(LOCK_ALGORITHM) != WITHOUT_LOCKS }
    }
}
