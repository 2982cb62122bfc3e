/* Windows used: put, get and accumulate between fences, in epochs among groups, under locks; requests; dynamic windows; types. */
#include "check.h"

static int rank, size, left, right;

static void fences(void) {
    const int n = 1000;
    long *mine = need(n * size * sizeof *mine), *data = need(n * sizeof *data), *got = need(n * sizeof *got);
    MPI_Win win;
    MPI_Win_create(mine, n * size * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int turn = 0; turn < 5; turn++) {
        MPI_Win_fence(turn ? 0 : MPI_MODE_NOPRECEDE, win);
        for (int i = 0; i < n; i++) data[i] = 1000000L * rank + 10 * i + turn;
        for (int to = 0; to < size; to++) MPI_Put(data, n, MPI_LONG, to, n * rank, n, MPI_LONG, win);
        MPI_Win_fence(MPI_MODE_NOSTORE, win);
        for (int from = 0; from < size; from++)
            for (int i = 0; i < n; i++)
                CHECK(mine[n * from + i] == 1000000L * from + 10 * i + turn, "rank %d, %d: %ld", from, i, mine[n * from + i]);
        MPI_Get(got, n, MPI_LONG, right, n * left, n, MPI_LONG, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < n; i++) CHECK(got[i] == 1000000L * left + 10 * i + turn, "%d: %ld", i, got[i]);
    }
    for (int i = 0; i < n * size; i++) mine[i] = 0;
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) data[i] = (rank + 1) * (i + 1L);
    for (int to = 0; to < size; to++) MPI_Accumulate(data, n, MPI_LONG, to, 0, n, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < n; i++) CHECK(mine[i] == size * (size + 1) / 2 * (i + 1L), "%d: %ld", i, mine[i]);
    /* MPI_PROC_NULL is no rank, and everything with it is done. */
    MPI_Win_fence(0, win);
    MPI_Put(data, n, MPI_LONG, MPI_PROC_NULL, 0, n, MPI_LONG, win);
    MPI_Get_c(got, n, MPI_LONG, MPI_PROC_NULL, 0, n, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    free(mine), free(data), free(got);
}

static void types(void) {
    /* Every third of the origin to every fifth of the target, and back as a block. */
    enum { N = 500 };
    int mine[5 * N], data[3 * N], got[N];
    MPI_Datatype third, fifth;
    MPI_Type_vector(N, 1, 3, MPI_INT, &third);
    MPI_Type_vector(N, 1, 5, MPI_INT, &fifth);
    MPI_Type_commit(&third);
    MPI_Type_commit(&fifth);
    for (int i = 0; i < 5 * N; i++) mine[i] = -1;
    for (int i = 0; i < 3 * N; i++) data[i] = 10000 * rank + i;
    MPI_Win win;
    MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(data, 1, third, right, 0, 1, fifth, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5 * N - 4; i++)
        CHECK(mine[i] == (i % 5 ? -1 : 10000 * left + 3 * (i / 5)), "%d: %d", i, mine[i]);
    MPI_Get(got, N, MPI_INT, right, 0, 1, fifth, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) CHECK(got[i] == 10000 * rank + 3 * i, "%d: %d", i, got[i]);
    MPI_Accumulate_c(data, 1, third, right, 0, 1, fifth, MPI_SUM, win);
    MPI_Type_free(&third);
    MPI_Type_free(&fifth);
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++) CHECK(mine[5 * i] == 2 * (10000 * left + 3 * i), "%d: %d", i, mine[5 * i]);
    MPI_Win_free(&win);
}

static void groups(void) {
    enum { N = 4000 };
    long *mine;
    long *data = need(N * sizeof *data);
    MPI_Win win;
    MPI_Win_allocate(N * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Group world, from, to;
    MPI_Win_get_group(win, &world);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Group_incl(world, 1, &right, &to);
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 0; i < N; i++) data[i] = 100 * i + 10 * rank + turn;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(data, N, MPI_LONG, right, 0, N, MPI_LONG, win);
        MPI_Win_complete(win);
        if (turn % 2) {
            MPI_Win_wait(win);
        } else {
            int done = 0;
            while (!done) MPI_Win_test(win, &done);
        }
        for (int i = 0; i < N; i++) CHECK(mine[i] == 100 * i + 10 * left + turn, "%d: %ld", i, mine[i]);
    }
    /* Everyone to rank 0. */
    int zero = 0;
    MPI_Group root;
    MPI_Group_incl(world, 1, &zero, &root);
    if (rank == 0) {
        mine[0] = 0;
        MPI_Win_post(world, 0, win);
    }
    MPI_Win_start(root, 0, win);
    data[0] = rank + 1;
    MPI_Accumulate(data, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_complete(win);
    if (rank == 0) {
        MPI_Win_wait(win);
        CHECK(mine[0] == size * (size + 1) / 2, "%ld", mine[0]);
    }
    MPI_Group_free(&world), MPI_Group_free(&from), MPI_Group_free(&to), MPI_Group_free(&root);
    MPI_Win_free(&win);
    free(data);
}

static void locks(void) {
    enum { TURNS = 50 };
    long *mine, value, one = 1, old;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int i = 0; i < 4; i++) mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win);
        MPI_Win_flush_local(0, win);
        CHECK(old >= 0 && old < TURNS * size, "%ld", old);
        /* Add by compare and swap until nobody came between. */
        long seen = 0, wanted;
        do {
            value = seen;
            wanted = value + 1;
            MPI_Compare_and_swap(&wanted, &value, &seen, MPI_LONG, 0, 2, win);
            MPI_Win_flush(0, win);
        } while (seen != value);
        MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush_local_all(win);
    }
    MPI_Win_flush_all(win);
    MPI_Fetch_and_op(NULL, &old, MPI_LONG, rank, 0, MPI_NO_OP, win);
    MPI_Win_flush(rank, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_sync(win);
    for (int i = 0; i < 4; i++) CHECK(mine[i] == (rank ? 0 : TURNS * size), "%d: %ld", i, mine[i]);
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    MPI_Win_free(&win);
}

static void requests(void) {
    enum { N = 64, BYTES = 5000 };
    char *mine = need(N * BYTES), *data = need(N * BYTES), *got = need(N * BYTES);
    MPI_Request all[N];
    MPI_Status statuses[N];
    MPI_Win win;
    MPI_Win_create(mine, N * BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    fill(data, N * BYTES, rank);
    for (int i = 0; i < N; i++) MPI_Rput(data + i * BYTES, BYTES, MPI_CHAR, right, i * BYTES, BYTES, MPI_CHAR, win, &all[i]);
    MPI_Waitall(N, all, statuses);
    memset(data, 0, N * BYTES);
    MPI_Win_flush(right, win);
    for (int way = 0; way < 6; way++) {
        memset(got, 0, N * BYTES);
        for (int i = 0; i < N; i++) MPI_Rget(got + i * BYTES, BYTES, MPI_CHAR, right, i * BYTES, BYTES, MPI_CHAR, win, &all[i]);
        int left_over = N, flag = 0, index, count, indices[N];
        switch (way) {
        case 0:
            for (int i = N - 1; i >= 0; i--) MPI_Wait(&all[i], &statuses[i]);
            break;
        case 1:
            for (int i = 0; i < N; i++)
                for (flag = 0; !flag;) MPI_Test(&all[i], &flag, MPI_STATUS_IGNORE);
            break;
        case 2:
            for (; left_over; left_over--) MPI_Waitany(N, all, &index, MPI_STATUS_IGNORE);
            break;
        case 3:
            while (left_over) {
                MPI_Waitsome(N, all, &count, indices, statuses);
                left_over -= count;
            }
            break;
        case 4:
            while (!flag) MPI_Testall(N, all, &flag, statuses);
            break;
        default:
            for (int i = 0; i < N; i++) MPI_Request_free(&all[i]);
            MPI_Win_flush(right, win);
        }
        for (int i = 0; i < N; i++) CHECK(all[i] == MPI_REQUEST_NULL, "way %d: request %d", way, i);
        CHECK(differs(got, N * BYTES, rank) < 0, "way %d: byte %ld", way, differs(got, N * BYTES, rank));
    }
    int numbers[10], old[10];
    MPI_Request two[3];
    for (int i = 0; i < 10; i++) numbers[i] = i;
    MPI_Rput_c(numbers, 10, MPI_INT, right, 0, 10, MPI_INT, win, &two[0]);
    MPI_Wait(two, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Raccumulate(numbers, 10, MPI_INT, right, 0, 10, MPI_INT, MPI_SUM, win, &two[0]);
    MPI_Wait(two, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget_accumulate(numbers, 10, MPI_INT, old, 10, MPI_INT, right, 0, 10, MPI_INT, MPI_PROD, win, &two[1]);
    MPI_Rput(numbers, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win, &two[2]);
    MPI_Waitall(2, two + 1, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 10; i++) CHECK(old[i] == 2 * i, "%d: %d", i, old[i]);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) CHECK(((int *)mine)[i] == 2 * i * i, "%d: %d", i, ((int *)mine)[i]);
    MPI_Win_free(&win);
    free(mine), free(data), free(got);
}

static void dynamic(void) {
    enum { N = 300 };
    double *first = need(N * sizeof *first), *second = need(N * sizeof *second), got[N];
    MPI_Aint addresses[2], *all = need(2 * size * sizeof *all);
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, first, N * sizeof *first);
    MPI_Win_attach(win, second, N * sizeof *second);
    for (int i = 0; i < N; i++) first[i] = rank + i / 1024., second[i] = 1;
    MPI_Get_address(first, &addresses[0]);
    MPI_Get_address(second, &addresses[1]);
    MPI_Allgather(addresses, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Get(got, N, MPI_DOUBLE, right, all[2 * right], N, MPI_DOUBLE, win);
    MPI_Win_flush(right, win);
    for (int i = 0; i < N; i++) CHECK(got[i] == right + i / 1024., "%d: %g", i, got[i]);
    MPI_Accumulate(got, N, MPI_DOUBLE, right, all[2 * right + 1], N, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) CHECK(second[i] == 1 + rank + i / 1024., "%d: %g", i, second[i]);
    MPI_Win_detach(win, first);
    MPI_Win_detach(win, second);
    MPI_Win_free(&win);
    free(first), free(second), free(all);
}

static void shared(void) {
    /* Loads and stores beside operations, among the ranks of a node. */
    int *mine, *theirs, unit, me, n;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win win;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &n);
    int before = (me + n - 1) % n, next = (me + 1) % n;
    MPI_Win_allocate_shared(100 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, next, &bytes, &unit, &theirs);
    MPI_Win_fence(0, win);
    theirs[0] = 7 + me;
    MPI_Win_fence(0, win);
    CHECK(mine[0] == 7 + before, "%d", mine[0]);
    int value = 100 + me;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, before, 99, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(mine[99] == 100 + next, "%d", mine[99]);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    fences();
    types();
    groups();
    locks();
    requests();
    dynamic();
    shared();
    return end();
}
