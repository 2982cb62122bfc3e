! Attributes that one language sets and another reads, with callbacks of either (MPI 5.0 §19.3.7), and handles and statuses that go through C. The part in C is
! languages.c. Every rank says ok, or what is wrong.
module callbacks
   use mpi
   implicit none
   integer(kind=MPI_ADDRESS_KIND) :: seen = 0, deleted = 0
   integer :: copies = 0, deletions = 0
contains

   ! Adds the extra state; with 0 it gives on what it got.
   subroutine copy(old, keyval, extra_state, value_in, value_out, flag, ierror)
      integer :: old, keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
      logical :: flag
      seen = value_in
      copies = copies + 1
      value_out = value_in + extra_state
      flag = .true.
      ierror = MPI_SUCCESS
   end subroutine copy

   subroutine delete(old, keyval, value, extra_state, ierror)
      integer :: old, keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
      deleted = value
      deletions = deletions + 1
      ierror = MPI_SUCCESS
   end subroutine delete

   ! The same with INTEGER.
   subroutine old_copy(old, keyval, extra_state, value_in, value_out, flag, ierror)
      integer :: old, keyval, ierror, extra_state, value_in, value_out
      logical :: flag
      seen = value_in
      copies = copies + 1
      value_out = value_in + extra_state
      flag = .true.
      ierror = MPI_SUCCESS
   end subroutine old_copy

   subroutine old_delete(old, keyval, value, extra_state, ierror)
      integer :: old, keyval, value, extra_state, ierror
      deleted = value
      deletions = deletions + 1
      ierror = MPI_SUCCESS
   end subroutine old_delete

end module callbacks

program languages
   use mpi
   use callbacks
   implicit none
   integer, parameter :: AK = MPI_ADDRESS_KIND
   integer(kind=AK), parameter :: LONG = 123456789012345_AK
   integer :: wrong = 0, me, n, ierr, which
   integer(kind=AK) :: at_own

   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call c_own(at_own)
   do which = 0, 2
      call keyvals_of_c(which)
   end do
   call keyvals_of_fortran(0_AK)
   call keyvals_of_fortran(7_AK)
   call keyvals_of_mpi_1
   call predefined
   call conversions
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

   ! Reads a communicator's attribute in Fortran and in C, and asks for its language.
   subroutine reads(comm, keyval, value, language, what)
      integer, intent(in) :: comm, keyval, language
      integer(kind=AK), intent(in) :: value
      character(len=*), intent(in) :: what
      integer(kind=AK) :: word
      integer :: short, told
      logical :: flag
      call MPI_Comm_get_attr(comm, keyval, word, flag, ierr)
      call check(flag .and. word == value, what // ': Fortran reads')
      call MPI_Attr_get(comm, keyval, short, flag, ierr)
      call check(flag .and. int(short, AK) == ibits_signed(value), what // ': MPI-1 reads the low half')
      call c_language_comm(comm, keyval, told)
      call check(told == language, what // ': its language')
      call c_read_comm(comm, keyval, language, word)
      call check(word == value, what // ': C reads')
   end subroutine reads

   ! The low 32 bits, with their sign.
   pure function ibits_signed(value) result(low)
      integer(kind=AK), intent(in) :: value
      integer(kind=AK) :: low
      low = iand(value, int(z'ffffffff', AK))
      if (low >= 2147483648_AK) low = low - 4294967296_AK
   end function ibits_signed

   ! Keyvals that C made: Fortran sets, C sets; a copy; a deletion.
   subroutine keyvals_of_c(which)
      integer, intent(in) :: which
      integer :: comm_key, type_key, win_key, comm, dup, type, dup_type, win, times, before
      integer(kind=AK) :: word, at
      logical :: flag
      call c_keyvals(which, comm_key, type_key, win_key)
      call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
      call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
      call MPI_Win_create(MPI_BOTTOM, 0_AK, 1, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)

      call MPI_Comm_set_attr(comm, comm_key, LONG, ierr)
      call reads(comm, comm_key, LONG, 1, 'set by Fortran')
      if (which == 0) then
         ! An integer of Fortran's lies where C can change it.
         call c_add_comm(comm, comm_key, 1_AK)
         call reads(comm, comm_key, LONG + 1, 1, 'changed by C')
         call MPI_Comm_set_attr(comm, comm_key, LONG, ierr)
      end if
      call MPI_Comm_dup(comm, dup, ierr)
      if (which == 1) then
         call reads(dup, comm_key, at_own, 0, 'a copy with an address of C''s')
      else
         call reads(dup, comm_key, LONG, 1, 'a copy')
      end if
      call c_deleted(at, word, before)
      call MPI_Comm_free(dup, ierr)
      call c_deleted(at, word, times)
      call check(times == before + 1, 'the copy is deleted')
      if (which == 0) call check(word == LONG, 'its value')
      if (which == 1) call check(at == at_own, 'its address')

      if (which > 0) then
         call c_set_comm(comm, comm_key, at_own)
         call reads(comm, comm_key, at_own, 0, 'set by C')
         call MPI_Comm_dup(comm, dup, ierr)
         call reads(dup, comm_key, at_own, 0, 'a copy of C''s')
         call MPI_Comm_free(dup, ierr)
      end if

      call MPI_Type_set_attr(type, type_key, -LONG, ierr)
      call c_read_type(type, type_key, 1, word)
      call check(word == -LONG, 'a type''s attribute in C')
      call MPI_Type_get_attr(type, type_key, word, flag, ierr)
      call check(flag .and. word == -LONG, 'a type''s attribute')
      call MPI_Type_dup(type, dup_type, ierr)
      call MPI_Type_get_attr(dup_type, type_key, word, flag, ierr)
      call check(flag .and. word == merge(at_own, -LONG, which == 1), 'a type''s copy')
      call c_read_type(dup_type, type_key, merge(0, 1, which == 1), word)
      call check(word == merge(at_own, -LONG, which == 1), 'a type''s copy in C')
      call MPI_Type_free(dup_type, ierr)
      if (which > 0) then
         call c_set_type(type, type_key, at_own)
         call MPI_Type_get_attr(type, type_key, word, flag, ierr)
         call check(flag .and. word == at_own, 'a type''s address')
      end if

      call MPI_Win_set_attr(win, win_key, LONG, ierr)
      call c_read_win(win, win_key, 1, word)
      call check(word == LONG, 'a window''s attribute in C')
      call MPI_Win_get_attr(win, win_key, word, flag, ierr)
      call check(flag .and. word == LONG, 'a window''s attribute')
      if (which > 0) then
         call c_set_win(win, win_key, at_own)
         call MPI_Win_get_attr(win, win_key, word, flag, ierr)
         call check(flag .and. word == at_own, 'a window''s address')
      end if
      call c_deleted(at, word, before)
      call MPI_Win_free(win, ierr)
      call MPI_Type_free(type, ierr)
      call MPI_Comm_free(comm, ierr)
      call c_deleted(at, word, times)
      call check(times == before + 3, 'all are deleted')
      call MPI_Comm_free_keyval(comm_key, ierr)
      call MPI_Type_free_keyval(type_key, ierr)
      call MPI_Win_free_keyval(win_key, ierr)
   end subroutine keyvals_of_c

   ! Keyvals that Fortran made, with a copy function that adds.
   subroutine keyvals_of_fortran(more)
      integer(kind=AK), intent(in) :: more
      integer :: comm_key, type_key, win_key, comm, dup, type, dup_type, win, before
      integer(kind=AK) :: word
      logical :: flag
      call MPI_Comm_create_keyval(copy, delete, comm_key, more, ierr)
      call MPI_Type_create_keyval(copy, delete, type_key, more, ierr)
      call MPI_Win_create_keyval(copy, delete, win_key, more, ierr)
      call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
      call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
      call MPI_Win_create(MPI_BOTTOM, 0_AK, 1, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)

      call c_set_comm(comm, comm_key, at_own)
      call reads(comm, comm_key, at_own, 0, 'set by C for Fortran')
      call MPI_Comm_dup(comm, dup, ierr)
      call check(seen == at_own, 'a copy function of Fortran''s gets the address')
      ! A value that it gives on stays C's, and one that it made is an integer.
      call reads(dup, comm_key, at_own + more, merge(0, 1, more == 0), 'copied by Fortran')
      call MPI_Comm_free(dup, ierr)
      call check(deleted == at_own + more, 'a delete function gets the value')
      call MPI_Comm_set_attr(comm, comm_key, -LONG, ierr)
      call check(deleted == at_own, 'a delete function gets the address')
      call MPI_Comm_dup(comm, dup, ierr)
      call check(seen == -LONG, 'a copy function gets the value')
      call reads(dup, comm_key, more - LONG, 1, 'a copy by Fortran')
      call MPI_Comm_free(dup, ierr)

      call c_set_type(type, type_key, at_own)
      call MPI_Type_dup(type, dup_type, ierr)
      call MPI_Type_get_attr(dup_type, type_key, word, flag, ierr)
      call check(flag .and. word == at_own + more, 'a type''s address copied by Fortran')
      call c_read_type(dup_type, type_key, merge(0, 1, more == 0), word)
      call check(word == at_own + more, 'the same in C')
      call MPI_Type_free(dup_type, ierr)
      call check(deleted == at_own + more, 'the same deleted')

      call c_set_win(win, win_key, at_own)
      before = deletions
      call MPI_Win_set_attr(win, win_key, LONG, ierr)
      call check(deletions == before + 1 .and. deleted == at_own, 'a window''s address deleted')
      call MPI_Win_free(win, ierr)
      call check(deletions == before + 2 .and. deleted == LONG, 'a window''s value deleted')
      call MPI_Type_free(type, ierr)
      call MPI_Comm_free(comm, ierr)
      call MPI_Comm_free_keyval(comm_key, ierr)
      call MPI_Type_free_keyval(type_key, ierr)
      call MPI_Win_free_keyval(win_key, ierr)
   end subroutine keyvals_of_fortran

   ! Keyvals and attributes of MPI-1, which are INTEGER.
   subroutine keyvals_of_mpi_1
      integer :: key, null_key, dup_key, comm, dup, value
      logical :: flag
      call MPI_Keyval_create(old_copy, old_delete, key, 3, ierr)
      call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, null_key, 0, ierr)
      call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, dup_key, 0, ierr)
      call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
      call MPI_Attr_put(comm, key, -5, ierr)
      call MPI_Attr_put(comm, null_key, 6, ierr)
      call MPI_Attr_put(comm, dup_key, -7, ierr)
      call reads(comm, key, -5_AK, 2, 'put by MPI-1')
      call MPI_Comm_dup(comm, dup, ierr)
      call reads(dup, key, -2_AK, 2, 'a copy by MPI-1')
      call reads(dup, dup_key, -7_AK, 2, 'a copy by MPI_DUP_FN')
      call MPI_Attr_get(dup, null_key, value, flag, ierr)
      call check(.not. flag, 'nothing is copied by MPI_NULL_COPY_FN')
      call MPI_Attr_delete(dup, key, ierr)
      call check(deleted == -2, 'a deleted value')
      call MPI_Comm_free(dup, ierr)
      ! A longer one is cut when MPI-1 copies it.
      call MPI_Comm_set_attr(comm, key, LONG, ierr)
      call reads(comm, key, LONG, 1, 'a long one')
      call MPI_Comm_dup(comm, dup, ierr)
      call reads(dup, key, ibits_signed(LONG) + 3, 2, 'a long one copied by MPI-1')
      call MPI_Comm_free(dup, ierr)
      call MPI_Comm_free(comm, ierr)
      call MPI_Keyval_free(key, ierr)
      call MPI_Keyval_free(null_key, ierr)
      call MPI_Keyval_free(dup_key, ierr)
      call check(key == MPI_KEYVAL_INVALID, 'a freed keyval')
   end subroutine keyvals_of_mpi_1

   subroutine predefined
      integer, target :: memory(10)
      integer :: win, short
      integer(kind=AK) :: word, base
      logical :: flag
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, word, flag, ierr)
      call check(flag .and. word >= 32767, 'MPI_TAG_UB')
      call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, short, flag, ierr)
      call check(flag .and. short == word, 'MPI_TAG_UB by MPI-1')
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, word, flag, ierr)
      call check(.not. flag .or. word >= n, 'MPI_UNIVERSE_SIZE')
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, word, flag, ierr)
      call check(flag .and. (word == 0 .or. word == 1), 'MPI_WTIME_IS_GLOBAL')
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, word, flag, ierr)
      call check(flag .and. word >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')
      call MPI_Win_create(memory, 40_AK, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
      call MPI_Get_address(memory, base, ierr)
      call MPI_Win_get_attr(win, MPI_WIN_BASE, word, flag, ierr)
      call check(flag .and. word == base, 'MPI_WIN_BASE')
      call MPI_Win_get_attr(win, MPI_WIN_SIZE, word, flag, ierr)
      call check(flag .and. word == 40, 'MPI_WIN_SIZE')
      call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, word, flag, ierr)
      call check(flag .and. word == 4, 'MPI_WIN_DISP_UNIT')
      call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, word, flag, ierr)
      call check(flag .and. word == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
      call MPI_Win_get_attr(win, MPI_WIN_MODEL, word, flag, ierr)
      call check(flag .and. (word == MPI_WIN_UNIFIED .or. word == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
      call MPI_Win_free(win, ierr)
   end subroutine predefined

   subroutine conversions
      integer :: group, type, op, request, info, handler, win, lost, status(MPI_STATUS_SIZE), source, tag, bytes, count
      integer, asynchronous :: value
      call MPI_Comm_group(MPI_COMM_WORLD, group, ierr)
      call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
      call MPI_Type_commit(type, ierr)
      op = MPI_SUM
      call MPI_Info_create(info, ierr)
      call MPI_Info_set(info, 'key', 'value', ierr)
      call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler, ierr)
      call MPI_Win_create(MPI_BOTTOM, 0_AK, 1, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
      call MPI_Irecv(value, 1, MPI_INTEGER, 0, 31, MPI_COMM_SELF, request, ierr)
      call c_handles(MPI_COMM_WORLD, group, type, op, request, info, handler, win, lost)
      call check(lost == 0, 'handles through C')
      call MPI_Send(me, 1, MPI_INTEGER, 0, 31, MPI_COMM_SELF, ierr)
      call MPI_Wait(request, status, ierr)
      call c_status(status, source, tag, bytes)
      call check(source == 0 .and. tag == 31 .and. bytes == 4, 'a status in C')
      call MPI_Get_count(status, MPI_INTEGER, count, ierr)
      call check(status(MPI_TAG) == 32 .and. count == 1, 'a status that C has changed')
      call c_status_f08(status, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, lost)
      call check(lost == 0, 'a status of module mpi_f08 in C')
      call MPI_Win_free(win, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_Info_free(info, ierr)
      call MPI_Type_free(type, ierr)
      call MPI_Group_free(group, ierr)
   end subroutine conversions

end program languages
