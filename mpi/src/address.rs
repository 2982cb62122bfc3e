//! Addresses (MPI 5.0 §5.1.5).

use crate::call::memory::{Address, Out, write};
use crate::error::call_outside;
use crate::types::Aint;
use core::ffi::c_int;

mpi_fn! {
    any_time fn MPI_Get_address(location: Address, address: Out<Aint>) -> c_int {
        call_outside(NAME, None, |_| write(address, "address", location.addr() as Aint))
    }
}
mpi_fn! {
    any_time fn MPI_Aint_add(base: Aint, disp: Aint) -> Aint {
        base.wrapping_add(disp)
    }
}
mpi_fn! {
    any_time fn MPI_Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        addr1.wrapping_sub(addr2)
    }
}
