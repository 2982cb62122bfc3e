/* Calls counted for each endpoint: two endpoints of a process, a thread each, send numbers of messages of their own, and the variables bound to
   an endpoint's handle show its own. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { EACH = 2, KINDS = 5, BARRIERS = 3, MOST = 64 };
enum { SENDS, RECEIVES, COLLECTIVES, BYTES_SENT, BYTES_RECEIVED };

static const char *const names[KINDS] = {"sends", "receives", "collectives", "bytes_sent", "bytes_received"};
static MPI_Comm endpoints[EACH];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[EACH][KINDS];

/* Endpoint i sends 10 * (i + 1) messages of 8 * (i + 1) bytes to the endpoint of the same number in the next process. */
static int messages(int i) { return 10 * (i + 1); }
static int length(int i) { return 8 * (i + 1); }

static void *work(void *arg) {
    const int i = (int)(long)arg;
    MPI_Comm comm = endpoints[i];
    char out[MOST] = {0}, in[MOST];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int to = (rank + EACH) % size, from = (rank + size - EACH) % size;
    for (int m = 0; m < messages(i); m++) {
        if (m % 2) {
            MPI_Sendrecv(out, length(i), MPI_BYTE, to, m, in, MOST, MPI_BYTE, from, m, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Request receive;
            MPI_Irecv(in, MOST, MPI_BYTE, from, m, comm, &receive);
            MPI_Send(out, length(i), MPI_BYTE, to, m, comm);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        }
    }
    for (int b = 0; b < BARRIERS; b++) MPI_Barrier(comm);
    return NULL;
}

static unsigned long long read_of(int i, int kind) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, handles[i][kind], &n) == MPI_SUCCESS, "%s", names[kind]);
    return n;
}

static void is(int i, int kind, unsigned long long due) {
    const unsigned long long n = read_of(i, kind);
    CHECK(n == due, "%s of endpoint %d: %llu, not %llu", names[kind], i, n, due);
}

int main(int argc, char **argv) {
    int provided, count;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, EACH, MPI_INFO_NULL, endpoints) == MPI_SUCCESS, "endpoints");
    MPI_T_pvar_session_create(&session);
    for (int kind = 0; kind < KINDS; kind++) {
        char full[64];
        int index;
        const int class = kind >= BYTES_SENT ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER;
        snprintf(full, sizeof full, "runtime_comm_%s", names[kind]);
        CHECK(MPI_T_pvar_get_index(full, class, &index) == MPI_SUCCESS, "%s", full);
        for (int i = 0; i < EACH; i++) {
            CHECK(MPI_T_pvar_handle_alloc(session, index, &endpoints[i], &handles[i][kind], &count) == MPI_SUCCESS, "%s", full);
            CHECK(MPI_T_pvar_start(session, handles[i][kind]) == MPI_SUCCESS, "%s", full);
        }
    }
    pthread_t threads[EACH];
    for (long i = 0; i < EACH; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < EACH; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < EACH; i++) {
        is(i, SENDS, messages(i));
        is(i, RECEIVES, messages(i));
        is(i, COLLECTIVES, BARRIERS);
        is(i, BYTES_SENT, (unsigned long long)messages(i) * length(i));
        is(i, BYTES_RECEIVED, (unsigned long long)messages(i) * length(i));
    }
    MPI_T_pvar_session_free(&session);
    for (int i = 0; i < EACH; i++) MPI_Comm_free(&endpoints[i]);
    MPI_T_finalize();
    return end();
}
