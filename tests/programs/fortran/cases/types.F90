! Datatypes: how each is made, what is asked of it, and data that is packed. Every rank says ok, or what is wrong.
#include "cases.h"
program types
   MODULES
   implicit none
   HEADER
   integer, parameter :: AK = MPI_ADDRESS_KIND, CK = MPI_COUNT_KIND
   integer :: wrong = 0, me, n, ierr, i
   integer :: numbers(24), got(24)
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
   call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
   numbers = [(i, i = 1, 24)]
   call layouts
   call questions
   call of_fortran
   call packed
   call finish

contains

   ! Sends one element of the type out of the numbers 1 to 24 and looks at what comes; the type is freed.
   subroutine takes(type, wanted, what)
      HANDLE(MPI_Datatype) :: type
      integer, intent(in) :: wanted(:)
      character(len=*), intent(in) :: what
      NUMBER :: bytes
      call MPI_Type_commit(type, ierr)
      call MPI_Type_size(type, bytes, ierr)
      call check(bytes == 4 * size(wanted), what // ': its size')
      got = -1
      call MPI_Sendrecv(numbers, NUM(1), type, 0, 1, got, NUM(24), MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
      call check(all(got(:size(wanted)) == wanted) .and. got(size(wanted) + 1) == -1, what)
      call MPI_Type_free(type, ierr)
      call check(type == MPI_DATATYPE_NULL, what // ': freed')
   end subroutine takes

   subroutine layouts
      HANDLE(MPI_Datatype) :: type
      integer(kind=AK) :: base, at(2)
      call MPI_Type_contiguous(NUM(3), MPI_INTEGER, type, ierr)
      call takes(type, [1, 2, 3], 'MPI_Type_contiguous')
      call MPI_Type_vector(NUM(2), NUM(1), NUM(4), MPI_INTEGER, type, ierr)
      call takes(type, [1, 5], 'MPI_Type_vector')
      call MPI_Type_create_hvector(NUM(2), NUM(2), 12_AK, MPI_INTEGER, type, ierr)
      call takes(type, [1, 2, 4, 5], 'MPI_Type_create_hvector')
      call MPI_Type_indexed(NUM(2), [NUM(1), NUM(2)], [NUM(3), NUM(6)], MPI_INTEGER, type, ierr)
      call takes(type, [4, 7, 8], 'MPI_Type_indexed')
      call MPI_Type_create_hindexed(NUM(2), [NUM(2), NUM(1)], [4_AK, 20_AK], MPI_INTEGER, type, ierr)
      call takes(type, [2, 3, 6], 'MPI_Type_create_hindexed')
      call MPI_Type_create_indexed_block(NUM(2), NUM(2), [NUM(0), NUM(5)], MPI_INTEGER, type, ierr)
      call takes(type, [1, 2, 6, 7], 'MPI_Type_create_indexed_block')
      call MPI_Type_create_hindexed_block(NUM(2), NUM(1), [8_AK, 16_AK], MPI_INTEGER, type, ierr)
      call takes(type, [3, 5], 'MPI_Type_create_hindexed_block')
      call MPI_Get_address(numbers(1), base, ierr)
      call MPI_Get_address(numbers(3), at(1), ierr)
      call MPI_Get_address(numbers(8), at(2), ierr)
      at = at - base
      call check(at(1) == 8, 'MPI_Get_address')
      call MPI_Type_create_struct(NUM(2), [NUM(1), NUM(2)], at, [MPI_INTEGER, MPI_INTEGER], type, ierr)
      call takes(type, [3, 8, 9], 'MPI_Type_create_struct')
      call MPI_Type_create_subarray(2, [NUM(4), NUM(6)], [NUM(2), NUM(2)], [NUM(1), NUM(3)], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
      call takes(type, [14, 15, 18, 19], 'MPI_Type_create_subarray')
      call MPI_Type_create_darray(2, 1, 2, [NUM(4), NUM(4)], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE], &
         [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
      call takes(type, [3, 4, 7, 8, 11, 12, 15, 16], 'MPI_Type_create_darray')
      call MPI_Type_dup(MPI_INTEGER, type, ierr)
      call takes(type, [1], 'MPI_Type_dup')
#if defined(BY_F08)
      call MPI_Type_contiguous(3_CK, MPI_INTEGER, type)
      call takes(type, [1, 2, 3], 'MPI_Type_contiguous_c')
      call MPI_Type_create_struct(1_CK, [2_CK], [4_CK], [MPI_INTEGER], type)
      call takes(type, [2, 3], 'MPI_Type_create_struct_c')
      call MPI_Type_create_subarray(2, [4_CK, 6_CK], [2_CK, 2_CK], [1_CK, 3_CK], MPI_ORDER_FORTRAN, MPI_INTEGER, type)
      call takes(type, [14, 15, 18, 19], 'MPI_Type_create_subarray_c')
#endif
   end subroutine layouts

   subroutine questions
      HANDLE(MPI_Datatype) :: type, wide, inner(1)
      integer(kind=AK) :: lb, extent, places(1)
      integer(kind=CK) :: low, long
      integer :: integers, addresses, datatypes, combiner, values(3), length
#if defined(LARGE)
      integer(kind=CK) :: counts(4)
#endif
      character(len=MPI_MAX_OBJECT_NAME) :: name
      call MPI_Type_vector(2, 1, 4, MPI_INTEGER, type, ierr)
      call MPI_Type_create_resized(type, -4_AK, 40_AK, wide, ierr)
      call MPI_Type_get_extent(wide, lb, extent, ierr)
      call check(lb == -4 .and. extent == 40, 'MPI_Type_create_resized, MPI_Type_get_extent')
      call MPI_Type_get_true_extent(wide, lb, extent, ierr)
      call check(lb == 0 .and. extent == 20, 'MPI_Type_get_true_extent')
      call MPI_Type_get_extent_x(wide, low, long, ierr)
      call check(low == -4 .and. long == 40, 'MPI_Type_get_extent_x')
      call MPI_Type_get_true_extent_x(wide, low, long, ierr)
      call check(low == 0 .and. long == 20, 'MPI_Type_get_true_extent_x')
      call MPI_Type_size_x(wide, long, ierr)
      call check(long == 8, 'MPI_Type_size_x')
      call MPI_Type_set_name(type, 'a row  ', ierr)
      name = repeat('x', len(name))
      call MPI_Type_get_name(type, name, length, ierr)
      call check(name == 'a row' .and. length == 5, 'MPI_Type_set_name, MPI_Type_get_name')
      call MPI_Type_get_envelope(type, integers, addresses, datatypes, combiner, ierr)
      call check(integers == 3 .and. addresses == 0 .and. datatypes == 1 .and. combiner == MPI_COMBINER_VECTOR, 'MPI_Type_get_envelope')
      call MPI_Type_get_contents(type, 3, 0, 1, values, places, inner, ierr)
      call check(all(values == [2, 1, 4]) .and. inner(1) == MPI_INTEGER, 'MPI_Type_get_contents')
      call MPI_Type_free(wide, ierr)
      call MPI_Type_free(type, ierr)
#if defined(LARGE)
      call MPI_Type_vector(2_CK, 1_CK, 4_CK, MPI_INTEGER, type)
      call MPI_Type_get_envelope(type, counts(1), counts(2), counts(3), counts(4), combiner)
      call check(all(counts == [0, 0, 3, 1]) .and. combiner == MPI_COMBINER_VECTOR, 'MPI_Type_get_envelope_c')
      call MPI_Type_get_contents(type, 0_CK, 0_CK, 3_CK, 1_CK, values, places, counts, inner)
      call check(all(counts(:3) == [2, 1, 4]) .and. inner(1) == MPI_INTEGER, 'MPI_Type_get_contents_c')
      call MPI_Type_free(type)
#endif
      call MPI_Type_get_value_index(MPI_INTEGER, MPI_INTEGER, type, ierr)
      call check(type == MPI_2INTEGER, 'MPI_Type_get_value_index')
   end subroutine questions

   subroutine of_fortran
      HANDLE(MPI_Datatype) :: type
      NUMBER :: bytes
      call MPI_Type_create_f90_integer(9, type, ierr)
      call MPI_Type_size(type, bytes, ierr)
      call check(8 * bytes == storage_size(1_4), 'MPI_Type_create_f90_integer')
      call MPI_Type_create_f90_real(15, 300, type, ierr)
      call MPI_Type_size(type, bytes, ierr)
      call check(bytes == 8, 'MPI_Type_create_f90_real')
      call MPI_Type_create_f90_complex(6, 30, type, ierr)
      call MPI_Type_size(type, bytes, ierr)
      call check(bytes == 8, 'MPI_Type_create_f90_complex')
      call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierr)
      call MPI_Type_size(type, bytes, ierr)
      call check(bytes == 8, 'MPI_Type_match_size')
#if !defined(BY_F08)
      call sizes
#endif
   end subroutine of_fortran

#if defined(BY_MODULE)
   ! Types of module mpi_f08, which module mpi has as well.
   subroutine modern
      type(MPI_Comm) :: comm, other
      type(MPI_Status) :: status
      integer :: numbers(MPI_STATUS_SIZE), back(MPI_STATUS_SIZE)
      comm%MPI_VAL = MPI_COMM_WORLD
      other%MPI_VAL = MPI_COMM_SELF
      call check(comm == comm .and. comm /= other, 'handles that are compared')
      call MPI_Sendrecv(me, NUM(1), MPI_INTEGER, 0, 3, back, NUM(1), MPI_INTEGER, 0, 3, MPI_COMM_SELF, numbers, ierr)
      call MPI_Status_f2f08(numbers, status, ierr)
      call check(status%MPI_TAG == 3, 'MPI_Status_f2f08')
      status%MPI_TAG = 4
      call MPI_Status_f082f(status, back, ierr)
      call check(back(MPI_TAG) == 4 .and. back(MPI_SOURCE) == 0, 'MPI_Status_f082f')
   end subroutine modern

   subroutine sizes
      NUMBER :: bytes
      integer(kind=8) :: long(2, 3)
      character(len=5) :: text
      call modern
      call MPI_Sizeof(1_1, bytes, ierr)
      call check(bytes == 1, 'MPI_Sizeof of an integer of one byte')
      call MPI_Sizeof(1_2, bytes, ierr)
      call check(bytes == 2, 'of two')
      call MPI_Sizeof(1, bytes, ierr)
      call check(bytes == 4, 'of four')
      long = 0
      call MPI_Sizeof(long, bytes, ierr)
      call check(bytes == 8, 'of eight, an array')
      call MPI_Sizeof(1.0, bytes, ierr)
      call check(bytes == 4, 'of a REAL')
      call MPI_Sizeof(1.0d0, bytes, ierr)
      call check(bytes == 8, 'of a DOUBLE PRECISION')
      call MPI_Sizeof(1.0_16, bytes, ierr)
      call check(bytes == 16, 'of a REAL of sixteen')
      call MPI_Sizeof((1.0, 2.0), bytes, ierr)
      call check(bytes == 8, 'of a COMPLEX')
      call MPI_Sizeof((1.0d0, 2.0d0), bytes, ierr)
      call check(bytes == 16, 'of a COMPLEX of sixteen')
      call MPI_Sizeof(.true., bytes, ierr)
      call check(bytes == 4, 'of a LOGICAL')
      call MPI_Sizeof(.true._1, bytes, ierr)
      call check(bytes == 1, 'of a LOGICAL of one')
      text = 'x'
      call MPI_Sizeof(text(1:1), bytes, ierr)
      call check(bytes == 1, 'of a CHARACTER')
   end subroutine sizes
#elif !defined(BY_F08)
   subroutine sizes
   end subroutine sizes
#endif

   subroutine packed
      NUMBER :: position, bytes
      integer :: back(3)
      integer(kind=AK) :: place, room
      character(len=1) :: buffer(64)
      call MPI_Pack_size(NUM(3), MPI_INTEGER, MPI_COMM_SELF, bytes, ierr)
      call check(bytes >= 12 .and. bytes <= 64, 'MPI_Pack_size')
      position = 0
      call MPI_Pack(numbers, NUM(3), MPI_INTEGER, buffer, NUM(64), position, MPI_COMM_SELF, ierr)
      bytes = position
      position = 0
      back = -1
      call MPI_Unpack(buffer, NUM(bytes), position, back, NUM(3), MPI_INTEGER, MPI_COMM_SELF, ierr)
      call check(all(back == [1, 2, 3]) .and. position == bytes, 'MPI_Pack, MPI_Unpack')
      call MPI_Pack_external_size('external32  ', NUM(3), MPI_INTEGER, room, ierr)
      call check(room == 12, 'MPI_Pack_external_size')
      place = 0
      call MPI_Pack_external('external32', numbers, NUM(3), MPI_INTEGER, buffer, 64_AK, place, ierr)
      call check(place == 12 .and. ichar(buffer(4)) == 1 .and. ichar(buffer(1)) == 0, 'MPI_Pack_external')
      place = 0
      back = -1
      call MPI_Unpack_external('external32', buffer, 12_AK, place, back, NUM(3), MPI_INTEGER, ierr)
      call check(all(back == [1, 2, 3]) .and. place == 12, 'MPI_Unpack_external')
   end subroutine packed

#include "tail.h"
end program types
