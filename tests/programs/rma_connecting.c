/* A rank whose first one-sided operation finds no connection, and whose peer is stopped for a second and a half, leaves its core to others
 * meanwhile: its thread has it for less than half of that time, whatever else the machine does. */
#define _GNU_SOURCE
#include "check.h"
#include "stopped.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* A child that continues the process in a while. */
static pid_t continue_later(int pid) {
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
        usleep(1500000);
        kill(pid, SIGCONT);
        _exit(0);
    }
    return child;
}

int main(int argc, char **argv) {
    int rank, size, pid = getpid(), memory[2] = {0, 0}, value = 7;
    MPI_Win win;
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "%d ranks", size);
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 1) {
        MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        raise(SIGSTOP);
    } else {
        MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wait_for_stop(pid);
        double began = seconds(CLOCK_MONOTONIC), worked = seconds(CLOCK_THREAD_CPUTIME_ID);
        pid_t child = continue_later(pid);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win);
        MPI_Put(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        began = seconds(CLOCK_MONOTONIC) - began;
        worked = seconds(CLOCK_THREAD_CPUTIME_ID) - worked;
        CHECK(began > 1, "the operation took %g s and so had a connection already", began);
        CHECK(worked < began / 2, "the thread had a core for %g of %g s", worked, began);
        waitpid(child, NULL, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        CHECK(memory[1] == 7, "%d", memory[1]);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    return end();
}
