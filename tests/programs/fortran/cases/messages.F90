! Messages between two processes: sends and receives of all kinds, requests, statuses, probes, buffers, partitioned messages. Every rank says ok, or what is wrong.
#include "cases.h"
program messages
   MODULES
   implicit none
   HEADER
   integer :: wrong = 0, me, n, ierr, left, right
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
   left = mod(me + n - 1, n)
   right = mod(me + 1, n)
   call blocking
   call nonblocking
   call persistent
   call exchanges
   call several
   call statuses_of_mine
   call probes
   call buffers
   call parts
   call generalized
   call sections
   call finish

contains

   subroutine blocking
      STATUS :: s
      HANDLE(MPI_Request) :: r
      integer ASYNC :: in
      NUMBER :: count
      integer :: out
      out = me
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 1, MPI_COMM_WORLD, r, ierr)
      call MPI_Send(out, NUM(1), MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_F_sync_reg(in)
      call check(in == left .and. TAG(s) == 1 .and. SOURCE(s) == left, 'MPI_Send')
      call MPI_Get_count(s, MPI_INTEGER, count, ierr)
      call check(count == 1, 'MPI_Get_count')
      call MPI_Get_elements(s, MPI_INTEGER, count, ierr)
      call check(count == 1, 'MPI_Get_elements')
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 2, MPI_COMM_WORLD, r, ierr)
      call MPI_Ssend(out, NUM(1), MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierr)
      call MPI_Wait(r, s, ierr)
      call check(in == left .and. TAG(s) == 2, 'MPI_Ssend')
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 3, MPI_COMM_WORLD, r, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Rsend(out, NUM(1), MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierr)
      call MPI_Wait(r, s, ierr)
      call check(in == left .and. TAG(s) == 3, 'MPI_Rsend')
      call MPI_Isend(out, NUM(1), MPI_INTEGER, right, 4, MPI_COMM_WORLD, r, ierr)
      in = -1
      call MPI_Recv(in, NUM(1), MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, s, ierr)
      call check(in == left .and. SOURCE(s) == left, 'MPI_Recv')
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call MPI_Send(out, NUM(1), MPI_INTEGER, n, 4, MPI_COMM_WORLD, ierr)
      call fails(ierr, MPI_ERR_RANK, 'a rank that is none')
#if defined(BY_F08)
      call MPI_Isend(out, 1_MPI_COUNT_KIND, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r)
      call MPI_Recv(in, 1_MPI_COUNT_KIND, MPI_INTEGER, left, 5, MPI_COMM_WORLD, s)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      call check(in == left, 'MPI_Recv_c')
#endif
   end subroutine blocking

   subroutine nonblocking
      STATUS :: s
      STATUSES(2) :: both
      HANDLE(MPI_Request) :: r(2)
      integer ASYNC :: in, out
      logical :: flag
      out = 10 + me
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 6, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Issend(out, NUM(1), MPI_INTEGER, right, 6, MPI_COMM_WORLD, r(2), ierr)
      call MPI_Waitall(2, r, both, ierr)
      call MPI_F_sync_reg(in)
      call check(in == 10 + left .and. r(1) == MPI_REQUEST_NULL, 'MPI_Issend, MPI_Waitall')
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 7, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Irsend(out, NUM(1), MPI_INTEGER, right, 7, MPI_COMM_WORLD, r(2), ierr)
      flag = .false.
      do while (.not. flag)
         call MPI_Test(r(1), flag, s, ierr)
      end do
      call check(TAG(s) == 7, 'MPI_Irsend, MPI_Test')
      call MPI_Wait(r(2), MPI_STATUS_IGNORE, ierr)
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, left, 8, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Cancel(r(1), ierr)
      call MPI_Wait(r(1), s, ierr)
      call MPI_Test_cancelled(s, flag, ierr)
      call check(flag, 'MPI_Cancel, MPI_Test_cancelled')
      call MPI_Isend(out, NUM(1), MPI_INTEGER, right, 9, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Request_free(r(1), ierr)
      call check(r(1) == MPI_REQUEST_NULL, 'MPI_Request_free')
      call MPI_Recv(in, NUM(1), MPI_INTEGER, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Irecv(in, NUM(1), MPI_INTEGER, me, 10, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Request_get_status(r(1), flag, s, ierr)
      call check(.not. flag, 'MPI_Request_get_status, before')
      call MPI_Send(out, NUM(1), MPI_INTEGER, me, 10, MPI_COMM_WORLD, ierr)
      flag = .false.
      do while (.not. flag)
         call MPI_Request_get_status(r(1), flag, s, ierr)
      end do
      call check(TAG(s) == 10 .and. r(1) /= MPI_REQUEST_NULL, 'MPI_Request_get_status')
      call MPI_Wait(r(1), MPI_STATUS_IGNORE, ierr)
   end subroutine nonblocking

   subroutine persistent
      STATUSES(2) :: both
      HANDLE(MPI_Request) :: r(2)
      integer ASYNC :: in, out
      integer :: i
      do i = 1, 4
         call MPI_Recv_init(in, NUM(1), MPI_INTEGER, left, 20 + i, MPI_COMM_WORLD, r(1), ierr)
         select case (i)
         case (1)
            call MPI_Send_init(out, NUM(1), MPI_INTEGER, right, 20 + i, MPI_COMM_WORLD, r(2), ierr)
         case (2)
            call MPI_Ssend_init(out, NUM(1), MPI_INTEGER, right, 20 + i, MPI_COMM_WORLD, r(2), ierr)
         case (3)
            call MPI_Rsend_init(out, NUM(1), MPI_INTEGER, right, 20 + i, MPI_COMM_WORLD, r(2), ierr)
         case default
            call MPI_Send_init(out, NUM(1), MPI_INTEGER, right, 20 + i, MPI_COMM_WORLD, r(2), ierr)
         end select
         out = 30 + i + me
         in = -1
         if (i == 4) then
            call MPI_Startall(2, r, ierr)
         else
            call MPI_Start(r(1), ierr)
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
            call MPI_Start(r(2), ierr)
         end if
         call MPI_Waitall(2, r, both, ierr)
         call MPI_F_sync_reg(in)
         call check(in == 30 + i + left .and. r(1) /= MPI_REQUEST_NULL, 'a persistent message')
         call MPI_Request_free(r(1), ierr)
         call MPI_Request_free(r(2), ierr)
      end do
   end subroutine persistent

   subroutine exchanges
      STATUS :: s
      HANDLE(MPI_Request) :: r
      integer ASYNC :: in, out
      out = 40 + me
      call MPI_Sendrecv(out, NUM(1), MPI_INTEGER, right, 11, in, NUM(1), MPI_INTEGER, left, 11, MPI_COMM_WORLD, s, ierr)
      call check(in == 40 + left .and. SOURCE(s) == left, 'MPI_Sendrecv')
      call MPI_Sendrecv_replace(out, NUM(1), MPI_INTEGER, right, 12, left, 12, MPI_COMM_WORLD, s, ierr)
      call check(out == 40 + left .and. TAG(s) == 12, 'MPI_Sendrecv_replace')
      out = 50 + me
      call MPI_Isendrecv(out, NUM(1), MPI_INTEGER, right, 13, in, NUM(1), MPI_INTEGER, left, 13, MPI_COMM_WORLD, r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_F_sync_reg(in)
      call check(in == 50 + left, 'MPI_Isendrecv')
      call MPI_Isendrecv_replace(out, NUM(1), MPI_INTEGER, right, 14, left, 14, MPI_COMM_WORLD, r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_F_sync_reg(out)
      call check(out == 50 + left, 'MPI_Isendrecv_replace')
   end subroutine exchanges

   subroutine several
      STATUS :: s
      STATUSES(3) :: all
      HANDLE(MPI_Request) :: r(3)
      integer ASYNC :: in(3)
      integer :: i, index, done, where(3)
      logical :: flag
      call post(in, r)
      call MPI_Testall(3, r, flag, all, ierr)
      call check(.not. flag, 'MPI_Testall, before')
      call MPI_Testany(3, r, index, flag, s, ierr)
      call check(.not. flag .and. index == MPI_UNDEFINED, 'MPI_Testany, before')
      call MPI_Testsome(3, r, done, where, all, ierr)
      call check(done == 0, 'MPI_Testsome, before')
      call MPI_Request_get_status_any(3, r, index, flag, s, ierr)
      call check(.not. flag, 'MPI_Request_get_status_any, before')
      call MPI_Request_get_status_all(3, r, flag, all, ierr)
      call check(.not. flag, 'MPI_Request_get_status_all, before')
      call MPI_Request_get_status_some(3, r, done, where, all, ierr)
      call check(done == 0, 'MPI_Request_get_status_some, before')
      i = 62
      call MPI_Send(i, NUM(1), MPI_INTEGER, me, 62, MPI_COMM_WORLD, ierr)
      call MPI_Waitany(3, r, index, s, ierr)
      call check(index == 2 .and. TAG(s) == 62 .and. r(2) == MPI_REQUEST_NULL, 'MPI_Waitany')
      i = 63
      call MPI_Send(i, NUM(1), MPI_INTEGER, me, 63, MPI_COMM_WORLD, ierr)
      call MPI_Request_get_status_any(3, r, index, flag, s, ierr)
      do while (.not. flag)
         call MPI_Request_get_status_any(3, r, index, flag, s, ierr)
      end do
      call check(index == 3 .and. TAG(s) == 63, 'MPI_Request_get_status_any')
      call MPI_Request_get_status_some(3, r, done, where, all, ierr)
      call check(done == 1 .and. where(1) == 3, 'MPI_Request_get_status_some')
      call MPI_Waitsome(3, r, done, where, all, ierr)
      call check(done == 1 .and. where(1) == 3, 'MPI_Waitsome')
      i = 61
      call MPI_Send(i, NUM(1), MPI_INTEGER, me, 61, MPI_COMM_WORLD, ierr)
      flag = .false.
      do while (.not. flag)
         call MPI_Request_get_status_all(3, r, flag, all, ierr)
      end do
      call MPI_Testany(3, r, index, flag, s, ierr)
      call check(flag .and. index == 1, 'MPI_Testany, MPI_Request_get_status_all')
      call MPI_Testall(3, r, flag, all, ierr)
      call check(flag, 'MPI_Testall of none')
      call MPI_F_sync_reg(in)
      call check(in(1) == 61 .and. in(2) == 62 .and. in(3) == 63, 'what was received')
      call MPI_Irecv(in(1), NUM(1), MPI_INTEGER, me, 61, MPI_COMM_WORLD, r(1), ierr)
      call MPI_Send(i, NUM(1), MPI_INTEGER, me, 61, MPI_COMM_WORLD, ierr)
      done = 0
      do while (done == 0)
         call MPI_Testsome(3, r, done, where, all, ierr)
      end do
      call check(done == 1 .and. where(1) == 1, 'MPI_Testsome')
   end subroutine several

   subroutine post(in, r)
      integer ASYNC :: in(3)
      HANDLE(MPI_Request) :: r(3)
      integer :: i
      do i = 1, 3
         call MPI_Irecv(in(i), NUM(1), MPI_INTEGER, me, 60 + i, MPI_COMM_WORLD, r(i), ierr)
      end do
   end subroutine post

   subroutine statuses_of_mine
      STATUS :: s
      integer :: number
      NUMBER :: count
      integer(kind=MPI_COUNT_KIND) :: long
      logical :: flag
      call MPI_Sendrecv(me, NUM(1), MPI_INTEGER, me, 15, number, NUM(1), MPI_INTEGER, me, 15, MPI_COMM_WORLD, s, ierr)
      call MPI_Get_elements_x(s, MPI_INTEGER, long, ierr)
      call check(long == 1, 'MPI_Get_elements_x')
      call MPI_Status_set_source(s, 5, ierr)
      call MPI_Status_get_source(s, number, ierr)
      call check(number == 5 .and. SOURCE(s) == 5, 'MPI_Status_set_source')
      call MPI_Status_set_tag(s, 6, ierr)
      call MPI_Status_get_tag(s, number, ierr)
      call check(number == 6 .and. TAG(s) == 6, 'MPI_Status_set_tag')
      call MPI_Status_set_error(s, MPI_ERR_TAG, ierr)
      call MPI_Status_get_error(s, number, ierr)
      call check(number == MPI_ERR_TAG, 'MPI_Status_set_error')
      call MPI_Status_set_cancelled(s, .true., ierr)
      call MPI_Test_cancelled(s, flag, ierr)
      call check(flag, 'MPI_Status_set_cancelled')
      call MPI_Status_set_elements(s, MPI_INTEGER, NUM(3), ierr)
      call MPI_Get_count(s, MPI_INTEGER, count, ierr)
      call check(count == 3, 'MPI_Status_set_elements')
      call MPI_Status_set_elements_x(s, MPI_INTEGER, 4_MPI_COUNT_KIND, ierr)
      call MPI_Get_elements(s, MPI_INTEGER, count, ierr)
      call check(count == 4, 'MPI_Status_set_elements_x')
   end subroutine statuses_of_mine

   subroutine probes
      STATUS :: s
      HANDLE(MPI_Message) :: message
      HANDLE(MPI_Request) :: r
      integer ASYNC :: in
      integer :: i
      logical :: flag
      call MPI_Iprobe(me, 70, MPI_COMM_WORLD, flag, s, ierr)
      call check(.not. flag, 'MPI_Iprobe, before')
      do i = 70, 72
         call MPI_Isend(me, NUM(1), MPI_INTEGER, me, i, MPI_COMM_WORLD, r, ierr)
         call MPI_Request_free(r, ierr)
      end do
      call MPI_Probe(me, 70, MPI_COMM_WORLD, s, ierr)
      call check(TAG(s) == 70, 'MPI_Probe')
      call MPI_Iprobe(me, MPI_ANY_TAG, MPI_COMM_WORLD, flag, s, ierr)
      call check(flag .and. TAG(s) == 70, 'MPI_Iprobe')
      call MPI_Recv(in, NUM(1), MPI_INTEGER, me, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Mprobe(me, 71, MPI_COMM_WORLD, message, s, ierr)
      in = -1
      call MPI_Mrecv(in, NUM(1), MPI_INTEGER, message, s, ierr)
      call check(in == me .and. TAG(s) == 71 .and. message == MPI_MESSAGE_NULL, 'MPI_Mprobe, MPI_Mrecv')
      flag = .false.
      do while (.not. flag)
         call MPI_Improbe(me, 72, MPI_COMM_WORLD, flag, message, s, ierr)
      end do
      in = -1
      call MPI_Imrecv(in, NUM(1), MPI_INTEGER, message, r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_F_sync_reg(in)
      call check(in == me .and. TAG(s) == 72, 'MPI_Improbe, MPI_Imrecv')
   end subroutine probes

   subroutine buffers
      HANDLE(MPI_Request) :: r
      HANDLE(MPI_Session) :: session
      STATUS :: s
      integer ASYNC :: room(2000), other(2000)
      integer ASYNC :: in, out
      out = 80 + me
      call MPI_Buffer_attach(room, NUM(8000), ierr)
      call MPI_Bsend(out, NUM(1), MPI_INTEGER, right, 80, MPI_COMM_WORLD, ierr)
      call MPI_Recv(in, NUM(1), MPI_INTEGER, left, 80, MPI_COMM_WORLD, s, ierr)
      call check(in == 80 + left, 'MPI_Bsend')
      call MPI_Ibsend(out, NUM(1), MPI_INTEGER, right, 81, MPI_COMM_WORLD, r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_Recv(in, NUM(1), MPI_INTEGER, left, 81, MPI_COMM_WORLD, s, ierr)
      call check(TAG(s) == 81, 'MPI_Ibsend')
      call MPI_Bsend_init(out, NUM(1), MPI_INTEGER, right, 82, MPI_COMM_WORLD, r, ierr)
      call MPI_Start(r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_Request_free(r, ierr)
      call MPI_Recv(in, NUM(1), MPI_INTEGER, left, 82, MPI_COMM_WORLD, s, ierr)
      call check(TAG(s) == 82, 'MPI_Bsend_init')
      call MPI_Buffer_flush(ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Buffer_flush')
      call MPI_Buffer_iflush(r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Buffer_iflush')
      call detach('MPI_Buffer_detach', 8000, 0)
      call MPI_Comm_attach_buffer(MPI_COMM_WORLD, other, NUM(4000), ierr)
      call MPI_Bsend(out, NUM(1), MPI_INTEGER, right, 83, MPI_COMM_WORLD, ierr)
      call MPI_Recv(in, NUM(1), MPI_INTEGER, left, 83, MPI_COMM_WORLD, s, ierr)
      call MPI_Comm_flush_buffer(MPI_COMM_WORLD, ierr)
      call check(in == 80 + left .and. ierr == MPI_SUCCESS, 'MPI_Comm_attach_buffer, MPI_Comm_flush_buffer')
      call MPI_Comm_iflush_buffer(MPI_COMM_WORLD, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Comm_iflush_buffer')
      call detach('MPI_Comm_detach_buffer', 4000, 1)
      call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
      call MPI_Session_attach_buffer(session, other, NUM(4000), ierr)
      call MPI_Session_flush_buffer(session, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Session_attach_buffer, MPI_Session_flush_buffer')
      call MPI_Session_iflush_buffer(session, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Session_iflush_buffer')
      call detach_of_session(session)
      call MPI_Session_finalize(session, ierr)
   end subroutine buffers

   subroutine detach(what, size, of_comm)
#if defined(BY_F08)
      use, intrinsic :: iso_c_binding, only: c_ptr
      type(c_ptr) :: at
#else
      integer :: at(10)
#endif
      character(len=*), intent(in) :: what
      integer, intent(in) :: size, of_comm
      NUMBER :: told
      if (of_comm == 1) then
         call MPI_Comm_detach_buffer(MPI_COMM_WORLD, at, told, ierr)
      else
         call MPI_Buffer_detach(at, told, ierr)
      end if
      call check(ierr == MPI_SUCCESS .and. told == size, what)
   end subroutine detach

   subroutine detach_of_session(session)
#if defined(BY_F08)
      use, intrinsic :: iso_c_binding, only: c_ptr
      type(c_ptr) :: at
#else
      integer :: at(10)
#endif
      HANDLE(MPI_Session) :: session
      NUMBER :: told
      call MPI_Session_detach_buffer(session, at, told, ierr)
      call check(ierr == MPI_SUCCESS .and. told == 4000, 'MPI_Session_detach_buffer')
   end subroutine detach_of_session

   subroutine parts
      HANDLE(MPI_Request) :: r(2)
      integer ASYNC :: in(6), out(6)
      logical :: flag
      out = [1, 2, 3, 4, 5, 6] + me
      in = 0
      call MPI_Psend_init(out, 6, 1_MPI_COUNT_KIND, MPI_INTEGER, right, 90, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), ierr)
      call MPI_Precv_init(in, 6, 1_MPI_COUNT_KIND, MPI_INTEGER, left, 90, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), ierr)
      call MPI_Startall(2, r, ierr)
      call MPI_Pready(0, r(1), ierr)
      call MPI_Pready_range(1, 3, r(1), ierr)
      call MPI_Pready_list(2, [4, 5], r(1), ierr)
      flag = .false.
      do while (.not. flag)
         call MPI_Parrived(r(2), 5, flag, ierr)
      end do
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
      call MPI_F_sync_reg(in)
      call check(all(in == [1, 2, 3, 4, 5, 6] + left), 'partitioned messages')
      call MPI_Request_free(r(1), ierr)
      call MPI_Request_free(r(2), ierr)
   end subroutine parts

   subroutine generalized
      HANDLE(MPI_Request) :: r
      STATUS :: s
      integer(kind=MPI_ADDRESS_KIND) :: extra
      NUMBER :: count
      extra = 12
      call MPI_Grequest_start(query, free, cancel, extra, r, ierr)
      call MPI_Cancel(r, ierr)
      call MPI_Grequest_complete(r, ierr)
      call MPI_Wait(r, s, ierr)
      call MPI_Get_count(s, MPI_BYTE, count, ierr)
      call check(count == 12 .and. extra == 12, 'MPI_Grequest_start, MPI_Grequest_complete')
   end subroutine generalized

   subroutine query(extra_state, status, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      STATUS :: status
      integer :: ierror
      call MPI_Status_set_elements(status, MPI_BYTE, NUM(int(extra_state)), ierror)
      call MPI_Status_set_cancelled(status, .false., ierror)
   end subroutine query

   subroutine free(extra_state, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
      ierror = MPI_SUCCESS
      if (extra_state /= 12) ierror = MPI_ERR_OTHER
   end subroutine free

   subroutine cancel(extra_state, complete, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
      ierror = MPI_SUCCESS
      if (complete .or. extra_state /= 12) ierror = MPI_ERR_OTHER
   end subroutine cancel

   ! Sections of arrays, of a component of a derived type, in blocking calls; names of dummies; absent error codes.
   subroutine sections
      type :: point
         integer :: x, y
      end type point
      type(point) :: points(4), got(4)
      integer :: matrix(3, 4), i
      character(len=8) :: words(3)
      do i = 1, 4
         points(i) = point(i, 10 * i + me)
      end do
      got = point(-1, -1)
      call MPI_Sendrecv(points(1:4:2)%y, NUM(2), MPI_INTEGER, right, 95, got(2:4:2)%x, NUM(2), MPI_INTEGER, left, 95, MPI_COMM_WORLD, &
         MPI_STATUS_IGNORE, ierr)
      call check(got(2)%x == 10 + left .and. got(4)%x == 30 + left .and. got(1)%x == -1 .and. got(2)%y == -1, &
         'a component of some elements')
      matrix = 0
      if (me == 0) matrix(2, :) = [1, 2, 3, 4]
      call MPI_Bcast(matrix(2, 4:1:-1), NUM(4), MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call check(all(matrix(2, :) == [1, 2, 3, 4]) .and. sum(matrix) == 10, 'a row from its end')
      words = ['one     ', 'two     ', 'three   ']
      if (me > 0) words = ' '
      call MPI_Bcast(words(:)(1:4), NUM(12), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
      call check(words(3) == merge('three   ', 'thre    ', me == 0), 'a part of each text')
#if defined(BY_F08) || defined(BY_MODULE)
      i = -1
      call MPI_Sendrecv(comm=MPI_COMM_WORLD, sendbuf=me, sendcount=1, sendtype=MPI_INTEGER, dest=right, sendtag=96, recvbuf=i, &
         recvcount=1, recvtype=MPI_INTEGER, source=left, recvtag=96, status=MPI_STATUS_IGNORE, ierror=ierr)
      call check(i == left, 'arguments by their names')
#endif
#if defined(BY_F08)
      i = -1
      call MPI_Sendrecv(me, 1, MPI_INTEGER, right, 97, i, 1, MPI_INTEGER, left, 97, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank=i)
      call check(i == me, 'no error code')
#endif
   end subroutine sections

#include "tail.h"
end program messages
