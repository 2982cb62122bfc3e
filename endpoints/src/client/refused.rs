//! Functions on communicators, requests and messages that no other file defines: conventional handles pass on, those of
//! endpoints get MPI_ERR_UNSUPPORTED_OPERATION and a line that names the function.

use super::{comm, error, request};
use crate::abi::{c_char, c_int, c_void};
use crate::pmpi;

include!(concat!(env!("OUT_DIR"), "/refused.rs"));
