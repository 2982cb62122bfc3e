/* Both directions at once, MPI_PROC_NULL, ready and cancelled operations, and messages that are too
   long. */
#include "check.h"

static int rank, size, right, left;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void both(int bytes) {
    char *out = need(bytes), *in = need(bytes);
    MPI_Request requests[3];
    MPI_Status status;
    int count, index;
    fill(out, bytes, rank);
    MPI_Sendrecv(out, bytes, MPI_BYTE, right, 1, in, bytes, MPI_BYTE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(differs(in, bytes, left) < 0 && status.MPI_SOURCE == left && status.MPI_TAG == 1, "Sendrecv");
    MPI_Sendrecv_replace(out, bytes, MPI_BYTE, right, 2, left, 2, MPI_COMM_WORLD, &status);
    CHECK(differs(out, bytes, left) < 0 && status.MPI_TAG == 2, "Sendrecv_replace");
    memset(in, 0, bytes);
    MPI_Isendrecv(out, bytes, MPI_BYTE, left, 3, in, bytes, MPI_BYTE, right, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv_replace(out, 0, MPI_BYTE, left, 4, right, 4, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    for (int i = 0; i < 2; i++) {
        MPI_Waitany(3, requests, &index, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(status.MPI_SOURCE == right && status.MPI_TAG == 3 + index, "request %d, tag %d", index, status.MPI_TAG);
        CHECK(count == (index == 0 ? bytes : 0), "%d bytes", count);
    }
    CHECK(differs(in, bytes, rank) < 0, "Isendrecv");
    MPI_Isendrecv_replace(in, bytes, MPI_BYTE, right, 5, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(differs(in, bytes, left) < 0, "Isendrecv_replace");
    free(out);
    free(in);
}

static void nobody(void) {
    int in = 5, out = 6, flag, count;
    char buffer[MPI_BSEND_OVERHEAD + 16];
    MPI_Request requests[8];
    MPI_Status status;
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0, "of nobody");
    /* One half with somebody. */
    MPI_Isendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "source %d", status.MPI_SOURCE);
    MPI_Wait(&requests[1], &status);
    CHECK(in == 6 && status.MPI_SOURCE == left, "got %d from %d", in, status.MPI_SOURCE);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Send_init(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Rsend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Psend_init(&out, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[5]);
    MPI_Precv_init(&in, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[6]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(7, requests);
        MPI_Pready(0, requests[5]);
        MPI_Parrived(requests[6], 0, &flag);
        CHECK(flag, "nothing arrives at once");
        MPI_Waitall(7, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 7; i++) MPI_Request_free(&requests[i]);
    MPI_Bsend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Ibsend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    void *back;
    MPI_Buffer_detach(&back, &count);
}

/* Every rank sends four messages; the second and the last are longer than their receives. */
static void too_long(int bytes, int persistent) {
    char *out = need(bytes), *in = need(4 * bytes);
    MPI_Request sends[4], recvs[4];
    MPI_Status statuses[4];
    int count, done = 0, indices[4];
    fill(out, bytes, rank);
    for (int i = 0; i < 4; i++) {
        int room = i % 2 ? bytes / 2 : bytes;
        if (persistent)
            MPI_Recv_init(in + i * bytes, room, MPI_BYTE, left, i, MPI_COMM_WORLD, &recvs[i]);
        else
            MPI_Irecv(in + i * bytes, room, MPI_BYTE, left, i, MPI_COMM_WORLD, &recvs[i]);
    }
    if (persistent) MPI_Startall(4, recvs);
    for (int i = 0; i < 4; i++) MPI_Isend(out, bytes, MPI_BYTE, right, i, MPI_COMM_WORLD, &sends[i]);
    if (persistent) {
        int code = MPI_SUCCESS, got = 0;
        while (done < 4) {
            code = MPI_Waitsome(4, recvs, &got, indices, statuses);
            for (int i = 0; i < got; i++) {
                int wanted = indices[i] % 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
                if (code != MPI_SUCCESS)
                    CHECK(class_of(statuses[i].MPI_ERROR) == wanted, "status of %d", indices[i]);
                else
                    CHECK(wanted == MPI_SUCCESS, "no error for %d", indices[i]);
            }
            CHECK(code == MPI_SUCCESS || class_of(code) == MPI_ERR_IN_STATUS, "class %d", class_of(code));
            done += got;
        }
        for (int i = 0; i < 4; i++) MPI_Request_free(&recvs[i]);
    } else {
        CHECK(class_of(MPI_Waitall(4, recvs, statuses)) == MPI_ERR_IN_STATUS, "Waitall");
        for (int i = 0; i < 4; i++) {
            CHECK(class_of(statuses[i].MPI_ERROR) == (i % 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "status %d", i);
            MPI_Get_count(&statuses[i], MPI_BYTE, &count);
            CHECK(i % 2 || count == bytes, "count of %d is %d", i, count);
        }
    }
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        CHECK(i % 2 || differs(in + i * bytes, bytes, left) < 0, "message %d", i);
    /* The blocking forms, and what was matched before. */
    MPI_Isend(out, bytes, MPI_BYTE, right, 9, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(out, bytes, MPI_BYTE, right, 10, MPI_COMM_WORLD, &sends[1]);
    CHECK(class_of(MPI_Recv(in, bytes - 1, MPI_BYTE, left, 9, MPI_COMM_WORLD, &statuses[0])) == MPI_ERR_TRUNCATE, "Recv");
    MPI_Message message;
    MPI_Mprobe(left, 10, MPI_COMM_WORLD, &message, &statuses[0]);
    CHECK(class_of(MPI_Mrecv(in, bytes - 1, MPI_BYTE, &message, &statuses[0])) == MPI_ERR_TRUNCATE, "Mrecv");
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
}

/* Ready sends with their receives posted; receives cancelled in all places of the queue. */
static void ready_and_cancel(void) {
    enum { N = 6 };
    int in[N], out[N], flag;
    MPI_Request recvs[N], sends[2];
    MPI_Status status;
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        out[i] = 10 * rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 7, MPI_COMM_WORLD, &recvs[i]);
    }
    for (int i = 0; i < N; i += 2) {
        MPI_Cancel(&recvs[i]);
        MPI_Wait(&recvs[i], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag, "receive %d was not cancelled", i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&out[1], 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    MPI_Irsend(&out[3], 1, MPI_INT, right, 7, MPI_COMM_WORLD, &sends[0]);
    MPI_Rsend_init(&out[5], 1, MPI_INT, right, 7, MPI_COMM_WORLD, &sends[1]);
    MPI_Start(&sends[1]);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Request_free(&sends[1]);
    for (int i = 1; i < N; i += 2) {
        MPI_Wait(&recvs[i], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag && in[i] == 10 * left + i, "place %d has %d", i, in[i]);
    }
    /* The status tells the truth, whatever becomes of a cancelled send. */
    static char big[1 << 20], got[1 << 20];
    int cancelled, other;
    MPI_Irecv(got, sizeof got, MPI_BYTE, left, 8, MPI_COMM_WORLD, &recvs[0]);
    MPI_Issend(big, sizeof big, MPI_BYTE, right, 8, MPI_COMM_WORLD, &sends[0]);
    MPI_Cancel(&sends[0]);
    MPI_Wait(&sends[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    MPI_Sendrecv(&cancelled, 1, MPI_INT, right, 9, &other, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (other) MPI_Cancel(&recvs[0]);
    MPI_Wait(&recvs[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag == !other, "the send was%s cancelled, its receive was%s", other ? "" : " not", flag ? "" : " not");
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    static const int lengths[] = { 1, 100, 5000, 100000, 1 << 20 };
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) both(lengths[i]);
    nobody();
    ready_and_cancel();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int persistent = 0; persistent < 2; persistent++)
        for (unsigned i = 1; i < sizeof lengths / sizeof *lengths; i++) too_long(lengths[i], persistent);
    return end();
}
