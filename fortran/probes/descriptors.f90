! Asks a compiler whether its descriptors may be believed: `mpifort` compiles and runs this program before it compiles
! module mpi_f08, and takes the source with descriptors if it prints ok.
!
! Each kind of actual argument is given to the library, which copies the array that the descriptor stands for; the copy has
! to be what Fortran has. That a compiler accepts the interfaces says nothing: some have passed wrong strides, or a copy.
module probes
   use, intrinsic :: iso_c_binding
   implicit none

   integer :: wrong = 0
   integer, target :: got(100)
   character(len=100), target :: text
   ! The library's block, in which MPI_IN_PLACE has the second cell.
   integer :: before(16), in_place(16), behind(96)
   common /mpifort_constants/ before, in_place, behind

   type :: pair
      integer :: number
      real(kind=8) :: value
   end type pair

   interface
      function copied(buffer, to, bytes) result(all) bind(C, name="mpifort_probe_copy")
         import
         type(*), dimension(..), intent(in) :: buffer
         type(c_ptr), value :: to
         integer, intent(in) :: bytes
         integer(kind=c_int64_t) :: all
      end function copied
      function element(buffer) bind(C, name="mpifort_probe_element")
         import
         type(*), dimension(..), intent(in) :: buffer
         integer(kind=c_int64_t) :: element
      end function element
      function is_in_place(buffer) bind(C, name="mpifort_probe_in_place")
         import
         type(*), dimension(..), intent(in) :: buffer
         integer(kind=c_int) :: is_in_place
      end function is_in_place
      function is_present(code) bind(C, name="mpifort_probe_present")
         import
         integer, optional, intent(out) :: code
         integer(kind=c_int) :: is_present
      end function is_present
      subroutine keep(buffer) bind(C, name="mpifort_probe_keep")
         import
         type(*), dimension(..), asynchronous :: buffer
      end subroutine keep
      subroutine change(value) bind(C, name="mpifort_probe_write")
         import
         integer, intent(in) :: value
      end subroutine change
   end interface

contains

   ! The copy has these numbers. `all`: the answer of the one that made it.
   subroutine check(all, wanted)
      integer(kind=c_int64_t), intent(in) :: all
      integer, intent(in) :: wanted(:)
      if (all /= -1 .and. all /= 4 * size(wanted)) wrong = wrong + 1
      if (any(got(:size(wanted)) /= wanted)) wrong = wrong + 1
      got = -1
   end subroutine check

   ! The copy has these characters, and elements are so long.
   subroutine check_text(all, length, wanted_length, wanted)
      integer(kind=c_int64_t), intent(in) :: all, length
      integer, intent(in) :: wanted_length
      character(len=*), intent(in) :: wanted
      if (all /= -1 .and. all /= len(wanted)) wrong = wrong + 1
      if (length /= wanted_length .or. text(:len(wanted)) /= wanted) wrong = wrong + 1
      text = ' '
   end subroutine check_text

   ! Passes on what it got.
   subroutine of_assumed_rank(buffer, wanted)
      type(*), dimension(..), intent(in) :: buffer
      integer, intent(in) :: wanted(:)
      call check(copied(buffer, c_loc(got), 4 * size(wanted)), wanted)
   end subroutine of_assumed_rank

   subroutine of_assumed_size(vector, matrix)
      integer, intent(in) :: vector(*), matrix(2, *)
      call check(copied(vector, c_loc(got), 20), [1, 2, 3, 4, 5])
      call check(copied(matrix, c_loc(got), 24), [1, 2, 3, 4, 5, 6])
      call check(copied(vector(2:8:3), c_loc(got), 12), [2, 5, 8])
   end subroutine of_assumed_size

   subroutine of_assumed_shape(matrix, wanted)
      integer, intent(in) :: matrix(0:, -5:), wanted(:)
      call check(copied(matrix, c_loc(got), 4 * size(wanted)), wanted)
      call check(copied(matrix(0, :), c_loc(got), 4 * size(wanted(1::size(matrix, 1)))), wanted(1::size(matrix, 1)))
   end subroutine of_assumed_shape

   ! As the end of a nonblocking operation that the compiler cannot see.
   subroutine of_asynchronous()
      integer, asynchronous :: scalar, array(10)
      scalar = 1
      array = 1
      call keep(scalar)
      call change(2)
      if (scalar /= 2) wrong = wrong + 1
      call keep(array(3:9:2))
      call change(3)
      if (array(3) /= 3 .or. array(4) /= 1) wrong = wrong + 1
   end subroutine of_asynchronous

end module probes

program descriptors
   use probes
   implicit none
   integer, target :: vector(20), matrix(6, 5), solid(4, 3, 4)
   integer :: i, code
   integer, allocatable :: own(:)
   integer, pointer :: seen(:, :)
   character(len=3) :: words(4)
   character(len=:), allocatable :: later(:)
   type(pair) :: pairs(6)

   got = -1
   text = ' '
   vector = [(i, i=1, 20)]
   matrix = reshape([(i, i=1, 30)], [6, 5])
   solid = reshape([(i, i=1, 48)], [4, 3, 4])
   call check(copied(vector(7), c_loc(got), 4), [7])
   call check(copied(vector, c_loc(got), 4 * size(vector)), vector)
   call check(copied(vector(2:11:3), c_loc(got), 4 * size(vector(2:11:3))), vector(2:11:3))
   call check(copied(vector(11:2:-4), c_loc(got), 12), [11, 7, 3])
   call check(copied(vector(5:4), c_loc(got), 4 * size(vector(5:4))), vector(5:4))
   call check(copied(matrix(:, 2:3), c_loc(got), 48), reshape(matrix(:, 2:3), [12]))
   call check(copied(matrix(2:5, 2:4), c_loc(got), 48), reshape(matrix(2:5, 2:4), [12]))
   call check(copied(matrix(6:1:-2, ::3), c_loc(got), 24), reshape(matrix(6:1:-2, ::3), [6]))
   call check(copied(matrix(3, :), c_loc(got), 4 * size(matrix(3, :))), matrix(3, :))
   call check(copied(matrix(::2, 5:4), c_loc(got), 4 * size(vector(2:1))), vector(2:1))
   call check(copied(solid(2:4:2, :, 4:1:-3), c_loc(got), 48), reshape(solid(2:4:2, :, 4:1:-3), [12]))
   call check(copied(vector + 1, c_loc(got), 4 * size(vector + 1)), vector + 1)
   call of_assumed_rank(vector(2:11:3), vector(2:11:3))
   call of_assumed_rank(matrix(6:1:-2, ::3), reshape(matrix(6:1:-2, ::3), [6]))
   call of_assumed_size(vector, vector)
   call of_assumed_shape(matrix(2::3, ::2), reshape(matrix(2::3, ::2), [6]))
   allocate (own(-3:6))
   own = vector(:10)
   call check(copied(own, c_loc(got), 4 * size(vector(:10))), vector(:10))
   call check(copied(own(-2:6:4), c_loc(got), 4 * size(vector([2, 6, 10]))), vector([2, 6, 10]))
   seen(0:, 3:) => matrix(2:6:2, 5:1:-2)
   call check(copied(seen, c_loc(got), 36), reshape(matrix(2:6:2, 5:1:-2), [9]))
   call check(copied(seen(1:2, ::2), c_loc(got), 16), reshape(matrix(4:6:2, 5:1:-4), [4]))
   pairs%number = vector(:6)
   pairs%value = 0
   call check(copied(pairs%number, c_loc(got), 4 * size(vector(:6))), vector(:6))
   call check(copied(pairs(5:1:-2)%number, c_loc(got), 12), [5, 3, 1])
   if (element(pairs(::2)) /= storage_size(pairs) / 8) wrong = wrong + 1
   words = ['abc', 'def', 'ghi', 'jkl']
   call check_text(copied('a text', c_loc(text), 6), element('a text'), 6, 'a text')
   call check_text(copied(words(2), c_loc(text), 3), element(words(2)), 3, 'def')
   call check_text(copied(words(4:1:-2), c_loc(text), 6), element(words(4:1:-2)), 3, 'jkldef')
   call check_text(copied(words(::3)(2:3), c_loc(text), 4), element(words(::3)(2:3)), 2, 'bckl')
   allocate (character(len=2) :: later(3))
   later = ['ab', 'cd', 'ef']
   call check_text(copied(later(::2), c_loc(text), 4), element(later(::2)), 2, 'abef')
   if (is_in_place(in_place) /= 1 .or. is_in_place(vector) /= 0) wrong = wrong + 1
   if (is_present() /= 0 .or. is_present(code) /= 1) wrong = wrong + 1
   call of_asynchronous()
   if (wrong == 0) then
      print '(a)', 'ok'
   else
      print '(i0, a)', wrong, ' kinds of actual arguments are described wrongly'
   end if
end program descriptors
