/* Everybody sends to one rank all the time, which kills itself after a while. Usage: sends RANK */
#include "check.h"
#include <signal.h>

int main(int argc, char **argv) {
    int rank, size, word = 0;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc == 2, "usage");
    int target = atoi(argv[1]);
    for (int n = 0;; n++) {
        if (rank == target) {
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (n == 200) raise(SIGKILL);
        } else {
            MPI_Send(&word, 1, MPI_INT, target, 1, MPI_COMM_WORLD);
        }
    }
}
