/*
 * Latency and bandwidth behind a long queue, with cold caches and receives that are posted before.
 *
 *     mpirun -n 2 ./queue [-l|-b] [-u] [-k ENGINES] [-s BYTES] [-w WINDOW] [-i ROUNDS] [-m LENGTH] [-c BYTES]
 *
 *   -l  latency: half of a round trip of one message (default)
 *   -b  bandwidth: a window of messages one way
 *   -u  the queue is one of unexpected messages: they have arrived and nobody has asked for them. With -l what
 *       counts is receiving one more that has arrived behind them.
 *       Otherwise it is one of posted receives that nothing matches before the end
 *   -k  engines, separated by commas, each on a communicator with the info key oxmpi_matching ("-": none);
 *       "-" is the default. If "list" is among them, the length is said from which on an engine beats it
 *   -s  bytes of a message (8)         -w  messages of a window (64)       -i  rounds (10)
 *   -m  longest queue (8192)           -c  bytes walked over to clear the caches (64 MiB; 0: warm)
 *
 * Every message's contents are checked, outside the time. Output: a line per length, a column per
 * engine: the median, and the standard deviation behind it.
 */
#include "common.h"
#include <math.h>
#include <unistd.h>

enum { PING = 1, PONG = 2, FIRST = 1000, MAX_LENGTHS = 32 };

static int me, window = 64, rounds = 10, unexpected, bandwidth;
static long bytes = 8;

static unsigned char content(int message, long at, int round) {
    return (unsigned char)(message * 31 + at * 7 + round * 13 + 5);
}
static void fill(unsigned char *data, int message, int round) {
    for (long i = 0; i < bytes; i++) data[i] = content(message, i, round);
}
static void check(const unsigned char *data, int message, int round) {
    for (long i = 0; i < bytes; i++)
        if (data[i] != content(message, i, round)) fail("round %d: message %d is wrong at byte %ld", round, message, i);
}

/* Entries in front of everything else, in the queue of both ranks. */
struct crowd {
    int length, *data;
    MPI_Request *requests;
};

static struct crowd crowd_in(MPI_Comm comm, int length) {
    struct crowd crowd = { length, need(sizeof(int) * (size_t)length), need(sizeof(MPI_Request) * (size_t)length) };
    for (int i = 0; i < length; i++) {
        crowd.data[i] = unexpected ? i : -1;
        if (unexpected) MPI_Isend(&crowd.data[i], 1, MPI_INT, 1 - me, FIRST + i, comm, &crowd.requests[i]);
        else MPI_Irecv(&crowd.data[i], 1, MPI_INT, 1 - me, FIRST + i, comm, &crowd.requests[i]);
    }
    if (unexpected) {
        MPI_Waitall(length, crowd.requests, MPI_STATUSES_IGNORE);
        /* When this message, which is behind them, is received, they have arrived. */
        MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - me, PING, NULL, 0, MPI_BYTE, 1 - me, PING, comm, MPI_STATUS_IGNORE);
    }
    return crowd;
}

static void crowd_out(MPI_Comm comm, struct crowd *crowd) {
    for (int i = crowd->length - 1; i >= 0; i--) {
        int data = -1;
        if (unexpected) {
            MPI_Recv(&data, 1, MPI_INT, 1 - me, FIRST + i, comm, MPI_STATUS_IGNORE);
            if (data != i) fail("entry %d was %d", i, data);
        } else {
            MPI_Send(&i, 1, MPI_INT, 1 - me, FIRST + i, comm);
        }
    }
    if (!unexpected) {
        MPI_Waitall(crowd->length, crowd->requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < crowd->length; i++)
            if (crowd->data[i] != i) fail("entry %d got %d", i, crowd->data[i]);
    }
    free(crowd->data);
    free(crowd->requests);
}

/* Seconds of half a round trip. */
static double once_latency(MPI_Comm comm, MPI_Comm control, unsigned char *out, unsigned char *in, int round) {
    MPI_Request request;
    fill(out, me, round);
    MPI_Irecv(in, (int)bytes, MPI_BYTE, 1 - me, me ? PING : PONG, comm, &request);
    MPI_Barrier(control);
    cold();
    MPI_Barrier(control);
    double start = MPI_Wtime();
    if (me == 0) {
        MPI_Send(out, (int)bytes, MPI_BYTE, 1, PING, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(out, (int)bytes, MPI_BYTE, 0, PONG, comm);
    }
    double took = (MPI_Wtime() - start) / 2;
    check(in, 1 - me, round);
    return took;
}

/* Seconds for receiving a message that has arrived and waits behind the others: what looking for it takes. */
static double once_found(MPI_Comm comm, MPI_Comm control, unsigned char *out, unsigned char *in, int round) {
    double took = 0;
    fill(out, me, round);
    if (me == 1) MPI_Send(out, (int)bytes, MPI_BYTE, 0, PONG, comm);
    /* The second message of this pair: behind it the first has arrived. */
    MPI_Barrier(control);
    cold();
    MPI_Barrier(control);
    if (me == 0) {
        double start = MPI_Wtime();
        MPI_Recv(in, (int)bytes, MPI_BYTE, 1, PONG, comm, MPI_STATUS_IGNORE);
        took = MPI_Wtime() - start;
        check(in, 1, round);
    }
    return took;
}

/* Bytes per second from rank 0 to rank 1. */
static double once_bandwidth(MPI_Comm comm, MPI_Comm control, unsigned char *data, MPI_Request *requests, int round) {
    for (int i = 0; i < window; i++) {
        unsigned char *at = data + i * bytes;
        if (me == 0) fill(at, i, round);
        else MPI_Irecv(at, (int)bytes, MPI_BYTE, 0, i, comm, &requests[i]);
    }
    MPI_Barrier(control);
    cold();
    MPI_Barrier(control);
    double start = MPI_Wtime();
    if (me == 0)
        for (int i = 0; i < window; i++) MPI_Isend(data + i * bytes, (int)bytes, MPI_BYTE, 1, i, comm, &requests[i]);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    char done = 0;
    if (me == 0) MPI_Recv(&done, 1, MPI_CHAR, 1, 0, control, MPI_STATUS_IGNORE);
    else MPI_Send(&done, 1, MPI_CHAR, 0, 0, control);
    double took = MPI_Wtime() - start;
    for (int i = 0; me == 1 && i < window; i++) check(data + i * bytes, i, round);
    return took > 0 ? (double)(bytes * window) / took : 0;
}

struct figure {
    double median, deviation;
};

static struct figure measure(const char *engine, MPI_Comm control, int length) {
    MPI_Comm comm = engine_comm(engine);
    struct crowd crowd = crowd_in(comm, length);
    int slots = bandwidth ? window : 2;
    unsigned char *data = need((size_t)(bytes * slots));
    MPI_Request *requests = need(sizeof *requests * (size_t)slots);
    double *values = need(sizeof *values * (size_t)rounds), sum = 0, squares = 0;
    for (int round = -2; round < rounds; round++) {
        double value = bandwidth ? once_bandwidth(comm, control, data, requests, round + 2)
                       : unexpected ? once_found(comm, control, data, data + bytes, round + 2)
                                 : once_latency(comm, control, data, data + bytes, round + 2);
        if (round < 0) continue;
        values[round] = value;
        sum += value;
        squares += value * value;
    }
    double mean = sum / rounds, variance = squares / rounds - mean * mean;
    struct figure figure = { median(values, rounds), variance > 0 ? sqrt(variance) : 0 };
    crowd_out(comm, &crowd);
    free(data);
    free(requests);
    free(values);
    MPI_Comm_free(&comm);
    return figure;
}

static const char usage[] =
    "usage: mpirun -n 2 queue [-l|-b] [-u] [-k ENGINES] [-s BYTES] [-w WINDOW] [-i ROUNDS] [-m LENGTH] [-c BYTES]";

int main(int argc, char **argv) {
    char nothing[] = "-", *list = nothing, *names[MAX_ENGINES];
    int size, option, longest = 8192;
    sweep_bytes_ = (size_t)64 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world_rank_ = me;
    while ((option = getopt(argc, argv, "lbuk:s:w:i:m:c:")) != -1) {
        switch (option) {
        case 'l': bandwidth = 0; break;
        case 'b': bandwidth = 1; break;
        case 'u': unexpected = 1; break;
        case 'k': list = optarg; break;
        case 's': bytes = atol(optarg); break;
        case 'w': window = atoi(optarg); break;
        case 'i': rounds = atoi(optarg); break;
        case 'm': longest = atoi(optarg); break;
        case 'c': sweep_bytes_ = (size_t)atoll(optarg); break;
        default: fail("%s", usage);
        }
    }
    if (size != 2 || bytes < 0 || bytes > 1 << 30 || window < 1 || window >= FIRST || rounds < 1 || longest < 0)
        fail("%s", usage);
    int engines = split(list, names);
    sweep_ = need(sweep_bytes_);
    MPI_Comm control;
    MPI_Comm_dup(MPI_COMM_WORLD, &control);

    int lengths[MAX_LENGTHS], count = 0;
    for (int length = 0; length <= longest && count < MAX_LENGTHS; length = length ? length * 2 : 1) lengths[count++] = length;
    struct figure(*figures)[MAX_ENGINES] = need(sizeof *figures * (size_t)count);
    if (me == 0) {
        printf("# %s behind %s; %ld bytes, %d rounds, %zu bytes cleared; %s\nlength", bandwidth ? "bandwidth" : "latency",
               unexpected ? "unexpected messages" : "posted receives", bytes, rounds, sweep_bytes_, bandwidth ? "MB/s" : "us");
        for (int e = 0; e < engines; e++) printf("\t%s\t+-", names[e]);
        putchar('\n');
    }
    for (int l = 0; l < count; l++) {
        if (me == 0) printf("%d", lengths[l]);
        for (int e = 0; e < engines; e++) {
            double unit = bandwidth ? 1e-6 : 1e6;
            figures[l][e] = measure(names[e], control, lengths[l]);
            if (me == 0) printf("\t%.3f\t%.3f", figures[l][e].median * unit, figures[l][e].deviation * unit);
        }
        if (me == 0) putchar('\n');
        fflush(stdout);
    }
    /* The shortest length from which on an engine is better than the list at every length. */
    int plain = -1;
    for (int e = 0; e < engines; e++)
        if (strcmp(names[e], "list") == 0) plain = e;
    for (int e = 0; me == 0 && plain >= 0 && e < engines; e++) {
        if (e == plain) continue;
        int from = count;
        while (from > 0) {
            double mine = figures[from - 1][e].median, lists = figures[from - 1][plain].median;
            if (bandwidth ? mine <= lists : mine >= lists) break;
            from--;
        }
        if (from == count) printf("crossing\t%s\tnone\n", names[e]);
        else printf("crossing\t%s\t%d\n", names[e], lengths[from]);
    }
    free(figures);
    free(sweep_);
    MPI_Comm_free(&control);
    MPI_Finalize();
    return 0;
}
