/* Reductions of numbers that are rounded: every rank prints a line with a sum over the bits of all its results, "bits RANK SUM". Where ranks come
 * late in turn, the results are the same. All ranks have the same bits of an allreduce. */
#include "check.h"
#include <sched.h>
#include <stdint.h>

enum { MOST = 40000 };

static uint64_t hash = 1469598103934665603u;

static void take(const double *numbers, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
}

/* Numbers whose sums depend on the order in which they are added. */
static double number(int rank, int i) {
    static const double scales[] = {1e-9, 1.0, 1e7, 3e3, 1e-3};
    return (double)(byte_of(rank, i) + 1) * scales[(rank + i) % 5] / 3.0;
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 7, 500, 3000, MOST};
    static double in[MOST], out[MOST], other[MOST];
    int rank, size, blocks[64];
    begin(&argc, &argv, &rank, &size);
    CHECK(size <= 64, "more ranks than room");
    for (int turn = 0; turn < 15; turn++) {
        int count = counts[turn % 5], root = turn % size;
        for (int i = 0; i < count; i++) in[i] = number(rank, i + turn);
        /* Another one comes last in each turn. */
        for (int i = 0; rank == root && i < 50; i++) sched_yield();
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        take(out, count);
        memcpy(other, out, sizeof *out * (size_t)count);
        MPI_Bcast(other, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK(memcmp(other, out, sizeof *out * (size_t)count) == 0, "an allreduce of %d differs from that of rank 0", count);
        MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        if (rank == root) take(out, count);
        MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        take(out, count);
        MPI_Reduce_scatter_block(in, out, count / size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        take(out, count / size);
        for (int r = 0; r < size; r++) blocks[r] = r % 2 ? 0 : count / size;
        MPI_Reduce_scatter(in, out, blocks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        take(out, blocks[rank]);
    }
    printf("bits %d %016llx\n", rank, (unsigned long long)hash);
    fflush(stdout);
    return end();
}
