! Blocks of one process in a section whose elements lie a gigabyte apart: displacements in memory are beyond what an INTEGER holds.
program far
   use mpi_f08
   use iso_fortran_env, only: int8, int64
   implicit none
   integer(int64), parameter :: step = 1000000000_int64
   integer(int8), allocatable, asynchronous :: a(:)
   integer(int8) :: b(2)
   integer :: ierr, counts(1), displs(1), zero(1)
   type(MPI_Datatype) :: types(1), pair
   type(MPI_Request) :: request
   integer :: form
   call MPI_Init()
   if (.not. MPI_SUBARRAYS_SUPPORTED) error stop 'no descriptors'
   allocate (a(0:4*step), stat=ierr)
   if (ierr /= 0) then
      print '(a)', 'left out: no address space for an array of 4 GB', 'ok'
      call MPI_Finalize()
      stop
   end if
   call MPI_Type_contiguous(2, MPI_BYTE, pair)
   call MPI_Type_commit(pair)
   zero = 0
   do form = 1, 2
      a(3*step) = int(40 + form, int8); a(4*step) = 50_int8
      b = 0
      displs = 3
      counts = 1
      types(1) = pair
      if (form == 1) types(1) = MPI_BYTE
      call MPI_Alltoallw(a(0::step), counts, displs, types, b, counts, zero, types, MPI_COMM_SELF)
      if (b(1) /= 40 + form) error stop 'blocking'
      if (form == 2 .and. b(2) /= 50) error stop 'second'
      b = 7
      call MPI_Ialltoallw(b, counts, zero, types, a(0::step), counts, displs, types, MPI_COMM_SELF, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (a(3*step) /= 7) error stop 'nonblocking'
   end do
   call MPI_Type_free(pair)
   print '(a)', 'ok'
   call MPI_Finalize()
end program far
