/* A thread uses a tag alone until all that goes with it is its own, begins something, and is then outside MPI until
   another thread of its rank has ended that: waits and tests for its receives, short and long, and for its sends, more
   than there is room for; probes; and messages of its own that come only after the other rank has got rid of a long one to
   the first thread. Two ranks; rank 1 has the threads. Usage: elsewhere [ROUNDS] */
#include "check.h"
#include <pthread.h>

enum { OWN = 5, OTHERS = 6, WINDOW = 64, WINDOWS = 40, LONG_BYTES = 400000, MANY = 20000 };
enum { WAIT, TEST, LONG_WAIT, SENDS, PROBE, IPROBE, UNRELATED, CASES };

static int rank, rounds = 3;
static pthread_barrier_t turn;
static MPI_Request given[MANY];
static int words[MANY];
static char *buffer;

/* Both ways with one tag, so that locks and queues get used to the thread. */
static void warm(int tag) {
    int sent[WINDOW], got[WINDOW];
    MPI_Request requests[2 * WINDOW];
    for (int w = 0; w < WINDOWS; w++) {
        for (int i = 0; i < WINDOW; i++) {
            sent[i] = w * WINDOW + i;
            got[i] = -1;
            MPI_Irecv(&got[i], 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[i]);
            MPI_Isend(&sent[i], 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[WINDOW + i]);
        }
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < WINDOW; i++)
            CHECK(got[i] == sent[i], "warming up: %d came when %d was due", got[i], sent[i]);
    }
}

static void go(void) { MPI_Send(NULL, 0, MPI_INT, 1 - rank, OTHERS, MPI_COMM_WORLD); }
static void wait_for_go(void) {
    MPI_Recv(NULL, 0, MPI_INT, 1 - rank, OTHERS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void peer(int what, int round) {
    wait_for_go();
    if (what == SENDS) {
        for (int i = 0; i < MANY; i++) {
            MPI_Recv(&words[i], 1, MPI_INT, 1, OWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(words[i] == i + round, "round %d: %d came when %d was due", round, words[i], i + round);
        }
    } else if (what == LONG_WAIT || what == UNRELATED) {
        fill(buffer, LONG_BYTES, round);
        MPI_Ssend(buffer, LONG_BYTES, MPI_BYTE, 1, OWN, MPI_COMM_WORLD);
        if (what == UNRELATED) go();
    } else {
        MPI_Send(&round, 1, MPI_INT, 1, OWN, MPI_COMM_WORLD);
    }
}

/* Operations that the first thread begins. */
static void start(int what, int round) {
    if (what == WAIT || what == TEST) {
        words[0] = -1;
        MPI_Irecv(&words[0], 1, MPI_INT, 0, OWN, MPI_COMM_WORLD, &given[0]);
    } else if (what == LONG_WAIT || what == UNRELATED) {
        MPI_Irecv(buffer, LONG_BYTES, MPI_BYTE, 0, OWN, MPI_COMM_WORLD, &given[0]);
    } else if (what == SENDS) {
        for (int i = 0; i < MANY; i++) {
            words[i] = i + round;
            MPI_Isend(&words[i], 1, MPI_INT, 0, OWN, MPI_COMM_WORLD, &given[i]);
        }
    }
}

/* Operations that the second ends while the first is elsewhere. */
static void finish(int what, int round) {
    int done = 0;
    MPI_Status status;
    go();
    switch (what) {
    case SENDS: MPI_Waitall(MANY, given, MPI_STATUSES_IGNORE); return;
    case UNRELATED: wait_for_go(); return;
    case TEST:
        while (!done) MPI_Test(&given[0], &done, MPI_STATUS_IGNORE);
        break;
    case PROBE: MPI_Probe(0, OWN, MPI_COMM_WORLD, &status); break;
    case IPROBE:
        while (!done) MPI_Iprobe(0, OWN, MPI_COMM_WORLD, &done, &status);
        break;
    default: MPI_Wait(&given[0], MPI_STATUS_IGNORE); break;
    }
    if (what == PROBE || what == IPROBE) {
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == OWN, "round %d: probe", round);
        MPI_Recv(&words[0], 1, MPI_INT, 0, OWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (what == LONG_WAIT)
        CHECK(differs(buffer, LONG_BYTES, round) < 0, "round %d: contents", round);
    else
        CHECK(words[0] == round, "round %d, case %d: %d", round, what, words[0]);
}

static void *first(void *unused) {
    (void)unused;
    for (int round = 0; round < rounds * CASES; round++) {
        warm(OWN);
        start(round % CASES, round);
        pthread_barrier_wait(&turn);
        /* Outside MPI until the other thread has ended it. */
        pthread_barrier_wait(&turn);
        if (round % CASES == UNRELATED) {
            MPI_Wait(&given[0], MPI_STATUS_IGNORE);
            CHECK(differs(buffer, LONG_BYTES, round) < 0, "round %d: contents", round);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    CHECK(size == 2, "%d ranks", size);
    if (argc > 1) rounds = atoi(argv[1]);
    buffer = need(LONG_BYTES);
    if (rank == 0) {
        for (int round = 0; round < rounds * CASES; round++) {
            warm(OWN);
            peer(round % CASES, round);
        }
    } else {
        pthread_t other;
        pthread_barrier_init(&turn, NULL, 2);
        pthread_create(&other, NULL, first, NULL);
        for (int round = 0; round < rounds * CASES; round++) {
            pthread_barrier_wait(&turn);
            finish(round % CASES, round);
            pthread_barrier_wait(&turn);
        }
        pthread_join(other, NULL);
    }
    free(buffer);
    return end();
}
