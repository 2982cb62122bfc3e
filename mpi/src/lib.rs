//! The MPI 5.0 standard ABI: libmpi_abi.so.1.
