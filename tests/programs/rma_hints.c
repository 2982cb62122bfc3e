/* Hints of windows: which are in force, what they change, and what becomes of those that make no sense or differ between ranks; and the
 * performance variables that are bound to a window, by which the changes are seen. */
#include "check.h"

enum { TURNS = 20 };
static int rank, size, by_rdma;
static MPI_T_pvar_session session;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* A window of so many longs with hints, which are pairs of strings. */
static MPI_Win window(int longs, long **base, const char **hints) {
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    for (; hints && *hints; hints += 2) MPI_Info_set(info, hints[0], hints[1]);
    MPI_Win_allocate((MPI_Aint)longs * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, base, &win);
    MPI_Info_free(&info);
    memset(*base, 0, (size_t)longs * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}
#define HINTS(...) (const char *[]){__VA_ARGS__, NULL}

static void is(MPI_Win win, const char *key, const char *due) {
    char value[128] = "(nothing)";
    int flag;
    MPI_Info info;
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, key, 127, value, &flag);
    MPI_Info_free(&info);
    CHECK(flag && strcmp(value, due) == 0, "%s is %s, not %s", key, value, due);
}

static unsigned long long told(MPI_Win win, const char *name, int class) {
    int index, count, bind;
    unsigned long long value = 0;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS, "%s", name);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
    CHECK(bind == MPI_T_BIND_MPI_WIN, "%s is bound to %d", name, bind);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &win, &handle, &count) == MPI_SUCCESS && count == 1, "%s", name);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "%s", name);
    MPI_T_pvar_handle_free(session, &handle);
    return value;
}
static unsigned long long counted(MPI_Win win, const char *name) { return told(win, name, MPI_T_PVAR_CLASS_COUNTER); }

static void defaults_and_nonsense(void) {
    long *base;
    MPI_Win plain = window(2, &base, NULL);
    MPI_Win odd = window(2, &base, HINTS("no_locks", "perhaps", "accumulate_ordering", "rar,later", "accumulate_ops", "any", "same_size",
                                         "yes", "same_disp_unit", "", "mpi_accumulate_granularity", "-4", "mpi_num_notify", "x"));
    MPI_Win both[] = {plain, odd};
    for (int i = 0; i < 2; i++) {
        is(both[i], "no_locks", "false");
        is(both[i], "accumulate_ordering", "rar,raw,war,waw");
        is(both[i], "accumulate_ops", "same_op_no_op");
        is(both[i], "same_size", "false");
        is(both[i], "same_disp_unit", "false");
        is(both[i], "mpi_accumulate_granularity", "0");
        is(both[i], "mpi_num_notify", "1");
        MPI_Win_free(&both[i]);
    }
}

/* Values that all must give alike and do not. */
static void differing(void) {
    long *base;
    int first = rank == 0;
    MPI_Win win = window(2, &base, HINTS("no_locks", first ? "true" : "false", "same_size", first ? "true" : "false",
                                         "accumulate_ops", first ? "same_op" : "same_op_no_op", "accumulate_ordering",
                                         first ? "none" : "waw", "mpi_accumulate_granularity", first ? "16" : "32", "mpi_num_notify",
                                         first ? "7" : "3"));
    int alone = size == 1;
    is(win, "no_locks", alone ? "true" : "false");
    is(win, "same_size", alone ? "true" : "false");
    is(win, "accumulate_ops", alone ? "same_op" : "same_op_no_op");
    is(win, "accumulate_ordering", alone ? "none" : "waw");
    is(win, "mpi_accumulate_granularity", alone ? "16" : "0");
    is(win, "mpi_num_notify", "7");
    MPI_Win_free(&win);
    /* A promise that is not kept. */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "same_disp_unit", "true");
    long own[4] = {0}, sent = rank + 1;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_create(own, (MPI_Aint)sizeof(long) * (2 + rank % 2), rank % 2 ? 8 : 4, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    is(win, "same_size", alone ? "true" : "false");
    is(win, "same_disp_unit", alone ? "true" : "false");
    MPI_Win_fence(0, win);
    MPI_Put(&sent, 1, MPI_LONG, right, right % 2 ? 1 : 2, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(own[1] == left + 1, "%ld", own[1]);
    MPI_Win_free(&win);
}

static void no_locks(void) {
    long *base, sent = 5;
    int right = (rank + 1) % size;
    MPI_Win win = window(2, &base, HINTS("no_locks", "true"));
    is(win, "no_locks", "true");
    CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win)) == MPI_ERR_RMA_SYNC, "a lock");
    CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC, "lock_all");
    MPI_Win_fence(0, win);
    MPI_Put(&sent, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(base[0] == 5, "%ld", base[0]);
    /* It may be taken back. */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "accumulate_ordering", "raw,rar");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    is(win, "no_locks", "false");
    is(win, "accumulate_ordering", "rar,raw");
    is(win, "same_size", "true");
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS && MPI_Win_unlock_all(win) == MPI_SUCCESS, "lock_all");
    MPI_Win_free(&win);
}

static void same_sizes(void) {
    long *base, sent = rank + 100;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int which = 1; which < 4; which++) {
        MPI_Win win = window(3, &base, HINTS("same_size", which & 1 ? "true" : "false", "same_disp_unit", which & 2 ? "TRUE" : "false"));
        is(win, "same_size", which & 1 ? "true" : "false");
        is(win, "same_disp_unit", which & 2 ? "true" : "false");
        MPI_Win_lock_all(0, win);
        MPI_Put(&sent, 1, MPI_LONG, right, 2, 1, MPI_LONG, win);
        CHECK(class_of(MPI_Put(&sent, 1, MPI_LONG, right, 3, 1, MPI_LONG, win)) == MPI_ERR_RMA_RANGE, "behind the end");
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(base[2] == left + 100, "%ld", base[2]);
        MPI_Win_free(&win);
    }
}

/* Long accumulates are right whatever is in force, and go under locks where the granularity says so. */
static void accumulates(void) {
    enum { N = 300 };
    const char *granularities[] = {"0", "4", "8", "4096"}, *orders[] = {"none", "rar", "waw", "rar,raw,war,waw"};
    long *base, data[N], old[N];
    for (int g = 0; g < 4; g++) {
        MPI_Win win = window(N, &base, HINTS("mpi_accumulate_granularity", granularities[g], "accumulate_ordering", orders[g]));
        is(win, "mpi_accumulate_granularity", granularities[g]);
        is(win, "accumulate_ordering", orders[g]);
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < N; i++) data[i] = i + 1;
        for (int turn = 0; turn < TURNS; turn++) {
            if (turn % 4 == 3) MPI_Get_accumulate(data, N, MPI_LONG, old, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_SUM, win);
            else MPI_Accumulate(data, N, MPI_LONG, 0, 0, N, MPI_LONG, MPI_SUM, win);
        }
        MPI_Win_unlock_all(win);
        unsigned long long locks = counted(win, "osc_win_accumulate_locks");
        /* One for an operation, not one for an element; by atomics none. */
        if (by_rdma && g == 3) CHECK(locks == TURNS, "%llu locks", locks);
        if (by_rdma && (g == 1 || g == 2)) CHECK(locks == 0, "%llu locks", locks);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            for (int i = 0; i < N; i++) CHECK(base[i] == (i + 1L) * TURNS * size, "element %d is %ld", i, base[i]);
            MPI_Win_unlock(0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    }
}

/* Reading by MPI_NO_OP meets no other accumulate where all are of one operation, and needs no lock. */
static void same_op(void) {
    enum { N = 50 };
    long *base, got[N];
    for (int same = 0; same < 2; same++) {
        MPI_Win win = window(N, &base, HINTS("accumulate_ops", same ? "same_op" : "same_op_no_op", "mpi_accumulate_granularity", "512"));
        is(win, "accumulate_ops", same ? "same_op" : "same_op_no_op");
        for (int i = 0; i < N; i++) base[i] = rank * 1000 + i;
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
        int right = (rank + 1) % size;
        MPI_Win_lock_all(0, win);
        for (int turn = 0; turn < TURNS; turn++) {
            memset(got, 0xff, sizeof got);
            MPI_Get_accumulate(NULL, 0, MPI_LONG, got, N, MPI_LONG, right, 0, N, MPI_LONG, MPI_NO_OP, win);
            MPI_Win_flush(right, win);
            for (int i = 0; i < N; i++) CHECK(got[i] == right * 1000 + i, "element %d is %ld", i, got[i]);
        }
        MPI_Win_unlock_all(win);
        unsigned long long locks = counted(win, "osc_win_accumulate_locks");
        if (by_rdma) CHECK(locks == (same ? 0 : TURNS), "%llu locks", locks);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    }
}

static void variables(void) {
    long *base, data[4] = {1, 2, 3, 4}, got[4], old;
    int right = (rank + 1) % size, index, count;
    MPI_Win win = window(8, &base, NULL), other = window(8, &base, NULL);
    const char *names[] = {"puts", "gets", "accumulates", "get_accumulates", "fetch_and_ops", "compare_and_swaps", "flushes"};
    MPI_T_pvar_handle handles[7];
    for (int i = 0; i < 7; i++) {
        char name[64];
        snprintf(name, sizeof name, "osc_win_%s", names[i]);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "%s", name);
        CHECK(MPI_T_pvar_handle_alloc(session, index, &win, &handles[i], &count) == MPI_SUCCESS, "%s", name);
        CHECK(MPI_T_pvar_start(session, handles[i]) == MPI_SUCCESS, "%s", name);
    }
    MPI_Win both[] = {win, other};
    for (int w = 0; w < 2; w++) {
        MPI_Request request;
        MPI_Win_lock_all(0, both[w]);
        for (int i = 0; i < 3; i++) MPI_Put(data, 4, MPI_LONG, right, 0, 4, MPI_LONG, both[w]);
        MPI_Rput(data, 4, MPI_LONG, right, 0, 4, MPI_LONG, both[w], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(right, both[w]);
        for (int i = 0; i < 5; i++) MPI_Get(got, 4, MPI_LONG, right, 0, 4, MPI_LONG, both[w]);
        MPI_Win_flush_all(both[w]);
        MPI_Win_flush_local(right, both[w]);
        for (int i = 0; i < 6; i++) MPI_Accumulate(data, 1, MPI_LONG, right, 4, 1, MPI_LONG, MPI_SUM, both[w]);
        MPI_Get_accumulate(data, 1, MPI_LONG, got, 1, MPI_LONG, right, 4, 1, MPI_LONG, MPI_SUM, both[w]);
        for (int i = 0; i < 7; i++) MPI_Fetch_and_op(data, &old, MPI_LONG, right, 5, MPI_SUM, both[w]);
        for (int i = 0; i < 2; i++) MPI_Compare_and_swap(data, data + 1, &old, MPI_LONG, right, 6, both[w]);
        MPI_Win_unlock_all(both[w]);
    }
    unsigned long long due[7] = {4, 5, 6, 1, 7, 2, 3}, value;
    for (int i = 0; i < 7; i++) {
        CHECK(MPI_T_pvar_read(session, handles[i], &value) == MPI_SUCCESS && value == due[i], "%s: %llu", names[i], value);
        MPI_T_pvar_stop(session, handles[i]);
    }
    /* Each rank that was met is reached in one of these: memory of the node, or what goes to another one. */
    const char *paths[] = {"mapped", "by_transport", "by_requests", "by_messages"};
    unsigned long long met[4], all = 0;
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "osc_win_ranks_%s", paths[i]);
        all += met[i] = told(win, name, MPI_T_PVAR_CLASS_LEVEL);
    }
    CHECK(all >= 1 && all <= (unsigned long long)size, "%llu ranks", all);
    CHECK(by_rdma ? met[3] == 0 : all == (unsigned long long)size && met[3] >= 1 && met[0] + met[1] == 0, "%llu ranks by messages", met[3]);
    CHECK(!by_rdma || size > 1 || met[0] == 1, "%llu ranks mapped", met[0]);
    /* All lock the same rank. */
    unsigned long long tried = counted(win, "osc_win_exclusive_lock_attempts"), retried = counted(win, "osc_win_lock_retries");
    for (int i = 0; i < TURNS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(data, 4, MPI_LONG, 0, 0, 4, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    tried = counted(win, "osc_win_exclusive_lock_attempts") - tried;
    retried = counted(win, "osc_win_lock_retries") - retried;
    CHECK(tried - retried == TURNS, "%llu attempts, %llu retries", tried, retried);
    CHECK(counted(win, "osc_win_shared_lock_attempts") > 0, "lock_all");
    /* Puts on mapped memory need none. */
    unsigned long long locks = counted(win, "osc_win_put_locks");
    if (!by_rdma) CHECK(locks >= TURNS + 4, "%llu locks", locks);
    else if (size == 1) CHECK(locks == 0, "%llu locks", locks);
    MPI_T_pvar_handle gone;
    MPI_T_pvar_get_index("osc_win_lock_retries", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_handle_alloc(session, index, &other, &gone, &count);
    MPI_Win_free(&other);
    CHECK(MPI_T_pvar_read(session, gone, &value) == MPI_T_ERR_NOT_ACCESSIBLE, "a window that is gone");
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    int provided;
    begin(&argc, &argv, &rank, &size);
    by_rdma = argc > 1 && !strcmp(argv[1], "rdma");
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    defaults_and_nonsense();
    differing();
    no_locks();
    same_sizes();
    accumulates();
    same_op();
    variables();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}
