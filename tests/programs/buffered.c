/* Buffered sends: order, space, all ways to attach, detach and flush. */
#include "check.h"

#define MPI41 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

static int rank, size, left, right;

static void drain(int count, int tag, int from) {
    for (int i = 0; i < count; i++) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == i, "message %d with tag %d is %d", i, tag, got);
    }
}

/* Buffered and standard sends of a pair keep their order. */
static void order(void) {
    enum { N = 200 };
    int bytes = N * (MPI_BSEND_OVERHEAD + (int)sizeof(int)), got;
    char *buffer = malloc(bytes), *back = NULL;
    MPI_Buffer_attach(buffer, bytes);
    for (int i = 0; i < N; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        switch (i % 3) {
        case 0: MPI_Bsend(&i, 1, MPI_INT, right, 1, MPI_COMM_WORLD); break;
        case 1:
            MPI_Ibsend(&i, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Bsend_init(&i, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        }
    }
    drain(N, 1, left);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buffer && got == bytes, "detached %p, %d", (void *)back, got);
    free(buffer);
}

/* Messages too long to be eager stay in the buffer until they are received: it fills, and is whole
   again after they are. The data may change when the call has returned. */
static void space(void) {
    enum { LONG = 1 << 20, FIT = 3 };
    int bytes = FIT * (LONG + MPI_BSEND_OVERHEAD), got, code = MPI_SUCCESS, sent = 0, class = 0;
    char *buffer = malloc(bytes), *data = malloc(LONG), *back = NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Buffer_attach(buffer, bytes);
    for (int round = 0; round < 3; round++) {
        while (sent < FIT + 1) {
            memset(data, 'a' + sent, LONG);
            code = MPI_Bsend(data, LONG, MPI_CHAR, right, 2, MPI_COMM_WORLD);
            if (code != MPI_SUCCESS) break;
            sent++;
        }
        memset(data, 0, LONG);
        MPI_Error_class(code, &class);
        CHECK(sent >= FIT, "only %d messages fit", sent);
        CHECK(sent > FIT || class == MPI_ERR_BUFFER, "class %d", class);
        MPI_Send(&sent, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
        int come = 0;
        MPI_Recv(&come, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < come; i++) {
            MPI_Recv(data, LONG, MPI_CHAR, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(data[0] == 'a' + i && data[LONG - 1] == 'a' + i, "message %d begins with %d", i, data[0]);
        }
        sent = 0;
        code = MPI_SUCCESS;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&back, &got);
    CHECK(back == buffer && got == bytes, "detached %p, %d", (void *)back, got);
    MPI_Error_class(MPI_Bsend(data, 1, MPI_CHAR, right, 2, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_BUFFER, "a send without a buffer gave class %d", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(buffer);
    free(data);
}

/* Detach returns when the messages are gone, and makes progress meanwhile. */
static void detach(void) {
    enum { LONG = 1 << 20 };
    int bytes = LONG + MPI_BSEND_OVERHEAD, got;
    char *buffer = malloc(bytes), *data = malloc(LONG), *back;
    MPI_Request request;
    memset(data, 'x', LONG);
    MPI_Irecv(data, LONG, MPI_CHAR, left, 4, MPI_COMM_WORLD, &request);
    char *out = malloc(LONG);
    memset(out, 'y', LONG);
    MPI_Buffer_attach(buffer, bytes);
    MPI_Bsend(out, LONG, MPI_CHAR, right, 4, MPI_COMM_WORLD);
    MPI_Buffer_detach(&back, &got);
    memset(buffer, 0, bytes);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data[0] == 'y' && data[LONG - 1] == 'y', "the data was gone before the message");
    free(buffer);
    free(data);
    free(out);
}

#if MPI41
static void flush(void) {
    enum { LONG = 1 << 20 };
    int got, flag = 0;
    MPI_Count count = -1;
    char *data = malloc(LONG), *back = NULL, *own = malloc(2 * (LONG + MPI_BSEND_OVERHEAD));
    MPI_Request requests[3];
    MPI_Comm comm;
    memset(data, 'z', LONG);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    /* The library's own space, for all; and the communicator's, which comes first. */
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < 5; i++) MPI_Bsend(data, LONG, MPI_CHAR, right, 5, MPI_COMM_WORLD);
    MPI_Bsend(data, LONG, MPI_CHAR, right, 5, comm);
    MPI_Comm_attach_buffer_c(comm, own, 2 * (LONG + MPI_BSEND_OVERHEAD));
    MPI_Bsend(data, LONG, MPI_CHAR, right, 6, comm);
    MPI_Bsend(data, LONG, MPI_CHAR, right, 6, comm);
    MPI_Comm_iflush_buffer(comm, &requests[0]);
    MPI_Buffer_iflush(&requests[1]);
    MPI_Comm_iflush_buffer(MPI_COMM_SELF, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag || size > 1, "flushed while the messages are there");
    for (int i = 0; i < 5; i++)
        MPI_Recv(data, LONG, MPI_CHAR, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, LONG, MPI_CHAR, left, 5, comm, MPI_STATUS_IGNORE);
    MPI_Recv(data, LONG, MPI_CHAR, left, 6, comm, MPI_STATUS_IGNORE);
    MPI_Recv(data, LONG, MPI_CHAR, left, 6, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_flush_buffer(comm);
    MPI_Buffer_flush();
    MPI_Comm_detach_buffer_c(comm, &back, &count);
    CHECK(back == own && count == 2 * (LONG + MPI_BSEND_OVERHEAD), "detached %p, %ld", (void *)back, (long)count);
    MPI_Buffer_detach(&back, &got);
    CHECK(back == MPI_BUFFER_AUTOMATIC, "detached %p", (void *)back);
    MPI_Comm_free(&comm);
    free(data);
    free(own);
}
#endif

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    order();
    space();
    detach();
#if MPI41
    flush();
#endif
    /* MPI_Finalize delivers what is left. */
    static char last[4 * (MPI_BSEND_OVERHEAD + 8)];
    MPI_Buffer_attach(last, sizeof last);
    int value = rank;
    MPI_Bsend(&value, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == left, "got %d", value);
    return end();
}
