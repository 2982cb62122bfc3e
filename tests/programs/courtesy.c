/* A thread that waits yields, but not to programs that keep its core for long while no rank of the job has it.
 * courtesy LEAST MOST: how often rank 0 may call sched_yield, which is found here and takes two milliseconds of nobody's
 * time. Two ranks, of which waiting threads give their cores away at once. Ours only: when it yields is ours. */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <time.h>

static long yields;

static void pass(long milliseconds) {
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

int sched_yield(void) {
    yields++;
    pass(2);
    return 0;
}

enum { ROUNDS = 40 };

int main(int argc, char **argv) {
    int value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    CHECK(argc == 3, "courtesy LEAST MOST");
    MPI_Barrier(MPI_COMM_WORLD);
    yields = 0;
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
    if (check_rank_ == 0) {
        CHECK(yields >= atol(argv[1]) && yields <= atol(argv[2]), "%ld yields in %d rounds", yields, ROUNDS);
    }
    return end();
}
