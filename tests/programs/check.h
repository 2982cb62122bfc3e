/* Definitions that the test programs share. A failed check ends the whole job with a sentence. */
#ifndef CHECK_H
#define CHECK_H

#include "forms.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank_ = -1;
/* Messages that were compared with what was sent. */
static atomic_long check_messages_;

#define CHECK(condition, ...)                                                          \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: rank %d: not so: %s: ", __FILE__, __LINE__,        \
                    check_rank_, #condition);                                          \
            fprintf(stderr, __VA_ARGS__);                                              \
            fputc('\n', stderr);                                                       \
            fflush(stderr);                                                            \
            MPI_Abort(MPI_COMM_WORLD, 99);                                             \
        }                                                                              \
    } while (0)

/* A byte that depends on everything that may be mixed up. */
static inline unsigned char byte_of(long seed, long at) {
    unsigned long x = (unsigned long)seed * 0x9E3779B97F4A7C15ul + (unsigned long)at * 0xBF58476D1CE4E5B9ul;
    return (unsigned char)(x >> 56 ^ x >> 24);
}

static inline void fill(void *to, long bytes, long seed) {
    for (long i = 0; i < bytes; i++) ((unsigned char *)to)[i] = byte_of(seed, i);
}

/* Index of the first byte that differs, or -1. */
static inline long differs(const void *in, long bytes, long seed) {
    for (long i = 0; i < bytes; i++)
        if (((const unsigned char *)in)[i] != byte_of(seed, i)) return i;
    return -1;
}

static inline void *need(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    CHECK(memory != NULL, "no memory for %zu bytes", bytes);
    return memory;
}

static inline void begin(int *argc, char ***argv, int *rank, int *size) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    check_rank_ = *rank;
}

/* Every rank says "ok" when it has passed, and, where CHECK_COUNT is set, how many messages it looked at. */
static inline int end(void) {
    MPI_Finalize();
    puts("ok");
    if (getenv("CHECK_COUNT")) printf("checked %ld\n", atomic_load(&check_messages_));
    return 0;
}

#endif
