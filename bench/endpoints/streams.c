/* Latency, rate and overlap of several streams between two processes: one for each thread on MPI_COMM_WORLD, or one for each endpoint.
 *
 *   streams latency|rate|overlap [-w WORKERS] [-b BYTES] [-k ROUNDS] [-e] [-s]
 *
 * Two processes (more for streams of processes: the first half sends to the second). -e: a worker has an endpoint; otherwise they share
 * MPI_COMM_WORLD. -s: buffers of MPI_Alloc_mem, which proxies use where they are; otherwise of malloc. Data is checked.
 *
 * latency: half a round trip. rate: windows of 64 nonblocking messages in one direction, with an answer for each window. overlap: an exchange of
 * one message in both directions while the worker computes as long as the exchange alone takes: the part of the exchange that
 * cost no time. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { MOST = 16, WINDOW = 64 };

static int workers = 1, bytes = 8, rounds = 1000, endpoints, shared, rank, size, partner;
static const char *what;
static MPI_Comm comms[MOST];
static double results[MOST];
static pthread_barrier_t together;

static void fail(const char *why) {
    fprintf(stderr, "streams: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static char *buffer(size_t length) {
    char *at = NULL;
    if (shared) MPI_Alloc_mem(length, MPI_INFO_NULL, &at);
    else at = malloc(length);
    if (!at) fail("no memory");
    memset(at, 0, length);
    return at;
}

static void give_back(char *at) {
    if (shared) MPI_Free_mem(at);
    else free(at);
}

static void is(const char *at, int value) {
    if (bytes && (at[0] != (char)value || at[bytes - 1] != (char)value)) fail("wrong data came");
}

static double latency(MPI_Comm comm, int peer, int tag, int sends) {
    char *at = buffer(bytes + 1);
    double began = 0;
    for (int i = -10; i < rounds; i++) {
        if (i == 0) began = MPI_Wtime();
        if (sends) {
            memset(at, i, bytes);
            MPI_Send(at, bytes, MPI_BYTE, peer, tag, comm);
            MPI_Recv(at, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE), is(at, i + 1);
        } else {
            MPI_Recv(at, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE), is(at, i);
            memset(at, i + 1, bytes);
            MPI_Send(at, bytes, MPI_BYTE, peer, tag, comm);
        }
    }
    give_back(at);
    return (MPI_Wtime() - began) / rounds / 2;
}

static double rate(MPI_Comm comm, int peer, int tag, int sends) {
    char *at = buffer((size_t)bytes * WINDOW + 1), answer = 0;
    MPI_Request requests[WINDOW];
    double began = 0;
    for (int i = -2; i < rounds; i++) {
        if (i == 0) began = MPI_Wtime();
        if (sends) memset(at, i, (size_t)bytes * WINDOW);
        for (int k = 0; k < WINDOW; k++) {
            char *one = at + (size_t)k * bytes;
            if (sends) MPI_Isend(one, bytes, MPI_BYTE, peer, tag, comm, &requests[k]);
            else MPI_Irecv(one, bytes, MPI_BYTE, peer, tag, comm, &requests[k]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < WINDOW && !sends; k++) is(at + (size_t)k * bytes, i);
        if (sends) MPI_Recv(&answer, 1, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
        else MPI_Send(&answer, 1, MPI_BYTE, peer, tag, comm);
    }
    double took = MPI_Wtime() - began;
    give_back(at);
    return (double)rounds * WINDOW / took;
}

/* Turns of a loop that nothing can shorten. */
static void compute(long turns) {
    for (volatile long i = 0; i < turns;) i = i + 1;
}

static double exchanges(MPI_Comm comm, int peer, int tag, char *in, char *out, long turns) {
    MPI_Request requests[2];
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        memset(out, i, bytes);
        MPI_Irecv(in, bytes, MPI_BYTE, peer, tag, comm, &requests[0]);
        MPI_Isend(out, bytes, MPI_BYTE, peer, tag, comm, &requests[1]);
        compute(turns);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        is(in, i);
    }
    return (MPI_Wtime() - began) / rounds;
}

static double overlap(MPI_Comm comm, int peer, int tag) {
    char *in = buffer(bytes + 1), *out = buffer(bytes + 1);
    double alone = exchanges(comm, peer, tag, in, out, 0), began = MPI_Wtime();
    compute(1000000);
    long turns = (long)(alone / (MPI_Wtime() - began) * 1e6);
    began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) compute(turns);
    double computing = (MPI_Wtime() - began) / rounds, both = exchanges(comm, peer, tag, in, out, turns);
    double hidden = (alone + computing - both) / (alone < computing ? alone : computing);
    give_back(in), give_back(out);
    return hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
}

static void *worker(void *argument) {
    int me = (int)(intptr_t)argument, peer = endpoints ? partner * workers + me : partner, sends = rank < partner;
    pthread_barrier_wait(&together);
    if (!strcmp(what, "latency")) results[me] = latency(comms[me], peer, me, sends);
    else if (!strcmp(what, "rate")) results[me] = rate(comms[me], peer, me, sends);
    else results[me] = overlap(comms[me], peer, me);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "latency") && strcmp(what, "rate") && strcmp(what, "overlap")) fail("usage: streams latency|rate|overlap [options]");
    for (int i = 2; i < argc; i++) {
        int *to = NULL;
        if (!strcmp(argv[i], "-e")) endpoints = 1;
        else if (!strcmp(argv[i], "-s")) shared = 1;
        else if (!strcmp(argv[i], "-w")) to = &workers;
        else if (!strcmp(argv[i], "-b")) to = &bytes;
        else if (!strcmp(argv[i], "-k")) to = &rounds;
        else fail("an unknown option");
        if (to && ++i == argc) fail("a number is missing");
        if (to) *to = atoi(argv[i]);
    }
    if (size % 2 || workers < 1 || workers > MOST || bytes < 0 || rounds < 1) fail("a number is out of range");
    if (workers > 1 && provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
    partner = (rank + size / 2) % size;
    for (int i = 0; i < workers; i++) comms[i] = MPI_COMM_WORLD;
#ifdef MPIX_HAVE_ENDPOINTS
    if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, workers, MPI_INFO_NULL, comms);
#else
    if (endpoints) fail("this MPI has no endpoints (mpi-ext.h)");
#endif
    pthread_barrier_init(&together, NULL, workers);
    pthread_t others[MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    for (intptr_t i = 1; i < workers; i++) pthread_create(&others[i], NULL, worker, (void *)i);
    worker(NULL);
    for (int i = 1; i < workers; i++) pthread_join(others[i], NULL);
    double mine = 0, all = 0;
    for (int i = 0; i < workers; i++) mine += results[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int streams = workers * size;
    if (rank == 0) {
        printf("%s %s, %d streams, %d bytes, %s buffers: ", what, endpoints ? "endpoints" : workers > 1 ? "threads" : "processes", streams / 2, bytes,
               shared ? "shared" : "private");
        if (!strcmp(what, "latency")) printf("%.2f us\n", all / streams * 1e6);
        else if (!strcmp(what, "rate")) printf("%.0f messages/s, %.1f MB/s\n", all / 2, all / 2 * bytes / 1e6);
        else printf("%.0f %% hidden\n", all / streams * 100);
        /* For the driver. */
        double value = !strcmp(what, "latency") ? all / streams * 1e6 : all / 2;
        double seconds = !strcmp(what, "latency") ? value * 2e-6 * rounds : (double)rounds * WINDOW * streams / 2 / value;
        if (strcmp(what, "overlap")) printf("value=%.9g seconds=%.9g verified=1\n", value, seconds);
    }
    for (int i = 0; i < workers && endpoints; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
