//! Resolves MCA parameters: what is declared, who sets it, what wins, and who to blame.
//!
//! Two kinds of facts meet in a [`Resolver`]. *Settings* (name, text, [`Origin`]) are collected
//! first and mean nothing yet: nobody knows the type of `btl_tcp_links` before the TCP component
//! has been seen. *Declarations* come later, one per parameter, from the host and from each
//! component; declaring resolves at once, so a component gets its values when it is opened, and a
//! value that does not fit stops the start with the source named.
//!
//! **Precedence**, later wins: the declaration's default, `OMPI_MCA_x`, `OXMPI_MCA_x`, the command
//! line, what the program itself sets. The launcher hands the command line on as `OXMPI_MCA_x`
//! together with `OXMPI_MCA_SOURCE_x=command line`, so that a rank can tell the two apart.
//!
//! **Nothing is a process-wide variable**: a resolver belongs to one runtime instance, and several
//! instances in one process may resolve the same name differently.
//!
//! Map: `declaration` (what a parameter is) · `value` (texts to values) · `origin` (where a text
//! came from) · `resolver` (precedence, unknown names) · `selection` (`--mca btl ^tcp`) · `error`.

mod declaration;
mod error;
mod origin;
mod resolver;
mod selection;
mod value;

pub use declaration::{Declaration, Kind};
pub use error::{ErrorKind, ParamError};
pub use origin::{ENVIRONMENT, ENVIRONMENT_OPEN_MPI, Origin, SOURCE, SOURCE_COMMAND_LINE};
pub use oxmpi_mca::Scope;
pub use resolver::{Resolved, Resolver, Setting, Unknown, nearest};
pub use selection::Selection;
pub use value::Value;
