/* Prints the rank and the size of the job, and what the test looks at: argument count, OMPI_ARGV. By sessions with an argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    int rank = 0, size = 1;
    MPI_Session session;
    if (argc == 2 && strcmp(argv[1], "session") == 0) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Session_finalize(&session);
    } else {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        MPI_Finalize();
    }
    printf("rank %d of %d, %d arguments, OMPI_ARGV %s\n", rank, size, argc - 1, getenv("OMPI_ARGV") ? "set" : "not set");
    return 0;
}
