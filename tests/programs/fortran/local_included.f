! Procedures of a shared library by mpif.h, with the constants that
! have an address. Compiled twice, with the names OWN_ADDRESS and
! OWN_CHECK; the second answers with what is wrong, in bits.
      subroutine OWN_CHECK(wrong)
      include 'mpif.h'
      integer wrong, me, n, ierr, total, value, win, size
      integer weights(1), degrees(1), targets(1), comm, lines, out, some
      logical weighted
      integer(kind=MPI_ADDRESS_KIND) at, address
      wrong = 0
      call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, n, ierr)
      total = me
      call mpi_allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &   MPI_COMM_WORLD, ierr)
      if (total .ne. n * (n - 1) / 2) wrong = wrong + 1
      call mpi_get_address(MPI_BOTTOM, at, ierr)
      call mpi_get_address(value, address, ierr)
      if (at .ne. 0) wrong = wrong + 2
      value = -1
      call send_to_myself(address, value)
      if (value .ne. 17) wrong = wrong + 4
      targets(1) = me
      degrees(1) = 1
      call mpi_dist_graph_create(MPI_COMM_SELF, 1, 0, degrees, 0,
     &   MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierr)
      call mpi_dist_graph_neighbors_count(comm, lines, out, weighted,
     &   ierr)
      if (weighted) wrong = wrong + 8
      call mpi_comm_free(comm, ierr)
      call mpi_comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC,
     &   0, ierr)
      call mpi_comm_detach_buffer(MPI_COMM_SELF, some, size, ierr)
      if (ierr .ne. MPI_SUCCESS) wrong = wrong + 16
      end

! Receives at an absolute address, and wants no status.
      subroutine send_to_myself(address, value)
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) address
      integer value, type, request, seventeen, ierr
      integer both(2), requests(2)
      seventeen = 17
      call mpi_type_create_hindexed_block(1, 1, address, MPI_INTEGER,
     &   type, ierr)
      call mpi_type_commit(type, ierr)
      call mpi_irecv(MPI_BOTTOM, 1, type, 0, 3, MPI_COMM_SELF,
     &   requests(1), ierr)
      call mpi_isend(seventeen, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF,
     &   requests(2), ierr)
      call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      call mpi_isend(seventeen, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF,
     &   request, ierr)
      call mpi_recv(both, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF,
     &   MPI_STATUS_IGNORE, ierr)
      call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
      call mpi_type_free(type, ierr)
      if (both(1) .ne. 17) value = -2
      end

! The address of this library's own MPI_IN_PLACE.
      subroutine OWN_ADDRESS(at)
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) at
      at = loc(MPI_IN_PLACE)
      end
