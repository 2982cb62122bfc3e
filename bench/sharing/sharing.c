/* Sharing between threads of one process on a message's path, by count: the values per message of the library's own
 * counters of its communication resources, in the steady state.
 *
 * Usage: mpirun -n 2 sharing [-t THREADS] [-m MESSAGES] [-w WINDOW] [-1] [-c] [-o]
 *
 * Thread i of one rank sends to thread i of the other with a tag of its own (-1: all with one tag; -c: on a
 * communicator of its own, with a tag for each message of a window), windows of nonblocking messages, each answered by a
 * word, after as many that are not counted. With -o the
 * ranks meet outside MPI (in a file that both map, so on one node) when all have sent and when all have received, and
 * nobody waits in MPI: that is what the messages alone share, without what threads do while they wait. Every performance variable
 * (MPI_T) whose name contains "cri" and whose class is a counter is read before and after, summed over its
 * elements; a library without such variables prints none. One line for each rank and variable:
 * threads, rank, variable, counts per message. All data are checked. */
#define _POSIX_C_SOURCE 200809L
#include "../counters.h"
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

static int rank, threads = 1, window = 64, one_tag, own_comms, outside;
static MPI_Comm comms[MOST_THREADS];
static long messages = 2000;
static pthread_barrier_t all;

static void fail(const char *why) {
    fprintf(stderr, "sharing: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- meeting outside MPI ---- */

static atomic_int *arrived; /* of both ranks, in a file that has no name any more */
static int rounds_met;

static void map_meeting(void) {
    char path[256] = "";
    const char *folder = getenv("TMPDIR");
    int fd = -1;
    if (rank == 0) {
        snprintf(path, sizeof path, "%s/sharing.XXXXXX", folder && *folder ? folder : "/tmp");
        fd = mkstemp(path);
        if (fd < 0 || ftruncate(fd, sizeof *arrived)) fail("no file to meet in");
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0) fd = open(path, O_RDWR);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) fail("the file to meet in cannot be mapped: -o is for ranks of one node");
    arrived = at;
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
}

/* All threads of both ranks. */
static void meet(int me) {
    pthread_barrier_wait(&all);
    if (me == 0) {
        atomic_fetch_add(arrived, 1);
        rounds_met++;
        while (atomic_load(arrived) < 2 * rounds_met) sched_yield();
    }
    pthread_barrier_wait(&all);
}

/* The tag of message `k` of a window. */
static int tag_of(int me, int k) { return one_tag ? 0 : own_comms ? k : me; }

/* All send, then all receive what is there. */
static void phase_outside(int me, long count) {
    int peer = 1 - rank;
    long *words = malloc((size_t)window * sizeof *words);
    MPI_Request *requests = malloc((size_t)window * sizeof *requests);
    if (!words || !requests) fail("no memory");
    for (long at = 0; at < count; at += window) {
        for (int k = 0; k < window && rank == 0; k++) {
            words[k] = one_tag ? at + k : (at + k) * MOST_THREADS + me;
            MPI_Isend(&words[k], 1, MPI_LONG, peer, tag_of(me, k), comms[me], &requests[k]);
        }
        meet(me);
        /* Those sends are over, unless the library had no room for them. */
        if (rank == 0) MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < window && rank == 1; k++) {
            MPI_Recv(&words[k], 1, MPI_LONG, peer, tag_of(me, k), comms[me], MPI_STATUS_IGNORE);
            if (!one_tag && words[k] != (at + k) * MOST_THREADS + me) fail("wrong data");
        }
        meet(me);
    }
    free(words);
    free(requests);
}

static void phase(int me, long count) {
    if (outside) {
        phase_outside(me, count);
        return;
    }
    int peer = 1 - rank;
    long *words = malloc((size_t)window * sizeof *words);
    MPI_Request *requests = malloc((size_t)window * sizeof *requests);
    if (!words || !requests) fail("no memory");
    for (long at = 0; at < count; at += window) {
        for (int k = 0; k < window; k++) {
            words[k] = one_tag ? at + k : (at + k) * MOST_THREADS + me;
            if (rank == 0) MPI_Isend(&words[k], 1, MPI_LONG, peer, tag_of(me, k), comms[me], &requests[k]);
            else MPI_Irecv(&words[k], 1, MPI_LONG, peer, tag_of(me, k), comms[me], &requests[k]);
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < window && rank == 1 && !one_tag; k++)
            if (words[k] != (at + k) * MOST_THREADS + me) fail("wrong data");
        long word = one_tag ? at : at * MOST_THREADS + me, got = word;
        if (rank == 1) MPI_Send(&word, 1, MPI_LONG, peer, tag_of(me, 0), comms[me]);
        else MPI_Recv(&got, 1, MPI_LONG, peer, tag_of(me, 0), comms[me], MPI_STATUS_IGNORE);
        if (!one_tag && got != word) fail("wrong answer");
    }
    free(words);
    free(requests);
}

static void *work(void *argument) {
    int me = (int)(long)argument;
    phase(me, messages);
    pthread_barrier_wait(&all);
    if (me == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        counters_take(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_barrier_wait(&all);
    phase(me, messages);
    pthread_barrier_wait(&all);
    if (me == 0) counters_take(1);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, c, size;
    pthread_t others[MOST_THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((c = getopt(argc, argv, "t:m:w:1co")) != -1) {
        if (c == 't') threads = atoi(optarg);
        else if (c == 'm') messages = atol(optarg);
        else if (c == 'w') window = atoi(optarg);
        else if (c == '1') one_tag = 1;
        else if (c == 'c') own_comms = 1;
        else if (c == 'o') outside = 1;
        else fail("usage: sharing [-t THREADS] [-m MESSAGES] [-w WINDOW] [-1] [-c] [-o]");
    }
    if (size != 2 || provided != MPI_THREAD_MULTIPLE || threads < 1 || threads > MOST_THREADS || window < 1 || messages < window)
        fail("two ranks, MPI_THREAD_MULTIPLE, 1 to 256 threads, a window no larger than the messages");
    messages -= messages % window;
    for (int i = 0; i < threads; i++) {
        if (own_comms) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        else comms[i] = MPI_COMM_WORLD;
    }
    counters_begin();
    counters_find("cri", NULL);
    if (outside) map_meeting();
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, (void *)i)) fail("no thread");
    work((void *)0L);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    /* Each message, and one answer for each window. */
    double done = (double)threads * (double)(messages + (outside ? 0 : messages / window));
    for (int r = 0; r < 2; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; r == rank && i < counters_count; i++)
            printf("threads=%d rank=%d variable=%s value=%.6f verified=1\n", threads, rank, counters[i].name,
                   counters_difference(i) / done);
        fflush(stdout);
    }
    counters_end();
    for (int i = 0; own_comms && i < threads; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
