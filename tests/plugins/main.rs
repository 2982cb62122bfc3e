//! The promise of the component boundary, kept: components that were compiled elsewhere, otherwise, or wrong.

mod builtin;
mod c_component;
mod c_types;
mod catalogue;
mod collective;
mod fabric;
mod foreign_builds;
mod frozen_components;
mod frozen_header;
mod header;
mod layout;
mod older_components;
mod one_sided;
mod refused;
mod support;
mod third_party_transports;
mod verbs;
