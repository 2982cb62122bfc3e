/* A file that is cut and made longer again has zeros behind the cut in every rank, also on machines that keep data of files for themselves. Argument: a folder of each rank's machine. */
#include "files.h"

enum { BYTES = 3 * 4096, ROUNDS = 20 };

/* Reads the file, and finds the bytes of the round up to `end`, and zeros behind. */
static void check(MPI_File file, int round, int end) {
    unsigned char got[BYTES];
    MPI_Status status;
    OK(MPI_File_read_at(file, 0, got, BYTES, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == BYTES, "%d bytes", count_of(&status, MPI_BYTE));
    for (int at = 0; at < BYTES; at++) CHECK(got[at] == (at < end ? 1 + round : 0), "round %d: byte %d of %d is %d", round, at, end, got[at]);
}

int main(int argc, char **argv) {
    unsigned char mine[BYTES];
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/cut", argv[1]);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int round = 0; round < ROUNDS; round++) {
        memset(mine, 1 + round, BYTES);
        if (rank == round % size) OK(MPI_File_write_at(file, 0, mine, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_sync(file));
        check(file, round, BYTES);
        int cut = 100 + 517 * round;
        OK(MPI_File_set_size(file, cut));
        if (round % 2)
            OK(MPI_File_set_size(file, BYTES));
        else
            OK(MPI_File_preallocate(file, BYTES));
        check(file, round, cut);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
    return end();
}
