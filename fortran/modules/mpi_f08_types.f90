! Types of module mpi_f08, and constants of these types.
!
! Made from mpi/abi by `cargo xtask generate`.
module mpi_f08_types
   use mpi_constants
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
   type(MPI_Op), parameter :: MPI_OP_NULL = MPI_Op(32)
   type(MPI_Op), parameter :: MPI_SUM = MPI_Op(33)
   type(MPI_Op), parameter :: MPI_MIN = MPI_Op(34)
   type(MPI_Op), parameter :: MPI_MAX = MPI_Op(35)
   type(MPI_Op), parameter :: MPI_PROD = MPI_Op(36)
   type(MPI_Op), parameter :: MPI_BAND = MPI_Op(40)
   type(MPI_Op), parameter :: MPI_BOR = MPI_Op(41)
   type(MPI_Op), parameter :: MPI_BXOR = MPI_Op(42)
   type(MPI_Op), parameter :: MPI_LAND = MPI_Op(48)
   type(MPI_Op), parameter :: MPI_LOR = MPI_Op(49)
   type(MPI_Op), parameter :: MPI_LXOR = MPI_Op(50)
   type(MPI_Op), parameter :: MPI_MINLOC = MPI_Op(56)
   type(MPI_Op), parameter :: MPI_MAXLOC = MPI_Op(57)
   type(MPI_Op), parameter :: MPI_REPLACE = MPI_Op(60)
   type(MPI_Op), parameter :: MPI_NO_OP = MPI_Op(61)
   type(MPI_Comm), parameter :: MPI_COMM_NULL = MPI_Comm(256)
   type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(257)
   type(MPI_Comm), parameter :: MPI_COMM_SELF = MPI_Comm(258)
   type(MPI_Group), parameter :: MPI_GROUP_NULL = MPI_Group(264)
   type(MPI_Group), parameter :: MPI_GROUP_EMPTY = MPI_Group(265)
   type(MPI_Win), parameter :: MPI_WIN_NULL = MPI_Win(272)
   type(MPI_File), parameter :: MPI_FILE_NULL = MPI_File(280)
   type(MPI_Session), parameter :: MPI_SESSION_NULL = MPI_Session(288)
   type(MPI_Message), parameter :: MPI_MESSAGE_NULL = MPI_Message(296)
   type(MPI_Message), parameter :: MPI_MESSAGE_NO_PROC = MPI_Message(297)
   type(MPI_Info), parameter :: MPI_INFO_NULL = MPI_Info(304)
   type(MPI_Info), parameter :: MPI_INFO_ENV = MPI_Info(305)
   type(MPI_Errhandler), parameter :: MPI_ERRHANDLER_NULL = MPI_Errhandler(320)
   type(MPI_Errhandler), parameter :: MPI_ERRORS_ARE_FATAL = MPI_Errhandler(321)
   type(MPI_Errhandler), parameter :: MPI_ERRORS_ABORT = MPI_Errhandler(322)
   type(MPI_Errhandler), parameter :: MPI_ERRORS_RETURN = MPI_Errhandler(323)
   type(MPI_Request), parameter :: MPI_REQUEST_NULL = MPI_Request(384)
   type(MPI_Datatype), parameter :: MPI_DATATYPE_NULL = MPI_Datatype(512)
   type(MPI_Datatype), parameter :: MPI_AINT = MPI_Datatype(513)
   type(MPI_Datatype), parameter :: MPI_COUNT = MPI_Datatype(514)
   type(MPI_Datatype), parameter :: MPI_OFFSET = MPI_Datatype(515)
   type(MPI_Datatype), parameter :: MPI_PACKED = MPI_Datatype(519)
   type(MPI_Datatype), parameter :: MPI_SHORT = MPI_Datatype(520)
   type(MPI_Datatype), parameter :: MPI_INT = MPI_Datatype(521)
   type(MPI_Datatype), parameter :: MPI_LONG = MPI_Datatype(522)
   type(MPI_Datatype), parameter :: MPI_LONG_LONG = MPI_Datatype(523)
   type(MPI_Datatype), parameter :: MPI_LONG_LONG_INT = MPI_Datatype(523)
   type(MPI_Datatype), parameter :: MPI_UNSIGNED_SHORT = MPI_Datatype(524)
   type(MPI_Datatype), parameter :: MPI_UNSIGNED = MPI_Datatype(525)
   type(MPI_Datatype), parameter :: MPI_UNSIGNED_LONG = MPI_Datatype(526)
   type(MPI_Datatype), parameter :: MPI_UNSIGNED_LONG_LONG = MPI_Datatype(527)
   type(MPI_Datatype), parameter :: MPI_FLOAT = MPI_Datatype(528)
   type(MPI_Datatype), parameter :: MPI_C_FLOAT_COMPLEX = MPI_Datatype(530)
   type(MPI_Datatype), parameter :: MPI_C_COMPLEX = MPI_Datatype(530)
   type(MPI_Datatype), parameter :: MPI_CXX_FLOAT_COMPLEX = MPI_Datatype(531)
   type(MPI_Datatype), parameter :: MPI_DOUBLE = MPI_Datatype(532)
   type(MPI_Datatype), parameter :: MPI_C_DOUBLE_COMPLEX = MPI_Datatype(534)
   type(MPI_Datatype), parameter :: MPI_CXX_DOUBLE_COMPLEX = MPI_Datatype(535)
   type(MPI_Datatype), parameter :: MPI_LOGICAL = MPI_Datatype(536)
   type(MPI_Datatype), parameter :: MPI_INTEGER = MPI_Datatype(537)
   type(MPI_Datatype), parameter :: MPI_REAL = MPI_Datatype(538)
   type(MPI_Datatype), parameter :: MPI_COMPLEX = MPI_Datatype(539)
   type(MPI_Datatype), parameter :: MPI_DOUBLE_PRECISION = MPI_Datatype(540)
   type(MPI_Datatype), parameter :: MPI_DOUBLE_COMPLEX = MPI_Datatype(541)
   type(MPI_Datatype), parameter :: MPI_CHARACTER = MPI_Datatype(542)
   type(MPI_Datatype), parameter :: MPI_LONG_DOUBLE = MPI_Datatype(544)
   type(MPI_Datatype), parameter :: MPI_C_LONG_DOUBLE_COMPLEX = MPI_Datatype(548)
   type(MPI_Datatype), parameter :: MPI_CXX_LONG_DOUBLE_COMPLEX = MPI_Datatype(549)
   type(MPI_Datatype), parameter :: MPI_FLOAT_INT = MPI_Datatype(552)
   type(MPI_Datatype), parameter :: MPI_DOUBLE_INT = MPI_Datatype(553)
   type(MPI_Datatype), parameter :: MPI_LONG_INT = MPI_Datatype(554)
   type(MPI_Datatype), parameter :: MPI_2INT = MPI_Datatype(555)
   type(MPI_Datatype), parameter :: MPI_SHORT_INT = MPI_Datatype(556)
   type(MPI_Datatype), parameter :: MPI_LONG_DOUBLE_INT = MPI_Datatype(557)
   type(MPI_Datatype), parameter :: MPI_2REAL = MPI_Datatype(560)
   type(MPI_Datatype), parameter :: MPI_2DOUBLE_PRECISION = MPI_Datatype(561)
   type(MPI_Datatype), parameter :: MPI_2INTEGER = MPI_Datatype(562)
   type(MPI_Datatype), parameter :: MPI_C_BOOL = MPI_Datatype(568)
   type(MPI_Datatype), parameter :: MPI_CXX_BOOL = MPI_Datatype(569)
   type(MPI_Datatype), parameter :: MPI_WCHAR = MPI_Datatype(572)
   type(MPI_Datatype), parameter :: MPI_INT8_T = MPI_Datatype(576)
   type(MPI_Datatype), parameter :: MPI_UINT8_T = MPI_Datatype(577)
   type(MPI_Datatype), parameter :: MPI_CHAR = MPI_Datatype(579)
   type(MPI_Datatype), parameter :: MPI_SIGNED_CHAR = MPI_Datatype(580)
   type(MPI_Datatype), parameter :: MPI_UNSIGNED_CHAR = MPI_Datatype(581)
   type(MPI_Datatype), parameter :: MPI_BYTE = MPI_Datatype(583)
   type(MPI_Datatype), parameter :: MPI_INT16_T = MPI_Datatype(584)
   type(MPI_Datatype), parameter :: MPI_UINT16_T = MPI_Datatype(585)
   type(MPI_Datatype), parameter :: MPI_INT32_T = MPI_Datatype(592)
   type(MPI_Datatype), parameter :: MPI_UINT32_T = MPI_Datatype(593)
   type(MPI_Datatype), parameter :: MPI_INT64_T = MPI_Datatype(600)
   type(MPI_Datatype), parameter :: MPI_UINT64_T = MPI_Datatype(601)
   type(MPI_Datatype), parameter :: MPI_LOGICAL1 = MPI_Datatype(704)
   type(MPI_Datatype), parameter :: MPI_INTEGER1 = MPI_Datatype(705)
   type(MPI_Datatype), parameter :: MPI_LOGICAL2 = MPI_Datatype(712)
   type(MPI_Datatype), parameter :: MPI_INTEGER2 = MPI_Datatype(713)
   type(MPI_Datatype), parameter :: MPI_REAL2 = MPI_Datatype(714)
   type(MPI_Datatype), parameter :: MPI_LOGICAL4 = MPI_Datatype(720)
   type(MPI_Datatype), parameter :: MPI_INTEGER4 = MPI_Datatype(721)
   type(MPI_Datatype), parameter :: MPI_REAL4 = MPI_Datatype(722)
   type(MPI_Datatype), parameter :: MPI_COMPLEX4 = MPI_Datatype(723)
   type(MPI_Datatype), parameter :: MPI_LOGICAL8 = MPI_Datatype(728)
   type(MPI_Datatype), parameter :: MPI_INTEGER8 = MPI_Datatype(729)
   type(MPI_Datatype), parameter :: MPI_REAL8 = MPI_Datatype(730)
   type(MPI_Datatype), parameter :: MPI_COMPLEX8 = MPI_Datatype(731)
   type(MPI_Datatype), parameter :: MPI_LOGICAL16 = MPI_Datatype(736)
   type(MPI_Datatype), parameter :: MPI_INTEGER16 = MPI_Datatype(737)
   type(MPI_Datatype), parameter :: MPI_REAL16 = MPI_Datatype(738)
   type(MPI_Datatype), parameter :: MPI_COMPLEX16 = MPI_Datatype(739)
   type(MPI_Datatype), parameter :: MPI_COMPLEX32 = MPI_Datatype(747)
   integer, private :: mpifort_before(32)
   common /MPIFORT_STATUSES/ mpifort_before
   TYPE(MPI_Status) :: MPI_STATUS_IGNORE
   integer, private :: mpifort_p0(8)
   common /MPIFORT_STATUSES/ MPI_STATUS_IGNORE, mpifort_p0
   TYPE(MPI_Status) :: MPI_STATUSES_IGNORE(1)
   integer, private :: mpifort_p1(8)
   common /MPIFORT_STATUSES/ MPI_STATUSES_IGNORE, mpifort_p1
   save /MPIFORT_STATUSES/
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
end module mpi_f08_types
