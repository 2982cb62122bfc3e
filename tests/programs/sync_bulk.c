/* A thousand messages, their events taken in bulk: the second example of the proposal of MPIX_Sync, by one
 * thread and then by several that ask the same object. */
#include "check.h"
#include <mpi-ext.h>
#include <pthread.h>

enum { MESSAGES = 1000, BYTES = 10000, MOST = 100, THREADS = 3 };

static MPIX_Sync sync_;
static unsigned char *bufs;
static int rank, came[MESSAGES], taken;

static void start(long seed) {
    MPI_Request request;
    memset(came, 0, sizeof came);
    taken = 0;
    for (long i = 0; i < MESSAGES; i++) {
        unsigned char *buf = bufs + i * BYTES;
        if (rank == 1) {
            fill(buf, 8, seed + i);
            MPI_Isend(buf, BYTES, MPI_BYTE, 0, 42, MPI_COMM_WORLD, &request);
        } else {
            memset(buf, 0, 8);
            MPI_Irecv(buf, BYTES, MPI_BYTE, 1, 42, MPI_COMM_WORLD, &request);
        }
        CHECK(MPIX_Sync_attach(sync_, &request, (void *)i) == MPI_SUCCESS, "attach %ld", i);
    }
}

static void *take(void *seed) {
    void *data[MOST];
    MPI_Status status[MOST];
    int n;
    while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < MESSAGES) {
        MPIX_Sync_query_bulk(MOST, sync_, &n, data, status);
        for (int i = 0; i < n; i++) {
            long which = (long)data[i];
            CHECK(which >= 0 && which < MESSAGES, "data %ld", which);
            CHECK(rank == 1 || differs(bufs + which * BYTES, 8, *(long *)seed + which) < 0, "message %ld", which);
            CHECK(rank == 1 || (status[i].MPI_TAG == 42 && status[i].MPI_ERROR == MPI_SUCCESS), "status %d", i);
            CHECK(__atomic_add_fetch(&came[which], 1, __ATOMIC_RELAXED) == 1, "event %ld twice", which);
        }
        if (n > 0) __atomic_fetch_add(&taken, n, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE, "needs 2 ranks and threads");
    bufs = need((size_t)MESSAGES * BYTES);
    memset(bufs, 0, (size_t)MESSAGES * BYTES);
    MPIX_Sync_init(&sync_);
    long seed = 1;
    start(seed);
    take(&seed);
    pthread_t threads[THREADS];
    seed = 5000;
    start(seed);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, take, &seed);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(MPIX_Sync_size(sync_) == 0 && MPIX_Sync_probe(sync_) == 0, "something is left");
    seed = 9000;
    start(seed);
    CHECK(MPIX_Sync_waitall(sync_) == MPI_SUCCESS, "waitall");
    CHECK(MPIX_Sync_size(sync_) == 0 && MPIX_Sync_probe(sync_) == MESSAGES, "waitall leaves the events");
    take(&seed);
    MPIX_Sync_free(&sync_);
    free(bufs);
    return end();
}
