! Procedures that MPI 3.0 has removed: they link, with a warning for
! each, and work. Every rank says ok, or what is wrong.
      program removed
      include 'mpif.h'
      integer wrong, ierr, extent, lb, ub, at, handler, old, type
      integer lengths(2), displacements(2), types(2), size, numbers(4)
      integer status(MPI_STATUS_SIZE)
      common /counts/ calls
      integer calls
      external handle
      wrong = 0
      calls = 0
      call mpi_init(ierr)
      call mpi_type_extent(MPI_DOUBLE_PRECISION, extent, ierr)
      if (extent .ne. 8) wrong = wrong + 1
      call mpi_type_hvector(2, 1, 8, MPI_INTEGER, type, ierr)
      call mpi_type_lb(type, lb, ierr)
      call mpi_type_ub(type, ub, ierr)
      if (lb .ne. 0 .or. ub .ne. 12) wrong = wrong + 2
      call mpi_type_free(type, ierr)
      lengths(1) = 1
      lengths(2) = 2
      displacements(1) = 0
      displacements(2) = 8
      types(1) = MPI_INTEGER
      types(2) = MPI_REAL
      call mpi_type_struct(2, lengths, displacements, types, type, ierr)
      call mpi_type_size(type, size, ierr)
      if (size .ne. 12) wrong = wrong + 4
      call mpi_type_free(type, ierr)
      call mpi_type_hindexed(2, lengths, displacements, MPI_INTEGER,
     &   type, ierr)
      call mpi_type_commit(type, ierr)
      numbers = 0
      call mpi_sendrecv((/ 1, 2, 3 /), 3, MPI_INTEGER, 0, 1, numbers, 1,
     &   type, 0, 1, MPI_COMM_SELF, status, ierr)
      if (any(numbers .ne. (/ 1, 0, 2, 3 /))) wrong = wrong + 8
      call mpi_type_free(type, ierr)
! An address that an INTEGER does not hold is an error; which it is
! depends on where the program lies.
      call mpi_errhandler_create(handle, handler, ierr)
      call mpi_errhandler_get(MPI_COMM_SELF, old, ierr)
      call mpi_errhandler_set(MPI_COMM_SELF, handler, ierr)
      call mpi_send(at, 1, MPI_INTEGER, 77, 1, MPI_COMM_SELF, ierr)
      if (calls .ne. 1 .or. ierr .eq. MPI_SUCCESS) wrong = wrong + 16
      call mpi_errhandler_set(MPI_COMM_SELF, old, ierr)
      call mpi_errhandler_free(handler, ierr)
      call mpi_address(MPI_BOTTOM, at, ierr)
      if (ierr .ne. MPI_SUCCESS .or. at .ne. 0) wrong = wrong + 32
      if (wrong .eq. 0) print '(a)', 'ok'
      if (wrong .ne. 0) print *, 'wrong:', wrong
      call mpi_finalize(ierr)
      end

      subroutine handle(comm, code)
      integer comm, code, calls
      common /counts/ calls
      calls = calls + 1
      end
