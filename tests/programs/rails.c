/* Checked messages both ways while a network is cut: until file 1 is made by rank 0 after ten rounds, until somebody makes file 2, and
 * fifty rounds more. Rounds take turns between messages of 8 B, 64 KiB and 4 MiB, four at a time. */
#include "check.h"

#include <unistd.h>

enum { WIDTH = 4, MOST = 4 << 20, FIRST = 10, LAST = 50 };

static unsigned char out[WIDTH][MOST], in[WIDTH][MOST];

static void exchange_round(int rank, long round) {
    static const int sizes[] = {8, 65536, MOST};
    int bytes = sizes[round % 3];
    MPI_Request requests[2 * WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        fill(out[i], bytes, round * 8 + i * 2 + rank);
        memset(in[i], 0xee, bytes);
        MPI_Irecv(in[i], bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(out[i], bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[WIDTH + i]);
    }
    MPI_Waitall(2 * WIDTH, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WIDTH; i++) {
        long at = differs(in[i], bytes, round * 8 + i * 2 + 1 - rank);
        CHECK(at < 0, "round %ld, message %d of %d bytes, at %ld", round, i, bytes, at);
    }
}

int main(int argc, char **argv) {
    int rank, size, left = LAST;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc == 3 && size == 2, "two files, two ranks");
    for (long round = 0; left > 0; round++) {
        exchange_round(rank, round);
        if (rank == 0 && round == FIRST) {
            FILE *file = fopen(argv[1], "w");
            CHECK(file && fclose(file) == 0, "%s", argv[1]);
        }
        if (rank == 0 && access(argv[2], F_OK) == 0) left--;
        MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return end();
}
