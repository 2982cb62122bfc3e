/* mpi-fort.h: what MPI 5.0 has for C programs with parts in Fortran that use module mpi_f08, and the standard ABI's header has not: statuses of that
 * module (19.3.5), and the statuses that nobody wants as Fortran has them. For programs that are linked with libmpifort_abi, as mpifort does. */
#ifndef OXMPI_MPI_FORT_H
#define OXMPI_MPI_FORT_H

#include <mpi.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* A status of module mpi_f08. */
typedef struct {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, mpi_internal[5];
} MPI_F08_status;

/* MPI_ERR_ARG: a status is one that nobody wants, or a null pointer. */
int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status);
int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status);
int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status);
int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status);
int PMPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status);
int PMPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status);
int PMPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status);
int PMPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status);

/* The COMMON block with MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, those of integers first: cells of 64 bytes. */
extern MPI_Fint mpifort_statuses_[64];
#define MPI_F_STATUS_IGNORE (mpifort_statuses_)
#define MPI_F_STATUSES_IGNORE (mpifort_statuses_ + 16)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)(mpifort_statuses_ + 32))
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)(mpifort_statuses_ + 48))

#if defined(__cplusplus)
}
#endif
#endif
