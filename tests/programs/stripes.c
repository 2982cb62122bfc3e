/* Long messages and a window between two ranks, with checked bytes; then each rank prints what the first two devices (of libfabric: domains) have carried for it: of
 * messages, and of the window. Argument: the library of the device in software, or the one before libfabric. */
#include "check.h"

#include <dlfcn.h>

/* A put that is lost in part begins anew in the device. */
enum { LONG = 6 << 20, PUT = 1 << 20, ROUNDS = 8, WIDTH = 3 };

typedef unsigned long (*counter_fn)(const char *);

static counter_fn counter;

static void carried(const char *what, unsigned long before[2], int print) {
    unsigned long now[2] = {counter("carried_0"), counter("carried_1")};
    if (print) printf("%s: %lu %lu\n", what, now[0] - before[0], now[1] - before[1]);
    memcpy(before, now, sizeof now);
}

static void messages(int rank) {
    unsigned char *out = need(LONG), *in = need((size_t)LONG * WIDTH);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2 * WIDTH];
        /* A short one behind each long one. */
        static const int sizes[] = {LONG, 16, LONG / 3 + 5};
        fill(out, LONG, round * 2 + rank);
        for (int i = 0; i < WIDTH; i++) {
            unsigned char *to = in + (size_t)i * LONG;
            memset(to, 0xee, sizes[i]);
            MPI_Irecv(to, sizes[i], MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < WIDTH; i++)
            MPI_Isend(out, sizes[i], MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, &requests[WIDTH + i]);
        MPI_Waitall(2 * WIDTH, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WIDTH; i++) {
            long at = differs(in + (size_t)i * LONG, sizes[i], round * 2 + 1 - rank);
            CHECK(at < 0, "round %d, message %d of %d bytes, at %ld", round, i, sizes[i], at);
        }
    }
    free(out);
    free(in);
}

static void window(int rank) {
    unsigned char *memory, *local = need(PUT);
    MPI_Win win;
    MPI_Win_allocate(PUT + 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, PUT + 8);
    for (int round = 0; round < ROUNDS; round++) {
        long one = 1, was = -1;
        fill(local, PUT, 100 + round * 2 + rank);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
        MPI_Put(local, PUT, MPI_BYTE, 1 - rank, 0, PUT, MPI_BYTE, win);
        MPI_Fetch_and_op(&one, &was, MPI_LONG, 1 - rank, PUT, MPI_SUM, win);
        MPI_Win_unlock(1 - rank, win);
        CHECK(was == round, "round %d: the counter was %ld", round, was);
        MPI_Barrier(MPI_COMM_WORLD);
        long at = differs(memory, PUT, 100 + round * 2 + 1 - rank);
        CHECK(at < 0, "round %d: put, at %ld", round, at);
        MPI_Barrier(MPI_COMM_WORLD);
        memset(local, 0, PUT);
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
        MPI_Get(local, PUT, MPI_BYTE, 1 - rank, 0, PUT, MPI_BYTE, win);
        MPI_Win_unlock(1 - rank, win);
        at = differs(local, PUT, 100 + round * 2 + rank);
        CHECK(at < 0, "round %d: get, at %ld", round, at);
    }
    MPI_Win_free(&win);
    free(local);
}

int main(int argc, char **argv) {
    int rank, size;
    unsigned long before[2];
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2 && argc == 2, "two ranks, a library");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    CHECK(library, "%s is not in use", argv[1]);
    counter = (counter_fn)dlsym(library, "oxmpi_fake_verbs_counter");
    if (!counter) counter = (counter_fn)dlsym(library, "oxmpi_ofi_faults_counter");
    CHECK(counter, "it has no counters");
    carried("", before, 0);
    messages(rank);
    carried("messages", before, 1);
    window(rank);
    carried("window", before, 1);
    return end();
}
