//! Parameters.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    8,
    "10",
    "Priority among components for collective file access; each file is served by the component of highest priority. Raise it to have every rank transfer its own data",
)
.range(0, 100)];

/// The resolved values.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings { priority: params.int(0) as i32 }
    }
}
