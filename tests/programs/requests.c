/* The eight ways to complete requests, on requests that finish in an order of our choosing. */
#include "check.h"

enum { N = 24 };
static int rank, data[N];
static MPI_Request requests[N];

static void post(void) {
    for (int i = 0; i < N; i++) {
        data[i] = -1;
        MPI_Irecv(&data[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
}

/* Rank 1 sends the tags in an order that is no order. */
static void feed(void) {
    for (int i = 0; i < N; i++) {
        int tag = (i * 7 + 3) % N, value = 100 + tag;
        MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
}

static void done(int i, const MPI_Status *status) {
    CHECK(data[i] == 100 + i, "request %d got %d", i, data[i]);
    CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is still there", i);
    if (status) CHECK(status->MPI_TAG == i && status->MPI_SOURCE == 1, "status of %d", i);
}

static void collect(int way) {
    MPI_Status statuses[N];
    int indices[N], seen[N] = { 0 }, left = N, flag = 0, index = 0, count = 0;
    while (left > 0) {
        switch (way) {
        case 0:
            MPI_Wait(&requests[N - left], &statuses[0]);
            done(N - left, &statuses[0]);
            left--;
            break;
        case 1:
            MPI_Test(&requests[N - left], &flag, &statuses[0]);
            if (flag) { done(N - left, &statuses[0]); left--; }
            break;
        case 2: MPI_Waitall(N, requests, statuses); flag = 1; goto all;
        case 3: MPI_Testall(N, requests, &flag, statuses);
        all:
            for (int i = 0; flag && i < N; i++, left--) done(i, &statuses[i]);
            break;
        case 4: MPI_Waitany(N, requests, &index, &statuses[0]); flag = 1; goto any;
        case 5: MPI_Testany(N, requests, &index, &flag, &statuses[0]);
        any:
            if (flag) {
                CHECK(index != MPI_UNDEFINED && !seen[index], "index %d", index);
                seen[index] = 1;
                done(index, &statuses[0]);
                left--;
            }
            break;
        case 6: MPI_Waitsome(N, requests, &count, indices, statuses); goto some;
        default: MPI_Testsome(N, requests, &count, indices, statuses);
        some:
            CHECK(count != MPI_UNDEFINED, "undefined with %d left", left);
            CHECK(way == 7 || count > 0, "Waitsome returned with nothing");
            for (int i = 0; i < count; i++, left--) {
                CHECK(!seen[indices[i]], "index %d twice", indices[i]);
                seen[indices[i]] = 1;
                done(indices[i], &statuses[i]);
            }
        }
    }
    /* Nothing is left: every form says so at once. */
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "Waitany without requests");
    MPI_Testsome(N, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED, "Testsome without requests");
    MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag, "Testall without requests");
}

int main(int argc, char **argv) {
    int size;
    begin(&argc, &argv, &rank, &size);
    CHECK(size >= 2, "needs two ranks");
    for (int way = 0; way < 8; way++)
        for (int late = 0; late < 2; late++) {
            if (rank == 0 && !late) post();
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 1) feed();
            if (rank == 0 && late) post();
            if (rank == 0) collect(way);
        }
    /* A request freed while its message is under way is still sent. */
    if (rank == 1) {
        static int value = 4711;
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL, "the freed request");
    } else if (rank == 0) {
        MPI_Recv(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data[0] == 4711, "got %d", data[0]);
    }
    return end();
}
