//! The promise of the component boundary, kept: components that were compiled elsewhere, otherwise, or wrong.

mod builtin;
mod c_component;
mod c_types;
mod catalogue;
mod fabric;
mod header;
mod layout;
mod older;
mod one_sided;
mod outside;
mod refused;
mod support;
mod verbs;
mod whole;
