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
! LARGE is for the forms for large counts, which a module chooses by the kind of a count: counts and displacements, and variables of them.
#if defined(LARGE)
#define NUM(x) int(x, MPI_COUNT_KIND)
#define PLACE(x) int(x, MPI_ADDRESS_KIND)
#define NUMBER integer(MPI_COUNT_KIND)
#define DISTANCE integer(MPI_ADDRESS_KIND)
#else
#define NUM(x) x
#define PLACE(x) x
#define NUMBER integer
#define DISTANCE integer
#endif
