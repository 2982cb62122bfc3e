/* Wilson's Dslash operator of lattice QCD, the time dimension divided among the processes: boundaries are exchanged by one
 * thread on MPI_COMM_WORLD, or by two threads, each on an endpoint of its own.
 *
 *   dslash [-l SIDE] [-t SLICES] [-k ITERATIONS] [-e]
 *
 * The lattice has SIDE^3 sites in space and SLICES time slices in each process. The gauge links and the input are functions of the
 * global site, so each process computes what its neighbors send for itself at the end and compares every site of the result bit by
 * bit. -e: two endpoints a process (MPIX_Comm_create_endpoints), one for each direction. Prints microseconds for an
 * iteration: all, computing, and waiting for boundaries. */
#include <complex.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

typedef float complex value;
typedef struct { value s[4][3]; } spinor;
typedef struct { value u[3][3]; } link;

static int side = 8, slices = 8, iterations = 20, endpoints, rank, size;
static size_t space;
/* Of slices -1 to `slices`: the first and the last come from the neighbors. */
static spinor *input, *output;
static link *gauge;
static MPI_Comm comms[2];
static int peers[2];
static double computed[2], waited[2];
static pthread_barrier_t together;

static void fail(const char *why) {
    fprintf(stderr, "dslash: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static float number(uint64_t seed) {
    seed = (seed ^ seed >> 31) * 0x9E3779B97F4A7C15u;
    seed = (seed ^ seed >> 27) * 0xBF58476D1CE4E5B9u;
    return (float)(int32_t)(seed >> 32) / 2147483648.0f;
}

static size_t global(size_t at, int t) { return (size_t)((rank * slices + t + size * slices) % (size * slices)) * space + at; }

/* The input of an iteration: other values every time, so that no boundary is taken for an older one. */
static spinor psi(size_t site, int iteration) {
    spinor p;
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < 3; c++) {
            uint64_t seed = ((site * 4 + s) * 3 + c) * 2 + 1;
            p.s[s][c] = (iteration + 1) * (number(seed) + number(seed + 0x100000000u) * I);
        }
    return p;
}

static link matrix(size_t site, int mu) {
    link l;
    for (int i = 0; i < 9; i++) {
        uint64_t seed = ((site * 4 + mu) * 9 + i) * 2 + 0x5000000001u;
        l.u[i / 3][i % 3] = number(seed) + number(seed + 0x700000000u) * I;
    }
    return l;
}

/* gamma[mu]: row s has `phase` in column `column` (chiral basis). */
static const int column[4][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}, {2, 3, 0, 1}};
static const value phase[4][4] = {{I, I, -I, -I}, {-1, 1, 1, -1}, {I, -I, -I, I}, {1, 1, 1, 1}};

/* to += (1 + sign gamma[mu]) U p, with U or its adjoint. */
static void hop(spinor *to, const spinor *p, const link *u, int mu, int sign) {
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < 3; c++) {
            value sum = 0;
            for (int d = 0; d < 3; d++) {
                value half = p->s[s][d] + sign * phase[mu][s] * p->s[column[mu][s]][d];
                sum += (sign < 0 ? u->u[c][d] : conjf(u->u[d][c])) * half;
            }
            to->s[s][c] += sum;
        }
}

static spinor *slice(spinor *field, int t) { return field + (size_t)(t + 1) * space; }

/* One site of the result. */
static spinor site(size_t at, int t) {
    spinor to;
    memset(&to, 0, sizeof to);
    size_t step = 1;
    for (int mu = 0; mu < 3; mu++, step *= side) {
        size_t x = at / step % side;
        size_t up = at - x * step + (x + 1) % side * step, down = at - x * step + (x + side - 1) % side * step;
        hop(&to, slice(input, t) + up, &gauge[(size_t)(t + 1) * space * 4 + at * 4 + mu], mu, -1);
        hop(&to, slice(input, t) + down, &gauge[(size_t)(t + 1) * space * 4 + down * 4 + mu], mu, 1);
    }
    hop(&to, slice(input, t + 1) + at, &gauge[(size_t)(t + 1) * space * 4 + at * 4 + 3], 3, -1);
    hop(&to, slice(input, t - 1) + at, &gauge[(size_t)t * space * 4 + at * 4 + 3], 3, 1);
    return to;
}

static void slices_of(int from, int to, int worker) {
    double began = MPI_Wtime();
    for (int t = from; t < to; t++)
        for (size_t at = 0; at < space; at++) slice(output, t)[at] = site(at, t);
    computed[worker] += MPI_Wtime() - began;
}

/* Direction 0 exchanges with the process before, 1 with the one after. */
static void post(int way, MPI_Request *requests) {
    int bytes = (int)(space * sizeof(spinor)), mine = way ? slices - 1 : 0, theirs = way ? slices : -1;
    MPI_Irecv(slice(input, theirs), bytes, MPI_BYTE, peers[way], 1 - way, comms[way], &requests[0]);
    MPI_Isend(slice(input, mine), bytes, MPI_BYTE, peers[way], way, comms[way], &requests[1]);
}

static void *worker(void *argument) {
    int way = (int)(intptr_t)argument, half = slices / 2;
    MPI_Request requests[4];
    for (int k = 0; k < iterations; k++) {
        int from = way ? half : 0, to = way ? slices : half;
        for (int t = from; t < to; t++)
            for (size_t at = 0; at < space; at++) slice(input, t)[at] = psi(global(at, t), k);
        pthread_barrier_wait(&together);
        int n = 0;
        if (endpoints) post(way, requests), n = 2;
        else if (way == 0) post(0, requests), post(1, requests + 2), n = 4;
        /* Slices that need no neighbor. */
        slices_of(way ? half : 1, way ? slices - 1 : half, way);
        double began = MPI_Wtime();
        if (n) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        waited[way] += MPI_Wtime() - began;
        pthread_barrier_wait(&together);
        slices_of(way ? slices - 1 : 0, way ? slices : 1, way);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void check(void) {
    for (int t = -1; t <= slices; t += slices + 1)
        for (size_t at = 0; at < space; at++) slice(input, t)[at] = psi(global(at, t), iterations - 1);
    for (int t = 0; t < slices; t++)
        for (size_t at = 0; at < space; at++) {
            spinor want = site(at, t);
            if (memcmp(&want, slice(output, t) + at, sizeof want)) fail("a site of the result is wrong");
        }
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-e")) endpoints = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-l")) side = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-t")) slices = atoi(argv[++i]);
        else if (i + 1 < argc && !strcmp(argv[i], "-k")) iterations = atoi(argv[++i]);
        else fail("usage: dslash [-l side] [-t slices] [-k iterations] [-e]");
    }
    if (side < 2 || side > 64 || slices < 2 || slices > 1024 || iterations < 1) fail("a number is out of range");
    if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
    space = (size_t)side * side * side;
    size_t all = space * (slices + 2);
    /* What proxies can reach without a copy. */
    MPI_Alloc_mem(all * sizeof(spinor), MPI_INFO_NULL, &input);
    output = malloc(all * sizeof(spinor));
    gauge = malloc(all * 4 * sizeof(link));
    if (!output || !gauge) fail("no memory");
    for (int t = -1; t <= slices; t++)
        for (size_t at = 0; at < space; at++)
            for (int mu = 0; mu < 4; mu++) gauge[((t + 1) * space + at) * 4 + mu] = matrix(global(at, t), mu);
    peers[0] = (rank + size - 1) % size, peers[1] = (rank + 1) % size;
    comms[0] = comms[1] = MPI_COMM_WORLD;
#ifdef MPIX_HAVE_ENDPOINTS
    /* Backward endpoints talk to the forward ones of the process before. */
    if (endpoints) {
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, comms);
        peers[0] = 2 * peers[0] + 1, peers[1] = 2 * peers[1];
    }
#else
    if (endpoints) fail("this MPI has no endpoints (mpi-ext.h)");
#endif
    pthread_barrier_init(&together, NULL, 2);
    pthread_t other;
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    pthread_create(&other, NULL, worker, (void *)1);
    worker((void *)0);
    pthread_join(other, NULL);
    double took = MPI_Wtime() - began;
    check();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("dslash %s: %d processes, %d^3 x %d sites each: %.0f us for an iteration, %.0f computing, %.0f waiting, results right\n",
               endpoints ? "endpoints" : "one thread", size, side, slices, took / iterations * 1e6,
               (computed[0] + computed[1]) / 2 / iterations * 1e6, (waited[0] + waited[1]) / 2 / iterations * 1e6);
    if (endpoints) MPI_Comm_free(&comms[0]), MPI_Comm_free(&comms[1]);
    MPI_Free_mem(input);
    free(output);
    free(gauge);
    MPI_Finalize();
    return 0;
}
