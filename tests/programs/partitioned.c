/* Partitioned messages: counts that differ, types that differ, order of the inits, threads. */
#include "check.h"
#include <pthread.h>

static int rank, size, right, left;

static int value(int round, int i) { return round * 1000003 + i; }

/* A message of `total` ints in s partitions, received in r. `gaps`: a type with a hole on that side. */
static void exchange(int total, int s, int r, int send_gaps, int recv_gaps, int backwards) {
    MPI_Datatype pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair); /* int, hole, int */
    MPI_Datatype wide;
    MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &wide);
    MPI_Type_commit(&wide);
    int *out = malloc(2 * total * sizeof *out), *in = malloc(2 * total * sizeof *in);
    MPI_Request requests[2];
    MPI_Precv_init(in, r, recv_gaps ? total / r / 2 : total / r, recv_gaps ? wide : MPI_INT, left, 3,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, s, send_gaps ? total / s / 2 : total / s, send_gaps ? wide : MPI_INT, right, 3,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Type_free(&pair);
    MPI_Type_free(&wide);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < total; i++) out[send_gaps ? 2 * i : i] = value(round, i);
        memset(in, 0xff, 2 * total * sizeof *in);
        MPI_Startall(2, requests);
        for (int i = 0; i < s; i++) MPI_Pready(backwards ? s - 1 - i : i, requests[1]);
        /* Each partition is there when it says so. */
        for (int j = r - 1; j >= 0; j--) {
            int flag = 0;
            while (!flag) MPI_Parrived(requests[0], j, &flag);
            int last = (j + 1) * (total / r) - 1;
            int got = in[recv_gaps ? 2 * last : last];
            CHECK(got == value(round, last), "%d/%d: partition %d ends with %d", s, r, j, got);
        }
        MPI_Status statuses[2];
        MPI_Waitall(2, requests, statuses);
        for (int i = 0; i < total; i++) {
            int got = in[recv_gaps ? 2 * i : i];
            if (got != value(round, i)) {
                CHECK(0, "%d/%d, round %d: element %d is %d", s, r, round, i, got);
                break;
            }
        }
        CHECK(requests[0] != MPI_REQUEST_NULL, "the request is gone");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
}

/* Operations of one pair and tag meet in the order they were made, and wildcards see none of it. */
static void order(void) {
    enum { N = 4 };
    int out[N], in[N], flag = 1;
    MPI_Request sends[N], recvs[N], any;
    MPI_Irecv(&flag, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    for (int i = 0; i < N; i++)
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, i % 2, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    for (int i = N - 1; i >= 0; i -= 2)
        MPI_Precv_init(&in[N - i], 1, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[N - i]);
    for (int i = 0; i < N; i += 2)
        MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[i]);
    for (int i = 0; i < N; i++) out[i] = 100 + i;
    MPI_Startall(N, sends);
    for (int i = N - 1; i >= 0; i--) MPI_Pready(0, sends[i]);
    MPI_Startall(N, recvs);
    MPI_Waitall(N, recvs, MPI_STATUSES_IGNORE);
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    /* Tag 1 was received into places 1 and 3, tag 0 into 0 and 2, each in its order. */
    for (int i = 0; i < N; i++) CHECK(in[i] == 100 + i, "place %d got %d", i, in[i]);
    MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a wildcard matched a partition");
    MPI_Cancel(&any);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&recvs[i]);
    }
    /* Made and never started. */
    MPI_Psend_init(out, 2, 1, MPI_INT, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[0]);
    MPI_Precv_init(in, 2, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &recvs[0]);
    MPI_Parrived(recvs[0], 1, &flag);
    CHECK(flag, "an inactive operation has not arrived");
    MPI_Request_free(&recvs[0]);
    MPI_Request_free(&sends[0]);
}

enum { THREADS = 4, EACH = 16, LENGTH = 1000 };
static MPI_Request shared;

static void *mark(void *arg) {
    int first = *(int *)arg * EACH;
    for (int i = 0; i < EACH; i += 4) {
        int list[2] = { first + i + 3, first + i + 2 };
        MPI_Pready_range(first + i, first + i + 1, shared);
        MPI_Pready_list(2, list, shared);
    }
    return NULL;
}

static void threads(void) {
    enum { PARTS = THREADS * EACH };
    double *out = malloc(PARTS * LENGTH * sizeof *out), *in = malloc(PARTS * LENGTH * sizeof *in);
    MPI_Request recv;
    MPI_Psend_init(out, PARTS, LENGTH, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &shared);
    MPI_Precv_init(in, PARTS / 8, 8 * LENGTH, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &recv);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < PARTS * LENGTH; i++) out[i] = round + i, in[i] = -1;
        MPI_Start(&recv);
        MPI_Start(&shared);
        pthread_t thread[THREADS];
        int numbers[THREADS];
        for (int t = 0; t < THREADS; t++) {
            numbers[t] = t;
            pthread_create(&thread[t], NULL, mark, &numbers[t]);
        }
        MPI_Wait(&shared, MPI_STATUS_IGNORE);
        MPI_Wait(&recv, MPI_STATUS_IGNORE);
        for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
        for (int i = 0; i < PARTS * LENGTH; i++)
            if (in[i] != round + i) {
                CHECK(0, "round %d: element %d is %g", round, i, in[i]);
                break;
            }
    }
    MPI_Request_free(&shared);
    MPI_Request_free(&recv);
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    static const int counts[][2] = { { 1, 1 }, { 8, 8 }, { 1, 16 }, { 16, 1 }, { 12, 8 }, { 8, 12 } };
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int backwards = 0; backwards < 2; backwards++) {
            exchange(96, counts[c][0], counts[c][1], 0, 0, backwards);
            exchange(96 * 1024, counts[c][0], counts[c][1], 0, 0, backwards);
            exchange(96, counts[c][0], counts[c][1], 1, 0, backwards);
            exchange(96, counts[c][0], counts[c][1], 0, 1, backwards);
            exchange(96 * 64, counts[c][0], counts[c][1], 1, 1, backwards);
        }
    /* A sender's partition ends inside an element of the receiver. */
    exchange(96, 32, 2, 0, 1, 0);
    exchange(96, 96, 3, 0, 1, 1);
    order();
    if (argc > 1 && provided == MPI_THREAD_MULTIPLE) threads();
    return end();
}
