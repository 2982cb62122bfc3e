/*
 * MPI_THREAD_MULTIPLE, where a process has one thread in MPI until a second one comes. Usage: solo SITUATION
 * on 2 ranks. Each situation is how the second thread finds the first; rank 1 is the partner.
 */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int rank, size;
static _Atomic int stage;

static void reach(int n) {
    atomic_store(&stage, n);
}
static void await(int n) {
    while (atomic_load(&stage) < n) usleep(100);
}
static pthread_t start(void *(*run)(void *), void *argument) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, argument), "no thread");
    return thread;
}
static void join(pthread_t thread) {
    CHECK(!pthread_join(thread, NULL), "no end");
}

/* There and back again with the other rank, tags of one thread. */
static void talk(int tag, int rounds) {
    for (int i = 0; i < rounds; i++) {
        int out = rank * 1000 + tag + i, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, tag, &in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == (1 - rank) * 1000 + tag + i, "tag %d round %d: %d", tag, i, in);
    }
}
static void *talker(void *argument) {
    talk((int)(long)argument, 200);
    return NULL;
}

/* The first thread computes, and is not in MPI at all. */
static void computing(void) {
    talk(1, 10);
    join(start(talker, (void *)2));
    talk(1, 10);
}

/* It calls without end. */
static void calling(void) {
    pthread_t other = start(talker, (void *)2);
    talk(1, 2000);
    join(other);
}

/* It polls with MPI_Test for what the second thread brings. */
static void *sends_to_self(void *argument) {
    int value = 42;
    usleep(argument ? 100000 : 1000);
    MPI_Send(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    return NULL;
}
static void polling(void) {
    for (int i = 0; i < 3; i++) {
        int value = -1, done = 0;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
        pthread_t other = start(sends_to_self, NULL);
        while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(value == 42, "%d", value);
        join(other);
    }
}

/* It waits in a call, long enough to be asleep, for a message of the second thread. */
static void waiting(void) {
    int value = -1;
    pthread_t other = start(sends_to_self, (void *)1);
    MPI_Recv(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == 42, "%d", value);
    join(other);
}
static void waiting_for_many(void) {
    enum { N = 5 };
    int values[N], which;
    MPI_Request requests[N];
    for (int i = 0; i < N; i++) MPI_Irecv(&values[i], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[i]);
    pthread_t others[N];
    for (int i = 0; i < N; i++) others[i] = start(sends_to_self, (void *)1);
    MPI_Waitany(N, requests, &which, MPI_STATUS_IGNORE);
    CHECK(which >= 0 && which < N, "%d", which);
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        CHECK(values[i] == 42, "%d", values[i]);
        join(others[i]);
    }
}
static void waiting_in_a_probe(void) {
    MPI_Status status;
    int value = -1;
    pthread_t other = start(sends_to_self, (void *)1);
    MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Recv(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == 42 && status.MPI_SOURCE == rank, "%d from %d", value, status.MPI_SOURCE);
    join(other);
}

/* It waits for the other rank, which answers only when the second thread has spoken. */
static void *speaks(void *argument) {
    (void)argument;
    usleep(50000);
    int value = 7;
    MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    return NULL;
}
static void waiting_for_a_rank(void) {
    int value = -1;
    if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        return;
    }
    pthread_t other = start(speaks, NULL);
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == 7, "%d", value);
    join(other);
}

/* It is in the user's code, called by MPI, which waits until the second thread has made its calls. */
static void *calls_for_stage(void *argument) {
    (void)argument;
    await(1);
    int value = 1, in = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 6, &in, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    reach(2);
    return NULL;
}
static void user_code(void) {
    if (atomic_load(&stage) == 0) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        reach(1);
        await(2);
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}
static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    user_code();
    return MPI_SUCCESS;
}
static int on_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    user_code();
    *flag = 0;
    return MPI_SUCCESS;
}
static void in_attribute(int copy) {
    int keyval;
    MPI_Comm dup;
    pthread_t other = start(calls_for_stage, NULL);
    MPI_Comm_create_keyval(copy ? on_copy : MPI_COMM_NULL_COPY_FN, copy ? MPI_COMM_NULL_DELETE_FN : on_delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &stage);
    if (copy) {
        MPI_Comm_dup(MPI_COMM_SELF, &dup);
        MPI_Comm_free(&dup);
    }
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    MPI_Comm_free_keyval(&keyval);
    CHECK(atomic_load(&stage) == 2, "the callback did not run");
    join(other);
}
static void in_delete(void) {
    in_attribute(0);
}
static void in_copy(void) {
    in_attribute(1);
}
static void on_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    user_code();
}
static void in_error_handler(void) {
    MPI_Errhandler handler;
    int value = 0;
    pthread_t other = start(calls_for_stage, NULL);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    int code = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD), class;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_RANK && atomic_load(&stage) == 2, "class %d", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    join(other);
}
static void sum(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    user_code();
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}
static void in_reduction(void) {
    MPI_Op op;
    static int mine[3000], total[3000];
    pthread_t other = start(calls_for_stage, NULL);
    MPI_Op_create(sum, 1, &op);
    for (int i = 0; i < 3000; i++) mine[i] = rank + i;
    MPI_Allreduce(mine, total, 3000, MPI_INT, op, MPI_COMM_WORLD);
    for (int i = 0; i < 3000; i++) CHECK(total[i] == 1 + 2 * i, "element %d: %d", i, total[i]);
    reach(1);
    join(other);
    MPI_Op_free(&op);
}
static int on_query(void *extra, MPI_Status *status) {
    (void)extra;
    user_code();
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int on_free(void *extra) {
    (void)extra;
    return MPI_SUCCESS;
}
static int on_cancel(void *extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}
static void *completes(void *argument) {
    usleep(20000);
    MPI_Grequest_complete(*(MPI_Request *)argument);
    return calls_for_stage(NULL);
}
static void in_generalized_request(void) {
    MPI_Request request;
    MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &request);
    MPI_Request copy = request;
    pthread_t other = start(completes, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(atomic_load(&stage) == 2, "the callback did not run");
    join(other);
}

/* It has ended, and its place may be another thread's. */
static void *first_calls(void *argument) {
    (void)argument;
    talk(1, 10);
    return NULL;
}
static void ended(void) {
    for (int i = 0; i < 5; i++) join(start(first_calls, NULL));
    pthread_t other = start(talker, (void *)2);
    talk(1, 200);
    join(other);
}

/* Many come at once, while the first one calls. */
static void crowd(void) {
    enum { N = 12 };
    pthread_t others[N];
    for (long i = 0; i < N; i++) others[i] = start(talker, (void *)(10000 + 1000 * i));
    talk(1, 500);
    for (int i = 0; i < N; i++) join(others[i]);
}

/* Requests of the first thread are completed by the second, and the other way round. */
static MPI_Request handed[2];
static int handed_value[2];
static void *waits_for_handed(void *argument) {
    (void)argument;
    MPI_Wait(&handed[0], MPI_STATUS_IGNORE);
    CHECK(handed_value[0] == 11, "%d", handed_value[0]);
    MPI_Irecv(&handed_value[1], 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &handed[1]);
    return NULL;
}
static void handing_on(void) {
    int value = 11;
    MPI_Irecv(&handed_value[0], 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &handed[0]);
    pthread_t other = start(waits_for_handed, NULL);
    usleep(10000);
    MPI_Send(&value, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
    join(other);
    value = 12;
    MPI_Send(&value, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
    MPI_Wait(&handed[1], MPI_STATUS_IGNORE);
    CHECK(handed_value[1] == 12, "%d", handed_value[1]);
}

/* MPI_Finalize is the first call of the thread that called MPI_Init since then. */
static void elsewhere(void) {
    join(start(talker, (void *)2));
}

/* A session of two threads beside the world. */
static void *session_of_its_own(void *argument) {
    (void)argument;
    for (int i = 0; i < 20; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        int value = 5, in = 0;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://SELF", &group);
        MPI_Comm_create_from_group(group, "solo", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        CHECK(in == 5, "%d", in);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return NULL;
}
static void sessions(void) {
    pthread_t other = start(session_of_its_own, NULL);
    talk(1, 2000);
    join(other);
}

/* Calls that are no calls of messages: from any thread at any time. */
static void *looks_around(void *argument) {
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        int flag, provided, me;
        MPI_Info info;
        MPI_Initialized(&flag);
        MPI_Query_thread(&provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &me);
        MPI_Info_create(&info);
        MPI_Info_set(info, "a", "b");
        MPI_Info_free(&info);
        CHECK(flag && me == rank && MPI_Wtime() > 0, "%d", provided);
    }
    return NULL;
}
static void looking(void) {
    pthread_t other = start(looks_around, NULL);
    talk(1, 2000);
    join(other);
}

/* Below MPI_THREAD_MULTIPLE threads take turns, also with messages of each other. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void *takes_turns(void *argument) {
    for (int i = 0; i < 300; i++) {
        int value = i, in = -1, tag = (int)(long)argument;
        pthread_mutex_lock(&turn);
        MPI_Sendrecv(&value, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&turn);
        CHECK(in == i, "%d in round %d", in, i);
    }
    return NULL;
}
static void turns(void) {
    pthread_t others[3];
    for (long i = 0; i < 3; i++) others[i] = start(takes_turns, (void *)(20 + i));
    takes_turns((void *)10);
    for (int i = 0; i < 3; i++) join(others[i]);
}

/* A session at MPI_THREAD_MULTIPLE rises beside a world below it, whose threads are in calls meanwhile. */
static void *threaded_session(void *argument) {
    MPI_Session session;
    MPI_Info info;
    usleep((useconds_t)(rand() % 3000));
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    session_of_its_own(argument);
    MPI_Session_finalize(&session);
    return NULL;
}
static void rising(void) {
    srand((unsigned)getpid());
    pthread_t other = start(threaded_session, NULL);
    talk(1, 2000);
    join(other);
}
static void rising_in_turns(void) {
    srand((unsigned)getpid());
    pthread_t other = start(threaded_session, NULL);
    turns();
    join(other);
}

static const struct {
    const char *name;
    void (*run)(void);
    /* 0: MPI_THREAD_MULTIPLE. */
    int level;
} situations[] = {
    {"computing", computing, 0},
    {"calling", calling, 0},
    {"polling", polling, 0},
    {"waiting", waiting, 0},
    {"waiting-for-many", waiting_for_many, 0},
    {"waiting-in-a-probe", waiting_in_a_probe, 0},
    {"waiting-for-a-rank", waiting_for_a_rank, 0},
    {"in-delete", in_delete, 0},
    {"in-copy", in_copy, 0},
    {"in-error-handler", in_error_handler, 0},
    {"in-reduction", in_reduction, 0},
    {"in-generalized-request", in_generalized_request, 0},
    {"ended", ended, 0},
    {"crowd", crowd, 0},
    {"handing-on", handing_on, 0},
    {"elsewhere", elsewhere, 0},
    {"sessions", sessions, 0},
    {"looking", looking, 0},
    {"turns", turns, MPI_THREAD_SERIALIZED},
    {"rising", rising, MPI_THREAD_FUNNELED},
    {"rising-in-turns", rising_in_turns, MPI_THREAD_SERIALIZED},
};

int main(int argc, char **argv) {
    int provided, level = -1;
    void (*run)(void) = NULL;
    for (size_t i = 0; argc == 2 && i < sizeof situations / sizeof *situations; i++) {
        if (strcmp(argv[1], situations[i].name) == 0) {
            run = situations[i].run;
            level = situations[i].level ? situations[i].level : MPI_THREAD_MULTIPLE;
        }
    }
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(run && provided >= level && size == 2, "usage: solo SITUATION on 2 ranks");
    run();
    return end();
}
