/* Sends three messages to itself. */
#include "check.h"

int main(int argc, char **argv) {
    int in = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 1; i <= 3; i++) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
        MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in == i);
    }
    return finish();
}
