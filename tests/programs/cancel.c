/* Sends that lie unmatched at their receiver are cancelled; those that were matched, or complete when they were made, are
 * not; all others arrive in order. First argument: "threads" makes a second thread send beside. */
#include "check.h"
#include <pthread.h>

enum { EACH = 12, LONG = 300000 };
static int rank, size;
static MPI_Comm comm;

static void take(int from, int tag, int bytes, int seed) {
    char *in = need(bytes);
    MPI_Recv(in, bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
    CHECK(differs(in, bytes, seed) < 0, "message %d of %d bytes", seed, bytes);
    free(in);
}

/* Every third of the messages is cancelled before anybody receives. `gap`: between bytes, 0 for none. */
static void unmatched(int bytes, int gap, int synchronous, int persistent, int to, int from) {
    char *out[EACH];
    int cancelled[EACH] = {0}, go = 0, flag;
    MPI_Request requests[EACH];
    MPI_Datatype type = MPI_BYTE;
    if (gap) {
        MPI_Type_create_resized(MPI_BYTE, 0, gap, &type);
        MPI_Type_commit(&type);
    }
    if (rank == from) {
        for (int i = 0; i < EACH; i++) {
            out[i] = need((size_t)bytes * (gap ? gap : 1));
            for (long at = 0; at < bytes; at++) out[i][at * (gap ? gap : 1)] = (char)byte_of(i, at);
            if (persistent) {
                (synchronous ? MPI_Ssend_init : MPI_Send_init)(out[i], bytes, type, to, i % 2, comm, &requests[i]);
                MPI_Start(&requests[i]);
            } else {
                (synchronous ? MPI_Issend : MPI_Isend)(out[i], bytes, type, to, i % 2, comm, &requests[i]);
            }
        }
        if (to != from) MPI_Recv(&go, 1, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < EACH; i += 3) MPI_Cancel(&requests[i]);
        for (int i = 1; i < EACH; i += 3) {
            MPI_Status status;
            MPI_Wait(&requests[i], &status); /* returns, though nobody receives */
            MPI_Test_cancelled(&status, &cancelled[i]);
            CHECK(cancelled[i], "message %d of %d bytes", i, bytes);
            CHECK((requests[i] == MPI_REQUEST_NULL) == !persistent, "its request");
        }
        if (to != from) MPI_Send(cancelled, EACH, MPI_INT, to, 9, MPI_COMM_WORLD);
    }
    if (rank == to) {
        if (to != from) {
            /* The last one is here, so all are. */
            MPI_Probe(from, (EACH - 1) % 2, comm, MPI_STATUS_IGNORE);
            MPI_Send(&go, 1, MPI_INT, from, 9, MPI_COMM_WORLD);
            MPI_Recv(cancelled, EACH, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int tag = 1; tag >= 0; tag--)
            for (int i = tag; i < EACH; i += 2)
                if (!cancelled[i]) take(from, tag, bytes, i);
        MPI_Iprobe(from, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a cancelled message is still there");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == from && i < EACH; i++) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        if (!cancelled[i]) {
            MPI_Test_cancelled(&status, &flag);
            CHECK(!flag, "message %d was received", i);
        }
        if (persistent) { /* what was cancelled can be started again */
            if (i == 1) {
                MPI_Request again;
                MPI_Start(&requests[i]);
                if (to == from) {
                    char *in = need(bytes);
                    MPI_Irecv(in, bytes, MPI_BYTE, from, 1, comm, &again);
                    MPI_Wait(&again, MPI_STATUS_IGNORE);
                    free(in);
                }
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
            MPI_Request_free(&requests[i]);
        }
        free(out[i]);
    }
    if (persistent && rank == to && to != from) take(from, 1, bytes, 1);
    if (gap) MPI_Type_free(&type);
}

/* A message that a probe has taken was matched; its cancel comes too late. */
static void matched(int to, int from) {
    int flag, go = 0, value = 17, in = 0;
    if (rank == from) {
        MPI_Request request;
        MPI_Status status;
        MPI_Issend(&value, 1, MPI_INT, to, 0, comm, &request);
        MPI_Recv(&go, 1, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Send(&go, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag, "it was matched");
        /* Complete when it is made: never cancelled. */
        MPI_Isend(&value, 1, MPI_INT, to, 0, comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        MPI_Send(&flag, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
        /* Cancelled and forgotten. */
        MPI_Issend(&value, 1, MPI_INT, to, 5, comm, &request);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
    } else if (rank == to) {
        MPI_Message message;
        MPI_Mprobe(from, 0, comm, &message, MPI_STATUS_IGNORE);
        MPI_Send(&go, 1, MPI_INT, from, 9, MPI_COMM_WORLD);
        MPI_Recv(&go, 1, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(in == 17, "%d", in);
        MPI_Recv(&flag, 1, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!flag) MPI_Recv(&in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Comm beside;

/* To oneself: known at once. */
static void oneself(void) {
    int value = 1, flag, cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Issend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    MPI_Cancel(&request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag, "a message to oneself is still under way");
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "it was not received");
    MPI_Request_free(&request);
}

/* Makes the process one that sends by several threads. */
static void *chatter(void *arg) {
    int value = 0, in, next = (rank + 1) % size, last = (rank + size - 1) % size;
    (void)arg;
    for (int i = 0; i < 2000; i++)
        MPI_Sendrecv(&value, 1, MPI_INT, next, i % 50, &in, 1, MPI_INT, last, i % 50, beside, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int several = argc > 1 && !strcmp(argv[1], "threads"), provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    several = several && provided == MPI_THREAD_MULTIPLE;
    oneself();
    MPI_Comm_dup(MPI_COMM_WORLD, &beside);
    if (several) pthread_create(&thread, NULL, chatter, NULL);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size && to < 2; to++) {
            /* A new communicator each time: its index is not known to the sender at first. */
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            for (int persistent = 0; persistent < 2; persistent++) {
                unmatched(4, 0, 1, persistent, to, from);
                unmatched(3000, 0, 1, persistent, to, from);
                unmatched(LONG, 0, 0, persistent, to, from);
                unmatched(LONG, 2, 0, persistent, to, from);
                unmatched(400, 3, 1, persistent, to, from);
            }
            if (to != from) matched(to, from);
            MPI_Comm_free(&comm);
        }
    if (several) pthread_join(thread, NULL);
    MPI_Comm_free(&beside);
    return end();
}
