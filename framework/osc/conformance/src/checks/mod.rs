//! The checks, by what they are about. A file registers its own.

mod accumulate;
mod atomic;
mod counts;
mod duplicate;
mod dynamic;
mod epoch;
mod fence;
mod flavor;
mod life;
mod lock;
mod notify;
mod order;
mod post;
mod request;
mod shape;
mod size;
mod threads;
