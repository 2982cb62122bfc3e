//! Parameters. Buffer size, aggregators and units are those of the file's layout, which hints and the host's parameters decide.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    8,
    "20",
    "Priority among components for collective file access; each file is served by the component of highest priority. Lower it to prefer another component",
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
