! Procedures that a program passes to those of module mpi_f08.
!
! Made from mpi/abi by `cargo xtask generate`.
module mpi_f08_callbacks
   use mpi_f08_types
   implicit none
   public
   abstract interface
      subroutine MPI_User_function(invec, inoutvec, len, datatype)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: invec
         type(c_ptr), value :: inoutvec
         integer :: len
         type(MPI_Datatype) :: datatype
      end subroutine MPI_User_function
      subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: invec
         type(c_ptr), value :: inoutvec
         integer(kind=MPI_COUNT_KIND) :: len
         type(MPI_Datatype) :: datatype
      end subroutine MPI_User_function_c
      subroutine MPI_Comm_errhandler_function(comm, error_code)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: comm
         integer :: error_code
      end subroutine MPI_Comm_errhandler_function
      subroutine MPI_Win_errhandler_function(win, error_code)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: win
         integer :: error_code
      end subroutine MPI_Win_errhandler_function
      subroutine MPI_File_errhandler_function(file, error_code)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_File) :: file
         integer :: error_code
      end subroutine MPI_File_errhandler_function
      subroutine MPI_Session_errhandler_function(session, error_code)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Session) :: session
         integer :: error_code
      end subroutine MPI_Session_errhandler_function
      subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, &
         attribute_val_out, flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: oldcomm
         integer :: comm_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_Comm_copy_attr_function
      subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: comm
         integer :: comm_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Comm_delete_attr_function
      subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, &
         attribute_val_out, flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: oldtype
         integer :: type_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_Type_copy_attr_function
      subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: datatype
         integer :: type_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Type_delete_attr_function
      subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, &
         attribute_val_out, flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: oldwin
         integer :: win_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_Win_copy_attr_function
      subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: win
         integer :: win_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Win_delete_attr_function
      subroutine MPI_Grequest_query_function(extra_state, status, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         type(MPI_Status) :: status
         integer :: ierror
      end subroutine MPI_Grequest_query_function
      subroutine MPI_Grequest_free_function(extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Grequest_free_function
      subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         logical :: complete
         integer :: ierror
      end subroutine MPI_Grequest_cancel_function
      subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: datatype
         integer(kind=MPI_ADDRESS_KIND) :: extent
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Datarep_extent_function
      subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, extra_state, &
         ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: userbuf
         type(MPI_Datatype) :: datatype
         integer :: count
         type(c_ptr), value :: filebuf
         integer(kind=MPI_OFFSET_KIND) :: position
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Datarep_conversion_function
      subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, extra_state, &
         ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: userbuf
         type(MPI_Datatype) :: datatype
         integer(kind=MPI_COUNT_KIND) :: count
         type(c_ptr), value :: filebuf
         integer(kind=MPI_OFFSET_KIND) :: position
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_Datarep_conversion_function_c
   end interface
   interface
      subroutine MPI_COMM_NULL_COPY_FN(oldcomm, comm_keyval, extra_state, attribute_val_in, &
         attribute_val_out, flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: oldcomm
         integer :: comm_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_COMM_NULL_COPY_FN
      subroutine MPI_COMM_NULL_DELETE_FN(comm, comm_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: comm
         integer :: comm_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_COMM_NULL_DELETE_FN
      subroutine MPI_COMM_DUP_FN(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, &
         flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Comm) :: oldcomm
         integer :: comm_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_COMM_DUP_FN
      subroutine MPI_TYPE_NULL_COPY_FN(oldtype, type_keyval, extra_state, attribute_val_in, &
         attribute_val_out, flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: oldtype
         integer :: type_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_TYPE_NULL_COPY_FN
      subroutine MPI_TYPE_NULL_DELETE_FN(datatype, type_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: datatype
         integer :: type_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_TYPE_NULL_DELETE_FN
      subroutine MPI_TYPE_DUP_FN(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, &
         flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Datatype) :: oldtype
         integer :: type_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_TYPE_DUP_FN
      subroutine MPI_WIN_NULL_COPY_FN(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, &
         flag, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: oldwin
         integer :: win_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_WIN_NULL_COPY_FN
      subroutine MPI_WIN_NULL_DELETE_FN(win, win_keyval, attribute_val, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: win
         integer :: win_keyval
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_WIN_NULL_DELETE_FN
      subroutine MPI_WIN_DUP_FN(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
         ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(MPI_Win) :: oldwin
         integer :: win_keyval
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_in
         integer(kind=MPI_ADDRESS_KIND) :: attribute_val_out
         logical :: flag
         integer :: ierror
      end subroutine MPI_WIN_DUP_FN
      subroutine MPI_CONVERSION_FN_NULL(userbuf, datatype, count, filebuf, position, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: userbuf
         type(MPI_Datatype) :: datatype
         integer :: count
         type(c_ptr), value :: filebuf
         integer(kind=MPI_OFFSET_KIND) :: position
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_CONVERSION_FN_NULL
      subroutine MPI_CONVERSION_FN_NULL_C(userbuf, datatype, count, filebuf, position, extra_state, ierror)
         use, intrinsic :: iso_c_binding, only: c_ptr
         import
         implicit none
         type(c_ptr), value :: userbuf
         type(MPI_Datatype) :: datatype
         integer(kind=MPI_COUNT_KIND) :: count
         type(c_ptr), value :: filebuf
         integer(kind=MPI_OFFSET_KIND) :: position
         integer(kind=MPI_ADDRESS_KIND) :: extra_state
         integer :: ierror
      end subroutine MPI_CONVERSION_FN_NULL_C
   end interface
end module mpi_f08_callbacks
