! Calls with sections of arrays against the same calls with contiguous copies, by module mpi_f08 with descriptors, on at most 4 ranks.
! Arguments: a seed, the number of rounds, a file.
!
! Shapes, strides, datatypes, counts and displacements are pseudo-random, from a seed on the command line: those that processes have to agree on from
! one sequence, all others from a sequence of each process. Each call is made with sections and with copies; what arrives has to be the same, and no element
! outside of the section may change. Every rank says ok, or which call differs.
module sequences
   implicit none
   integer, parameter :: word = selected_int_kind(18)
   ! The sequences: what processes agree on, and the process's own.
   integer, parameter :: common_ = 1, own = 2
   integer(kind=word) :: state(2)
contains

   ! A number from low to high.
   integer function draw(which, low, high)
      integer, intent(in) :: which, low, high
      state(which) = mod(state(which) * 48271_word, 2147483647_word)
      draw = low + int(mod(state(which) / 8, int(high - low + 1, word)))
   end function draw

end module sequences

! Sections of an array of fixed shape.
module shapes
   use sequences
   implicit none
   integer, parameter :: full(3) = [16, 15, 12]
   type :: shape_of
      ! Dimensions that have a range; 4: the second alone.
      integer :: rank
      integer :: low(3), high(3), step(3)
   end type shape_of
contains

   integer function elements(s)
      type(shape_of), intent(in) :: s
      integer :: n(3)
      n = (s%high - s%low + s%step) / s%step
      select case (s%rank)
      case (4)
         elements = n(2)
      case default
         elements = product(n(:s%rank))
      end select
   end function elements

   ! A section with so many elements at least.
   type(shape_of) function drawn(needed) result(s)
      integer, intent(in) :: needed
      integer :: try, i
      do try = 1, 60
         s%rank = draw(own, 1, 4)
         do i = 1, 3
            if (draw(own, 1, 4) == 1) then
               s%low(i) = 1
               s%high(i) = full(i)
               s%step(i) = 1
            else
               s%low(i) = draw(own, 1, full(i) / 2)
               s%high(i) = draw(own, full(i) / 2, full(i))
               s%step(i) = draw(own, 1, 3)
            end if
            if (draw(own, 1, 3) == 1) then
               s%step(i) = -s%step(i)
               s%low(i) = s%low(i) + s%high(i)
               s%high(i) = s%low(i) - s%high(i)
               s%low(i) = s%low(i) - s%high(i)
            end if
         end do
         if (elements(s) >= needed) return
      end do
      s = shape_of(3, [16, 1, 12], [1, 15, 1], [-2, 1, -1])
   end function drawn

   ! Elements of the section, one behind the other.
   subroutine take(s, from, to)
      type(shape_of), intent(in) :: s
      integer, intent(in) :: from(:, :, :)
      integer, intent(out) :: to(:)
      associate (l => s%low, h => s%high, d => s%step)
         select case (s%rank)
         case (1)
            to = from(l(1):h(1):d(1), l(2), l(3))
         case (2)
            to = reshape(from(l(1):h(1):d(1), l(2):h(2):d(2), l(3)), [size(to)])
         case (3)
            to = reshape(from(l(1):h(1):d(1), l(2):h(2):d(2), l(3):h(3):d(3)), [size(to)])
         case (4)
            to = from(l(1), l(2):h(2):d(2), l(3))
         end select
      end associate
   end subroutine take

   subroutine put(s, from, to)
      type(shape_of), intent(in) :: s
      integer, intent(in) :: from(:)
      integer, intent(inout) :: to(:, :, :)
      integer :: n(3)
      n = (s%high - s%low + s%step) / s%step
      associate (l => s%low, h => s%high, d => s%step)
         select case (s%rank)
         case (1)
            to(l(1):h(1):d(1), l(2), l(3)) = from
         case (2)
            to(l(1):h(1):d(1), l(2):h(2):d(2), l(3)) = reshape(from, n(:2))
         case (3)
            to(l(1):h(1):d(1), l(2):h(2):d(2), l(3):h(3):d(3)) = reshape(from, n)
         case (4)
            to(l(1), l(2):h(2):d(2), l(3)) = from
         end select
      end associate
   end subroutine put

end module shapes

! The calls. Buffers are of assumed rank, so the same source passes sections and copies.
module calls
   use mpi_f08
   use sequences
   use, intrinsic :: iso_c_binding
   implicit none

   ! Integers of a message, of which every datatype has a divisor.
   integer, parameter :: unit = 12
   integer, parameter :: kinds = 10, operations = 58
   type(MPI_Datatype) :: types(kinds)
   ! Of a datatype: integers, and integers from one to the next.
   integer :: content(kinds), extent(kinds)
   integer :: me, n, root, salt, message
   type(MPI_Comm) :: ring
   type(MPI_Win) :: win
   type(MPI_File) :: file
   type(MPI_Op) :: user
   integer, pointer :: exposed(:)
   ! Of this process in this round.
   type(MPI_Datatype) :: s, r
   integer :: sn, rn, sk, rk, sums
   type(MPI_Datatype) :: all_s(4), all_r(4)
   integer, asynchronous :: s_counts(4), r_counts(4), s_places(4), r_places(4)
   integer(kind=MPI_ADDRESS_KIND), asynchronous :: s_bytes(4), r_bytes(4)
   integer, asynchronous :: s_ints(4), r_ints(4), threes(4) = [3, 6, 9, 12]
   integer(kind=MPI_COUNT_KIND), asynchronous :: s_large(4), r_large(4)

contains

   subroutine make_types()
      type(MPI_Datatype) :: reversed, old
      integer(kind=MPI_ADDRESS_KIND) :: low, reach, four
      integer :: i, bytes
      four = 4
      types(1) = MPI_INTEGER
      call MPI_Type_contiguous(3, MPI_INTEGER, types(2))
      call MPI_Type_vector(2, 1, 2, MPI_INTEGER, types(3))
      call MPI_Type_indexed(2, [2, 1], [0, 3], MPI_INTEGER, types(4))
      call MPI_Type_create_resized(MPI_INTEGER, 0 * four, 2 * four, types(5))
      call MPI_Type_create_struct(2, [1, 1], [four, 0 * four], [MPI_INTEGER, MPI_INTEGER], reversed)
      call MPI_Type_dup(reversed, types(6))
      types(7) = MPI_2INTEGER
      call MPI_Type_create_hvector(2, 1, 5 * four, reversed, old)
      call MPI_Type_create_hindexed_block(1, 1, [0 * four], old, types(8))
      call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, types(9))
      call MPI_Type_create_darray(2, 1, 2, [4, 3], [MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE], &
         [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, types(10))
      do i = 1, kinds
         call MPI_Type_commit(types(i))
         call MPI_Type_size(types(i), bytes)
         call MPI_Type_get_extent(types(i), low, reach)
         content(i) = bytes / 4
         extent(i) = int(reach) / 4
      end do
      call MPI_Type_free(reversed)
      call MPI_Type_free(old)
   end subroutine make_types

   ! Adds triples: it is to see the program's datatype and contiguous data.
   subroutine add(invec, inoutvec, len, datatype)
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
      integer, pointer :: from(:), to(:)
      if (datatype /= types(2)) return
      call c_f_pointer(invec, from, [3 * len])
      call c_f_pointer(inoutvec, to, [3 * len])
      to = to + from
   end subroutine add

   ! Integers from process a to process b in a call with counts.
   integer function between(a, b)
      integer, intent(in) :: a, b
      between = message * mod(a + 2 * b + salt, 3)
   end function between

   ! Draws the datatypes, counts and places of a round.
   subroutine prepare(operation)
      integer, intent(in) :: operation
      integer :: a, b, i, at, from, next(4)
      root = draw(common_, 0, n - 1)
      salt = draw(common_, 0, 5)
      message = unit * draw(common_, 1, 2)
      a = draw(own, 1, kinds)
      b = draw(own, 1, kinds)
      ! Accumulating, MPI_2INTEGER is another basic type than MPI_INTEGER, and MPICH does not pack it externally.
      if (operation == 44 .or. operation == 49) then
         if (types(a) == MPI_2INTEGER) a = 8
         if (types(b) == MPI_2INTEGER) b = 9
      end if
      s = types(a)
      r = types(b)
      sk = extent(a)
      rk = extent(b)
      sn = message / content(a)
      rn = message / content(b)
      sums = message
      next = cshift([0, 1, 2, 3], draw(own, 0, 3))
      at = 0
      r_places = 0
      r_counts = 0
      s_places = 0
      s_counts = 0
      do i = 1, 4
         from = next(i)
         if (from >= n) cycle
         at = at + draw(own, 0, 2)
         r_places(from + 1) = at
         r_counts(from + 1) = between(from, me) / content(b)
         at = at + r_counts(from + 1)
      end do
      at = 0
      do i = 1, n
         at = at + draw(own, 0, 2)
         s_places(i) = at
         s_counts(i) = between(me, i - 1) / content(a)
         at = at + s_counts(i)
      end do
      all_s = s
      all_r = r
      s_bytes = 4 * sk * s_places
      r_bytes = 4 * rk * r_places
      s_ints = int(s_bytes)
      r_ints = int(r_bytes)
      s_large = s_counts
      r_large = r_counts
   end subroutine prepare

   ! Elements that a call may need of its buffers.
   integer function needed(k, c)
      integer, intent(in) :: k, c
      needed = 4 * (2 * message * k / c + 2 * k) + 64
   end function needed

   ! One of the calls, from the first buffer into the second.
   subroutine perform(operation, from, to)
      integer, intent(in) :: operation
      type(*), dimension(..), asynchronous :: from, to
      type(MPI_Request) :: q(2)
      type(MPI_Message) :: m
      type(MPI_Status) :: status
      integer :: right, left, i, at
      integer, asynchronous :: room(8000)
      integer(kind=MPI_COUNT_KIND) :: large, many
      integer(kind=MPI_OFFSET_KIND) :: place
      integer(kind=MPI_ADDRESS_KIND) :: long
      logical :: flag
      right = mod(me + 1, n)
      left = mod(me + n - 1, n)
      ! Others may be in the next round, with longer messages.
      place = me * 4 * 2 * unit
      large = sn
      many = rn
      select case (operation)
      case (1)
         call MPI_Sendrecv(from, sn, s, right, 1, to, rn, r, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      case (2)
         call MPI_Irecv(to, rn, r, left, 1, MPI_COMM_WORLD, q(1))
         call MPI_Isend(from, sn, s, right, 1, MPI_COMM_WORLD, q(2))
         call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      case (3)
         call MPI_Recv_init(to, rn, r, left, 1, MPI_COMM_WORLD, q(1))
         call MPI_Send_init(from, sn, s, right, 1, MPI_COMM_WORLD, q(2))
         do i = 1, 2
            call MPI_Startall(2, q)
            call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
         end do
         call MPI_Request_free(q(1))
         call MPI_Request_free(q(2))
      case (4)
         call MPI_Irecv(to, many, r, left, 1, MPI_COMM_WORLD, q(1))
         call MPI_Bsend(from, large, s, right, 1, MPI_COMM_WORLD)
         call MPI_Wait(q(1), status)
         call MPI_Get_elements(status, r, i)
         if (i /= message) print *, 'elements', i, message
      case (5)
         call MPI_Issend(from, sn, s, right, 1, MPI_COMM_WORLD, q(2))
         call MPI_Mprobe(left, 1, MPI_COMM_WORLD, m, status)
         call MPI_Mrecv(to, rn, r, m, MPI_STATUS_IGNORE)
         call MPI_Wait(q(2), MPI_STATUS_IGNORE)
      case (6)
         call MPI_Sendrecv_replace(to, rn, r, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      case (7)
         call MPI_Precv_init(to, 1, many, r, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
         call MPI_Psend_init(from, 1, large, s, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q(2))
         call MPI_Startall(2, q)
         call MPI_Pready(0, q(2))
         call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
         call MPI_Request_free(q(1))
         call MPI_Request_free(q(2))
      case (8)
         call MPI_Bcast(to, rn, r, root, MPI_COMM_WORLD)
      case (9)
         call MPI_Ibcast(to, rn, r, root, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (10)
         call MPI_Gather(from, sn, s, to, rn, r, root, MPI_COMM_WORLD)
      case (11)
         call MPI_Igather(from, sn, s, to, rn, r, root, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (12)
         call MPI_Gatherv(from, s_counts(root + 1), s, to, r_counts, r_places, r, root, MPI_COMM_WORLD)
      case (13)
         call MPI_Igatherv(from, s_counts(root + 1), s, to, r_counts, r_places, r, root, MPI_COMM_WORLD, q(1))
         flag = .false.
         do while (.not. flag)
            call MPI_Test(q(1), flag, MPI_STATUS_IGNORE)
         end do
      case (14)
         call MPI_Scatter(from, sn, s, to, rn, r, root, MPI_COMM_WORLD)
      case (15)
         call MPI_Iscatter(from, sn, s, to, rn, r, root, MPI_COMM_WORLD, q(1))
         call MPI_Waitany(1, q, i, MPI_STATUS_IGNORE)
      case (16)
         call MPI_Scatterv(from, s_counts, s_places, s, to, r_counts(root + 1), r, root, MPI_COMM_WORLD)
      case (17)
         call MPI_Iscatterv(from, s_counts, s_places, s, to, r_counts(root + 1), r, root, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (18)
         call MPI_Allgather(from, sn, s, to, rn, r, MPI_COMM_WORLD)
      case (19)
         call MPI_Iallgather(from, sn, s, to, rn, r, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (20)
         call MPI_Allgather_init(from, sn, s, to, rn, r, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
         do i = 1, 2
            call MPI_Start(q(1))
            call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         end do
         call MPI_Request_free(q(1))
      case (21)
         call MPI_Allgatherv(from, sn, s, to, [(rn, i=1, n)], [(salt + i * (rn + 1), i=0, 3)], r, MPI_COMM_WORLD)
      case (22)
         call MPI_Alltoall(from, sn, s, to, rn, r, MPI_COMM_WORLD)
      case (23)
         call MPI_Ialltoall(from, large, s, to, many, r, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (24)
         call MPI_Alltoallv(from, s_counts, s_places, s, to, r_counts, r_places, r, MPI_COMM_WORLD)
      case (25)
         call MPI_Ialltoallv(from, s_counts, s_places, s, to, r_counts, r_places, r, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (26)
         call MPI_Alltoallw(from, s_counts, s_ints, all_s, to, r_counts, r_ints, all_r, MPI_COMM_WORLD)
      case (27)
         call MPI_Ialltoallw(from, s_large, s_bytes, all_s, to, r_large, r_bytes, all_r, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (28)
         call MPI_Neighbor_allgather(from, sn, s, to, rn, r, ring)
      case (29)
         call MPI_Ineighbor_alltoall(from, sn, s, to, rn, r, ring, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (30)
         call MPI_Neighbor_alltoallv(from, [sn, sn], s_places(:2) + [0, 2 * sn], s, to, [rn, rn], [rn + 2, 0], r, ring)
      case (31)
         call MPI_Neighbor_alltoallw(from, [sn, sn], s_bytes(:2) + [0, 8 * sn * sk], all_s, to, [rn, rn], &
            [0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND * rk * (rn + 1)], all_r, ring)
      case (32)
         call MPI_Reduce(from, to, sums, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
      case (33)
         call MPI_Allreduce(from, to, sums, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (34)
         call MPI_Allreduce(MPI_IN_PLACE, to, sums, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
      case (35)
         call MPI_Iallreduce(from, to, sums, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, q(1))
         flag = .false.
         do while (.not. flag)
            call MPI_Request_get_status(q(1), flag, MPI_STATUS_IGNORE)
         end do
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (36)
         call MPI_Allreduce(from, to, sums, types(2), user, MPI_COMM_WORLD)
      case (37)
         call MPI_Allreduce_init(from, to, sums, types(2), user, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
         do i = 1, 2
            call MPI_Startall(1, q)
            call MPI_Waitsome(1, q, right, room, MPI_STATUSES_IGNORE)
         end do
         call MPI_Request_free(q(1))
      case (38)
         call MPI_Reduce_scatter_block(from, to, sums, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (39)
         call MPI_Ireduce_scatter(from, to, threes, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (40)
         call MPI_Scan(from, to, sums, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (41)
         call MPI_Iexscan(from, to, sums, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(1))
         call MPI_Waitall(1, q, MPI_STATUSES_IGNORE)
      case (42)
         call MPI_Reduce_local(from, to, sums, MPI_INTEGER, MPI_SUM)
      case (43)
         call MPI_Win_fence(0, win)
         call MPI_Put(from, sn, s, right, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, win)
         call MPI_Win_fence(0, win)
         call MPI_Get(to, rn, r, right, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, win)
         call MPI_Win_fence(0, win)
      case (44)
         exposed = me
         call MPI_Win_fence(0, win)
         call MPI_Accumulate(from, sn, s, right, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, MPI_SUM, win)
         call MPI_Win_fence(0, win)
         call MPI_Get_accumulate(from, sn, s, to, rn, r, right, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, MPI_REPLACE, win)
         call MPI_Win_fence(0, win)
      case (45)
         call MPI_Win_lock_all(0, win)
         call MPI_Rput(from, sn, s, me, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, win, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         call MPI_Win_flush(me, win)
         call MPI_Rget(to, rn, r, me, 0_MPI_ADDRESS_KIND, message, MPI_INTEGER, win, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         call MPI_Win_unlock_all(win)
      case (46)
         exposed = 5 * me
         call MPI_Barrier(MPI_COMM_WORLD)
         call MPI_Win_lock_all(0, win)
         call MPI_Fetch_and_op(from, to, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, MPI_SUM, win)
         call MPI_Win_unlock_all(win)
         call MPI_Barrier(MPI_COMM_WORLD)
      case (47)
         at = 0
         call MPI_Pack(from, sn, s, to, 4 * message + 40, at, MPI_COMM_WORLD)
      case (48)
         at = 0
         call MPI_Unpack(from, 4 * message, at, to, rn, r, MPI_COMM_WORLD)
      case (49)
         long = 0
         call MPI_Pack_external('external32', from, sn, s, room, 32000_MPI_ADDRESS_KIND, long)
         long = 0
         call MPI_Unpack_external('external32', room, 32000_MPI_ADDRESS_KIND, long, to, rn, r)
      case (50)
         call MPI_File_write_at(file, place, from, sn, s, MPI_STATUS_IGNORE)
         call MPI_File_read_at(file, place, to, rn, r, MPI_STATUS_IGNORE)
      case (51)
         call MPI_File_iwrite_at(file, place, from, sn, s, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         call MPI_File_iread_at(file, place, to, rn, r, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (52)
         call MPI_File_write_at_all_begin(file, place, from, sn, s)
         call MPI_File_write_at_all_end(file, from, MPI_STATUS_IGNORE)
         call MPI_File_read_at_all(file, place, to, rn, r, MPI_STATUS_IGNORE)
      case (53)
         call MPI_Alltoallv_init(from, s_counts, s_places, s, to, r_counts, r_places, r, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
         do i = 1, 2
            call MPI_Start(q(1))
            call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         end do
         call MPI_Request_free(q(1))
      case (54)
         call MPI_Alltoallw_init(from, s_counts, s_ints, all_s, to, r_counts, r_ints, all_r, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
         do i = 1, 2
            call MPI_Start(q(1))
            call MPI_Wait(q(1), MPI_STATUS_IGNORE)
         end do
         call MPI_Request_free(q(1))
      case (55)
         call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, rn, r, MPI_COMM_WORLD, q(1))
         call MPI_Testall(0, q, flag, MPI_STATUSES_IGNORE)
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (56)
         call MPI_Reduce_scatter(MPI_IN_PLACE, to, [(5, i=1, n)], MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      case (57)
         call MPI_Isendrecv(from, sn, s, right, 1, to, rn, r, left, 1, MPI_COMM_WORLD, q(1))
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      case (58)
         if (me == root) then
            call MPI_Ireduce(MPI_IN_PLACE, to, sums, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, q(1))
         else
            call MPI_Ireduce(from, to, sums, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, q(1))
         end if
         call MPI_Wait(q(1), MPI_STATUS_IGNORE)
      end select
   end subroutine perform

end module calls

program sections
   use mpi_f08
   use sequences
   use shapes
   use calls
   use, intrinsic :: iso_c_binding
   implicit none
   integer :: wrong = 0, seed, rounds, round = 0, operation = 0, i
   integer, target :: source(16, 15, 12), target_(16, 15, 12), before(16, 15, 12), after(16, 15, 12)
   integer, allocatable :: s_copy(:), r_copy(:)
   integer, target :: attached(20000)
   type(shape_of) :: s_shape, r_shape
   character(len=200) :: argument
   character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
   type(c_ptr) :: at
   integer :: code
   logical :: has_files

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   call MPI_Comm_size(MPI_COMM_WORLD, n)
   call get_command_argument(1, argument)
   read (argument, *) seed
   call get_command_argument(2, argument)
   read (argument, *) rounds
   call get_command_argument(3, argument)
   state = [100 + seed, 5000 + 17 * seed + me]
   call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'mpifort does not take descriptors of this compiler')
   call make_types()
   call MPI_Op_create(add, .true., user)
   call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.true.], .false., ring)
   call MPI_Win_allocate(4_MPI_ADDRESS_KIND * 1000, 4, MPI_INFO_NULL, MPI_COMM_WORLD, at, win)
   call c_f_pointer(at, exposed, [1000])
   call MPI_Buffer_attach(attached, 80000)
   call MPI_File_open(MPI_COMM_WORLD, trim(argument), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, code)
   has_files = code == MPI_SUCCESS

   do round = 1, rounds
      operation = 1 + mod(round - 1, operations)
      if (operation >= 50 .and. operation <= 52 .and. .not. has_files) cycle
      call prepare(operation)
      s_shape = drawn(needed(sk, message / sn))
      r_shape = drawn(needed(rk, message / rn))
      call compare()
   end do
   call special()
   call refused()
   call MPI_Get_library_version(version, i)
   ! MPICH ends a program that asks for a request which there is not.
   if (index(version, 'oxmpi') > 0) call of_c()

   if (has_files) call MPI_File_close(file)
   call MPI_Buffer_detach(at, i)
   call MPI_Win_free(win)
   call MPI_Comm_free(ring)
   call MPI_Op_free(user)
   call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (wrong == 0) print '(a)', 'ok'
   call MPI_Finalize()

contains

   subroutine compare()
      integer :: x, y, z
      do z = 1, full(3)
         do y = 1, full(2)
            do x = 1, full(1)
               source(x, y, z) = 1000000 * me + x + 20 * y + 400 * z
               before(x, y, z) = -(1000 * me + x + 20 * y + 400 * z)
            end do
         end do
      end do
      allocate (s_copy(elements(s_shape)), r_copy(elements(r_shape)))
      call take(s_shape, source, s_copy)
      call take(r_shape, before, r_copy)
      call perform(operation, s_copy, r_copy)
      after = before
      call put(r_shape, r_copy, after)
      target_ = before
      exposed = 0
      call MPI_Barrier(MPI_COMM_WORLD)
      call with_source(operation)
      call check(all(target_ == after), 'a call')
      deallocate (s_copy, r_copy)
   end subroutine compare

   subroutine with_source(operation)
      integer, intent(in) :: operation
      associate (l => s_shape%low, h => s_shape%high, d => s_shape%step)
         select case (s_shape%rank)
         case (1)
            call with_target(operation, source(l(1):h(1):d(1), l(2), l(3)))
         case (2)
            call with_target(operation, source(l(1):h(1):d(1), l(2):h(2):d(2), l(3)))
         case (3)
            call with_target(operation, source(l(1):h(1):d(1), l(2):h(2):d(2), l(3):h(3):d(3)))
         case (4)
            call with_target(operation, source(l(1), l(2):h(2):d(2), l(3)))
         end select
      end associate
   end subroutine with_source

   subroutine with_target(operation, from)
      integer, intent(in) :: operation
      type(*), dimension(..), asynchronous :: from
      associate (l => r_shape%low, h => r_shape%high, d => r_shape%step)
         select case (r_shape%rank)
         case (1)
            call perform(operation, from, target_(l(1):h(1):d(1), l(2), l(3)))
         case (2)
            call perform(operation, from, target_(l(1):h(1):d(1), l(2):h(2):d(2), l(3)))
         case (3)
            call perform(operation, from, target_(l(1):h(1):d(1), l(2):h(2):d(2), l(3):h(3):d(3)))
         case (4)
            call perform(operation, from, target_(l(1), l(2):h(2):d(2), l(3)))
         end select
      end associate
   end subroutine with_target

   ! Elements that are texts, structures, and components of structures.
   subroutine special()
      type :: pair
         sequence
         real(kind=8) :: value
         integer :: number, rest
      end type pair
      type(pair) :: pairs(9), others(9)
      character(len=5) :: words(8), got(8)
      real(kind=8) :: values(4, 6)
      integer, asynchronous :: parts(6, 4), whole(12), rows(5, 4)
      logical :: arrived
      type(MPI_Datatype) :: of_pair
      type(MPI_Request) :: q(2)
      integer :: right, left
      right = mod(me + 1, n)
      left = mod(me + n - 1, n)
      words = ['alpha', 'bravo', 'charl', 'delta', 'echo ', 'foxtr', 'golf ', 'hotel']
      got = '-----'
      call MPI_Sendrecv(words(::2), 20, MPI_CHARACTER, right, 1, got(8:2:-2), 20, MPI_CHARACTER, left, 1, MPI_COMM_WORLD, &
         MPI_STATUS_IGNORE)
      call check(all(got(8:2:-2) == words(::2)) .and. all(got(::2) == '-----'), 'texts')
      call MPI_Sendrecv(words(:)(2:4), 24, MPI_CHARACTER, right, 1, got(:)(1:3), 24, MPI_CHARACTER, left, 1, MPI_COMM_WORLD, &
         MPI_STATUS_IGNORE)
      call check(all(got(:)(1:3) == words(:)(2:4)) .and. got(1) (4:5) == '--', 'parts of texts')

      call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_DOUBLE_PRECISION, MPI_INTEGER], of_pair)
      call MPI_Type_commit(of_pair)
      pairs%value = [(i + 0.5d0, i=1, 9)]
      pairs%number = [(i, i=1, 9)]
      pairs%rest = 0
      others%value = 0
      others%number = 0
      others%rest = 7
      call MPI_Sendrecv(pairs(::4), 3, of_pair, right, 1, others(9:5:-2), 3, of_pair, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call check(all(others(9:5:-2)%number == [1, 5, 9]) .and. sum(others%value) == 16.5d0, 'structures')
      call check(all(others%rest == 7), 'what lies between')
      call MPI_Type_free(of_pair)
      values = 0
      call MPI_Allreduce(pairs(:8)%value, values(::2, 2:5), 8, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      call check(abs(sum(values) - n * 40) < 1d-9 .and. values(2, 2) == 0 .and. values(3, 5) == n * 8.5d0, 'components')

      ! Partitions that are rows of a section.
      whole = [(100 * me + i, i=1, 12)]
      parts = 0
      call MPI_Precv_init(parts(2:4, ::1), 4, 3_MPI_COUNT_KIND, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
      call MPI_Psend_init(whole, 4, 3_MPI_COUNT_KIND, MPI_INTEGER, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, q(2))
      call MPI_Startall(2, q)
      do i = 0, 3
         call MPI_Pready(i, q(2))
      end do
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      call check(all(reshape(parts(2:4, :), [12]) == [(100 * left + i, i=1, 12)]) .and. all(parts(5:6, :) == 0), 'partitions')
      call MPI_Request_free(q(1))
      call MPI_Request_free(q(2))

      ! Partitions that begin within a row, twice.
      parts = -1
      call MPI_Precv_init(parts(1:5:2, :), 6, 2_MPI_COUNT_KIND, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
      call MPI_Psend_init(rows(4:2:-1, :), 3, 4_MPI_COUNT_KIND, MPI_INTEGER, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, q(2))
      do round = 1, 2
         rows = 0
         call MPI_Startall(2, q)
         rows(4:2:-1, :) = reshape([(100 * me + i + round, i=1, 12)], [3, 4])
         call MPI_Pready_range(0, 1, q(2))
         call MPI_Pready_list(1, [2], q(2))
         arrived = .false.
         do while (.not. arrived)
            call MPI_Parrived(q(1), 5, arrived)
         end do
         call check(all(parts([3, 5], 4) == 100 * left + [11, 12] + round), 'a partition that has arrived')
         call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
         call check(all(reshape(parts(1:5:2, :), [12]) == [(100 * left + i + round, i=1, 12)]), 'partitions of parts of rows')
         call check(all(parts(2:6:2, :) == -1), 'what lies between partitions')
      end do
      call MPI_Request_free(q(1))
      call MPI_Request_free(q(2))
   end subroutine special

   ! C knows no request whose section it could not write, and Fortran completes it behind that.
   subroutine of_c()
      interface
         function c_request(number) bind(C, name="MPI_Request_fromint") result(request)
            import :: c_int, c_intptr_t
            integer(kind=c_int), value :: number
            integer(kind=c_intptr_t) :: request
         end function c_request
         function c_test(request, flag, status) bind(C, name="MPI_Test") result(code)
            import :: c_int, c_intptr_t, c_ptr
            integer(kind=c_intptr_t) :: request
            integer(kind=c_int) :: flag, code
            type(c_ptr), value :: status
         end function c_test
      end interface
      integer, asynchronous :: area(40)
      integer(kind=c_intptr_t) :: request
      integer(kind=c_int) :: flag
      type(MPI_Request) :: q
      area = [(i, i=1, 40)]
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
      call MPI_Iallreduce(MPI_IN_PLACE, area(1:39:2), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q)
      request = c_request(q%MPI_VAL)
      call expect(c_test(request, flag, c_null_ptr), MPI_ERR_REQUEST, 'a request in C')
      call MPI_Wait(q, MPI_STATUS_IGNORE)
      call check(q == MPI_REQUEST_NULL .and. all(area(1:39:2) == n * [(i, i=1, 39, 2)]), 'a request in Fortran')
      call check(all(area(2:40:2) == [(i, i=2, 40, 2)]), 'what the section leaves out')
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
   end subroutine of_c

   ! What makes no sense for a section says so.
   subroutine refused()
      integer, asynchronous :: area(40)
      type(MPI_Win) :: made
      integer :: code
      area = 0
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
      call MPI_Win_create(area(::2), 80_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, made, code)
      call expect(code, MPI_ERR_BUFFER, 'a window')
      call MPI_Send(area(::2), 21, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
      call expect(code, MPI_ERR_BUFFER, 'more than there is')
      call MPI_Send(area(::2), 10, MPI_DOUBLE_PRECISION, me, 1, MPI_COMM_WORLD, code)
      call expect(code, MPI_ERR_TYPE, 'an element of a half')
      call MPI_Send(area(::2), -1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
      call expect(code, MPI_ERR_COUNT, 'a negative count')
      call MPI_Send(area(::2), 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_SELF, code)
      call expect(code, MPI_ERR_TYPE, 'no datatype')
      call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
   end subroutine refused

   subroutine expect(code, wanted, what)
      integer, intent(in) :: code, wanted
      character(len=*), intent(in) :: what
      integer :: class
      call MPI_Error_class(code, class)
      call check(class == wanted, what)
   end subroutine expect

   ! Says that something does not hold.
   subroutine check(holds, what)
      logical, intent(in) :: holds
      character(len=*), intent(in) :: what
      if (.not. holds) then
         wrong = wrong + 1
         print '(a,i0,3a,i0,a,i0)', 'rank ', me, ': ', what, ': operation ', operation, ' in round ', round
      end if
   end subroutine check

end program sections
