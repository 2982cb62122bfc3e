! Module mpi_ext_f08: endpoints, streams, notified one-sided communication, sync objects. Every rank says ok, or what is wrong.
program extensions_f08
   use mpi_f08
   use mpi_ext_f08
   use, intrinsic :: iso_c_binding
   implicit none
   integer, parameter :: AK = MPI_ADDRESS_KIND, CK = MPI_COUNT_KIND
   integer :: wrong = 0, me, n, provided
   integer :: seen(2)
   common /tool/ seen

   call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   call MPI_Comm_size(MPI_COMM_WORLD, n)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
   seen = 0
   call endpoints
   call streams
   call notified
   call events
   call MPIX_Progress()
   call PMPIX_Progress()
   call check(all(seen == 1), 'a tool sees calls of extensions')
   call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (wrong == 0) print '(a)', 'ok'
   call MPI_Finalize()

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

   subroutine endpoints
      type(MPI_Comm) :: both(2), of_threads
      integer :: size, process, endpoint, rank, ierr, class, seven
      integer, asynchronous :: got
      type(MPI_Request) :: request
      logical :: flag
      call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, both)
      call MPI_Comm_size(both(1), size)
      call check(size == 2 * n, 'as many endpoints as were asked for')
      call MPI_Comm_rank(both(2), rank)
      call MPIX_Comm_get_endpoint(both(1), rank, process, endpoint)
      call check(process == me, 'the process of an endpoint')
      call MPIX_Comm_shares_memory(both(1), rank, flag)
      call check(flag, 'endpoints of a process share memory')
      if (n > 1) then
         call MPIX_Comm_shares_memory(both(1), mod(rank + 2, size), flag)
         call check(.not. flag, 'those of another do not')
      end if
      call MPIX_Comm_test_threadcomm(both(1), flag)
      call check(flag, 'a communicator of endpoints is known')
      call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, both(2), request)
      seven = 7
      call MPI_Send(seven, 1, MPI_INTEGER, rank, 5, both(1))
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_F_sync_reg(got)
      call check(got == 7, 'a message between endpoints')
      call MPIX_Comm_create_endpoints(MPI_COMM_SELF, -1, MPI_INFO_NULL, both(:0), ierr)
      call MPI_Error_class(ierr, class)
      call check(class == MPI_ERR_ARG, 'a negative number is an error')
      call MPI_Comm_free(both(1))
      call MPI_Comm_free(both(2))

      call MPIX_Threadcomm_init(MPI_COMM_WORLD, 1, of_threads)
      call MPIX_Threadcomm_start(of_threads)
      call MPI_Comm_size(of_threads, size)
      call check(size == n, 'a thread communicator')
      call MPIX_Threadcomm_finish(of_threads)
      call MPIX_Threadcomm_free(of_threads)
      call check(of_threads == MPI_COMM_NULL, 'a freed thread communicator')
   end subroutine endpoints

   subroutine streams
      type(MPIX_Stream) :: stream, known
      type(MPI_Comm) :: comm
      type(MPI_Request) :: request
      type(MPI_Status) :: status
      integer, asynchronous :: in
      integer :: out
      call MPIX_Stream_create(MPI_INFO_NULL, stream)
      call check(c_associated(stream%MPIX_VAL), 'a stream')
      call MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, comm)
      call MPIX_Comm_get_stream(comm, 0, known)
      call check(c_associated(known%MPIX_VAL, stream%MPIX_VAL), 'its stream')
      call MPIX_Stream_irecv(in, 1, MPI_INTEGER, mod(me + n - 1, n), 2, comm, 0, 0, request)
      out = me
      call MPIX_Stream_send(out, 1_CK, MPI_INTEGER, mod(me + 1, n), 2, comm, 0, 0)
      call MPIX_Stream_progress(stream)
      call MPI_Wait(request, status)
      call MPI_F_sync_reg(in)
      call check(in == mod(me + n - 1, n) .and. status%MPI_TAG == 2, 'a message of a stream')
      call MPIX_Stream_isend(out, 1, MPI_INTEGER, mod(me + 1, n), 3, comm, 0, 0, request)
      call MPIX_Stream_recv(in, 1, MPI_INTEGER, mod(me + n - 1, n), 3, comm, 0, 0, status)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(in == mod(me + n - 1, n), 'another')
      call MPI_Comm_free(comm)
      call MPIX_Stream_free(stream)
      call check(.not. c_associated(stream%MPIX_VAL), 'a freed stream')
   end subroutine streams

   subroutine notified
      type(MPI_Win) :: win, second
      type(MPI_Info) :: info
      type(c_ptr) :: at
      integer, pointer :: cells(:)
      integer, asynchronous :: number, back
      integer :: counters, right
      integer(kind=CK) :: value
      call MPI_Info_create(info)
      call MPI_Info_set(info, 'mpi_num_notify', '3')
      call MPI_Win_allocate(16_AK, 4, info, MPI_COMM_WORLD, at, win)
      call MPI_Info_free(info)
      call c_f_pointer(at, cells, [4])
      cells = [11, 12, 13, 14]
      right = mod(me + 1, n)
      call MPIX_Win_get_num_notify(win, right, counters)
      call check(counters == 3, 'counters')
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Win_lock_all(0, win)
      number = 100 + me
      call MPIX_Put_notify(number, 1, MPI_INTEGER, right, 1_AK, 1, MPI_INTEGER, 2, win)
      call MPIX_Win_wait_notify_value(win, 2, 1_CK, value)
      call check(value == 1 .and. cells(2) == 100 + mod(me + n - 1, n), 'a notified put')
      call MPIX_Win_reset_notify_value(win, 2, value)
      call check(value == 1, 'a counter before it is 0')
      call MPIX_Win_get_notify_value(win, 2, value)
      call check(value == 0, 'a counter that is 0')
      call MPIX_Get_notify(back, 1_CK, MPI_INTEGER, right, 3_AK, 1_CK, MPI_INTEGER, 1, win)
      call MPI_Win_flush(right, win)
      call check(back == 14, 'a notified get')
      call MPIX_Win_wait_notify_value(win, 1, 1_CK, value)
      call check(value == 1, 'its notification')
      call MPIX_Win_dup_with_info(win, MPI_INFO_NULL, second)
      call MPI_Win_lock_all(0, second)
      number = 200 + me
      call MPI_Put(number, 1, MPI_INTEGER, right, 0_AK, 1, MPI_INTEGER, second)
      call MPIX_Win_flush_many(2, [win, second])
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Win_sync(win)
      call check(cells(1) == 200 + mod(me + n - 1, n), 'a put through a second window')
      call MPI_Win_unlock_all(second)
      call MPI_Win_unlock_all(win)
      call MPI_Win_free(second)
      call MPI_Win_free(win)
   end subroutine notified

   subroutine events
      type(MPIX_Sync) :: sync
      type(MPI_Request) :: requests(3)
      type(MPI_Status) :: status
      integer, asynchronous :: in(3)
      integer :: i, pending, there, turns
      integer(kind=AK) :: data, both(2)
      logical :: flag
      call MPIX_Sync_init(sync)
      do i = 1, 3
         call MPI_Irecv(in(i), 1, MPI_INTEGER, me, i, MPI_COMM_WORLD, requests(i))
      end do
      call MPIX_Sync_attach(sync, requests(1), 71_AK)
      call MPIX_Sync_attach(sync, requests(2), 72_AK)
      call MPIX_Sync_attach(sync, requests(3))
      call MPIX_Sync_size(sync, pending)
      call check(pending == 3, 'requests that are pending')
      call MPIX_Sync_query(sync, data, flag, MPI_STATUS_IGNORE)
      call check(.not. flag, 'no event')
      do i = 1, 3
         call MPI_Send(i, 1, MPI_INTEGER, me, i, MPI_COMM_WORLD)
      end do
      call MPIX_Sync_waitall(sync)
      call MPIX_Sync_probe(sync, there)
      call check(there == 2, 'events')
      call MPIX_Sync_query(sync, data, flag, status)
      call check(flag .and. data == 71, 'the first event')
      call MPIX_Sync_query_bulk(2, sync, turns, both, MPI_STATUSES_IGNORE)
      call check(turns == 1 .and. both(1) == 72, 'the other')
      call MPI_F_sync_reg(in)
      call check(all(in == [1, 2, 3]), 'what was received')
      call MPI_Irecv(in(1), 1, MPI_INTEGER, me, 9, MPI_COMM_WORLD, requests(1))
      call MPIX_Sync_attach(sync, requests(1), 73_AK)
      call MPIX_Sync_detach(sync, requests(1))
      call MPI_Send(me, 1, MPI_INTEGER, me, 9, MPI_COMM_WORLD)
      call MPI_Wait(requests(1), status)
      call check(status%MPI_TAG == 9, 'a request that was detached')
      call MPIX_Sync_free(sync)
   end subroutine events

end program extensions_f08

! A tool in Fortran: it defines the procedures and calls those whose names begin with P.
subroutine MPIX_Sync_size_f08(sync, size, ierror)
   use mpi_ext_f08, only: MPIX_Sync, PMPIX_Sync_size
   implicit none
   type(MPIX_Sync), intent(in) :: sync
   integer, intent(out) :: size
   integer, optional, intent(out) :: ierror
   integer :: seen(2)
   common /tool/ seen
   seen(1) = seen(1) + 1
   call PMPIX_Sync_size(sync, size, ierror)
end subroutine MPIX_Sync_size_f08

subroutine MPIX_Win_get_num_notify_f08(win, rank, num_notify, ierror)
   use mpi_f08_types, only: MPI_Win
   use mpi_ext_f08, only: PMPIX_Win_get_num_notify
   implicit none
   type(MPI_Win), intent(in) :: win
   integer, intent(in) :: rank
   integer, intent(out) :: num_notify
   integer, optional, intent(out) :: ierror
   integer :: seen(2)
   common /tool/ seen
   seen(2) = seen(2) + 1
   call PMPIX_Win_get_num_notify(win, rank, num_notify, ierror)
end subroutine MPIX_Win_get_num_notify_f08
