/* The eight ways to complete, persistent requests, cancel, status without completion. */
#include "check.h"

#define N 8

static void many(void) {
    int in[N], out[N], flag, index, count, indices[N];
    MPI_Request r[N + 1];
    MPI_Status s[N + 1], one;
    for (int i = 0; i < N; i++) {
        out[i] = 100 + i;
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &r[i]);
    }
    r[N] = MPI_REQUEST_NULL;
    MPI_Testall(N + 1, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag);
    MPI_Testany(N + 1, r, &index, &flag, &one);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Testsome(N + 1, r, &count, indices, s);
    CHECK(count == 0);
    MPI_Request_get_status_any(N + 1, r, &index, &flag, &one);
    CHECK(!flag);
    MPI_Send(&out[3], 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    do MPI_Request_get_status(r[3], &flag, &one); while (!flag);
    CHECK(one.MPI_TAG == 3 && r[3] != MPI_REQUEST_NULL);
    MPI_Request_get_status_some(N + 1, r, &count, indices, s);
    CHECK(count == 1 && indices[0] == 3);
    MPI_Waitany(N + 1, r, &index, &one);
    CHECK(index == 3 && one.MPI_TAG == 3 && r[3] == MPI_REQUEST_NULL && in[3] == 103);
    MPI_Send(&out[5], 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    MPI_Send(&out[1], 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    int done = 0;
    while (done < 2) {
        MPI_Waitsome(N + 1, r, &count, indices, s);
        for (int i = 0; i < count; i++) CHECK(indices[i] == s[i].MPI_TAG && in[indices[i]] == 100 + indices[i]);
        done += count;
    }
    for (int i = 0; i < N; i++)
        if (r[i] != MPI_REQUEST_NULL) MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Waitall(N + 1, r, s);
    for (int i = 0; i < N; i++) CHECK(in[i] == 100 + i && r[i] == MPI_REQUEST_NULL);
    CHECK(s[N].MPI_SOURCE == MPI_ANY_SOURCE && s[N].MPI_TAG == MPI_ANY_TAG);
    MPI_Waitany(N, r, &index, &one);
    CHECK(index == MPI_UNDEFINED);
    MPI_Testany(0, NULL, &index, &flag, &one);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Waitsome(N, r, &count, indices, s);
    CHECK(count == MPI_UNDEFINED);
    CHECK(MPI_Wait(&r[0], &one) == MPI_SUCCESS);
    MPI_Test(&r[0], &flag, &one);
    CHECK(flag);
}

enum { MANY = 5000, FORMS = 4 };
static MPI_Request all[MANY];
static int ints[MANY], at[MANY];

static void receive(int i) { MPI_Irecv(&ints[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &all[i]); }

/* The one that is ready, found in one of four ways. */
static int found(int form) {
    int count = 0, flag = 0;
    MPI_Status s;
    switch (form) {
    case 0: do MPI_Testsome(MANY, all, &count, at, &s); while (!count); return count == 1 ? at[0] : -1;
    case 1: do MPI_Testany(MANY, all, &at[0], &flag, &s); while (!flag); return at[0];
    case 2: MPI_Waitsome(MANY, all, &count, at, &s); return count == 1 ? at[0] : -1;
    default: MPI_Waitany(MANY, all, &at[0], &s); return at[0];
    }
}

static void none_found(void) {
    int count = -1, flag = -1, index = -1;
    CHECK(MPI_Testsome(MANY, all, &count, at, MPI_STATUSES_IGNORE) == MPI_SUCCESS && count == 0);
    CHECK(MPI_Testany(MANY, all, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag && index == MPI_UNDEFINED);
}

static void none_taken_for_one(int place, MPI_Request wrong) {
    int count, flag;
    MPI_Request good = all[place];
    all[place] = wrong;
    FAILS(MPI_ERR_REQUEST, MPI_Testsome(MANY, all, &count, at, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Testany(MANY, all, &count, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Waitany(MANY, all, &count, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Waitsome(MANY, all, &count, at, MPI_STATUSES_IGNORE));
    all[place] = good;
}

/* One that is ready, or wrong, among many that are pending, inactive or none. */
static void among_many(void) {
    int out, count, done = 0, places[] = {0, 1, 2, 2046, 2047, 2048, 3333, 4095, 4096, MANY - 1};
    enum { PLACES = sizeof places / sizeof *places };
    for (int i = 0; i < MANY; i++) {
        all[i] = MPI_REQUEST_NULL;
        if (i % 97 == 5) continue;
        if (i % 101 != 7) {
            receive(i);
            continue;
        }
        MPI_Recv_init(&ints[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &all[i]);
        if (i % 2 == 0) continue; /* never started */
        MPI_Start(&all[i]);
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        MPI_Wait(&all[i], MPI_STATUS_IGNORE);
    }
    for (int p = 0; p < PLACES; p++)
        for (int form = 0; form < FORMS; form++) {
            int i = places[p];
            MPI_Request was = all[i];
            none_found();
            out = 10 * i + form + 1;
            MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
            CHECK(found(form) == i && ints[i] == out && all[i] == MPI_REQUEST_NULL);
            receive(i);
            none_taken_for_one(i, was);
            none_taken_for_one(i, (MPI_Request)((char *)was + (1L << 29)));
            none_taken_for_one(i, (MPI_Request)((char *)was + (1L << 31)));
        }
    for (int p = 0; p < PLACES; p++) MPI_Send(&out, 1, MPI_INT, 0, places[p], MPI_COMM_SELF);
    while (done < PLACES) {
        MPI_Testsome(MANY, all, &count, at, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++) CHECK(done < PLACES && at[i] == places[done++]);
    }
    none_found();
    for (int i = 0; i < MANY; i++)
        if (all[i] != MPI_REQUEST_NULL && i % 101 != 7) MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    CHECK(MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    MPI_Waitsome(MANY, all, &count, at, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);
    for (int i = 0; i < MANY; i++)
        if (all[i] != MPI_REQUEST_NULL) MPI_Request_free(&all[i]);
}

static void persistent(void) {
    int in = 0, out = 0, flag;
    MPI_Request r[3];
    MPI_Status s;
    MPI_Recv_init(&in, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &r[0]);
    MPI_Send_init(&out, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &r[1]);
    MPI_Ssend_init(&out, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_SELF, &r[2]);
    CHECK(MPI_Wait(&r[0], &s) == MPI_SUCCESS && r[0] != MPI_REQUEST_NULL); /* inactive */
    CHECK(s.MPI_TAG == MPI_ANY_TAG);
    for (out = 1; out < 50; out++) {
        MPI_Startall(3, r);
        if (out % 3 == 0) {
            for (int i = 0; i < 3; i++) MPI_Wait(&r[i], &s);
        } else if (out % 3 == 1) {
            MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        } else {
            do MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE); while (!flag);
        }
        CHECK(in == out);
    }
    MPI_Start(&r[0]);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r[0]));
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    for (int i = 0; i < 3; i++) CHECK(MPI_Request_free(&r[i]) == MPI_SUCCESS && r[i] == MPI_REQUEST_NULL);
}

static void cancelled(void) {
    int in = 0, flag;
    MPI_Request r;
    MPI_Status s;
    MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    /* A send to oneself that nobody has received: known at once. */
    MPI_Issend(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r);
    MPI_Probe(0, 9, MPI_COMM_SELF, &s);
    MPI_Cancel(&r);
    MPI_Request_get_status(r, &flag, &s);
    CHECK(flag);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag);
    MPI_Request_free(&r);
    /* The next message is not eaten by what was cancelled. */
    int out = 5;
    MPI_Request q;
    MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &q);
    MPI_Recv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &s);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Test_cancelled(&s, &flag);
    CHECK(in == 5 && !flag);
}

static void probes(void) {
    int in[4], out[4] = {1, 2, 3, 4}, flag, count;
    MPI_Status s;
    MPI_Message m;
    MPI_Request q;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &s);
    CHECK(!flag);
    MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_SELF, &flag, &m, &s);
    CHECK(!flag && m == MPI_MESSAGE_NULL);
    MPI_Isend(out, 4, MPI_INT, 0, 6, MPI_COMM_SELF, &q);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(count == 4 && s.MPI_TAG == 6 && s.MPI_SOURCE == 0);
    MPI_Mprobe(0, 6, MPI_COMM_SELF, &m, &s);
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &s);
    CHECK(!flag); /* taken */
    MPI_Mrecv(in, 4, MPI_INT, &m, &s);
    CHECK(m == MPI_MESSAGE_NULL && in[3] == 4);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Isend(out, 2, MPI_INT, 0, 6, MPI_COMM_SELF, &q);
    do MPI_Improbe(0, 6, MPI_COMM_SELF, &flag, &m, &s); while (!flag);
    MPI_Request r;
    MPI_Imrecv(in, 4, MPI_INT, &m, &r);
    MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(count == 2);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &m, &s);
    CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(in, 4, MPI_INT, &m, &s);
    CHECK(m == MPI_MESSAGE_NULL && s.MPI_SOURCE == MPI_PROC_NULL);
}

/* A communicator may be freed while its messages are under way. */
static void early_free(void) {
    int in = 0, out = 77;
    MPI_Request r[2];
    MPI_Comm comm;
    for (int i = 0; i < 100; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, comm, &r[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 0, comm, &r[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(in == 77);
        in = 0;
    }
    /* Freed requests go on. */
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[1]);
    MPI_Request_free(&r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(in == 77);
}

static void sendrecv(void) {
    int a[3] = {1, 2, 3}, b[3] = {0}, count;
    MPI_Status s;
    MPI_Sendrecv(a, 3, MPI_INT, 0, 1, b, 3, MPI_INT, 0, 1, MPI_COMM_SELF, &s);
    CHECK(b[2] == 3 && s.MPI_TAG == 1);
    MPI_Sendrecv_replace(a, 3, MPI_INT, 0, 2, 0, 2, MPI_COMM_SELF, &s);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(a[0] == 1 && a[2] == 3 && count == 3);
    MPI_Sendrecv(a, 3, MPI_INT, MPI_PROC_NULL, 1, b, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, &s);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    CHECK(provided == (argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    many();
    among_many();
    persistent();
    cancelled();
    probes();
    early_free();
    sendrecv();
    return finish();
}
