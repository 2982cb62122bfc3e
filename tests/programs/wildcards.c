/* Matching: wildcards of source and tag, order within and across tags, probes, messages taken by
 * matched probes, cancelled receives. Rank 0 receives from all others. */
#include "check.h"

enum { ROUNDS = 200 };
static int rank, size;

/* From each source, messages with any tag come in the order in which they were sent. */
static void order(void) {
    if (rank != 0) {
        for (int i = 0; i < ROUNDS; i++) {
            int data[2] = { rank, i };
            MPI_Send(data, 2, MPI_INT, 0, i % 7, MPI_COMM_WORLD);
        }
        return;
    }
    int *next = need((size_t)size * sizeof *next);
    memset(next, 0, (size_t)size * sizeof *next);
    for (int n = 0; n < ROUNDS * (size - 1); n++) {
        int data[2], count;
        MPI_Status status;
        MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 2 && status.MPI_SOURCE == data[0], "from %d says %d", status.MPI_SOURCE, data[0]);
        CHECK(data[1] == next[data[0]], "from %d: %d instead of %d", data[0], data[1], next[data[0]]);
        CHECK(status.MPI_TAG == data[1] % 7, "tag %d", status.MPI_TAG);
        next[data[0]]++;
    }
    free(next);
}

/* Receives that are posted first match first, exact and wildcard ones mixed. */
static void posted_order(void) {
    enum { N = 40 };
    char token = 0;
    if (rank == 1) {
        MPI_Recv(&token, 1, MPI_CHAR, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++) MPI_Send(&i, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else if (rank == 0) {
        int data[N];
        MPI_Request requests[N];
        MPI_Status statuses[N];
        for (int i = 0; i < N; i++)
            MPI_Irecv(&data[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 1, i % 3 ? 3 : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Send(&token, 1, MPI_CHAR, 1, 50, MPI_COMM_WORLD);
        MPI_Waitall(N, requests, statuses);
        for (int i = 0; i < N; i++)
            CHECK(data[i] == i && statuses[i].MPI_SOURCE == 1 && statuses[i].MPI_TAG == 3, "receive %d got %d", i, data[i]);
    }
}

/* A message that matches no posted receive waits, and later ones pass it. */
static void passing(void) {
    if (rank == 1) {
        for (int tag = 0; tag < 64; tag++) MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    } else if (rank == 0) {
        for (int tag = 63; tag >= 0; tag--) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(got == tag, "tag %d gave %d", tag, got);
        }
    }
}

/* Communicators do not see each other's messages. */
static void contexts(void) {
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    if (rank == 1) {
        int one = 1, two = 2;
        MPI_Send(&one, 1, MPI_INT, 0, 0, a);
        MPI_Send(&two, 1, MPI_INT, 0, 0, b);
    } else if (rank == 0) {
        int got = 0, flag = 1;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE);
        CHECK(got == 2, "the wrong communicator's message: %d", got);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, b, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message too many");
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE);
        CHECK(got == 1, "the wrong communicator's message: %d", got);
    }
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

static void probes(void) {
    static const int lengths[] = { 0, 1, 100, 5000, 100000, 3000000 };
    enum { N = sizeof lengths / sizeof *lengths };
    char *buffer = need(3000000);
    if (rank == 1) {
        for (int round = 0; round < 4; round++)
            for (int i = 0; i < N; i++) {
                fill(buffer, lengths[i], i);
                MPI_Send(buffer, lengths[i], MPI_BYTE, 0, i, MPI_COMM_WORLD);
            }
    } else if (rank == 0) {
        for (int round = 0; round < 4; round++)
            for (int i = 0; i < N; i++) {
                MPI_Status status, again;
                MPI_Message message = MPI_MESSAGE_NULL;
                MPI_Request request;
                int count, flag = 0;
                memset(buffer, 0, 3000000);
                switch (round) {
                case 0: MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status); break;
                case 1: while (!flag) MPI_Iprobe(1, i, MPI_COMM_WORLD, &flag, &status); break;
                case 2: MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status); break;
                default: while (!flag) MPI_Improbe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &message, &status); break;
                }
                MPI_Get_count(&status, MPI_BYTE, &count);
                CHECK(count == lengths[i] && status.MPI_TAG == i && status.MPI_SOURCE == 1, "round %d probe %d says %d bytes", round, i, count);
                switch (round) {
                case 2: MPI_Mrecv(buffer, count, MPI_BYTE, &message, &again); break;
                case 3:
                    MPI_Imrecv(buffer, count, MPI_BYTE, &message, &request);
                    MPI_Wait(&request, &again);
                    break;
                default: MPI_Recv(buffer, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &again);
                }
                CHECK(message == MPI_MESSAGE_NULL, "the message's handle");
                MPI_Get_count(&again, MPI_BYTE, &count);
                CHECK(count == lengths[i] && again.MPI_TAG == i, "received %d bytes", count);
                CHECK(differs(buffer, count, i) < 0, "contents of probe %d", i);
            }
    }
    free(buffer);
}

/* A message taken by a matched probe is out of reach of every other receive. */
static void taken(void) {
    if (rank == 1) {
        for (int i = 0; i < 2; i++) MPI_Send(&i, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Message message;
        int first = -1, second = -1;
        MPI_Mprobe(1, 9, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(&second, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mrecv(&first, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(first == 0 && second == 1, "%d before %d", first, second);
    }
}

static void cancelled(void) {
    if (rank == 0) {
        int never = 7, flag = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&never, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag && never == 7, "a receive that nothing matches can be cancelled");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) { int word = 5; MPI_Send(&word, 1, MPI_INT, 0, 77, MPI_COMM_WORLD); }
    if (rank == 0) {
        int word = 0;
        MPI_Recv(&word, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(word == 5, "the cancelled receive took a message");
    }
}

static void nobody(void) {
    int word = 3;
    MPI_Status status;
    MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int count = -1;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(word == 3 && count == 0 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG, "MPI_PROC_NULL");
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    CHECK(size >= 2, "needs two ranks");
    void (*const parts[])(void) = { order, posted_order, passing, contexts, probes, taken, cancelled, nobody };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i]();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
