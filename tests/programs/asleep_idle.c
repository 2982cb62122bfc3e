/* A rank that waits for two seconds beside layers that have nothing to do sleeps as long at a time as one without them: a live window
 * and a collective plan that is not started. The sleeps of its threads are counted, whose number is no larger on a busy machine; a
 * sleep lasts ten milliseconds at most, and a few times as many are allowed.
 *
 *   asleep_idle [window]   with one, or without */
#include "check.h"
#include <sys/resource.h>
#include <unistd.h>

static long sleeps(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

int main(int argc, char **argv) {
    int rank, size, value = -1;
    begin(&argc, &argv, &rank, &size);
    MPI_Win window = MPI_WIN_NULL;
    MPI_Request plan = MPI_REQUEST_NULL;
    int memory[16] = {0};
    if (argc > 1) {
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &plan);
        /* It is used, so that everything that it needs is there. */
        MPI_Win_lock_all(0, window);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        long before = sleeps();
        MPI_Recv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        long slept = sleeps() - before;
        CHECK(value == 1, "%d", value);
        CHECK(slept < 1000, "went to sleep %ld times in two seconds", slept);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sleep(2);
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    if (argc > 1) {
        MPI_Request_free(&plan);
        MPI_Win_free(&window);
    }
    return end();
}
