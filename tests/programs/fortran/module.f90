! Procedures by module mpi, whose interfaces the compiler checks: buffers of several types and ranks, keyword arguments, C pointers, sizes.
! Every rank says ok, or what is wrong.
program module_mpi
   use mpi
   use, intrinsic :: iso_c_binding
   implicit none
   integer :: wrong = 0, me, n, ierr, win, length, bytes
   integer :: matrix(3, 2), status(MPI_STATUS_SIZE)
   real(kind=8) :: pair(2), sum(2)
   complex :: z
   character(len=12) :: text
   character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
   logical :: flag, all
   type(c_ptr) :: at
   integer(kind=MPI_ADDRESS_KIND) :: address
   integer, pointer :: cells(:)

   call MPI_Init_thread(required=MPI_THREAD_SINGLE, provided=length, ierror=ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call MPI_Initialized(flag, ierr)
   call check(flag, 'initialized')

   matrix = 0
   if (me == 0) matrix = reshape([1, 2, 3, 4, 5, 6], [3, 2])
   call MPI_Bcast(matrix, 6, MPI_INTEGER, root=0, comm=MPI_COMM_WORLD, ierror=ierr)
   call check(matrix(3, 2) == 6, 'a matrix')
   pair = [real(me, 8), 1.0d0]
   call MPI_Allreduce(pair, sum, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
   call check(nint(sum(1)) == n * (n - 1) / 2 .and. nint(sum(2)) == n, 'a sum')
   z = (0.0, 0.0)
   if (me == n - 1) z = (1.0, 2.0)
   call MPI_Bcast(z, 1, MPI_COMPLEX, n - 1, MPI_COMM_WORLD, ierr)
   call check(z == (1.0, 2.0), 'a scalar')
   text = ' '
   if (me == 0) text = 'twelve bytes'
   call MPI_Bcast(text, 12, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
   call check(text == 'twelve bytes', 'a text')
   flag = me /= 0
   call MPI_Allreduce(flag, all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
   call check(.not. all, 'truth values')
   call PMPI_Sendrecv(me, 1, MPI_INTEGER, me, 1, length, 1, MPI_INTEGER, me, 1, MPI_COMM_WORLD, status, ierr)
   call check(length == me .and. status(MPI_SOURCE) == me, 'the profiling interface')

   call MPI_Sizeof(pair, bytes, ierr)
   call check(bytes == 8, 'the size of an array''s element')
   call MPI_Sizeof(z, bytes, ierr)
   call check(bytes == 8, 'the size of a scalar')
   call MPI_Get_library_version(version, length, ierr)
   call check(length > 0 .and. len_trim(version) == length, 'the version')

   call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, at, win, ierr)
   call c_f_pointer(at, cells, [4])
   cells = -1
   call MPI_Win_fence(0, win, ierr)
   call MPI_Put(me, 1, MPI_INTEGER, mod(me + 1, n), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
   call MPI_Win_fence(0, win, ierr)
   call check(cells(3) == mod(me + n - 1, n), 'a put')
   call MPI_Win_free(win, ierr)
   call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, address, ierr)
   call check(ierr == MPI_SUCCESS .and. address /= 0, 'memory')
   at = transfer(address, at)
   call c_f_pointer(at, cells, [16])
   cells = 7
   call MPI_Free_mem(cells, ierr)
   call check(ierr == MPI_SUCCESS, 'memory that is freed')

   call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
   if (wrong == 0) print '(a)', 'ok'
   call MPI_Finalize(ierr)

contains

   ! Says that something does not hold.
   subroutine check(holds, what)
      logical, intent(in) :: holds
      character(len=*), intent(in) :: what
      if (.not. holds) then
         wrong = wrong + 1
         print '(a,i0,2a)', 'rank ', me, ': ', what
      end if
   end subroutine check

end program module_mpi
