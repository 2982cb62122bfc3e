//! The promise of the component boundary, kept: components that were compiled elsewhere, otherwise, or wrong.

mod c_component;
mod c_types;
mod header;
mod layout;
mod outside;
mod support;
