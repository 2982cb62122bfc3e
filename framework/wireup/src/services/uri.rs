//! The URI of a server of names.

use crate::port::PortName;
use std::fmt;

const SCHEME: &str = "oxmpi-names1:";

/// Where a server of names is; one word of letters, digits and `:`, `.`, `-`.
#[derive(Clone, Debug)]
pub struct ServerUri(pub(super) PortName);

impl ServerUri {
    /// Reads a URI; `None`: it is none of a server of ours.
    pub fn parse(text: &str) -> Option<ServerUri> {
        PortName::parse(text.trim().strip_prefix(SCHEME)?).map(ServerUri)
    }
}

impl fmt::Display for ServerUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.0)
    }
}
