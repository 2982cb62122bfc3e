//! Parameters that an operator may set. A parameter is data: the host reads files, environment and command
//! line, checks type and range, and hands the values to `open`. A component never reads the environment.
//!
//! All ranks of a job must have the same values where they decide who sends what to whom; `mpirun` sees to that. Levels: 1 to 5 for users, 6
//! to 8 for those who tune, 9 for internal thresholds. The first sentence of a help text says what the parameter does, the second
//! when to change it.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations. Full names are `fcoll_template_<name>`.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    8,
    // Below all others: nobody gets this one unless it is asked for.
    "0",
    "Priority among components for collective file access; each file is served by the component of highest priority. Raise it to prefer this component",
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
