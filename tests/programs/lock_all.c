/* Some epochs of lock_all by the last rank, which puts a word to each of the first ranks in each; the others are in a barrier. A caller that counts
 * what that takes compares two jobs of unequal length.
 *
 * usage: lock_all EPOCHS RANKS */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size;
    long *mine, value = 7;
    MPI_Win win;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc == 3, "usage: lock_all EPOCHS RANKS");
    int epochs = atoi(argv[1]), ranks = atoi(argv[2]);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < epochs && rank == size - 1; i++) {
        MPI_Win_lock_all(0, win);
        for (int r = 0; r < ranks; r++) MPI_Put(&value, 1, MPI_LONG, r, 0, 1, MPI_LONG, win);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(*mine == (rank < ranks && rank < size - 1 ? value : 0), "%ld", *mine);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    return end();
}
