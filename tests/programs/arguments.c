/* Calls with one argument wrong, all others right. The calls and what is expected of each are made from the
 * table of functions by tests/jobs/arguments.rs; here is what they are made of. One rank. */
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

enum { ROOM = 64, NONE = 0, SELF = 1, OBJECT = 2, ANYONE = 3 };

/* Places that arguments point to, made anew for every call. */
static int data[ROOM], more[ROOM], zeros[ROOM], ones[ROOM], ints[ROOM], ranges[ROOM][3];
static MPI_Count count_zeros[ROOM], count_ones[ROOM], counts[ROOM];
static MPI_Aint aint_zeros[ROOM], aint_ones[ROOM], aints[ROOM];
static char text[8192];
static char *words[2] = {"arguments", NULL};
static void *pointer;
static MPI_Status statuses[ROOM];
static MPI_Datatype types[ROOM];
static MPI_Request requests[ROOM], bad_requests[ROOM], out_request;
static MPI_Comm out_comm;
static MPI_Group out_group;
static MPI_Datatype out_type;
static MPI_Op out_op;
static MPI_Info out_info;
static MPI_Errhandler out_errhandler;
static MPI_Session out_session;
static MPI_Message message, out_message;

/* Objects that are right. */
static MPI_Comm comm, cart, graph, dist;
static MPI_Group group;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Session session;
static MPI_Win win;
static MPI_Request request, parts;
static int comm_key, type_key;

/* And that are not. */
static MPI_Comm stale_comm, null_comm = MPI_COMM_NULL, foreign_comm = (MPI_Comm)MPI_INT;
static MPI_Group stale_group, null_group = MPI_GROUP_NULL, foreign_group = (MPI_Group)MPI_INT;
static MPI_Datatype stale_type, uncommitted, null_type = MPI_DATATYPE_NULL, foreign_type = (MPI_Datatype)MPI_SUM;
static MPI_Op stale_op, null_op = MPI_OP_NULL, foreign_op = (MPI_Op)MPI_INT;
static MPI_Info stale_info, null_info = MPI_INFO_NULL, foreign_info = (MPI_Info)MPI_INT;
static MPI_Errhandler stale_errhandler, null_errhandler = MPI_ERRHANDLER_NULL;
static MPI_Session stale_session, null_session = MPI_SESSION_NULL, foreign_session = (MPI_Session)MPI_INT;
static MPI_Win stale_win, null_win = MPI_WIN_NULL;
static MPI_Request stale_request, null_request = MPI_REQUEST_NULL, foreign_request = (MPI_Request)MPI_INT;
static MPI_Message stale_message, null_message = MPI_MESSAGE_NULL, foreign_message = (MPI_Message)MPI_INT;
static int freed_key = 987654, null_key = MPI_KEYVAL_INVALID, fixed_key = MPI_TAG_UB;

/* The wrong handles as they were, since a call may write there. */
static struct {
    MPI_Comm comm[3];
    MPI_Group group[3];
    MPI_Datatype type[4];
    MPI_Op op[3];
    MPI_Info info[3];
    MPI_Errhandler errhandler[2];
    MPI_Session session[3];
    MPI_Win win[2];
    MPI_Request request[3];
    MPI_Message message[3];
    int key[5];
} kept;
#define EACH_HANDLE(DO)                                                                                        \
    DO(comm[0], stale_comm) DO(comm[1], null_comm) DO(comm[2], foreign_comm)                                  \
    DO(group[0], stale_group) DO(group[1], null_group) DO(group[2], foreign_group)                            \
    DO(type[0], stale_type) DO(type[1], null_type) DO(type[2], foreign_type) DO(type[3], uncommitted)         \
    DO(op[0], stale_op) DO(op[1], null_op) DO(op[2], foreign_op)                                              \
    DO(info[0], stale_info) DO(info[1], null_info) DO(info[2], foreign_info)                                  \
    DO(errhandler[0], stale_errhandler) DO(errhandler[1], null_errhandler)                                    \
    DO(session[0], stale_session) DO(session[1], null_session) DO(session[2], foreign_session)                \
    DO(win[0], stale_win) DO(win[1], null_win)                                                                \
    DO(request[0], stale_request) DO(request[1], null_request) DO(request[2], foreign_request)                \
    DO(message[0], stale_message) DO(message[1], null_message) DO(message[2], foreign_message)                \
    DO(key[0], freed_key) DO(key[1], null_key) DO(key[2], fixed_key) DO(key[3], comm_key) DO(key[4], type_key)
#define KEEP(place, handle) kept.place = handle;
#define PUT_BACK(place, handle) handle = kept.place;

static int heard_by, heard;
static void on_comm(MPI_Comm *c, int *code, ...) {
    (void)code;
    heard_by = *c == MPI_COMM_SELF ? SELF : OBJECT;
    heard++;
}
static void on_session(MPI_Session *s, int *code, ...) {
    (void)s, (void)code;
    heard_by = OBJECT;
    heard++;
}
static void on_win(MPI_Win *w, int *code, ...) {
    (void)w, (void)code;
    heard_by = OBJECT;
    heard++;
}
static void operation(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static void operation_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *t) {
    (void)in, (void)inout, (void)n, (void)t;
}
static int query(void *state, MPI_Status *status) {
    (void)state, (void)status;
    return MPI_SUCCESS;
}
static int free_nothing(void *state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancel_nothing(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

struct call {
    const char *function, *what;
    int (*run)(void);
    int listener; /* whose error handler hears of it */
    int takes_message;
    int classes[4]; /* one of these; 0 ends them */
};

#include "arguments_calls.h"

static void objects(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    int one = 1, zero = 0;
    MPI_Cart_create(comm, 1, &one, &one, 0, &cart);
    MPI_Graph_create(comm, 1, &one, &zero, 0, &graph);
    MPI_Dist_graph_create_adjacent(comm, 1, &zero, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &dist);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Errhandler of_session, of_win;
    MPI_Session_create_errhandler(on_session, &of_session);
    MPI_Session_set_errhandler(session, of_session);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &pointer, &win);
    MPI_Win_create_errhandler(on_win, &of_win);
    MPI_Win_set_errhandler(win, of_win);
    MPI_Recv_init(data, 1, MPI_INT, 0, 3, comm, &request);
    MPI_Precv_init(more, 1, 1, MPI_INT, 0, 9, comm, MPI_INFO_NULL, &parts);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&of_session);
    MPI_Errhandler_free(&of_win);
}

/* Copies of handles of what is gone. */
static void stale(void) {
    MPI_Comm c;
    MPI_Comm_dup(comm, &c), stale_comm = c, MPI_Comm_free(&c);
    MPI_Group g;
    MPI_Comm_group(comm, &g), stale_group = g, MPI_Group_free(&g);
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t), MPI_Type_commit(&t), stale_type = t, MPI_Type_free(&t);
    MPI_Op o;
    MPI_Op_create(operation, 1, &o), stale_op = o, MPI_Op_free(&o);
    MPI_Info i;
    MPI_Info_create(&i), stale_info = i, MPI_Info_free(&i);
    MPI_Errhandler e;
    MPI_Comm_create_errhandler(on_comm, &e), stale_errhandler = e, MPI_Errhandler_free(&e);
    MPI_Session s;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), stale_session = s, MPI_Session_finalize(&s);
    MPI_Win w;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &pointer, &w), stale_win = w, MPI_Win_free(&w);
    MPI_Request r;
    MPI_Recv_init(data, 1, MPI_INT, 0, 3, comm, &r), stale_request = r, MPI_Request_free(&r);
    MPI_Message m;
    MPI_Isend(data, 1, MPI_INT, 0, 5, comm, &r);
    MPI_Mprobe(0, 5, comm, &m, MPI_STATUS_IGNORE), stale_message = m;
    MPI_Mrecv(more, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void fresh(void) {
    for (int i = 0; i < ROOM; i++) {
        data[i] = more[i] = zeros[i] = ints[i] = 0;
        ones[i] = 1;
        ranges[i][0] = ranges[i][1] = 0, ranges[i][2] = 1;
        count_zeros[i] = counts[i] = 0, count_ones[i] = 1;
        aint_zeros[i] = aints[i] = 0, aint_ones[i] = 1;
        types[i] = MPI_INT;
        requests[i] = bad_requests[i] = MPI_REQUEST_NULL;
    }
    EACH_HANDLE(PUT_BACK)
    bad_requests[0] = stale_request;
    memset(statuses, 0, sizeof statuses);
    out_request = MPI_REQUEST_NULL;
    heard = heard_by = 0;
}

static sigjmp_buf back;
static volatile int now;
static void caught(int signal) { siglongjmp(back, signal); }
static void hung(int signal) {
    (void)signal;
    fprintf(stderr, "%s, %s: does not return\n", calls[now].function, calls[now].what);
    _exit(98);
}

static int wrong(const char *what, int got) {
    fprintf(stderr, "%s, %s: %s (%d)\n", calls[now].function, calls[now].what, what, got);
    return 1;
}

/* One call; 1 if something is not as it should be. */
static int check(const struct call *call) {
    MPI_Request sent;
    fresh();
    if (call->takes_message) {
        MPI_Isend(data, 1, MPI_INT, 0, 5, comm, &sent);
        MPI_Mprobe(0, 5, comm, &message, MPI_STATUS_IGNORE);
    }
    int signal = sigsetjmp(back, 1), bad = 0;
    if (signal) return wrong("crashes", signal);
    alarm(60);
    int code = call->run();
    alarm(0);
    if (call->takes_message) {
        if (message != MPI_MESSAGE_NULL) MPI_Mrecv(more, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    int class = -1, found = 0;
    MPI_Error_class(code, &class);
    for (int i = 0; i < 4 && call->classes[i]; i++) found |= class == call->classes[i];
    if (!found) bad |= wrong("is answered with another class", class);
    if (code != MPI_SUCCESS && call->listener != NONE) {
        if (heard != 1) bad |= wrong("error handlers heard so often of it", heard);
        if (heard == 1 && call->listener != ANYONE && heard_by != call->listener)
            bad |= wrong("another error handler heard of it", heard_by);
    }
    return bad;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    objects();
    stale();
    EACH_HANDLE(KEEP)
    signal(SIGALRM, hung);
    signal(SIGSEGV, caught);
    signal(SIGBUS, caught);
    signal(SIGABRT, caught);
    int bad = 0;
    for (now = 0; now < CALLS; now++) bad += check(&calls[now]);
    printf("%d calls, %d of them wrong\n", CALLS, bad);
    if (bad) _exit(1);
    MPI_Request_free(&parts);
    MPI_Request_free(&request);
    MPI_Win_free(&win);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    puts("ok");
    return 0;
}
