! Constants of MPI 5.0, for the other modules.
!
! Made from mpi/abi by `cargo xtask generate`.
module mpi_constants
   implicit none
   public
   integer, parameter :: MPI_ADDRESS_KIND = 8
   integer, parameter :: MPI_COUNT_KIND = 8
   integer, parameter :: MPI_OFFSET_KIND = 8
   integer, parameter :: MPI_INTEGER_KIND = 4
   integer, parameter :: MPI_STATUS_SIZE = 8
   integer, parameter :: MPI_SOURCE = 1
   integer, parameter :: MPI_TAG = 2
   integer, parameter :: MPI_ERROR = 3
   integer, parameter :: MPI_VERSION = 5
   integer, parameter :: MPI_SUBVERSION = 0
   integer, parameter :: MPI_ABI_VERSION = 1
   integer, parameter :: MPI_ABI_SUBVERSION = 0
   integer, parameter :: MPI_SUCCESS = 0
   integer, parameter :: MPI_ERR_BUFFER = 1
   integer, parameter :: MPI_ERR_COUNT = 2
   integer, parameter :: MPI_ERR_TYPE = 3
   integer, parameter :: MPI_ERR_TAG = 4
   integer, parameter :: MPI_ERR_COMM = 5
   integer, parameter :: MPI_ERR_RANK = 6
   integer, parameter :: MPI_ERR_REQUEST = 7
   integer, parameter :: MPI_ERR_ROOT = 8
   integer, parameter :: MPI_ERR_GROUP = 9
   integer, parameter :: MPI_ERR_OP = 10
   integer, parameter :: MPI_ERR_TOPOLOGY = 11
   integer, parameter :: MPI_ERR_DIMS = 12
   integer, parameter :: MPI_ERR_ARG = 13
   integer, parameter :: MPI_ERR_UNKNOWN = 14
   integer, parameter :: MPI_ERR_TRUNCATE = 15
   integer, parameter :: MPI_ERR_OTHER = 16
   integer, parameter :: MPI_ERR_INTERN = 17
   integer, parameter :: MPI_ERR_PENDING = 18
   integer, parameter :: MPI_ERR_IN_STATUS = 19
   integer, parameter :: MPI_ERR_ACCESS = 20
   integer, parameter :: MPI_ERR_AMODE = 21
   integer, parameter :: MPI_ERR_ASSERT = 22
   integer, parameter :: MPI_ERR_BAD_FILE = 23
   integer, parameter :: MPI_ERR_BASE = 24
   integer, parameter :: MPI_ERR_CONVERSION = 25
   integer, parameter :: MPI_ERR_DISP = 26
   integer, parameter :: MPI_ERR_DUP_DATAREP = 27
   integer, parameter :: MPI_ERR_FILE_EXISTS = 28
   integer, parameter :: MPI_ERR_FILE_IN_USE = 29
   integer, parameter :: MPI_ERR_FILE = 30
   integer, parameter :: MPI_ERR_INFO_KEY = 31
   integer, parameter :: MPI_ERR_INFO_NOKEY = 32
   integer, parameter :: MPI_ERR_INFO_VALUE = 33
   integer, parameter :: MPI_ERR_INFO = 34
   integer, parameter :: MPI_ERR_IO = 35
   integer, parameter :: MPI_ERR_KEYVAL = 36
   integer, parameter :: MPI_ERR_LOCKTYPE = 37
   integer, parameter :: MPI_ERR_NAME = 38
   integer, parameter :: MPI_ERR_NO_MEM = 39
   integer, parameter :: MPI_ERR_NOT_SAME = 40
   integer, parameter :: MPI_ERR_NO_SPACE = 41
   integer, parameter :: MPI_ERR_NO_SUCH_FILE = 42
   integer, parameter :: MPI_ERR_PORT = 43
   integer, parameter :: MPI_ERR_QUOTA = 44
   integer, parameter :: MPI_ERR_READ_ONLY = 45
   integer, parameter :: MPI_ERR_RMA_ATTACH = 46
   integer, parameter :: MPI_ERR_RMA_CONFLICT = 47
   integer, parameter :: MPI_ERR_RMA_RANGE = 48
   integer, parameter :: MPI_ERR_RMA_SHARED = 49
   integer, parameter :: MPI_ERR_RMA_SYNC = 50
   integer, parameter :: MPI_ERR_SERVICE = 51
   integer, parameter :: MPI_ERR_SIZE = 52
   integer, parameter :: MPI_ERR_SPAWN = 53
   integer, parameter :: MPI_ERR_UNSUPPORTED_DATAREP = 54
   integer, parameter :: MPI_ERR_UNSUPPORTED_OPERATION = 55
   integer, parameter :: MPI_ERR_WIN = 56
   integer, parameter :: MPI_ERR_RMA_FLAVOR = 57
   integer, parameter :: MPI_ERR_PROC_ABORTED = 58
   integer, parameter :: MPI_ERR_VALUE_TOO_LARGE = 59
   integer, parameter :: MPI_ERR_SESSION = 60
   integer, parameter :: MPI_ERR_ERRHANDLER = 61
   integer, parameter :: MPI_ERR_ABI = 62
   integer, parameter :: MPI_ERR_LASTCODE = 16383
   integer, parameter :: MPI_ANY_SOURCE = -1
   integer, parameter :: MPI_ANY_TAG = -2
   integer, parameter :: MPI_PROC_NULL = -3
   integer, parameter :: MPI_ROOT = -4
   integer, parameter :: MPI_UNDEFINED = -32766
   integer, parameter :: MPI_THREAD_SINGLE = 0
   integer, parameter :: MPI_THREAD_FUNNELED = 1024
   integer, parameter :: MPI_THREAD_SERIALIZED = 2048
   integer, parameter :: MPI_THREAD_MULTIPLE = 4096
   integer, parameter :: MPI_MAX_DATAREP_STRING = 127
   integer, parameter :: MPI_MAX_ERROR_STRING = 511
   integer, parameter :: MPI_MAX_INFO_KEY = 255
   integer, parameter :: MPI_MAX_INFO_VAL = 1023
   integer, parameter :: MPI_MAX_LIBRARY_VERSION_STRING = 8191
   integer, parameter :: MPI_MAX_OBJECT_NAME = 127
   integer, parameter :: MPI_MAX_PORT_NAME = 1023
   integer, parameter :: MPI_MAX_PROCESSOR_NAME = 255
   integer, parameter :: MPI_MAX_STRINGTAG_LEN = 1023
   integer, parameter :: MPI_MAX_PSET_NAME_LEN = 1023
   integer, parameter :: MPI_BSEND_OVERHEAD = 511
   integer, parameter :: MPI_IDENT = 201
   integer, parameter :: MPI_CONGRUENT = 202
   integer, parameter :: MPI_SIMILAR = 203
   integer, parameter :: MPI_UNEQUAL = 204
   integer, parameter :: MPI_CART = 211
   integer, parameter :: MPI_GRAPH = 212
   integer, parameter :: MPI_DIST_GRAPH = 213
   integer, parameter :: MPI_COMM_TYPE_SHARED = 221
   integer, parameter :: MPI_COMM_TYPE_HW_UNGUIDED = 222
   integer, parameter :: MPI_COMM_TYPE_HW_GUIDED = 223
   integer, parameter :: MPI_COMM_TYPE_RESOURCE_GUIDED = 224
   integer, parameter :: MPI_KEYVAL_INVALID = 0
   integer, parameter :: MPI_TAG_UB = 501
   integer, parameter :: MPI_IO = 502
   integer, parameter :: MPI_HOST = 503
   integer, parameter :: MPI_WTIME_IS_GLOBAL = 504
   integer, parameter :: MPI_APPNUM = 505
   integer, parameter :: MPI_LASTUSEDCODE = 506
   integer, parameter :: MPI_UNIVERSE_SIZE = 507
   integer, parameter :: MPI_WIN_BASE = 601
   integer, parameter :: MPI_WIN_DISP_UNIT = 602
   integer, parameter :: MPI_WIN_SIZE = 603
   integer, parameter :: MPI_WIN_CREATE_FLAVOR = 604
   integer, parameter :: MPI_WIN_MODEL = 605
   integer, parameter :: MPI_ORDER_C = 12
   integer, parameter :: MPI_ORDER_FORTRAN = 15
   integer, parameter :: MPI_DISTRIBUTE_NONE = 16
   integer, parameter :: MPI_DISTRIBUTE_BLOCK = 17
   integer, parameter :: MPI_DISTRIBUTE_CYCLIC = 18
   integer, parameter :: MPI_DISTRIBUTE_DFLT_DARG = 19
   integer, parameter :: MPI_COMBINER_NAMED = 101
   integer, parameter :: MPI_COMBINER_DUP = 102
   integer, parameter :: MPI_COMBINER_CONTIGUOUS = 103
   integer, parameter :: MPI_COMBINER_VECTOR = 104
   integer, parameter :: MPI_COMBINER_HVECTOR = 105
   integer, parameter :: MPI_COMBINER_INDEXED = 106
   integer, parameter :: MPI_COMBINER_HINDEXED = 107
   integer, parameter :: MPI_COMBINER_INDEXED_BLOCK = 108
   integer, parameter :: MPI_COMBINER_HINDEXED_BLOCK = 109
   integer, parameter :: MPI_COMBINER_STRUCT = 110
   integer, parameter :: MPI_COMBINER_SUBARRAY = 111
   integer, parameter :: MPI_COMBINER_DARRAY = 112
   integer, parameter :: MPI_COMBINER_F90_REAL = 113
   integer, parameter :: MPI_COMBINER_F90_COMPLEX = 114
   integer, parameter :: MPI_COMBINER_F90_INTEGER = 115
   integer, parameter :: MPI_COMBINER_RESIZED = 116
   integer, parameter :: MPI_COMBINER_VALUE_INDEX = 117
   integer, parameter :: MPIX_TYPECLASS_LOGICAL = 191
   integer, parameter :: MPI_TYPECLASS_INTEGER = 192
   integer, parameter :: MPI_TYPECLASS_REAL = 193
   integer, parameter :: MPI_TYPECLASS_COMPLEX = 194
   integer, parameter :: MPI_LOCK_EXCLUSIVE = 301
   integer, parameter :: MPI_LOCK_SHARED = 302
   integer, parameter :: MPI_WIN_FLAVOR_CREATE = 311
   integer, parameter :: MPI_WIN_FLAVOR_ALLOCATE = 312
   integer, parameter :: MPI_WIN_FLAVOR_DYNAMIC = 313
   integer, parameter :: MPI_WIN_FLAVOR_SHARED = 314
   integer, parameter :: MPI_WIN_UNIFIED = 321
   integer, parameter :: MPI_WIN_SEPARATE = 322
   integer, parameter :: MPI_MODE_APPEND = 1
   integer, parameter :: MPI_MODE_CREATE = 2
   integer, parameter :: MPI_MODE_DELETE_ON_CLOSE = 4
   integer, parameter :: MPI_MODE_EXCL = 8
   integer, parameter :: MPI_MODE_RDONLY = 16
   integer, parameter :: MPI_MODE_RDWR = 32
   integer, parameter :: MPI_MODE_SEQUENTIAL = 64
   integer, parameter :: MPI_MODE_UNIQUE_OPEN = 128
   integer, parameter :: MPI_MODE_WRONLY = 256
   integer, parameter :: MPI_MODE_NOCHECK = 1024
   integer, parameter :: MPI_MODE_NOPRECEDE = 2048
   integer, parameter :: MPI_MODE_NOPUT = 4096
   integer, parameter :: MPI_MODE_NOSTORE = 8192
   integer, parameter :: MPI_MODE_NOSUCCEED = 16384
   integer(kind=MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1
   integer, parameter :: MPI_SEEK_CUR = 401
   integer, parameter :: MPI_SEEK_END = 402
   integer, parameter :: MPI_SEEK_SET = 403
   logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.
   logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.
   integer :: MPI_BOTTOM
   integer, private :: mpifort_p0(15)
   common /MPIFORT_CONSTANTS/ MPI_BOTTOM, mpifort_p0
   integer :: MPI_IN_PLACE
   integer, private :: mpifort_p1(15)
   common /MPIFORT_CONSTANTS/ MPI_IN_PLACE, mpifort_p1
   integer :: MPI_BUFFER_AUTOMATIC
   integer, private :: mpifort_p2(15)
   common /MPIFORT_CONSTANTS/ MPI_BUFFER_AUTOMATIC, mpifort_p2
   integer :: MPI_UNWEIGHTED(1)
   integer, private :: mpifort_p3(15)
   common /MPIFORT_CONSTANTS/ MPI_UNWEIGHTED, mpifort_p3
   integer :: MPI_WEIGHTS_EMPTY(1)
   integer, private :: mpifort_p4(15)
   common /MPIFORT_CONSTANTS/ MPI_WEIGHTS_EMPTY, mpifort_p4
   integer :: MPI_ERRCODES_IGNORE(1)
   integer, private :: mpifort_p5(15)
   common /MPIFORT_CONSTANTS/ MPI_ERRCODES_IGNORE, mpifort_p5
   character(len=1) :: MPI_ARGV_NULL(1)
   character(len=1), private :: mpifort_p6(63)
   common /MPIFORT_CONSTANTS/ MPI_ARGV_NULL, mpifort_p6
   character(len=1) :: MPI_ARGVS_NULL(1,1)
   character(len=1), private :: mpifort_p7(63)
   common /MPIFORT_CONSTANTS/ MPI_ARGVS_NULL, mpifort_p7
   save /MPIFORT_CONSTANTS/
end module mpi_constants

! Handles and statuses of INTEGER.
module mpi_integer_constants
   implicit none
   public
   integer, parameter :: MPI_OP_NULL = 32
   integer, parameter :: MPI_SUM = 33
   integer, parameter :: MPI_MIN = 34
   integer, parameter :: MPI_MAX = 35
   integer, parameter :: MPI_PROD = 36
   integer, parameter :: MPI_BAND = 40
   integer, parameter :: MPI_BOR = 41
   integer, parameter :: MPI_BXOR = 42
   integer, parameter :: MPI_LAND = 48
   integer, parameter :: MPI_LOR = 49
   integer, parameter :: MPI_LXOR = 50
   integer, parameter :: MPI_MINLOC = 56
   integer, parameter :: MPI_MAXLOC = 57
   integer, parameter :: MPI_REPLACE = 60
   integer, parameter :: MPI_NO_OP = 61
   integer, parameter :: MPI_COMM_NULL = 256
   integer, parameter :: MPI_COMM_WORLD = 257
   integer, parameter :: MPI_COMM_SELF = 258
   integer, parameter :: MPI_GROUP_NULL = 264
   integer, parameter :: MPI_GROUP_EMPTY = 265
   integer, parameter :: MPI_WIN_NULL = 272
   integer, parameter :: MPI_FILE_NULL = 280
   integer, parameter :: MPI_SESSION_NULL = 288
   integer, parameter :: MPI_MESSAGE_NULL = 296
   integer, parameter :: MPI_MESSAGE_NO_PROC = 297
   integer, parameter :: MPI_INFO_NULL = 304
   integer, parameter :: MPI_INFO_ENV = 305
   integer, parameter :: MPI_ERRHANDLER_NULL = 320
   integer, parameter :: MPI_ERRORS_ARE_FATAL = 321
   integer, parameter :: MPI_ERRORS_ABORT = 322
   integer, parameter :: MPI_ERRORS_RETURN = 323
   integer, parameter :: MPI_REQUEST_NULL = 384
   integer, parameter :: MPI_DATATYPE_NULL = 512
   integer, parameter :: MPI_AINT = 513
   integer, parameter :: MPI_COUNT = 514
   integer, parameter :: MPI_OFFSET = 515
   integer, parameter :: MPI_PACKED = 519
   integer, parameter :: MPI_SHORT = 520
   integer, parameter :: MPI_INT = 521
   integer, parameter :: MPI_LONG = 522
   integer, parameter :: MPI_LONG_LONG = 523
   integer, parameter :: MPI_LONG_LONG_INT = 523
   integer, parameter :: MPI_UNSIGNED_SHORT = 524
   integer, parameter :: MPI_UNSIGNED = 525
   integer, parameter :: MPI_UNSIGNED_LONG = 526
   integer, parameter :: MPI_UNSIGNED_LONG_LONG = 527
   integer, parameter :: MPI_FLOAT = 528
   integer, parameter :: MPI_C_FLOAT_COMPLEX = 530
   integer, parameter :: MPI_C_COMPLEX = 530
   integer, parameter :: MPI_CXX_FLOAT_COMPLEX = 531
   integer, parameter :: MPI_DOUBLE = 532
   integer, parameter :: MPI_C_DOUBLE_COMPLEX = 534
   integer, parameter :: MPI_CXX_DOUBLE_COMPLEX = 535
   integer, parameter :: MPI_LOGICAL = 536
   integer, parameter :: MPI_INTEGER = 537
   integer, parameter :: MPI_REAL = 538
   integer, parameter :: MPI_COMPLEX = 539
   integer, parameter :: MPI_DOUBLE_PRECISION = 540
   integer, parameter :: MPI_DOUBLE_COMPLEX = 541
   integer, parameter :: MPI_CHARACTER = 542
   integer, parameter :: MPI_LONG_DOUBLE = 544
   integer, parameter :: MPI_C_LONG_DOUBLE_COMPLEX = 548
   integer, parameter :: MPI_CXX_LONG_DOUBLE_COMPLEX = 549
   integer, parameter :: MPI_FLOAT_INT = 552
   integer, parameter :: MPI_DOUBLE_INT = 553
   integer, parameter :: MPI_LONG_INT = 554
   integer, parameter :: MPI_2INT = 555
   integer, parameter :: MPI_SHORT_INT = 556
   integer, parameter :: MPI_LONG_DOUBLE_INT = 557
   integer, parameter :: MPI_2REAL = 560
   integer, parameter :: MPI_2DOUBLE_PRECISION = 561
   integer, parameter :: MPI_2INTEGER = 562
   integer, parameter :: MPI_C_BOOL = 568
   integer, parameter :: MPI_CXX_BOOL = 569
   integer, parameter :: MPI_WCHAR = 572
   integer, parameter :: MPI_INT8_T = 576
   integer, parameter :: MPI_UINT8_T = 577
   integer, parameter :: MPI_CHAR = 579
   integer, parameter :: MPI_SIGNED_CHAR = 580
   integer, parameter :: MPI_UNSIGNED_CHAR = 581
   integer, parameter :: MPI_BYTE = 583
   integer, parameter :: MPI_INT16_T = 584
   integer, parameter :: MPI_UINT16_T = 585
   integer, parameter :: MPI_INT32_T = 592
   integer, parameter :: MPI_UINT32_T = 593
   integer, parameter :: MPI_INT64_T = 600
   integer, parameter :: MPI_UINT64_T = 601
   integer, parameter :: MPI_LOGICAL1 = 704
   integer, parameter :: MPI_INTEGER1 = 705
   integer, parameter :: MPI_LOGICAL2 = 712
   integer, parameter :: MPI_INTEGER2 = 713
   integer, parameter :: MPI_REAL2 = 714
   integer, parameter :: MPI_LOGICAL4 = 720
   integer, parameter :: MPI_INTEGER4 = 721
   integer, parameter :: MPI_REAL4 = 722
   integer, parameter :: MPI_COMPLEX4 = 723
   integer, parameter :: MPI_LOGICAL8 = 728
   integer, parameter :: MPI_INTEGER8 = 729
   integer, parameter :: MPI_REAL8 = 730
   integer, parameter :: MPI_COMPLEX8 = 731
   integer, parameter :: MPI_LOGICAL16 = 736
   integer, parameter :: MPI_INTEGER16 = 737
   integer, parameter :: MPI_REAL16 = 738
   integer, parameter :: MPI_COMPLEX16 = 739
   integer, parameter :: MPI_COMPLEX32 = 747
   integer :: MPI_STATUS_IGNORE(8)
   integer, private :: mpifort_p0(8)
   common /MPIFORT_STATUSES/ MPI_STATUS_IGNORE, mpifort_p0
   integer :: MPI_STATUSES_IGNORE(8,1)
   integer, private :: mpifort_p1(40)
   common /MPIFORT_STATUSES/ MPI_STATUSES_IGNORE, mpifort_p1
   save /MPIFORT_STATUSES/
end module mpi_integer_constants
