/* Global arrays by one-sided communication: C = A B, all three in the last rank's memory. Threads of the other ranks take tasks by a counter there, get
 * tiles of A and B, and put tiles of C; the last rank compares C with the product that it computes by itself.
 *
 *   dgemm [-t THREADS] [-T TILE] [-g TILES] [-w] [-s]
 *
 * Arrays have TILES by TILES tiles of TILE by TILE numbers. Each operation is complete, by a flush, before the next begins. -w: a window for each
 * thread instead of one for all. -s: one tile of C is left out, which the comparison is to find. */
#include "common.h"

static int threads = 4, tile = 16, tiles = 6, own_windows, spoil;
/* Of the arrays: one, or one for each thread. Those of threads lie over each other, and no place is written by one and used by another. */
static MPI_Win windows[MOST_THREADS], counter;
static struct account {
    double seconds;
    long transfers, tasks;
} accounts[MOST_THREADS];
enum { A, B, C };

static int server(void) { return size - 1; }
static int tile_count(void) { return tile * tile; }
static MPI_Aint array_count(void) { return (MPI_Aint)tile_count() * tiles * tiles; }
static double number(int array, MPI_Aint i) { return (double)((array * 31 + i * 7) % 13 - 6); }

/* Gets or puts a tile, and waits for its end. */
static void move(long thread, int is_put, double *mine, int array, int row, int column) {
    MPI_Win win = windows[own_windows ? thread : 0];
    MPI_Aint at = array * array_count() + ((MPI_Aint)row * tiles + column) * tile_count();
    double began = now();
    if (is_put)
        MPI_Put(mine, tile_count(), MPI_DOUBLE, server(), at, tile_count(), MPI_DOUBLE, win);
    else
        MPI_Get(mine, tile_count(), MPI_DOUBLE, server(), at, tile_count(), MPI_DOUBLE, win);
    MPI_Win_flush(server(), win);
    accounts[thread].seconds += now() - began;
    accounts[thread].transfers++;
}

static long next_task(void) {
    long one = 1, task;
    MPI_Fetch_and_op(&one, &task, MPI_LONG, server(), 0, MPI_SUM, counter);
    MPI_Win_flush(server(), counter);
    return task;
}

static void *work(void *argument) {
    long me = (long)argument;
    double *a = need(3 * sizeof(double) * (size_t)tile_count()), *b = a + tile_count(), *c = b + tile_count();
    for (long task; (task = next_task()) < (long)tiles * tiles;) {
        int row = (int)(task / tiles), column = (int)(task % tiles);
        accounts[me].tasks++;
        memset(c, 0, sizeof(double) * (size_t)tile_count());
        for (int k = 0; k < tiles; k++) {
            move(me, 0, a, A, row, k);
            move(me, 0, b, B, k, column);
            for (int i = 0; i < tile; i++)
                for (int j = 0; j < tile; j++)
                    for (int l = 0; l < tile; l++) c[i * tile + j] += a[i * tile + l] * b[l * tile + j];
        }
        if (spoil && task == (long)tiles * tiles / 2) continue;
        move(me, 1, c, C, row, column);
    }
    free(a);
    return NULL;
}

/* Element of an array whose tiles lie one behind the other. */
static double *element(double *array, int row, int column) {
    return array + ((MPI_Aint)(row / tile) * tiles + column / tile) * tile_count() + row % tile * tile + column % tile;
}

/* Numbers are small and whole, so sums are exact in any order. */
static void check(double *all) {
    double *a = all, *b = a + array_count(), *c = b + array_count();
    int side = tile * tiles;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            double sum = 0;
            for (int k = 0; k < side; k++) sum += *element(a, i, k) * *element(b, k, j);
            if (sum != *element(c, i, j)) fail("element %d, %d of the product is %g, not %g", i, j, *element(c, i, j), sum);
        }
}

static void read_options(int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "t:T:g:ws")) != -1;) {
        switch (option) {
        case 't': threads = atoi(optarg); break;
        case 'T': tile = atoi(optarg); break;
        case 'g': tiles = atoi(optarg); break;
        case 'w': own_windows = 1; break;
        case 's': spoil = 1; break;
        default: fail("dgemm [-t THREADS] [-T TILE] [-g TILES] [-w] [-s]");
        }
    }
    if (threads < 1 || threads > MOST_THREADS || tile < 1 || tile > 4096 || tiles < 1 || tiles > 4096)
        fail("1 to %d threads, 1 to 4096 tiles of 1 to 4096 numbers", MOST_THREADS);
    if (size < 2) fail("at least two ranks: the last one has the arrays");
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    read_options(argc, argv);
    int serving = rank == server(), count = own_windows ? threads : 1;
    MPI_Aint bytes = serving ? 3 * array_count() * (MPI_Aint)sizeof(double) : 0;
    double *all = NULL;
    long *word;
    MPI_Alloc_mem(bytes ? bytes : 1, MPI_INFO_NULL, &all);
    for (MPI_Aint i = 0; serving && i < 3 * array_count(); i++)
        all[i] = i / array_count() == C ? 1e300 : number((int)(i / array_count()), i % array_count());
    for (int i = 0; i < count; i++) MPI_Win_create(all, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
    MPI_Win_allocate(serving ? sizeof *word : 0, sizeof *word, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &counter);
    if (serving) *word = 0;
    MPI_Win_lock_all(0, counter);
    MPI_Win_sync(counter);
    for (int i = 0; i < count; i++) MPI_Win_lock_all(0, windows[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    if (!serving) in_threads(threads, work);
    for (int i = 0; i < count; i++) MPI_Win_unlock_all(windows[i]);
    MPI_Win_unlock_all(counter);
    MPI_Barrier(MPI_COMM_WORLD);
    double took = now() - began, spent = 0, total_spent;
    long mine[2] = {0, 0}, total[2];
    for (int t = 0; t < threads; t++) {
        spent += accounts[t].seconds;
        mine[0] += accounts[t].transfers;
        mine[1] += accounts[t].tasks;
    }
    MPI_Allreduce(mine, total, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&spent, &total_spent, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (total[1] != (long)tiles * tiles) fail("%ld tasks were done, not %d", total[1], tiles * tiles);
    if (serving) {
        /* The epoch is over here, too, so what was put is in memory. */
        check(all);
        printf("kernel=dgemm clients=%d threads=%d windows=%d transfers=%ld value=%.0f seconds=%.4f latency=%.2f verified=1\n", size - 1, threads, count,
               total[0], (double)total[0] / took, took, total_spent / (double)total[0] * 1e6);
        fflush(stdout);
    }
    for (int i = 0; i < count; i++) MPI_Win_free(&windows[i]);
    MPI_Win_free(&counter);
    MPI_Free_mem(all);
    MPI_Finalize();
    return 0;
}
