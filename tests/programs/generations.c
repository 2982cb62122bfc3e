/* Threads that come and go: many in all, few at a time, each with a partner of the same number in the other
   rank. What a thread began and did not wait for, its rank ends after it, whatever resources it used.
   Usage: generations [THREADS [AT ONCE]] */
#include "check.h"
#include <pthread.h>

enum { LONG_BYTES = 60000, MOST = 64, ALL = 2000 };

static int rank, peer, threads, at_once;
static MPI_Request left[ALL];
static char *kept[ALL];

static void exchange(int n, int bytes) {
    char *out = need(bytes), *in = need(bytes);
    MPI_Status status;
    fill(out, bytes, n * 2 + rank);
    MPI_Request request;
    MPI_Irecv(in, bytes, MPI_BYTE, peer, n, MPI_COMM_WORLD, &request);
    MPI_Send(out, bytes, MPI_BYTE, peer, n, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK(differs(in, bytes, n * 2 + 1 - rank) < 0 && status.MPI_TAG == n, "thread %d: %d bytes", n, bytes);
    free(out);
    free(in);
}

static void *run(void *argument) {
    int n = (int)(long)argument;
    exchange(n, 8);
    exchange(n, n % 10 == 0 ? LONG_BYTES : 300);
    /* Left to the others: a long message, which needs its receiver's answer. */
    kept[n] = need(LONG_BYTES);
    fill(kept[n], LONG_BYTES, n);
    MPI_Isend(kept[n], LONG_BYTES, MPI_BYTE, peer, ALL + n % 3, MPI_COMM_WORLD, &left[n]);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = argc > 1 ? atoi(argv[1]) : 300;
    at_once = argc > 2 ? atoi(argv[2]) : 4;
    CHECK(provided == MPI_THREAD_MULTIPLE && size == 2, "two ranks at MPI_THREAD_MULTIPLE");
    CHECK(threads > 0 && threads <= ALL && at_once > 0 && at_once <= MOST, "usage");
    peer = 1 - rank;
    /* A window of threads, the oldest of which ends before the next begins. */
    pthread_t alive[MOST];
    for (long n = 0; n < threads + at_once; n++) {
        if (n >= at_once) pthread_join(alive[n % at_once], NULL);
        if (n < threads) CHECK(!pthread_create(&alive[n % at_once], NULL, run, (void *)n), "no thread");
    }
    /* The numbers of one tag are those of threads in turn, at most as far apart as threads live at once. */
    char *in = need(LONG_BYTES), *seen = need(threads);
    memset(seen, 0, threads);
    for (int n = 0; n < threads; n++) {
        MPI_Status status;
        MPI_Recv(in, LONG_BYTES, MPI_BYTE, MPI_ANY_SOURCE, ALL + n % 3, MPI_COMM_WORLD, &status);
        int who;
        for (who = 0; who < threads; who++)
            if (!seen[who] && who % 3 == n % 3 && differs(in, LONG_BYTES, who) < 0) break;
        CHECK(who < threads, "message %d is of no thread that had not sent", n);
        if (who < threads) seen[who] = 1;
        CHECK(abs(who - n) <= 3 * at_once, "message %d is that of thread %d", n, who);
    }
    MPI_Waitall(threads, left, MPI_STATUSES_IGNORE);
    for (int n = 0; n < threads; n++) free(kept[n]);
    free(in);
    free(seen);
    return end();
}
