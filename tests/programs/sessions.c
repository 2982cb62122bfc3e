/* Sessions: before, beside and after the world, again and again, several at once, from several threads. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

/* check.h aborts on MPI_COMM_WORLD, which is not there without a world. */
#undef CHECK
#define CHECK(condition, ...)                                                          \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);    \
            fprintf(stderr, __VA_ARGS__);                                              \
            fputc('\n', stderr);                                                       \
            fflush(stderr);                                                            \
            _exit(99);                                                                 \
        }                                                                              \
    } while (0)

static MPI_Session begin_session(const char *level) {
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    if (level) MPI_Info_set(info, "thread_level", level);
    int code = MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    CHECK(code == MPI_SUCCESS && session != MPI_SESSION_NULL, "init: %d", code);
    MPI_Info_free(&info);
    return session;
}

static MPI_Comm communicator(MPI_Session session, const char *pset, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    CHECK(!MPI_Group_from_session_pset(session, pset, &group), "group of %s", pset);
    CHECK(!MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), "comm of %s", pset);
    MPI_Group_free(&group);
    return comm;
}

/* Each rank's number to the right, and a sum. */
static void use(MPI_Comm comm, int salt) {
    int rank, size, sum, got = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int mine = rank * 100 + salt, left = (rank + size - 1) % size;
    MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, salt, &got, 1, MPI_INT, left, salt, comm, MPI_STATUS_IGNORE);
    CHECK(got == left * 100 + salt, "%d", got);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "%d", sum);
}

static void psets(MPI_Session session) {
    int n, world = 0, self = 0;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    CHECK(n >= 2, "%d", n);
    for (int i = 0; i < n; i++) {
        int length = 0, needed, flag, size;
        char name[MPI_MAX_PSET_NAME_LEN], value[16];
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        needed = length;
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN, "%d", length);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        CHECK((int)strlen(name) + 1 == needed && length == needed, "%s", name);
        MPI_Info info;
        MPI_Group group;
        MPI_Session_get_pset_info(session, name, &info);
        int room = sizeof value;
        MPI_Info_get_string(info, "mpi_size", &room, value, &flag);
        CHECK(flag, "mpi_size of %s", name);
        MPI_Info_free(&info);
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Group_size(group, &size);
        CHECK(size == atoi(value) && size > 0, "%s has %d", name, size);
        MPI_Group_free(&group);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0 && size == 1;
    }
    CHECK(world == 1 && self == 1, "%d %d", world, self);
}

/* A level by its number. */
static int how_high(const char *level) {
    static const char *const names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                        "MPI_THREAD_MULTIPLE"};
    for (int i = 0; i < 4; i++)
        if (strcmp(level, names[i]) == 0) return i;
    return -1;
}

/* One session from beginning to end; the communicators of children are its own, too. */
static void whole(const char *level, int salt) {
    MPI_Session session = begin_session(level);
    psets(session);
    if (level) {
        MPI_Info info;
        char value[64];
        int room = sizeof value, flag;
        MPI_Session_get_info(session, &info);
        MPI_Info_get_string(info, "thread_level", &room, value, &flag);
        CHECK(flag && how_high(value) >= how_high(level), "%s", value);
        MPI_Info_free(&info);
    }
    MPI_Comm all = communicator(session, "mpi://WORLD", "whole"), twin, half;
    MPI_Comm own = communicator(session, "mpi://SELF", "own");
    use(all, salt);
    use(own, salt + 1);
    int rank;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_dup(all, &twin);
    MPI_Comm_split(all, rank % 2, 0, &half);
    use(twin, salt + 2);
    use(half, salt + 3);
    MPI_Comm again = communicator(session, "mpi://WORLD", "whole");
    use(again, salt + 4);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&again);
    MPI_Comm_disconnect(&own);
    MPI_Comm_disconnect(&all);
    CHECK(!MPI_Session_finalize(&session) && session == MPI_SESSION_NULL, "finalize");
}

/* Even ranks and odd ones, over and over with one tag. */
static void between(void) {
    MPI_Session session = begin_session(NULL);
    MPI_Group all, halves[2];
    int rank, size;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_rank(all, &rank);
    MPI_Group_size(all, &size);
    for (int half = 0; size > 1 && half < 2; half++) {
        int range[1][3] = {{half, size - 1, 2}};
        MPI_Group_range_incl(all, 1, range, &halves[half]);
    }
    for (int turn = 0; size > 1 && turn < 3; turn++) {
        MPI_Comm inter;
        int me = rank % 2, flag, mine = rank, theirs = -1, local, remote;
        int leader = turn == 2 ? 0 : (size - 1 - me) / 2, other = turn == 2 ? 0 : (size - 1 - !me) / 2;
        int code = MPI_Intercomm_create_from_groups(halves[me], leader, halves[!me], other, "between", MPI_INFO_NULL,
                                                    MPI_ERRORS_RETURN, &inter);
        CHECK(code == MPI_SUCCESS, "%d", code);
        MPI_Comm_test_inter(inter, &flag);
        MPI_Comm_size(inter, &local);
        MPI_Comm_remote_size(inter, &remote);
        CHECK(flag && local + remote == size, "%d and %d", local, remote);
        if (rank < 2) {
            MPI_Sendrecv(&mine, 1, MPI_INT, 0, turn, &theirs, 1, MPI_INT, 0, turn, inter, MPI_STATUS_IGNORE);
            CHECK(theirs == !rank, "%d", theirs);
        }
        MPI_Comm_free(&inter);
    }
    for (int half = 0; size > 1 && half < 2; half++) MPI_Group_free(&halves[half]);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
}

static int raised;
static void handler(MPI_Session *session, int *code, ...) {
    CHECK(*session != MPI_SESSION_NULL, "the session's handle");
    MPI_Error_class(*code, &raised);
}

static void handlers(void) {
    MPI_Session session = begin_session(NULL);
    MPI_Errhandler mine, got;
    MPI_Group group = MPI_GROUP_EMPTY;
    CHECK(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group) != MPI_SUCCESS, "no such set");
    MPI_Session_create_errhandler(handler, &mine);
    MPI_Session_set_errhandler(session, mine);
    MPI_Errhandler_free(&mine);
    MPI_Session_get_errhandler(session, &got);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Session_set_errhandler(session, got);
    MPI_Errhandler_free(&got);
    CHECK(!MPI_Session_call_errhandler(session, MPI_ERR_TRUNCATE) && raised == MPI_ERR_TRUNCATE, "%d", raised);
    int n;
    raised = 0;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &n, NULL) == MPI_ERR_ARG, "n");
    CHECK(raised == MPI_ERR_ARG, "%d", raised);
    MPI_Session_finalize(&session);
}

enum { THREADS = 3, TURNS = 4 };

/* A session per thread; all create communicators of the same processes at the same time. */
static void *worker(void *number) {
    long me = (long)number;
    char tag[32];
    snprintf(tag, sizeof tag, "thread %ld", me);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Session session = begin_session("MPI_THREAD_MULTIPLE");
        MPI_Comm comm = communicator(session, "mpi://WORLD", tag);
        use(comm, (int)me + 10 * turn);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[THREADS];
    for (long t = 0; t < THREADS; t++) pthread_create(&all[t], NULL, worker, (void *)t);
    for (int t = 0; t < THREADS; t++) pthread_join(all[t], NULL);
}

int main(int argc, char **argv) {
    int flag, rank;
    for (int turn = 0; turn < 3; turn++) whole(NULL, 1 + 10 * turn);
    whole("MPI_THREAD_FUNNELED", 40);
    handlers();
    between();
    MPI_Initialized(&flag);
    CHECK(!flag, "a session is not the world");
    MPI_Session around = begin_session(NULL);
    MPI_Comm kept = communicator(around, "mpi://WORLD", "kept");
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use(MPI_COMM_WORLD, 50);
    use(kept, 51);
    whole("MPI_THREAD_SERIALIZED", 60);
    if (provided == MPI_THREAD_MULTIPLE) threads();
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag, "the world has ended");
    use(kept, 70);
    MPI_Comm_free(&kept);
    MPI_Session_finalize(&around);
    for (int turn = 0; turn < 3; turn++) whole(NULL, 80 + 10 * turn);
    if (provided == MPI_THREAD_MULTIPLE) threads();
    puts("ok");
    return 0;
}
