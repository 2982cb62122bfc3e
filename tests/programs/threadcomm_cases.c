/* Thread communicators, a case at a time, as programs use them that were written for MPICH's: blocking messages among all threads, a handle that is started again
 * and again, duplicates, attributes, and each blocking collective. Arguments: the case; threads of each process; how often it is started. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { MOST = 80, LONG = 20000 };

static MPI_Comm tc;
static int rank, size, threads, starts, key;
static const char *what;

/* Everyone to everyone else, one pair after the other, short and long. */
static void blocking(MPI_Comm comm, int me, int n) {
    for (int length = 1; length <= LONG; length *= 141) {
        int *out = need(length * sizeof(int)), *in = need(length * sizeof(int));
        for (int from = 0; from < n; from++)
            for (int to = 0; to < n; to++) {
                MPI_Status status;
                if (from == to || (me != from && me != to)) continue;
                for (int i = 0; i < length; i++) out[i] = from * 1000 + to + i, in[i] = -1;
                if (me == from) MPI_Send(out, length, MPI_INT, to, from, comm);
                else MPI_Recv(in, length, MPI_INT, from, from, comm, &status);
                for (int i = 0; me == to && i < length; i++) CHECK(in[i] == out[i], "%d to %d, at %d: %d", from, to, i, in[i]);
                if (me == to) CHECK(status.MPI_SOURCE == from && status.MPI_TAG == from, "status of %d", status.MPI_SOURCE);
            }
        free(out), free(in);
    }
    MPI_Request q[2];
    int out = me, in = -1;
    MPI_Irecv(&in, 1, MPI_INT, (me + n - 1) % n, 7, comm, &q[0]), MPI_Isend(&out, 1, MPI_INT, (me + 1) % n, 7, comm, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK(in == (me + n - 1) % n, "%d", in);
}

/* A duplicate has the same ranks and messages of its own. */
static void duplicates(MPI_Comm comm, int me, int n) {
    MPI_Comm dup;
    int its_me, its_n, out = me, in = -1, same = -1, right = (me + 1) % n, left = (me + n - 1) % n;
    MPI_Request q[2];
    MPI_Comm_dup(comm, &dup), MPI_Comm_rank(dup, &its_me), MPI_Comm_size(dup, &its_n);
    CHECK(its_me == me && its_n == n, "rank %d of %d", its_me, its_n);
    MPI_Isend(&out, 1, MPI_INT, right, 1, comm, &q[0]);
    int other = me + 500;
    MPI_Isend(&other, 1, MPI_INT, right, 1, dup, &q[1]);
    MPI_Recv(&in, 1, MPI_INT, left, 1, dup, MPI_STATUS_IGNORE), MPI_Recv(&same, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    CHECK(in == left + 500 && same == left, "%d %d", in, same);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
}

static _Thread_local int copies, deletes;
static int copied(MPI_Comm of, int k, void *extra, void *value, void *to, int *flag) {
    (void)of, (void)k, (void)extra;
    *(void **)to = value, *flag = 1, copies++;
    return MPI_SUCCESS;
}
static int deleted(MPI_Comm of, int k, void *value, void *extra) {
    (void)of, (void)k, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* Each thread has its own attributes under one key, while the handle is started. */
static void attributes(MPI_Comm comm, int me) {
    int own = me, flag, *value;
    MPI_Comm dup;
    copies = deletes = 0;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(!flag, "an attribute from before");
    MPI_Comm_set_attr(comm, key, &own), MPI_Barrier(comm), MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && *value == me, "another thread's");
    MPI_Comm_dup(comm, &dup), MPI_Comm_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == &own && copies == 1, "%d copies", copies);
    MPI_Comm_free(&dup);
    CHECK(deletes == 1, "%d deleted", deletes);
    MPI_Comm_delete_attr(comm, key), MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(!flag && deletes == 2, "%d deleted", deletes);
}

static void collectives(MPI_Comm comm, int me, int n) {
    int sum = n * (n - 1) / 2, out[MOST], in[MOST], one[MOST], at[MOST], bytes[MOST], x, root = n / 2;
    MPI_Datatype types[MOST];
    for (int i = 0; i < n; i++) out[i] = 100 * me + i, one[i] = 1, at[i] = i, bytes[i] = 4 * i, types[i] = MPI_INT;
#define ALL_ARE(wanted, name) do { for (int i = 0; i < n; i++) CHECK(in[i] == (wanted), "%s at %d: %d", name, i, in[i]); memset(in, -1, sizeof in); } while (0)
    MPI_Barrier(comm);
    x = me == root ? 42 : 0, MPI_Bcast(&x, 1, MPI_INT, root, comm);
    CHECK(x == 42, "bcast %d", x);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, comm);
    if (me == root) ALL_ARE(100 * i, "gather");
    MPI_Gatherv(out, 1, MPI_INT, in, one, at, MPI_INT, root, comm);
    if (me == root) ALL_ARE(100 * i, "gatherv");
    MPI_Scatter(out, 1, MPI_INT, &x, 1, MPI_INT, root, comm);
    CHECK(x == 100 * root + me, "scatter %d", x);
    MPI_Scatterv(out, one, at, MPI_INT, &x, 1, MPI_INT, root, comm);
    CHECK(x == 100 * root + me, "scatterv %d", x);
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    ALL_ARE(100 * i, "allgather");
    MPI_Allgatherv(out, 1, MPI_INT, in, one, at, MPI_INT, comm);
    ALL_ARE(100 * i, "allgatherv");
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    ALL_ARE(100 * i + me, "alltoall");
    MPI_Alltoallv(out, one, at, MPI_INT, in, one, at, MPI_INT, comm);
    ALL_ARE(100 * i + me, "alltoallv");
    MPI_Alltoallw(out, one, bytes, types, in, one, bytes, types, comm);
    ALL_ARE(100 * i + me, "alltoallw");
    memcpy(in, out, n * sizeof(int)), MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 1, MPI_INT, comm);
    ALL_ARE(100 * i + me, "alltoall in place");
    MPI_Reduce(&me, &x, 1, MPI_INT, MPI_SUM, root, comm);
    if (me == root) CHECK(x == sum, "reduce %d", x);
    MPI_Allreduce(&me, &x, 1, MPI_INT, MPI_SUM, comm);
    CHECK(x == sum, "allreduce %d", x);
    MPI_Reduce_scatter(out, &x, one, MPI_INT, MPI_SUM, comm);
    CHECK(x == 100 * sum + n * me, "reduce_scatter %d", x);
    MPI_Reduce_scatter_block(out, &x, 1, MPI_INT, MPI_SUM, comm);
    CHECK(x == 100 * sum + n * me, "reduce_scatter_block %d", x);
    MPI_Scan(&me, &x, 1, MPI_INT, MPI_SUM, comm);
    CHECK(x == me * (me + 1) / 2, "scan %d", x);
    MPI_Exscan(&me, &x, 1, MPI_INT, MPI_SUM, comm);
    CHECK(me == 0 || x == me * (me - 1) / 2, "exscan %d", x);
}

static void *work(void *unused) {
    for (int start = 0; start < starts; start++) {
        int me, n;
        CHECK(MPIX_Threadcomm_start(tc) == MPI_SUCCESS, "start %d", start);
        MPI_Comm_rank(tc, &me), MPI_Comm_size(tc, &n);
        CHECK(n == size * threads && me / threads == rank && n <= MOST, "rank %d of %d", me, n);
        if (!strcmp(what, "blocking")) blocking(tc, me, n);
        if (!strcmp(what, "commdup")) duplicates(tc, me, n);
        if (!strcmp(what, "attributes")) attributes(tc, me);
        if (!strcmp(what, "collectives")) collectives(tc, me, n);
        CHECK(MPIX_Threadcomm_finish(tc) == MPI_SUCCESS, "finish %d", start);
    }
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t all[MOST];
    /* Programs do not say that there are threads: making the communicator does. */
    int silent = argc > 1 && (!strcmp(argv[1], "restart") || !strcmp(argv[1], "collectives"));
    MPI_Init_thread(&argc, &argv, silent ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(argc == 4, "%d arguments", argc);
    what = argv[1], threads = atoi(argv[2]), starts = atoi(argv[3]);
    MPI_Comm_create_keyval(copied, deleted, &key, NULL);
    CHECK(MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &tc) == MPI_SUCCESS, "init");
    /* The same threads start it again, and then new ones do. */
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < threads; i++) CHECK(pthread_create(&all[i], NULL, work, NULL) == 0, "a thread");
        for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    }
    CHECK(MPIX_Threadcomm_free(&tc) == MPI_SUCCESS && tc == MPI_COMM_NULL, "free");
    MPI_Comm_free_keyval(&key);
    return end();
}
