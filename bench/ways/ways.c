/* Long messages one way and both ways at once.
 *
 *   pingpong   one message at a time, each answered
 *   stream     windows of isend and irecv, one way
 *   exchange   MPI_Sendrecv: both ranks send and receive one message at a time
 *   both       windows of isend and irecv, both ways at once
 *
 *     mpirun -n 2 --bind-to core ./ways [OPTIONS]
 *
 *   -s BYTES,...   sizes (64 KiB to 4 MiB)
 *   -w COUNT       messages of a window (4)
 *   -b BYTES       memory that a rank's messages go through in turn: its working set, for sending and for receiving each
 *                  (0: every message of a window has one buffer)
 *   -t             the sender writes each message before it sends it, and the receiver reads it when it is there
 *   -r ROUNDS      rounds (5), of which the median counts
 *   -m SECONDS     length of a round (0.03)
 *   -o NAME        only this pattern
 *   -v             check what arrived
 *
 * One line for each size and pattern: microseconds for a message (half a round trip; of a window, its time by the
 * messages that a rank sends or receives) and 10^6 bytes per second, both directions together. Any MPI library.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, KINDS = 4 };

static int me, window = 4, touch, check;
static size_t set_bytes, size, places;
static char *out, *in;
static uint64_t next_out, next_in, sum;

static char *place(char *base, uint64_t i) { return base + i % places * ((size + 4095) & ~(size_t)4095); }

/* A message that is to be sent: written if the pattern says so. */
static char *ready(void) {
    char *at = place(out, next_out);
    if (touch || check) {
        uint64_t *words = (uint64_t *)at;
        for (size_t i = 0; i < size / 8; i++) words[i] = next_out * 7 + i;
    }
    next_out++;
    return at;
}
static char *room(void) { return place(in, next_in++); }

/* The message number `i` is there. */
static void arrived(uint64_t i) {
    const uint64_t *words = (const uint64_t *)place(in, i);
    if (touch)
        for (size_t k = 0; k < size / 8; k++) sum += words[k];
    if (check)
        for (size_t k = 0; k < size / 8; k++)
            if (words[k] != i * 7 + k) {
                fprintf(stderr, "message %llu of %zu bytes is wrong at %zu\n", (unsigned long long)i, size, k * 8);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
}

static void send_one(void) { MPI_Send(ready(), (int)size, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD); }
static void recv_one(void) {
    MPI_Recv(room(), (int)size, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived(next_in - 1);
}
static void pingpong(long n) {
    for (long i = 0; i < n; i++) {
        if (me == 0) send_one(), recv_one();
        else recv_one(), send_one();
    }
}
static void exchange(long n) {
    for (long i = 0; i < n; i++) {
        char *from = ready();
        MPI_Sendrecv(from, (int)size, MPI_BYTE, 1 - me, 0, room(), (int)size, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        arrived(next_in - 1);
    }
}
static void windows(long n, int sends, int receives) {
    MPI_Request req[2 * MOST];
    for (long i = 0; i < n; i++) {
        int count = 0;
        uint64_t first = next_in;
        for (int k = 0; receives && k < window; k++)
            MPI_Irecv(room(), (int)size, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, &req[count++]);
        for (int k = 0; sends && k < window; k++)
            MPI_Isend(ready(), (int)size, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD, &req[count++]);
        MPI_Waitall(count, req, MPI_STATUSES_IGNORE);
        for (int k = 0; receives && k < window; k++) arrived(first + (uint64_t)k);
    }
}
static void stream(long n) {
    windows(n, me == 0, me == 1);
    /* The sender may not be ahead by more than the time of a message. */
    char c = 0;
    if (me == 1) MPI_Send(&c, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    else MPI_Recv(&c, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void both(long n) { windows(n, 1, 1); }

static const struct {
    const char *name;
    void (*run)(long);
    int windowed, ways, half;
} kinds[KINDS] = {
    {"pingpong", pingpong, 0, 1, 1}, {"stream", stream, 1, 1, 0}, {"exchange", exchange, 0, 2, 0}, {"both", both, 1, 2, 0}};

/* Seconds of a message. */
static double timed(int kind, long n) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    kinds[kind].run(n);
    double took = MPI_Wtime() - start;
    return took / (double)n / (kinds[kind].windowed ? window : 1) / (kinds[kind].half ? 2 : 1);
}

/* How many times a pattern fits into `length` seconds; the same for both ranks. */
static long as_long_as(int kind, double length) {
    long n = 1;
    for (;;) {
        double took = timed(kind, n) * (double)n * (kinds[kind].windowed ? window : 1) * (kinds[kind].half ? 2 : 1);
        int enough = took > length / 4;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (enough) {
            n = (long)((double)n * length / took) + 1;
            MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            return n;
        }
        n *= 2;
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    size_t sizes[32] = {64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20}, largest = 0;
    int count = 7, rounds = 5, option;
    double length = 0.03, values[99];
    const char *only = "";
    MPI_Init(&argc, &argv);
    while ((option = getopt(argc, argv, "s:w:b:tr:m:o:v")) != -1) {
        if (option == 's') {
            count = 0;
            for (char *s = strtok(optarg, ","); s && count < 32; s = strtok(NULL, ",")) sizes[count++] = strtoull(s, 0, 0);
        }
        else if (option == 'w') window = atoi(optarg);
        else if (option == 'b') set_bytes = strtoull(optarg, 0, 0);
        else if (option == 't') touch = 1;
        else if (option == 'r') rounds = atoi(optarg);
        else if (option == 'm') length = atof(optarg);
        else if (option == 'o') only = optarg;
        else if (option == 'v') check = 1;
        else rounds = 0;
    }
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || rounds < 1 || rounds > 99 || window < 1 || window > MOST) {
        if (me == 0) fprintf(stderr, "usage: see the head of ways.c; two ranks\n");
        MPI_Finalize();
        return 2;
    }
    for (int s = 0; s < count; s++) largest = sizes[s] > largest ? sizes[s] : largest;
    size_t room_of = (largest + 4096) * (size_t)window;
    if (set_bytes > room_of) room_of = set_bytes + largest + 4096;
    if (posix_memalign((void **)&out, 4096, room_of) || posix_memalign((void **)&in, 4096, room_of))
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 1, room_of);
    memset(in, 2, room_of);
    for (int s = 0; s < count; s++)
        for (int k = 0; k < KINDS; k++) {
            if (*only && strcmp(only, kinds[k].name)) continue;
            size = sizes[s];
            size_t step = (size + 4095) & ~(size_t)4095;
            places = kinds[k].windowed ? (size_t)window : 1;
            if (set_bytes / step > places) places = set_bytes / step;
            next_out = next_in = 0;
            long n = as_long_as(k, length);
            for (int r = 0; r < rounds; r++) values[r] = timed(k, n);
            qsort(values, (size_t)rounds, sizeof *values, by_value);
            double took = values[rounds / 2];
            if (me == 0)
                printf("%zu\t%s\t%.2f\t%.0f\n", size, kinds[k].name, took * 1e6,
                       (double)size * kinds[k].ways / took / 1e6);
        }
    if (me == 0 && sum == 42) puts("");
    MPI_Finalize();
    return 0;
}
