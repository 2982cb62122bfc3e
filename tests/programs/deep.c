/* Deep queues: posted receives and waiting messages by the thousand, taken from either end and from
 * the middle, with wildcards among them.
 *
 *     deep [ENGINE...]    each on a duplicate of the world made with the info key oxmpi_matching
 *
 * Rank 0 receives from all others. Libraries that do not know the key run the same on their own. */
#include "check.h"

enum { DEPTH = 1500, TOKEN = 9999 };
static int rank, size;

/* The k-th tag of an order: forwards, backwards, or in strides. */
static int pick(int order, int k) {
    switch (order) {
    case 0: return k;
    case 1: return DEPTH - 1 - k;
    default: return (int)((long)k * 7 % DEPTH); /* 7 and DEPTH have no common factor */
    }
}

static int content(int from, int tag) { return from * 100000 + tag; }

static void go(MPI_Comm comm, int to_all) {
    char token = 0;
    if (rank == 0) {
        for (int r = 1; r < size; r++) MPI_Send(&token, 1, MPI_CHAR, to_all ? r : 1, TOKEN, comm);
    } else if (to_all || rank == 1) {
        MPI_Recv(&token, 1, MPI_CHAR, 0, TOKEN, comm, MPI_STATUS_IGNORE);
    }
}

/* Receives for every tag from every rank are posted; the messages come in some order. */
static void posted(MPI_Comm comm, int order) {
    if (rank != 0) {
        go(comm, 1);
        for (int k = 0; k < DEPTH; k++) {
            int tag = pick(order, k), data = content(rank, tag);
            MPI_Send(&data, 1, MPI_INT, 0, tag, comm);
        }
        return;
    }
    int n = DEPTH * (size - 1);
    int *data = need((size_t)n * sizeof *data);
    MPI_Request *requests = need((size_t)n * sizeof *requests);
    for (int i = 0; i < n; i++) {
        data[i] = -1;
        MPI_Irecv(&data[i], 1, MPI_INT, 1 + i / DEPTH, i % DEPTH, comm, &requests[i]);
    }
    go(comm, 1);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(data[i] == content(1 + i / DEPTH, i % DEPTH), "order %d: receive %d got %d", order, i, data[i]);
    free(data);
    free(requests);
}

/* Messages wait; they are received in some order, by probes every now and then. */
static void waiting(MPI_Comm comm, int order) {
    if (rank != 0) {
        for (int tag = 0; tag < DEPTH; tag++) {
            int data = content(rank, tag);
            MPI_Send(&data, 1, MPI_INT, 0, tag, comm);
        }
        char token = 0;
        MPI_Send(&token, 1, MPI_CHAR, 0, TOKEN, comm);
        return;
    }
    for (int r = 1; r < size; r++) {
        /* Behind everything else of its sender, so all of that waits now. */
        char token;
        MPI_Recv(&token, 1, MPI_CHAR, r, TOKEN, comm, MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < DEPTH; k++)
        for (int r = 1; r < size; r++) {
            int tag = pick(order, k), data = -1;
            MPI_Status status;
            if (k % 5 == 0) {
                MPI_Message message;
                MPI_Mprobe(r, tag, comm, &message, &status);
                MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
            } else {
                MPI_Recv(&data, 1, MPI_INT, r, tag, comm, &status);
            }
            CHECK(data == content(r, tag) && status.MPI_TAG == tag, "order %d: tag %d of %d gave %d", order, tag, r, data);
        }
}

/* Messages wait; wildcards take them, of each source in the order in which they were sent. */
static void waiting_wildcards(MPI_Comm comm) {
    if (rank != 0) {
        for (int k = 0; k < DEPTH; k++) MPI_Send(&k, 1, MPI_INT, 0, k % 3, comm);
        char token = 0;
        MPI_Send(&token, 1, MPI_CHAR, 0, TOKEN, comm);
        return;
    }
    for (int r = 1; r < size; r++) {
        char token;
        MPI_Recv(&token, 1, MPI_CHAR, r, TOKEN, comm, MPI_STATUS_IGNORE);
    }
    /* Next by source and tag; a wildcard tag takes the smallest of the three. */
    int(*next)[3] = need((size_t)size * sizeof *next);
    for (int r = 0; r < size; r++)
        for (int t = 0; t < 3; t++) next[r][t] = t;
    int left = DEPTH * (size - 1);
    for (int i = 0; left > 0; i++) {
        int source = i % 2 ? MPI_ANY_SOURCE : 1 + i / 2 % (size - 1);
        int tag = i % 3 ? MPI_ANY_TAG : i / 3 % 3, flag = 0, data = -1;
        MPI_Status status;
        MPI_Iprobe(source, tag, comm, &flag, &status);
        if (!flag) continue;
        MPI_Status again;
        /* Which source MPI_ANY_SOURCE means may change between two calls; every other time it is left open. */
        MPI_Recv(&data, 1, MPI_INT, i % 4 < 2 ? status.MPI_SOURCE : source, tag, comm, &again);
        if (i % 4 >= 2 && source == MPI_ANY_SOURCE) status = again;
        CHECK(status.MPI_SOURCE == again.MPI_SOURCE && status.MPI_TAG == again.MPI_TAG, "probe and receive differ at %d", i);
        int *mine = next[again.MPI_SOURCE];
        CHECK(data == mine[again.MPI_TAG], "from %d with tag %d: %d instead of %d", again.MPI_SOURCE, again.MPI_TAG, data, mine[again.MPI_TAG]);
        if (tag == MPI_ANY_TAG)
            for (int t = 0; t < 3; t++)
                CHECK(data <= mine[t], "from %d: %d before %d", again.MPI_SOURCE, data, mine[t]);
        mine[again.MPI_TAG] += 3;
        left--;
    }
    free(next);
}

/* Exact and wildcard receives in turn: the oldest that fits gets the message. Every seventh is taken
 * back before anything is sent. */
static void posted_wildcards(MPI_Comm comm) {
    if (rank == 1) {
        go(comm, 0);
        for (int k = 0; k < DEPTH; k++)
            if (k % 7) MPI_Send(&k, 1, MPI_INT, 0, 5, comm);
    } else if (rank == 0) {
        static int data[DEPTH];
        static MPI_Request requests[DEPTH];
        for (int k = 0; k < DEPTH; k++) {
            data[k] = -1;
            MPI_Irecv(&data[k], 1, MPI_INT, k % 2 ? MPI_ANY_SOURCE : 1, k % 3 ? 5 : MPI_ANY_TAG, comm, &requests[k]);
        }
        for (int k = 0; k < DEPTH; k += 7) {
            int flag = 0;
            MPI_Status status;
            MPI_Cancel(&requests[k]);
            MPI_Wait(&requests[k], &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag, "receive %d could be taken back", k);
        }
        char token = 0;
        MPI_Send(&token, 1, MPI_CHAR, 1, TOKEN, comm);
        MPI_Waitall(DEPTH, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < DEPTH; k++)
            CHECK(data[k] == (k % 7 ? k : -1), "receive %d got %d", k, data[k]);
    }
}

static void all(MPI_Comm comm) {
    for (int order = 0; order < 3; order++) {
        posted(comm, order);
        MPI_Barrier(comm);
        waiting(comm, order);
        MPI_Barrier(comm);
    }
    waiting_wildcards(comm);
    MPI_Barrier(comm);
    posted_wildcards(comm);
    MPI_Barrier(comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    CHECK(size >= 2, "needs two ranks");
    if (argc < 2) all(MPI_COMM_WORLD);
    for (int i = 1; i < argc; i++) {
        MPI_Info info;
        MPI_Comm comm;
        MPI_Info_create(&info);
        MPI_Info_set(info, "oxmpi_matching", argv[i]);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
        MPI_Info_free(&info);
        all(comm);
        MPI_Comm_free(&comm);
    }
    return end();
}
