! Operations of a whole communicator and between neighbours, blocking, nonblocking and persistent. Every rank says ok, or what is wrong.
#include "cases.h"
#define WAIT call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
#define START_AND_FREE call MPI_Start(r, ierr); call MPI_Wait(r, MPI_STATUS_IGNORE, ierr); call MPI_Request_free(r, ierr)
program collectives
   MODULES
   implicit none
   HEADER
   integer :: wrong = 0, me, n, ierr, i
   integer ASYNC :: in(64), out(64)
   NUMBER :: ones(16)
   DISTANCE :: places(16), bytes(16)
#if defined(BY_F08)
   integer(kind=MPI_COUNT_KIND) :: long_ones(16)
   integer(kind=MPI_ADDRESS_KIND) :: long_places(16)
#endif
   HANDLE(MPI_Datatype) :: types(16)
   HANDLE(MPI_Request) :: r
   HANDLE(MPI_Comm) :: ring
   integer(kind=MPI_ADDRESS_KIND) :: far(16)
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   ones = 1
   places = [(i, i = 0, 15)]
   bytes = 4 * places
   far = bytes
   types = MPI_INTEGER
#if defined(BY_F08)
   long_ones = 1
   long_places = places
#endif
   call barriers
   call broadcasts
   call of_all
   call of_a_root
   call reductions
   call scatters_of_sums
   call operations
   call neighbours
   call finish

contains

   ! Fresh data: what rank i has in place j is 100 i + j.
   subroutine fill
      out = [(100 * me + i, i = 1, 64)]
      in = -1
   end subroutine fill

   ! Place j has what rank j had in its place me + 1, or in its first.
   subroutine exchanged(each, what)
      logical, intent(in) :: each
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(in)
      do i = 1, n
         call check(in(i) == 100 * (i - 1) + merge(me + 1, 1, each), what)
      end do
      call check(in(n + 1) == -1, what // ', behind')
   end subroutine exchanged

   subroutine barriers
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call check(ierr == MPI_SUCCESS, 'MPI_Barrier')
      call MPI_Ibarrier(MPI_COMM_WORLD, r, ierr)
      WAIT
      call check(ierr == MPI_SUCCESS .and. r == MPI_REQUEST_NULL, 'MPI_Ibarrier')
      call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call check(ierr == MPI_SUCCESS, 'MPI_Barrier_init')
   end subroutine barriers

   subroutine broadcasts
      out(1) = me
      call MPI_Bcast(out, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      call check(out(1) == n - 1, 'MPI_Bcast')
      out(1) = me
      call MPI_Ibcast(out, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call MPI_F_sync_reg(out)
      call check(out(1) == n - 1, 'MPI_Ibcast')
      out(1) = me
      call MPI_Bcast_init(out, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call MPI_F_sync_reg(out)
      call check(out(1) == n - 1, 'MPI_Bcast_init')
   end subroutine broadcasts

   subroutine of_all
      call fill
      call MPI_Allgather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call exchanged(.false., 'MPI_Allgather')
      call fill
      call MPI_Iallgather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, r, ierr)
      WAIT
      call exchanged(.false., 'MPI_Iallgather')
      call fill
      call MPI_Allgather_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call exchanged(.false., 'MPI_Allgather_init')
      call fill
      call MPI_Allgatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call exchanged(.false., 'MPI_Allgatherv')
      call fill
      call MPI_Iallgatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, r, ierr)
      WAIT
      call exchanged(.false., 'MPI_Iallgatherv')
      call fill
      call MPI_Allgatherv_init(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call exchanged(.false., 'MPI_Allgatherv_init')
      call fill
      call MPI_Alltoall(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call exchanged(.true., 'MPI_Alltoall')
      call fill
      call MPI_Ialltoall(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, r, ierr)
      WAIT
      call exchanged(.true., 'MPI_Ialltoall')
      call fill
      call MPI_Alltoall_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call exchanged(.true., 'MPI_Alltoall_init')
      call fill
      call MPI_Alltoallv(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call exchanged(.true., 'MPI_Alltoallv')
      call fill
      call MPI_Ialltoallv(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, r, ierr)
      WAIT
      call exchanged(.true., 'MPI_Ialltoallv')
      call fill
      call MPI_Alltoallv_init(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call exchanged(.true., 'MPI_Alltoallv_init')
      call fill
      call MPI_Alltoallw(out, ones, bytes, types, in, ones, bytes, types, MPI_COMM_WORLD, ierr)
      call exchanged(.true., 'MPI_Alltoallw')
      call fill
      call MPI_Ialltoallw(out, ones, bytes, types, in, ones, bytes, types, MPI_COMM_WORLD, r, ierr)
      WAIT
      call exchanged(.true., 'MPI_Ialltoallw')
      call fill
      call MPI_Alltoallw_init(out, ones, bytes, types, in, ones, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call exchanged(.true., 'MPI_Alltoallw_init')
#if defined(BY_F08)
      call fill
      call MPI_Allgatherv(out, 1_MPI_COUNT_KIND, MPI_INTEGER, in, long_ones, long_places, MPI_INTEGER, MPI_COMM_WORLD)
      call exchanged(.false., 'MPI_Allgatherv_c')
      call fill
      call MPI_Alltoallw(out, long_ones, 4 * long_places, types, in, long_ones, 4 * long_places, types, MPI_COMM_WORLD)
      call exchanged(.true., 'MPI_Alltoallw_c')
#endif
   end subroutine of_all

   ! The root, which is the last rank, has everyone's first; the others have nothing.
   subroutine gathered(what)
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(in)
      if (me == n - 1) call exchanged(.false., what)
      if (me < n - 1) call check(all(in == -1), what // ', not at the root')
   end subroutine gathered

   subroutine scattered(what)
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(in)
      call check(in(1) == 100 * (n - 1) + me + 1 .and. in(2) == -1, what)
   end subroutine scattered

   subroutine of_a_root
      call fill
      call MPI_Gather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      call gathered('MPI_Gather')
      call fill
      call MPI_Igather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call gathered('MPI_Igather')
      call fill
      call MPI_Gather_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call gathered('MPI_Gather_init')
      call fill
      call MPI_Gatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      call gathered('MPI_Gatherv')
      call fill
      call MPI_Igatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call gathered('MPI_Igatherv')
      call fill
      call MPI_Gatherv_init(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call gathered('MPI_Gatherv_init')
      call fill
      call MPI_Scatter(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      call scattered('MPI_Scatter')
      call fill
      call MPI_Iscatter(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call scattered('MPI_Iscatter')
      call fill
      call MPI_Scatter_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call scattered('MPI_Scatter_init')
      call fill
      call MPI_Scatterv(out, ones, places, MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr)
      call scattered('MPI_Scatterv')
      call fill
      call MPI_Iscatterv(out, ones, places, MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call scattered('MPI_Iscatterv')
      call fill
      call MPI_Scatterv_init(out, ones, places, MPI_INTEGER, in, NUM(1), MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call scattered('MPI_Scatterv_init')
   end subroutine of_a_root

   ! The sum of the first places of ranks 0 to last.
   integer function sum_to(last)
      integer, intent(in) :: last
      sum_to = 100 * (last * (last + 1) / 2) + last + 1
   end function sum_to

   subroutine reductions
      call fill
      call MPI_Allreduce(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(n - 1), 'MPI_Allreduce')
      call fill
      call MPI_Iallreduce(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
      WAIT
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(n - 1), 'MPI_Iallreduce')
      call fill
      call MPI_Allreduce_init(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(n - 1), 'MPI_Allreduce_init')
      call fill
      call MPI_Reduce(out, in, NUM(1), MPI_INTEGER, MPI_SUM, n - 1, MPI_COMM_WORLD, ierr)
      call MPI_F_sync_reg(in)
      call check(in(1) == merge(sum_to(n - 1), -1, me == n - 1), 'MPI_Reduce')
      call fill
      call MPI_Ireduce(out, in, NUM(1), MPI_INTEGER, MPI_SUM, n - 1, MPI_COMM_WORLD, r, ierr)
      WAIT
      call MPI_F_sync_reg(in)
      call check(in(1) == merge(sum_to(n - 1), -1, me == n - 1), 'MPI_Ireduce')
      call fill
      call MPI_Reduce_init(out, in, NUM(1), MPI_INTEGER, MPI_SUM, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call MPI_F_sync_reg(in)
      call check(in(1) == merge(sum_to(n - 1), -1, me == n - 1), 'MPI_Reduce_init')
      call fill
      call MPI_Scan(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(me), 'MPI_Scan')
      call fill
      call MPI_Iscan(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
      WAIT
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(me), 'MPI_Iscan')
      call fill
      call MPI_Scan_init(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call MPI_F_sync_reg(in)
      call check(in(1) == sum_to(me), 'MPI_Scan_init')
      call fill
      call MPI_Exscan(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call MPI_F_sync_reg(in)
      call check(me == 0 .or. in(1) == sum_to(me - 1), 'MPI_Exscan')
      call fill
      call MPI_Iexscan(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
      WAIT
      call MPI_F_sync_reg(in)
      call check(me == 0 .or. in(1) == sum_to(me - 1), 'MPI_Iexscan')
      call fill
      call MPI_Exscan_init(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call MPI_F_sync_reg(in)
      call check(me == 0 .or. in(1) == sum_to(me - 1), 'MPI_Exscan_init')
      out(1) = me
      call MPI_Allreduce(MPI_IN_PLACE, out, NUM(1), MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
      call check(out(1) == n - 1, 'MPI_IN_PLACE')
   end subroutine reductions

   ! The sum of everyone's place me + 1.
   subroutine share(what)
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(in)
      call check(in(1) == 100 * (n * (n - 1) / 2) + n * (me + 1) .and. in(2) == -1, what)
   end subroutine share

   subroutine scatters_of_sums
      call fill
      call MPI_Reduce_scatter(out, in, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call share('MPI_Reduce_scatter')
      call fill
      call MPI_Ireduce_scatter(out, in, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
      WAIT
      call share('MPI_Ireduce_scatter')
      call fill
      call MPI_Reduce_scatter_init(out, in, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call share('MPI_Reduce_scatter_init')
      call fill
      call MPI_Reduce_scatter_block(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call share('MPI_Reduce_scatter_block')
      call fill
      call MPI_Ireduce_scatter_block(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ierr)
      WAIT
      call share('MPI_Ireduce_scatter_block')
      call fill
      call MPI_Reduce_scatter_block_init(out, in, NUM(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r, ierr)
      START_AND_FREE
      call share('MPI_Reduce_scatter_block_init')
   end subroutine scatters_of_sums

   subroutine operations
      HANDLE(MPI_Op) :: op
      logical :: commute
#if defined(LARGE)
      call MPI_Op_create_c(added, .false., op, ierr)
#else
      call MPI_Op_create(added, .false., op, ierr)
#endif
      call MPI_Op_commutative(op, commute, ierr)
      call check(.not. commute, 'MPI_Op_commutative')
      call MPI_Op_commutative(MPI_SUM, commute, ierr)
      call check(commute, 'MPI_Op_commutative of MPI_SUM')
      call fill
      call MPI_Allreduce(out, in, NUM(3), MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
      call check(in(1) == sum_to(n - 1) .and. in(4) == -1, 'MPI_Op_create')
      in(:2) = [1, 2]
      call MPI_Reduce_local(in, out, NUM(2), MPI_INTEGER, op, ierr)
      call check(out(1) == 100 * me + 2 .and. out(2) == 100 * me + 4, 'MPI_Reduce_local')
      call MPI_Op_free(op, ierr)
      call check(op == MPI_OP_NULL, 'MPI_Op_free')
   end subroutine operations

#if defined(BY_F08)
   subroutine added(from, to, length, datatype)
      use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
      type(c_ptr), value :: from, to
      NUMBER :: length
      type(MPI_Datatype) :: datatype
      integer, pointer :: a(:), b(:)
      call c_f_pointer(from, a, [length])
      call c_f_pointer(to, b, [length])
      b = a + b
      if (datatype /= MPI_INTEGER) b = -1000
   end subroutine added
#else
   subroutine added(from, to, length, datatype)
      integer :: length, datatype
      integer :: from(length), to(length)
      to = from + to
      if (datatype /= MPI_INTEGER) to = -1000
   end subroutine added
#endif

   ! From the left comes its place `place`, from the right the same: neighbours in a ring.
   subroutine from_both(left, right, what)
      integer, intent(in) :: left, right
      character(len=*), intent(in) :: what
      call MPI_F_sync_reg(in)
      call check(in(1) == 100 * mod(me + n - 1, n) + left .and. in(2) == 100 * mod(me + 1, n) + right .and. in(3) == -1, what)
   end subroutine from_both

   subroutine neighbours
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [mod(me + n - 1, n), mod(me + 1, n)], MPI_UNWEIGHTED, &
         2, [mod(me + n - 1, n), mod(me + 1, n)], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
      ! Which of two edges between the same ranks is which is not said.
      if (n > 2) then
         call fill
         call MPI_Neighbor_allgather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, ierr)
         call from_both(1, 1, 'MPI_Neighbor_allgather')
         call fill
         call MPI_Ineighbor_allgather(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, r, ierr)
         WAIT
         call from_both(1, 1, 'MPI_Ineighbor_allgather')
         call fill
         call MPI_Neighbor_allgather_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, MPI_INFO_NULL, r, ierr)
         START_AND_FREE
         call from_both(1, 1, 'MPI_Neighbor_allgather_init')
         call fill
         call MPI_Neighbor_allgatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, ierr)
         call from_both(1, 1, 'MPI_Neighbor_allgatherv')
         call fill
         call MPI_Ineighbor_allgatherv(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, r, ierr)
         WAIT
         call from_both(1, 1, 'MPI_Ineighbor_allgatherv')
         call fill
         call MPI_Neighbor_allgatherv_init(out, NUM(1), MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, MPI_INFO_NULL, r, ierr)
         START_AND_FREE
         call from_both(1, 1, 'MPI_Neighbor_allgatherv_init')
         call fill
         call MPI_Neighbor_alltoall(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, ierr)
         call from_both(2, 1, 'MPI_Neighbor_alltoall')
         call fill
         call MPI_Ineighbor_alltoall(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, r, ierr)
         WAIT
         call from_both(2, 1, 'MPI_Ineighbor_alltoall')
         call fill
         call MPI_Neighbor_alltoall_init(out, NUM(1), MPI_INTEGER, in, NUM(1), MPI_INTEGER, ring, MPI_INFO_NULL, r, ierr)
         START_AND_FREE
         call from_both(2, 1, 'MPI_Neighbor_alltoall_init')
         call fill
         call MPI_Neighbor_alltoallv(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, ierr)
         call from_both(2, 1, 'MPI_Neighbor_alltoallv')
         call fill
         call MPI_Ineighbor_alltoallv(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, r, ierr)
         WAIT
         call from_both(2, 1, 'MPI_Ineighbor_alltoallv')
         call fill
         call MPI_Neighbor_alltoallv_init(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, ring, MPI_INFO_NULL, r, ierr)
         START_AND_FREE
         call from_both(2, 1, 'MPI_Neighbor_alltoallv_init')
         call fill
         call MPI_Neighbor_alltoallw(out, ones, far, types, in, ones, far, types, ring, ierr)
         call from_both(2, 1, 'MPI_Neighbor_alltoallw')
         call fill
         call MPI_Ineighbor_alltoallw(out, ones, far, types, in, ones, far, types, ring, r, ierr)
         WAIT
         call from_both(2, 1, 'MPI_Ineighbor_alltoallw')
         call fill
         call MPI_Neighbor_alltoallw_init(out, ones, far, types, in, ones, far, types, ring, MPI_INFO_NULL, r, ierr)
         START_AND_FREE
         call from_both(2, 1, 'MPI_Neighbor_alltoallw_init')
      end if
      call MPI_Comm_free(ring, ierr)
   end subroutine neighbours

#include "tail.h"
end program collectives
