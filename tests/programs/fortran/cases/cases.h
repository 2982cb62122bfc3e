! The words by which the programs of this folder are those of three interfaces: BY_F08 and BY_MODULE are the modules', without either it is mpif.h.
#if defined(BY_F08)
#define MODULES use mpi_f08
#define ASYNC , asynchronous
#define HEADER
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define TAG(s) s%MPI_TAG
#define SOURCE(s) s%MPI_SOURCE
#elif defined(BY_MODULE)
#define MODULES use mpi
#define ASYNC , asynchronous
#define HEADER
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define TAG(s) s(MPI_TAG)
#define SOURCE(s) s(MPI_SOURCE)
#else
#define MODULES
! Not for procedures without an interface.
#define ASYNC
#define HEADER include 'mpif.h'
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define TAG(s) s(MPI_TAG)
#define SOURCE(s) s(MPI_SOURCE)
#endif
