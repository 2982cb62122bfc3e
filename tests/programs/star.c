/* Rank 0 takes a message from each of the others and answers each, for so many rounds: nobody has more than one message under way. */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size, turns = argc > 1 ? atoi(argv[1]) : 100;
    begin(&argc, &argv, &rank, &size);
    double began = MPI_Wtime();
    for (int turn = 0; turn < turns; turn++) {
        int data[4] = {turn, rank, 0, 0};
        if (rank != 0) {
            MPI_Send(data, 3, MPI_INT, 0, 999, MPI_COMM_WORLD);
            MPI_Recv(data, 4, MPI_INT, 0, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(data[0] == turn && data[1] == rank, "turn %d: %d, %d", turn, data[0], data[1]);
            continue;
        }
        for (int from = 1; from < size; from++) {
            MPI_Recv(data, 4, MPI_INT, from, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(data[0] == turn && data[1] == from, "turn %d from %d: %d, %d", turn, from, data[0], data[1]);
        }
        for (int to = 1; to < size; to++) {
            data[1] = to;
            MPI_Send(data, 3, MPI_INT, to, 999, MPI_COMM_WORLD);
        }
    }
    if (rank == 0 && getenv("OXMPI_TEST_TIMES")) printf("%d turns in %.3f s\n", turns, MPI_Wtime() - began);
    return end();
}
