/* A blocking probe beside a thread that computes sleeps on the doorbell: its naps by timer (runtime_waits_naps) do not grow with
   the time that it waits. Then probes beside threads that wait for requests, all at once. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 50, LATER = 300000, NAPS = 20, PROBED = 1, RECEIVED = 2 };
static int rank;
static atomic_int called, stop;

static void *compute(void *unused) {
    int flag;
    (void)unused;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    atomic_store(&called, 1);
    while (!atomic_load(&stop)) usleep(1000);
    return NULL;
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void look_for_the_count(void) {
    int provided, index, count;
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "no tools");
    CHECK(MPI_T_pvar_get_index("runtime_waits_naps", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "no variable");
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1, "no handle");
}

static unsigned long long naps(void) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, handle, &n) == MPI_SUCCESS, "no count");
    return n;
}

/* The probe's thread is the only one that waits. */
static void alone(void) {
    pthread_t other;
    int word = 5;
    if (rank == 1) {
        usleep(LATER);
        MPI_Send(&word, 1, MPI_INT, 0, PROBED, MPI_COMM_WORLD);
        return;
    }
    CHECK(!pthread_create(&other, NULL, compute, NULL), "no thread");
    while (!atomic_load(&called)) usleep(100);
    unsigned long long before = naps();
    MPI_Probe(1, PROBED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(naps() - before < NAPS, "%llu naps", naps() - before);
    MPI_Recv(&word, 1, MPI_INT, 1, PROBED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    atomic_store(&stop, 1);
    pthread_join(other, NULL);
}

static void *receive(void *unused) {
    (void)unused;
    for (int i = 0, word; i < ROUNDS; i++) {
        MPI_Recv(&word, 1, MPI_INT, 1, RECEIVED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(word == i, "%d in round %d", word, i);
        MPI_Send(&word, 1, MPI_INT, 1, RECEIVED, MPI_COMM_WORLD);
    }
    return NULL;
}

/* One thread probes, another receives; messages for either come first. */
static void among(void) {
    pthread_t other;
    MPI_Message message;
    if (rank == 1) {
        for (int i = 0; i < ROUNDS; i++)
            for (int k = 0; k < 2; k++) {
                int tag = (i + k) % 2 ? PROBED : RECEIVED, word = i;
                if (i % 5 == 0) usleep(2000);
                MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
                MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        return;
    }
    CHECK(!pthread_create(&other, NULL, receive, NULL), "no thread");
    for (int i = 0, word; i < ROUNDS; i++) {
        MPI_Mprobe(1, PROBED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        CHECK(word == i, "%d in round %d", word, i);
        MPI_Send(&word, 1, MPI_INT, 1, PROBED, MPI_COMM_WORLD);
    }
    pthread_join(other, NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    look_for_the_count();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank_ = rank;
    alone();
    MPI_Barrier(MPI_COMM_WORLD);
    among();
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}
