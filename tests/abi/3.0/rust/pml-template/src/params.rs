//! Parameters that an operator may set. A parameter is data: the host reads files, environment and command line, checks type and range, and hands the
//! values to `open`.

use oxmpi_mca::{ParamDecl, ParamKind};

/// The declarations. Full names are `pml_template_<name>`.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    9,
    // Low: with another layer in the job nobody uses this one unless it is asked for by name.
    "0",
    "Priority among point-to-point layers, of which the highest serves all messages. Raise it to use this layer",
)
.range(-1, 100)];

/// Places in [`PARAMS`].
pub mod index {
    pub const PRIORITY: usize = 0;
}
