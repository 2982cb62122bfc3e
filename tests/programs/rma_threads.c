/* Several threads of each rank on one window: atomic operations, locks, puts to places of their own. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, TURNS = 100 };
static int rank, size;
static MPI_Win win;

static void *work(void *argument) {
    long number = (long)argument, one = 1, value, back, place = 1 + rank * THREADS + number;
    for (long turn = 0; turn < TURNS; turn++) {
        for (int to = 0; to < size; to++) {
            MPI_Fetch_and_op(&one, &back, MPI_LONG, to, 0, MPI_SUM, win);
            value = 1000 * place + turn;
            MPI_Put(&value, 1, MPI_LONG, to, place, 1, MPI_LONG, win);
            MPI_Win_flush(to, win);
            CHECK(back >= 0 && back < (long)size * THREADS * TURNS, "%ld", back);
            MPI_Request request;
            MPI_Rget(&back, 1, MPI_LONG, to, place, 1, MPI_LONG, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(back == value, "thread %ld, turn %ld: %ld", number, turn, back);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    long *mine;
    MPI_Win_allocate((1 + size * THREADS) * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int i = 0; i <= size * THREADS; i++) mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[0] == (long)size * THREADS * TURNS, "%ld", mine[0]);
    for (long i = 1; i <= size * THREADS; i++) CHECK(mine[i] == 1000 * i + TURNS - 1, "%ld: %ld", i, mine[i]);
    MPI_Win_free(&win);
    return end();
}
