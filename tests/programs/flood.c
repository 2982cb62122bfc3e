/* A million messages that nobody has asked for. Usage: flood COUNT BYTES MEMORY_MIB
 *
 * Rank 1 starts COUNT sends of BYTES each to rank 0, which is held in a receive of another tag, so
 * every one of them is unexpected. Then rank 0 takes them all, in order, and looks at every byte.
 * Its memory may not have grown by more than MEMORY_MIB meanwhile. */
#include "check.h"

/* Peak resident memory of this process in MiB. */
static double peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kib) == 1) break;
    if (file) fclose(file);
    CHECK(kib > 0, "no VmHWM in /proc/self/status");
    return kib / 1024;
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc == 4 && size == 2, "usage");
    long count = atol(argv[1]), bytes = atol(argv[2]);
    double limit = atof(argv[3]);
    char token = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        /* Contents depend on the number modulo 64, so that 64 buffers serve. */
        char *buffers = need((size_t)bytes * 64);
        MPI_Request *requests = need((size_t)(count + 1) * sizeof *requests);
        for (int i = 0; i < 64; i++) fill(buffers + i * bytes, bytes, i);
        for (long i = 0; i < count; i++)
            MPI_Isend(buffers + i % 64 * bytes, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&token, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[count]);
        MPI_Waitall((int)count + 1, requests, MPI_STATUSES_IGNORE);
        free(requests);
        free(buffers);
    } else {
        char *buffer = need((size_t)bytes + 1);
        double before = peak();
        MPI_Recv(&token, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double grown = peak() - before;
        for (long i = 0; i < count; i++) {
            MPI_Status status;
            int got;
            MPI_Recv(buffer, (int)bytes + 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &got);
            CHECK(got == bytes, "message %ld has %d bytes", i, got);
            CHECK(differs(buffer, bytes, i % 64) < 0, "message %ld is not what was sent as such", i);
        }
        int flag = 1;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message too many");
        printf("memory grew by %.0f MiB\n", grown);
        CHECK(grown <= limit, "memory grew by %.0f MiB, more than %.0f", grown, limit);
        free(buffer);
    }
    return end();
}
