/* How far a message of 8 bytes is from what the machine can do: half round trips between two processes, in
 * nanoseconds, all in one run and taking turns:
 *
 *   line     a word in one cache line that both write in turn: nothing that two cores tell each other is cheaper
 *   pair     a line for each direction
 *   ring     for each direction a ring of 4096 lines, of which every message takes the next, value and flag in it
 *   line+    the same as line, and ring, where each end works between what it receives and what it sends for as long as
 *   ring+    a call of MPI_Send and one of MPI_Recv take (below): whoever waits meanwhile looks at the line, so
 *            that it has to be taken from there again
 *   message  MPI_Send and MPI_Recv of 8 bytes
 *
 *     mpirun -n 2 --bind-to core ./floor [ROUNDS (15)] [TURNS PER ROUND (20000)]
 *
 * and what a call costs where nothing is waited for: MPI_Send of 8 bytes in windows of 64, MPI_Recv of messages that
 * have arrived. The last lines say where the time of a message goes: the two calls; the line, which is ring+ without the work;
 * and what is left for noticing and for the turns of waiting. The median of the rounds counts. Any MPI library; memory is shared by MPI_Win_allocate_shared. x86 and
 * aarch64 alike: C11 atomics.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 4096, WORDS = 8, WINDOW = 64 };

typedef _Atomic uint64_t word;

static int me;
static word *shared; /* a line, a pair of lines, two rings */
static uint64_t turn, ring_at;

static inline void pause_(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}
static void put(word *at, uint64_t value) { atomic_store_explicit(at, value, memory_order_release); }
static void await(word *at, uint64_t value) {
    while (atomic_load_explicit(at, memory_order_acquire) != value) pause_();
}

/* Work that touches no memory: so many steps of it, each behind the one before. */
static long steps;
static double ns_per_step;
static void work(void) {
    uint64_t x = (uint64_t)steps;
    for (long i = 0; i < steps; i++) {
        x = x * 3 + 1;
        __asm__ volatile("" : "+r"(x));
    }
}
static void weigh_work(void) {
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        steps = 100000;
        double start = MPI_Wtime();
        work();
        double took = (MPI_Wtime() - start) * 1e9 / (double)steps;
        if (took < best) best = took;
    }
    ns_per_step = best;
    steps = 0;
}

static void line(long n) {
    for (long i = 0; i < n; i++, turn += 2) {
        if (me == 0) put(shared, turn + 1), await(shared, turn + 2), work();
        else await(shared, turn + 1), work(), put(shared, turn + 2);
    }
}
static void pair(long n) {
    word *to = shared + WORDS * (1 + me), *from = shared + WORDS * (2 - me);
    for (long i = 0; i < n; i++) {
        turn++;
        if (me == 0) put(to, turn), await(from, turn);
        else await(from, turn), put(to, turn);
    }
}
static void ring(long n) {
    word *to = shared + WORDS * (3 + LINES * me), *from = shared + WORDS * (3 + LINES * (1 - me));
    for (long i = 0; i < n; i++) {
        uint64_t at = ring_at % LINES * WORDS, lap = ++ring_at;
        if (me == 0) {
            atomic_store_explicit(to + at + 1, turn, memory_order_relaxed);
            put(to + at, lap);
        }
        await(from + at, lap);
        turn += atomic_load_explicit(from + at + 1, memory_order_relaxed) & 1;
        work();
        if (me == 1) {
            atomic_store_explicit(to + at + 1, turn, memory_order_relaxed);
            put(to + at, lap);
        }
    }
}
static void message(long n) {
    uint64_t value = 1;
    for (long i = 0; i < n; i++) {
        if (me == 0) {
            MPI_Send(&value, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&value, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static double half_round_trip(void (*what)(long), long n) {
    MPI_Barrier(MPI_COMM_WORLD);
    what(n / 10);
    double start = MPI_Wtime();
    what(n);
    return (MPI_Wtime() - start) / (double)n / 2 * 1e9;
}

/* Nanoseconds of a send, or of a receive, while the other rank does nothing that matters. */
static double calls(int sending, long n) {
    double took = 0;
    for (long i = 0; i < n / WINDOW; i++) {
        uint64_t value = 1;
        /* The rank that is measured waits until the other has sent all, or has read all of the last window. */
        if (me == 1 && !sending)
            for (int k = 0; k < WINDOW; k++) MPI_Send(&value, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int k = 0; me == 0 && k < WINDOW; k++) {
            if (sending) MPI_Send(&value, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            else MPI_Recv(&value, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        took += MPI_Wtime() - start;
        for (int k = 0; me == 1 && sending && k < WINDOW; k++)
            MPI_Recv(&value, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return took / (double)(n / WINDOW * WINDOW) * 1e9;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { LINE, PAIR, RING, LINE_WORK, RING_WORK, MESSAGE, SEND, RECV, KINDS };
    static const char *names[KINDS] = {"line", "pair", "ring", "line+", "ring+", "message", "send", "recv"};
    static void (*kinds[SEND])(long) = {line, pair, ring, line, ring, message};
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rounds = argc > 1 ? atoi(argv[1]) : 15;
    long turns = argc > 2 ? atol(argv[2]) : 20000;
    if (ranks != 2 || rounds < 1 || turns < WINDOW) {
        if (me == 0) fprintf(stderr, "usage: mpirun -n 2 floor [ROUNDS] [TURNS PER ROUND (64 and more)]\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Win window;
    MPI_Aint bytes = me == 0 ? (MPI_Aint)(3 + 2 * LINES) * WORDS * 8 : 0;
    int unit;
    void *base;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &base);
    shared = base;
    for (int i = 0; me == 0 && i < (3 + 2 * LINES) * WORDS; i++) put(shared + i, 0);
    double *values = malloc(sizeof *values * KINDS * (size_t)rounds);
    if (!values) MPI_Abort(MPI_COMM_WORLD, 1);
    weigh_work();
    for (int round = 0; round < rounds; round++) {
        double calls_take[2] = {calls(1, turns), calls(0, turns)};
        /* Rank 0 measured them. */
        MPI_Bcast(calls_take, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        values[SEND * rounds + round] = calls_take[0];
        values[RECV * rounds + round] = calls_take[1];
        for (int k = 0; k < SEND; k++) {
            turn = (uint64_t)(KINDS * (round + 1) + k) << 40; /* both ranks' the same, and never seen before */
            steps = k == LINE_WORK || k == RING_WORK ? (long)((calls_take[0] + calls_take[1]) / ns_per_step) : 0;
            values[k * rounds + round] = half_round_trip(kinds[k], turns);
        }
    }
    double median[KINDS];
    for (int k = 0; me == 0 && k < KINDS; k++) {
        qsort(values + k * rounds, (size_t)rounds, sizeof *values, by_value);
        median[k] = values[k * rounds + rounds / 2];
        printf("%-8s\t%8.1f\n", names[k], median[k]);
    }
    if (me == 0) {
        double both = median[SEND] + median[RECV], lines = median[RING_WORK] - both;
        printf("message by line\t%.2f\nmessage by ring\t%.2f\nmessage by line+\t%.2f\nmessage by ring+\t%.2f\n",
               median[MESSAGE] / median[LINE], median[MESSAGE] / median[RING], median[MESSAGE] / median[LINE_WORK],
               median[MESSAGE] / median[RING_WORK]);
        printf("of a message: the calls\t%.1f\nof a message: the line\t%.1f\nof a message: the rest\t%.1f\n", both, lines,
               median[MESSAGE] - both - lines);
    }
    free(values);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
