//! Resolves MCA parameters: what is declared, who sets it, what wins, and who to blame.
//!
//! Two kinds of facts meet in a [`Resolver`]. *Settings* (name, text, [`Origin`]) are collected
//! first and mean nothing yet: nobody knows the type of `btl_tcp_links` before the TCP component
//! has been seen. *Declarations* come later, one per parameter, from the host and from each
//! component; declaring resolves at once, so a component gets its values when it is opened, and a
//! value that does not fit stops the start with the source named.
//!
//! **Precedence**, later wins: the declaration's default, the site's file, the user's file, tune
//! files and profiles, `OMPI_MCA_x`, `OXMPI_MCA_x`, the command line, what the program itself sets,
//! the site's override file. The launcher reads files and command line and hands the winning texts
//! on as `OXMPI_MCA_x` together with `OXMPI_MCA_SOURCE_x`, which says where each came from, so a
//! rank can tell them apart and reads no file.
//!
//! **Nothing is a process-wide variable**: a resolver belongs to one runtime instance, and several
//! instances in one process may resolve the same name differently.
//!
//! Map: `declaration` (what a parameter is) · `value` (texts to values) · `origin` (where a text
//! came from) · `file/` (parameter files) · `sources` (all sources in their order) · `resolver`
//! (precedence, unknown and deprecated names, writing) · `selection` (`--mca btl ^tcp`) ·
//! `catalogue` (the lists of all parameters that are in the repository) · `error`.

pub mod catalogue;
mod declaration;
mod error;
pub mod file;
mod origin;
mod resolver;
mod selection;
mod similar_names;
pub mod sources;
mod text_file;
mod value;

pub use declaration::{Declaration, Kind};
pub use error::{ErrorKind, ParamError};
pub use origin::{CHECKED, ENVIRONMENT, ENVIRONMENT_OPEN_MPI, FILES_ARE_READ, Origin, SOURCE, Tier};
pub use oxmpi_mca::Scope;
pub use resolver::{CannotSet, Deprecated, Resolved, Resolver, Setting, Unknown};
pub use selection::Selection;
pub use similar_names::nearest;
pub use sources::{CommandSetting, Places, Reader, SourceError, Sources};
pub use value::Value;
