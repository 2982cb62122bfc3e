/* Locks in turns: a counter goes from rank to rank, and all but the one whose turn it is look at it under exclusive locks, over and over. None of
   them may keep that one out. Argument: turns. */
#include "check.h"

/* The counter's place at a rank that has had it. */
static long read_at(int rank, MPI_Win win) {
    long value;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Get(&value, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(rank, win);
    return value;
}

int main(int argc, char **argv) {
    int rank, size, flag;
    begin(&argc, &argv, &rank, &size);
    const long turns = argc > 1 ? atol(argv[1]) : 100;
    long *mine;
    MPI_Win win;
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    *mine = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Turn t is over when the word of rank t modulo the size says t + 1, which the rank behind it writes. */
    for (long turn = 0; turn < turns; turn++) {
        const int at = turn % size;
        if (rank == (at + 1) % size) {
            const long next = turn + 1;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at, 0, win);
            MPI_Put(&next, 1, MPI_LONG, at, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(at, win);
        } else {
            long seen;
            while ((seen = read_at(at, win)) <= turn) {
                CHECK(seen == 0 || seen == turn + 1 - size, "turn %ld: %ld", turn, seen);
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return end();
}
