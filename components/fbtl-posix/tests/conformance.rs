//! The suite every component that transfers data must pass, over fbtl-posix.

use oxmpi_fbtl_conformance::{Setup, suite};

suite!(
    Setup::new(fbtl_posix::descriptor())
        .variant(&[("num_threads", "1")])
        .variant(&[("max_block_size", "64"), ("max_gap_size", "7"), ("max_tmpbuf_size", "200")])
        .bound("max_aio_reqs")
);
