//! Parameters that an operator may set. A parameter is data: the host reads files, environment and command
//! line, checks type and range, and hands the values to `open`. A component never reads the environment.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations. Full names are `fs_template_<name>`.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    8,
    // Below all others: no file is served by this one unless it is asked for.
    "0",
    "Priority among file system components; the one with the highest priority for a path serves it. Raise it to prefer this component",
)
.range(0, 100)];

/// The resolved values, in the types the code wants. The order is that of [`PARAMS`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings { priority: params.int(0) as i32 }
    }
}
