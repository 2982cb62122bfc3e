/* The tool information interface: before, during and after MPI. "ours": also what only this library has. */
#include "check.h"

static int cvar(const char *name) {
    int index = -1;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS, "%s", name);
    return index;
}

/* The text that a control variable has. */
static void text_of(const char *name, char *text, int room) {
    MPI_T_cvar_handle handle;
    int count = 0;
    CHECK(MPI_T_cvar_handle_alloc(cvar(name), NULL, &handle, &count) == MPI_SUCCESS, "%s", name);
    CHECK(count <= room, "%d", count);
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS, "%s", name);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL, "%s", name);
}

/* Writes an int or unsigned variable; the answer. */
static int write_int(const char *name, int value) {
    MPI_T_cvar_handle handle;
    int count = 0, before = -1, now = -1;
    CHECK(MPI_T_cvar_handle_alloc(cvar(name), NULL, &handle, &count) == MPI_SUCCESS && count == 1, "%s", name);
    CHECK(MPI_T_cvar_read(handle, &before) == MPI_SUCCESS, "%s", name);
    int answer = MPI_T_cvar_write(handle, &value);
    CHECK(MPI_T_cvar_read(handle, &now) == MPI_SUCCESS, "%s", name);
    CHECK(now == (answer == MPI_SUCCESS ? value : before), "%s: %d, %d", name, now, answer);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS, "%s", name);
    CHECK(MPI_T_cvar_read(handle, &now) == MPI_T_ERR_INVALID_HANDLE, "freed");
    return answer;
}

/* All there is can be listed, and found by name. */
static void list(int ours) {
    char name[512], again[512];
    int num = 0, index, len, class, stamp;
    CHECK(MPI_T_cvar_get_num(&num) == MPI_SUCCESS, "cvars");
    for (int i = 0; i < num; i++) {
        len = sizeof name;
        CHECK(MPI_T_cvar_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "%d", i);
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i, "%s", name);
    }
    CHECK(MPI_T_cvar_get_info(num, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX, "%d", num);
    CHECK(MPI_T_pvar_get_num(&num) == MPI_SUCCESS, "pvars");
    for (int i = 0; i < num; i++) {
        len = sizeof name;
        CHECK(MPI_T_pvar_get_info(i, name, &len, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "%d", i);
        CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS && index == i, "%s", name);
    }
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS, "stamp");
    CHECK(MPI_T_category_get_num(&num) == MPI_SUCCESS, "categories");
    int *seen = calloc(8192, sizeof *seen);
    int all = 0;
    CHECK(MPI_T_cvar_get_num(&all) == MPI_SUCCESS && all <= 8192, "%d", all);
    for (int i = 0; i < num; i++) {
        int cvars = -1, pvars = -1, below = -1, indices[8192];
        len = sizeof name;
        CHECK(MPI_T_category_get_info(i, name, &len, NULL, NULL, &cvars, &pvars, &below) == MPI_SUCCESS, "%d", i);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i, "%s", name);
        CHECK(cvars <= 8192 && MPI_T_category_get_cvars(i, 8192, indices) == MPI_SUCCESS, "%s: %d", name, cvars);
        for (int k = 0; k < cvars; k++) seen[indices[k]]++;
        CHECK(MPI_T_category_get_categories(i, below, indices) == MPI_SUCCESS, "%s", name);
        for (int k = 0; k < below; k++) {
            len = sizeof again;
            CHECK(MPI_T_category_get_info(indices[k], again, &len, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS, "%s", name);
            CHECK(indices[k] != i, "%s is below itself", again);
        }
    }
    for (int i = 0; i < all; i++) CHECK(ours == 0 || seen[i] == 1, "cvar %d is in %d categories", i, seen[i]);
    free(seen);
}

static MPI_T_pvar_session session;

static MPI_T_pvar_handle pvar(const char *name, int class, void *object, int *count) {
    int index = -1;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS, "%s", name);
    CHECK(MPI_T_pvar_handle_alloc(session, index, object, &handle, count) == MPI_SUCCESS, "%s", name);
    return handle;
}

static unsigned long long value(MPI_T_pvar_handle handle) {
    unsigned long long n[64] = {0};
    CHECK(MPI_T_pvar_read(session, handle, n) == MPI_SUCCESS, "read");
    return n[0];
}

static void count_sends(int rank, int size) {
    int count = 0, token = 7, next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_T_pvar_handle a = pvar("runtime_spc_OMPI_SPC_SEND", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
    MPI_T_pvar_handle b = pvar("runtime_spc_OMPI_SPC_SEND", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
    MPI_T_pvar_handle bytes = pvar("runtime_spc_OMPI_SPC_BYTES_SENT_USER", MPI_T_PVAR_CLASS_AGGREGATE, NULL, &count);
    CHECK(count == 1, "%d", count);
#define ROUND                                                                             \
    do {                                                                                  \
        MPI_Request r;                                                                    \
        MPI_Irecv(&token, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &r);                     \
        MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);                             \
        MPI_Wait(&r, MPI_STATUS_IGNORE);                                                  \
    } while (0)
    ROUND;
    CHECK(value(a) == 0, "not started");
    CHECK(MPI_T_pvar_start(session, a) == MPI_SUCCESS, "start");
    ROUND;
    ROUND;
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "start all");
    ROUND;
    CHECK(value(a) == 3 && value(b) == 1 && value(bytes) == sizeof(int), "%llu %llu", value(a), value(b));
    CHECK(MPI_T_pvar_stop(session, a) == MPI_SUCCESS, "stop");
    ROUND;
    CHECK(value(a) == 3 && value(b) == 2, "%llu %llu", value(a), value(b));
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_readreset(session, b, &n) == MPI_SUCCESS && n == 2 && value(b) == 0, "%llu", n);
    CHECK(MPI_T_pvar_reset(session, a) == MPI_SUCCESS && value(a) == 0, "reset");
    n = 100;
    CHECK(MPI_T_pvar_write(session, b, &n) == MPI_SUCCESS, "write");
    ROUND;
    CHECK(value(b) == 101 && value(a) == 0, "%llu", value(b));
    CHECK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS, "stop all");
    CHECK(MPI_T_pvar_handle_free(session, &a) == MPI_SUCCESS && a == MPI_T_PVAR_HANDLE_NULL, "free");
    CHECK(MPI_T_pvar_read(session, a, &n) == MPI_T_ERR_INVALID_HANDLE, "freed");
    CHECK(MPI_T_pvar_handle_free(session, &b) == MPI_SUCCESS, "free");
    CHECK(MPI_T_pvar_handle_free(session, &bytes) == MPI_SUCCESS, "free");
}

static void watch_the_queue(int rank, int size) {
    int count = 0, word = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_T_pvar_handle now = pvar("pml_ob1_unexpected_msgq_length", MPI_T_PVAR_CLASS_LEVEL, &comm, &count);
    MPI_T_pvar_handle most = pvar("pml_ob1_unexpected_msgq_max", MPI_T_PVAR_CLASS_HIGHWATERMARK, &comm, &count);
    MPI_T_pvar_handle ever = pvar("pml_ob1_unexpected_msgs", MPI_T_PVAR_CLASS_COUNTER, &comm, &count);
    CHECK(value(now) == 0 && value(most) == 0, "%llu", value(now));
    /* Nothing is sent before everyone has looked. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && size > 1) {
        for (int i = 0; i < 9; i++) MPI_Send(&i, 1, MPI_INT, 1, i, comm);
    } else if (rank == 1) {
        MPI_Probe(0, 8, comm, MPI_STATUS_IGNORE);
        CHECK(value(now) == 9 && value(most) == 9 && value(ever) == 9, "%llu %llu", value(now), value(most));
        for (int i = 0; i < 9; i++) MPI_Recv(&word, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
        CHECK(value(now) == 0 && value(most) == 9, "%llu %llu", value(now), value(most));
        CHECK(MPI_T_pvar_reset(session, most) == MPI_T_ERR_PVAR_NO_WRITE, "a mark of all");
        CHECK(MPI_T_pvar_start(session, ever) == MPI_T_ERR_PVAR_NO_STARTSTOP, "continuous");
        CHECK(MPI_T_pvar_reset(session, ever) == MPI_SUCCESS && value(ever) == 0, "reset");
    }
    /* Receives that wait. */
    MPI_T_pvar_handle posted = pvar("pml_ob1_posted_recvq_length", MPI_T_PVAR_CLASS_LEVEL, &comm, &count);
    MPI_Request wait[5];
    int words[5];
    for (int i = 0; i < 5; i++) MPI_Irecv(&words[i], 1, MPI_INT, rank, 20 + i, comm, &wait[i]);
    CHECK(value(posted) == 5, "%llu", value(posted));
    for (int i = 4; i > 1; i--) MPI_Send(&i, 1, MPI_INT, rank, 20 + i, comm);
    MPI_Waitall(3, wait + 2, MPI_STATUSES_IGNORE);
    CHECK(value(posted) == 2 && words[3] == 3, "%llu", value(posted));
    for (int i = 0; i < 2; i++) MPI_Cancel(&wait[i]);
    MPI_Waitall(2, wait, MPI_STATUSES_IGNORE);
    CHECK(value(posted) == 0, "%llu", value(posted));
    MPI_Comm_free(&comm);
    CHECK(MPI_T_pvar_handle_free(session, &now) == MPI_SUCCESS, "free");
    /* The others go with the session. */
}

/* Matching is timed while a handle is started, and then only. */
static void time_matching(int rank) {
    enum { MESSAGES = 3000 };
    int count = 0, word = 0;
    MPI_Request r[8];
    MPI_T_pvar_handle time = pvar("runtime_spc_OMPI_SPC_MATCH_TIME", MPI_T_PVAR_CLASS_TIMER, NULL, &count);
    for (int on = 0; on < 3; on++) {
        unsigned long long before = value(time);
        if (on == 1) CHECK(MPI_T_pvar_start(session, time) == MPI_SUCCESS, "start");
        for (int i = 0; i < MESSAGES; i++) {
            /* Found behind seven others, or kept. */
            for (int k = 0; k < 8; k++) MPI_Irecv(&word, 1, MPI_INT, rank, i % 2 ? k : 9 + k, MPI_COMM_WORLD, &r[k]);
            for (int k = 7; k >= 0; k--) MPI_Send(&k, 1, MPI_INT, rank, i % 2 ? k : 9 + k, MPI_COMM_WORLD);
            MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
        }
        unsigned long long took = value(time) - before;
        CHECK(on == 1 ? took > 0 && took < 1000000000 : took == 0, "%d: %llu us", on, took);
        if (on == 1) CHECK(MPI_T_pvar_stop(session, time) == MPI_SUCCESS, "stop");
    }
    CHECK(MPI_T_pvar_handle_free(session, &time) == MPI_SUCCESS, "free");
}

static int created, freed, written, errors, gone, size_seen;

static void on_created(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data) {
    int facts[3], one = -1, source = -1;
    MPI_Count ticks = -1, now = -1;
    (void)registration, (void)safety;
    CHECK(MPI_T_event_copy(event, facts) == MPI_SUCCESS, "copy");
    CHECK(MPI_T_event_read(event, 1, &one) == MPI_SUCCESS && one == facts[1], "%d", one);
    CHECK(MPI_T_event_read(event, 3, &one) != MPI_SUCCESS, "no fourth element");
    CHECK(MPI_T_event_get_source(event, &source) == MPI_SUCCESS && source == 0, "%d", source);
    CHECK(MPI_T_event_get_timestamp(event, &ticks) == MPI_SUCCESS && ticks >= 0, "ticks");
    CHECK(MPI_T_source_get_timestamp(source, &now) == MPI_SUCCESS && now >= ticks, "time");
    size_seen = facts[1];
    ++*(int *)data;
}
static void on_any(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data) {
    int one = -1;
    (void)registration, (void)safety;
    CHECK(MPI_T_event_read(event, 0, &one) == MPI_SUCCESS && one >= 0, "%d", one);
    ++*(int *)data;
}
static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data) {
    (void)registration, (void)safety;
    ++*(int *)data;
}

static MPI_T_event_registration listen_to(const char *name, MPI_T_event_cb_function *f, int *data) {
    int index = -1;
    MPI_T_event_registration r;
    CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS, "%s", name);
    CHECK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r) == MPI_SUCCESS, "%s", name);
    CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, data, f) == MPI_SUCCESS, "%s", name);
    return r;
}

static void events(int size) {
    MPI_Comm dup;
    MPI_T_event_registration c = listen_to("mpi_comm_created", on_created, &created);
    MPI_T_event_registration f = listen_to("mpi_comm_freed", on_any, &freed);
    MPI_T_event_registration w = listen_to("mpi_t_cvar_written", on_any, &written);
    MPI_T_event_registration e = listen_to("mpi_error_raised", on_any, &errors);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    CHECK(created == 1 && freed == 0 && size_seen == size, "%d %d %d", created, freed, size_seen);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(NULL, 0, MPI_INT, size, 0, dup) != MPI_SUCCESS && errors == 1, "%d", errors);
    MPI_Comm_free(&dup);
    CHECK(created == 1 && freed == 1, "%d %d", created, freed);
    CHECK(write_int("mpi_spin_count", 5000) == MPI_SUCCESS && written == 1, "%d", written);
    CHECK(MPI_T_event_handle_free(c, &gone, on_free) == MPI_SUCCESS && gone == 1, "%d", gone);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    CHECK(created == 1 && freed == 2, "%d %d", created, freed);
    CHECK(MPI_T_event_handle_free(c, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE, "freed");
    CHECK(MPI_T_event_handle_free(f, NULL, NULL) == MPI_SUCCESS, "free");
    CHECK(MPI_T_event_handle_free(w, NULL, NULL) == MPI_SUCCESS, "free");
    CHECK(MPI_T_event_handle_free(e, NULL, NULL) == MPI_SUCCESS, "free");
}

int main(int argc, char **argv) {
    int ours = argc > 1 && strcmp(argv[1], "ours") == 0, provided = -1, num = -1, rank, size;
    char text[4096];
    CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_INITIALIZED, "before");
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED, "before");
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "init");
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "init again");
    CHECK(MPI_T_finalize() == MPI_SUCCESS, "counted");
    list(ours);
    if (ours) {
        /* Read when MPI starts, so written before. */
        CHECK(write_int("runtime_num_cris", 3) == MPI_SUCCESS, "before a start");
        CHECK(write_int("runtime_num_cris", 100000) == MPI_T_ERR_INVALID, "out of range");
        CHECK(write_int("mpi_spin_count", 4321) == MPI_SUCCESS, "before a start");
        CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS, "session");
        int count = 0;
        MPI_T_pvar_handle early = pvar("runtime_spc_OMPI_SPC_BARRIER", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
        CHECK(MPI_T_pvar_start(session, early) == MPI_SUCCESS && value(early) == 0, "before a start");
        MPI_Init(&argc, &argv);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(value(early) == 1, "%llu", value(early));
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    list(ours);
    if (ours) {
        int count = 0;
        CHECK(write_int("runtime_num_cris", 2) == MPI_T_ERR_CVAR_SET_NOT_NOW, "running");
        CHECK(write_int("mpi_spin_count", 1234) == MPI_SUCCESS, "running");
        text_of("btl", text, sizeof text);
        MPI_T_pvar_handle misses = pvar("runtime_cri_lock_misses", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
        CHECK(count == 3, "what was written before the start counts: %d", count);
        CHECK(value(misses) == 0, "%llu", value(misses));
        static const char *const of_cris[] = {"progress_calls", "completions", "shared_writes"};
        for (int i = 0; i < 3; i++) {
            char name[64];
            snprintf(name, sizeof name, "runtime_cri_%s", of_cris[i]);
            MPI_T_pvar_handle one = pvar(name, MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
            CHECK(count == 3 && value(one) == 0, "%s is counted with several threads only: %d", name, count);
        }
        MPI_T_pvar_handle late = pvar("runtime_spc_OMPI_SPC_OUT_OF_SEQUENCE", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
        CHECK(count == 1 && value(late) == 0, "one thread's messages are in sequence: %llu", value(late));
        count_sends(rank, size);
        watch_the_queue(rank, size);
        time_matching(rank);
        events(size);
        int level = -1;
        MPI_T_pvar_handle state = pvar("runtime_thread_level", MPI_T_PVAR_CLASS_STATE, NULL, &count);
        CHECK(MPI_T_pvar_read(session, state, &level) == MPI_SUCCESS && level >= 0 && level <= 3, "%d", level);
        CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL, "session");
        CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION, "freed");
    }
    CHECK(MPI_T_cvar_get_index("no such variable", &num) == MPI_T_ERR_INVALID_NAME, "unknown");
    MPI_Finalize();
    list(ours);
    if (ours) {
        CHECK(write_int("mpi_spin_count", 99) == MPI_SUCCESS, "after");
        CHECK(write_int("runtime_num_cris", 2) == MPI_T_ERR_CVAR_SET_NOT_NOW, "after");
    }
    CHECK(MPI_T_finalize() == MPI_SUCCESS, "finalize");
    CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_INITIALIZED, "after");
    puts("ok");
    return 0;
}
