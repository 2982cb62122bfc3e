/* Two ranks write behind an array at the same time; any others wait for them in a barrier. Built with AddressSanitizer. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        volatile char *bytes = malloc(10 + rank);
        bytes[10 + rank] = 1;
        free((char *)bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
