
   ! Ends with ok where all held, on all ranks.
   subroutine finish
      call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      if (wrong == 0) print '(a)', 'ok'
      call MPI_Finalize(ierr)
   end subroutine finish

   ! Says that something does not hold.
   subroutine check(holds, what)
      logical, intent(in) :: holds
      character(len=*), intent(in) :: what
      if (.not. holds) then
         wrong = wrong + 1
         print '(a,i0,2a)', 'rank ', me, ': ', what
      end if
   end subroutine check

   ! Says so of an error that is of another class.
   subroutine fails(code, class, what)
      integer, intent(in) :: code, class
      character(len=*), intent(in) :: what
      integer :: is
      call MPI_Error_class(code, is, ierr)
      call check(is == class, what)
   end subroutine fails
