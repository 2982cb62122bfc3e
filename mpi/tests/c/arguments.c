/* Point-to-point: each wrong argument of each function has its class. */
#include "check.h"

static int x, y, flag, n;
static MPI_Count big;
static MPI_Request r = MPI_REQUEST_NULL, none = MPI_REQUEST_NULL;
static MPI_Status s;

/* The arguments that all sending functions share, `rest` behind them. */
#define SENDER(f, ...)                                                                   \
    FAILS(MPI_ERR_COUNT, f(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF __VA_ARGS__));           \
    FAILS(MPI_ERR_TYPE, f(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF __VA_ARGS__));   \
    FAILS(MPI_ERR_RANK, f(&x, 1, MPI_INT, 1, 0, MPI_COMM_SELF __VA_ARGS__));             \
    FAILS(MPI_ERR_RANK, f(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF __VA_ARGS__)); \
    FAILS(MPI_ERR_TAG, f(&x, 1, MPI_INT, 0, -7, MPI_COMM_SELF __VA_ARGS__));             \
    FAILS(MPI_ERR_TAG, f(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF __VA_ARGS__));    \
    FAILS(MPI_ERR_COMM, f(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL __VA_ARGS__));             \
    FAILS(MPI_ERR_BUFFER, f(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF __VA_ARGS__));
#define RECEIVER(f, ...)                                                                 \
    FAILS(MPI_ERR_COUNT, f(&x, -1, MPI_INT, 0, 0, MPI_COMM_SELF __VA_ARGS__));           \
    FAILS(MPI_ERR_TYPE, f(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF __VA_ARGS__));   \
    FAILS(MPI_ERR_RANK, f(&x, 1, MPI_INT, 1, 0, MPI_COMM_SELF __VA_ARGS__));             \
    FAILS(MPI_ERR_TAG, f(&x, 1, MPI_INT, 0, -7, MPI_COMM_SELF __VA_ARGS__));             \
    FAILS(MPI_ERR_COMM, f(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL __VA_ARGS__));             \
    FAILS(MPI_ERR_BUFFER, f(NULL, 1, MPI_INT, 0, 0, MPI_COMM_SELF __VA_ARGS__));
#define COMMA ,
#define NOTHING
#define REQUEST COMMA &r

static void messages(void) {
    SENDER(MPI_Send, NOTHING)
    SENDER(MPI_Bsend, NOTHING)
    SENDER(MPI_Ssend, NOTHING)
    SENDER(MPI_Rsend, NOTHING)
    SENDER(MPI_Send_c, NOTHING)
    SENDER(MPI_Bsend_c, NOTHING)
    SENDER(MPI_Isend, REQUEST)
    SENDER(MPI_Ibsend, REQUEST)
    SENDER(MPI_Issend, REQUEST)
    SENDER(MPI_Irsend, REQUEST)
    SENDER(MPI_Send_init, REQUEST)
    SENDER(MPI_Bsend_init, REQUEST)
    SENDER(MPI_Ssend_init, REQUEST)
    SENDER(MPI_Rsend_init, REQUEST)
    RECEIVER(MPI_Recv, COMMA &s)
    RECEIVER(MPI_Recv_c, COMMA &s)
    RECEIVER(MPI_Irecv, REQUEST)
    RECEIVER(MPI_Recv_init, REQUEST)
    FAILS(MPI_ERR_ARG, MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Ibsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Send_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL));
    CHECK(r == MPI_REQUEST_NULL);
}

static void both(void) {
#define PAIR(class, count, type, dest, sendtag, source, recvtag, comm)                                        \
    FAILS(class, MPI_Sendrecv(&x, count, type, dest, sendtag, &y, 1, MPI_INT, source, recvtag, comm, &s));     \
    FAILS(class, MPI_Sendrecv_replace(&x, count, type, dest, sendtag, source, recvtag, comm, &s));             \
    FAILS(class, MPI_Isendrecv(&x, count, type, dest, sendtag, &y, 1, MPI_INT, source, recvtag, comm, &r));    \
    FAILS(class, MPI_Isendrecv_replace_c(&x, count, type, dest, sendtag, source, recvtag, comm, &r));
    PAIR(MPI_ERR_COUNT, -1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF)
    PAIR(MPI_ERR_TYPE, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, MPI_COMM_SELF)
    PAIR(MPI_ERR_RANK, 1, MPI_INT, 1, 0, 0, 0, MPI_COMM_SELF)
    PAIR(MPI_ERR_RANK, 1, MPI_INT, 0, 0, 1, 0, MPI_COMM_SELF)
    PAIR(MPI_ERR_TAG, 1, MPI_INT, 0, -5, 0, 0, MPI_COMM_SELF)
    PAIR(MPI_ERR_TAG, 1, MPI_INT, 0, 0, 0, -5, MPI_COMM_SELF)
    PAIR(MPI_ERR_COMM, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_NULL)
    FAILS(MPI_ERR_ARG, MPI_Isendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_BUFFER, MPI_Isendrecv(NULL, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
}

static void partitioned(void) {
#define PARTS(class, parts, count, type, peer, tag, comm, info)                                  \
    FAILS(class, MPI_Psend_init(&x, parts, count, type, peer, tag, comm, info, &r));              \
    FAILS(class, MPI_Precv_init(&x, parts, count, type, peer, tag, comm, info, &r));
    PARTS(MPI_ERR_ARG, -1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL)
    PARTS(MPI_ERR_COUNT, 1, -1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL)
    PARTS(MPI_ERR_TYPE, 1, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL)
    PARTS(MPI_ERR_RANK, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_INFO_NULL)
    PARTS(MPI_ERR_TAG, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL)
    PARTS(MPI_ERR_COMM, 1, 1, MPI_INT, 0, 0, MPI_COMM_NULL, MPI_INFO_NULL)
    MPI_Request send, recv;
    int list[2] = {1, 2};
    CHECK(MPI_Psend_init(&x, 2, 0, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &send) == MPI_SUCCESS);
    CHECK(MPI_Precv_init(&x, 2, 0, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &recv) == MPI_SUCCESS);
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send)); /* not started */
    MPI_Start(&send);
    MPI_Start(&recv);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&send));
    FAILS(MPI_ERR_ARG, MPI_Pready(2, send));
    FAILS(MPI_ERR_ARG, MPI_Pready(-1, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_range(1, 0, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(-1, list, send));
    FAILS(MPI_ERR_ARG, MPI_Pready_list(1, NULL, send));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, recv));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, MPI_REQUEST_NULL));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
    FAILS(MPI_ERR_ARG, MPI_Parrived(recv, 2, &flag));
    FAILS(MPI_ERR_ARG, MPI_Parrived(recv, 0, NULL));
    CHECK(MPI_Pready(0, send) == MPI_SUCCESS);
    FAILS(MPI_ERR_ARG, MPI_Pready(0, send)); /* twice */
    FAILS(MPI_ERR_ARG, MPI_Pready_list(2, list, send));
    MPI_Wait(&send, &s);
    MPI_Wait(&recv, &s);
    MPI_Request_free(&send);
    MPI_Request_free(&recv);
}

static void buffers(void) {
    char space[4096];
    void *back;
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF)); /* none is attached */
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_detach(&back, &n));
    FAILS(MPI_ERR_ARG, MPI_Buffer_attach(space, -1));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(NULL, 100));
    CHECK(MPI_Buffer_attach(space, sizeof space) == MPI_SUCCESS);
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(space, sizeof space));
    FAILS(MPI_ERR_ARG, MPI_Buffer_detach(NULL, &n));
    FAILS(MPI_ERR_ARG, MPI_Buffer_detach(&back, NULL));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(space, sizeof space + 1, MPI_CHAR, 0, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_ARG, MPI_Buffer_iflush(NULL));
    CHECK(MPI_Buffer_detach_c(&back, &big) == MPI_SUCCESS && back == space && big == sizeof space);
    FAILS(MPI_ERR_COMM, MPI_Comm_attach_buffer(MPI_COMM_NULL, space, 100));
    FAILS(MPI_ERR_COMM, MPI_Comm_detach_buffer(MPI_COMM_NULL, &back, &n));
    FAILS(MPI_ERR_COMM, MPI_Comm_flush_buffer(MPI_COMM_NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_iflush_buffer(MPI_COMM_NULL, &r));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_detach_buffer(MPI_COMM_SELF, &back, &n));
    /* A persistent buffered send meets its full buffer when it is started. */
    CHECK(MPI_Bsend_init(space, 64, MPI_CHAR, 0, 0, MPI_COMM_SELF, &r) == MPI_SUCCESS);
    FAILS(MPI_ERR_BUFFER, MPI_Start(&r));
    MPI_Request_free(&r);
}

/* A session's buffer serves its communicators, and those alone. */
static void session(void) {
    char space[4096];
    void *back;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    FAILS(MPI_ERR_SESSION, MPI_Session_attach_buffer(MPI_SESSION_NULL, space, sizeof space));
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "buffered", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    FAILS(MPI_ERR_BUFFER, MPI_Session_detach_buffer(session, &back, &n));
    CHECK(MPI_Session_attach_buffer(session, space, sizeof space) == MPI_SUCCESS);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    x = 11;
    CHECK(MPI_Bsend(&x, 1, MPI_INT, 0, 0, comm) == MPI_SUCCESS);
    CHECK(MPI_Session_iflush_buffer(session, &r) == MPI_SUCCESS);
    MPI_Recv(&y, 1, MPI_INT, 0, 0, comm, &s);
    CHECK(y == 11 && MPI_Wait(&r, &s) == MPI_SUCCESS);
    CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
    CHECK(MPI_Session_detach_buffer_c(session, &back, &big) == MPI_SUCCESS && back == space && big == sizeof space);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void requests(void) {
    int indices[2];
    MPI_Status two[2];
    MPI_Request rs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message = MPI_MESSAGE_NULL;
    FAILS(MPI_ERR_COUNT, MPI_Waitall(-1, rs, two));
    FAILS(MPI_ERR_COUNT, MPI_Testall(-1, rs, &flag, two));
    FAILS(MPI_ERR_COUNT, MPI_Waitany(-1, rs, &n, two));
    FAILS(MPI_ERR_COUNT, MPI_Testany(-1, rs, &n, &flag, two));
    FAILS(MPI_ERR_COUNT, MPI_Waitsome(-1, rs, &n, indices, two));
    FAILS(MPI_ERR_COUNT, MPI_Testsome(-1, rs, &n, indices, two));
    FAILS(MPI_ERR_COUNT, MPI_Startall(-1, rs));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_all(-1, rs, &flag, two));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_any(-1, rs, &n, &flag, two));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_some(-1, rs, &n, indices, two));
    FAILS(MPI_ERR_ARG, MPI_Waitall(1, NULL, two));
    FAILS(MPI_ERR_ARG, MPI_Testall(1, rs, NULL, two));
    FAILS(MPI_ERR_ARG, MPI_Wait(NULL, &s));
    FAILS(MPI_ERR_ARG, MPI_Test(&none, NULL, &s));
    FAILS(MPI_ERR_ARG, MPI_Test(NULL, &flag, &s));
    FAILS(MPI_ERR_ARG, MPI_Start(NULL));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&none));
    FAILS(MPI_ERR_REQUEST, MPI_Startall(2, rs));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&none));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&none));
    FAILS(MPI_ERR_ARG, MPI_Cancel(NULL));
    FAILS(MPI_ERR_ARG, MPI_Request_free(NULL));
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r)); /* not persistent */
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    FAILS(MPI_ERR_RANK, MPI_Probe(1, 0, MPI_COMM_SELF, &s));
    FAILS(MPI_ERR_TAG, MPI_Iprobe(0, -5, MPI_COMM_SELF, &flag, &s));
    FAILS(MPI_ERR_COMM, MPI_Mprobe(0, 0, MPI_COMM_NULL, &message, &s));
    FAILS(MPI_ERR_ARG, MPI_Improbe(0, 0, MPI_COMM_SELF, &flag, NULL, &s));
    FAILS(MPI_ERR_REQUEST, MPI_Mrecv(&x, 1, MPI_INT, &message, &s));
    message = MPI_MESSAGE_NO_PROC;
    FAILS(MPI_ERR_COUNT, MPI_Imrecv(&x, -1, MPI_INT, &message, &r));
}

static void statuses(void) {
    FAILS(MPI_ERR_ARG, MPI_Get_count(NULL, MPI_INT, &n));
    FAILS(MPI_ERR_TYPE, MPI_Get_count(&s, MPI_DATATYPE_NULL, &n));
    FAILS(MPI_ERR_ARG, MPI_Get_count(&s, MPI_INT, NULL));
    FAILS(MPI_ERR_TYPE, MPI_Get_elements(&s, MPI_DATATYPE_NULL, &n));
    FAILS(MPI_ERR_ARG, MPI_Status_set_cancelled(NULL, 1));
    FAILS(MPI_ERR_ARG, MPI_Test_cancelled(&s, NULL));
    FAILS(MPI_ERR_ARG, MPI_Status_set_source(NULL, 1));
    FAILS(MPI_ERR_COUNT, MPI_Status_set_elements(&s, MPI_INT, -1));
    FAILS(MPI_ERR_TYPE, MPI_Status_set_elements(&s, MPI_DATATYPE_NULL, 1));
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    messages();
    both();
    partitioned();
    buffers();
    session();
    requests();
    statuses();
    CHECK(MPI_Pcontrol(0) == MPI_SUCCESS && MPI_Pcontrol(2, 1, 2) == MPI_SUCCESS);
    return finish();
}
