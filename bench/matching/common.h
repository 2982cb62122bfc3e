/* Definitions that the matching benchmarks share. */
#ifndef MATCHING_COMMON_H
#define MATCHING_COMMON_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank_;

/* Ends the job with a sentence. */
static inline void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "rank %d: ", world_rank_);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static inline void *need(size_t bytes) {
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) fail("no memory for %zu bytes", bytes);
    return memory;
}

/* A duplicate of the world whose matching engine is the one named. Libraries that do not know the
 * info key give their own; "-" asks for no engine. */
static inline MPI_Comm engine_comm(const char *engine) {
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    if (strcmp(engine, "-") != 0) MPI_Info_set(info, "oxmpi_matching", engine);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

enum { MAX_ENGINES = 16 };

/* Splits a list at its commas, in place. */
static inline int split(char *list, char **names) {
    int n = 0;
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (n == MAX_ENGINES) fail("more than %d engines", MAX_ENGINES);
        names[n++] = name;
    }
    return n;
}

/* As large as the caches, or larger: walking over it leaves nothing else in them. */
static unsigned char *sweep_;
static size_t sweep_bytes_;
static inline void cold(void) {
    for (size_t i = 0; i < sweep_bytes_; i += 64) sweep_[i]++;
}

static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static inline double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

#endif
