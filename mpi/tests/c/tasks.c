/* Large packing, unpacking and reductions while other threads wait in the library and lend a hand. */
#include "check.h"
#include <pthread.h>

enum { WAITERS = 3, BLOCKS = 40000, BLOCK = 7, STRIDE = 11 };

static void *waiter(void *arg) {
    int got = -1, me = (int)(long)arg;
    MPI_Recv(&got, 1, MPI_INT, 0, me, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(got == 1000 + me);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t threads[WAITERS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
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
    for (int i = 0; i < WAITERS; i++) {
        int give = 1000 + i;
        MPI_Send(&give, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    }
    for (int i = 0; i < WAITERS; i++) pthread_join(threads[i], NULL);
    MPI_Type_free(&vector);
    free(in), free(out), free(row), free(sum), free(x), free(y);
    return finish();
}
