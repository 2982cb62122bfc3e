/* Sync objects in one process: every function, every kind of request, and what is wrong with arguments. */
#include "check.h"
#include <mpi-ext.h>
#include <pthread.h>

static void *word(long n) { return (void *)n; }

static void plain(void) {
    int in[4] = {0}, out[4] = {10, 11, 12, 13}, n;
    MPIX_Sync sync;
    MPI_Request r[4];
    MPI_Status s[4];
    void *data[4];
    CHECK(MPIX_Sync_init(&sync) == MPI_SUCCESS && sync != MPIX_SYNC_NULL);
    CHECK(MPIX_Sync_query(sync, s) == MPIX_SYNC_EMPTY);
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
        CHECK(MPIX_Sync_attach(sync, &r[i], word(i)) == MPI_SUCCESS);
    }
    CHECK(MPIX_Sync_size(sync) == 4 && MPIX_Sync_probe(sync) == 0);
    MPI_Send(&out[2], 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    while (MPIX_Sync_probe(sync) == 0) MPIX_Progress();
    CHECK(MPIX_Sync_size(sync) == 3 && MPIX_Sync_probe(sync) == 1);
    CHECK(MPIX_Sync_query(sync, s) == word(2));
    MPI_Get_count(s, MPI_INT, &n);
    CHECK(s->MPI_TAG == 2 && s->MPI_SOURCE == 0 && s->MPI_ERROR == MPI_SUCCESS && n == 1 && in[2] == 12);
    CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == MPIX_SYNC_EMPTY);
    MPI_Send(&out[3], 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Send(&out[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Send(&out[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    CHECK(MPIX_Sync_waitall(sync) == MPI_SUCCESS);
    CHECK(MPIX_Sync_size(sync) == 0 && MPIX_Sync_probe(sync) == 3);
    CHECK(MPIX_Sync_query_bulk(2, sync, &n, data, s) == MPI_SUCCESS && n == 2);
    CHECK(data[0] == word(3) && data[1] == word(0) && s[0].MPI_TAG == 3 && s[1].MPI_TAG == 0);
    CHECK(MPIX_Sync_query_bulk(4, sync, &n, data, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(n == 1 && data[0] == word(1) && in[1] == 11);
    CHECK(MPIX_Sync_query_bulk(4, sync, &n, data, s) == MPI_SUCCESS && n == 0);
    MPIX_Sync_free(&sync);
    CHECK(sync == MPIX_SYNC_NULL);
}

/* Nobody hears of these; their requests go back all the same. */
static void quiet(void) {
    MPIX_Sync sync;
    MPI_Request r;
    int x = 1, y;
    MPIX_Sync_init(&sync);
    for (int i = 0; i < 200; i++) {
        MPI_Irecv(&y, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
        MPIX_Sync_attach(sync, &r, MPIX_SYNC_NO_COMPLETION_DATA);
        MPI_Isend(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
        MPIX_Sync_attach(sync, &r, MPIX_SYNC_NO_COMPLETION_DATA);
    }
    MPIX_Sync_waitall(sync);
    CHECK(MPIX_Sync_size(sync) == 0 && MPIX_Sync_probe(sync) == 0 && y == 1);
    CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == MPIX_SYNC_EMPTY);
    MPIX_Sync_free(&sync);
}

static void taken_off(void) {
    MPIX_Sync sync, other;
    MPI_Request r[2], stale;
    MPI_Status s;
    int x = 7, z = 0, flag;
    volatile int y = 0;
    MPIX_Sync_init(&sync);
    MPIX_Sync_init(&other);
    MPI_Irecv((void *)&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
    MPI_Irecv(&z, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[1]);
    MPIX_Sync_attach(sync, &r[0], word(1));
    MPIX_Sync_attach(sync, &r[1], word(2));
    /* While it is attached it is the library's. */
    stale = r[0];
    CHECK(MPI_Test(&stale, &flag, &s) == MPI_ERR_REQUEST);
    CHECK(MPI_Request_free(&stale) == MPI_ERR_REQUEST);
    CHECK(MPIX_Sync_attach(other, &r[0], word(3)) == MPI_ERR_REQUEST);
    CHECK(MPIX_Sync_detach(other, &r[0]) == MPI_ERR_REQUEST);
    CHECK(MPIX_Sync_detach(sync, &r[0]) == MPI_SUCCESS && MPIX_Sync_size(sync) == 1);
    MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    CHECK(MPI_Wait(&r[0], &s) == MPI_SUCCESS && y == 7 && s.MPI_TAG == 1 && r[0] == MPI_REQUEST_NULL);
    /* One that is complete and has an event. */
    MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    while (MPIX_Sync_probe(sync) == 0) MPIX_Progress();
    stale = r[1];
    CHECK(MPIX_Sync_detach(sync, &r[1]) == MPI_SUCCESS && MPIX_Sync_probe(sync) == 0);
    CHECK(MPI_Wait(&r[1], &s) == MPI_SUCCESS && z == 7 && s.MPI_TAG == 2);
    CHECK(MPIX_Sync_detach(sync, &stale) == MPI_ERR_REQUEST);
    /* Free lets go of what is still attached: the message arrives. */
    MPI_Irecv((void *)&y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &r[0]);
    MPIX_Sync_attach(sync, &r[0], word(1));
    MPIX_Sync_free(&sync);
    x = 8;
    MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    while (y != 8) MPIX_Progress();
    MPIX_Sync_free(&other);
}

/* A cancelled request makes no event and is the user's again, to be completed as any. */
static void cancelled(void) {
    MPIX_Sync sync;
    MPI_Request r[3];
    MPI_Status s, many[2];
    int x = 4, y, z = 0, flag;
    MPIX_Sync_init(&sync);
    for (int way = 0; way < 5; way++) {
        /* One that completes with an event stands before it in the queue, or nothing does. */
        MPI_Irecv(&z, 1, MPI_INT, 0, 76, MPI_COMM_SELF, &r[0]);
        MPIX_Sync_attach(sync, &r[0], word(9));
        MPI_Irecv(&y, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &r[1]);
        MPIX_Sync_attach(sync, &r[1], word(1));
        r[2] = MPI_REQUEST_NULL;
        if (way % 2) MPI_Send(&x, 1, MPI_INT, 0, 76, MPI_COMM_SELF);
        CHECK(MPI_Cancel(&r[1]) == MPI_SUCCESS);
        while (MPIX_Sync_size(sync) > 1 - way % 2) MPIX_Progress();
        CHECK(MPIX_Sync_probe(sync) == way % 2);
        if (way == 0) CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == MPIX_SYNC_EMPTY);
        if (way < 2) {
            CHECK(MPI_Wait(&r[1], &s) == MPI_SUCCESS);
        } else if (way == 2) {
            CHECK(MPI_Test(&r[1], &flag, &s) == MPI_SUCCESS && flag);
        } else if (way == 3) {
            CHECK(MPI_Waitall(2, r + 1, many) == MPI_SUCCESS);
            s = many[0];
        } else {
            CHECK(MPI_Testany(2, r + 1, &y, &flag, &s) == MPI_SUCCESS && flag && y == 0);
        }
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag && r[1] == MPI_REQUEST_NULL);
        if (way % 2 == 0) MPI_Send(&x, 1, MPI_INT, 0, 76, MPI_COMM_SELF);
        MPIX_Sync_waitall(sync);
        CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == word(9) && z == x);
    }
    /* One that nobody waits for before the object goes. */
    MPI_Irecv(&y, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &r[0]);
    MPIX_Sync_attach(sync, &r[0], word(1));
    MPI_Cancel(&r[0]);
    MPIX_Sync_waitall(sync);
    MPIX_Sync_free(&sync);
    CHECK(MPI_Request_free(&r[0]) == MPI_SUCCESS);
}

/* Persistent requests of which nobody hears: when nothing is pending they can be started again, freed, or
 * waited for, though nobody has asked the object, and something else stands before them. */
static void quiet_persistent(void) {
    MPIX_Sync sync;
    MPI_Request r, send, loud;
    int x = 0, y = 0, z, flag;
    MPIX_Sync_init(&sync);
    MPI_Irecv(&z, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &loud);
    MPIX_Sync_attach(sync, &loud, word(5));
    MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_SELF);
    MPIX_Sync_waitall(sync);
    MPI_Recv_init(&y, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r);
    MPI_Send_init(&x, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &send);
    for (x = 1; x < 20; x++) {
        CHECK(MPI_Start(&r) == MPI_SUCCESS);
        CHECK(MPIX_Sync_attach(sync, &r, MPIX_SYNC_NO_COMPLETION_DATA) == MPI_SUCCESS);
        CHECK(MPI_Start(&r) == MPI_ERR_REQUEST);
        CHECK(MPI_Start(&send) == MPI_SUCCESS);
        CHECK(MPIX_Sync_attach(sync, &send, MPIX_SYNC_NO_COMPLETION_DATA) == MPI_SUCCESS);
        while (MPIX_Sync_size(sync) != 0) MPIX_Progress();
        CHECK(MPIX_Sync_probe(sync) == 1 && y == x);
    }
    CHECK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag);
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && MPI_Request_free(&send) == MPI_SUCCESS);
    CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == word(5));
    MPIX_Sync_free(&sync);
}

/* MPI_Pready and MPI_Parrived are permitted for an attached operation, which needs them to complete. */
static void partitioned(void) {
    MPIX_Sync sync;
    MPI_Request send, r;
    int in[4] = {0}, out[4], flag;
    MPIX_Sync_init(&sync);
    MPI_Psend_init(out, 4, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 4, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    for (int round = 1; round < 4; round++) {
        MPI_Start(&send);
        MPI_Start(&r);
        CHECK(MPIX_Sync_attach(sync, &send, word(1)) == MPI_SUCCESS && MPIX_Sync_attach(sync, &r, word(2)) == MPI_SUCCESS);
        for (int i = 0; i < 4; i++) {
            out[i] = round * 10 + i;
            CHECK(MPI_Pready(i, send) == MPI_SUCCESS);
        }
        do {
            CHECK(MPI_Parrived(r, 3, &flag) == MPI_SUCCESS);
        } while (!flag);
        CHECK(in[3] == round * 10 + 3);
        MPIX_Sync_waitall(sync);
        long a = (long)MPIX_Sync_query(sync, MPI_STATUS_IGNORE), b = (long)MPIX_Sync_query(sync, MPI_STATUS_IGNORE);
        CHECK(a + b == 3 && a != b && in[0] == round * 10);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&r);
    MPIX_Sync_free(&sync);
}

/* Nonblocking and persistent collectives. */
static void collectives(void) {
    MPIX_Sync sync;
    MPI_Request r[2], p;
    int x = 3, y = 0, z = 0;
    MPIX_Sync_init(&sync);
    MPI_Ibarrier(MPI_COMM_SELF, &r[0]);
    CHECK(MPIX_Sync_attach(sync, &r[0], word(1)) == MPI_SUCCESS);
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &r[1]);
    CHECK(MPIX_Sync_attach(sync, &r[1], word(2)) == MPI_SUCCESS);
    MPI_Allreduce_init(&x, &z, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &p);
    MPI_Start(&p);
    CHECK(MPIX_Sync_attach(sync, &p, word(4)) == MPI_SUCCESS);
    MPIX_Sync_waitall(sync);
    CHECK(MPIX_Sync_probe(sync) == 3 && y == 3 && z == 3);
    long sum = 0;
    for (int i = 0; i < 3; i++) sum += (long)MPIX_Sync_query(sync, MPI_STATUS_IGNORE);
    CHECK(sum == 7 && MPI_Start(&p) == MPI_SUCCESS && MPI_Wait(&p, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Request_free(&p);
    MPIX_Sync_free(&sync);
}

static void persistent(void) {
    MPIX_Sync sync;
    MPI_Request r, p;
    int x, y = 0;
    MPIX_Sync_init(&sync);
    MPI_Recv_init(&y, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r);
    MPI_Send_init(&y, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_SELF, &p);
    CHECK(MPIX_Sync_attach(sync, &r, word(1)) == MPI_ERR_REQUEST);
    for (x = 1; x < 20; x++) {
        CHECK(MPI_Start(&r) == MPI_SUCCESS);
        CHECK(MPIX_Sync_attach(sync, &r, word(x)) == MPI_SUCCESS);
        MPI_Send(&x, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
        MPIX_Sync_waitall(sync);
        CHECK(MPI_Start(&r) == MPI_ERR_REQUEST);
        CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == word(x) && y == x);
        CHECK(MPI_Start(&p) == MPI_SUCCESS && MPIX_Sync_attach(sync, &p, word(-x)) == MPI_SUCCESS);
        CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == word(-x));
    }
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS && MPI_Request_free(&p) == MPI_SUCCESS);
    MPIX_Sync_free(&sync);
}

static void proc_null(void) {
    MPIX_Sync sync;
    MPI_Request r[3];
    MPI_Status s;
    int x = 0;
    MPIX_Sync_init(&sync);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &r[i]);
        CHECK(MPIX_Sync_attach(sync, &r[i], word(i)) == MPI_SUCCESS);
    }
    CHECK(MPIX_Sync_size(sync) == 0 && MPIX_Sync_probe(sync) == 3);
    CHECK(MPIX_Sync_detach(sync, &r[1]) == MPI_SUCCESS && MPI_Wait(&r[1], &s) == MPI_SUCCESS);
    CHECK(MPIX_Sync_query(sync, &s) == word(0) && s.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(MPIX_Sync_query(sync, &s) == word(2));
    MPIX_Sync_free(&sync);
}

static int queried, freed;
static int query(void *extra, MPI_Status *s) {
    queried++;
    MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 3;
    s->MPI_TAG = 4;
    return MPI_SUCCESS;
}
static int release(void *extra) {
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}
static int give_up(void *extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void) {
    MPIX_Sync sync;
    MPI_Request r;
    MPI_Status s;
    int extra = 5, n;
    MPIX_Sync_init(&sync);
    MPI_Grequest_start(query, release, give_up, &extra, &r);
    MPIX_Sync_attach(sync, &r, word(1));
    CHECK(MPIX_Sync_query(sync, &s) == MPIX_SYNC_EMPTY && queried == 0);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(MPIX_Sync_query(sync, &s) == word(1) && queried == 1 && freed == 1);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 5 && s.MPI_TAG == 4);
    MPIX_Sync_free(&sync);
}

static void errors(void) {
    MPIX_Sync sync, none = MPIX_SYNC_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s[2];
    int x[4] = {1, 2, 3, 4}, y, n;
    void *data[2];
    CHECK(MPIX_Sync_init(NULL) == MPI_ERR_ARG);
    MPIX_Sync_init(&sync);
    CHECK(MPIX_Sync_attach(sync, &r, NULL) == MPI_ERR_REQUEST);
    CHECK(MPIX_Sync_attach(none, &r, NULL) == MPI_ERR_ARG);
    CHECK(MPIX_Sync_size(none) == -1 && MPIX_Sync_probe(none) == -1);
    CHECK(MPIX_Sync_query(none, s) == MPIX_SYNC_EMPTY);
    CHECK(MPIX_Sync_query_bulk(-1, sync, &n, data, s) == MPI_ERR_COUNT);
    CHECK(MPIX_Sync_query_bulk(2, sync, &n, NULL, s) == MPI_ERR_ARG);
    for (int bulk = 0; bulk < 2; bulk++) {
        MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
        MPIX_Sync_attach(sync, &r, word(6));
        MPI_Send(x, 4, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPIX_Sync_waitall(sync);
        if (bulk) {
            CHECK(MPIX_Sync_query_bulk(2, sync, &n, data, s) == MPI_ERR_IN_STATUS && n == 1 && data[0] == word(6));
        } else {
            CHECK(MPIX_Sync_query(sync, s) == word(6));
        }
        CHECK(s[0].MPI_ERROR == MPI_ERR_TRUNCATE);
    }
    MPIX_Sync old = sync;
    MPIX_Sync_free(&sync);
    CHECK(MPIX_Sync_waitall(old) == MPI_ERR_ARG);
    CHECK(MPIX_SYNC_EMPTY != NULL && MPIX_SYNC_EMPTY != MPIX_SYNC_NO_COMPLETION_DATA);
}

/* A communicator that was freed lives as long as its attached requests. */
static void freed_communicator(void) {
    MPI_Comm c;
    MPIX_Sync sync;
    MPI_Request r[2];
    int x = 5, y = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPIX_Sync_init(&sync);
    MPI_Irecv(&y, 1, MPI_INT, 0, 1, c, &r[0]);
    MPIX_Sync_attach(sync, &r[0], word(0));
    MPI_Isend(&x, 1, MPI_INT, 0, 1, c, &r[1]);
    MPIX_Sync_attach(sync, &r[1], word(1));
    MPI_Comm_free(&c);
    MPIX_Sync_waitall(sync);
    CHECK(MPIX_Sync_probe(sync) == 2 && y == 5);
    MPIX_Sync_query(sync, MPI_STATUS_IGNORE);
    MPIX_Sync_query(sync, MPI_STATUS_IGNORE);
    MPIX_Sync_free(&sync);
}

enum { THREADS = 4, ROUNDS = 300 };
static MPIX_Sync shared;
static int got[THREADS * ROUNDS], received[THREADS * ROUNDS];

/* Each thread posts and sends its own and takes whatever comes. */
static void *worker(void *arg) {
    long me = (long)arg;
    MPI_Request r;
    for (long i = 0; i < ROUNDS; i++) {
        long n = me * ROUNDS + i;
        MPI_Irecv(&received[n], 1, MPI_INT, 0, (int)me, MPI_COMM_SELF, &r);
        MPIX_Sync_attach(shared, &r, word(n));
        int x = (int)n;
        MPI_Send(&x, 1, MPI_INT, 0, (int)me, MPI_COMM_SELF);
        void *data = MPIX_Sync_query(shared, MPI_STATUS_IGNORE);
        if (data != MPIX_SYNC_EMPTY) __atomic_fetch_add(&got[(long)data], 1, __ATOMIC_RELAXED);
        if (i % 50 == 0) MPIX_Sync_waitall(shared);
    }
    return NULL;
}

static void threads(void) {
    pthread_t t[THREADS];
    MPIX_Sync_init(&shared);
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, worker, word(i));
    for (long i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    MPIX_Sync_waitall(shared);
    void *data;
    while ((data = MPIX_Sync_query(shared, MPI_STATUS_IGNORE)) != MPIX_SYNC_EMPTY) got[(long)data]++;
    for (int i = 0; i < THREADS * ROUNDS; i++) CHECK(got[i] == 1 && received[i] == i);
    MPIX_Sync_free(&shared);
}

int main(int argc, char **argv) {
    int provided = MPI_THREAD_SINGLE, level;
    if (argc > 1) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    plain();
    quiet();
    taken_off();
    cancelled();
    persistent();
    quiet_persistent();
    partitioned();
    collectives();
    proc_null();
    generalized();
    errors();
    freed_communicator();
    if (provided == MPI_THREAD_MULTIPLE) threads();
    MPI_Query_thread(&level);
    CHECK(level == provided);
    return finish();
}
