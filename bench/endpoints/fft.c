/* One-dimensional FFT with one exchange: the low-communication transform of the endpoints paper's benchmark, and its groups.
 *
 *   fft [-n LOG2] [-b BATCH] [-t THREADS] [-g GROUPS] [-k ROUNDS] [-e | -m]
 *
 * The 2^LOG2 points of each of BATCH transforms are dealt to the processes in turn (process r has points r, r + P, ...). Each process
 * transforms what it has; one exchange gives process q its part of the frequencies of all; P points are transformed for each of
 * those, and the process has every M-th frequency (M points of each process) from its part on. Three transposes of a transform in
 * natural order are one, since neither input nor output is put in order.
 *
 * The processes are divided into GROUPS groups, and thread i of a process exchanges with the processes of group i. -e: every such
 * thread has an endpoint; thread i sends to the endpoint, of each process in group i, that exchanges with the sender's group. -m:
 * the threads share MPI_COMM_WORLD. Otherwise the first thread exchanges with everybody.
 *
 * Frequencies are compared with those of a direct sum. Prints microseconds for a transform and for its exchange, and the
 * bandwidth at which a process sends to the others (MB/s). */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

typedef double complex point;

enum { MOST = 64 };

static int log2n = 10, batch = 1, threads = 1, groups = 1, rounds = 10, endpoints, shared;
static int rank, size;
/* Points of a process, and frequencies of its part. */
static long own, part;
static point *a, *out, *in, *turns;
static MPI_Comm comms[MOST];
static pthread_barrier_t together;
static double exchanged[MOST], total;

static void fail(const char *why) {
    fprintf(stderr, "fft: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* In place, of a power of two points. */
static void fft(point *x, long n) {
    for (long i = 1, j = 0; i < n; i++) {
        long bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            point swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
    }
    for (long half = 1; half < n; half *= 2)
        for (long k = 0; k < half; k++) {
            point turn = cexp(-I * M_PI * k / half);
            for (long i = k; i < n; i += 2 * half) {
                point odd = x[i + half] * turn;
                x[i + half] = x[i] - odd;
                x[i] += odd;
            }
        }
}

static point input(int transform, long at) {
    uint64_t seed = ((uint64_t)transform << 32 ^ (uint64_t)at) * 0x9E3779B97F4A7C15u;
    seed = (seed ^ seed >> 29) * 0xBF58476D1CE4E5B9u;
    return (int32_t)(seed >> 32) / 2147483648.0 + (int32_t)seed / 2147483648.0 * I;
}

static int group_of(int process) { return process % groups; }

/* Part q of the frequencies of all transforms goes to process q, and part `rank` comes from it. */
static void exchange(int me) {
    double began = MPI_Wtime();
    int talks = endpoints || shared, n = 0;
    MPI_Comm comm = talks ? comms[me] : MPI_COMM_WORLD;
    MPI_Request *requests = malloc(2 * size * sizeof *requests);
    size_t block = (size_t)part * batch;
    for (int d = 0; d < size; d++) {
        int from = (rank + size - d) % size;
        if (talks && group_of(from) != me) continue;
        int peer = endpoints ? from * groups + group_of(rank) : from;
        MPI_Irecv(in + from * block, (int)block, MPI_C_DOUBLE_COMPLEX, peer, 1, comm, &requests[n++]);
    }
    for (int d = 0; d < size; d++) {
        int to = (rank + d) % size;
        if (talks && group_of(to) != me) continue;
        for (int b = 0; b < batch; b++)
            memcpy(out + to * block + (size_t)b * part, a + b * own + to * part, part * sizeof(point));
        int peer = endpoints ? to * groups + group_of(rank) : to;
        MPI_Isend(out + to * block, (int)block, MPI_C_DOUBLE_COMPLEX, peer, 1, comm, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
    exchanged[me] += MPI_Wtime() - began;
}

static void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    point *column = malloc(size * sizeof *column);
    for (int round = -1; round < rounds; round++) {
        for (int b = me; b < batch; b += threads)
            for (long j = 0; j < own; j++) a[b * own + j] = input(b, j * size + rank);
        if (pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD) MPI_Barrier(MPI_COMM_WORLD);
        pthread_barrier_wait(&together);
        double began = MPI_Wtime();
        if (round == 0) exchanged[me] = 0;
        for (int b = me; b < batch; b += threads) {
            fft(a + b * own, own);
            for (long k = 0; k < own; k++) a[b * own + k] *= turns[k];
        }
        pthread_barrier_wait(&together);
        if (me < (endpoints || shared ? groups : 1)) exchange(me);
        pthread_barrier_wait(&together);
        /* P points of each frequency; the results stand as they came, P times `part` for a transform. */
        for (int b = me; b < batch; b += threads)
            for (long k = 0; k < part; k++) {
                for (int r = 0; r < size; r++) column[r] = in[((size_t)r * batch + b) * part + k];
                fft(column, size);
                for (int r = 0; r < size; r++) out[((size_t)r * batch + b) * part + k] = column[r];
            }
        pthread_barrier_wait(&together);
        if (me == 0 && round >= 0) total += MPI_Wtime() - began;
    }
    free(column);
    return NULL;
}

/* A direct sum for sixty-five frequencies of every process, the first and the last among them. */
static void check(void) {
    long n = own * size, many = part * size * batch;
    for (int sample = 0; sample <= 64; sample++) {
        long i = (many - 1) * sample / 64;
        long b = i / (part * size), k = i % part, r = i / part % size, frequency = rank * part + k + own * r;
        point want = 0;
        for (long at = 0; at < n; at++)
            want += input((int)b, at) * cexp(-2 * I * M_PI * (double)((uint64_t)at * (uint64_t)frequency % (uint64_t)n) / (double)n);
        point got = out[((size_t)r * batch + b) * part + k];
        if (!(cabs(got - want) <= 1e-12 * n)) fail("a frequency is wrong");
    }
}

static void arguments(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        int *to = NULL;
        if (!strcmp(argv[i], "-e")) endpoints = 1;
        else if (!strcmp(argv[i], "-m")) shared = 1;
        else if (!strcmp(argv[i], "-n")) to = &log2n;
        else if (!strcmp(argv[i], "-b")) to = &batch;
        else if (!strcmp(argv[i], "-t")) to = &threads;
        else if (!strcmp(argv[i], "-g")) to = &groups;
        else if (!strcmp(argv[i], "-k")) to = &rounds;
        else fail("usage: fft [-n log2] [-b batch] [-t threads] [-g groups] [-k rounds] [-e | -m]");
        if (to && ++i == argc) fail("a number is missing");
        if (to) *to = atoi(argv[i]);
    }
    if (threads < groups) threads = groups;
    if (log2n < 1 || log2n > 24 || batch < 1 || groups < 1 || threads > MOST || rounds < 1 || (endpoints && shared))
        fail("a number is out of range");
    if (size & (size - 1) || (1L << log2n) < (long)size * size) fail("2^n points need a power of two of processes, at most 2^(n/2)");
    if (groups > size) fail("there are more groups than processes");
    own = (1L << log2n) / size, part = own / size;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    arguments(argc, argv);
    if (provided != MPI_THREAD_MULTIPLE && threads > 1) fail("this MPI has no MPI_THREAD_MULTIPLE");
    a = malloc(own * batch * sizeof *a), turns = malloc(own * sizeof *turns);
    /* Memory that proxies can reach without a copy. */
    MPI_Alloc_mem(own * batch * (MPI_Aint)sizeof *a, MPI_INFO_NULL, &out);
    MPI_Alloc_mem(own * batch * (MPI_Aint)sizeof *a, MPI_INFO_NULL, &in);
    if (!a || !turns) fail("no memory");
    for (long k = 0; k < own; k++) turns[k] = cexp(-2 * I * M_PI * (double)rank * (double)k / (double)(own * size));
    for (int i = 0; i < groups; i++) comms[i] = MPI_COMM_WORLD;
#ifdef MPIX_HAVE_ENDPOINTS
    if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, groups, MPI_INFO_NULL, comms);
#else
    if (endpoints) fail("this MPI has no endpoints (mpi-ext.h)");
#endif
    pthread_barrier_init(&together, NULL, threads);
    pthread_t others[MOST];
    for (intptr_t i = 1; i < threads; i++) pthread_create(&others[i], NULL, worker, (void *)i);
    worker(NULL);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    check();
    double mine[2] = {total, exchanged[0]}, most[2];
    for (int i = 1; i < groups; i++)
        if (exchanged[i] > mine[1]) mine[1] = exchanged[i];
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("fft %s: %d processes, %d groups, %d transforms of %ld points, %zu bytes in a message: %.1f us, %.1f in the exchange, results right\n",
               endpoints ? "endpoints" : shared ? "threads" : "master", size, groups, batch, own * size,
               (size_t)part * batch * sizeof(point), most[0] / rounds * 1e6, most[1] / rounds * 1e6);
        double sent = (double)part * batch * sizeof(point) * (size - 1) * rounds;
        printf("value=%.9g seconds=%.9g transform=%.9g bandwidth=%.9g verified=1\n", most[1] / rounds * 1e6, most[0], most[0] / rounds * 1e6,
               sent / most[1] / 1e6);
    }
    for (int i = 0; i < groups && endpoints; i++) MPI_Comm_free(&comms[i]);
    MPI_Free_mem(out), MPI_Free_mem(in);
    free(a), free(turns);
    MPI_Finalize();
    return 0;
}
