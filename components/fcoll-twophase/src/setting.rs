//! Facts of an exchange that all of its parts need.

use crate::domains::Domains;
use oxmpi_datatype::TypeRef;

/// Domains and rounds, and the type of a byte for messages, which lives as long as the exchange.
#[derive(Clone)]
pub struct Setting {
    pub domains: Domains,
    pub byte: TypeRef,
}
