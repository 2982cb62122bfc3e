/* Windows of several endpoints of each process, a thread for each endpoint. Argument: endpoints of each process. Linked with
 * liboxmpi_ep.so.
 *
 * `counted`: every endpoint adds to every other's counter under each kind of synchronisation. `locked`: an exclusive lock keeps two endpoints
 * of one process apart as it does those of two. `crossing`: two threads of one endpoint wait for each other's locks in opposite order.
 * `forms`: both widths of every function. `refused`: memory that cannot be exposed. `hints`: those of the program reach the library. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, TURNS = 20 };

static int rank, size, count;

struct one {
    MPI_Comm comm;
    int rank, size;
};

static void counted(struct one *one) {
    long here[2] = {0, 0}, add = 1, got = 0, n = one->size;
    MPI_Win win;
    MPI_Group all;
    MPI_Comm_group(one->comm, &all);
    MPI_Win_create(here, sizeof here, sizeof here[0], MPI_INFO_NULL, one->comm, &win);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Win_fence(0, win);
        for (int to = 0; to < n; to++) MPI_Accumulate(&add, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        CHECK(here[0] == (3 * turn + 1) * n, "turn %d, fence: %ld", turn, here[0]);
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
        for (int to = 0; to < n; to++) MPI_Accumulate(&add, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_complete(win);
        if (turn % 2) MPI_Win_wait(win);
        else
            for (int flag = 0; !flag;) MPI_Win_test(win, &flag);
        CHECK(here[0] == (3 * turn + 2) * n, "turn %d, groups: %ld", turn, here[0]);
        MPI_Barrier(one->comm);
        for (int to = 0; to < n; to++) {
            MPI_Win_lock(to % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, to, 0, win);
            MPI_Fetch_and_op(&add, &got, MPI_LONG, to, 0, MPI_SUM, win);
            MPI_Win_unlock(to, win);
            CHECK(got >= (3 * turn + 2) * n && got < (3 * turn + 3) * n, "turn %d: fetched %ld", turn, got);
        }
        MPI_Barrier(one->comm);
        MPI_Win_lock_all(turn % 2 ? MPI_MODE_NOCHECK : 0, win);
        MPI_Get(&got, 1, MPI_LONG, (one->rank + 1) % n, 0, 1, MPI_LONG, win);
        MPI_Win_flush_all(win);
        CHECK(got == (3 * turn + 3) * n, "turn %d, locks: %ld", turn, got);
        MPI_Win_unlock_all(win);
        MPI_Barrier(one->comm);
    }
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* A value that is read and written in two steps comes out right only where the lock keeps others away. */
static void locked(struct one *one) {
    long *here, seen, n = one->size;
    MPI_Win win;
    MPI_Win_allocate(sizeof *here, 1, MPI_INFO_NULL, one->comm, &here, &win);
    *here = 0;
    MPI_Barrier(one->comm);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        seen++;
        MPI_Put(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(one->comm);
    CHECK(one->rank != 0 || *here == TURNS * n, "%ld of %ld", *here, TURNS * n);
    MPI_Win_free(&win);
}

struct crossing {
    MPI_Win wins[2];
    int which, peer, turns;
};

static void *cross(void *argument) {
    struct crossing *c = argument;
    for (int turn = 0; turn < c->turns; turn++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c->peer, 0, c->wins[c->which]);
        MPI_Win_unlock(c->peer, c->wins[c->which]);
    }
    return NULL;
}

/* While one thread holds a lock, another of the same endpoint gets one of another window: no proxy stands still in a lock. */
static void crossing(struct one *one) {
    MPI_Win wins[2];
    int x[2] = {0, 0};
    for (int i = 0; i < 2; i++) MPI_Win_create(&x[i], sizeof x[i], 1, MPI_INFO_NULL, one->comm, &wins[i]);
    struct crossing c[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        c[i] = (struct crossing){{wins[0], wins[1]}, (i + one->rank) % 2, (one->rank + 1) % one->size, TURNS};
        pthread_create(&threads[i], NULL, cross, &c[i]);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) MPI_Win_free(&wins[i]);
}

static void forms(struct one *one) {
    int *here, to = (one->rank + 1) % one->size, from = (one->rank + one->size - 1) % one->size, x = 100 + one->rank, y = 0, z = 0;
    int one_more = 1, unit;
    MPI_Aint unit_c, bytes;
    MPI_Win win;
    MPI_Request requests[4];
    void *base;
    MPI_Win_allocate_c(16 * sizeof *here, sizeof *here, MPI_INFO_NULL, one->comm, &here, &win);
    for (int i = 0; i < 16; i++) here[i] = 0;
    MPI_Win_shared_query_c(win, one->rank, &bytes, &unit_c, &base);
    CHECK(bytes == 64 && unit_c == 4 && base == here, "%ld bytes", (long)bytes);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win, "the window's number");
    MPI_Barrier(one->comm);
    MPI_Win_lock_all(0, win);
    MPI_Put_c(&x, 1, MPI_INT, to, 0, 1, MPI_INT, win);
    MPI_Rput(&x, 1, MPI_INT, to, 1, 1, MPI_INT, win, &requests[0]);
    MPI_Rput_c(&x, 1, MPI_INT, to, 2, 1, MPI_INT, win, &requests[1]);
    MPI_Accumulate_c(&x, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Raccumulate(&x, 1, MPI_INT, to, 4, 1, MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Raccumulate_c(&x, 1, MPI_INT, to, 5, 1, MPI_INT, MPI_SUM, win, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(to, win);
    MPI_Get_c(&y, 1, MPI_INT, to, 0, 1, MPI_INT, win);
    MPI_Win_flush_local(to, win);
    CHECK(y == x, "put and got: %d", y);
    MPI_Get(&y, 1, MPI_INT, to, 5, 1, MPI_INT, win);
    MPI_Win_flush_local_all(win);
    CHECK(y == x, "accumulated and got: %d", y);
    MPI_Rget(&y, 1, MPI_INT, to, 1, 1, MPI_INT, win, &requests[0]);
    MPI_Rget_c(&z, 1, MPI_INT, to, 2, 1, MPI_INT, win, &requests[1]);
    /* A flush completes what has a request, too; the request is still to be ended. */
    MPI_Win_flush_all(win);
    CHECK(y == x && z == x, "%d %d", y, z);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Get_accumulate(&one_more, 1, MPI_INT, &y, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(to, win);
    CHECK(y == x, "%d", y);
    MPI_Get_accumulate_c(&one_more, 1, MPI_INT, &y, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(to, win);
    CHECK(y == x + 1, "%d", y);
    MPI_Rget_accumulate(NULL, 0, MPI_INT, &y, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_NO_OP, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(y == x + 2, "%d", y);
    MPI_Rget_accumulate_c(&one_more, 1, MPI_INT, &y, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_REPLACE, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(y == x + 2, "%d", y);
    MPI_Win_flush(to, win);
    MPI_Compare_and_swap(&x, &one_more, &y, MPI_INT, to, 3, win);
    MPI_Win_flush(to, win);
    CHECK(y == 1, "%d", y);
    MPI_Rput(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(one->comm);
    MPI_Win_sync(win);
    for (int i = 0; i < 6; i++) CHECK(here[i] == 100 + from, "place %d: %d", i, here[i]);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared_c(sizeof *here, sizeof *here, MPI_INFO_NULL, one->comm, &here, &win);
    *here = one->rank;
    MPI_Win_fence(0, win);
    int *theirs;
    MPI_Win_shared_query(win, to, &bytes, &unit, &theirs);
    CHECK(*theirs == to, "rank %d's: %d", to, *theirs);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* One rank's memory cannot be shared: all ranks hear of it, and the next window is as good as any. */
static void refused(struct one *one) {
    int class, *memory, x = 7, got = 0;
    MPI_Win win;
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, (one->rank ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED, "mmap");
    MPI_Comm_set_errhandler(one->comm, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_create(memory, 4096, 1, MPI_INFO_NULL, one->comm, &win), &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "class %d", class);
    memory[0] = 1;
    if (one->rank == 0) memory = &x;
    memory[0] = 10 + one->rank;
    MPI_Win_create_c(memory, sizeof *memory, 1, MPI_INFO_NULL, one->comm, &win);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, (one->rank + 1) % one->size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(got == 10 + (one->rank + 1) % one->size, "got %d", got);
    MPI_Win_free(&win);
}

static void told(MPI_Info info, const char *what) {
    char value[64];
    int flag;
    MPI_Info_get(info, "mpi_assert_no_any_tag", 63, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "%s", what);
    MPI_Info_free(&info);
}

static void hints(struct one *one) {
    MPI_Info info, got;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(one->comm, info, &comm);
    MPI_Comm_get_info(comm, &got), told(got, "MPI_Comm_dup_with_info");
    MPI_Comm_free(&comm);
    MPI_Comm_idup_with_info(one->comm, info, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_info(comm, &got), told(got, "MPI_Comm_idup_with_info");
    MPI_Comm_free(&comm);
    MPI_Comm_dup(one->comm, &comm);
    MPI_Comm_set_info(comm, info);
    MPI_Comm_get_info(comm, &got), told(got, "MPI_Comm_set_info");
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

static void *all(void *argument) {
    struct one *one = argument;
    MPI_Comm_rank(one->comm, &one->rank), MPI_Comm_size(one->comm, &one->size);
    counted(one);
    locked(one);
    crossing(one);
    forms(one);
    refused(one);
    hints(one);
    return NULL;
}

/* Memory that was exposed is a child's own after fork. */
static void forked(MPI_Comm comm) {
    static int value = 5;
    int status = 0;
    MPI_Win win;
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &win);
    pid_t child = fork();
    if (child == 0) {
        value = 6;
        _exit(value == 6 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child");
    CHECK(value == 5, "the child wrote %d into its parent", value);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    int provided;
    struct one ones[MOST];
    pthread_t threads[MOST];
    MPI_Comm ep[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    count = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Info info, got;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, info, ep) == MPI_SUCCESS, "endpoints");
    MPI_Info_free(&info);
    for (int i = 0; i < count; i++) MPI_Comm_get_info(ep[i], &got), told(got, "MPIX_Comm_create_endpoints");
    for (int i = 0; i < count; i++) {
        ones[i] = (struct one){.comm = ep[i]};
        pthread_create(&threads[i], NULL, all, &ones[i]);
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    if (count == 1) forked(ep[0]);
    for (int i = 0; i < count; i++) MPI_Comm_free(&ep[i]);
    return end();
}
