/* How far a message of 8 bytes is from what the machine can do: half round trips between two processes, in
 * nanoseconds, all in one run and taking turns:
 *
 *   line     a word in one cache line that both write in turn: nothing that two cores tell each other is cheaper
 *   pair     a line for each direction
 *   ring     for each direction a ring of 4096 lines, of which every message takes the next, value and flag in it
 *   message  MPI_Send and MPI_Recv of 8 bytes
 *
 *     mpirun -n 2 --bind-to core ./floor [ROUNDS (15)] [TURNS PER ROUND (20000)]
 *
 * and then what a call costs where nothing is waited for: MPI_Send of 8 bytes in windows of 64, MPI_Recv of messages that
 * have arrived. The median of the rounds counts. Any MPI library; memory is shared by MPI_Win_allocate_shared. x86 and
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

static void line(long n) {
    for (long i = 0; i < n; i++, turn += 2) {
        if (me == 0) put(shared, turn + 1), await(shared, turn + 2);
        else await(shared, turn + 1), put(shared, turn + 2);
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
        /* Who is measured waits until the other has sent all, or has read all of the last window. */
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
    enum { KINDS = 6 };
    static const char *names[KINDS] = {"line", "pair", "ring", "message", "send", "recv"};
    static void (*kinds[4])(long) = {line, pair, ring, message};
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
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < 4; k++) {
            turn = (uint64_t)(round + 1) << 40; /* both ranks' the same, and never seen before */
            values[k * rounds + round] = half_round_trip(kinds[k], turns);
        }
        values[4 * rounds + round] = calls(1, turns);
        values[5 * rounds + round] = calls(0, turns);
    }
    double line_ns = 0;
    for (int k = 0; me == 0 && k < KINDS; k++) {
        qsort(values + k * rounds, (size_t)rounds, sizeof *values, by_value);
        double median = values[k * rounds + rounds / 2];
        if (k == 0) line_ns = median;
        printf("%-8s%8.1f ns", names[k], median);
        if (k == 3) printf("  %.2f of line, %.1f ns more", median / line_ns, median - line_ns);
        printf("\n");
    }
    free(values);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
