/* A token goes round the ring and every rank adds itself. Works alone, too. */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int lap = 0; lap < 100; lap++) {
        long token = lap;
        MPI_Status status;
        if (rank == 0) {
            MPI_Request request;
            MPI_Isend(&token, 1, MPI_LONG, right, lap, MPI_COMM_WORLD, &request);
            long back = -1;
            MPI_Recv(&back, 1, MPI_LONG, left, lap, MPI_COMM_WORLD, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(back == lap + (long)size * (size - 1) / 2, "lap %d gave %ld", lap, back);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, left, lap, MPI_COMM_WORLD, &status);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, right, lap, MPI_COMM_WORLD);
        }
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == lap, "status of lap %d", lap);
    }
    return end();
}
