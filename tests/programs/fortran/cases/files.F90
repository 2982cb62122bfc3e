! Files: opening, views, data access of every kind, representations, errors. Every rank says ok, or what is wrong.
#include "cases.h"
program files
   MODULES
   use, intrinsic :: iso_c_binding
   implicit none
   HEADER
   integer, parameter :: OK = MPI_OFFSET_KIND, AK = MPI_ADDRESS_KIND
   ! Integers of a rank's block.
   integer, parameter :: B = 4
   integer :: wrong = 0, me, n, ierr, calls
   integer ASYNC :: own(B), got(B)
   character(len=400) :: path
   HANDLE(MPI_File) :: file
   STATUS :: state
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call get_environment_variable('TMPDIR', path)
   if (path == '') path = '.'
   path = trim(path) // '/cases_files'
   call opening
   call at_offsets
   call individual
   call shared
   call ordered
   call begun_and_ended
   call facts
   call representations
   call closing
   call finish

contains

   ! The block of a rank in a round.
   function block(rank, round)
      integer, intent(in) :: rank, round
      integer :: block(B), i
      block = [(1000 * round + 10 * rank + i, i = 1, B)]
   end function block

   ! Where a rank's block begins, in integers.
   function place(rank)
      integer, intent(in) :: rank
      integer(OK) :: place
      place = int(rank, OK) * B
   end function place

   ! Says so unless a whole block was moved.
   subroutine whole(what)
      character(len=*), intent(in) :: what
      NUMBER :: count
      call check(ierr == MPI_SUCCESS, what)
      call MPI_Get_count(state, MPI_INTEGER, count, ierr)
      call check(count == B, what // ': count')
   end subroutine whole

   ! Says so unless a whole block of that rank and round was read.
   subroutine holds(rank, round, what)
      integer, intent(in) :: rank, round
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(got)
      call whole(what)
      call check(all(got == block(rank, round)), what // ': data')
      got = 0
   end subroutine holds

   subroutine waited(request)
      HANDLE(MPI_Request), intent(inout) :: request
      call MPI_Wait(request, state, ierr)
   end subroutine waited

   subroutine opening
      integer :: amode
      HANDLE(MPI_Info) :: hints, used
      HANDLE(MPI_Group) :: group
      integer :: size
      character(len=MPI_MAX_INFO_VAL) :: value
      logical :: found
      call MPI_Info_create(hints, ierr)
      call MPI_Info_set(hints, 'cb_nodes', '1', ierr)
      call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, hints, file, ierr)
      call check(ierr == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'MPI_File_open')
      call MPI_File_get_amode(file, amode, ierr)
      call check(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'MPI_File_get_amode')
      call MPI_File_get_group(file, group, ierr)
      call MPI_Group_size(group, size, ierr)
      call check(size == n, 'MPI_File_get_group')
      call MPI_Group_free(group, ierr)
      call MPI_File_set_info(file, hints, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_set_info')
      call MPI_File_get_info(file, used, ierr)
      call MPI_Info_get(used, 'cb_nodes', MPI_MAX_INFO_VAL, value, found, ierr)
      call check(found .and. value == '1', 'MPI_File_get_info')
      call MPI_Info_free(used, ierr)
      call MPI_Info_free(hints, ierr)
      call MPI_File_set_view(file, 0_OK, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_set_view')
   end subroutine opening

   subroutine at_offsets
      HANDLE(MPI_Request) :: request
      own = block(me, 1)
      call MPI_File_write_at(file, place(me), own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('MPI_File_write_at')
      call MPI_File_read_at(file, place(me), got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 1, 'MPI_File_read_at')
      own = block(me, 2)
      call MPI_File_write_at_all(file, place(me), own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('MPI_File_write_at_all')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_File_read_at_all(file, place(mod(me + 1, n)), got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(mod(me + 1, n), 2, 'MPI_File_read_at_all')
      own = block(me, 3)
      call MPI_File_iwrite_at(file, place(me), own, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call whole('MPI_File_iwrite_at')
      call MPI_File_iread_at(file, place(me), got, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call holds(me, 3, 'MPI_File_iread_at')
      own = block(me, 4)
      call MPI_File_iwrite_at_all(file, place(me), own, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call whole('MPI_File_iwrite_at_all')
      call MPI_File_iread_at_all(file, place(me), got, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call holds(me, 4, 'MPI_File_iread_at_all')
   end subroutine at_offsets

   subroutine individual
      HANDLE(MPI_Request) :: request
      integer(OK) :: at
      own = block(me, 6)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_write(file, own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('MPI_File_write')
      call MPI_File_get_position(file, at, ierr)
      call check(at == place(me + 1), 'MPI_File_get_position')
      call MPI_File_seek(file, -int(B, OK), MPI_SEEK_CUR, ierr)
      call MPI_File_read(file, got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 6, 'MPI_File_seek, MPI_File_read')
      own = block(me, 7)
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_write_all(file, own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('MPI_File_write_all')
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_read_all(file, got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 7, 'MPI_File_read_all')
      own = block(me, 8)
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_iwrite(file, own, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call whole('MPI_File_iwrite')
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_iread(file, got, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call holds(me, 8, 'MPI_File_iread')
      own = block(me, 9)
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_iwrite_all(file, own, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call whole('MPI_File_iwrite_all')
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_iread_all(file, got, NUM(B), MPI_INTEGER, request, ierr)
      call waited(request)
      call holds(me, 9, 'MPI_File_iread_all')
   end subroutine individual

   ! Each rank in its turn, so that the place of its block is known.
   subroutine shared
      HANDLE(MPI_Request) :: request
      integer(OK) :: at
      integer :: turn
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_seek_shared')
      do turn = 0, n - 1
         if (turn == me) then
            call MPI_File_get_position_shared(file, at, ierr)
            call check(at == 2 * place(me), 'MPI_File_get_position_shared')
            own = block(me, 10)
            call MPI_File_write_shared(file, own, NUM(B), MPI_INTEGER, state, ierr)
            call whole('MPI_File_write_shared')
            own = block(me, 11)
            call MPI_File_iwrite_shared(file, own, NUM(B), MPI_INTEGER, request, ierr)
            call waited(request)
            call whole('MPI_File_iwrite_shared')
         end if
         call MPI_Barrier(MPI_COMM_WORLD, ierr)
      end do
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      do turn = 0, n - 1
         if (turn == me) then
            call MPI_File_read_shared(file, got, NUM(B), MPI_INTEGER, state, ierr)
            call holds(me, 10, 'MPI_File_read_shared')
            call MPI_File_iread_shared(file, got, NUM(B), MPI_INTEGER, request, ierr)
            call waited(request)
            call holds(me, 11, 'MPI_File_iread_shared')
         end if
         call MPI_Barrier(MPI_COMM_WORLD, ierr)
      end do
   end subroutine shared

   subroutine ordered
      own = block(me, 12)
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      call MPI_File_write_ordered(file, own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('MPI_File_write_ordered')
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      call MPI_File_read_ordered(file, got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 12, 'MPI_File_read_ordered')
   end subroutine ordered

   subroutine begun_and_ended
      own = block(me, 13)
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_write_all_begin(file, own, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_write_all_end(file, own, state, ierr)
      call whole('MPI_File_write_all_begin, MPI_File_write_all_end')
      call MPI_File_seek(file, place(me), MPI_SEEK_SET, ierr)
      call MPI_File_read_all_begin(file, got, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_read_all_end(file, got, state, ierr)
      call holds(me, 13, 'MPI_File_read_all_begin, MPI_File_read_all_end')
      own = block(me, 14)
      call MPI_File_write_at_all_begin(file, place(me), own, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_write_at_all_end(file, own, state, ierr)
      call whole('MPI_File_write_at_all_begin, MPI_File_write_at_all_end')
      call MPI_File_read_at_all_begin(file, place(me), got, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_read_at_all_end(file, got, state, ierr)
      call holds(me, 14, 'MPI_File_read_at_all_begin, MPI_File_read_at_all_end')
      own = block(me, 15)
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      call MPI_File_write_ordered_begin(file, own, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_write_ordered_end(file, own, state, ierr)
      call whole('MPI_File_write_ordered_begin, MPI_File_write_ordered_end')
      call MPI_File_seek_shared(file, 0_OK, MPI_SEEK_SET, ierr)
      call MPI_File_read_ordered_begin(file, got, NUM(B), MPI_INTEGER, ierr)
      call MPI_File_read_ordered_end(file, got, state, ierr)
      call holds(me, 15, 'MPI_File_read_ordered_begin, MPI_File_read_ordered_end')
   end subroutine begun_and_ended

   subroutine facts
      integer(OK) :: bytes, disp
      integer(AK) :: extent
      logical :: flag
      character(len=MPI_MAX_DATAREP_STRING) :: datarep
      HANDLE(MPI_Datatype) :: etype, filetype
      call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierr)
      call check(extent == 4, 'MPI_File_get_type_extent')
      call MPI_File_get_byte_offset(file, 3_OK, disp, ierr)
      call check(disp == 12, 'MPI_File_get_byte_offset')
      call MPI_File_get_view(file, disp, etype, filetype, datarep, ierr)
      call check(disp == 0 .and. etype == MPI_INTEGER .and. filetype == MPI_INTEGER .and. datarep == 'native', 'MPI_File_get_view')
      call MPI_File_set_size(file, 4000_OK, ierr)
      call MPI_File_get_size(file, bytes, ierr)
      call check(bytes == 4000, 'MPI_File_set_size, MPI_File_get_size')
      call MPI_File_preallocate(file, 8000_OK, ierr)
      call MPI_File_get_size(file, bytes, ierr)
      call check(bytes == 8000, 'MPI_File_preallocate')
      call MPI_File_set_atomicity(file, .true., ierr)
      if (ierr == MPI_SUCCESS) then
         call MPI_File_get_atomicity(file, flag, ierr)
         call check(flag, 'MPI_File_set_atomicity, MPI_File_get_atomicity')
         call MPI_File_set_atomicity(file, .false., ierr)
      else
         call fails(ierr, MPI_ERR_UNSUPPORTED_OPERATION, 'MPI_File_set_atomicity')
      end if
      call MPI_File_get_atomicity(file, flag, ierr)
      call check(.not. flag, 'MPI_File_get_atomicity')
      call MPI_File_sync(file, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_sync')
   end subroutine facts

   subroutine representations
      integer(AK) :: extent
      call MPI_File_set_view(file, 0_OK, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, "MPI_File_set_view by external32")
      own = block(me, 16)
      call MPI_File_write_at_all(file, place(me), own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('external32, written')
      call MPI_File_read_at_all(file, place(me), got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 16, 'external32, read')
      call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierr)
      call check(extent == 4, 'MPI_File_get_type_extent of external32')
#if defined(LARGE)
      call MPI_Register_datarep_c('as it is', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_as_here, 4_AK, ierr)
#else
      call MPI_Register_datarep('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_as_here, 4_AK, ierr)
#endif
      call check(ierr == MPI_SUCCESS, 'MPI_Register_datarep')
      call MPI_File_set_view(file, 0_OK, MPI_INTEGER, MPI_INTEGER, 'as it is', MPI_INFO_NULL, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_set_view by a registered representation')
      own = block(me, 17)
      call MPI_File_write_at_all(file, place(me), own, NUM(B), MPI_INTEGER, state, ierr)
      call whole('a registered representation, written')
      call MPI_File_read_at_all(file, place(me), got, NUM(B), MPI_INTEGER, state, ierr)
      call holds(me, 17, 'a registered representation, read')
   end subroutine representations

   ! The extent of a type in the file: that of memory, as its extra state says of an integer.
   subroutine extent_as_here(datatype, extent, extra_state, ierror)
      HANDLE(MPI_Datatype) :: datatype
      integer(AK) :: extent, extra_state
      integer :: ierror
      integer(AK) :: lb
      call MPI_Type_get_extent(datatype, lb, extent, ierror)
      if (datatype == MPI_INTEGER .and. extent /= extra_state) ierror = MPI_ERR_OTHER
   end subroutine extent_as_here

   subroutine closing
      HANDLE(MPI_Errhandler) :: handler, other
      STATUS :: ignored
      call MPI_File_create_errhandler(on_error, handler, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_File_create_errhandler')
      call MPI_File_set_errhandler(file, handler, ierr)
      call MPI_File_get_errhandler(file, other, ierr)
      call check(other == handler, 'MPI_File_set_errhandler, MPI_File_get_errhandler')
      calls = 0
      call MPI_File_call_errhandler(file, MPI_ERR_IO, ierr)
      call check(calls == 1, 'MPI_File_call_errhandler')
      call MPI_File_read_at(file, -1_OK, got, NUM(B), MPI_INTEGER, ignored, ierr)
      call check(calls == 2, 'an error of a file')
      call MPI_Errhandler_free(other, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_File_close(file, ierr)
      call check(ierr == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'MPI_File_close')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      if (me == 0) then
         call MPI_File_delete(path, MPI_INFO_NULL, ierr)
         call check(ierr == MPI_SUCCESS, 'MPI_File_delete')
         call MPI_File_delete(path, MPI_INFO_NULL, ierr)
         call fails(ierr, MPI_ERR_NO_SUCH_FILE, 'MPI_File_delete of no file')
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
   end subroutine closing

   subroutine on_error(what, code)
      HANDLE(MPI_File) :: what
      integer :: code
      if (what == file .and. code /= MPI_SUCCESS) calls = calls + 1
   end subroutine on_error

#include "tail.h"
end program files
