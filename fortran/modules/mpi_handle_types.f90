! Types of handles and of a status, which modules mpi and mpi_f08 have.
!
! Made from mpi/abi by `cargo xtask generate`.
module mpi_handle_types
   implicit none
   public
   type, bind(C) :: MPI_Comm
      integer :: MPI_VAL
   end type MPI_Comm
   type, bind(C) :: MPI_Datatype
      integer :: MPI_VAL
   end type MPI_Datatype
   type, bind(C) :: MPI_Errhandler
      integer :: MPI_VAL
   end type MPI_Errhandler
   type, bind(C) :: MPI_File
      integer :: MPI_VAL
   end type MPI_File
   type, bind(C) :: MPI_Group
      integer :: MPI_VAL
   end type MPI_Group
   type, bind(C) :: MPI_Info
      integer :: MPI_VAL
   end type MPI_Info
   type, bind(C) :: MPI_Message
      integer :: MPI_VAL
   end type MPI_Message
   type, bind(C) :: MPI_Op
      integer :: MPI_VAL
   end type MPI_Op
   type, bind(C) :: MPI_Request
      integer :: MPI_VAL
   end type MPI_Request
   type, bind(C) :: MPI_Session
      integer :: MPI_VAL
   end type MPI_Session
   type, bind(C) :: MPI_Win
      integer :: MPI_VAL
   end type MPI_Win
   type, bind(C) :: MPI_Status
      integer :: MPI_SOURCE
      integer :: MPI_TAG
      integer :: MPI_ERROR
      integer :: mpi_internal(5)
   end type MPI_Status
   interface operator(==)
      function mpifort_comm_eq(a, b)
         import :: MPI_Comm
         logical :: mpifort_comm_eq
         type(MPI_Comm), intent(in) :: a, b
      end function mpifort_comm_eq
      function mpifort_datatype_eq(a, b)
         import :: MPI_Datatype
         logical :: mpifort_datatype_eq
         type(MPI_Datatype), intent(in) :: a, b
      end function mpifort_datatype_eq
      function mpifort_errhandler_eq(a, b)
         import :: MPI_Errhandler
         logical :: mpifort_errhandler_eq
         type(MPI_Errhandler), intent(in) :: a, b
      end function mpifort_errhandler_eq
      function mpifort_file_eq(a, b)
         import :: MPI_File
         logical :: mpifort_file_eq
         type(MPI_File), intent(in) :: a, b
      end function mpifort_file_eq
      function mpifort_group_eq(a, b)
         import :: MPI_Group
         logical :: mpifort_group_eq
         type(MPI_Group), intent(in) :: a, b
      end function mpifort_group_eq
      function mpifort_info_eq(a, b)
         import :: MPI_Info
         logical :: mpifort_info_eq
         type(MPI_Info), intent(in) :: a, b
      end function mpifort_info_eq
      function mpifort_message_eq(a, b)
         import :: MPI_Message
         logical :: mpifort_message_eq
         type(MPI_Message), intent(in) :: a, b
      end function mpifort_message_eq
      function mpifort_op_eq(a, b)
         import :: MPI_Op
         logical :: mpifort_op_eq
         type(MPI_Op), intent(in) :: a, b
      end function mpifort_op_eq
      function mpifort_request_eq(a, b)
         import :: MPI_Request
         logical :: mpifort_request_eq
         type(MPI_Request), intent(in) :: a, b
      end function mpifort_request_eq
      function mpifort_session_eq(a, b)
         import :: MPI_Session
         logical :: mpifort_session_eq
         type(MPI_Session), intent(in) :: a, b
      end function mpifort_session_eq
      function mpifort_win_eq(a, b)
         import :: MPI_Win
         logical :: mpifort_win_eq
         type(MPI_Win), intent(in) :: a, b
      end function mpifort_win_eq
   end interface
   interface operator(/=)
      function mpifort_comm_ne(a, b)
         import :: MPI_Comm
         logical :: mpifort_comm_ne
         type(MPI_Comm), intent(in) :: a, b
      end function mpifort_comm_ne
      function mpifort_datatype_ne(a, b)
         import :: MPI_Datatype
         logical :: mpifort_datatype_ne
         type(MPI_Datatype), intent(in) :: a, b
      end function mpifort_datatype_ne
      function mpifort_errhandler_ne(a, b)
         import :: MPI_Errhandler
         logical :: mpifort_errhandler_ne
         type(MPI_Errhandler), intent(in) :: a, b
      end function mpifort_errhandler_ne
      function mpifort_file_ne(a, b)
         import :: MPI_File
         logical :: mpifort_file_ne
         type(MPI_File), intent(in) :: a, b
      end function mpifort_file_ne
      function mpifort_group_ne(a, b)
         import :: MPI_Group
         logical :: mpifort_group_ne
         type(MPI_Group), intent(in) :: a, b
      end function mpifort_group_ne
      function mpifort_info_ne(a, b)
         import :: MPI_Info
         logical :: mpifort_info_ne
         type(MPI_Info), intent(in) :: a, b
      end function mpifort_info_ne
      function mpifort_message_ne(a, b)
         import :: MPI_Message
         logical :: mpifort_message_ne
         type(MPI_Message), intent(in) :: a, b
      end function mpifort_message_ne
      function mpifort_op_ne(a, b)
         import :: MPI_Op
         logical :: mpifort_op_ne
         type(MPI_Op), intent(in) :: a, b
      end function mpifort_op_ne
      function mpifort_request_ne(a, b)
         import :: MPI_Request
         logical :: mpifort_request_ne
         type(MPI_Request), intent(in) :: a, b
      end function mpifort_request_ne
      function mpifort_session_ne(a, b)
         import :: MPI_Session
         logical :: mpifort_session_ne
         type(MPI_Session), intent(in) :: a, b
      end function mpifort_session_ne
      function mpifort_win_ne(a, b)
         import :: MPI_Win
         logical :: mpifort_win_ne
         type(MPI_Win), intent(in) :: a, b
      end function mpifort_win_ne
   end interface
end module mpi_handle_types
