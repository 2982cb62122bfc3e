/* Wilson Dslash on a four-dimensional lattice, even-odd, single precision: the halo exchange of lattice QCD in eight directions.
 *
 *   dslash [-l X,Y,Z,T] [-p PX,PY,PZ,PT] [-t THREADS] [-k ITERATIONS] [-c master | -c funneled | -m THREADS | -e ENDPOINTS]
 *
 * -l: sites of a process (even numbers); -p: the grid of processes. -c: the first thread communicates, at MPI_THREAD_FUNNELED;
 * master: while it packs and posts the others wait; funneled: they compute. Without -c, -m and -e it does as funneled does, at
 * MPI_THREAD_MULTIPLE, as all others work. -e: each process has ENDPOINTS endpoints and a thread for each (MPIX_Comm_create_endpoints); the messages of
 * direction d = 2 dim + dir go from endpoint d mod ENDPOINTS to endpoint (2 dim + 1 - dir) mod ENDPOINTS of the neighbor. -m: as
 * many threads share MPI_COMM_WORLD, divided in the same way.
 *
 * An iteration makes the even sites from the odd ones and the odd ones from those. Two sums over the squares of the result are compared
 * with those of the whole lattice, computed by one process. Prints milliseconds: computing, packing and posting, waiting, those two
 * together (communication), total; and the rate of all processes (GFLOPS). */
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

typedef float complex value;
typedef struct { value s[4][3]; } spinor;
/* Two of the four spins: the others of (1 +- gamma) p follow from them. */
typedef struct { value s[2][3]; } half;
typedef struct { value u[3][3]; } link;

/* FLOPS_OF_A_SITE: as publications of this operator count: eight products of a 3x3 matrix with two spins, projections, and their sum. */
enum { WAYS = 8, MOST = 64, FLOPS_OF_A_SITE = 1320 };

/* A lattice: the part of this process, or all of it. */
struct lattice {
    int l[4], whole[4], origin[4];
    size_t sites;
    spinor *psi[3];
    link *gauge;
    /* By direction: what goes there, and what came from there. NULL where the lattice closes in itself. */
    half *out[WAYS], *in[WAYS];
};

static int rank, size, grid[4] = {1, 1, 1, 1}, threads = 1, talkers = 1, endpoints, iterations = 10;
static int neighbor[WAYS];
static MPI_Comm comms[WAYS];
static struct lattice mine;
static pthread_barrier_t together;
/* The others wait while the first thread packs and posts. */
static int alone;
/* "master" or "funneled"; NULL: any thread may communicate. */
static const char *by_first;
static double computed[MOST], packed[MOST], waited[MOST];

static void fail(const char *why) {
    fprintf(stderr, "dslash: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *memory(size_t bytes) {
    void *at = malloc(bytes);
    if (!at) fail("no memory");
    return at;
}

static float number(uint64_t seed) {
    seed = (seed ^ seed >> 31) * 0x9E3779B97F4A7C15u;
    seed = (seed ^ seed >> 27) * 0xBF58476D1CE4E5B9u;
    return (float)(int32_t)(seed >> 32) / 2147483648.0f;
}

static void place(const struct lattice *a, size_t site, int x[4]) {
    for (int d = 0; d < 4; d++) x[d] = site % a->l[d], site /= a->l[d];
}

static size_t site_of(const int l[4], const int x[4]) { return x[0] + (size_t)l[0] * (x[1] + (size_t)l[1] * (x[2] + (size_t)l[2] * x[3])); }

/* A site's number in the whole lattice. */
static size_t global(const struct lattice *a, const int x[4]) {
    int g[4];
    for (int d = 0; d < 4; d++) g[d] = a->origin[d] + x[d];
    return site_of(a->whole, g);
}

/* All extents are even, so parity is the same here and in the whole lattice. */
static int parity(const int x[4]) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

/* Place of a site of one parity in a face: of two neighbors in it one has that parity. */
static size_t face_of(const struct lattice *a, const int x[4], int dim) {
    size_t at = 0;
    for (int d = 3; d >= 0; d--)
        if (d != dim) at = at * a->l[d] + x[d];
    return at / 2;
}

/* gamma[mu]: row s has `phase` in column `column` (chiral basis). */
static const int column[4][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}, {2, 3, 0, 1}};
static const value phase[4][4] = {{I, I, -I, -I}, {-1, 1, 1, -1}, {I, -I, -I, I}, {1, 1, 1, 1}};

/* The first two spins of (1 + sign gamma[mu]) p. */
static half project(const spinor *p, int mu, int sign) {
    half h;
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 3; c++) h.s[s][c] = p->s[s][c] + sign * phase[mu][s] * p->s[column[mu][s]][c];
    return h;
}

/* U h, or its adjoint. */
static half turn(const half *h, const link *u, int adjoint) {
    half to;
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 3; c++) {
            value sum = 0;
            for (int d = 0; d < 3; d++) sum += (adjoint ? conjf(u->u[d][c]) : u->u[c][d]) * h->s[s][d];
            to.s[s][c] = sum;
        }
    return to;
}

static void add(spinor *to, const half *h, int mu, int sign) {
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < 3; c++) to->s[s][c] += s < 2 ? h->s[s][c] : sign * phase[mu][s] * h->s[column[mu][s]][c];
}

/* One site of the result; neighbors on other processes come from what they sent. */
static void site(struct lattice *a, const spinor *from, spinor *to, size_t at, int x[4]) {
    memset(to, 0, sizeof *to);
    for (int mu = 0; mu < 4; mu++) {
        int edge = a->l[mu] - 1, was = x[mu];
        half h;
        if (was == edge && a->in[2 * mu + 1]) {
            h = a->in[2 * mu + 1][face_of(a, x, mu)];
        } else {
            x[mu] = was == edge ? 0 : was + 1;
            h = project(from + site_of(a->l, x), mu, -1);
            x[mu] = was;
        }
        h = turn(&h, &a->gauge[at * 4 + mu], 0);
        add(to, &h, mu, -1);
        if (was == 0 && a->in[2 * mu]) {
            h = a->in[2 * mu][face_of(a, x, mu)];
        } else {
            x[mu] = was == 0 ? edge : was - 1;
            size_t down = site_of(a->l, x);
            h = project(from + down, mu, 1);
            h = turn(&h, &a->gauge[down * 4 + mu], 1);
            x[mu] = was;
        }
        add(to, &h, mu, 1);
    }
}

/* Does a site need what other processes sent? */
static int outer(const struct lattice *a, const int x[4]) {
    for (int d = 0; d < 4; d++)
        if ((x[d] == 0 && a->in[2 * d]) || (x[d] == a->l[d] - 1 && a->in[2 * d + 1])) return 1;
    return 0;
}

/* Sites of one parity, those inside (0), outside (1) or all (2); a share of them. */
static void sweep(struct lattice *a, int from, int to, int odd, int which, int share, int shares) {
    for (size_t at = a->sites * share / shares; at < a->sites * (share + 1) / shares; at++) {
        int x[4];
        place(a, at, x);
        if (parity(x) == odd && (which == 2 || outer(a, x) == which)) site(a, a->psi[from], &a->psi[to][at], at, x);
    }
}

/* The face in direction `way` of sites with parity `odd`, as the neighbor there needs it. */
static void pack(struct lattice *a, int from, int odd, int way) {
    int mu = way / 2, forward = way % 2, x[4];
    size_t faces = a->sites / a->l[mu];
    for (size_t f = 0; f < faces; f++) {
        size_t rest = f;
        for (int d = 0; d < 4; d++)
            if (d != mu) x[d] = rest % a->l[d], rest /= a->l[d];
        x[mu] = forward ? a->l[mu] - 1 : 0;
        if (parity(x) != odd) continue;
        size_t at = site_of(a->l, x);
        half h = project(a->psi[from] + at, mu, forward ? 1 : -1);
        if (forward) h = turn(&h, &a->gauge[at * 4 + mu], 1);
        a->out[way][face_of(a, x, mu)] = h;
    }
}

/* New values in every iteration, so that no halo is taken for an older one. */
static void begin(struct lattice *a, int iteration, int share, int shares) {
    for (size_t at = a->sites * share / shares; at < a->sites * (share + 1) / shares; at++) {
        int x[4];
        place(a, at, x);
        size_t g = global(a, x);
        for (int i = 0; i < 12; i++) {
            uint64_t seed = (g * 12 + i) * 2 + 1;
            a->psi[0][at].s[i / 3][i % 3] = (iteration + 1) * (number(seed) + number(seed + 0x100000000u) * I);
        }
    }
}

static void lay_out(struct lattice *a) {
    a->sites = (size_t)a->l[0] * a->l[1] * a->l[2] * a->l[3];
    for (int i = 0; i < 3; i++) a->psi[i] = memory(a->sites * sizeof(spinor));
    a->gauge = memory(a->sites * 4 * sizeof(link));
    for (size_t at = 0; at < a->sites; at++) {
        int x[4];
        place(a, at, x);
        size_t g = global(a, x);
        for (int mu = 0; mu < 4; mu++)
            for (int i = 0; i < 9; i++) {
                uint64_t seed = ((g * 4 + mu) * 9 + i) * 2 + 0x5000000001u;
                a->gauge[at * 4 + mu].u[i / 3][i % 3] = number(seed) + number(seed + 0x700000000u) * I;
            }
    }
}

static void clear_away(struct lattice *a) {
    for (int i = 0; i < 3; i++) free(a->psi[i]);
    free(a->gauge);
}

/* Sum of the squares of the result's odd sites, and the same with a weight for each site. */
static void norms(const struct lattice *a, double to[2]) {
    to[0] = to[1] = 0;
    for (size_t at = 0; at < a->sites; at++) {
        int x[4];
        place(a, at, x);
        if (!parity(x)) continue;
        double sum = 0;
        for (int i = 0; i < 12; i++) {
            value v = a->psi[2][at].s[i / 3][i % 3];
            sum += (double)crealf(v) * crealf(v) + (double)cimagf(v) * cimagf(v);
        }
        to[0] += sum, to[1] += sum * (1 + number(global(a, x)));
    }
}

/* Posts and sends the directions of one talker; gives the number of requests. */
static int post(int talker, int from, int odd, MPI_Request *requests) {
    int n = 0;
    for (int way = talker; way < WAYS; way += talkers) {
        if (!mine.in[way]) continue;
        int mu = way / 2, bytes = (int)(mine.sites / mine.l[mu] / 2 * sizeof(half)), back = way ^ 1;
        int peer = endpoints ? neighbor[way] * endpoints + back % endpoints : neighbor[way];
        MPI_Irecv(mine.in[way], bytes, MPI_BYTE, peer, back, comms[talker], &requests[n++]);
        pack(&mine, from, odd, way);
        MPI_Isend(mine.out[way], bytes, MPI_BYTE, peer, way, comms[talker], &requests[n++]);
    }
    return n;
}

static void *worker(void *argument) {
    int me = (int)(intptr_t)argument, n = 0;
    MPI_Request requests[2 * WAYS];
    for (int k = 0; k < iterations; k++) {
        begin(&mine, k, me, threads);
        for (int step = 0; step < 2; step++) {
            pthread_barrier_wait(&together);
            double start = MPI_Wtime();
            if (me < talkers) n = post(me, step, !step, requests);
            double posted = MPI_Wtime();
            if (alone) pthread_barrier_wait(&together);
            double starts = MPI_Wtime();
            sweep(&mine, step, step + 1, step, 0, me, threads);
            double inside = MPI_Wtime();
            if (me < talkers) MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            double came = MPI_Wtime();
            pthread_barrier_wait(&together);
            double all = MPI_Wtime();
            sweep(&mine, step, step + 1, step, 1, me, threads);
            packed[me] += posted - start, waited[me] += came - inside;
            computed[me] += inside - starts + MPI_Wtime() - all;
        }
    }
    return NULL;
}

/* The whole lattice in one process. */
static void compare(const double *sums) {
    struct lattice all = mine;
    memset(all.in, 0, sizeof all.in);
    for (int d = 0; d < 4; d++) all.l[d] = all.whole[d], all.origin[d] = 0;
    lay_out(&all);
    begin(&all, iterations - 1, 0, 1);
    sweep(&all, 0, 1, 0, 2, 0, 1), sweep(&all, 1, 2, 1, 2, 0, 1);
    double want[2];
    norms(&all, want);
    for (int i = 0; i < 2; i++)
        if (!(fabs(sums[i] - want[i]) <= 1e-6 * fabs(want[i]))) fail("a sum is not that of the single process");
    clear_away(&all);
}

static void numbers(const char *text, int to[4]) {
    if (sscanf(text, "%d,%d,%d,%d", &to[0], &to[1], &to[2], &to[3]) != 4) fail("four numbers with commas are wanted");
}

static void arguments(int argc, char **argv) {
    int l[4] = {4, 4, 4, 8};
    grid[3] = size;
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!next || argv[i][0] != '-') fail("usage: dslash [-l X,Y,Z,T] [-p PX,PY,PZ,PT] [-t threads] [-k iterations] [-c master | -c funneled | -m n | -e n]");
        switch (argv[i++][1]) {
        case 'l': numbers(next, l); break;
        case 'p': numbers(next, grid); break;
        case 't': threads = atoi(next); break;
        case 'k': iterations = atoi(next); break;
        case 'e': endpoints = talkers = atoi(next); break;
        case 'm': talkers = atoi(next); break;
        case 'c': break;
        default: fail("an unknown option");
        }
    }
    if (by_first && (endpoints || talkers > 1)) fail("with -c one thread communicates, without an endpoint");
    if (threads < talkers) threads = talkers;
    int processes = 1;
    for (int d = 0; d < 4; d++) {
        if (l[d] < 2 || l[d] % 2 || l[d] > 256 || grid[d] < 1) fail("a number is out of range");
        processes *= grid[d];
        mine.l[d] = l[d], mine.whole[d] = l[d] * grid[d];
    }
    if (processes != size) fail("the grid has not as many places as there are processes");
    if (threads < 1 || threads > MOST || talkers < 1 || talkers > WAYS || iterations < 1) fail("a number is out of range");
}

/* The level is asked for before arguments can be refused. */
static int level_of(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "-c")) by_first = argv[i + 1];
    alone = by_first && !strcmp(by_first, "master");
    return by_first ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
}

int main(int argc, char **argv) {
    int provided, place[4], rest, level = level_of(argc, argv);
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    arguments(argc, argv);
    if (by_first && !alone && strcmp(by_first, "funneled")) fail("-c is master or funneled");
    if (provided < level && threads > 1) fail("this MPI has not the level of thread support");
    rest = rank;
    for (int d = 0; d < 4; d++) place[d] = rest % grid[d], rest /= grid[d], mine.origin[d] = place[d] * mine.l[d];
    lay_out(&mine);
    for (int way = 0; way < WAYS; way++) {
        int d = way / 2, at[4];
        memcpy(at, place, sizeof at);
        at[d] = (at[d] + (way % 2 ? 1 : grid[d] - 1)) % grid[d];
        neighbor[way] = at[0] + grid[0] * (at[1] + grid[1] * (at[2] + grid[2] * at[3]));
        comms[way] = MPI_COMM_WORLD;
        if (grid[d] == 1) continue;
        /* Memory that proxies can reach without a copy. */
        MPI_Aint bytes = (MPI_Aint)(mine.sites / mine.l[d] / 2 * sizeof(half));
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mine.in[way]);
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mine.out[way]);
    }
#ifdef MPIX_HAVE_ENDPOINTS
    if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, endpoints, MPI_INFO_NULL, comms);
#else
    if (endpoints) fail("this MPI has no endpoints (mpi-ext.h)");
#endif
    pthread_barrier_init(&together, NULL, threads);
    pthread_t others[MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (intptr_t i = 1; i < threads; i++) pthread_create(&others[i], NULL, worker, (void *)i);
    worker(NULL);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    double times[4] = {0, 0, 0, MPI_Wtime() - began}, sums[2], all[2], most[4];
    for (int i = 0; i < threads; i++) {
        times[0] += computed[i] / threads;
        if (i < talkers) times[1] += packed[i] / talkers, times[2] += waited[i] / talkers;
    }
    norms(&mine, sums);
    MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(times, most, 4, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        compare(all);
        printf("dslash %s: %d processes, %d threads, %d of them communicate: computing %.3f ms, packing and posting %.3f, waiting "
               "%.3f, total %.3f, norm %.9e, results right\n",
               endpoints ? "endpoints" : by_first ? by_first : "multiple", size, threads, talkers, most[0] / iterations * 1e3,
               most[1] / iterations * 1e3, most[2] / iterations * 1e3, most[3] / iterations * 1e3, all[0]);
        double sites = (double)mine.whole[0] * mine.whole[1] * mine.whole[2] * mine.whole[3];
        printf("value=%.9g seconds=%.9g computing=%.9g packing=%.9g waiting=%.9g communication=%.9g gflops=%.9g verified=1\n",
               most[3] / iterations * 1e3, most[3], most[0] / iterations * 1e3, most[1] / iterations * 1e3, most[2] / iterations * 1e3,
               (most[1] + most[2]) / iterations * 1e3, FLOPS_OF_A_SITE * sites * iterations / most[3] / 1e9);
    }
    for (int i = 0; i < endpoints; i++) MPI_Comm_free(&comms[i]);
    for (int way = 0; way < WAYS; way++)
        if (mine.in[way]) MPI_Free_mem(mine.in[way]), MPI_Free_mem(mine.out[way]);
    clear_away(&mine);
    MPI_Finalize();
    return 0;
}
