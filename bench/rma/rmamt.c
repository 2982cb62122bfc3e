/* Bandwidth and latency of one-sided operations by several threads of a process, by kind of synchronisation.
 *
 * Usage: mpirun -n 2 rmamt -o put|get -s fence|lock|lock_all|pscw|flush|all_flush [-t THREADS] [-l BYTES,BYTES,...]
 *                          [-i EPOCHS] [-m MILLISECONDS] [-d OPERATIONS] [-b BYTES] [-w] [-c] [-x] [-v]
 *
 * Every even rank is an origin whose threads operate on the window of the rank behind it; that one has one thread, which takes part in
 * the synchronisation of active targets and waits in MPI_Barrier otherwise. A size (-l) is that of all threads together, as the
 * published benchmark counts: each moves its share, at least one byte. Two things are measured for each size, in epochs
 * of their own, as many as take MILLISECONDS (8), at least 3 and at most EPOCHS (100); the figure is their median:
 *
 *   bandwidth   Each thread starts up to OPERATIONS (100) in an epoch, as many as have places of their own in a window of BYTES (-b, 4 MiB).
 *               The time is that of the opening call, from the first thread's start to the last one's end, and of the closing
 *               call. Meetings of the threads between these are not in it.
 *   latency     Each thread starts one. A thread's latency is its own time and that of the opening and closing calls; the slowest
 *               thread's is told beside the mean.
 *
 * The first thread opens and closes epochs: one thread alone may. With flush and all_flush there is one lock_all around everything, and
 * an epoch ends with a flush by the first thread, or by each. -w exposes memory of the program's (MPI_Win_create). Data are checked behind each size,
 * with -v behind each epoch, every one with bytes of its own. -c prints what the library's counters (names with "cri" or "osc") say
 * per operation of the bandwidth's epochs. -x pins each thread, and the target's, to a core of its own where the node has so many, and says
 * so where it has not.
 *
 * One line for each size: x (bytes), value (MiB/s of all origins), rate (operations/s), latency and slowest (us), seconds (of all
 * that was measured), verified. */
#define _GNU_SOURCE
#include "../counters.h"
#include "../pin.h"
#include "common.h"

#include <stddef.h>

enum sync { FENCE, LOCK, LOCK_ALL, PSCW, FLUSH, ALL_FLUSH, SYNCS };
static const char *const sync_names[SYNCS] = {"fence", "lock", "lock_all", "pscw", "flush", "all_flush"};

enum { LEAST_EPOCHS = 3, MOST_SIZES = 64, LINE = 64 };

static enum sync way = SYNCS;
static int get = -1, threads = 1, most_epochs = 100, most_operations = 100, created, counted, pinned, every_epoch;
static double milliseconds = 8;
static size_t window_bytes = 4u << 20, sizes[MOST_SIZES] = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576};
static int size_count = 8;

static int origin, peer;
static MPI_Group peers;
static MPI_Win win;
/* The window's memory, and what the origin sends or gets, of the same length. */
static unsigned char *exposed, *local;
static pthread_barrier_t together;

/* Next step of all threads; written by the first one, read behind a meeting. */
static struct {
    size_t share, stride;
    int operations, over;
} task;
/* When a thread began and ended its part of an epoch, a line each. */
static struct {
    double began, ended;
    char apart[LINE - 2 * sizeof(double)];
} parts[MOST_THREADS];

/* ---- data ---- */

static unsigned char byte_of(unsigned long seed, size_t at) {
    unsigned long x = seed * 0x9E3779B97F4A7C15ul + (unsigned long)at * 0xBF58476D1CE4E5B9ul;
    return (unsigned char)(x >> 56 ^ x >> 24) | 1;
}

static void fill(unsigned char *to, size_t bytes, unsigned long seed) {
    for (size_t i = 0; i < bytes; i++) to[i] = byte_of(seed, i);
}

static void check(const unsigned char *in, size_t bytes, unsigned long seed, size_t total) {
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != byte_of(seed, i))
            fail("%s, %s, %zu bytes: byte %zu is %d instead of %d", get ? "get" : "put", sync_names[way], total, i, in[i],
                 byte_of(seed, i));
}

/* The program's own loads and stores of its window, between MPI_Barriers. */
static void touch(int begin) {
    if (way == FLUSH || way == ALL_FLUSH) MPI_Win_sync(win);
    else if (way == LOCK || way == LOCK_ALL)
        begin ? MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win) : MPI_Win_unlock(rank, win);
}

/* The data that are to arrive on one side, and nothing yet on the other. */
static void prepare(size_t bytes, unsigned long seed) {
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *at = origin ? local : exposed;
    if (!origin) touch(1);
    if (origin == !get) fill(at, bytes, seed);
    else memset(at, 0, bytes);
    if (!origin) touch(0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void look(size_t bytes, unsigned long seed, size_t total) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!origin) touch(1);
    if (origin == get) check(origin ? local : exposed, bytes, seed, total);
    if (!origin) touch(0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- an epoch ---- */

static void open_epoch(void) {
    if (way == FENCE) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    else if (way == LOCK) MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
    else if (way == LOCK_ALL) MPI_Win_lock_all(0, win);
    else if (way == PSCW) MPI_Win_start(peers, 0, win);
}

static void close_epoch(void) {
    if (way == FENCE) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    else if (way == LOCK) MPI_Win_unlock(peer, win);
    else if (way == LOCK_ALL) MPI_Win_unlock_all(win);
    else if (way == PSCW) MPI_Win_complete(win);
    else if (way == FLUSH) MPI_Win_flush(peer, win);
}

static void operate(int me) {
    size_t at = (size_t)me * task.stride;
    int bytes = (int)task.share;
    parts[me].began = now();
    for (int k = 0; k < task.operations; k++, at += task.share) {
        if (get) MPI_Get(local + at, bytes, MPI_BYTE, peer, (MPI_Aint)at, bytes, MPI_BYTE, win);
        else MPI_Put(local + at, bytes, MPI_BYTE, peer, (MPI_Aint)at, bytes, MPI_BYTE, win);
    }
    if (way == ALL_FLUSH) MPI_Win_flush(peer, win);
    parts[me].ended = now();
}

static void meet(void) {
    if (threads > 1) pthread_barrier_wait(&together);
}

/* All threads but the first: their part of every epoch. */
static void *help(void *argument) {
    for (;;) {
        meet();
        if (task.over) return NULL;
        operate((int)(long)argument);
        meet();
    }
}

struct times {
    double bandwidth, mean, slowest, all;
};

/* The first thread of an origin. */
static struct times origin_epoch(void) {
    double t0 = now();
    open_epoch();
    double t1 = now();
    meet();
    operate(0);
    meet();
    double t2 = now();
    close_epoch();
    double t3 = now(), calls = (t1 - t0) + (t3 - t2);
    struct times t = {0, 0, 0, t3 - t0};
    double first = parts[0].began, last = parts[0].ended;
    for (int i = 0; i < threads; i++) {
        double own = parts[i].ended - parts[i].began;
        if (parts[i].began < first) first = parts[i].began;
        if (parts[i].ended > last) last = parts[i].ended;
        if (own > t.slowest) t.slowest = own;
        t.mean += own / threads;
    }
    t.bandwidth = calls + (last - first);
    t.mean += calls;
    t.slowest += calls;
    return t;
}

static void target_epoch(void) {
    if (way == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else if (way == PSCW) {
        MPI_Win_post(peers, 0, win);
        MPI_Win_wait(win);
    }
}

/* So many epochs; their times at an origin. */
static void epochs(int count, struct times *times) {
    for (int i = 0; i < count; i++) {
        if (origin) times[i] = origin_epoch();
        else target_epoch();
    }
}

/* ---- a size ---- */

struct phase {
    double bandwidth, mean, slowest, seconds;
};

/* The median of one field. */
static double middle(const struct times *times, int count, size_t field) {
    double *values = need((size_t)count * sizeof *values);
    for (int i = 0; i < count; i++) values[i] = *(const double *)((const char *)&times[i] + field);
    double m = median(values, count);
    free(values);
    return m;
}

/* Measures with so many operations a thread and epoch, and checks. */
static struct phase measure(size_t total, size_t share, int operations, int counts) {
    static unsigned long seed;
    size_t bytes = share * (size_t)operations * (size_t)threads;
    struct times *times = need((size_t)most_epochs * sizeof *times), warm[LEAST_EPOCHS];
    task.share = share;
    task.stride = share * (size_t)operations;
    task.operations = operations;
    prepare(bytes, ++seed);
    epochs(LEAST_EPOCHS, warm);
    look(bytes, seed, total);
    /* The last warm one says how many there is time for; all ranks do as many. */
    int wanted = most_epochs;
    if (origin) {
        double fit = milliseconds * 1e-3 / (warm[LEAST_EPOCHS - 1].all + 1e-9);
        if (fit < wanted) wanted = (int)fit;
        if (wanted < LEAST_EPOCHS) wanted = LEAST_EPOCHS;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (counts) counters_take(0);
    if (every_epoch) {
        for (int i = 0; i < wanted; i++) {
            prepare(bytes, ++seed);
            epochs(1, times + i);
            look(bytes, seed, total);
        }
    } else {
        prepare(bytes, ++seed);
        epochs(wanted, times);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (counts) {
        counters_take(1);
        for (int i = 0; i < counters_count && rank == 0; i++)
            printf("x=%zu counter=%s value=%.6f\n", total, counters[i].name,
                   counters_difference(i) / ((double)operations * threads * wanted));
    }
    if (!every_epoch) look(bytes, seed, total);
    struct phase p = {0, 0, 0, 0};
    if (origin) {
        p.bandwidth = middle(times, wanted, offsetof(struct times, bandwidth));
        p.mean = middle(times, wanted, offsetof(struct times, mean));
        p.slowest = middle(times, wanted, offsetof(struct times, slowest));
        for (int i = 0; i < wanted; i++) p.seconds += times[i].all;
    }
    free(times);
    return p;
}

static void one_size(size_t total) {
    size_t share = total / (size_t)threads ? total / (size_t)threads : 1;
    size_t places = window_bytes / (share * (size_t)threads);
    int operations = places < (size_t)most_operations ? (int)(places ? places : 1) : most_operations;
    struct phase bw = measure(total, share, operations, counted), lat = measure(total, share, 1, 0);
    double count = (double)operations * threads;
    double sums[2] = {origin ? count * (double)share / bw.bandwidth / 1048576 : 0, origin ? count / bw.bandwidth : 0};
    double most[3] = {lat.mean, lat.slowest, bw.seconds + lat.seconds};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("x=%zu value=%.6g rate=%.6g latency=%.6g slowest=%.6g seconds=%.6g verified=1\n", total, sums[0], sums[1],
               most[0] * 1e6, most[1] * 1e6, most[2]);
        fflush(stdout);
    }
}

/* ---- the whole ---- */

static void usage(void) {
    fail("usage: rmamt -o put|get -s fence|lock|lock_all|pscw|flush|all_flush [-t THREADS] [-l BYTES,...] [-i EPOCHS] "
         "[-m MILLISECONDS] [-d OPERATIONS] [-b BYTES] [-w] [-c] [-x] [-v]; an even number of ranks, 1 to %d threads",
         MOST_THREADS);
}

static void read_sizes(char *list) {
    size_count = 0;
    for (char *word = strtok(list, ","); word && size_count < MOST_SIZES; word = strtok(NULL, ","))
        sizes[size_count++] = strtoull(word, NULL, 10);
}

static void options(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "o:s:t:l:i:m:d:b:wcxv")) != -1;) {
        if (c == 'o') get = !strcmp(optarg, "get") ? 1 : !strcmp(optarg, "put") ? 0 : -1;
        else if (c == 's') for (way = 0; way < SYNCS && strcmp(optarg, sync_names[way]);) way++;
        else if (c == 't') threads = atoi(optarg);
        else if (c == 'l') read_sizes(optarg);
        else if (c == 'i') most_epochs = atoi(optarg);
        else if (c == 'm') milliseconds = atof(optarg);
        else if (c == 'd') most_operations = atoi(optarg);
        else if (c == 'b') window_bytes = strtoull(optarg, NULL, 10);
        else if (c == 'w') created = 1;
        else if (c == 'c') counted = 1;
        else if (c == 'x') pinned = 1;
        else if (c == 'v') every_epoch = 1;
        else usage();
    }
    if (get < 0 || way == SYNCS || size % 2 || threads < 1 || threads > MOST_THREADS || most_operations < 1) usage();
    if (most_epochs < LEAST_EPOCHS) most_epochs = LEAST_EPOCHS;
    for (int i = 0; i < size_count; i++) {
        size_t whole = sizes[i] / (size_t)threads * (size_t)threads;
        if (sizes[i] == 0 || sizes[i] > 1u << 30) usage();
        if (whole > window_bytes) window_bytes = whole;
    }
    if (window_bytes < (size_t)threads) window_bytes = (size_t)threads;
}

static void make_window(void) {
    local = need(window_bytes);
    if (created) {
        exposed = need(window_bytes);
        MPI_Win_create(exposed, (MPI_Aint)window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate((MPI_Aint)window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
    }
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &peers);
    MPI_Group_free(&world);
}

static void *first(void *argument) {
    pin_thread("rmamt", (int)(long)argument);
    if ((long)argument != 0) return help(argument);
    for (int i = 0; i < size_count; i++) one_size(sizes[i]);
    task.over = 1;
    meet();
    return NULL;
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    options(argc, argv);
    origin = rank % 2 == 0;
    peer = rank ^ 1;
    make_window();
    if (counted) {
        counters_begin();
        counters_find("cri", &win);
        counters_find("osc", &win);
    }
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    int held = way == FLUSH || way == ALL_FLUSH;
    if (held) MPI_Win_lock_all(0, win);
    if (pinned) pin_begin("rmamt", origin ? threads : 1);
    if (origin) in_threads(threads, first);
    else {
        pin_thread("rmamt", 0);
        for (int i = 0; i < size_count; i++) one_size(sizes[i]);
    }
    if (held) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (counted) counters_end();
    MPI_Group_free(&peers);
    MPI_Win_free(&win);
    if (created) free(exposed);
    free(local);
    MPI_Finalize();
    return 0;
}
