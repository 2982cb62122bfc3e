/* Where threads, sessions and processes begin and end. One situation for each job, named by the argument. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void begin_threads(int *argc, char ***argv) {
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE, "%d", provided);
}

/* --- a communicator is disconnected while a receive on it waits for what a second thread brings about */

static void *says_go(void *unused) {
    (void)unused;
    usleep(20000);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    return NULL;
}

static void disconnect(int *argc, char ***argv) {
    begin_threads(argc, argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        int got = 0;
        pthread_t second;
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, 1, 2, comm, &request);
        pthread_create(&second, NULL, says_go, NULL);
        MPI_Comm_disconnect(&comm);
        CHECK(comm == MPI_COMM_NULL && got == 77, "%d", got);
        pthread_join(second, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        int word = 77;
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 2, comm);
        MPI_Comm_disconnect(&comm);
    } else {
        MPI_Comm_disconnect(&comm);
    }
    MPI_Finalize();
}

/* --- threads whose last calls come from the destructor of what a thread has for itself */

static pthread_key_t key;

static void to_itself(int tag) {
    int out = tag, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == tag, "%d, not %d", in, tag);
}

static void last_words(void *tag) { to_itself((int)(long)tag); }

static void *has_last_words(void *tag) {
    pthread_setspecific(key, tag);
    /* Some have called before, some have not. */
    if ((long)tag % 2) to_itself((int)(long)tag);
    return NULL;
}

static void last_calls(int *argc, char ***argv) {
    begin_threads(argc, argv);
    pthread_key_create(&key, last_words);
    for (int turn = 0; turn < 20; turn++) {
        pthread_t all[4];
        for (long t = 0; t < 4; t++) pthread_create(&all[t], NULL, has_last_words, (void *)(4l * turn + t + 1));
        to_itself(1000 + turn);
        for (int t = 0; t < 4; t++) pthread_join(all[t], NULL);
    }
    MPI_Finalize();
}

/* --- the process's only sessions, of threads that come and go: MPI closes and opens again and again */

static MPI_Session session_of(const char *level) {
    MPI_Session session;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", level);
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    return session;
}

static void *opens_and_closes(void *number) {
    static const char *const levels[] = {"MPI_THREAD_MULTIPLE", "MPI_THREAD_SERIALIZED", "MPI_THREAD_SINGLE"};
    long me = (long)number;
    for (int turn = 0; turn < 25; turn++) {
        MPI_Session session = session_of(levels[(me + turn) % 3]);
        MPI_Group group;
        MPI_Comm comm;
        char tag[32];
        snprintf(tag, sizeof tag, "%ld", me);
        MPI_Group_from_session_pset(session, "mpi://SELF", &group);
        MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        for (int i = 0; i < 20; i++) {
            int out = (int)me * 1000 + i, in = -1;
            MPI_Sendrecv(&out, 1, MPI_INT, 0, i, &in, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
            if (in != out) {
                fprintf(stderr, "%d came, not %d\n", in, out);
                _exit(99);
            }
        }
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return NULL;
}

static void sessions(void) {
    for (int turn = 0; turn < 4; turn++) {
        pthread_t all[4];
        for (long t = 0; t < 4; t++) pthread_create(&all[t], NULL, opens_and_closes, (void *)(t + 1));
        for (int t = 0; t < 4; t++) pthread_join(all[t], NULL);
    }
}

/* --- a tool's thread reads all there is while the program, which has one thread, goes on */

static atomic_int over;

static void *tool(void *unused) {
    enum { MOST = 400 };
    static MPI_T_pvar_handle handles[MOST];
    MPI_T_pvar_session session;
    int all, bound = 0;
    (void)unused;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&all);
    for (int i = 0; i < all && bound < MOST; i++) {
        char name[256], text[1024];
        int names = sizeof name, texts = sizeof text, verbosity, class, bind, fixed, continuous, atomic, count;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_pvar_get_info(i, name, &names, &verbosity, &class, &type, &values, text, &texts, &bind, &fixed,
                                &continuous, &atomic) ||
            bind != MPI_T_BIND_NO_OBJECT)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handles[bound], &count)) continue;
        CHECK(count <= 64, "%s has %d elements", name, count);
        bound++;
    }
    CHECK(bound > 0 || all == 0, "none of %d variables can be read", all);
    while (!atomic_load(&over))
        for (int i = 0; i < bound; i++) {
            long long value[128];
            MPI_T_pvar_read(session, handles[i], value);
        }
    MPI_T_pvar_session_free(&session);
    return NULL;
}

static void tool_thread(int *argc, char ***argv) {
    int provided;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) return;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    pthread_t thread;
    pthread_create(&thread, NULL, tool, NULL);
    for (int turn = 0; turn < 300; turn++) {
        int out = turn, in = -1, left = (rank + size - 1) % size;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, turn, &in, 1, MPI_INT, left, turn, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(in == turn, "%d, not %d", in, turn);
        MPI_Comm twin;
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        MPI_Barrier(twin);
        MPI_Comm_free(&twin);
    }
    atomic_store(&over, 1);
    pthread_join(thread, NULL);
    MPI_Finalize();
    MPI_T_finalize();
}

/* --- children that end in every way while their parent goes on */

static void children(int *argc, char ***argv) {
    begin_threads(argc, argv);
    for (int turn = 0; turn < 6; turn++) {
        to_itself(turn);
        pid_t child = fork();
        CHECK(child >= 0, "fork");
        if (child == 0) {
            int flag;
            MPI_Initialized(&flag);
            if (turn % 3 == 0) exit(flag ? 7 : 8);
            if (turn % 3 == 1) _exit(flag ? 7 : 8);
            execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
            _exit(9);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7, "%x", status);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}

/* --- MPI_Finalize where the process ends */

static void finalize(void) {
    int flag;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    if (flag) puts("ok");
    fflush(stdout);
}

static void at_exit(int *argc, char ***argv, int before) {
    if (before) atexit(finalize);
    begin_threads(argc, argv);
    if (!before) atexit(finalize);
    exit(0);
}

/* --- attributes of MPI_COMM_SELF whose deletion uses MPI */

static int deleted[3], order;
static int on_delete(MPI_Comm comm, int keyval, void *value, void *state) {
    (void)keyval, (void)state;
    int flag, *mine = value, word = 5, got = 0;
    MPI_Finalized(&flag);
    CHECK(comm == MPI_COMM_SELF && !flag, "MPI goes on");
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
    CHECK(got == 5, "%d", got);
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
    *mine = ++order;
    return MPI_SUCCESS;
}

static void attributes(int *argc, char ***argv) {
    begin_threads(argc, argv);
    for (int i = 0; i < 3; i++) {
        int keyval;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &deleted[i]);
        MPI_Comm_free_keyval(&keyval);
    }
    MPI_Finalize();
    if (deleted[0] != 3 || deleted[1] != 2 || deleted[2] != 1) exit(98);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "disconnect") == 0) disconnect(&argc, &argv);
    else if (strcmp(what, "last-calls") == 0) last_calls(&argc, &argv);
    else if (strcmp(what, "sessions") == 0) sessions();
    else if (strcmp(what, "tool") == 0) tool_thread(&argc, &argv);
    else if (strcmp(what, "children") == 0) children(&argc, &argv);
    else if (strcmp(what, "at-exit-before") == 0) at_exit(&argc, &argv, 1);
    else if (strcmp(what, "at-exit-behind") == 0) at_exit(&argc, &argv, 0);
    else if (strcmp(what, "attributes") == 0) attributes(&argc, &argv);
    else return 97;
    puts("ok");
    return 0;
}
