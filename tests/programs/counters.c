/* Software performance counters: each call is counted once, under its own name, and bytes where they belong.
   The variables are named as Open MPI names them; a library without them runs the calls and no more. */
#include "check.h"

enum { MOST = 200, BYTES = 100, LONG_BYTES = 100000, MARK = 40 };

static MPI_T_pvar_session session;
static struct counter {
    const char *name;
    unsigned long long due;
    MPI_T_pvar_handle handle;
    int there;
} counters[MOST];
static int used, rank, size, peer;

static struct counter *counter(const char *name) {
    for (int i = 0; i < used; i++)
        if (strcmp(counters[i].name, name) == 0) return &counters[i];
    CHECK(used < MOST, "more counters than room");
    counters[used].name = name;
    return &counters[used++];
}

/* The call is made, and its counter must have risen by one. */
#define COUNTED(name, call)                                              \
    do {                                                                 \
        counter(name)->due++;                                            \
        if (calling) CHECK((call) == MPI_SUCCESS, "%s", name);           \
    } while (0)

static void own(struct counter *c, int of_class) {
    char full[128];
    int index, count;
    snprintf(full, sizeof full, "runtime_spc_OMPI_SPC_%s", c->name);
    c->there = MPI_T_pvar_get_index(full, of_class, &index) == MPI_SUCCESS;
    if (!c->there) return;
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &c->handle, &count) == MPI_SUCCESS && count == 1, "%s", full);
    int answer = MPI_T_pvar_start(session, c->handle);
    /* Some count always. */
    CHECK(answer == MPI_SUCCESS || answer == MPI_T_ERR_PVAR_NO_STARTSTOP, "%s", full);
}

static unsigned long long value(struct counter *c) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, c->handle, &n) == MPI_SUCCESS, "%s", c->name);
    return n;
}

static void point_to_point(int calling) {
    static char out[LONG_BYTES], in[LONG_BYTES], room[LONG_BYTES + MPI_BSEND_OVERHEAD];
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s, ss[2];
    MPI_Message m;
    int flag = 0, index, some, indices[2];
    if (calling) MPI_Buffer_attach(room, sizeof room);
    /* Both ranks send and receive, so each call is made the same number of times on both. */
#define PAIR(name, kind)                                                                           \
    COUNTED("IRECV", MPI_Irecv(in, BYTES, MPI_CHAR, peer, 1, c, &r));                              \
    if (calling && strcmp(#kind, "Rsend") == 0) MPI_Barrier(c);                                    \
    COUNTED(name, MPI_##kind(out, BYTES, MPI_CHAR, peer, 1, c));                                   \
    COUNTED("WAIT", MPI_Wait(&r, &s));
    PAIR("SEND", Send)
    PAIR("BSEND", Bsend)
    PAIR("SSEND", Ssend)
    if (!calling) counter("BARRIER")->due++;
    PAIR("RSEND", Rsend)
#define START(name, kind)                                                                          \
    COUNTED("IRECV", MPI_Irecv(in, LONG_BYTES, MPI_CHAR, peer, 1, c, &two[0]));                    \
    if (calling && strcmp(#kind, "Irsend") == 0) MPI_Barrier(c);                                   \
    COUNTED(name, MPI_##kind(out, BYTES, MPI_CHAR, peer, 1, c, &two[1]));
    START("ISEND", Isend)
    COUNTED("WAITALL", MPI_Waitall(2, two, ss));
    START("IBSEND", Ibsend)
    COUNTED("WAITALL", MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
    START("ISSEND", Issend)
    for (int left = 2; calling && left;) {
        COUNTED("WAITSOME", MPI_Waitsome(2, two, &some, indices, ss));
        left -= some;
    }
    if (!calling) counter("BARRIER")->due++;
    START("IRSEND", Irsend)
    COUNTED("WAITANY", MPI_Waitany(2, two, &index, &s));
    COUNTED("WAITANY", MPI_Waitany(2, two, &index, &s));
    START("ISEND", Isend)
    while (calling && !flag) COUNTED("TESTALL", MPI_Testall(2, two, &flag, ss));
    for (int i = 0; i < 3; i++) {
        START("ISEND", Isend)
        for (int left = 2; calling && left;) {
            if (i == 0) COUNTED("TESTANY", MPI_Testany(2, two, &index, &flag, &s));
            if (i == 0) left -= flag;
            if (i == 1) COUNTED("TESTSOME", MPI_Testsome(2, two, &some, indices, ss));
            if (i == 1) left -= some;
            if (i == 2) COUNTED("TEST", MPI_Test(&two[left - 1], &flag, &s));
            if (i == 2) left -= flag;
        }
    }
    COUNTED("SENDRECV", MPI_Sendrecv(out, BYTES, MPI_CHAR, peer, 2, in, BYTES, MPI_CHAR, peer, 2, c, &s));
    COUNTED("SENDRECV_REPLACE", MPI_Sendrecv_replace(in, BYTES, MPI_CHAR, peer, 2, peer, 2, c, &s));
    COUNTED("ISEND", MPI_Isend(out, BYTES, MPI_CHAR, peer, 3, c, &r));
    COUNTED("PROBE", MPI_Probe(peer, 3, c, &s));
    COUNTED("IPROBE", MPI_Iprobe(peer, 3, c, &flag, &s));
    COUNTED("PROBE", MPI_Mprobe(peer, 3, c, &m, &s));
    COUNTED("MRECV", MPI_Mrecv(in, BYTES, MPI_CHAR, &m, &s));
    COUNTED("WAIT", MPI_Wait(&r, &s));
    COUNTED("ISEND", MPI_Isend(out, LONG_BYTES, MPI_CHAR, peer, 3, c, &r));
    COUNTED("RECV", MPI_Recv(in, LONG_BYTES, MPI_CHAR, peer, 3, c, &s));
    COUNTED("WAIT", MPI_Wait(&r, &s));
    COUNTED("IRECV", MPI_Irecv(in, 1, MPI_CHAR, peer, 99, c, &r));
    COUNTED("CANCEL", MPI_Cancel(&r));
    COUNTED("WAIT", MPI_Wait(&r, &s));
    COUNTED("SEND", MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 3, c));
    if (calling) {
        void *gone;
        MPI_Buffer_detach(&gone, &index);
    }
}

static void collectives(int calling) {
    int a[2] = {1, 2}, b[4], n[2] = {1, 1}, at[2] = {0, 1}, wide[2] = {0, (int)sizeof(int)};
    MPI_Datatype t[2] = {MPI_INT, MPI_INT};
    MPI_Comm c = MPI_COMM_WORLD;
    COUNTED("BARRIER", MPI_Barrier(c));
    COUNTED("BCAST", MPI_Bcast(a, 2, MPI_INT, 0, c));
    COUNTED("REDUCE", MPI_Reduce(a, b, 2, MPI_INT, MPI_SUM, 0, c));
    COUNTED("ALLREDUCE", MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, c));
    COUNTED("SCAN", MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, c));
    COUNTED("EXSCAN", MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, c));
    COUNTED("REDUCE_SCATTER", MPI_Reduce_scatter(a, b, n, MPI_INT, MPI_SUM, c));
    COUNTED("REDUCE_SCATTER_BLOCK", MPI_Reduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, c));
    COUNTED("GATHER", MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, c));
    COUNTED("GATHERV", MPI_Gatherv(a, 1, MPI_INT, b, n, at, MPI_INT, 0, c));
    COUNTED("SCATTER", MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, c));
    COUNTED("SCATTERV", MPI_Scatterv(a, n, at, MPI_INT, b, 1, MPI_INT, 0, c));
    COUNTED("ALLGATHER", MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, c));
    COUNTED("ALLGATHERV", MPI_Allgatherv(a, 1, MPI_INT, b, n, at, MPI_INT, c));
    COUNTED("ALLTOALL", MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c));
    COUNTED("ALLTOALLV", MPI_Alltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, c));
    COUNTED("ALLTOALLW", MPI_Alltoallw(a, n, wide, t, b, n, wide, t, c));
    counter("WTIME")->due++;
    if (calling) CHECK(MPI_Wtime() >= 0, "time");
}

/* Nonblocking and persistent operations: the arguments in brackets are those of the blocking one. */
#define UNBRACKET(...) __VA_ARGS__
#define STARTED(name, kind, arguments)                                                  \
    COUNTED("I" name, MPI_I##kind(UNBRACKET arguments, &r));                            \
    COUNTED("WAIT", MPI_Wait(&r, MPI_STATUS_IGNORE));
#define LATER(name, blocking, nonblocking, arguments)                                   \
    STARTED(name, nonblocking, arguments)                                               \
    COUNTED(name "_INIT", MPI_##blocking##_init(UNBRACKET arguments, MPI_INFO_NULL, &r)); \
    if (calling) MPI_Start(&r);                                                         \
    COUNTED("WAIT", MPI_Wait(&r, MPI_STATUS_IGNORE));                                   \
    if (calling) MPI_Request_free(&r);

static void later_collectives(int calling) {
    int a[2] = {1, 2}, b[4], n[2] = {1, 1}, at[2] = {0, 1}, wide[2] = {0, (int)sizeof(int)};
    MPI_Datatype t[2] = {MPI_INT, MPI_INT};
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;
    STARTED("BARRIER", barrier, (c))
    COUNTED("BARRIER_INIT", MPI_Barrier_init(c, MPI_INFO_NULL, &r));
    if (calling) MPI_Request_free(&r);
    LATER("BCAST", Bcast, bcast, (a, 2, MPI_INT, 0, c))
    LATER("REDUCE", Reduce, reduce, (a, b, 2, MPI_INT, MPI_SUM, 0, c))
    LATER("ALLREDUCE", Allreduce, allreduce, (a, b, 2, MPI_INT, MPI_SUM, c))
    LATER("SCAN", Scan, scan, (a, b, 2, MPI_INT, MPI_SUM, c))
    LATER("EXSCAN", Exscan, exscan, (a, b, 2, MPI_INT, MPI_SUM, c))
    LATER("REDUCE_SCATTER", Reduce_scatter, reduce_scatter, (a, b, n, MPI_INT, MPI_SUM, c))
    LATER("REDUCE_SCATTER_BLOCK", Reduce_scatter_block, reduce_scatter_block, (a, b, 1, MPI_INT, MPI_SUM, c))
    LATER("GATHER", Gather, gather, (a, 1, MPI_INT, b, 1, MPI_INT, 0, c))
    LATER("GATHERV", Gatherv, gatherv, (a, 1, MPI_INT, b, n, at, MPI_INT, 0, c))
    LATER("SCATTER", Scatter, scatter, (a, 1, MPI_INT, b, 1, MPI_INT, 0, c))
    LATER("SCATTERV", Scatterv, scatterv, (a, n, at, MPI_INT, b, 1, MPI_INT, 0, c))
    LATER("ALLGATHER", Allgather, allgather, (a, 1, MPI_INT, b, 1, MPI_INT, c))
    LATER("ALLGATHERV", Allgatherv, allgatherv, (a, 1, MPI_INT, b, n, at, MPI_INT, c))
    LATER("ALLTOALL", Alltoall, alltoall, (a, 1, MPI_INT, b, 1, MPI_INT, c))
    LATER("ALLTOALLV", Alltoallv, alltoallv, (a, n, at, MPI_INT, b, n, at, MPI_INT, c))
    LATER("ALLTOALLW", Alltoallw, alltoallw, (a, n, wide, t, b, n, wide, t, c))
}

/* Two ranks are each other's neighbour, to the left and to the right. */
static void neighbours(int calling) {
    int a[2] = {1, 2}, b[4], n[2] = {1, 1}, at[2] = {0, 1}, ring = 2, around = 1;
    MPI_Aint wide[2] = {0, sizeof(int)};
    MPI_Datatype t[2] = {MPI_INT, MPI_INT};
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm c = MPI_COMM_NULL;
    if (calling) MPI_Cart_create(MPI_COMM_WORLD, 1, &ring, &around, 0, &c);
#define NEIGHBOURS(name, kind, arguments)                                               \
    COUNTED("NEIGHBOR_" name, MPI_Neighbor_##kind arguments);                           \
    LATER("NEIGHBOR_" name, Neighbor_##kind, neighbor_##kind, arguments)
    NEIGHBOURS("ALLGATHER", allgather, (a, 1, MPI_INT, b, 1, MPI_INT, c))
    NEIGHBOURS("ALLGATHERV", allgatherv, (a, 1, MPI_INT, b, n, at, MPI_INT, c))
    NEIGHBOURS("ALLTOALL", alltoall, (a, 1, MPI_INT, b, 1, MPI_INT, c))
    NEIGHBOURS("ALLTOALLV", alltoallv, (a, n, at, MPI_INT, b, n, at, MPI_INT, c))
    NEIGHBOURS("ALLTOALLW", alltoallw, (a, n, wide, t, b, n, wide, t, c))
    if (calling) MPI_Comm_free(&c);
}

static void both_ways_and_parts(int calling) {
    enum { PARTS = 4 };
    int out[PARTS] = {0}, in[PARTS], one = 0, rest = 3, flag = 0;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    COUNTED("ISENDRECV", MPI_Isendrecv(out, 2, MPI_INT, peer, 5, in, 2, MPI_INT, peer, 5, c, &r));
    COUNTED("WAIT", MPI_Wait(&r, MPI_STATUS_IGNORE));
    COUNTED("ISENDRECV_REPLACE", MPI_Isendrecv_replace(in, 2, MPI_INT, peer, 5, peer, 5, c, &r));
    COUNTED("WAIT", MPI_Wait(&r, MPI_STATUS_IGNORE));
    COUNTED("PRECV_INIT", MPI_Precv_init(in, PARTS, 1, MPI_INT, peer, 6, c, MPI_INFO_NULL, &two[0]));
    COUNTED("PSEND_INIT", MPI_Psend_init(out, PARTS, 1, MPI_INT, peer, 6, c, MPI_INFO_NULL, &two[1]));
    if (calling) MPI_Startall(2, two);
    COUNTED("PREADY", MPI_Pready(2, two[1]));
    COUNTED("PREADY_RANGE", MPI_Pready_range(one, 1, two[1]));
    COUNTED("PREADY_LIST", MPI_Pready_list(1, &rest, two[1]));
    while (calling && !flag) COUNTED("PARRIVED", MPI_Parrived(two[0], 3, &flag));
    COUNTED("WAITALL", MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
    for (int i = 0; calling && i < 2; i++) MPI_Request_free(&two[i]);
}

/* Messages that wait for their receives raise the mark, and it stays where it was highest. */
static void watermark(void) {
    struct counter most = {"MAX_UNEXPECTED_IN_QUEUE", 0, MPI_T_PVAR_HANDLE_NULL, 0}, now = most, all = most;
    int value_[2] = {-1, -1};
    MPI_Comm comm;
    now.name = "UNEXPECTED_IN_QUEUE";
    all.name = "UNEXPECTED";
    own(&all, MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long before = all.there ? value(&all) : 0;
    own(&most, MPI_T_PVAR_CLASS_HIGHWATERMARK);
    own(&now, MPI_T_PVAR_CLASS_LEVEL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MARK; i++) MPI_Send(&i, 1, MPI_INT, peer, 7, comm);
    MPI_Barrier(comm);
    /* Another tag: whoever looks takes the others in. */
    MPI_Send(&rank, 1, MPI_INT, peer, 8, comm);
    MPI_Recv(&value_[0], 1, MPI_INT, peer, 8, comm, MPI_STATUS_IGNORE);
    if (most.there && now.there) CHECK(value(&most) >= MARK && value(&now) >= MARK, "%llu most, %llu now", value(&most), value(&now));
    for (int i = 0; i < MARK; i++) {
        MPI_Recv(&value_[1], 1, MPI_INT, peer, 7, comm, MPI_STATUS_IGNORE);
        CHECK(value_[1] == i, "%d came when %d was due", value_[1], i);
    }
    /* The rank that looks has been sent all that is on its way to it, and is sent no more until it has looked. */
    for (int looks = 0; looks < 2; looks++) {
        if (looks == rank) {
            if (rank == 1) MPI_Recv(&value_[0], 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
            if (most.there && now.there)
                CHECK(value(&most) >= MARK && value(&now) == 0, "%llu most, %llu now", value(&most), value(&now));
            MPI_Send(&rank, 1, MPI_INT, peer, 9 + rank, comm);
        } else if (rank == 0) {
            MPI_Recv(&value_[0], 1, MPI_INT, 1, 10, comm, MPI_STATUS_IGNORE);
        }
    }
    if (all.there) CHECK(value(&all) >= before + MARK, "%llu waited, %llu before", value(&all), before);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    int provided, found = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "two ranks");
    peer = 1 - rank;
    MPI_T_pvar_session_create(&session);
    point_to_point(0);
    collectives(0);
    later_collectives(0);
    neighbours(0);
    both_ways_and_parts(0);
    /* Those whose number is known only afterwards. */
    for (int i = 0; i < 4; i++) counter((const char *[]){"TESTALL", "TESTANY", "TESTSOME", "TEST"}[i]);
    counter("WAITSOME");
    counter("SENDRECV");
    counter("PARRIVED");
    for (int i = 0; i < used; i++) {
        own(&counters[i], MPI_T_PVAR_CLASS_COUNTER);
        counters[i].due = 0;
        found += counters[i].there;
    }
    static struct counter bytes[] = {
        {"BYTES_SENT_USER", 0, MPI_T_PVAR_HANDLE_NULL, 0}, {"BYTES_RECEIVED_USER", 0, MPI_T_PVAR_HANDLE_NULL, 0},
        {"BYTES_SENT_MPI", 0, MPI_T_PVAR_HANDLE_NULL, 0}, {"BYTES_RECEIVED_MPI", 0, MPI_T_PVAR_HANDLE_NULL, 0}};
    for (int i = 0; i < 4; i++) own(&bytes[i], MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (counter("BARRIER")->there) CHECK(value(counter("BARRIER")) == 1, "%llu", value(counter("BARRIER")));
    counter("BARRIER")->due = 3;
    point_to_point(1);
    /* 4 blocking, 8 nonblocking, 2 both ways, 1 probed: of BYTES; one long one; what goes nowhere has 5. */
    unsigned long long due = 15ull * BYTES + LONG_BYTES;
    if (bytes[0].there) CHECK(value(&bytes[0]) == due + 5, "%llu sent, %llu due", value(&bytes[0]), due + 5);
    if (bytes[1].there) CHECK(value(&bytes[1]) == due, "%llu received, %llu due", value(&bytes[1]), due);
    collectives(1);
    if (bytes[2].there) CHECK(value(&bytes[2]) > 0 && value(&bytes[3]) > 0, "%llu, %llu", value(&bytes[2]), value(&bytes[3]));
    later_collectives(1);
    neighbours(1);
    both_ways_and_parts(1);
    for (int i = 0; i < used; i++)
        if (counters[i].there)
            CHECK(value(&counters[i]) == counters[i].due, "%s: %llu counted, %llu calls", counters[i].name, value(&counters[i]), counters[i].due);
    watermark();
    for (int i = 0; i < used; i++)
        if (counters[i].there) MPI_T_pvar_handle_free(session, &counters[i].handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    if (argc > 1) CHECK(found == used, "%d of %d counters are there", found, used);
    return end();
}
