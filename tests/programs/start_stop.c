/* Functions that may be called before MPI_Init and after MPI_Finalize, what is known in between, and that
 * everything a job leaves to MPI_Finalize is delivered. */
#include "check.h"

int main(int argc, char **argv) {
    int flag = 1, rank, size, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Initialized(&flag);
    if (flag) return 1;
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    if (length <= 0 || (size_t)length != strlen(text)) return 2;
    begin(&argc, &argv, &rank, &size);
    MPI_Initialized(&flag);
    CHECK(flag, "MPI_Initialized");
    MPI_Finalized(&flag);
    CHECK(!flag, "MPI_Finalized");
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (size_t)length == strlen(name), "processor name");
    double t = MPI_Wtime();
    CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0, "time");
    /* Sent and not waited for by the receiver until the last moment. */
    static char large[100000];
    if (size > 1 && rank == 0) {
        fill(large, sizeof large, 8);
        MPI_Request request;
        MPI_Isend(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(large, sizeof large, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(differs(large, sizeof large, 8) < 0, "the last message");
    }
    /* Small messages that go out just before the end arrive. */
    if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int r = 1; rank == 0 && r < size; r++) {
        int who = -1;
        MPI_Recv(&who, 1, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(who == r, "from %d: %d", r, who);
    }
    MPI_Finalize();
    MPI_Finalized(&flag);
    if (!flag) return 3;
    MPI_Initialized(&flag);
    if (!flag) return 4;
    puts("ok");
    return 0;
}
