/* A nonblocking collective access returns though another rank has not called it, and ends when that has. Argument: a folder. */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size, word = 0;
    char path[4096];
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/alone", argv[1]);
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    int mine[1000], got[1000];
    for (int i = 0; i < 1000; i++) mine[i] = rank * 1000 + i;
    CHECK(!MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
          "not opened");
    /* The last rank calls only when it has heard from all others behind their calls. */
    MPI_Offset at = (MPI_Offset)sizeof mine * rank;
    if (rank < size - 1) {
        MPI_File_iwrite_at_all(file, at, mine, 1000, MPI_INT, &request);
        MPI_Send(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    } else {
        for (int i = 0; i < size - 1; i++) MPI_Recv(&word, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_File_iwrite_at_all(file, at, mine, 1000, MPI_INT, &request);
    }
    CHECK(!MPI_Wait(&request, &status), "not written");
    CHECK(!MPI_File_read_at_all(file, at, got, 1000, MPI_INT, &status), "not read");
    CHECK(!memcmp(got, mine, sizeof mine), "other data");
    CHECK(!MPI_File_close(&file), "not closed");
    return end();
}
