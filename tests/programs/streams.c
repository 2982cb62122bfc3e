/* Streams: communicators whose messages take a resource instance that the program names. Threads with a stream each, several threads on one, ranks whose
 * streams have different numbers, progress of a stream alone, and arguments that are wrong. Argument: threads. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { MOST = 16, TURNS = 40, LONG = 300000 };

static int rank, size, threads;
static MPI_Comm comms[MOST];
static MPIX_Stream streams[MOST];
static pthread_barrier_t together;

static void errors(void) {
    MPIX_Stream stream, stale;
    MPI_Comm comm, plain;
    MPI_Info info;
    MPI_Request request;
    int x = 0, error, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPIX_Stream_create(MPI_INFO_NULL, &stream) == MPI_SUCCESS && stream != MPIX_STREAM_NULL, "create");
    CHECK(MPIX_Stream_comm_create(MPI_COMM_SELF, stream, &comm) == MPI_SUCCESS, "comm_create");
    CHECK(MPIX_Stream_send(&x, 1, MPI_INT, 0, 1, comm, 1, 0) == MPI_ERR_ARG, "source index");
    CHECK(MPIX_Stream_send(&x, 1, MPI_INT, 0, 1, comm, -1, 0) == MPI_ERR_ARG, "a send from any");
    CHECK(MPIX_Stream_isend(&x, 1, MPI_INT, 0, 1, comm, 0, 2, &request) == MPI_ERR_ARG, "destination index");
    CHECK(MPIX_Stream_recv(&x, 1, MPI_INT, 0, 1, comm, 0, -1, MPI_STATUS_IGNORE) == MPI_ERR_ARG, "a receive on any");
    CHECK(MPIX_Stream_irecv(&x, 1, MPI_INT, 0, 1, comm, -2, 0, &request) == MPI_ERR_ARG, "source index");
    CHECK(MPIX_Stream_send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, 0, 0) == MPI_ERR_COMM, "no stream's communicator");
    CHECK(MPIX_Stream_send(&x, 1, MPI_INT, 1, 1, comm, 0, 0) == MPI_ERR_RANK, "rank");
    CHECK(MPIX_Stream_send(&x, -1, MPI_INT, 0, 1, comm, 0, 0) == MPI_ERR_COUNT, "count");
    CHECK(MPIX_Comm_get_stream(comm, 0, &stale) == MPI_SUCCESS && stale == stream, "get_stream");
    CHECK(MPIX_Comm_get_stream(comm, 1, &stale) == MPI_ERR_ARG, "get_stream, number 1");
    CHECK(MPIX_Comm_get_stream(MPI_COMM_SELF, 0, &stale) == MPI_ERR_COMM, "get_stream of another");
    /* Its communicators go on without it. */
    stale = stream;
    CHECK(MPIX_Stream_free(&stream) == MPI_SUCCESS && stream == MPIX_STREAM_NULL, "free");
    CHECK(MPIX_Stream_free(&stale) == MPI_ERR_ARG, "freed twice");
    CHECK(MPIX_Stream_free(&stream) == MPI_ERR_ARG, "null");
    CHECK(MPIX_Stream_progress(stale) == MPI_ERR_ARG, "progress of a freed one");
    CHECK(MPIX_Stream_comm_create(MPI_COMM_SELF, stale, &plain) == MPI_ERR_ARG, "a communicator of a freed one");
    CHECK(MPIX_Stream_comm_create(MPI_COMM_SELF, MPIX_STREAM_NULL, NULL) == MPI_ERR_ARG, "no place");
    x = 5;
    MPIX_Stream_isend_c(&x, 1, MPI_INT, 0, 1, comm, 0, 0, &request);
    int y = 0;
    MPIX_Stream_recv_c(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, -1, 0, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(y == 5, "%d", y);
    MPI_Comm_free(&comm);
    /* Without a stream: any instance. */
    CHECK(MPIX_Stream_comm_create(MPI_COMM_SELF, MPIX_STREAM_NULL, &comm) == MPI_SUCCESS, "no stream");
    MPIX_Stream_irecv_c(&y, 1, MPI_INT, 0, 2, comm, 0, 0, &request);
    MPIX_Stream_send_c(&rank, 1, MPI_INT, 0, 2, comm, 0, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(y == rank, "%d", y);
    MPI_Comm_free(&comm);
    MPI_Info_create(&info), MPI_Info_set(info, "type", "cudaStream_t");
    error = MPIX_Stream_create(info, &stream);
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "class %d", class);
    MPI_Info_free(&info);
}

/* Round a ring, each way of sending, short and long; messages of one pair in order, whatever the thread. */
static void exchange(MPI_Comm comm, int tag) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2 * TURNS];
    MPI_Status status;
    int out[TURNS], in[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        out[turn] = rank * 1000 + turn, in[turn] = -1;
        MPIX_Stream_irecv(&in[turn], 1, MPI_INT, turn % 2 ? left : MPI_ANY_SOURCE, tag, comm, 0, 0, &requests[2 * turn]);
        MPIX_Stream_isend(&out[turn], 1, MPI_INT, right, tag, comm, 0, 0, &requests[2 * turn + 1]);
    }
    MPI_Waitall(2 * TURNS, requests, MPI_STATUSES_IGNORE);
    for (int turn = 0; turn < TURNS; turn++) CHECK(in[turn] == left * 1000 + turn, "message %d is %d", turn, in[turn]);
    for (int n = 1; n <= LONG; n = n * 300 + 1) {
        unsigned char *to = need(n), *from = need(n);
        fill(to, n, rank + tag);
        MPIX_Stream_isend(to, n, MPI_BYTE, right, tag, comm, 0, 0, &requests[0]);
        MPIX_Stream_recv(from, n, MPI_BYTE, left, tag, comm, -1, 0, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(differs(from, n, left + tag) < 0 && status.MPI_SOURCE == left, "%d bytes from %d", n, status.MPI_SOURCE);
        free(to), free(from);
    }
}

/* A message comes by progress of the stream alone. */
static void alone(int which) {
    volatile int in = -1;
    int out = 4000 + rank;
    MPI_Request request;
    MPI_Irecv((void *)&in, 1, MPI_INT, (rank + size - 1) % size, 77, comms[which], &request);
    MPIX_Stream_send(&out, 1, MPI_INT, (rank + 1) % size, 77, comms[which], 0, 0);
    while (in == -1) CHECK(MPIX_Stream_progress(streams[which]) == MPI_SUCCESS, "progress");
    CHECK(in == 4000 + (rank + size - 1) % size, "%d", in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void *work(void *argument) {
    int me = (int)(long)argument, sum;
    MPI_Comm other;
    /* Each its own. */
    exchange(comms[me], 1);
    alone(me);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
    CHECK(sum == size * (size - 1) / 2, "%d", sum);
    MPI_Comm_dup(comms[me], &other);
    MPIX_Stream same;
    CHECK(MPIX_Comm_get_stream(other, 0, &same) == MPI_SUCCESS && same == streams[me], "the stream of a duplicate");
    exchange(other, 2);
    MPI_Comm_free(&other);
    /* All on one. */
    pthread_barrier_wait(&together);
    exchange(comms[0], 10 + me);
    /* Each on the next one's, while that may be at it, too. */
    pthread_barrier_wait(&together);
    exchange(comms[(me + 1) % threads], 50);
    for (int turn = 0; turn < 20; turn++) MPIX_Stream_progress(turn % 2 ? MPIX_STREAM_NULL : streams[turn % threads]);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPIX_Stream more[3];
    pthread_t all[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = argc > 1 ? atoi(argv[1]) : 2;
    CHECK(threads >= 1 && threads <= MOST, "threads: %d", threads);
    errors();
    /* Numbers of streams are not the same in all ranks. */
    for (int i = 0; i < rank % 3; i++) MPIX_Stream_create(MPI_INFO_NULL, &more[i]);
    for (int i = 0; i < threads; i++) {
        MPIX_Stream_create(MPI_INFO_NULL, &streams[i]);
        CHECK(MPIX_Stream_comm_create(MPI_COMM_WORLD, streams[i], &comms[i]) == MPI_SUCCESS, "stream %d", i);
    }
    pthread_barrier_init(&together, NULL, threads);
    for (long i = 0; i < threads; i++) CHECK(pthread_create(&all[i], NULL, work, (void *)i) == 0, "a thread");
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    for (int i = 0; i < threads; i++) MPIX_Stream_free(&streams[i]), exchange(comms[i], 3), MPI_Comm_free(&comms[i]);
    for (int i = 0; i < rank % 3; i++) MPIX_Stream_free(&more[i]);
    return end();
}
