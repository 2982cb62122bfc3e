/* Exchange of patches' halos by passive target: the traffic of an application that gives each thread some boxes of cells.
 *
 * Usage: mpirun -n RANKS patches [-t THREADS] [-p PATCHES] [-n EDGE] [-f OPERATIONS] [-k STEPS] [-r REPEATS] [-w] [-v]
 *
 * Each of THREADS (1) has PATCHES (2) boxes of EDGE^3 cells (16), and all patches of all ranks form a periodic grid. In each of STEPS (20) steps
 * a thread puts the cells at the border of its patches into the windows of the 26 patches around each, with at most OPERATIONS (4) requests
 * under way, flushes, and counts its halos there by accumulates; then it waits until all halos of its patches are there and makes
 * the step. One lock_all is held throughout. A patch has two slots for each direction, used in turn: a neighbor is one step ahead at most, since it
 * needs this patch's halo for more.
 *
 * A step moves all cells along a diagonal, another one in each step, so every value in the end is known, and each one that was lost or
 * misplaced is seen. -v looks at every halo, too. REPEATS (1) runs of STEPS are measured; the median is told. -w exposes memory of the program's.
 * Prints one line: milliseconds of STEPS (value), puts of all ranks and seconds in all. */
#define _GNU_SOURCE
#include "common.h"
#include "halo.h"

#include <stdint.h>

enum { MOST_IN_FLIGHT = 256 };

static int threads = 1, per_thread = 2, edge = 16, in_flight = 4, steps = 20, repeats = 1, created, every_halo;
static struct box box;
/* Patches along each axis, of one rank, and of all. */
static int grid[3], per_rank, patches;

static MPI_Win win;
/* The window: for each patch two counts, then two rows of slots, in units of eight bytes. */
static int64_t *base;
static MPI_Aint slot_at[WAYS], row, patch_units;
static pthread_barrier_t together;
static double *took;

struct patch {
    int number, position[3], around[WAYS];
    /* Cells now and in the next step, and the halos on their way out. */
    double *now, *next, *out[WAYS];
};

/* ---- what a cell is ---- */

static int wrapped(int at, int whole) { return (at % whole + whole) % whole; }

/* How far cells have moved along an axis before a step. */
static int moved(int step, int axis) {
    int sum = 0;
    for (int i = 0; i < step % 8; i++) sum += i >> axis & 1 ? -1 : 1;
    return sum;
}

/* The cell at a place of the whole grid before a step. */
static double value_at(const int *place, int step) {
    double value = 0;
    for (int axis = 0; axis < 3; axis++) {
        int whole = grid[axis] * edge;
        value = value * whole + wrapped(place[axis] - moved(step, axis), whole);
    }
    return value + 1;
}

static void each_value(struct patch *p, int way, int step, int set) {
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) {
        lo[axis] = 1, hi[axis] = edge;
        if (way != MIDDLE) halo_span(&box, way, axis, 1, &lo[axis], &hi[axis]);
    }
    for (int z = lo[2]; z <= hi[2]; z++)
        for (int y = lo[1]; y <= hi[1]; y++)
            for (int x = lo[0]; x <= hi[0]; x++) {
                int place[3] = {p->position[0] * edge + x - 1, p->position[1] * edge + y - 1, p->position[2] * edge + z - 1};
                double *at = &p->now[cell(&box, x, y, z)], due = value_at(place, step);
                if (set) *at = due;
                else if (*at != due)
                    fail("patch %d, step %d, direction %d: cell %d,%d,%d is %g instead of %g", p->number, step, way, x, y, z, *at, due);
            }
}

/* ---- patches ---- */

static struct patch *make_patches(int me) {
    struct patch *all = need((size_t)per_thread * sizeof *all);
    for (int i = 0; i < per_thread; i++) {
        struct patch *p = &all[i];
        p->number = rank * per_rank + me * per_thread + i;
        p->position[0] = p->number % grid[0];
        p->position[1] = p->number / grid[0] % grid[1];
        p->position[2] = p->number / (grid[0] * grid[1]);
        p->now = need(cells(&box) * sizeof(double));
        p->next = need(cells(&box) * sizeof(double));
        for (int way = 0; way < WAYS; way++) {
            int at[3];
            for (int axis = 0; axis < 3; axis++) at[axis] = wrapped(p->position[axis] + step_of(way, axis), grid[axis]);
            p->around[way] = at[0] + grid[0] * (at[1] + grid[1] * at[2]);
            p->out[way] = need(halo_cells(&box, way) * sizeof(double));
        }
        each_value(p, MIDDLE, 0, 1);
    }
    return all;
}

static void free_patches(struct patch *all) {
    for (int i = 0; i < per_thread; i++) {
        free(all[i].now);
        free(all[i].next);
        for (int way = 0; way < WAYS; way++) free(all[i].out[way]);
    }
    free(all);
}

static MPI_Aint units_of(int patch) { return (MPI_Aint)(patch % per_rank) * patch_units; }

/* ---- a step ---- */

/* Puts all halos, no more than so many at a time. `reached`: ranks that something went to. */
static void put_halos(struct patch *all, int parity, char *reached) {
    MPI_Request requests[MOST_IN_FLIGHT];
    int begun = 0;
    for (int i = 0; i < per_thread; i++)
        for (int way = 0; way < WAYS; way++) {
            if (way == MIDDLE) continue;
            int there = all[i].around[way], to = there / per_rank, place = begun, length = (int)halo_cells(&box, way);
            if (begun < in_flight) begun++;
            else MPI_Waitany(in_flight, requests, &place, MPI_STATUS_IGNORE);
            halo_pack(&box, way, all[i].now, all[i].out[way]);
            MPI_Aint at = units_of(there) + 2 + parity * row + slot_at[opposite(way)];
            MPI_Rput(all[i].out[way], length, MPI_DOUBLE, to, at, length, MPI_DOUBLE, win, &requests[place]);
            reached[to] = 1;
        }
    MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
}

static void flush(const char *reached) {
    for (int to = 0; to < size; to++)
        if (reached[to]) MPI_Win_flush(to, win);
}

static void count_halos(struct patch *all, int parity) {
    static const int64_t one = 1;
    for (int i = 0; i < per_thread; i++)
        for (int way = 0; way < WAYS; way++) {
            int there = all[i].around[way];
            if (way != MIDDLE)
                MPI_Accumulate(&one, 1, MPI_INT64_T, there / per_rank, units_of(there) + parity, 1, MPI_INT64_T, MPI_SUM, win);
        }
}

/* Until so many halos have come to a patch in all. */
static void await_halos(const struct patch *p, int parity, int64_t due) {
    unsigned looks = 0;
    for (int64_t count = 0;;) {
        MPI_Fetch_and_op(NULL, &count, MPI_INT64_T, rank, units_of(p->number) + parity, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        if (count >= due) break;
        give_way(&looks);
    }
    MPI_Win_sync(win);
}

/* Every cell comes from the one behind it on the step's diagonal. */
static void move(struct patch *p, int step) {
    int s[3];
    for (int axis = 0; axis < 3; axis++) s[axis] = step % 8 >> axis & 1 ? -1 : 1;
    for (int z = 1; z <= edge; z++)
        for (int y = 1; y <= edge; y++)
            memcpy(&p->next[cell(&box, 1, y, z)], &p->now[cell(&box, 1 - s[0], y - s[1], z - s[2])], (size_t)edge * sizeof(double));
    double *now = p->now;
    p->now = p->next;
    p->next = now;
}

static void make_step(struct patch *all, int step, char *reached) {
    int parity = step % 2;
    memset(reached, 0, (size_t)size);
    put_halos(all, parity, reached);
    flush(reached);
    count_halos(all, parity);
    flush(reached);
    for (int i = 0; i < per_thread; i++) {
        struct patch *p = &all[i];
        await_halos(p, parity, (int64_t)(WAYS - 1) * (step / 2 + 1));
        const double *slots = (const double *)base + units_of(p->number) + 2 + parity * row;
        for (int way = 0; way < WAYS; way++) {
            if (way == MIDDLE) continue;
            halo_unpack(&box, way, p->now, slots + slot_at[way]);
            if (every_halo) each_value(p, way, step, 0);
        }
        move(p, step);
    }
}

/* ---- the whole ---- */

static void *work(void *argument) {
    int me = (int)(long)argument, done = 0;
    struct patch *all = make_patches(me);
    char *reached = need((size_t)size);
    for (int run = 0; run < repeats; run++) {
        pthread_barrier_wait(&together);
        if (me == 0) MPI_Barrier(MPI_COMM_WORLD);
        pthread_barrier_wait(&together);
        double began = now();
        for (int i = 0; i < steps; i++) make_step(all, done++, reached);
        pthread_barrier_wait(&together);
        if (me == 0) took[run] = now() - began;
    }
    for (int i = 0; i < per_thread; i++) each_value(&all[i], MIDDLE, done, 0);
    pthread_barrier_wait(&together);
    free(reached);
    free_patches(all);
    return NULL;
}

static void make_window(void) {
    for (int way = 0; way < WAYS; way++) {
        slot_at[way] = row;
        row += way == MIDDLE ? 0 : (MPI_Aint)halo_cells(&box, way);
    }
    /* Whole lines, so that patches of different threads share none. */
    patch_units = (2 + 2 * row + 7) / 8 * 8;
    MPI_Aint bytes = per_rank * patch_units * 8;
    if (created) {
        base = need((size_t)bytes);
        MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
    MPI_Win_lock_all(0, win);
    memset(base, 0, (size_t)bytes);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void options(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "t:p:n:f:k:r:wv")) != -1;) {
        if (c == 't') threads = atoi(optarg);
        else if (c == 'p') per_thread = atoi(optarg);
        else if (c == 'n') edge = atoi(optarg);
        else if (c == 'f') in_flight = atoi(optarg);
        else if (c == 'k') steps = atoi(optarg);
        else if (c == 'r') repeats = atoi(optarg);
        else if (c == 'w') created = 1;
        else if (c == 'v') every_halo = 1;
        else fail("usage: patches [-t THREADS] [-p PATCHES] [-n EDGE] [-f OPERATIONS] [-k STEPS] [-r REPEATS] [-w] [-v]");
    }
    if (threads < 1 || threads > MOST_THREADS || per_thread < 1 || edge < 1 || steps < 1 || repeats < 1)
        fail("1 to %d threads, and at least one of the rest", MOST_THREADS);
    if (in_flight < 1 || in_flight > MOST_IN_FLIGHT) fail("1 to %d operations under way", MOST_IN_FLIGHT);
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    options(argc, argv);
    per_rank = threads * per_thread;
    patches = size * per_rank;
    took = need((size_t)repeats * sizeof *took);
    MPI_Dims_create(patches, 3, grid);
    box = (struct box){{edge, edge, edge}};
    make_window();
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    in_threads(threads, work);
    double all = 0;
    for (int i = 0; i < repeats; i++) all += took[i];
    double times[2] = {median(took, repeats), all};
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("ranks=%d threads=%d patches=%d edge=%d in_flight=%d steps=%d value=%.6g puts=%ld seconds=%.6g verified=1\n", size, threads,
               patches, edge, in_flight, steps, times[0] * 1e3, (long)patches * (WAYS - 1) * steps, times[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (created) free(base);
    free(took);
    MPI_Finalize();
    return 0;
}
