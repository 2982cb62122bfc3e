/* One message, and one event that says it is there: the first example of the proposal of MPIX_Sync. */
#include "check.h"
#include <mpi-ext.h>

enum { BYTES = 10000 };

int main(int argc, char **argv) {
    int rank, size, left;
    unsigned char buf[BYTES];
    MPI_Request request;
    MPI_Status status;
    MPIX_Sync sync;
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "needs 2 ranks");
    CHECK(MPIX_Sync_init(&sync) == MPI_SUCCESS, "init");
    if (rank == 1) {
        fill(buf, BYTES, 42);
        MPI_Isend(buf, BYTES, MPI_BYTE, 0, 42, MPI_COMM_WORLD, &request);
    } else {
        MPI_Irecv(buf, BYTES, MPI_BYTE, 1, 42, MPI_COMM_WORLD, &request);
    }
    MPIX_Sync_attach(sync, &request, (void *)1);
    void *ret = MPIX_SYNC_EMPTY;
    while (ret == MPIX_SYNC_EMPTY) ret = MPIX_Sync_query(sync, &status);
    CHECK(ret == (void *)1, "data is %p", ret);
    if (rank == 0) {
        MPI_Get_count(&status, MPI_BYTE, &left);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 42 && left == BYTES, "%d bytes", left);
        CHECK(differs(buf, BYTES, 42) < 0, "wrong data");
    }
    CHECK(MPIX_Sync_size(sync) == 0 && MPIX_Sync_probe(sync) == 0, "something is left");
    MPIX_Sync_free(&sync);
    return end();
}
