! Values of LOGICAL and sizes of types that are told of the compiler (MPI 5.0 §20.4). This program tells, before MPI begins, that REAL has eight bytes, DOUBLE PRECISION sixteen, and
! that there is no REAL of two bytes; it is compiled so. Every rank says ok, or what is wrong.
program abi
   use mpi_f08
   implicit none
   integer :: wrong = 0, me, n, ierr, class, size, length, yes, no
   type(MPI_Info) :: info, known, other
   logical :: is_set, flag, both(2)
   real :: total(2)
   double precision :: longer
   complex :: z
   character(len=8) :: text

   call MPI_Abi_get_fortran_info(known)
   call check(known == MPI_INFO_NULL, 'nothing is known')
   call MPI_Info_create(info)
   call MPI_Info_set(info, 'mpi_logical_size', '4')
   call MPI_Info_set(info, 'mpi_integer_size', '4')
   call MPI_Info_set(info, 'mpi_real_size', '8')
   call MPI_Info_set(info, 'mpi_double_precision_size', '16')
   call MPI_Info_set(info, 'mpi_real2_supported', 'false')
   call MPI_Info_set(info, 'mpi_real16_supported', 'true')
   call MPI_Abi_set_fortran_info(info)
   call MPI_Abi_get_fortran_booleans(4, yes, no, is_set)
   call check(.not. is_set, 'no booleans are known')
   call MPI_Abi_set_fortran_booleans(4, .true., .false.)
   call MPI_Abi_set_fortran_booleans(8, .true._8, .false._8)

   call MPI_Init()
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
   call MPI_Comm_rank(MPI_COMM_WORLD, me)
   call MPI_Comm_size(MPI_COMM_WORLD, n)

   call MPI_Type_size(MPI_REAL, size)
   call check(size == 8 .and. storage_size(1.0) == 64, 'REAL has eight bytes')
   call MPI_Type_size(MPI_DOUBLE_PRECISION, size)
   call check(size == 16 .and. storage_size(1.0d0) == 128, 'DOUBLE PRECISION has sixteen')
   call MPI_Type_size(MPI_COMPLEX, size)
   call check(size == 16, 'COMPLEX has sixteen')
   call MPI_Type_size(MPI_2REAL, size)
   call check(size == 16, 'a pair of REAL')
   call MPI_Type_size(MPI_INTEGER, size)
   call check(size == 4, 'INTEGER has four')
   call MPI_Type_size(MPI_REAL2, size, ierr)
   call MPI_Error_class(ierr, class)
   call check(class == MPI_ERR_TYPE, 'REAL of two bytes is none')
   total = [real(me + 1), 2.0]
   call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
   call check(nint(total(1)) == n * (n + 1) / 2 .and. nint(total(2)) == 2 * n, 'a sum of REAL')
   longer = 1
   call MPI_Allreduce(MPI_IN_PLACE, longer, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
   call check(nint(longer) == n, 'a sum of DOUBLE PRECISION')
   z = (1.0, 2.0)
   call MPI_Allreduce(MPI_IN_PLACE, z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
   call check(nint(aimag(z)) == 2 * n, 'a sum of COMPLEX')
   flag = .true.
   call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
   call check(flag .and. transfer(flag, 0) == transfer(.true., 0), 'a value of LOGICAL')
   both = [.true., me == 0]
   call MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD)
   call check(both(1) .eqv. mod(n, 2) == 1, 'an odd number of them')
   call check(both(2), 'one of them')

   call MPI_Abi_get_fortran_info(known)
   length = 8
   call MPI_Info_get_string(known, 'mpi_real_size', length, text, flag)
   call check(flag .and. text == '8', 'what was told')
   call MPI_Info_free(known)
   call refused(info, 'twice', MPI_ERR_ABI)
   call MPI_Abi_set_fortran_booleans(4, .true., .false., ierr)
   call MPI_Error_class(ierr, class)
   call check(class == MPI_ERR_ABI, 'booleans twice')
   call MPI_Abi_set_fortran_booleans(2, .true., .true., ierr)
   call MPI_Error_class(ierr, class)
   call check(class == MPI_ERR_ARG, 'booleans that are one')
   call MPI_Abi_set_fortran_booleans(3, .true., .false., ierr)
   call MPI_Error_class(ierr, class)
   call check(class == MPI_ERR_ARG, 'booleans of three bytes')
   call MPI_Abi_get_fortran_booleans(4, yes, no, is_set)
   call check(is_set .and. yes == transfer(.true., 0) .and. no == transfer(.false., 0), 'the booleans')
   call MPI_Info_create(other)
   call MPI_Info_set(other, 'mpi_integer_size', '8')
   call refused(other, 'INTEGER of eight bytes, which this library''s procedures do not take', MPI_ERR_ABI)
   call MPI_Info_set(other, 'mpi_integer_size', '4')
   call MPI_Info_set(other, 'mpi_real_size', '7')
   call refused(other, 'REAL of seven bytes', MPI_ERR_INFO_VALUE)
   call MPI_Info_set(other, 'mpi_real_size', '8')
   call MPI_Info_set(other, 'mpi_real4_supported', 'perhaps')
   call refused(other, 'a type that there is perhaps', MPI_ERR_INFO_VALUE)
   call MPI_Info_free(other)
   call MPI_Info_free(info)

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

   subroutine refused(told, what, wanted)
      type(MPI_Info), intent(in) :: told
      character(len=*), intent(in) :: what
      integer, intent(in) :: wanted
      call MPI_Abi_set_fortran_info(told, ierr)
      call MPI_Error_class(ierr, class)
      call check(class == wanted, what)
   end subroutine refused

end program abi
