! Half a round trip of 8 bytes between two ranks by MPI_Send and MPI_Recv of module mpi_f08, in nanoseconds: the best of some blocks. latency.c is the same in C.
program latency
   use mpi_f08
   implicit none
   integer, parameter :: BLOCKS = 20, WARM = 2000
   integer :: me, other, turns, block, i
   character(len=20) :: word
   real(8) :: message, begin, spent, best

   call get_command_argument(1, word)
   read (word, *) turns
   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   other = 1 - me
   message = me
   best = huge(best)
   do block = 0, BLOCKS
      call MPI_Barrier(MPI_COMM_WORLD)
      begin = MPI_Wtime()
      do i = 1, merge(WARM, turns, block == 0)
         if (me == 0) then
            call MPI_Send(message, 1, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD)
            call MPI_Recv(message, 1, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
         else
            call MPI_Recv(message, 1, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            call MPI_Send(message, 1, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD)
         end if
      end do
      spent = MPI_Wtime() - begin
      if (block > 0) best = min(best, spent / turns / 2)
   end do
   if (me == 0) print '(f0.2)', best * 1e9
   call MPI_Finalize()
end program latency
