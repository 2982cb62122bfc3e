/* The cost of asking for completed requests: MPI_Testsome over an array, or MPIX_Sync_query on a sync object.
 *
 * Usage: mpirun -n 2 sync [-m testsome|query|bulk] [-n REQUESTS] [-c COMPLETE] [-i ROUNDS] [-p BYTES]
 *
 * Without -p: rank 0 has -n receives of which -c complete before each round; the time of asking until these
 * are all handed out is measured, and nothing else: one call of MPI_Testsome or MPIX_Sync_query_bulk, or one of
 * MPIX_Sync_query for each. With -c 0 nothing completes and a round is one call.
 *
 * With -p: a ping-pong of that many bytes between two runtimes that each have -n persistent receives
 * outstanding, of which one serves. Prints one line of name=value. All data are checked. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
#ifdef MPIX_HAVE_SYNC
#define HAS_SYNC 1
#else
#define HAS_SYNC 0
#endif

enum { IDLE = 5, DATA = 6, GO = 7 };

enum mode { TESTSOME, QUERY, BULK };
static enum mode mode = TESTSOME;
static int rank, requests = 16, complete = 0;
static long rounds = 1000, bytes = -1;
static MPI_Request *list;
static int *indices;
static char *data; /* a cell of `cell` bytes for each request */
static long cell;
#if HAS_SYNC
static MPIX_Sync sync_;
static void **handed;
#endif

static void fail(const char *why) {
    fprintf(stderr, "sync: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *need(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) fail("no memory");
    return memory;
}

static char mark(long round, int i) { return (char)(1 + (round * 31 + i * 7) % 120); }

/* Hands request i over to whoever is asked. */
static void give(int i) {
#if HAS_SYNC
    if (mode != TESTSOME && MPIX_Sync_attach(sync_, &list[i], (void *)(size_t)(i + 1)) != MPI_SUCCESS) fail("attach");
#else
    (void)i;
#endif
}

/* Asks once; the numbers of what has completed are in `indices`. */
static int ask(void) {
    int n = 0;
    if (mode == TESTSOME) {
        MPI_Testsome(requests, list, &n, indices, MPI_STATUSES_IGNORE);
        return n == MPI_UNDEFINED ? 0 : n;
    }
#if HAS_SYNC
    if (mode == BULK) {
        MPIX_Sync_query_bulk(requests, sync_, &n, handed, MPI_STATUSES_IGNORE);
        for (int k = 0; k < n; k++) indices[k] = (int)(size_t)handed[k] - 1;
        return n;
    }
    void *got = MPIX_Sync_query(sync_, MPI_STATUS_IGNORE);
    if (got != MPIX_SYNC_EMPTY) indices[n++] = (int)(size_t)got - 1;
#endif
    return n;
}

static void check_cell(int i, long round) {
    for (long k = 0; k < cell; k++)
        if (data[i * cell + k] != mark(round, i)) fail("wrong data");
}

/* The time that reading the clock twice takes; it is not part of asking. */
static double of_clock(void) {
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double began = MPI_Wtime(), took = MPI_Wtime() - began;
        if (took < least) least = took;
    }
    return least;
}

/* Asks over and over while nothing completes. */
static double asking_in_vain(void) {
    double began = MPI_Wtime();
    for (long round = 0; round < rounds; round++)
        if (ask() != 0) fail("a request completed that nobody sent to");
    return MPI_Wtime() - began;
}

static double asking(void) {
    double spent = 0, clock = of_clock();
    char word = 0;
    cell = 1;
    for (int i = 0; i < requests && rank == 0; i++) {
        MPI_Irecv(data + i, 1, MPI_CHAR, 1, DATA + 10 + i, MPI_COMM_WORLD, &list[i]);
        give(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (complete == 0 && rank == 0) spent = asking_in_vain();
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 0; complete && round < rounds; round++) {
        if (rank == 1) {
            for (int k = 0; k < complete; k++) {
                int i = (int)((round * complete + k) % requests);
                char c = mark(round, i);
                MPI_Send(&c, 1, MPI_CHAR, 0, DATA + 10 + i, MPI_COMM_WORLD);
            }
            MPI_Send(&word, 1, MPI_CHAR, 0, GO, MPI_COMM_WORLD);
            MPI_Recv(&word, 1, MPI_CHAR, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        /* Messages that were sent before this one have arrived with it. */
        MPI_Recv(&word, 1, MPI_CHAR, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int got = 0;
        do {
            double began = MPI_Wtime();
            int n = ask();
            spent += MPI_Wtime() - began - clock;
            for (int k = 0; k < n; k++) {
                int i = indices[k];
                check_cell(i, round);
                MPI_Irecv(data + i, 1, MPI_CHAR, 1, DATA + 10 + i, MPI_COMM_WORLD, &list[i]);
                give(i);
            }
            got += n;
        } while (got < complete);
        if (got > complete) fail("more completed than was sent");
        MPI_Send(&word, 1, MPI_CHAR, 1, GO, MPI_COMM_WORLD);
    }
    /* The outstanding ones get their message, so that nothing is left. */
    if (rank == 1) {
        for (int i = 0; i < requests; i++) MPI_Send(&word, 1, MPI_CHAR, 0, DATA + 10 + i, MPI_COMM_WORLD);
    } else {
        for (int got = 0; got < requests;) got += ask();
    }
    return spent;
}

static void start(int i) {
    MPI_Start(&list[i]);
    give(i);
}

static double ping_pong(void) {
    char *out = need((size_t)bytes);
    int peer = 1 - rank;
    cell = bytes;
    for (int i = 0; i < requests; i++) {
        MPI_Recv_init(data + i * cell, (int)cell, MPI_CHAR, i == 0 ? MPI_ANY_SOURCE : peer, i == 0 ? DATA : IDLE + 100 + i,
                      MPI_COMM_WORLD, &list[i]);
        start(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (long round = 0; round < rounds; round++) {
        if (rank == 0) {
            memset(out, mark(round, 0), (size_t)bytes);
            MPI_Send(out, (int)bytes, MPI_CHAR, peer, DATA, MPI_COMM_WORLD);
        }
        while (ask() == 0) {}
        if (indices[0] != 0) fail("a request completed that nobody sent to");
        check_cell(0, round);
        if (round + 1 < rounds) start(0);
        if (rank == 1) {
            memset(out, mark(round, 0), (size_t)bytes);
            MPI_Send(out, (int)bytes, MPI_CHAR, peer, DATA, MPI_COMM_WORLD);
        }
    }
    double spent = (MPI_Wtime() - began) / 2;
    /* Nobody asks any more, so what follows cannot be taken for the last answer. */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < requests; i++) MPI_Send(out, 1, MPI_CHAR, peer, IDLE + 100 + i, MPI_COMM_WORLD);
    for (int got = 1; got < requests;) got += ask();
    for (int i = 0; i < requests; i++) MPI_Request_free(&list[i]);
    free(out);
    return spent;
}

int main(int argc, char **argv) {
    int c, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((c = getopt(argc, argv, "m:n:c:i:p:")) != -1) {
        if (c == 'm') mode = strcmp(optarg, "query") == 0 ? QUERY : strcmp(optarg, "bulk") == 0 ? BULK : TESTSOME;
        else if (c == 'n') requests = atoi(optarg);
        else if (c == 'c') complete = atoi(optarg);
        else if (c == 'i') rounds = atol(optarg);
        else if (c == 'p') bytes = atol(optarg);
        else fail("usage: sync [-m testsome|query|bulk] [-n REQUESTS] [-c COMPLETE] [-i ROUNDS] [-p BYTES]");
    }
    if (size != 2 || requests < 1 || requests > 20000 || complete < 0 || complete > requests || rounds < 1)
        fail("two ranks, 1 to 20000 requests, and no more complete than there are");
    if (mode != TESTSOME && !HAS_SYNC) fail("this MPI has no MPIX_Sync (mpi-ext.h)");
    list = need((size_t)requests * sizeof *list);
    indices = need((size_t)requests * sizeof *indices);
    data = need((size_t)requests * (size_t)(bytes > 0 ? bytes : 1));
#if HAS_SYNC
    if (mode != TESTSOME) MPIX_Sync_init(&sync_);
    handed = need((size_t)requests * sizeof *handed);
#endif
    double spent = bytes >= 0 ? ping_pong() : asking();
    if (rank == 0)
        printf("value=%.4f unit=%s rounds=%ld seconds=%.6f verified=1\n", spent / (double)rounds * (bytes >= 0 ? 1e6 : 1e9),
               bytes >= 0 ? "us" : "ns", rounds, spent);
#if HAS_SYNC
    if (mode != TESTSOME) MPIX_Sync_free(&sync_);
    free(handed);
#endif
    free(list);
    free(indices);
    free(data);
    MPI_Finalize();
    return 0;
}
