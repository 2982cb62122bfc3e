/* Ends in a way of the caller's choosing, on rank 1, while the others wait for it.
 * Usage: leave abort CODE | exit CODE | signal NUMBER | error */
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, word = 0;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc >= 2 && size >= 2, "usage");
    int number = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, number);
        if (strcmp(argv[1], "exit") == 0) _exit(number);
        if (strcmp(argv[1], "signal") == 0) { signal(number, SIG_DFL); raise(number); }
        /* A rank that does not exist: the default error handler ends the job. */
        if (strcmp(argv[1], "error") == 0) MPI_Send(&word, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
        fprintf(stderr, "leave: still here after %s\n", argv[1]);
        return 98;
    }
    MPI_Recv(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 97;
}
