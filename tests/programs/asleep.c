/* Threads here wait so long that they go to sleep: one thread, and two at once; for messages short and long, for memory that
 * ranks share, and in a collective. For tools that watch a program and see the system with other eyes. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { LONG = 1 << 20, ROUNDS = 3 };
static int rank;

static void nap(void) { usleep(200 * 1000); }

/* The last rank sends when the first is asleep. */
static void exchange(int tag, long bytes) {
    char *at = need(bytes);
    if (rank == 1) {
        nap();
        fill(at, bytes, tag);
        MPI_Send(at, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(at, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(differs(at, bytes, tag) < 0, "%ld bytes of tag %d", bytes, tag);
    }
    free(at);
}

static void *all(void *first) {
    for (int round = 0; round < ROUNDS; round++) {
        exchange(*(int *)first, 8);
        exchange(*(int *)first + 1, LONG);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, tags[] = {0, 2}, *shared;
    pthread_t thread;
    MPI_Win window;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank_ = rank;
    all(&tags[0]);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_create(&thread, NULL, all, &tags[1]);
        all(&tags[0]);
        pthread_join(thread, NULL);
    }
    MPI_Win_allocate_shared(sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    *shared = 40 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Aint bytes;
    int unit, *of_first;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &of_first);
    CHECK(*of_first == 40, "%d in the first rank's memory", *of_first);
    MPI_Win_free(&window);
    if (rank == 1) nap();
    int sum, one = 1, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "%d of %d", sum, size);
    return end();
}
