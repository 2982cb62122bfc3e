/* Pins the threads that measure, each to a core of its own, as the published experiments on threads do.
 *
 * pin_begin, by every rank: counts the threads of all ranks on the node, and gives this rank's their places, behind those of ranks before it.
 * pin_thread, by each thread: moves it to its core, of those that the rank may use. Where a node's ranks may use different cores (mpirun has bound
 * them) each counts in its own. A node with fewer cores than threads pins none and says so in a line; so does one whose kernel refuses. */
#ifndef PIN_H
#define PIN_H

#ifndef _GNU_SOURCE
#error "pin.h needs _GNU_SOURCE in front of all headers"
#endif

#include <mpi.h>
#include <sched.h>
#include <stdio.h>

static cpu_set_t pin_cores;
/* The first place of this rank; -1: nobody is pinned. */
static int pin_first = -1;

/* The core of a place among those that the rank may use. */
static int pin_core(int place) {
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &pin_cores) && place-- == 0) return core;
    return -1;
}

/* All ranks call it; `threads`: of this rank, that measure. */
static inline void pin_begin(const char *program, int threads) {
    MPI_Comm node;
    int rank, before = 0, all, cores, fewest, most, lowest = 0, highest;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Exscan(&threads, &before, 1, MPI_INT, MPI_SUM, node);
    if (rank == 0) before = 0;
    MPI_Allreduce(&threads, &all, 1, MPI_INT, MPI_SUM, node);
    CPU_ZERO(&pin_cores);
    if (sched_getaffinity(0, sizeof pin_cores, &pin_cores) != 0) CPU_ZERO(&pin_cores);
    cores = CPU_COUNT(&pin_cores);
    int first = cores > 0 ? pin_core(0) : -1;
    MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Allreduce(&first, &highest, 1, MPI_INT, MPI_MAX, node);
    /* Ranks of one set count in it together. */
    int together = lowest == highest;
    int needed = together ? all : threads, is_short = cores < needed, any_short;
    MPI_Allreduce(&is_short, &any_short, 1, MPI_INT, MPI_MAX, node);
    MPI_Allreduce(&cores, &fewest, 1, MPI_INT, MPI_MIN, node);
    MPI_Allreduce(&needed, &most, 1, MPI_INT, MPI_MAX, node);
    if (!any_short) pin_first = together ? before : 0;
    else if (rank == 0) fprintf(stderr, "%s: threads are not pinned: %d of them on %d cores\n", program, most, fewest);
    MPI_Comm_free(&node);
}

/* The thread of that number of this rank. */
static inline void pin_thread(const char *program, int thread) {
    if (pin_first < 0) return;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(pin_core(pin_first + thread), &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0) fprintf(stderr, "%s: a thread cannot be pinned\n", program);
}

#endif
