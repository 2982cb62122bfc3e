/* Five-point stencil by one-sided communication: ranks of threads, each thread with a window of its own, in which the same threads of the rank above and
 * the rank below write.
 *
 *   stencil [-t THREADS] [-y ROWS] [-x COLUMNS] [-k ITERATIONS] [-s]
 *
 * ROWS of a rank and COLUMNS in all; both directions close in themselves. A thread computes a part of the columns, puts that part of its rank's
 * first and last row into the neighbours' halo, and behind it the number of the iteration; each operation is complete before the next begins.
 * The field is compared with that of one process. -s: one halo is left out, which the comparison is to find. */
#include "common.h"

enum { ABOVE, BELOW };

static int threads = 4, rows = 8, columns = 64, iterations = 20, spoil;
static double *field[2], exchange[MOST_THREADS];
static pthread_barrier_t together;

/* Of a thread: its columns, and its window: halos by parity of the iteration and side, then a mark for each side. */
static struct part {
    MPI_Comm comm;
    MPI_Win win;
    double *memory;
    int first, count;
} parts[MOST_THREADS];

static double start(int row, int column) { return (row * 131 + column * 17) % 29; }
static double mean(double up, double down, double left, double right) { return (up + down + left + right) * 0.25; }
static MPI_Aint halo_at(const struct part *p, int iteration, int side) { return (MPI_Aint)(iteration % 2 * 2 + side) * p->count; }
static MPI_Aint mark_at(const struct part *p, int side) { return (MPI_Aint)4 * p->count + side; }

/* Writes a part of a row into a neighbour's halo, then the iteration's number. The neighbour above has this rank below, and the other way round. */
static void give(const struct part *p, int towards, int iteration, const double *row) {
    int other = (rank + (towards == ABOVE ? size - 1 : 1)) % size, side = towards == ABOVE ? BELOW : ABOVE;
    double mark = iteration;
    if (!(spoil && iteration == iterations && rank == 0 && p == parts && towards == BELOW)) {
        MPI_Put(row + p->first, p->count, MPI_DOUBLE, other, halo_at(p, iteration, side), p->count, MPI_DOUBLE, p->win);
        MPI_Win_flush(other, p->win);
    }
    MPI_Accumulate(&mark, 1, MPI_DOUBLE, other, mark_at(p, side), 1, MPI_DOUBLE, MPI_REPLACE, p->win);
    MPI_Win_flush(other, p->win);
}

/* Waits until a neighbour's part of this iteration is here. */
static void await(const struct part *p, int side, int iteration) {
    unsigned looks = 0;
    for (double mark, nothing = 0;;) {
        MPI_Fetch_and_op(&nothing, &mark, MPI_DOUBLE, rank, mark_at(p, side), MPI_NO_OP, p->win);
        MPI_Win_flush(rank, p->win);
        if (mark >= iteration) break;
        give_way(&looks);
    }
    MPI_Win_sync(p->win);
}

static void *work(void *argument) {
    long me = (long)argument;
    const struct part *p = &parts[me];
    for (int k = 1; k <= iterations; k++) {
        double *old = field[(k - 1) % 2], *new = field[k % 2], began = now();
        give(p, ABOVE, k, old);
        give(p, BELOW, k, old + (size_t)(rows - 1) * columns);
        await(p, ABOVE, k);
        await(p, BELOW, k);
        exchange[me] += now() - began;
        const double *above = p->memory + halo_at(p, k, ABOVE) - p->first, *below = p->memory + halo_at(p, k, BELOW) - p->first;
        for (int y = 0; y < rows; y++)
            for (int x = p->first; x < p->first + p->count; x++) {
                double up = y > 0 ? old[(y - 1) * columns + x] : above[x];
                double down = y < rows - 1 ? old[(y + 1) * columns + x] : below[x];
                new[y * columns + x] = mean(up, down, old[y * columns + (x + columns - 1) % columns], old[y * columns + (x + 1) % columns]);
            }
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void check(const double *result) {
    int all = size * rows;
    double *old = need(sizeof *old * (size_t)all * columns), *new = need(sizeof *new * (size_t)all * columns);
    for (int i = 0; i < all * columns; i++) old[i] = start(i / columns, i % columns);
    for (int k = 0; k < iterations; k++) {
        for (int y = 0; y < all; y++)
            for (int x = 0; x < columns; x++)
                new[y * columns + x] = mean(old[(y + all - 1) % all * columns + x], old[(y + 1) % all * columns + x],
                                            old[y * columns + (x + columns - 1) % columns], old[y * columns + (x + 1) % columns]);
        double *swap = old;
        old = new;
        new = swap;
    }
    for (int i = 0; i < all * columns; i++)
        if (old[i] != result[i]) fail("row %d, column %d of the field is %g, not %g", i / columns, i % columns, result[i], old[i]);
    free(old);
    free(new);
}

static void read_options(int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "t:y:x:k:s")) != -1;) {
        switch (option) {
        case 't': threads = atoi(optarg); break;
        case 'y': rows = atoi(optarg); break;
        case 'x': columns = atoi(optarg); break;
        case 'k': iterations = atoi(optarg); break;
        case 's': spoil = 1; break;
        default: fail("stencil [-t THREADS] [-y ROWS] [-x COLUMNS] [-k ITERATIONS] [-s]");
        }
    }
    if (threads < 1 || threads > MOST_THREADS) fail("1 to %d threads", MOST_THREADS);
    if (columns < threads || rows < 2 || iterations < 1) fail("at least a column for each thread, two rows, one iteration");
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    read_options(argc, argv);
    size_t cells = (size_t)rows * columns;
    field[0] = need(2 * sizeof(double) * cells);
    field[1] = field[0] + cells;
    for (int i = 0; i < rows * columns; i++) field[0][i] = start(rank * rows + i / columns, i % columns);
    for (int t = 0; t < threads; t++) {
        struct part *p = &parts[t];
        p->first = columns * t / threads;
        p->count = columns * (t + 1) / threads - p->first;
        MPI_Aint bytes = (MPI_Aint)sizeof(double) * (4 * p->count + 2);
        MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, p->comm, &p->memory, &p->win);
        memset(p->memory, 0, (size_t)bytes);
        MPI_Win_lock_all(0, p->win);
        MPI_Win_sync(p->win);
    }
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    in_threads(threads, work);
    double mine[2] = {now() - began, 0}, slowest[2];
    for (int t = 0; t < threads; t++) mine[1] += exchange[t] / threads;
    MPI_Allreduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int t = 0; t < threads; t++) MPI_Win_unlock_all(parts[t].win);
    double *result = need(rank == 0 ? sizeof(double) * cells * (size_t)size : 0);
    MPI_Gather(field[iterations % 2], (int)cells, MPI_DOUBLE, result, (int)cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        check(result);
        /* Two neighbours, data and mark. */
        long puts = 4L * size * threads * iterations;
        printf("kernel=stencil ranks=%d threads=%d operations=%ld value=%.0f seconds=%.4f exchange=%.4f verified=1\n", size, threads, puts,
               (double)puts / slowest[0], slowest[0], slowest[1]);
        fflush(stdout);
    }
    for (int t = 0; t < threads; t++) {
        MPI_Win_free(&parts[t].win);
        MPI_Comm_free(&parts[t].comm);
    }
    free(result);
    free(field[0]);
    MPI_Finalize();
    return 0;
}
