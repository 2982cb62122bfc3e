//! Parts that drivers of network devices share, and no state: [`Pages`], [`Bell`], [`Timer`], [`Helper`], [`Library`].

mod descriptors;
mod helper;
mod library;
mod pages;

pub use descriptors::{Bell, Timer};
pub use helper::Helper;
pub use library::Library;
pub use pages::Pages;
