/* Conjugate gradients for a 27-point operator, with the halo exchange by one-sided or by two-sided communication.
 *
 * Usage: mpirun -n RANKS cg [-1] [-n NX,NY,NZ] [-k ITERATIONS] [-w]
 *
 * The matrix has 27 on the diagonal and -1 for each of a cell's up to 26 neighbors; the right side makes every cell of the solution 1.
 * Each rank has a box of NX x NY x NZ cells (16 each), the ranks form a grid of three dimensions, and nothing lies beyond it. One
 * thread for each neighbor packs, sends, receives and unpacks the cells that both share.
 *
 * With -1 a halo is put into a slot of the neighbor's window under one lock_all that is held throughout, flushed, and then counted at
 * the neighbor by an accumulate; the neighbor asks its own count by fetch-and-op. One slot for each direction is enough: between two
 * exchanges all ranks have met in a sum, so the halo before has been read. -w exposes memory of the program's. Without -1 a thread
 * sends and receives a message.
 *
 * Sums over ranks are added in the order of ranks, so the residual is the same number whichever way the halos went. The solution is
 * checked, and the residual of the last iterate computed anew. Prints one line: the microseconds of an exchange (value), seconds of the
 * solution and of its exchanges, on the slowest rank; iterations and the residual. */
#define _GNU_SOURCE
#include "common.h"
#include "halo.h"

#include <math.h>
#include <stdint.h>

static struct box mine = {{16, 16, 16}};
static int one_sided, created, most_iterations = 500, grid[3];
static int neighbors, neighbor[WAYS], way_of[WAYS];
static double *out[WAYS], *in[WAYS];
/* Buffers of an exchange of halos. */
static double *exchanged;
static int64_t exchanges;
static int over;
static double exchange_seconds;
static pthread_barrier_t together;

/* In units of eight bytes: a count for each direction, and its slot. */
static MPI_Win win;
static int64_t *counts;
static MPI_Aint slot_at[WAYS];

/* ---- halos ---- */

static void put_halo(int way) {
    static const int64_t one = 1;
    int to = neighbor[way], there = opposite(way), length = (int)halo_cells(&mine, way);
    MPI_Put(out[way], length, MPI_DOUBLE, to, slot_at[there], length, MPI_DOUBLE, win);
    MPI_Win_flush(to, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, to, there, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(to, win);
    unsigned looks = 0;
    for (int64_t count = 0;;) {
        MPI_Fetch_and_op(NULL, &count, MPI_INT64_T, rank, way, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        if (count >= exchanges) break;
        give_way(&looks);
    }
    MPI_Win_sync(win);
    halo_unpack(&mine, way, exchanged, (const double *)counts + slot_at[way]);
}

static void send_halo(int way) {
    MPI_Request requests[2];
    int to = neighbor[way], length = (int)halo_cells(&mine, way);
    MPI_Irecv(in[way], length, MPI_DOUBLE, to, opposite(way), MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out[way], length, MPI_DOUBLE, to, way, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    halo_unpack(&mine, way, exchanged, in[way]);
}

/* The thread of a neighbor. */
static void *serve(void *argument) {
    int way = way_of[(long)argument];
    for (;;) {
        pthread_barrier_wait(&together);
        if (over) return NULL;
        halo_pack(&mine, way, exchanged, out[way]);
        if (one_sided) put_halo(way);
        else send_halo(way);
        pthread_barrier_wait(&together);
    }
}

static void exchange(double *cells_of_box) {
    double began = now();
    exchanged = cells_of_box;
    exchanges++;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    exchange_seconds += now() - began;
}

/* ---- vectors ---- */

#define EACH_CELL(at)                                    \
    for (int z = 1; z <= mine.n[2]; z++)                 \
        for (int y = 1; y <= mine.n[1]; y++)             \
            for (size_t at = cell(&mine, 1, y, z), end = at + (size_t)mine.n[0]; at < end; at++)

/* Added in the order of ranks. */
static double sum_of_ranks(double own) {
    static double *all;
    double sum = 0;
    if (!all) all = need((size_t)size * sizeof *all);
    MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) sum += all[i];
    return sum;
}

static double dot(const double *a, const double *b) {
    double sum = 0;
    EACH_CELL(i) sum += a[i] * b[i];
    return sum_of_ranks(sum);
}

/* to = A from; the halo of `from` is exchanged. Ghosts beyond the grid are 0. */
static void multiply(double *from, double *to) {
    exchange(from);
    size_t row = (size_t)mine.n[0] + 2, plane = row * ((size_t)mine.n[1] + 2);
    EACH_CELL(i) {
        double sum = 28 * from[i];
        for (size_t k = i - plane; k <= i + plane; k += plane)
            for (size_t j = k - row; j <= k + row; j += row) sum -= from[j - 1] + from[j] + from[j + 1];
        to[i] = sum;
    }
}

/* ---- setting up ---- */

/* Where this rank is, and who is around it; the ranks of a grid are numbered with x fastest. */
static void find_neighbors(int *at) {
    MPI_Dims_create(size, 3, grid);
    at[0] = rank % grid[0];
    at[1] = rank / grid[0] % grid[1];
    at[2] = rank / (grid[0] * grid[1]);
    for (int way = 0; way < WAYS; way++) {
        int there[3], inside = way != MIDDLE;
        for (int axis = 0; axis < 3; axis++) {
            there[axis] = at[axis] + step_of(way, axis);
            inside = inside && there[axis] >= 0 && there[axis] < grid[axis];
        }
        neighbor[way] = inside ? there[0] + grid[0] * (there[1] + grid[1] * there[2]) : -1;
        if (!inside) continue;
        way_of[neighbors++] = way;
        out[way] = need(halo_cells(&mine, way) * sizeof(double));
        in[way] = need(halo_cells(&mine, way) * sizeof(double));
    }
}

static void make_window(void) {
    MPI_Aint units = WAYS;
    for (int way = 0; way < WAYS; way++) {
        slot_at[way] = units;
        units += (MPI_Aint)halo_cells(&mine, way);
    }
    if (created) {
        counts = need((size_t)units * 8);
        MPI_Win_create(counts, units * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(units * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &counts, &win);
    }
    MPI_Win_lock_all(0, win);
    memset(counts, 0, (size_t)units * 8);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Right-hand side that makes every cell of the solution 1: 27 less the neighbors that are there. */
static void right_side(double *b, const int *at) {
    for (int z = 1; z <= mine.n[2]; z++)
        for (int y = 1; y <= mine.n[1]; y++)
            for (int x = 1; x <= mine.n[0]; x++) {
                int local[3] = {x, y, z}, around = 1;
                for (int axis = 0; axis < 3; axis++) {
                    int whole = at[axis] * mine.n[axis] + local[axis] - 1, last = grid[axis] * mine.n[axis] - 1;
                    around *= 1 + (whole > 0) + (whole < last);
                }
                b[cell(&mine, x, y, z)] = 28 - around;
            }
}

/* ---- the solution ---- */

static int solve(const double *b, double *x, double *square) {
    size_t bytes = cells(&mine) * sizeof(double);
    double *r = need(bytes), *p = need(bytes), *ap = need(bytes), rr = dot(b, b), goal = rr * 1e-20;
    int iterations = 0;
    memcpy(r, b, bytes);
    memcpy(p, b, bytes);
    for (; iterations < most_iterations && rr > goal; iterations++) {
        multiply(p, ap);
        double alpha = rr / dot(p, ap), before = rr;
        EACH_CELL(i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        rr = dot(r, r);
        EACH_CELL(i) p[i] = r[i] + rr / before * p[i];
    }
    *square = rr;
    free(r);
    free(p);
    free(ap);
    return iterations;
}

/* That the solution is 1, and its residual what the recurrence says. */
static void check(const double *b, double *x, double square, int iterations) {
    double *ax = need(cells(&mine) * sizeof(double)), wrong = 0, all = sqrt(dot(b, b));
    multiply(x, ax);
    EACH_CELL(i) {
        ax[i] = b[i] - ax[i];
        if (fabs(x[i] - 1) > wrong) wrong = fabs(x[i] - 1);
    }
    double residual = sqrt(dot(ax, ax));
    if (fabs(residual - sqrt(square)) > 1e-9 * all) fail("the residual is %g and not %g", residual, sqrt(square));
    if (iterations < most_iterations && wrong > 1e-6) fail("a cell of the solution is off by %g", wrong);
    free(ax);
}

static void *first(void *argument) {
    if ((long)argument != 0) return serve((void *)((long)argument - 1));
    size_t bytes = cells(&mine) * sizeof(double);
    int at[3] = {rank % grid[0], rank / grid[0] % grid[1], rank / (grid[0] * grid[1])};
    double *b = need(bytes), *x = need(bytes), square;
    right_side(b, at);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    int iterations = solve(b, x, &square);
    double times[2] = {now() - began, exchange_seconds};
    check(b, x, square, iterations);
    over = 1;
    pthread_barrier_wait(&together);
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("form=%s ranks=%d cells=%dx%dx%d iterations=%d value=%.6g seconds=%.6g exchange=%.6g residual=%.17g verified=1\n",
               one_sided ? "one-sided" : "two-sided", size, mine.n[0], mine.n[1], mine.n[2], iterations,
               times[1] / iterations * 1e6, times[0], times[1], sqrt(square));
    free(b);
    free(x);
    return NULL;
}

int main(int argc, char **argv) {
    int at[3];
    start_mpi(&argc, &argv);
    for (int c; (c = getopt(argc, argv, "1n:k:w")) != -1;) {
        if (c == '1') one_sided = 1;
        else if (c == 'n' && sscanf(optarg, "%d,%d,%d", &mine.n[0], &mine.n[1], &mine.n[2]) == 3) continue;
        else if (c == 'k') most_iterations = atoi(optarg);
        else if (c == 'w') created = 1;
        else fail("usage: cg [-1] [-n NX,NY,NZ] [-k ITERATIONS] [-w]");
    }
    if (mine.n[0] < 1 || mine.n[1] < 1 || mine.n[2] < 1 || most_iterations < 1) fail("boxes have cells, solutions iterations");
    find_neighbors(at);
    if (one_sided) make_window();
    pthread_barrier_init(&together, NULL, (unsigned)neighbors + 1);
    in_threads(neighbors + 1, first);
    if (one_sided) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_unlock_all(win);
        MPI_Win_free(&win);
        if (created) free(counts);
    }
    MPI_Finalize();
    return 0;
}
