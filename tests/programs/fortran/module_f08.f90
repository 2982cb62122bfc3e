! Procedures by module mpi_f08: handles and statuses of their types, absent error codes, large counts, callbacks, and the constants that have an address.
! Every rank says ok, or what is wrong.
module callbacks_of_f08
   use mpi_f08
   use, intrinsic :: iso_c_binding
   implicit none
   integer :: calls = 0, copies = 0, frees = 0
contains

   ! Adds pairs of numbers.
   subroutine add(invec, inoutvec, len, datatype)
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
      integer, pointer :: from(:), to(:)
      if (datatype /= MPI_INTEGER) calls = calls - 1000
      call c_f_pointer(invec, from, [len])
      call c_f_pointer(inoutvec, to, [len])
      to = to + from
   end subroutine add

   subroutine handler(comm, error_code)
      type(MPI_Comm) :: comm
      integer :: error_code
      if (comm == MPI_COMM_SELF .and. error_code /= MPI_SUCCESS) calls = calls + 1
   end subroutine handler

   subroutine copied(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
      attribute_val_out = attribute_val_in + extra_state
      copies = copies + 1
      flag = .true.
      ierror = MPI_SUCCESS
   end subroutine copied

   subroutine asked(extra_state, status, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
      call MPI_Status_set_elements(status, MPI_BYTE, int(extra_state))
      call MPI_Status_set_cancelled(status, .false.)
      ierror = MPI_SUCCESS
   end subroutine asked

   subroutine freed(extra_state, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
      frees = frees + 1
      ierror = MPI_SUCCESS
   end subroutine freed

   subroutine cancelled(extra_state, complete, ierror)
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
      ierror = MPI_SUCCESS
   end subroutine cancelled

end module callbacks_of_f08

program module_f08
   use mpi_f08
   use callbacks_of_f08
   use, intrinsic :: iso_c_binding
   implicit none
   integer :: wrong = 0, me, n, length, class, keyval, numbers(MPI_STATUS_SIZE)
   integer :: own(2), total(2), code
   integer(kind=MPI_COUNT_KIND) :: many
   integer(kind=MPI_ADDRESS_KIND) :: value, extra
   type(MPI_Request) :: requests(2)
   type(MPI_Status) :: status, statuses(2)
   type(MPI_Op) :: op
   type(MPI_Errhandler) :: eh
   type(MPI_Comm) :: dup, dups
   type(MPI_Datatype) :: row
   type(MPI_Info) :: info
   type(MPI_Win) :: win
   type(c_ptr) :: at
   integer, pointer :: cells(:)
   integer, asynchronous :: out, in
   real(kind=8) :: matrix(4, 3)
   character(len=MPI_MAX_PROCESSOR_NAME) :: name
   character(len=10) :: text
   integer, target :: room(1000)
   logical :: flag

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   call MPI_Comm_size(MPI_COMM_WORLD, n)
   call MPI_Get_processor_name(name, length)
   call check(length > 0 .and. len_trim(name) == length, 'the name')
   call MPI_Sizeof(matrix, length)
   call check(length == 8, 'the size of an array''s element')
   call PMPI_Sizeof(flag, length, code)
   call check(code == MPI_SUCCESS .and. length == storage_size(flag) / 8, 'the size of a scalar')

   out = 10 + me
   call MPI_Irecv(in, 1, MPI_INTEGER, mod(me + n - 1, n), 4, MPI_COMM_WORLD, requests(1))
   call MPI_Isend(out, 1, MPI_INTEGER, mod(me + 1, n), 4, MPI_COMM_WORLD, requests(2))
   call MPI_Waitall(2, requests, statuses)
   call MPI_F_sync_reg(in)
   call check(in == 10 + mod(me + n - 1, n), 'a message')
   call check(statuses(1)%MPI_TAG == 4 .and. requests(1) == MPI_REQUEST_NULL, 'its status')
   call MPI_Sendrecv(out, 1, MPI_INTEGER, 0, 6, in, 1, MPI_INTEGER, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE)
   call check(in == out, 'a message to myself')
   call MPI_Irecv(in, 1_MPI_COUNT_KIND, MPI_INTEGER, 0, 7, MPI_COMM_SELF, requests(1))
   call MPI_Send(out, 1_MPI_COUNT_KIND, MPI_INTEGER, 0, 7, MPI_COMM_SELF)
   call MPI_Wait(requests(1), status)
   call MPI_Get_count(status, MPI_INTEGER, many)
   call check(many == 1, 'a large count')
   call MPI_Status_f082f(status, numbers)
   call check(numbers(MPI_TAG) == 7, 'a status of integers')
   numbers(MPI_TAG) = 8
   call MPI_Status_f2f08(numbers, status)
   call check(status%MPI_TAG == 8, 'a status of its type')

   own = [me, 1]
   call MPI_Op_create(add, .true., op)
   call MPI_Allreduce(own, total, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
   call check(total(1) == n * (n - 1) / 2 .and. total(2) == n .and. calls == 0, 'a reduction')
   call MPI_Op_free(op)
   call check(op == MPI_OP_NULL, 'a freed operation')
   call MPI_Allreduce(MPI_IN_PLACE, own, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   call check(all(own == total), 'MPI_IN_PLACE')

   call MPI_Comm_create_errhandler(handler, eh)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, eh)
   call MPI_Send(out, 1, MPI_INTEGER, 99, 1, MPI_COMM_SELF, code)
   call MPI_Error_class(code, class)
   call check(class == MPI_ERR_RANK .and. calls == 1, 'an error handler')
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
   call MPI_Errhandler_free(eh)

   extra = 5
   call MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, keyval, extra)
   call MPI_Comm_dup(MPI_COMM_SELF, dup)
   call MPI_Comm_set_attr(dup, keyval, 20_MPI_ADDRESS_KIND)
   call MPI_Comm_dup(dup, dups)
   call MPI_Comm_get_attr(dups, keyval, value, flag)
   call check(flag .and. value == 25 .and. copies == 1, 'an attribute')
   call MPI_Comm_free(dups)
   call MPI_Comm_free(dup)
   call check(dup == MPI_COMM_NULL, 'a freed communicator')
   extra = 9
   call MPI_Grequest_start(asked, freed, cancelled, extra, requests(1))
   call MPI_Grequest_complete(requests(1))
   call MPI_Wait(requests(1), status)
   call MPI_Get_count(status, MPI_BYTE, length)
   call check(length == 9 .and. frees == 1, 'a generalized request')

   call MPI_Type_vector(3, 1, 4, MPI_DOUBLE_PRECISION, row)
   call MPI_Type_commit(row)
   matrix = 0
   if (me == 0) matrix(2, :) = [1.0d0, 2.0d0, 3.0d0]
   call MPI_Bcast(matrix(2, 1), 1, row, 0, MPI_COMM_WORLD)
   call check(sum(matrix) == 6, 'a row')
   call MPI_Type_free(row)
   matrix(3, :) = me
   call MPI_Bcast(matrix(3, :), 3, MPI_DOUBLE_PRECISION, n - 1, MPI_COMM_WORLD)
   call check(all(matrix(3, :) == n - 1) .and. matrix(2, 2) == 2, 'a section of an array')

   call MPI_Info_create(info)
   call MPI_Info_set(info, 'key', ' some words')
   length = 10
   call MPI_Info_get_string(info, 'key', length, text, flag)
   call check(flag .and. length == 10 .and. text == 'some words', 'a value')
   call MPI_Info_free(info)

   call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, at, win)
   call c_f_pointer(at, cells, [4])
   cells = -1
   call MPI_Win_fence(0, win)
   call MPI_Put(me, 1, MPI_INTEGER, mod(me + 1, n), 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
   call MPI_Win_fence(0, win)
   call check(cells(2) == mod(me + n - 1, n), 'a put')
   call MPI_Win_free(win)

   call MPI_Buffer_attach(room, 4000)
   call MPI_Buffer_detach(at, length)
   ! As numbers: gfortran takes the two for pointers to different things.
   call check(length == 4000 .and. transfer(at, value) == transfer(c_loc(room), value), 'a buffer that is given back')

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

end program module_f08
