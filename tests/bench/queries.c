/*
 * Asking sync objects, for an instruction count (tests/bench/queries.rs says how).
 *
 *     queries KIND REQUESTS       on one rank; KIND: query, size, probe, take, testall or testsome
 *
 * REQUESTS receives are attached to one sync object; what `counted` does 64 times is all that is counted. With take a
 * message for one of them has come before each query, which hands it out. The first few are not counted: what is built
 * once is not asked for here (functions bound by the loader, the index of a deep queue of receives).
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 64, WARM_UP = 8 };

static int requests, *indices, *data;
static MPI_Request *list;
static MPIX_Sync sync_;

static void fail(const char *what, long value) {
    fprintf(stderr, "queries: %s: %ld\n", what, value);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

__attribute__((noinline)) static long ask(const char *kind) {
    int n = 0;
    if (kind[0] == 's') return MPIX_Sync_size(sync_);
    if (kind[0] == 'p') return MPIX_Sync_probe(sync_);
    if (strcmp(kind, "testall") == 0) {
        MPI_Testall(requests, list, &n, MPI_STATUSES_IGNORE);
        return n;
    }
    if (strcmp(kind, "testsome") == 0) {
        MPI_Testsome(requests, list, &n, indices, MPI_STATUSES_IGNORE);
        return n;
    }
    return (long)MPIX_Sync_query(sync_, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static long counted(const char *kind) {
    long got = ask(kind);
    __asm__ volatile("" ::: "memory"); /* a call, not a jump */
    return got;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) fail("arguments", argc);
    const char *kind = argv[1];
    int tests = strncmp(kind, "test", 4) == 0;
    requests = atoi(argv[2]);
    list = malloc((size_t)requests * sizeof *list);
    indices = malloc((size_t)requests * sizeof *indices);
    data = calloc((size_t)requests, sizeof *data);
    MPIX_Sync_init(&sync_);
    for (int i = 0; i < requests; i++) {
        MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &list[i]);
        if (!tests) MPIX_Sync_attach(sync_, &list[i], (void *)(long)(i + 1));
    }
    /* Room in what is asked for: the last is received again and again. */
    int last = requests - 1;
    for (int time = 0; time < WARM_UP + TIMES; time++) {
        if (strcmp(kind, "take") == 0) MPI_Send(&time, 1, MPI_INT, 0, last, MPI_COMM_SELF);
        long got = time < WARM_UP ? ask(kind) : counted(kind);
        long due = strcmp(kind, "size") == 0 || strcmp(kind, "take") == 0 ? requests : 0;
        if (strcmp(kind, "query") == 0) due = (long)MPIX_SYNC_EMPTY;
        if (got != due) fail(kind, got);
        if (strcmp(kind, "take") == 0) {
            if (data[last] != time) fail("data", data[last]);
            MPI_Irecv(&data[last], 1, MPI_INT, 0, last, MPI_COMM_SELF, &list[last]);
            MPIX_Sync_attach(sync_, &list[last], (void *)(long)(last + 1));
        }
    }
    for (int i = 0; i < requests; i++) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    if (tests) MPI_Waitall(requests, list, MPI_STATUSES_IGNORE);
    else MPIX_Sync_waitall(sync_);
    while (!tests && MPIX_Sync_query(sync_, MPI_STATUS_IGNORE) != MPIX_SYNC_EMPTY) {}
    MPIX_Sync_free(&sync_);
    free(list);
    free(indices);
    free(data);
    printf("ok\n");
    MPI_Finalize();
    return 0;
}
