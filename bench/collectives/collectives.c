/* Each collective at several lengths: collectives SECONDS [REGEX]
 * Prints for every "name bytes" that matches REGEX (all) the microseconds of a call, on rank 0. A line is measured in batches of a fraction of a millisecond (of
 * two with more than two ranks), SECONDS worth of them, each between two barriers; the time is that of the batch that is slower than one in twenty, so other
 * programs that take a core now and then are not in it. Any MPI library. */
#include <mpi.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS_BEFORE = 110, TRIES = 12 };

static int me, ranks, *counts, *displs;
static char *out, *in;

#define COLLECTIVE(name, call) \
    static void name(int bytes, long nth) { \
        int count = bytes / (int)sizeof(double), turn = (int)(nth % ranks); \
        (void)count, (void)turn; \
        call; \
    }

#define WORLD MPI_COMM_WORLD
COLLECTIVE(barrier, MPI_Barrier(WORLD))
COLLECTIVE(bcast, MPI_Bcast(out, bytes, MPI_BYTE, 0, WORLD))
COLLECTIVE(bcast_in_turn, MPI_Bcast(out, bytes, MPI_BYTE, turn, WORLD))
COLLECTIVE(reduce, MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, WORLD))
COLLECTIVE(allreduce, MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, WORLD))
COLLECTIVE(gather, MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD))
COLLECTIVE(gatherv, MPI_Gatherv(out, bytes, MPI_BYTE, in, counts, displs, MPI_BYTE, 0, WORLD))
COLLECTIVE(scatter, MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD))
COLLECTIVE(scatterv, MPI_Scatterv(out, counts, displs, MPI_BYTE, in, bytes, MPI_BYTE, 0, WORLD))
COLLECTIVE(allgather, MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, WORLD))
COLLECTIVE(alltoall, MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, WORLD))
COLLECTIVE(alltoallv, MPI_Alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, WORLD))
COLLECTIVE(reduce_scatter, MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, WORLD))
COLLECTIVE(scan, MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, WORLD))

/* A communicator that is made for one call. */
static void dup_barrier(int bytes, long nth) {
    MPI_Comm twin;
    (void)bytes, (void)nth;
    MPI_Comm_dup(WORLD, &twin);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
}

static const struct {
    const char *name;
    void (*call)(int, long);
    int has_data;
} all[] = {
    {"barrier", barrier, 0},     {"bcast", bcast, 1},         {"bcast_in_turn", bcast_in_turn, 1},
    {"reduce", reduce, 1},       {"allreduce", allreduce, 1}, {"gather", gather, 1},
    {"gatherv", gatherv, 1},     {"scatter", scatter, 1},     {"scatterv", scatterv, 1},
    {"allgather", allgather, 1}, {"alltoall", alltoall, 1},   {"alltoallv", alltoallv, 1},
    {"scan", scan, 1},           {"dup_barrier", dup_barrier, 0}, {"reduce_scatter", reduce_scatter, 1},
};

static double batch(void (*call)(int, long), int bytes, long calls) {
    MPI_Barrier(WORLD);
    double began = MPI_Wtime();
    for (long nth = 0; nth < calls; nth++) call(bytes, nth);
    MPI_Barrier(WORLD);
    return MPI_Wtime() - began;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double seconds_of_a_call(void (*call)(int, long), int bytes, double seconds) {
    double aim = ranks > 2 ? 2e-3 : 250e-6;
    int batches = (int)(seconds / aim) + 20;
    long calls = 1;
    for (long nth = 0; nth < CALLS_BEFORE; nth++) call(bytes, nth);
    for (int tried = 0; tried < TRIES; tried++) {
        double best = 1e9;
        for (int nth = 0; nth < TRIES; nth++) {
            double took = batch(call, bytes, calls);
            if (took < best) best = took;
        }
        MPI_Bcast(&best, 1, MPI_DOUBLE, 0, WORLD);
        if (best > aim * 0.6) break;
        long wanted = (long)((double)calls * aim / best);
        calls = wanted > 4 * calls ? 4 * calls : wanted <= calls ? calls + 1 : wanted;
    }
    double *took = malloc(sizeof *took * (size_t)batches);
    for (int nth = 0; nth < batches; nth++) took[nth] = batch(call, bytes, calls);
    qsort(took, (size_t)batches, sizeof *took, by_size);
    double result = took[batches / 20] / (double)calls;
    free(took);
    return result;
}

int main(int argc, char **argv) {
    static const int lengths[] = {8, 64, 1024, 4096, 16384, 65536, 1 << 20};
    regex_t wanted;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &me);
    MPI_Comm_size(WORLD, &ranks);
    if (argc < 2 || regcomp(&wanted, argc > 2 ? argv[2] : ".", REG_EXTENDED | REG_NOSUB)) return 2;
    out = calloc((size_t)ranks, 1 << 20);
    in = calloc((size_t)ranks, 1 << 20);
    counts = malloc(sizeof *counts * (size_t)ranks);
    displs = malloc(sizeof *displs * (size_t)ranks);
    for (size_t at = 0; at < sizeof all / sizeof *all; at++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths && (l == 0 || all[at].has_data); l++) {
            char line[64];
            snprintf(line, sizeof line, "%s %d", all[at].name, all[at].has_data ? lengths[l] : 0);
            if (regexec(&wanted, line, 0, NULL, 0)) continue;
            for (int r = 0; r < ranks; r++) {
                counts[r] = lengths[l];
                displs[r] = r * lengths[l];
            }
            double took = seconds_of_a_call(all[at].call, lengths[l], atof(argv[1]));
            if (me == 0) printf("%s %.3f\n", line, took * 1e6);
        }
    regfree(&wanted);
    MPI_Finalize();
    return 0;
}
