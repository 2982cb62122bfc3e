/* Each rank waits for something that never comes: a message, requests, a collective, and one does not wait in MPI. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, word = 0, more = 0;
    static int large[1 << 20];
    MPI_Comm mine;
    MPI_Request requests[3];
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 4, "usage");
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_set_name(mine, "halo exchange");
    MPI_Barrier(mine);
    printf("up\n");
    fflush(stdout);
    switch (rank) {
    case 0: MPI_Recv(&word, 1, MPI_INT, 1, 9, mine, MPI_STATUS_IGNORE); break;
    case 1:
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 17, mine, requests);
        MPI_Irecv(&more, 1, MPI_INT, 2, MPI_ANY_TAG, MPI_COMM_WORLD, requests + 1);
        MPI_Issend(large, 1 << 20, MPI_INT, 3, 5, MPI_COMM_WORLD, requests + 2);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        break;
    case 2: MPI_Bcast(&word, 1, MPI_INT, 3, MPI_COMM_WORLD); break;
    default:
        for (;;) pause();
    }
    return 1;
}
