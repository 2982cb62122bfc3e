! One-sided communication: windows, operations, epochs, and memory. Every rank says ok, or what is wrong.
#include "cases.h"
program windows
   MODULES
   use, intrinsic :: iso_c_binding
   implicit none
   HEADER
   integer, parameter :: AK = MPI_ADDRESS_KIND
   integer :: wrong = 0, me, n, ierr, left, right
   integer ASYNC :: cells(8)
   HANDLE(MPI_Win) :: win
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
   left = mod(me + n - 1, n)
   right = mod(me + 1, n)
   call MPI_Win_create(cells, 32_AK, PLACE(4), MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
   call check(ierr == MPI_SUCCESS, 'MPI_Win_create')
   call fences
   call locks
   call requests
   call posts
   call facts
   call MPI_Win_free(win, ierr)
   call check(win == MPI_WIN_NULL, 'MPI_Win_free')
   call memory
   call dynamic
   call finish

contains

   ! Fresh cells on all ranks, when nobody looks at those before.
   subroutine fill
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      cells = [1, 2, 3, 4, 5, 6, 7, 8] + 10 * me
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
   end subroutine fill

   subroutine fences
      integer ASYNC :: own, got
      call fill
      own = 100 + me
      call MPI_Win_fence(0, win, ierr)
      call MPI_Put(own, NUM(1), MPI_INTEGER, right, 2_AK, NUM(1), MPI_INTEGER, win, ierr)
      call MPI_Get(got, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, win, ierr)
      call MPI_Accumulate(own, NUM(1), MPI_INTEGER, right, 4_AK, NUM(1), MPI_INTEGER, MPI_SUM, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      call MPI_F_sync_reg(got)
      call MPI_F_sync_reg(cells)
      call check(cells(3) == 100 + left, 'MPI_Put')
      call check(got == 1 + 10 * right, 'MPI_Get')
      call check(cells(5) == 5 + 10 * me + 100 + left, 'MPI_Accumulate')
#if defined(BY_F08)
      call MPI_Put(own, 1_MPI_COUNT_KIND, MPI_INTEGER, right, 1_AK, 1_MPI_COUNT_KIND, MPI_INTEGER, win)
      call MPI_Win_fence(0, win)
      call MPI_F_sync_reg(cells)
      call check(cells(2) == 100 + left, 'MPI_Put_c')
#endif
   end subroutine fences

   subroutine locks
      integer ASYNC :: own, got, other
      call fill
      own = 200 + me
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, ierr)
      call MPI_Get_accumulate(own, NUM(1), MPI_INTEGER, got, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, MPI_REPLACE, win, ierr)
      call MPI_Win_flush(right, win, ierr)
      call check(got == 1 + 10 * right, 'MPI_Win_lock, MPI_Get_accumulate, MPI_Win_flush')
      call MPI_Fetch_and_op(own, got, MPI_INTEGER, right, 1_AK, MPI_SUM, win, ierr)
      call MPI_Win_flush_local(right, win, ierr)
      call check(got == 2 + 10 * right, 'MPI_Fetch_and_op, MPI_Win_flush_local')
      other = 3 + 10 * right
      call MPI_Compare_and_swap(own, other, got, MPI_INTEGER, right, 2_AK, win, ierr)
      call MPI_Win_unlock(right, win, ierr)
      call MPI_F_sync_reg(got)
      call check(got == 3 + 10 * right, 'MPI_Compare_and_swap, MPI_Win_unlock')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Win_lock_all(0, win, ierr)
      call MPI_Win_sync(win, ierr)
      call MPI_F_sync_reg(cells)
      call check(cells(1) == 200 + left .and. cells(2) == 2 + 10 * me + 200 + left .and. cells(3) == 200 + left, 'MPI_Win_sync')
      call MPI_Get(got, NUM(1), MPI_INTEGER, right, 7_AK, NUM(1), MPI_INTEGER, win, ierr)
      call MPI_Win_flush_all(win, ierr)
      call check(got == 8 + 10 * right, 'MPI_Win_lock_all, MPI_Win_flush_all')
      got = -1
      call MPI_Get(got, NUM(1), MPI_INTEGER, right, 6_AK, NUM(1), MPI_INTEGER, win, ierr)
      call MPI_Win_flush_local_all(win, ierr)
      call check(got == 7 + 10 * right, 'MPI_Win_flush_local_all')
      call MPI_Win_unlock_all(win, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Win_unlock_all')
   end subroutine locks

   subroutine requests
      HANDLE(MPI_Request) :: r
      integer ASYNC :: own, got
      call fill
      own = 300 + me
      call MPI_Win_lock_all(0, win, ierr)
      call MPI_Rput(own, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, win, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call MPI_Win_flush(right, win, ierr)
      call MPI_Rget(got, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, win, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call MPI_F_sync_reg(got)
      call check(got == 300 + me, 'MPI_Rput, MPI_Rget')
      call MPI_Raccumulate(own, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, MPI_SUM, win, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call MPI_Win_flush(right, win, ierr)
      call MPI_Rget_accumulate(own, NUM(1), MPI_INTEGER, got, NUM(1), MPI_INTEGER, right, 0_AK, NUM(1), MPI_INTEGER, MPI_NO_OP, win, r, ierr)
      call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
      call MPI_F_sync_reg(got)
      call check(got == 2 * (300 + me), 'MPI_Raccumulate, MPI_Rget_accumulate')
      call MPI_Win_unlock_all(win, ierr)
   end subroutine requests

   subroutine posts
      HANDLE(MPI_Group) :: all, from, to
      integer ASYNC :: own
      logical :: flag
      integer :: turn
      call MPI_Win_get_group(win, all, ierr)
      call MPI_Group_incl(all, 1, [left], from, ierr)
      call MPI_Group_incl(all, 1, [right], to, ierr)
      do turn = 1, 2
         call fill
         own = 400 + turn + me
         call MPI_Win_post(from, 0, win, ierr)
         call MPI_Win_start(to, 0, win, ierr)
         call MPI_Put(own, NUM(1), MPI_INTEGER, right, 3_AK, NUM(1), MPI_INTEGER, win, ierr)
         call MPI_Win_complete(win, ierr)
         if (turn == 1) call MPI_Win_wait(win, ierr)
         flag = turn == 1
         do while (.not. flag)
            call MPI_Win_test(win, flag, ierr)
         end do
         call MPI_F_sync_reg(cells)
         call check(cells(4) == 400 + turn + left, 'MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait, MPI_Win_test')
      end do
      call MPI_Group_free(from, ierr)
      call MPI_Group_free(to, ierr)
      call MPI_Group_size(all, turn, ierr)
      call check(turn == n, 'MPI_Win_get_group')
      call MPI_Group_free(all, ierr)
   end subroutine posts

   subroutine facts
      HANDLE(MPI_Info) :: info
      character(len=MPI_MAX_OBJECT_NAME) :: name
      integer :: length
      call MPI_Win_set_name(win, 'my window  ', ierr)
      name = repeat('x', len(name))
      call MPI_Win_get_name(win, name, length, ierr)
      call check(name == 'my window' .and. length == 9, 'MPI_Win_set_name, MPI_Win_get_name')
      call MPI_Win_get_info(win, info, ierr)
      call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'MPI_Win_get_info')
      call MPI_Win_set_info(win, info, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Win_set_info')
      call MPI_Info_free(info, ierr)
   end subroutine facts

   ! Memory that the library gives: its address as the interface has it.
   subroutine memory
#if defined(BY_F08)
      type(c_ptr) :: base
#else
      integer(kind=AK) :: base
#endif
      HANDLE(MPI_Win) :: own
      HANDLE(MPI_Comm) :: node
      integer(kind=AK) :: bytes
      DISTANCE :: unit
      integer :: rank, size
      integer, pointer :: at(:)
      call MPI_Alloc_mem(64_AK, MPI_INFO_NULL, base, ierr)
      call point(base, at)
      at = 5
      call MPI_Free_mem(at, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Alloc_mem, MPI_Free_mem')
      call MPI_Win_allocate(64_AK, PLACE(4), MPI_INFO_NULL, MPI_COMM_WORLD, base, own, ierr)
      call point(base, at)
      at = me
      call MPI_Win_fence(0, own, ierr)
      call MPI_Put(left, NUM(1), MPI_INTEGER, right, 1_AK, NUM(1), MPI_INTEGER, own, ierr)
      call MPI_Win_fence(0, own, ierr)
      call check(at(2) == mod(left + n - 1, n) .and. at(1) == me, 'MPI_Win_allocate')
      call MPI_Win_free(own, ierr)
      call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierr)
      call MPI_Comm_rank(node, rank, ierr)
      call MPI_Comm_size(node, size, ierr)
      call MPI_Win_allocate_shared(64_AK, PLACE(4), MPI_INFO_NULL, node, base, own, ierr)
      call point(base, at)
      at = 60 + rank
      call MPI_Win_fence(0, own, ierr)
      call MPI_Win_shared_query(own, mod(rank + 1, size), bytes, unit, base, ierr)
      call point(base, at)
      call check(bytes == 64 .and. unit == 4 .and. at(16) == 60 + mod(rank + 1, size), 'MPI_Win_allocate_shared, MPI_Win_shared_query')
      call MPI_Win_fence(0, own, ierr)
      call MPI_Win_free(own, ierr)
      call MPI_Comm_free(node, ierr)
   end subroutine memory

#if defined(BY_F08)
   subroutine point(base, at)
      type(c_ptr), intent(in) :: base
      integer, pointer :: at(:)
      call c_f_pointer(base, at, [16])
   end subroutine point
#else
   subroutine point(base, at)
      integer(kind=AK), intent(in) :: base
      integer, pointer :: at(:)
      call c_f_pointer(transfer(base, c_null_ptr), at, [16])
   end subroutine point
#endif

   subroutine dynamic
      HANDLE(MPI_Win) :: own
      integer ASYNC :: memory(4), value
      integer(kind=AK) :: here, there
      memory = 70 + me
      call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, own, ierr)
      call MPI_Win_attach(own, memory, 16_AK, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Win_create_dynamic, MPI_Win_attach')
      call MPI_Get_address(memory, here, ierr)
      call MPI_Sendrecv(here, NUM(1), MPI_AINT, left, 1, there, NUM(1), MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Win_lock_all(0, own, ierr)
      call MPI_Get(value, NUM(1), MPI_INTEGER, right, there, NUM(1), MPI_INTEGER, own, ierr)
      call MPI_Win_flush(right, own, ierr)
      call MPI_F_sync_reg(value)
      call check(value == 70 + right, 'a dynamic window')
      call MPI_Win_unlock_all(own, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Win_detach(own, memory, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Win_detach')
      call MPI_Win_free(own, ierr)
   end subroutine dynamic

#include "tail.h"
end program windows
