/* One rank cannot map the memory that the ranks of a communicator would share for their collectives, since it may have no further descriptor: all ranks go on
 * with what is below. Argument: the rank. */
#include "check.h"
#include <sys/resource.h>

static void collectives(MPI_Comm comm, int rank, int size) {
    for (int round = 0; round < 6; round++) {
        long own = rank + round, sum = -1, all[16];
        int counts[16], places[16], total = 0, root = round % size;
        MPI_Barrier(comm);
        MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, comm);
        CHECK(sum == (long)size * (size - 1) / 2 + (long)size * round, "sum %ld", sum);
        MPI_Bcast(&sum, 1, MPI_LONG, root, comm);
        MPI_Allgather(&own, 1, MPI_LONG, all, 1, MPI_LONG, comm);
        for (int r = 0; r < size; r++) {
            CHECK(all[r] == r + round, "block of %d: %ld", r, all[r]);
            counts[r] = r == root ? 0 : 1;
            places[r] = total;
            total += counts[r];
        }
        MPI_Allgatherv(&own, counts[rank], MPI_LONG, all, counts, places, MPI_LONG, comm);
        for (int r = 0; r < size; r++)
            CHECK(counts[r] == 0 || all[places[r]] == r + round, "block of %d: %ld", r, all[places[r]]);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    struct rlimit limit, none;
    MPI_Comm dup;
    begin(&argc, &argv, &rank, &size);
    CHECK(argc > 1 && size <= 16, "which rank");
    /* Connections are made here. */
    collectives(MPI_COMM_WORLD, rank, size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "limit");
    none = limit;
    none.rlim_cur = 0;
    if (rank == atoi(argv[1])) CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "no descriptors");
    collectives(dup, rank, size);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "descriptors again");
    MPI_Comm_free(&dup);
    return end();
}
