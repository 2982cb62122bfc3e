/* Large packing, unpacking and reductions while other threads wait in the library and lend a hand: they do some of the pieces
   (runtime_waits_helped) where there are two cores. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { WAITERS = 3, BLOCKS = 40000, BLOCK = 7, STRIDE = 11 };

static void *waiter(void *arg) {
    int got = -1, me = (int)(long)arg;
    MPI_Recv(&got, 1, MPI_INT, 0, me, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(got == 1000 + me);
    return NULL;
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void look_for_the_count(void) {
    int provided, index, count;
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_index("runtime_waits_helped", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
}

static unsigned long long pieces_done_by_waiters(void) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, handle, &n) == MPI_SUCCESS);
    return n;
}

static int cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* A waiter may get no core while the pieces last, so there is more work until one had it: for a minute at most. */
static void until_a_waiter_helps(const int *row, int *sum, int packed) {
    time_t end = time(NULL) + 60;
    if (cores() < 2) {
        CHECK(pieces_done_by_waiters() == 0);
        return;
    }
    while (pieces_done_by_waiters() == 0 && time(NULL) < end) MPI_Reduce_local(row, sum, packed, MPI_INT, MPI_MAX);
    CHECK(pieces_done_by_waiters() > 0);
}

int main(int argc, char **argv) {
    int provided;
    pthread_t threads[WAITERS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    look_for_the_count();
    for (long i = 0; i < WAITERS; i++) pthread_create(&threads[i], NULL, waiter, (void *)i);
    MPI_Datatype vector;
    MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    int total = BLOCKS * STRIDE, packed = BLOCKS * BLOCK, size;
    int *in = malloc(total * sizeof *in), *out = malloc(total * sizeof *out);
    int *row = malloc(packed * sizeof *row), *sum = malloc(packed * sizeof *sum);
    double *x = malloc(packed * sizeof *x), *y = malloc(packed * sizeof *y);
    MPI_Pack_size(1, vector, MPI_COMM_SELF, &size);
    CHECK(size == packed * (int)sizeof(int));
    for (int round = 0; round < 30; round++) {
        int at = 0, wrong = 0;
        for (int i = 0; i < total; i++) in[i] = i * 3 + round, out[i] = -1;
        CHECK(MPI_Pack(in, 1, vector, row, size, &at, MPI_COMM_SELF) == MPI_SUCCESS && at == size);
        for (int i = 0; i < packed; i++) wrong += row[i] != in[i / BLOCK * STRIDE + i % BLOCK];
        CHECK(wrong == 0);
        at = 0;
        CHECK(MPI_Unpack(row, size, &at, out, 1, vector, MPI_COMM_SELF) == MPI_SUCCESS && at == size);
        for (int i = 0; i < BLOCKS * STRIDE; i++)
            wrong += out[i] != (i % STRIDE < BLOCK ? in[i] : -1);
        CHECK(wrong == 0);
        for (int i = 0; i < packed; i++) sum[i] = i + round, x[i] = i * 0.5, y[i] = packed - i;
        CHECK(MPI_Reduce_local(row, sum, packed, MPI_INT, MPI_SUM) == MPI_SUCCESS);
        CHECK(MPI_Reduce_local(x, y, packed, MPI_DOUBLE, MPI_MAX) == MPI_SUCCESS);
        for (int i = 0; i < packed; i++) {
            wrong += sum[i] != i + round + row[i];
            wrong += y[i] != (i * 0.5 > packed - i ? i * 0.5 : packed - i);
        }
        CHECK(wrong == 0);
    }
    until_a_waiter_helps(row, sum, packed);
    for (int i = 0; i < WAITERS; i++) {
        int give = 1000 + i;
        MPI_Send(&give, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    }
    for (int i = 0; i < WAITERS; i++) pthread_join(threads[i], NULL);
    MPI_Type_free(&vector);
    free(in), free(out), free(row), free(sum), free(x), free(y);
    return finish();
}
