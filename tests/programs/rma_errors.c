/* One-sided calls with one thing wrong: each is refused with its class, by the window's error handler, and the window goes on. */
#include "check.h"

static int rank, size, heard;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
static void hear(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    heard++;
}
#define REFUSED(call, wanted)                                                             \
    do {                                                                                  \
        int before_ = heard, got_ = class_of(call);                                       \
        CHECK(got_ == (wanted), "class %d instead of %d", got_, (int)(wanted));           \
        CHECK(heard == before_ + 1, "the window's handler heard of it %d times", heard - before_); \
    } while (0)

static void user(void *in, void *inout, int *n, MPI_Datatype *type) { (void)in, (void)inout, (void)n, (void)type; }

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    int mine[16] = {0}, x[16] = {0}, y[16] = {0}, right = (rank + 1) % size, flag;
    double d[2] = {0}, e[2];
    MPI_Win win;
    MPI_Request request;
    MPI_Errhandler handler;
    MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(hear, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);

    /* Outside of an epoch. */
    REFUSED(MPI_Put(x, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Get(x, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Rput(x, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Fetch_and_op(x, y, MPI_INT, right, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock(right, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush(right, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);

    /* Arguments of synchronisation. */
    REFUSED(MPI_Win_lock(7, right, 0, win), MPI_ERR_LOCKTYPE);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    REFUSED(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
    REFUSED(MPI_Win_lock_all(MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    REFUSED(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    REFUSED(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);

    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win), MPI_ERR_RMA_SYNC);
    /* Arguments of operations. */
    REFUSED(MPI_Put(x, -1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    REFUSED(MPI_Put(x, 1, MPI_INT, right, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
    REFUSED(MPI_Put(x, 1, MPI_DATATYPE_NULL, right, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    REFUSED(MPI_Put(x, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    REFUSED(MPI_Put(x, 1, MPI_INT, -7, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    REFUSED(MPI_Put(x, 1, MPI_INT, right, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    REFUSED(MPI_Put(NULL, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
    REFUSED(MPI_Put(x, 2, MPI_INT, right, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
    REFUSED(MPI_Get(x, 1, MPI_INT, right, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE);
    REFUSED(MPI_Put(x, 1, MPI_INT, right, 16, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Get(x, 2, MPI_INT, right, 15, 2, MPI_INT, win), MPI_ERR_RMA_RANGE);
    REFUSED(MPI_Rput(x, 1, MPI_INT, right, 0, 1, MPI_INT, win, NULL), MPI_ERR_ARG);
    MPI_Op function;
    MPI_Op_create(user, 1, &function);
    REFUSED(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_INT, function, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(d, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    REFUSED(MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_INT, right, 0, 1, MPI_INT, function, win), MPI_ERR_OP);
    MPI_Op_free(&function);
    REFUSED(MPI_Accumulate(x, 1, MPI_INT, right, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    REFUSED(MPI_Compare_and_swap(d, d + 1, e, MPI_DOUBLE, right, 0, win), MPI_ERR_TYPE);
    MPI_Datatype two, mixed;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    REFUSED(MPI_Fetch_and_op(x, y, two, right, 0, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Type_free(&two);
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths, places, parts, &mixed);
    REFUSED(MPI_Put(x, 1, mixed, right, 0, 1, mixed, win), MPI_ERR_TYPE);
    MPI_Type_commit(&mixed);
    REFUSED(MPI_Accumulate(x, 1, mixed, right, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE);
    MPI_Type_free(&mixed);

    /* The window is as good as before. */
    x[0] = 40 + rank;
    CHECK(MPI_Put(x, 1, MPI_INT, right, 3, 1, MPI_INT, win) == MPI_SUCCESS, "put");
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[3] == 40 + (rank + size - 1) % size, "%d", mine[3]);
    /* Not while an epoch is open, on any rank. */
    if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    REFUSED(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    CHECK(win != MPI_WIN_NULL, "the window stays");
    if (rank == 0) MPI_Win_unlock(0, win);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL, "freed");

    /* A request's error goes to the window's handler, too. */
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(hear, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    REFUSED(MPI_Win_detach(win, x), MPI_ERR_RMA_ATTACH);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    CHECK(MPI_Rget(x, 1, MPI_INT, right, 4096, 1, MPI_INT, win, &request) == MPI_SUCCESS, "only the target knows");
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    CHECK(request == MPI_REQUEST_NULL, "done with");
    MPI_Win_unlock(right, win);
    MPI_Win_free(&win);
    return end();
}
