/* Message rate between groups of senders and receivers that are processes, threads, or both.
 *
 * Usage: mpirun -n RANKS multirate [options]; see usage() below and README.md.
 *
 * Entities. The lower half of the ranks sends, the upper half receives. -n ranks of the lower half
 * and -m of the upper take part, each with -x (-y) threads. The others wait in barriers.
 *
 * Pairwise: thread t of the k-th sender talks to thread t of the k-th receiver only. Per iteration
 * the receiver posts a window of receives, says "ready", waits for all, says "done"; the sender
 * waits for "ready", sends the window, waits for its requests and for "done". So every message
 * finds its receive posted, and at most one window per pair is under way. The tag of a data message
 * is its slot in the window: without -c, pairs of threads in the same two processes use the same
 * tags in the same communicator, and the library has to match under contention. That is the point.
 *
 * All-to-all: every sending thread sends a window to every receiving thread; the tag is the
 * receiving thread's number. Each iteration starts when all receivers have posted.
 *
 * Ready and done travel in a communicator of their own, so no window is large enough for its tags
 * to meet theirs. The clock starts when every entity has finished its warm-up and stops when every
 * entity has finished.
 */

#define _GNU_SOURCE
#include "../pin.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WARM_UP = 10, TAGS = 32768 };

static struct {
    int all_to_all, senders, receivers, sender_threads, receiver_threads;
    long size, window, iterations;
    int own_comm, overtaking, single_threaded, verify, any_tag, test_loop, switches, pinned;
} opt = { .senders = 1, .receivers = 1, .sender_threads = 1, .receiver_threads = 1,
          .size = 1024, .window = 256, .iterations = 1 };

static long switches_before;
static int rank, ranks, half;
static MPI_Comm control;          /* ready, done */
static MPI_Comm side = MPI_COMM_NULL; /* the senders, or the receivers */
static MPI_Comm *pair_comm;       /* one per pair with -c */
static int pairs;
static pthread_barrier_t everyone; /* the threads of this process */
static double started;

static void usage(FILE *to) {
    fprintf(to,
        "usage: multirate [options]\n"
        "  -p        pairwise (default)            -a        all senders to all receivers\n"
        "  -n N      sending processes (1)         -m N      receiving processes (1)\n"
        "  -x N      threads per sender (1)        -y N      threads per receiver (1)\n"
        "  -t N      the same as -x N -y N\n"
        "  -s BYTES  message size (1024)           -w N      window (256)\n"
        "  -i N      iterations (1), after %d of warm-up\n"
        "  -c        a communicator for each pair  -o        set mpi_assert_allow_overtaking\n"
        "  -Dthrds   MPI_Init instead of MPI_THREAD_MULTIPLE (one thread per process only)\n"
        "  -A        receive with MPI_ANY_TAG (pairwise)\n"
        "  -l        wait by a loop of MPI_Testall instead of MPI_Waitall\n"
        "  -P        pin each thread to a core of its own, where the node has enough\n"
        "  -u        print a last column: context switches of all processes while the clock ran\n"
        "  -v        check every byte that arrives (slower)\n"
        "The number of ranks is even; the lower half sends. Prints, separated by tabs: sending\n"
        "processes, threads of each, receiving processes, threads of each, size, window, bandwidth,\n"
        "time per message, message rate.\n", WARM_UP);
}

static void fail(const char *why) {
    if (rank == 0) fprintf(stderr, "multirate: %s\n", why);
    MPI_Finalize();
    exit(1);
}

static void *need(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "multirate: rank %d has no memory for %zu bytes\n", rank, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static long number(const char *text, long least) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least) {
        fprintf(stderr, "multirate: %s is not a number of at least %ld\n", text, least);
        exit(1);
    }
    return value;
}

static void parse(int argc, char **argv) {
    int c;
    while ((c = getopt(argc, argv, "pan:m:x:y:t:s:w:i:coAluPD:vh")) != -1) {
        switch (c) {
        case 'p': opt.all_to_all = 0; break;
        case 'a': opt.all_to_all = 1; break;
        case 'n': opt.senders = (int)number(optarg, 1); break;
        case 'm': opt.receivers = (int)number(optarg, 1); break;
        case 'x': opt.sender_threads = (int)number(optarg, 1); break;
        case 'y': opt.receiver_threads = (int)number(optarg, 1); break;
        case 't': opt.sender_threads = opt.receiver_threads = (int)number(optarg, 1); break;
        case 's': opt.size = number(optarg, 0); break;
        case 'w': opt.window = number(optarg, 1); break;
        case 'i': opt.iterations = number(optarg, 1); break;
        case 'c': opt.own_comm = 1; break;
        case 'o': opt.overtaking = 1; break;
        case 'A': opt.any_tag = 1; break;
        case 'l': opt.test_loop = 1; break;
        case 'u': opt.switches = 1; break;
        case 'P': opt.pinned = 1; break;
        case 'v': opt.verify = 1; break;
        case 'D':
            if (strcmp(optarg, "thrds") == 0) { opt.single_threaded = 1; break; }
            usage(stderr);
            exit(1);
        case 'h': usage(stdout); exit(0);
        default: usage(stderr); exit(1);
        }
    }
    if (optind != argc) { usage(stderr); exit(1); }
}

/* ---- data ---- */

/* The byte that slot `slot` of a window holds; only -v looks. */
static unsigned char pattern(long slot) { return (unsigned char)(slot * 37 + 11); }

static void fill(char *buffer, long slot) { memset(buffer, pattern(slot), (size_t)opt.size); }

static void check(const char *buffer, long slot, const MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count != opt.size) {
        fprintf(stderr, "multirate: rank %d got %d bytes instead of %ld\n", rank, count, opt.size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (long i = 0; i < opt.size; i++) {
        if ((unsigned char)buffer[i] != pattern(slot)) {
            fprintf(stderr, "multirate: rank %d: byte %ld of slot %ld is wrong\n", rank, i, slot);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
}

static int is_sender(void) { return rank < half; }
static int my_index(void) { return is_sender() ? rank : rank - half; }
static int takes_part(void) { return my_index() < (is_sender() ? opt.senders : opt.receivers); }
static int my_threads(void) { return is_sender() ? opt.sender_threads : opt.receiver_threads; }

/* Buffers and requests of one thread. Receives of one window never share memory; sends may, and
 * do, unless their contents are checked. */
struct window {
    long slots;
    char *data;
    MPI_Request *requests;
    MPI_Status *statuses; /* MPI_STATUSES_IGNORE unless -v */
};

static struct window make_window(long slots, int receiving) {
    struct window w = { .slots = slots };
    long distinct = receiving || opt.verify ? slots : 1;
    w.data = need((size_t)distinct * (size_t)opt.size);
    w.requests = need((size_t)slots * sizeof *w.requests);
    w.statuses = opt.verify ? need((size_t)slots * sizeof *w.statuses) : MPI_STATUSES_IGNORE;
    /* Touched now: first use of a page is not what we measure. */
    for (long i = 0; i < distinct; i++) fill(w.data + i * opt.size, i);
    return w;
}

static void free_window(struct window *w) {
    free(w->data);
    free(w->requests);
    if (opt.verify) free(w->statuses);
}

static char *send_slot(struct window *w, long slot) { return opt.verify ? w->data + slot * opt.size : w->data; }

/* Waits as -l says: with the loop every thread asks for progress again and again, as it did in libraries
 * where a wait is just that. */
static void wait_all(long n, MPI_Request *requests, MPI_Status *statuses) {
    int done = 0;
    if (!opt.test_loop) MPI_Waitall((int)n, requests, statuses);
    else while (!done) MPI_Testall((int)n, requests, &done, statuses);
}

/* ---- pairwise ---- */

static void pairwise(int thread, long iterations, struct window *w) {
    int peer = is_sender() ? rank + half : rank - half;
    int ready = 2 * thread, done = 2 * thread + 1;
    MPI_Comm comm = opt.own_comm ? pair_comm[my_index() * opt.sender_threads + thread] : MPI_COMM_WORLD;
    char word = 0;
    for (long it = 0; it < iterations; it++) {
        if (is_sender()) {
            MPI_Recv(&word, 1, MPI_CHAR, peer, ready, control, MPI_STATUS_IGNORE);
            for (long k = 0; k < w->slots; k++)
                MPI_Isend(send_slot(w, k), (int)opt.size, MPI_BYTE, peer, (int)(k % TAGS), comm, &w->requests[k]);
            wait_all(w->slots, w->requests, MPI_STATUSES_IGNORE);
            MPI_Recv(&word, 1, MPI_CHAR, peer, done, control, MPI_STATUS_IGNORE);
        } else {
            if (opt.verify) memset(w->data, 0, (size_t)(w->slots * opt.size));
            for (long k = 0; k < w->slots; k++)
                MPI_Irecv(w->data + k * opt.size, (int)opt.size, MPI_BYTE, peer, opt.any_tag ? MPI_ANY_TAG : (int)(k % TAGS),
                          comm, &w->requests[k]);
            MPI_Send(&word, 1, MPI_CHAR, peer, ready, control);
            wait_all(w->slots, w->requests, w->statuses);
            MPI_Send(&word, 1, MPI_CHAR, peer, done, control);
            if (opt.verify)
                for (long k = 0; k < w->slots; k++)
                    check(w->data + k * opt.size, opt.any_tag ? w->statuses[k].MPI_TAG : k, &w->statuses[k]);
        }
    }
}

/* ---- all to all ---- */

/* The pair of sending thread (s, sx) and receiving thread (r, ry). */
static MPI_Comm comm_of(int s, int sx, int r, int ry) {
    if (!opt.own_comm) return MPI_COMM_WORLD;
    return pair_comm[((s * opt.sender_threads + sx) * opt.receivers + r) * opt.receiver_threads + ry];
}

/* Every receiver has posted before any sender goes on. */
static void all_ready(int thread) {
    char word = 0;
    pthread_barrier_wait(&everyone);
    if (thread == 0 && is_sender()) {
        if (my_index() == 0) MPI_Recv(&word, 1, MPI_CHAR, half, 0, control, MPI_STATUS_IGNORE);
        MPI_Barrier(side);
    } else if (thread == 0) {
        MPI_Barrier(side);
        if (my_index() == 0) MPI_Send(&word, 1, MPI_CHAR, 0, 0, control);
    }
    if (is_sender()) pthread_barrier_wait(&everyone);
}

static void all_to_all(int thread, long iterations, struct window *w) {
    for (long it = 0; it < iterations; it++) {
        long at = 0;
        if (is_sender()) {
            all_ready(thread);
            for (long k = 0; k < opt.window; k++)
                for (int r = 0; r < opt.receivers; r++)
                    for (int ry = 0; ry < opt.receiver_threads; ry++, at++)
                        MPI_Isend(send_slot(w, k), (int)opt.size, MPI_BYTE, half + r, ry,
                                  comm_of(my_index(), thread, r, ry), &w->requests[at]);
            wait_all(at, w->requests, MPI_STATUSES_IGNORE);
        } else {
            if (opt.verify) memset(w->data, 0, (size_t)(w->slots * opt.size));
            for (long k = 0; k < opt.window; k++)
                for (int s = 0; s < opt.senders; s++)
                    for (int sx = 0; sx < opt.sender_threads; sx++, at++)
                        MPI_Irecv(w->data + at * opt.size, (int)opt.size, MPI_BYTE, s, thread,
                                  comm_of(s, sx, my_index(), thread), &w->requests[at]);
            all_ready(thread);
            wait_all(at, w->requests, w->statuses);
            if (opt.verify) {
                /* Which sender's message a receive got is open without -c (threads of one process
                 * race), and so is its place in the window; all bytes of one message agree. */
                for (long i = 0; i < at; i++)
                    check(w->data + i * opt.size, 0, &w->statuses[i]);
            }
        }
    }
}

/* ---- the run ---- */

/* Context switches of this process so far. */
static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void run(int thread, long iterations, struct window *w) {
    if (opt.all_to_all) all_to_all(thread, iterations, w);
    else pairwise(thread, iterations, w);
}

static void *entity(void *argument) {
    int thread = (int)(long)argument;
    if (opt.pinned) pin_thread("multirate", thread);
    long slots = opt.window;
    if (opt.all_to_all && is_sender()) slots *= (long)opt.receivers * opt.receiver_threads;
    if (opt.all_to_all && !is_sender()) slots *= (long)opt.senders * opt.sender_threads;
    struct window w = make_window(slots, !is_sender());
    if (opt.all_to_all && opt.verify && is_sender())
        for (long i = 0; i < slots; i++) fill(w.data + i * opt.size, 0);
    run(thread, WARM_UP, &w);
    pthread_barrier_wait(&everyone);
    if (thread == 0) {
        MPI_Barrier(control);
        switches_before = switches();
        started = MPI_Wtime();
    }
    pthread_barrier_wait(&everyone);
    run(thread, opt.iterations, &w);
    free_window(&w);
    return NULL;
}

static void allow_overtaking(MPI_Comm comm) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

static void make_communicators(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    if (opt.overtaking) allow_overtaking(MPI_COMM_WORLD);
    if (opt.own_comm) {
        pair_comm = need((size_t)pairs * sizeof *pair_comm);
        for (int i = 0; i < pairs; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &pair_comm[i]);
            /* Hints are inherited by duplicates in some versions of the standard and not in others. */
            if (opt.overtaking) allow_overtaking(pair_comm[i]);
        }
    }
    if (opt.all_to_all && takes_part()) {
        MPI_Group world, group;
        int count = is_sender() ? opt.senders : opt.receivers;
        int *list = need((size_t)count * sizeof *list);
        for (int i = 0; i < count; i++) list[i] = i + (is_sender() ? 0 : half);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, count, list, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, is_sender() ? 1 : 2, &side);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
        free(list);
    }
}

static void free_communicators(void) {
    if (side != MPI_COMM_NULL) MPI_Comm_free(&side);
    for (int i = 0; opt.own_comm && i < pairs; i++) MPI_Comm_free(&pair_comm[i]);
    free(pair_comm);
    MPI_Comm_free(&control);
}

static void check_options(int provided) {
    int threads = opt.sender_threads > 1 || opt.receiver_threads > 1;
    half = ranks / 2;
    if (ranks % 2) fail("the number of ranks must be even: one half sends, the other receives");
    if (opt.senders > half || opt.receivers > half)
        fail("more processes asked for (-n, -m) than each half of the ranks has");
    if (!opt.all_to_all && opt.sender_threads != opt.receiver_threads)
        fail("pairwise needs as many sending as receiving threads (-x, -y)");
    if (!opt.all_to_all && opt.senders != opt.receivers)
        fail("pairwise needs as many sending as receiving processes (-n, -m)");
    if (opt.any_tag && opt.all_to_all) fail("-A goes with -p: all-to-all tells its receivers by tag");
    if (opt.any_tag && opt.verify && opt.window > TAGS) fail("-A and -v together need a window (-w) of at most 32768");
    if (threads && opt.single_threaded) fail("-Dthrds leaves no threads for -x, -y or -t");
    if (threads && provided < MPI_THREAD_MULTIPLE) fail("this MPI does not provide MPI_THREAD_MULTIPLE");
    if (opt.size > 0x7fffffffL) fail("a message (-s) must be shorter than 2 GiB");
    long each = opt.all_to_all ? (long)opt.receivers * opt.receiver_threads : 1;
    long from = opt.all_to_all ? (long)opt.senders * opt.sender_threads : 1;
    if (opt.window > 0x7fffffffL / (each > from ? each : from)) fail("the window (-w) is too large");
    pairs = opt.senders * opt.sender_threads;
    if (opt.all_to_all) pairs *= opt.receivers * opt.receiver_threads;
}

int main(int argc, char **argv) {
    int provided = MPI_THREAD_SINGLE;
    parse(argc, argv);
    if (opt.single_threaded) MPI_Init(&argc, &argv);
    else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_options(provided);
    make_communicators();
    if (opt.pinned) pin_begin("multirate", takes_part() ? my_threads() : 0);

    if (takes_part()) {
        int threads = my_threads();
        pthread_t *others = need((size_t)threads * sizeof *others);
        pthread_barrier_init(&everyone, NULL, (unsigned)threads);
        for (long i = 1; i < threads; i++)
            if (pthread_create(&others[i], NULL, entity, (void *)i)) {
                fprintf(stderr, "multirate: rank %d cannot start thread %ld\n", rank, i);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        entity((void *)0L);
        for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
        pthread_barrier_destroy(&everyone);
        free(others);
    } else {
        MPI_Barrier(control); /* the start of the clock */
        switches_before = switches();
    }
    MPI_Barrier(control);
    double seconds = MPI_Wtime() - started;
    long mine = switches() - switches_before, all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, control);

    if (rank == 0) {
        double messages = (double)pairs * (double)opt.window * (double)opt.iterations;
        double rate = messages / seconds;
        printf("%d\t%d\t%d\t%d\t%ld\t%ld\t%.2lf Gbps\t%.2lf usec\t%.2lf msg/s", opt.senders,
               opt.sender_threads, opt.receivers, opt.receiver_threads, opt.size, opt.window,
               rate * (double)opt.size * 8 / 1e9, seconds / messages * 1e6, rate);
        if (opt.switches) printf("\t%ld switches", all);
        putchar('\n');
    }
    free_communicators();
    MPI_Finalize();
    return 0;
}
