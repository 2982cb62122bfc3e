/* Ready sends for which no receive is posted. The standard calls that an error of the program and leaves open what
 * happens; here they behave as standard sends: the message waits, whatever its size, and is received once, in order,
 * unchanged. Two ranks, or one that sends to itself. */
#include "check.h"

static const int SIZES[] = {0, 1, 8, 64, 1000, 4096, 10000, 70000, 1 << 20};
enum { N = sizeof SIZES / sizeof *SIZES, LAST = N };

static unsigned char *out, *in;

/* Sends all sizes by one form; the requests are complete when the receiver has come. */
static void send_all(int form, int to, MPI_Request *requests) {
    for (int i = 0; i < N; i++) {
        unsigned char *from = out + (long)i * SIZES[N - 1];
        requests[i] = MPI_REQUEST_NULL;
        fill(from, SIZES[i], 100 * form + i);
        switch (form) {
            case 0: MPI_Irsend(from, SIZES[i], MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]); break;
            case 1:
                MPI_Rsend_init(from, SIZES[i], MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]);
                MPI_Start(&requests[i]);
                break;
            case 2: MPI_Rsend(from, SIZES[i], MPI_BYTE, to, i, MPI_COMM_WORLD); break;
        }
    }
}

static void receive_all(int form, int from) {
    /* The last one first: nothing was posted, so all of them wait here. */
    for (int i = N - 1; i >= 0; i--) {
        MPI_Status status;
        int count;
        memset(in, 0, (size_t)SIZES[i]);
        MPI_Recv(in, SIZES[N - 1], MPI_BYTE, from, i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == SIZES[i], "%d bytes came, not %d", count, SIZES[i]);
        CHECK(differs(in, SIZES[i], 100 * form + i) < 0, "form %d, %d bytes", form, SIZES[i]);
    }
    int flag;
    MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a message came twice");
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    CHECK(size <= 2, "usage");
    out = need((size_t)N * (size_t)SIZES[N - 1]);
    in = need((size_t)SIZES[N - 1]);
    for (int form = 0; form < 3; form++) {
        MPI_Request requests[N];
        /* A blocking send of a long message waits for its receiver, who cannot wait for a word from it. */
        int blocks = form == 2;
        if (rank == 0 && !(blocks && size == 1)) {
            if (!blocks) send_all(form, size - 1, requests);
            /* By now the other one knows that all are under way, and has posted nothing. */
            if (size == 2 && !blocks) MPI_Send(NULL, 0, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
            if (blocks) send_all(form, 1, requests);
        }
        if (rank == size - 1 && !(blocks && size == 1)) {
            if (size == 2 && !blocks) MPI_Recv(NULL, 0, MPI_BYTE, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (blocks) {
                for (int i = 0; i < N; i++) {
                    /* Each is there before its receive. */
                    MPI_Probe(0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    MPI_Recv(in, SIZES[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    CHECK(differs(in, SIZES[i], 100 * form + i) < 0, "%d bytes", SIZES[i]);
                }
            } else {
                receive_all(form, 0);
            }
        }
        if (rank == 0) {
            if (!blocks) MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < N && form == 1; i++) MPI_Request_free(&requests[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(out), free(in);
    return end();
}
