/* Every way of sending, at every size at which a protocol may change, expected and unexpected,
 * contiguous and strided, between the ranks 2k and 2k+1. All bytes are looked at. */
#include "check.h"

static int rank, peer;

static long sizes[64];
static int size_count;

static void make_sizes(void) {
    sizes[size_count++] = 0;
    for (long s = 1; s <= 8L << 20; s *= 2) {
        if (s > 2) sizes[size_count++] = s - 1;
        sizes[size_count++] = s;
        if (s >= 32 && s <= 65536) sizes[size_count++] = s + 1;
    }
}

enum how { SEND, SSEND, ISEND, ISSEND, HOWS };

static void send(enum how how, const void *data, int count, MPI_Datatype type, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    switch (how) {
    case SEND: MPI_Send(data, count, type, peer, tag, MPI_COMM_WORLD); break;
    case SSEND: MPI_Ssend(data, count, type, peer, tag, MPI_COMM_WORLD); break;
    case ISEND: MPI_Isend(data, count, type, peer, tag, MPI_COMM_WORLD, &request); break;
    case ISSEND: MPI_Issend(data, count, type, peer, tag, MPI_COMM_WORLD, &request); break;
    default: break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* One message from the even rank to the odd one, posted before it is sent or long after. */
static void one(enum how how, long size, int late, char *buffer) {
    int tag = (int)how + 4 * late, count = -1;
    char token = 0;
    if (rank % 2 == 0) {
        fill(buffer, size, size + tag);
        if (!late) MPI_Recv(&token, 1, MPI_CHAR, peer, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        /* A small message behind the large one must not come before it in another tag's place. */
        MPI_Request behind;
        if (late && how != SSEND && how != SEND) {
            MPI_Request request;
            if (how == ISEND) MPI_Isend(buffer, (int)size, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            else MPI_Issend(buffer, (int)size, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            MPI_Isend(&token, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD, &behind);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Wait(&behind, MPI_STATUS_IGNORE);
        } else {
            MPI_Isend(&token, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD, &behind);
            send(how, buffer, (int)size, MPI_BYTE, tag);
            MPI_Wait(&behind, MPI_STATUS_IGNORE);
        }
        CHECK(differs(buffer, size, size + tag) < 0, "the sender's buffer changed");
    } else {
        MPI_Status status;
        MPI_Request request;
        memset(buffer, 0x5a, (size_t)size + 64);
        if (!late) {
            MPI_Irecv(buffer, (int)size + 64, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            MPI_Send(&token, 1, MPI_CHAR, peer, 100, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, &status);
        } else {
            MPI_Recv(&token, 1, MPI_CHAR, peer, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(buffer, (int)size + 64, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
        }
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == size, "%d bytes instead of %ld (how %d late %d)", count, size, (int)how, late);
        CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == tag, "status");
        long bad = differs(buffer, size, size + tag);
        CHECK(bad < 0, "byte %ld of %ld is wrong (how %d late %d)", bad, size, (int)how, late);
        for (long i = size; i < size + 64; i++) CHECK(buffer[i] == 0x5a, "written behind the end");
    }
}

/* Every third int of an array, in both directions and against the contiguous form. */
static void strided(int blocks, int send_strided, int receive_strided) {
    MPI_Datatype type;
    MPI_Type_vector(blocks, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    int length = 3 * blocks, *data = need((size_t)length * sizeof(int));
    for (int i = 0; i < length; i++) data[i] = rank % 2 == 0 ? i : -1;
    if (rank % 2 == 0) {
        if (send_strided) send(blocks % 2 ? SEND : ISSEND, data, 1, type, 7);
        else send(blocks % 2 ? SEND : ISSEND, data, blocks, MPI_INT, 7);
    } else {
        MPI_Status status;
        int count;
        if (receive_strided) MPI_Recv(data, 1, type, peer, 7, MPI_COMM_WORLD, &status);
        else MPI_Recv(data, blocks, MPI_INT, peer, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == blocks, "%d instead of %d", count, blocks);
        for (int i = 0; i < blocks; i++) {
            int want = send_strided ? 3 * i : i;
            int got = data[receive_strided ? 3 * i : i];
            CHECK(got == want, "element %d of %d is %d instead of %d", i, blocks, got, want);
        }
        for (int i = 0; receive_strided && i < length; i++)
            CHECK(i % 3 == 0 || data[i] == -1, "a gap was written");
    }
    free(data);
    MPI_Type_free(&type);
}

/* A message longer than its buffer is an error of the receive, and nothing else breaks. */
static void truncated(long size) {
    char *buffer = need((size_t)size + 1);
    if (rank % 2 == 0) {
        fill(buffer, size, 3);
        MPI_Send(buffer, (int)size, MPI_BYTE, peer, 8, MPI_COMM_WORLD);
        MPI_Send(buffer, 1, MPI_BYTE, peer, 9, MPI_COMM_WORLD);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        buffer[size / 2] = 0x5a;
        int error = MPI_Recv(buffer, (int)(size / 2), MPI_BYTE, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE), class = 0;
        MPI_Error_class(error, &class);
        CHECK(class == MPI_ERR_TRUNCATE, "class %d for %ld bytes into %ld", class, size, size / 2);
        CHECK(buffer[size / 2] == 0x5a, "written behind the end");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Recv(buffer, 1, MPI_BYTE, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(differs(buffer, 1, 3) < 0, "the next message is wrong");
    }
    free(buffer);
}

/* Both send a large message at once; neither waits for the other first. */
static void crossing(long size) {
    char *out = need((size_t)size), *in = need((size_t)size);
    fill(out, size, rank);
    MPI_Sendrecv(out, (int)size, MPI_BYTE, peer, 5, in, (int)size, MPI_BYTE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(differs(in, size, peer) < 0, "crossing messages of %ld bytes", size);
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    int size;
    begin(&argc, &argv, &rank, &size);
    CHECK(size % 2 == 0, "needs an even number of ranks");
    peer = rank ^ 1;
    make_sizes();
    char *buffer = need((size_t)(8L << 20) + 128);
    for (int i = 0; i < size_count; i++)
        for (int how = 0; how < HOWS; how++)
            for (int late = 0; late < 2; late++) {
                /* A blocking synchronous send cannot be late here: it would wait for ever. */
                if (late && (how == SSEND || how == SEND)) continue;
                one((enum how)how, sizes[i], late, buffer);
            }
    for (int blocks = 1; blocks <= 1 << 18; blocks = blocks * 3 + 1)
        for (int form = 0; form < 4; form++) strided(blocks, form & 1, form >> 1);
    for (long s = 8; s <= 4L << 20; s *= 8) truncated(s);
    for (long s = 1; s <= 4L << 20; s *= 4) crossing(s);
    free(buffer);
    return end();
}
