/* Distributed one-dimensional FFT by transposes: with endpoints every thread is a rank, without each process is one.
 *
 *   fft [-t THREADS] [-n LOG2] [-k ROUNDS] [-e]
 *
 * -e: THREADS endpoints in each process, one for each thread (MPIX_Comm_create_endpoints); otherwise one thread and MPI_COMM_WORLD.
 * The transform has 2^LOG2 points, a square number of them, divided among the ranks by rows. A row's blocks go to all other ranks by
 * MPI_Isend and MPI_Irecv, three times in a transform. The input is a sum of two waves, so the result is known: every
 * process checks all its points. Prints microseconds for a transform and the part of it spent in transposes. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

typedef double complex point;

static int threads = 1, log2n = 12, rounds = 10, endpoints;

static void fail(const char *why) {
    fprintf(stderr, "fft: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* In place, of a power of two points. */
static void fft(point *x, int n) {
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            point swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
    }
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++) {
            point turn = cexp(-I * M_PI * k / half);
            for (int i = k; i < n; i += 2 * half) {
                point odd = x[i + half] * turn;
                x[i + half] = x[i] - odd;
                x[i] += odd;
            }
        }
}

/* The rows of one rank, and what its transposes need. */
struct part {
    MPI_Comm comm;
    int rank, ranks, side, rows;
    point *a, *b, *out, *in;
    MPI_Request *requests;
    double moved;
};

static void transpose(struct part *p) {
    double began = MPI_Wtime();
    int block = p->rows * p->rows;
    for (int peer = 0; peer < p->ranks; peer++)
        for (int i = 0; i < p->rows; i++)
            for (int j = 0; j < p->rows; j++)
                p->out[peer * block + j * p->rows + i] = p->a[i * p->side + peer * p->rows + j];
    int n = 0;
    for (int d = 1; d < p->ranks; d++) {
        int from = (p->rank + p->ranks - d) % p->ranks;
        MPI_Irecv(p->in + from * block, block, MPI_C_DOUBLE_COMPLEX, from, 1, p->comm, &p->requests[n++]);
    }
    for (int d = 1; d < p->ranks; d++) {
        int to = (p->rank + d) % p->ranks;
        MPI_Isend(p->out + to * block, block, MPI_C_DOUBLE_COMPLEX, to, 1, p->comm, &p->requests[n++]);
    }
    memcpy(p->in + p->rank * block, p->out + p->rank * block, block * sizeof(point));
    MPI_Waitall(n, p->requests, MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < p->ranks; peer++)
        for (int i = 0; i < p->rows; i++)
            memcpy(p->a + i * p->side + peer * p->rows, p->in + peer * block + i * p->rows, p->rows * sizeof(point));
    p->moved += MPI_Wtime() - began;
}

static void *run(void *argument) {
    struct part *p = argument;
    MPI_Comm_rank(p->comm, &p->rank);
    MPI_Comm_size(p->comm, &p->ranks);
    p->side = 1 << log2n / 2;
    if (p->side % p->ranks) fail("the side of the matrix is no multiple of the ranks");
    p->rows = p->side / p->ranks;
    size_t mine = (size_t)p->rows * p->side;
    void *memory;
    /* What the proxies can reach without a copy. */
    MPI_Alloc_mem(2 * mine * sizeof(point), MPI_INFO_NULL, &memory);
    p->out = memory, p->in = p->out + mine;
    p->a = malloc(mine * sizeof(point));
    p->requests = malloc(2 * p->ranks * sizeof *p->requests);
    double n = (double)p->side * p->side;
    long k1 = p->side + 3, k2 = (long)n - 5;
    double began = 0;
    for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < p->rows; i++)
            for (int j = 0; j < p->side; j++) {
                double at = (double)(p->rank * p->rows + i) * p->side + j;
                p->a[(size_t)i * p->side + j] =
                    cexp(2 * I * M_PI * fmod(k1 * at, n) / n) + 0.5 * cexp(2 * I * M_PI * fmod(k2 * at, n) / n);
            }
        MPI_Barrier(p->comm);
        if (round == 0) began = MPI_Wtime(), p->moved = 0;
        transpose(p);
        for (int i = 0; i < p->rows; i++) {
            point *row = p->a + (size_t)i * p->side;
            fft(row, p->side);
            for (int j = 0; j < p->side; j++)
                row[j] *= cexp(-2 * I * M_PI * fmod((double)(p->rank * p->rows + i) * j, n) / n);
        }
        transpose(p);
        for (int i = 0; i < p->rows; i++) fft(p->a + (size_t)i * p->side, p->side);
        transpose(p);
        for (int i = 0; i < p->rows; i++)
            for (int j = 0; j < p->side; j++) {
                long at = (long)(p->rank * p->rows + i) * p->side + j;
                double want = at == k1 ? n : at == k2 ? 0.5 * n : 0;
                if (cabs(p->a[(size_t)i * p->side + j] - want) > 1e-7 * n) fail("a point of the result is wrong");
            }
    }
    MPI_Barrier(p->comm);
    if (p->rank == 0)
        printf("fft %s: %d ranks, %.0f points: %.1f us for a transform, %.1f in transposes, results right\n",
               endpoints ? "endpoints" : "processes", p->ranks, n, (MPI_Wtime() - began) / rounds * 1e6,
               p->moved / rounds * 1e6);
    MPI_Free_mem(memory);
    free(p->a);
    free(p->requests);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-e")) endpoints = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-t")) threads = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-n")) log2n = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-k")) rounds = atoi(argv[++i]);
        else fail("usage: fft [-t threads] [-n log2] [-k rounds] [-e]");
    }
    if (log2n % 2 || log2n < 2 || log2n > 28 || threads < 1 || rounds < 1) fail("a number is out of range");
    if (!endpoints) {
        struct part all = {.comm = MPI_COMM_WORLD};
        run(&all);
        MPI_Finalize();
        return 0;
    }
#ifdef MPIX_HAVE_ENDPOINTS
    if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
    MPI_Comm *comms = malloc(threads * sizeof *comms);
    struct part *parts = calloc(threads, sizeof *parts);
    pthread_t *handles = malloc(threads * sizeof *handles);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, comms);
    for (int i = 0; i < threads; i++) {
        parts[i].comm = comms[i];
        pthread_create(&handles[i], NULL, run, &parts[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
#else
    fail("this MPI has no endpoints (mpi-ext.h)");
#endif
    MPI_Finalize();
    return 0;
}
