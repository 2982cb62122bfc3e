! Everything that is not about data: start and end, errors, hints, communicators, groups, attributes, topologies, sessions, and what is refused. Every rank says ok,
! or what is wrong.
#include "cases.h"
program objects
   MODULES
   implicit none
   HEADER
   integer :: wrong = 0, me, n, ierr, handled = 0
   logical :: before
   call MPI_Initialized(before, ierr)
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
   call check(.not. before, 'MPI_Initialized, before')
   call environment
   call errors
   call error_handlers
   call hints
   call communicators
   call of_two_groups
   call groups
   call attributes
   call grids
   call graphs
   call sessions
   call binary_interface
   call refused
   call finish

contains

   subroutine environment
      logical :: flag
      integer :: level, length, version, subversion
      character(len=MPI_MAX_PROCESSOR_NAME) :: name
      character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
      double precision :: then
      integer(kind=MPI_ADDRESS_KIND) :: base, next
      HANDLE(MPI_Info) :: info
      call MPI_Initialized(flag, ierr)
      call check(flag, 'MPI_Initialized')
      call MPI_Finalized(flag, ierr)
      call check(.not. flag, 'MPI_Finalized')
      call MPI_Query_thread(level, ierr)
      call check(level >= MPI_THREAD_SINGLE .and. level <= MPI_THREAD_MULTIPLE, 'MPI_Query_thread')
      call MPI_Is_thread_main(flag, ierr)
      call check(flag, 'MPI_Is_thread_main')
      name = repeat('x', len(name))
      call MPI_Get_processor_name(name, length, ierr)
      call check(length > 0 .and. len_trim(name) == length, 'MPI_Get_processor_name')
      call MPI_Get_library_version(library, length, ierr)
      call check(length > 0 .and. len_trim(library) == length, 'MPI_Get_library_version')
      call MPI_Get_version(version, subversion, ierr)
      call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
      call MPI_Pcontrol(1)
      then = MPI_Wtime()
      call check(MPI_Wtime() >= then .and. MPI_Wtick() > 0 .and. MPI_Wtick() < 1, 'MPI_Wtime, MPI_Wtick')
      base = 1000
      next = MPI_Aint_add(base, 24_MPI_ADDRESS_KIND)
      call check(next == 1024 .and. MPI_Aint_diff(next, base) == 24, 'MPI_Aint_add, MPI_Aint_diff')
      call MPI_Get_hw_resource_info(info, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Get_hw_resource_info')
      if (info /= MPI_INFO_NULL) call MPI_Info_free(info, ierr)
   end subroutine environment

   subroutine errors
      integer :: class, code, got, length
      character(len=MPI_MAX_ERROR_STRING) :: text
      call MPI_Error_string(MPI_ERR_TAG, text, length, ierr)
      call check(length > 0 .and. len_trim(text) == length, 'MPI_Error_string')
      call MPI_Add_error_class(class, ierr)
      call MPI_Add_error_code(class, code, ierr)
      call MPI_Add_error_string(code, 'an error of mine   ', ierr)
      call MPI_Error_class(code, got, ierr)
      call check(class > MPI_ERR_LASTCODE .and. got == class, 'MPI_Add_error_class, MPI_Add_error_code')
      call MPI_Error_string(code, text, length, ierr)
      call check(text == 'an error of mine' .and. length == 16, 'MPI_Add_error_string')
      call MPI_Remove_error_string(code, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Remove_error_string')
      call MPI_Error_string(code, text, length, ierr)
      call check(length == 0 .or. text /= 'an error of mine', 'a string that was removed')
      call MPI_Remove_error_code(code, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Remove_error_code')
      call MPI_Remove_error_class(class, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Remove_error_class')
   end subroutine errors

   subroutine error_handlers
      HANDLE(MPI_Errhandler) :: handler, got
      HANDLE(MPI_Win) :: win
      HANDLE(MPI_Session) :: session
      call MPI_Comm_create_errhandler(of_comm, handler, ierr)
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
      call MPI_Comm_get_errhandler(MPI_COMM_SELF, got, ierr)
      call check(got == handler, 'MPI_Comm_get_errhandler')
      call MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER, ierr)
      call check(handled == 1, 'MPI_Comm_create_errhandler, MPI_Comm_call_errhandler')
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
      call MPI_Errhandler_free(got, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call check(handler == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free')
      call MPI_Win_create(MPI_BOTTOM, 0_MPI_ADDRESS_KIND, PLACE(1), MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
      call MPI_Win_create_errhandler(of_win, handler, ierr)
      call MPI_Win_set_errhandler(win, handler, ierr)
      call MPI_Win_get_errhandler(win, got, ierr)
      call check(got == handler, 'MPI_Win_get_errhandler')
      call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierr)
      call check(handled == 11, 'MPI_Win_create_errhandler, MPI_Win_call_errhandler')
      call MPI_Errhandler_free(got, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_Win_free(win, ierr)
      call MPI_Session_create_errhandler(of_session, handler, ierr)
      call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
      call MPI_Session_set_errhandler(session, handler, ierr)
      call MPI_Session_get_errhandler(session, got, ierr)
      call check(got == handler, 'MPI_Session_get_errhandler')
      call MPI_Session_call_errhandler(session, MPI_ERR_OTHER, ierr)
      call check(handled == 111, 'MPI_Session_create_errhandler, MPI_Session_call_errhandler')
      call MPI_Errhandler_free(got, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_Session_finalize(session, ierr)
      call MPI_File_create_errhandler(of_file, handler, ierr)
      call MPI_File_get_errhandler(MPI_FILE_NULL, got, ierr)
      call check(got == MPI_ERRORS_RETURN, 'MPI_File_get_errhandler')
      call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierr)
      call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER, ierr)
      call check(handled == 1111, 'MPI_File_set_errhandler, MPI_File_create_errhandler, MPI_File_call_errhandler')
      call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierr)
      call MPI_Errhandler_free(handler, ierr)
   end subroutine error_handlers

   subroutine of_comm(comm, code)
      HANDLE(MPI_Comm) :: comm
      integer :: code
      if (comm == MPI_COMM_SELF .and. code == MPI_ERR_OTHER) handled = handled + 1
   end subroutine of_comm

   subroutine of_win(win, code)
      HANDLE(MPI_Win) :: win
      integer :: code
      if (win /= MPI_WIN_NULL .and. code == MPI_ERR_OTHER) handled = handled + 10
   end subroutine of_win

   subroutine of_session(session, code)
      HANDLE(MPI_Session) :: session
      integer :: code
      if (session /= MPI_SESSION_NULL .and. code == MPI_ERR_OTHER) handled = handled + 100
   end subroutine of_session

   subroutine of_file(file, code)
      HANDLE(MPI_File) :: file
      integer :: code
      if (file == MPI_FILE_NULL .and. code == MPI_ERR_OTHER) handled = handled + 1000
   end subroutine of_file

   subroutine hints
      HANDLE(MPI_Info) :: info, copy, started
      HANDLE(MPI_Comm) :: world
      integer :: many, length
      logical :: flag
      character(len=MPI_MAX_INFO_KEY) :: key
      character(len=12) :: value
      call MPI_Info_create(info, ierr)
      call MPI_Info_set(info, '  colour ', ' light green  ', ierr)
      call MPI_Info_set(info, 'size', '3', ierr)
      call MPI_Info_get_nkeys(info, many, ierr)
      call check(many == 2, 'MPI_Info_get_nkeys')
      key = repeat('x', len(key))
      call MPI_Info_get_nthkey(info, 0, key, ierr)
      call check(key == 'colour', 'MPI_Info_get_nthkey')
      call MPI_Info_get(info, 'colour', 12, value, flag, ierr)
      call check(flag .and. value == 'light green', 'MPI_Info_get')
      call MPI_Info_get(info, 'colour', 5, value, flag, ierr)
      call check(flag .and. value == 'light', 'MPI_Info_get, cut')
      value = 'untouched'
      call MPI_Info_get(info, 'none', 5, value, flag, ierr)
      call check(.not. flag .and. value == 'untouched', 'MPI_Info_get of no key')
      call MPI_Info_get_valuelen(info, 'colour', length, flag, ierr)
      call check(flag .and. length == 11, 'MPI_Info_get_valuelen')
      length = 12
      call MPI_Info_get_string(info, 'colour', length, value, flag, ierr)
      call check(flag .and. length == 11 .and. value == 'light green', 'MPI_Info_get_string')
      length = 0
      value = 'untouched'
      call MPI_Info_get_string(info, 'colour', length, value, flag, ierr)
      call check(flag .and. length == 11 .and. value == 'untouched', 'MPI_Info_get_string of no room')
      length = 4
      call MPI_Info_get_string(info, 'colour', length, value, flag, ierr)
      call check(flag .and. length == 11 .and. value == 'ligh', 'MPI_Info_get_string, cut')
      call MPI_Info_dup(info, copy, ierr)
      call MPI_Info_delete(info, 'size', ierr)
      call MPI_Info_get_nkeys(copy, many, ierr)
      call check(many == 2, 'MPI_Info_dup')
      call MPI_Info_get_nkeys(info, many, ierr)
      call check(many == 1, 'MPI_Info_delete')
      call MPI_Info_free(copy, ierr)
      call check(copy == MPI_INFO_NULL, 'MPI_Info_free')
      call MPI_Info_create_env(started, ierr)
      call check(ierr == MPI_SUCCESS .and. started /= MPI_INFO_NULL, 'MPI_Info_create_env')
      call MPI_Info_free(started, ierr)
      call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, world, ierr)
      call MPI_Comm_set_info(world, info, ierr)
      call MPI_Comm_get_info(world, copy, ierr)
      call check(ierr == MPI_SUCCESS .and. copy /= MPI_INFO_NULL, 'MPI_Comm_set_info, MPI_Comm_get_info')
      call MPI_Info_free(copy, ierr)
      call MPI_Comm_free(world, ierr)
      call MPI_Info_free(info, ierr)
   end subroutine hints

   subroutine communicators
      HANDLE(MPI_Comm) :: comm, other
      HANDLE(MPI_Group) :: group, some
      HANDLE(MPI_Request) :: request
      integer :: result, size, rank, length
      character(len=MPI_MAX_OBJECT_NAME) :: name
      call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
      call MPI_Comm_compare(comm, MPI_COMM_WORLD, result, ierr)
      call check(result == MPI_CONGRUENT, 'MPI_Comm_dup, MPI_Comm_compare')
      call MPI_Comm_set_name(comm, 'mine   ', ierr)
      name = repeat('x', len(name))
      call MPI_Comm_get_name(comm, name, length, ierr)
      call check(name == 'mine' .and. length == 4, 'MPI_Comm_set_name, MPI_Comm_get_name')
      call MPI_Comm_idup(comm, other, request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call MPI_Comm_compare(comm, other, result, ierr)
      call check(result == MPI_CONGRUENT, 'MPI_Comm_idup')
      call MPI_Comm_free(other, ierr)
      call check(other == MPI_COMM_NULL, 'MPI_Comm_free')
      call MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, other, request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call MPI_Comm_size(other, size, ierr)
      call check(size == n, 'MPI_Comm_idup_with_info')
      call MPI_Comm_disconnect(other, ierr)
      call check(other == MPI_COMM_NULL, 'MPI_Comm_disconnect')
      call MPI_Comm_split(comm, 0, -me, other, ierr)
      call MPI_Comm_rank(other, rank, ierr)
      call check(rank == n - 1 - me, 'MPI_Comm_split')
      call MPI_Comm_free(other, ierr)
      call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, other, ierr)
      call MPI_Comm_size(other, size, ierr)
      call check(size >= 1 .and. size <= n, 'MPI_Comm_split_type')
      call MPI_Comm_free(other, ierr)
      call MPI_Comm_group(comm, group, ierr)
      call MPI_Group_incl(group, 1, [0], some, ierr)
      call MPI_Comm_create(comm, some, other, ierr)
      call check((other == MPI_COMM_NULL) .eqv. me > 0, 'MPI_Comm_create')
      if (me == 0) call MPI_Comm_free(other, ierr)
      if (me == 0) then
         call MPI_Comm_create_group(comm, some, 5, other, ierr)
         call MPI_Comm_size(other, size, ierr)
         call check(size == 1, 'MPI_Comm_create_group')
         call MPI_Comm_free(other, ierr)
      end if
      call MPI_Comm_create_from_group(group, 'objects.F90   ', MPI_INFO_NULL, MPI_ERRORS_RETURN, other, ierr)
      call MPI_Comm_size(other, size, ierr)
      call check(size == n, 'MPI_Comm_create_from_group')
      call MPI_Comm_free(other, ierr)
      call MPI_Group_free(some, ierr)
      call MPI_Group_free(group, ierr)
      call MPI_Comm_free(comm, ierr)
      call MPI_Comm_get_parent(other, ierr)
      call check(other == MPI_COMM_NULL, 'MPI_Comm_get_parent')
   end subroutine communicators

   subroutine of_two_groups
      HANDLE(MPI_Comm) :: half, both, all
      HANDLE(MPI_Group) :: group, here, there
      integer :: size, other, rank
      logical :: flag
      if (n < 2) return
      call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, half, ierr)
      call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(me, 2), 3, both, ierr)
      call MPI_Comm_test_inter(both, flag, ierr)
      call check(flag, 'MPI_Intercomm_create, MPI_Comm_test_inter')
      call MPI_Comm_size(both, size, ierr)
      call MPI_Comm_remote_size(both, other, ierr)
      call check(size + other == n, 'MPI_Comm_remote_size')
      call MPI_Comm_remote_group(both, group, ierr)
      call MPI_Group_size(group, size, ierr)
      call check(size == other, 'MPI_Comm_remote_group')
      call MPI_Intercomm_merge(both, mod(me, 2) == 1, all, ierr)
      call MPI_Comm_rank(all, rank, ierr)
      call check((rank < (n + 1) / 2) .eqv. (mod(me, 2) == 0), 'MPI_Intercomm_merge')
      call MPI_Comm_free(all, ierr)
      call MPI_Comm_free(both, ierr)
      call MPI_Comm_group(half, here, ierr)
      call MPI_Intercomm_create_from_groups(here, 0, group, 0, 'two groups', MPI_INFO_NULL, MPI_ERRORS_RETURN, both, ierr)
      call MPI_Comm_remote_size(both, size, ierr)
      call check(size == other, 'MPI_Intercomm_create_from_groups')
      call MPI_Comm_free(both, ierr)
      call MPI_Group_free(here, ierr)
      call MPI_Group_free(group, ierr)
      call MPI_Comm_free(half, ierr)
   end subroutine of_two_groups

   subroutine groups
      HANDLE(MPI_Group) :: all, some, rest, made
      integer :: size, rank, result, ranks(1)
      call MPI_Comm_group(MPI_COMM_WORLD, all, ierr)
      call MPI_Group_rank(all, rank, ierr)
      call MPI_Group_size(all, size, ierr)
      call check(rank == me .and. size == n, 'MPI_Group_rank, MPI_Group_size')
      call MPI_Group_incl(all, 1, [n - 1], some, ierr)
      call MPI_Group_excl(all, 1, [n - 1], rest, ierr)
      call MPI_Group_size(rest, size, ierr)
      call check(size == n - 1, 'MPI_Group_excl')
      call MPI_Group_translate_ranks(some, 1, [0], all, ranks, ierr)
      call check(ranks(1) == n - 1, 'MPI_Group_incl, MPI_Group_translate_ranks')
      call MPI_Group_union(rest, some, made, ierr)
      call MPI_Group_compare(made, all, result, ierr)
      call check(result == MPI_IDENT, 'MPI_Group_union, MPI_Group_compare')
      call MPI_Group_free(made, ierr)
      call check(made == MPI_GROUP_NULL, 'MPI_Group_free')
      call MPI_Group_intersection(all, some, made, ierr)
      call MPI_Group_compare(made, some, result, ierr)
      call check(result == MPI_IDENT, 'MPI_Group_intersection')
      call MPI_Group_free(made, ierr)
      call MPI_Group_difference(all, some, made, ierr)
      call MPI_Group_size(made, size, ierr)
      call check(size == n - 1, 'MPI_Group_difference')
      if (size > 0) call MPI_Group_free(made, ierr)
      call MPI_Group_range_incl(all, 1, reshape([0, n - 1, 1], [3, 1]), made, ierr)
      call MPI_Group_size(made, size, ierr)
      call check(size == n, 'MPI_Group_range_incl')
      call MPI_Group_free(made, ierr)
      call MPI_Group_range_excl(all, 1, reshape([0, n - 1, 1], [3, 1]), made, ierr)
      call MPI_Group_size(made, size, ierr)
      call check(size == 0, 'MPI_Group_range_excl')
      call MPI_Group_free(some, ierr)
      if (n > 1) call MPI_Group_free(rest, ierr)
      call MPI_Group_free(all, ierr)
   end subroutine groups

   subroutine attributes
      integer :: comm_key, type_key, win_key
      integer(kind=MPI_ADDRESS_KIND) :: value, extra
      logical :: flag
      HANDLE(MPI_Win) :: win
      HANDLE(MPI_Comm) :: comm
      HANDLE(MPI_Datatype) :: type
#if !defined(BY_F08)
      integer :: old, short
      call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, ierr)
      call MPI_Attr_put(MPI_COMM_SELF, old, -8, ierr)
      call MPI_Attr_get(MPI_COMM_SELF, old, short, flag, ierr)
      call check(flag .and. short == -8, 'MPI_Keyval_create, MPI_Attr_put, MPI_Attr_get')
      call MPI_Attr_delete(MPI_COMM_SELF, old, ierr)
      call MPI_Attr_get(MPI_COMM_SELF, old, short, flag, ierr)
      call check(.not. flag, 'MPI_Attr_delete')
      call MPI_Keyval_free(old, ierr)
      call check(old == MPI_KEYVAL_INVALID, 'MPI_Keyval_free')
#endif
      extra = 0
      call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, comm_key, extra, ierr)
      call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, type_key, extra, ierr)
      call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, win_key, extra, ierr)
      call MPI_Comm_set_attr(MPI_COMM_SELF, comm_key, 7_MPI_ADDRESS_KIND, ierr)
      call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
      call MPI_Comm_get_attr(comm, comm_key, value, flag, ierr)
      call check(flag .and. value == 7, 'MPI_Comm_create_keyval, MPI_Comm_set_attr, MPI_Comm_get_attr')
      call MPI_Comm_delete_attr(comm, comm_key, ierr)
      call MPI_Comm_get_attr(comm, comm_key, value, flag, ierr)
      call check(.not. flag, 'MPI_Comm_delete_attr')
      call MPI_Comm_delete_attr(MPI_COMM_SELF, comm_key, ierr)
      call MPI_Comm_free(comm, ierr)
      call MPI_Comm_free_keyval(comm_key, ierr)
      call check(comm_key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
      call MPI_Type_dup(MPI_INTEGER, type, ierr)
      call MPI_Type_set_attr(type, type_key, 8_MPI_ADDRESS_KIND, ierr)
      call MPI_Type_get_attr(type, type_key, value, flag, ierr)
      call check(flag .and. value == 8, 'MPI_Type_create_keyval, MPI_Type_set_attr, MPI_Type_get_attr')
      call MPI_Type_delete_attr(type, type_key, ierr)
      call MPI_Type_get_attr(type, type_key, value, flag, ierr)
      call check(.not. flag, 'MPI_Type_delete_attr')
      call MPI_Type_free(type, ierr)
      call MPI_Type_free_keyval(type_key, ierr)
      call check(type_key == MPI_KEYVAL_INVALID, 'MPI_Type_free_keyval')
      call MPI_Win_create(MPI_BOTTOM, 0_MPI_ADDRESS_KIND, PLACE(1), MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
      call MPI_Win_set_attr(win, win_key, 9_MPI_ADDRESS_KIND, ierr)
      call MPI_Win_get_attr(win, win_key, value, flag, ierr)
      call check(flag .and. value == 9, 'MPI_Win_create_keyval, MPI_Win_set_attr, MPI_Win_get_attr')
      call MPI_Win_delete_attr(win, win_key, ierr)
      call MPI_Win_get_attr(win, win_key, value, flag, ierr)
      call check(.not. flag, 'MPI_Win_delete_attr')
      call MPI_Win_free(win, ierr)
      call MPI_Win_free_keyval(win_key, ierr)
      call check(win_key == MPI_KEYVAL_INVALID, 'MPI_Win_free_keyval')
   end subroutine attributes

   subroutine grids
      HANDLE(MPI_Comm) :: grid, row
      integer :: dims(2), coords(3), got(3), rank, from, to, kind, many
      logical :: periods(3)
      dims = 0
      call MPI_Dims_create(n, 2, dims, ierr)
      call check(dims(1) * dims(2) == n .and. dims(1) >= dims(2), 'MPI_Dims_create')
      call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierr)
      call MPI_Topo_test(grid, kind, ierr)
      call check(kind == MPI_CART, 'MPI_Cart_create, MPI_Topo_test')
      call MPI_Cartdim_get(grid, many, ierr)
      call check(many == 2, 'MPI_Cartdim_get')
      call MPI_Cart_coords(grid, me, 2, coords, ierr)
      call check(coords(1) * dims(2) + coords(2) == me, 'MPI_Cart_coords')
      call MPI_Cart_rank(grid, coords, rank, ierr)
      call check(rank == me, 'MPI_Cart_rank')
      got = -1
      periods = .true.
      call MPI_Cart_get(grid, 2, got, periods, coords, ierr)
      call check(all(got(:2) == dims) .and. got(3) == -1 .and. periods(1) .and. .not. periods(2) .and. periods(3), 'MPI_Cart_get')
      call MPI_Cart_shift(grid, 1, 1, from, to, ierr)
      call check((to == MPI_PROC_NULL) .eqv. coords(2) == dims(2) - 1, 'MPI_Cart_shift')
      call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, [.true., .false.], rank, ierr)
      call check(rank >= 0 .and. rank < n, 'MPI_Cart_map')
      call MPI_Cart_sub(grid, [.false., .true.], row, ierr)
      call MPI_Comm_size(row, many, ierr)
      call check(many == dims(2), 'MPI_Cart_sub')
      call MPI_Comm_free(row, ierr)
      call MPI_Comm_free(grid, ierr)
   end subroutine grids

   subroutine graphs
      HANDLE(MPI_Comm) :: ring
      integer :: i, index(8), edges(8), got(8), goes(8), many, nodes, into, out, rank, weights(1), other(1)
      logical :: weighted
      ! Each node has an edge to the next.
      do i = 1, n
         index(i) = i
         edges(i) = mod(i, n)
      end do
      call MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, .false., ring, ierr)
      call MPI_Graphdims_get(ring, nodes, many, ierr)
      call check(nodes == n .and. many == n, 'MPI_Graph_create, MPI_Graphdims_get')
      call MPI_Graph_get(ring, n, n, got, goes, ierr)
      call check(all(got(:n) == index(:n)) .and. all(goes(:n) == edges(:n)), 'MPI_Graph_get')
      call MPI_Graph_neighbors_count(ring, me, many, ierr)
      call check(many == 1, 'MPI_Graph_neighbors_count')
      call MPI_Graph_neighbors(ring, me, 1, got, ierr)
      call check(got(1) == mod(me + 1, n), 'MPI_Graph_neighbors')
      call MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, rank, ierr)
      call check(rank >= 0 .and. rank < n, 'MPI_Graph_map')
      call MPI_Comm_free(ring, ierr)
      call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [me], [1], [mod(me + 1, n)], [5], MPI_INFO_NULL, .false., ring, ierr)
      call MPI_Dist_graph_neighbors_count(ring, into, out, weighted, ierr)
      call check(into == 1 .and. out == 1 .and. weighted, 'MPI_Dist_graph_create, MPI_Dist_graph_neighbors_count')
      call MPI_Dist_graph_neighbors(ring, 1, got, weights, 1, goes, other, ierr)
      call check(got(1) == mod(me + n - 1, n) .and. weights(1) == 5 .and. goes(1) == mod(me + 1, n), 'MPI_Dist_graph_neighbors')
      call MPI_Comm_free(ring, ierr)
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [mod(me + n - 1, n)], MPI_UNWEIGHTED, 1, [mod(me + 1, n)], &
         MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
      call MPI_Dist_graph_neighbors_count(ring, into, out, weighted, ierr)
      call check(into == 1 .and. out == 1 .and. .not. weighted, 'MPI_Dist_graph_create_adjacent')
      call MPI_Comm_free(ring, ierr)
   end subroutine graphs

   subroutine sessions
      HANDLE(MPI_Session) :: session
      HANDLE(MPI_Info) :: info
      HANDLE(MPI_Group) :: group
      integer :: many, length, i, size, full
      logical :: found, flag
      character(len=64) :: name
      character(len=10) :: value
      call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
      call MPI_Session_get_info(session, info, ierr)
      call check(ierr == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'MPI_Session_init, MPI_Session_get_info')
      call MPI_Info_free(info, ierr)
      call MPI_Session_get_num_psets(session, MPI_INFO_NULL, many, ierr)
      call check(many >= 2, 'MPI_Session_get_num_psets')
      found = .false.
      do i = 0, many - 1
         full = 0
         name = 'untouched'
         call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, full, name, ierr)
         call check(full > 0 .and. name == 'untouched', 'MPI_Session_get_nth_pset of no room')
         length = 64
         call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierr)
         call check(length == full .and. len_trim(name) == full, 'MPI_Session_get_nth_pset')
         if (name == 'mpi://WORLD') found = .true.
      end do
      call check(found, 'the set of all processes')
      call MPI_Session_get_pset_info(session, 'mpi://WORLD  ', info, ierr)
      length = 10
      call MPI_Info_get_string(info, 'mpi_size', length, value, flag, ierr)
      read (value, *) size
      call check(flag .and. size == n, 'MPI_Session_get_pset_info')
      call MPI_Info_free(info, ierr)
      call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, ierr)
      call MPI_Group_size(group, size, ierr)
      call check(size == n, 'MPI_Group_from_session_pset')
      call MPI_Group_free(group, ierr)
      call MPI_Session_finalize(session, ierr)
      call check(session == MPI_SESSION_NULL, 'MPI_Session_finalize')
   end subroutine sessions

   subroutine binary_interface
      HANDLE(MPI_Info) :: info
      integer :: major, minor, length, yes, no
      logical :: flag
      character(len=4) :: value
      call MPI_Abi_get_version(major, minor, ierr)
      call check(major == 1 .and. minor == 0, 'MPI_Abi_get_version')
      call MPI_Abi_get_info(info, ierr)
      length = 4
      call MPI_Info_get_string(info, 'mpi_aint_size', length, value, flag, ierr)
      call check(flag .and. value == '8', 'MPI_Abi_get_info')
      call MPI_Info_free(info, ierr)
      call MPI_Info_create(info, ierr)
      call MPI_Info_set(info, 'mpi_integer_size', '4', ierr)
      call MPI_Abi_set_fortran_info(info, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Abi_set_fortran_info')
      call MPI_Info_free(info, ierr)
      call MPI_Abi_get_fortran_info(info, ierr)
      call MPI_Info_get_string(info, 'mpi_integer_size', length, value, flag, ierr)
      call check(flag .and. value == '4', 'MPI_Abi_get_fortran_info')
      call MPI_Info_free(info, ierr)
      call MPI_Abi_set_fortran_booleans(4, .true., .false., ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Abi_set_fortran_booleans')
      call MPI_Abi_get_fortran_booleans(4, yes, no, flag, ierr)
      call check(flag .and. yes == transfer(.true., 0) .and. no == transfer(.false., 0), 'MPI_Abi_get_fortran_booleans')
   end subroutine binary_interface

   ! Procedures that cannot do what they are asked, or that this version has not: the error is of the class for that.
   subroutine refused
      HANDLE(MPI_Comm) :: comm
      HANDLE(MPI_File) :: file
      integer :: codes(1)
      character(len=MPI_MAX_PORT_NAME) :: port
      call MPI_Open_port(MPI_INFO_NULL, port, ierr)
      call check(ierr == MPI_SUCCESS .and. port /= ' ', 'MPI_Open_port')
      call MPI_Close_port(port, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Close_port')
      call MPI_Close_port(port, ierr)
      call fails(ierr, MPI_ERR_PORT, 'MPI_Close_port')
      port = 'a port'
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, ierr)
      call fails(ierr, MPI_ERR_PORT, 'MPI_Comm_accept')
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, ierr)
      call fails(ierr, MPI_ERR_PORT, 'MPI_Comm_connect')
      call MPI_Publish_name('a service', MPI_INFO_NULL, 'two'//achar(10)//'lines', ierr)
      call fails(ierr, MPI_ERR_PORT, 'MPI_Publish_name')
      call MPI_Lookup_name('a service', MPI_INFO_NULL, port, ierr)
      call fails(ierr, MPI_ERR_NAME, 'MPI_Lookup_name')
      call MPI_Unpublish_name('a service', MPI_INFO_NULL, port, ierr)
      call fails(ierr, MPI_ERR_SERVICE, 'MPI_Unpublish_name')
      call MPI_Comm_join(0, comm, ierr)
      call fails(ierr, MPI_ERR_ARG, 'MPI_Comm_join')
      call MPI_Comm_spawn('none', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, codes, ierr)
      call fails(ierr, MPI_ERR_SPAWN, 'MPI_Comm_spawn')
      call MPI_Comm_spawn_multiple(1, ['none'], MPI_ARGVS_NULL, [1], [MPI_INFO_NULL], 0, MPI_COMM_SELF, comm, &
         MPI_ERRCODES_IGNORE, ierr)
      call fails(ierr, MPI_ERR_SPAWN, 'MPI_Comm_spawn_multiple')
      call MPI_File_open(MPI_COMM_SELF, '/no/such/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
      call fails(ierr, MPI_ERR_NO_SUCH_FILE, 'MPI_File_open')
      call MPI_File_delete('/no/such/file', MPI_INFO_NULL, ierr)
      call fails(ierr, MPI_ERR_NO_SUCH_FILE, 'MPI_File_delete')
   end subroutine refused

#include "tail.h"
end program objects
