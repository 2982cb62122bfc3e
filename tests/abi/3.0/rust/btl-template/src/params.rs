//! Parameters that an operator may set. A parameter is data: the host reads files, environment and command
//! line, checks type and range, and hands the values to `open`. A component never reads the environment.
//!
//! Use Open MPI's names where the meaning is equal. Levels: 1 to 5 for users, 6 to 8 for those who
//! tune, 9 for internal thresholds. The first sentence of a help text says what the parameter does, the second when to change it.

use oxmpi_mca::{ParamDecl, ParamKind, Params, Refused};

/// The declarations. Full names are `btl_template_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "exclusivity",
        ParamKind::UNSIGNED,
        8,
        // Low: with btl-shm in the job nobody uses this one unless it is asked for by name.
        "0",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Raise it to prefer this transport",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "eager_limit",
        ParamKind::SIZE,
        6,
        "4k",
        "Largest message, header included, that is sent eagerly. Lower it where many messages wait unreceived",
    )
    .range(128, 1 << 16),
    ParamDecl::new(
        "max_send_size",
        ParamKind::SIZE,
        6,
        "32k",
        "Largest message that is sent in one piece. Raise it for long messages",
    )
    .range(128, 1 << 16),
];

/// The resolved values, in the types the code wants. The order is that of [`PARAMS`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub exclusivity: u32,
    pub eager_limit: usize,
    pub max_send_size: usize,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            exclusivity: params.int(0) as u32,
            eager_limit: params.size(1),
            max_send_size: params.size(2),
        }
    }
    /// Whether they fit each other.
    pub fn check(&self) -> Result<(), Refused> {
        let Settings { eager_limit, max_send_size, .. } = self;
        match eager_limit > max_send_size {
            false => Ok(()),
            true => {
                let why = "more than btl_template_max_send_size";
                Err(Refused::bad(
                    1,
                    format!("btl_template_eager_limit is {eager_limit}, {why}, {max_send_size}"),
                ))
            }
        }
    }
}
