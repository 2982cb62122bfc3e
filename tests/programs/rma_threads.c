/* Several threads of each rank on one window: atomic operations, locks, puts to places of their own. Arguments: threads (4), turns (100). */
#include "check.h"

#include <pthread.h>

enum { MOST = 256 };
static int rank, size, all = 4, turns = 100;
static MPI_Win win;

static void *work(void *argument) {
    long number = (long)argument, one = 1, value, back, place = 1 + rank * all + number;
    for (long turn = 0; turn < turns; turn++) {
        for (int to = 0; to < size; to++) {
            MPI_Fetch_and_op(&one, &back, MPI_LONG, to, 0, MPI_SUM, win);
            value = 1000 * place + turn;
            MPI_Put(&value, 1, MPI_LONG, to, place, 1, MPI_LONG, win);
            MPI_Win_flush(to, win);
            CHECK(back >= 0 && back < (long)size * all * turns, "%ld", back);
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
    if (argc > 1) all = atoi(argv[1]);
    if (argc > 2) turns = atoi(argv[2]);
    CHECK(all >= 1 && all <= MOST && turns >= 1, "%d threads, %d turns", all, turns);
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    long *mine;
    MPI_Win_allocate((1 + size * all) * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int i = 0; i <= size * all; i++) mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    pthread_t threads[MOST];
    for (long i = 0; i < all; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < all; i++) pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[0] == (long)size * all * turns, "%ld", mine[0]);
    for (long i = 1; i <= size * all; i++) CHECK(mine[i] == 1000 * i + turns - 1, "%ld: %ld", i, mine[i]);
    MPI_Win_free(&win);
    return end();
}
