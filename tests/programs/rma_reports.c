/* Faults that users of other libraries reported of one-sided communication, each written anew as a small program: lost updates, hangs, crashes. */
#include "check.h"

#include <pthread.h>

static int rank, size, right, left;

/* A window of longs that are 0, all of them locked. */
static MPI_Win locked(int longs, long **mine) {
    MPI_Win win;
    MPI_Win_allocate(longs * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, mine, &win);
    memset(*mine, 0, longs * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    return win;
}

static void unlocked(MPI_Win *win) {
    MPI_Win_unlock_all(*win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(win);
}

/* Everybody is done with it, and this rank's memory is as they left it. */
static void settled(MPI_Win win) {
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
}

/* Updates of single elements through an indexed type were lost. */
static void indexed_elements(void) {
    enum { TURNS = 300, PLACES = 7 };
    long *mine, one = 1;
    MPI_Win win = locked(100, &mine);
    for (int turn = 0; turn < TURNS; turn++) {
        int length = 1, place = turn % PLACES * 13;
        MPI_Datatype type;
        MPI_Type_indexed(1, &length, &place, MPI_LONG, &type);
        MPI_Type_commit(&type);
        for (int to = 0; to < size; to++) MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, type, MPI_SUM, win);
        MPI_Type_free(&type);
        if (turn % 50 == 49) MPI_Win_flush_all(win);
    }
    settled(win);
    for (int i = 0; i < PLACES; i++) {
        long due = (long)size * (TURNS / PLACES + (i < TURNS % PLACES));
        CHECK(mine[13 * i] == due, "place %d: %ld instead of %ld", i, mine[13 * i], due);
    }
    unlocked(&win);
}

/* Accumulates with derived types on both sides crashed; those of thousands of blocks did not fit into a header. */
static void irregular_accumulates(void) {
    enum { BLOCKS = 5000 };
    long *mine, *data = need(2 * BLOCKS * sizeof *data);
    int *places = need(BLOCKS * sizeof *places);
    MPI_Datatype there, here;
    MPI_Win win = locked(4 * BLOCKS, &mine);
    for (int i = 0; i < BLOCKS; i++) places[i] = 3 * i + i % 3;
    for (int i = 0; i < 2 * BLOCKS; i++) data[i] = i;
    MPI_Type_create_indexed_block(BLOCKS, 1, places, MPI_LONG, &there);
    MPI_Type_vector(BLOCKS, 1, 2, MPI_LONG, &here);
    MPI_Type_commit(&there), MPI_Type_commit(&here);
    for (int to = 0; to < size; to++) MPI_Accumulate(data, 1, here, to, 0, 1, there, MPI_SUM, win);
    MPI_Type_free(&there), MPI_Type_free(&here);
    settled(win);
    for (int i = 0; i < BLOCKS; i++) CHECK(mine[places[i]] == 2L * i * size, "block %d: %ld", i, mine[places[i]]);
    unlocked(&win);
    free(data), free(places);
}

/* MPI_Get_accumulate with MPI_REPLACE hung when all wanted one place. */
static void contended_replace(void) {
    enum { TURNS = 400, N = 16 };
    long *mine, new[N], old[N];
    MPI_Win win = locked(N, &mine);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < N; i++) new[i] = 1 + rank * TURNS + turn;
        MPI_Get_accumulate(new, N, MPI_LONG, old, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        for (int i = 0; i < N; i++) CHECK(old[i] >= 0 && old[i] <= (long)size * TURNS, "%ld", old[i]);
    }
    unlocked(&win);
}

/* The 255th outstanding request aborted. */
static void many_requests(void) {
    enum { N = 1500 };
    long *mine, *data = need(N * sizeof *data), *back = need(N * sizeof *back), one = 1;
    MPI_Request *all = need(N * sizeof *all);
    MPI_Win win = locked(N + 1, &mine);
    for (int i = 0; i < N; i++) {
        data[i] = 1000000L * rank + i;
        MPI_Rput(&data[i], 1, MPI_LONG, right, i, 1, MPI_LONG, win, &all[i]);
        CHECK(all[i] != MPI_REQUEST_NULL, "request %d", i);
    }
    MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, win);
    for (int i = 0; i < N; i++) MPI_Rget(&back[i], 1, MPI_LONG, right, i, 1, MPI_LONG, win, &all[i]);
    MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) CHECK(back[i] == data[i], "%d: %ld", i, back[i]);
    for (int i = 0; i < N; i++) MPI_Raccumulate(&one, 1, MPI_LONG, right, N, 1, MPI_LONG, MPI_SUM, win, &all[i]);
    MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        MPI_Rget_accumulate(&one, 1, MPI_LONG, &back[i], 1, MPI_LONG, right, N, 1, MPI_LONG, MPI_SUM, win, &all[i]);
    MPI_Waitall(N, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) CHECK(back[i] == N + i, "%d: %ld", i, back[i]);
    settled(win);
    CHECK(mine[N] == 2 * N, "%ld", mine[N]);
    unlocked(&win);
    free(data), free(back), free(all);
}

/* A request for data with gaps was complete before there was any; one of packed data was null. */
static void requests_of_layouts(void) {
    enum { N = 3000 };
    long *mine, *back = need(2 * N * sizeof *back);
    MPI_Datatype gaps;
    MPI_Request request;
    MPI_Win win = locked(2 * N, &mine);
    for (int i = 0; i < 2 * N; i++) mine[i] = 100000L * rank + i, back[i] = -1;
    settled(win);
    MPI_Type_vector(N, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Rget(back, 1, gaps, right, 0, 1, gaps, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * N - 1; i++) CHECK(back[i] == (i % 2 ? -1 : 100000L * right + i), "%d: %ld", i, back[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rput(back, N * sizeof *back, MPI_PACKED, right, 0, N * sizeof *back, MPI_PACKED, win, &request);
    CHECK(request != MPI_REQUEST_NULL, "a null request");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    settled(win);
    for (int i = 0; i < N; i++) CHECK(mine[i] == (i % 2 ? -1 : 100000L * rank + i), "%d: %ld", i, mine[i]);
    MPI_Type_free(&gaps);
    unlocked(&win);
    free(back);
}

/* MPI_Rget on dynamic windows. */
static void dynamic_requests(void) {
    enum { N = 5000 };
    long *memory = need(N * sizeof *memory), *back = need(N * sizeof *back);
    MPI_Aint address, *all = need(size * sizeof *all);
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, N * sizeof *memory);
    for (int i = 0; i < N; i++) memory[i] = 10000L * rank + i;
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int n = 1; n <= N; n *= 7) {
        MPI_Rget(back, n, MPI_LONG, right, all[right], n, MPI_LONG, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) CHECK(back[i] == 10000L * right + i, "%d of %d: %ld", i, n, back[i]);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(memory), free(back), free(all);
}

/* Windows that some ranks have no memory in, and windows one after the other. */
static void windows_of_any_size(void) {
    for (int turn = 0; turn < 30; turn++) {
        long *mine = NULL, value = turn, *base;
        int longs = (rank + turn) % 3 * turn, theirs = (right + turn) % 3 * turn;
        MPI_Win user, own;
        if (longs) mine = need(longs * sizeof *mine);
        MPI_Win_create(mine, longs * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &user);
        MPI_Win_allocate(longs * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &own);
        MPI_Win_fence(0, user), MPI_Win_fence(0, own);
        if (theirs) {
            MPI_Put(&value, 1, MPI_LONG, right, theirs - 1, 1, MPI_LONG, user);
            MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, own);
        }
        MPI_Win_fence(0, own), MPI_Win_fence(0, user);
        if (longs) CHECK(mine[longs - 1] == turn && base[0] == turn, "%ld, %ld", mine[longs - 1], base[0]);
        MPI_Win_free(&own), MPI_Win_free(&user);
        free(mine);
    }
}

/* Flushes to oneself and within a node hung, and those to oneself did not move others' operations on. */
static void flushes(void) {
    long *mine, value, back;
    MPI_Win win = locked(size + 1, &mine);
    for (int turn = 0; turn < 500; turn++) {
        value = turn;
        MPI_Put(&value, 1, MPI_LONG, rank, size, 1, MPI_LONG, win);
        MPI_Win_flush_local(rank, win);
        MPI_Put(&value, 1, MPI_LONG, right, rank, 1, MPI_LONG, win);
        MPI_Win_flush(right, win);
        MPI_Get(&back, 1, MPI_LONG, right, rank, 1, MPI_LONG, win);
        MPI_Win_flush_local(right, win);
        CHECK(back == turn, "%ld instead of %d", back, turn);
        MPI_Win_flush_local_all(win);
        MPI_Win_flush_all(win);
    }
    settled(win);
    CHECK(mine[size] == 499 && mine[left] == 499, "%ld, %ld", mine[size], mine[left]);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Rank 0 waits in flushes to itself for what the others do. */
    long one = 1;
    if (rank) MPI_Accumulate(&one, 1, MPI_LONG, 0, size, 1, MPI_LONG, MPI_SUM, win), MPI_Win_flush(0, win);
    else
        for (back = 0; back < 499 + size - 1;) {
            MPI_Fetch_and_op(&one, &back, MPI_LONG, 0, size, MPI_NO_OP, win);
            MPI_Win_flush_local(0, win);
        }
    unlocked(&win);
}

/* A lock by a queue: each adds itself behind the one before, without a flush, and looks at its own memory until that one has passed it on. */
static void queue_of_locks(void) {
    enum { FLAG, NEXT, TAIL, COUNT, TURNS = 100 };
    long *mine, none = -1, self = rank, before, old, count, zero = 0, yes = 1;
    MPI_Win win = locked(4, &mine);
    mine[NEXT] = mine[TAIL] = -1;
    settled(win);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Accumulate(&none, 1, MPI_LONG, rank, NEXT, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Accumulate(&zero, 1, MPI_LONG, rank, FLAG, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush(rank, win);
        MPI_Fetch_and_op(&self, &before, MPI_LONG, 0, TAIL, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        if (before >= 0) {
            MPI_Accumulate(&self, 1, MPI_LONG, (int)before, NEXT, 1, MPI_LONG, MPI_REPLACE, win);
            for (old = 0; old == 0;) MPI_Fetch_and_op(&none, &old, MPI_LONG, rank, FLAG, MPI_NO_OP, win), MPI_Win_flush(rank, win);
        }
        MPI_Get(&count, 1, MPI_LONG, 0, COUNT, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        count++;
        MPI_Put(&count, 1, MPI_LONG, 0, COUNT, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&none, &self, &old, MPI_LONG, 0, TAIL, win);
        MPI_Win_flush(0, win);
        if (old != rank) {
            for (old = -1; old < 0;) MPI_Fetch_and_op(&none, &old, MPI_LONG, rank, NEXT, MPI_NO_OP, win), MPI_Win_flush_local(rank, win);
            MPI_Accumulate(&yes, 1, MPI_LONG, (int)old, FLAG, 1, MPI_LONG, MPI_REPLACE, win);
        }
    }
    settled(win);
    if (rank == 0) CHECK(mine[COUNT] == (long)size * TURNS, "%ld", mine[COUNT]);
    unlocked(&win);
}

/* Memory of any window can be asked for, and the granularity of accumulates. */
static void queries(void) {
    long *mine, *base;
    int unit;
    MPI_Aint bytes;
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "64");
    MPI_Win_allocate(8 * sizeof *mine, sizeof *mine, info, MPI_COMM_WORLD, &mine, &win);
    MPI_Info_free(&info);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &base);
    CHECK(bytes == 64 && unit == 8 && base == mine, "%ld bytes at %p", (long)bytes, (void *)base);
    MPI_Win_free(&win);
}

/* A large accumulate is one operation, not one of each element. */
static void large_accumulates(void) {
    enum { N = 300000 };
    long *mine, *data = need(N * sizeof *data);
    MPI_Win win = locked(N, &mine);
    for (int i = 0; i < N; i++) data[i] = i;
    for (int to = 0; to < size; to++) MPI_Accumulate(data, N, MPI_LONG, to, 0, N, MPI_LONG, MPI_SUM, win);
    settled(win);
    for (int i = 0; i < N; i++) CHECK(mine[i] == (long)size * i, "%d: %ld", i, mine[i]);
    unlocked(&win);
    free(data);
}

/* Threads that fetch and add on one window, and threads with a window each. */
enum { THREADS = 4, TURNS = 200 };
static MPI_Win one_win, own_win[THREADS];

static void *fetch_and_add(void *argument) {
    long number = (long)argument, one = 1, last = -1, old;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, one_win);
        MPI_Win_flush(0, one_win);
        CHECK(old > last, "%ld behind %ld", old, last);
        last = old;
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, own_win[number]);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, right, 0, MPI_SUM, own_win[number]);
        MPI_Win_unlock(right, own_win[number]);
        CHECK(old == turn, "%ld in turn %d", old, turn);
    }
    return NULL;
}

static void threads(void) {
    long *mine, *own[THREADS];
    pthread_t all[THREADS];
    one_win = locked(1, &mine);
    for (int i = 0; i < THREADS; i++) {
        MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own[i], &own_win[i]);
        *own[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < THREADS; i++) CHECK(pthread_create(&all[i], NULL, fetch_and_add, (void *)i) == 0, "a thread");
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
    settled(one_win);
    if (rank == 0) CHECK(*mine == (long)size * THREADS * TURNS, "%ld", *mine);
    unlocked(&one_win);
    for (int i = 0; i < THREADS; i++) MPI_Win_free(&own_win[i]);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    indexed_elements();
    irregular_accumulates();
    contended_replace();
    many_requests();
    requests_of_layouts();
    dynamic_requests();
    windows_of_any_size();
    flushes();
    queue_of_locks();
    queries();
    large_accumulates();
    threads();
    return end();
}
