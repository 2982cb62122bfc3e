! Procedures of a shared library by module mpi_f08, with the constants that have an address; `module_check` answers with what is wrong, in bits.
subroutine module_check(wrong)
   use mpi_f08
   use, intrinsic :: iso_c_binding
   implicit none
   integer :: wrong, me, n, total, value, size
   type(MPI_Request) :: requests(2)
   type(c_ptr) :: at
   integer(kind=MPI_ADDRESS_KIND) :: address
   wrong = 0
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   call MPI_Comm_size(MPI_COMM_WORLD, n)
   total = me
   call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (total /= n * (n - 1) / 2) wrong = wrong + 1
   call MPI_Get_address(MPI_BOTTOM, address)
   if (address /= 0) wrong = wrong + 2
   call MPI_Irecv(value, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(1))
   call MPI_Isend(me, 1, MPI_INTEGER, 0, 4, MPI_COMM_SELF, requests(2))
   call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
   call MPI_Sendrecv(me, 1, MPI_INTEGER, 0, 5, value, 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE)
   if (value /= me) wrong = wrong + 4
   call MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0)
   call MPI_Comm_detach_buffer(MPI_COMM_SELF, at, size)
   if (transfer(at, address) /= loc(MPI_BUFFER_AUTOMATIC)) wrong = wrong + 8
end subroutine module_check

subroutine module_address(at)
   use mpi_f08
   implicit none
   integer(kind=MPI_ADDRESS_KIND) :: at
   at = loc(MPI_IN_PLACE)
end subroutine module_address
