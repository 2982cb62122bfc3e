//! Parameters that an operator may set. A parameter is data: the host reads files, environment and command line, checks type and
//! range, and hands the values to `open`. A component never reads the environment.
//!
//! All ranks of a job must have the same values where they decide what others send; `mpirun` sees to that. Levels: 1 to 5 for users, 6 to 8
//! for those who tune, 9 for internal thresholds. The first sentence of a help text says what the parameter does, the second when to change it.

use oxmpi_mca::{ParamDecl, ParamKind, Params};

/// The declarations. Full names are `osc_template_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        // Below all others: nobody gets this one unless it is asked for.
        "0",
        "Priority among one-sided components; the highest serves a window. Raise it to prefer this component",
    )
    .range(0, 100),
    ParamDecl::new(
        "message_size",
        ParamKind::SIZE,
        8,
        "16k",
        "Largest message in bytes; longer operations are cut. Lower it to test what is cut",
    )
    .range(256, 1 << 20),
];

/// The resolved values, in the types the code wants. The order is that of [`PARAMS`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    pub message_size: usize,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings { priority: params.int(0) as i32, message_size: params.size(1) }
    }
}
