/* A rank that waits long sleeps, and is woken by whichever transport brings something: the first rank receives from each other rank in turn,
 * which computes nothing for two seconds before it sends. The cost of the wait is processor time of all threads of the process, so it
 * is the same on a busy machine; a hundredth of a core is allowed.
 *
 *   idle THREADS    as many the process of the first rank has, the library's and its own */
#include "check.h"
#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + 1e-9 * at.tv_nsec;
}

static int threads(void) {
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks, "/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks));) n += task->d_name[0] != '.';
    closedir(tasks);
    return n;
}

int main(int argc, char **argv) {
    int rank, size, value = -1;
    begin(&argc, &argv, &rank, &size);
    /* First contact costs something and is not what is looked at. */
    int token = rank, sum;
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int from = 1; from < size; from++) {
        if (rank == from) {
            MPI_Send(&from, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sleep(2);
            MPI_Send(&from, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            double cost = used(), began = now();
            MPI_Send(&value, 1, MPI_INT, from, 3, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            double took = now() - began;
            cost = used() - cost;
            CHECK(value == from && took >= 2, "%d of %d after %g s", value, from, took);
            CHECK(cost < 0.01 * took, "%.1f ms of processor time while waiting %.3f s for rank %d", 1e3 * cost, took, from);
        }
    }
    if (rank == 0) {
        int wanted = argc > 1 ? atoi(argv[1]) : 1;
        CHECK(threads() == wanted, "%d threads, not %d", threads(), wanted);
    }
    return end();
}
