//! The suite every component for collective file access must pass.

use oxmpi_fcoll_conformance::{Setup, suite};

suite!(Setup::new(fcoll_individual::descriptor()));
