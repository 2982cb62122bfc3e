//! A verbs device in software. README.md says what it does and how it is set up; `rc/mod.rs` heads the code with the life of a
//! message, `nic.rs` with who runs it, `uar.rs` with mlx5's resource rules.

mod channel;
mod config;
mod context;
mod control;
mod counters;
mod cq;
mod device;
mod domains;
mod links;
mod lock;
mod memory;
mod mlx5dv;
mod nic;
mod objects;
mod packet;
mod pairs;
mod polling;
mod qp;
mod qp_core;
mod queues;
mod rc;
mod requests;
mod ring;
mod strings;
mod sys;
mod uar;
