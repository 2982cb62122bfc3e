//! The component through its exported descriptor, with ranks as threads. One binary, so that the
//! ranks and their network are compiled once.

mod blocks;
mod common;
mod failure;
mod movement;
mod neighbors;
mod reduction;
