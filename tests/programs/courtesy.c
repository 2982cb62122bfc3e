/* A thread that waits yields, but not to programs that keep its core for long while no rank of the job has it.
 * courtesy LEAST MOST: how often rank 0 may call sched_yield, which is found here and takes two milliseconds, in which
 * children that are no ranks have the cores. Two ranks, of which waiting threads give their cores away at once. Ours
 * only: when it yields is ours. Where most of these milliseconds are tens, the library tells nothing of its yields from
 * each other, and the number is not looked at. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CHILDREN = 256 };

static long yields, late;
static pid_t children[MOST_CHILDREN];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* One child for each core, which computes until it is killed or we end. */
static int occupy_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = cores < MOST_CHILDREN ? (int)cores : MOST_CHILDREN;
    for (int i = 0; i < n; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0, "fork of %d", i);
        if (children[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (volatile unsigned long k = 0;; k++) {
            }
        }
    }
    return n;
}

static void pass(long milliseconds) {
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

int sched_yield(void) {
    double begin = now();
    yields++;
    pass(2);
    late += now() - begin > 0.02;
    return 0;
}

enum { ROUNDS = 40 };

int main(int argc, char **argv) {
    int value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    CHECK(argc == 3, "courtesy LEAST MOST");
    int n = check_rank_ == 0 ? occupy_cores() : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    yields = late = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (check_rank_ == 0) {
            value = -1;
            MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == i, "round %d brought %d", i, value);
        } else {
            pass(20);
            MPI_Send(&i, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        }
    }
    long made = yields;
    for (int i = 0; i < n; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    if (check_rank_ == 0 && late * 4 > made) {
        printf("left out: %ld of %ld yields took over 20 ms on a busy machine\n", late, made);
    } else if (check_rank_ == 0) {
        CHECK(made >= atol(argv[1]) && made <= atol(argv[2]), "%ld yields in %d rounds", made, ROUNDS);
    }
    return end();
}
