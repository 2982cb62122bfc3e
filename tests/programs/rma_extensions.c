/* One-sided communication of mpi-ext.h: notifications, windows on the same memory, a flush of several windows. With an argument so many
 * threads operate at once. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { COUNTERS = 8, LONG = 5000, TURNS = 25, MOST = 4 };
static int rank, size, threads = 1;

static long value_of(int owner, int turn, int i) { return owner * 1000000007L + turn * 1009 + i; }

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* A window with so many counters, of the program's memory or of the library's. */
static MPI_Win window(int longs, int allocated, long **base) {
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_num_notify", "8");
    if (allocated) {
        MPI_Win_allocate((MPI_Aint)longs * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, base, &win);
    } else {
        *base = need((size_t)longs * sizeof(long));
        MPI_Win_create(*base, (MPI_Aint)longs * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &win);
    }
    MPI_Info_free(&info);
    memset(*base, 0, (size_t)longs * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void notified(int allocated) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, num;
    long *base, *data = need(LONG * sizeof(long)), *back = need(LONG * sizeof(long));
    MPI_Win win = window(LONG, allocated, &base);
    MPI_Count seen;
    CHECK(MPIX_Win_get_num_notify(win, right, &num) == MPI_SUCCESS && num == COUNTERS, "%d counters", num);
    MPI_Win_lock_all(0, win);
    for (int turn = 0; turn < TURNS; turn++) {
        /* Short data, long data, and data in pieces. */
        int n = turn % 3 == 0 ? 1 : LONG / 2, counter = turn % (COUNTERS - 1);
        MPI_Datatype type = MPI_LONG;
        if (turn % 3 == 2) {
            MPI_Type_vector(n, 1, 2, MPI_LONG, &type);
            MPI_Type_commit(&type);
        }
        for (int i = 0; i < n; i++) data[i] = value_of(rank, turn, i);
        if (turn % 3 == 2) MPIX_Put_notify_c(data, n, MPI_LONG, right, 0, 1, type, counter, win);
        else MPIX_Put_notify(data, n, MPI_LONG, right, 0, n, MPI_LONG, counter, win);
        MPI_Count due = turn / (COUNTERS - 1) + 1;
        MPIX_Win_wait_notify_value(win, counter, due, &seen);
        CHECK(seen == due, "counter %d is %lld in turn %d", counter, (long long)seen, turn);
        for (int i = 0; i < n; i++) {
            long is = base[turn % 3 == 2 ? 2 * i : i];
            CHECK(is == value_of(left, turn, i), "turn %d, element %d is %ld", turn, i, is);
        }
        MPI_Win_flush(right, win);
        if (type != MPI_LONG) MPI_Type_free(&type);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Memory that has been read may change. */
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < LONG; i++) base[i] = value_of(rank, -turn, i);
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPIX_Get_notify(back, LONG, MPI_LONG, right, 0, LONG, MPI_LONG, COUNTERS - 1, win);
        do MPIX_Win_get_notify_value(win, COUNTERS - 1, &seen);
        while (seen == 0);
        CHECK(seen == 1, "%lld", (long long)seen);
        memset(base, 0xff, LONG * sizeof(long));
        MPI_Win_flush(right, win);
        for (int i = 0; i < LONG; i++) CHECK(back[i] == value_of(right, -turn, i), "turn %d, element %d", turn, i);
        MPIX_Win_reset_notify_value(win, COUNTERS - 1, &seen);
        CHECK(seen == 1, "%lld", (long long)seen);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (!allocated) free(base);
    free(data), free(back);
}

static void mistakes(void) {
    long *base, x = 1;
    int num;
    MPI_Count seen;
    MPI_Win win = window(4, 0, &base);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#define FAILS(class, call) CHECK(class_of(call) == class, "another class")
    FAILS(MPI_ERR_RMA_SYNC, MPIX_Put_notify(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, 0, win));
    MPI_Win_lock_all(0, win);
    FAILS(MPI_ERR_ARG, MPIX_Put_notify(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, COUNTERS, win));
    FAILS(MPI_ERR_ARG, MPIX_Get_notify(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, -1, win));
    FAILS(MPI_ERR_RANK, MPIX_Put_notify(&x, 1, MPI_LONG, size, 0, 1, MPI_LONG, 0, win));
    FAILS(MPI_ERR_RMA_RANGE, MPIX_Put_notify(&x, 1, MPI_LONG, 0, 4, 1, MPI_LONG, 0, win));
    FAILS(MPI_ERR_TRUNCATE, MPIX_Put_notify(base, 2, MPI_LONG, 0, 0, 1, MPI_LONG, 0, win));
    FAILS(MPI_ERR_COUNT, MPIX_Put_notify(&x, -1, MPI_LONG, 0, 0, 1, MPI_LONG, 0, win));
    FAILS(MPI_ERR_ARG, MPIX_Win_get_notify_value(win, COUNTERS, &seen));
    FAILS(MPI_ERR_ARG, MPIX_Win_wait_notify_value(win, 0, -1, &seen));
    FAILS(MPI_ERR_ARG, MPIX_Win_get_notify_value(win, 0, NULL));
    FAILS(MPI_ERR_RANK, MPIX_Win_get_num_notify(win, size, &num));
    FAILS(MPI_ERR_ARG, MPIX_Win_dup_with_info(win, MPI_INFO_NULL, NULL));
    CHECK(MPIX_Put_notify(&x, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, 0, win) == MPI_SUCCESS, "nobody");
    MPI_Win_unlock_all(win);
    FAILS(MPI_ERR_RMA_SYNC, MPIX_Win_flush_many(1, &win));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win none = MPI_WIN_NULL;
    FAILS(MPI_ERR_WIN, MPIX_Win_flush_many(1, &none));
    FAILS(MPI_ERR_COUNT, MPIX_Win_flush_many(-1, &win));
    FAILS(MPI_ERR_ARG, MPIX_Win_flush_many(1, NULL));
    CHECK(MPIX_Win_flush_many(0, NULL) == MPI_SUCCESS, "no windows");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPIX_Win_get_notify_value(win, 0, &seen);
    CHECK(seen == 0, "%lld: nothing was told", (long long)seen);
    MPI_Win_free(&win);
    free(base);
}

static void duplicates(int allocated) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, flag, *unit;
    long *base, sent, got = -1;
    void *other;
    char value[64];
    MPI_Win first = window(8, allocated, &base), dup, wins[3];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "mpi_num_notify", "2");
    MPI_Win_set_errhandler(first, MPI_ERRORS_RETURN);
    MPIX_Win_dup_with_info(first, info, &dup);
    MPI_Info_free(&info);
    MPI_Win_get_attr(dup, MPI_WIN_BASE, &other, &flag);
    CHECK(flag && other == base, "another base");
    MPI_Win_get_attr(dup, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == sizeof(long), "another unit");
    MPI_Win_get_info(dup, &info);
    MPI_Info_get(info, "accumulate_ordering", 63, value, &flag);
    CHECK(flag && !strcmp(value, "none"), "%s", value);
    MPI_Info_get(info, "mpi_num_notify", 63, value, &flag);
    CHECK(flag && !strcmp(value, "2"), "%s", value);
    MPI_Info_free(&info);
    MPI_Win_get_info(first, &info);
    MPI_Info_get(info, "accumulate_ordering", 63, value, &flag);
    CHECK(flag && !strcmp(value, "rar,raw,war,waw"), "%s", value);
    MPI_Info_free(&info);
    /* Its error handler is the first one's; no epoch goes over. */
    MPI_Win_lock_all(0, first);
    sent = 1;
    CHECK(class_of(MPI_Put(&sent, 1, MPI_LONG, right, 0, 1, MPI_LONG, dup)) == MPI_ERR_RMA_SYNC, "an epoch of another window");
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, dup);
    sent = value_of(rank, 1, 1);
    MPI_Put(&sent, 1, MPI_LONG, right, 1, 1, MPI_LONG, dup);
    MPI_Win_unlock(right, dup);
    MPI_Get(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, first);
    MPI_Win_flush(right, first);
    CHECK(got == sent, "%ld through the first, %ld through the other", got, sent);
    MPI_Win_unlock_all(first);
    MPIX_Win_dup_with_info(dup, MPI_INFO_NULL, &wins[2]);
    wins[0] = first, wins[1] = dup;
    for (int i = 0; i < 3; i++) MPI_Win_lock_all(0, wins[i]);
    for (int turn = 0; turn < TURNS; turn++) {
        long all[3];
        for (int i = 0; i < 3; i++) {
            all[i] = value_of(rank, turn, i);
            MPI_Put(&all[i], 1, MPI_LONG, right, 2 + i, 1, MPI_LONG, wins[i]);
        }
        MPIX_Win_flush_many(3, wins);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 3; i++) {
            MPI_Win_sync(wins[i]);
            CHECK(base[2 + i] == value_of(left, turn, i), "turn %d, window %d: %ld", turn, i, base[2 + i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        long one = 1;
        short little = 1;
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 5, 1, MPI_LONG, MPI_SUM, wins[(turn + rank) % 3]);
        MPI_Accumulate(&little, 1, MPI_SHORT, 0, 6, 1, MPI_SHORT, MPI_SUM, wins[(turn + rank) % 3]);
    }
    MPIX_Win_flush_many(3, wins);
    for (int i = 0; i < 3; i++) MPI_Win_unlock_all(wins[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, dup);
        short little = *(short *)&base[6];
        CHECK(base[5] == (long)TURNS * size && little == TURNS * size, "%ld and %d", base[5], little);
        MPI_Win_unlock(0, dup);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The memory stays as long as a window on it. */
    MPI_Win_free(&wins[0]);
    MPI_Win_free(&wins[2]);
    MPI_Win_fence(0, dup);
    sent = value_of(rank, 2, 2);
    MPI_Put(&sent, 1, MPI_LONG, right, 7, 1, MPI_LONG, dup);
    MPI_Win_fence(0, dup);
    CHECK(base[7] == value_of(left, 2, 2), "%ld", base[7]);
    MPI_Win_free(&dup);
    if (!allocated) free(base);
}

/* A thread has a window, or a counter, of its own. */
static MPI_Win of_thread[MOST], shared;
static long *board;

static void *operate(void *which) {
    int thread = (int)(long)which, right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int turn = 0; turn < 4 * TURNS; turn++) {
        MPI_Count seen;
        long data[64], at = 64 * thread, sum = 0;
        for (int i = 0; i < 64; i++) data[i] = value_of(rank, turn, i + thread);
        MPI_Put(data, 64, MPI_LONG, right, 256 + at, 64, MPI_LONG, of_thread[thread]);
        MPI_Win_flush(right, of_thread[thread]);
        MPIX_Put_notify(data, 64, MPI_LONG, right, at, 64, MPI_LONG, thread, shared);
        MPIX_Win_wait_notify_value(shared, thread, turn + 1, &seen);
        /* The left neighbour waits for our answer before it writes there again. */
        for (int i = 0; i < 64; i++) sum += board[at + i] != value_of(left, turn, i + thread);
        CHECK(sum == 0 && seen == turn + 1, "turn %d: %ld elements differ, %lld", turn, sum, (long long)seen);
        MPIX_Put_notify(NULL, 0, MPI_LONG, left, 0, 0, MPI_LONG, MOST + thread, shared);
        MPIX_Win_wait_notify_value(shared, MOST + thread, turn + 1, &seen);
        MPI_Win *both = (MPI_Win[]){shared, of_thread[thread]};
        MPIX_Win_flush_many(2, both);
    }
    return NULL;
}

static void by_threads(int allocated) {
    pthread_t all[MOST];
    shared = window(2 * 64 * MOST, allocated, &board);
    MPI_Win_lock_all(0, shared);
    for (int i = 0; i < threads; i++) {
        MPIX_Win_dup_with_info(shared, MPI_INFO_NULL, &of_thread[i]);
        MPI_Win_lock_all(0, of_thread[i]);
    }
    for (long i = 0; i < threads; i++) CHECK(pthread_create(&all[i], NULL, operate, (void *)i) == 0, "a thread");
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    for (int i = 0; i < threads; i++) {
        MPI_Win_unlock_all(of_thread[i]);
        MPI_Win_free(&of_thread[i]);
    }
    MPI_Win_unlock_all(shared);
    MPI_Win_free(&shared);
    if (!allocated) free(board);
}

int main(int argc, char **argv) {
    int provided;
    if (argc > 1) threads = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(threads <= MOST && (threads == 1 || provided == MPI_THREAD_MULTIPLE), "threads");
    for (int allocated = 0; allocated < 2; allocated++) {
        if (threads > 1) {
            by_threads(allocated);
            continue;
        }
        notified(allocated);
        duplicates(allocated);
    }
    if (threads == 1) mistakes();
    return end();
}
