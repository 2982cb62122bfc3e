/* Shared by the one-sided programs: an end with a reason, memory, time, data that are checked, threads that work together. */
#ifndef RMA_COMMON_H
#define RMA_COMMON_H

#include "../give_way.h"
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

static int rank, size;

/* Ends the job. */
static void fail(const char *format, ...) {
    va_list args;
    fprintf(stderr, "rank %d: ", rank);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void *need(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) fail("no memory for %zu bytes", bytes);
    return memory;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Initialises for threads, and says who this is. */
static void start_mpi(int *argc, char ***argv) {
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE) fail("the library has no MPI_THREAD_MULTIPLE");
}

/* Runs work(0) here and work(1), ... in threads of their own, and waits for all. */
static void in_threads(int threads, void *(*work)(void *)) {
    pthread_t others[MOST_THREADS];
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, (void *)i)) fail("no thread");
    work((void *)0L);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle value; sorts. */
static inline double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
