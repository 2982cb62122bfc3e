/* Every wrong argument has its class, and no handle, however wild, crashes. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;
static void handler(MPI_Comm *comm, int *code, ...) {
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void wild_handles(void) {
    static const unsigned long wild[] = {1, 0x20, 0x103, 0xfff, 0x1000, 0x4000000, 0x4000001, 0x8000000,
                                         0x3fffffff, 0x40000001, 0x40000100, 0x40000200, 0x40001000, 0x7fffffff, 0x80000000ul,
                                         0x4000000000000000ul, ~0ul, ~0ul << 3};
    int x = 0, flag;
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        MPI_Comm comm = (MPI_Comm)wild[i];
        MPI_Request request = (MPI_Request)wild[i];
        MPI_Datatype type = (MPI_Datatype)wild[i];
        MPI_Group group = (MPI_Group)wild[i];
        MPI_Info info = (MPI_Info)wild[i];
        MPI_Op op = (MPI_Op)wild[i];
        MPI_Message message = (MPI_Message)wild[i];
        MPI_Errhandler errhandler = (MPI_Errhandler)wild[i];
        FAILS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, comm));
        FAILS(MPI_ERR_COMM, MPI_Comm_size(comm, &x));
        FAILS(MPI_ERR_COMM, MPI_Comm_free(&comm));
        FAILS(MPI_ERR_TYPE, MPI_Send(&x, 1, type, 0, 0, MPI_COMM_SELF));
        FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
        FAILS(MPI_ERR_REQUEST, MPI_Wait(&request, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_REQUEST, MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
        FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
        FAILS(MPI_ERR_GROUP, MPI_Group_size(group, &x));
        FAILS(MPI_ERR_INFO, MPI_Info_get_nkeys(info, &x));
        if (wild[i] < 0x20 || wild[i] > 0x3f) FAILS(MPI_ERR_OP, MPI_Op_commutative(op, &x));
        FAILS(MPI_ERR_REQUEST, MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&errhandler));
    }
}

static void stale_handles(void) {
    int x = 0;
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    copy = comm;
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    FAILS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, copy));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&copy));
    MPI_Datatype type, old;
    MPI_Type_contiguous(2, MPI_INT, &type);
    FAILS(MPI_ERR_TYPE, MPI_Send(&x, 1, type, 0, 0, MPI_COMM_SELF)); /* not committed */
    old = type;
    MPI_Type_free(&type);
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&old));
    MPI_Request request, again;
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    again = request;
    MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    FAILS(MPI_ERR_REQUEST, MPI_Wait(&again, MPI_STATUS_IGNORE));
}

static void arguments(void) {
    int x = 0, y;
    MPI_Request request;
    FAILS(MPI_ERR_COMM, MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_COUNT, MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TYPE, MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Send(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Recv(&x, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_RANK, MPI_Irecv(&x, 1, MPI_INT, 9, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&x, 1, MPI_INT, 3, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&x, &y, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){0}));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&(MPI_Datatype){MPI_INT}));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
    FAILS(MPI_ERR_ARG, MPI_Comm_size(MPI_COMM_WORLD, NULL));
    FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &(MPI_File){0}));
    FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, "f", MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &(MPI_File){0}));
    FAILS(MPI_ERR_ARG, MPI_Comm_join(0, &(MPI_Comm){0}));
    FAILS(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
    /* Calls that look wrong and are right. */
    MPI_Status status;
    CHECK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &y);
    CHECK(y == 0);
}

static void truncation(void) {
    int two[2] = {1, 2}, one = 0;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Irecv(two, 2, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[1]);
    MPI_Send(two, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Send(two, 2, MPI_INT, 0, 2, MPI_COMM_SELF);
    MPI_Status statuses[2];
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
    CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(one == 1);
    /* The other functions on several requests: those on all or some say where, those on any return the error itself. */
    for (int way = 0; way < 5; way++) {
        int flag, index, count, indices[2], code = 0;
        MPI_Irecv(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
        requests[1] = MPI_REQUEST_NULL;
        MPI_Send(two, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
        switch (way) {
        case 0: do code = MPI_Testall(2, requests, &flag, statuses); while (code == MPI_SUCCESS && !flag); break;
        case 1: code = MPI_Waitsome(2, requests, &count, indices, statuses); CHECK(count == 1 && indices[0] == 0); break;
        case 2: do code = MPI_Testsome(2, requests, &count, indices, statuses); while (code == MPI_SUCCESS && !count); break;
        case 3: code = MPI_Waitany(2, requests, &index, statuses); CHECK(index == 0); break;
        default: do code = MPI_Testany(2, requests, &index, &flag, statuses); while (code == MPI_SUCCESS && !flag);
        }
        FAILS(way < 3 ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE, code);
        if (way < 3) CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE);
        CHECK(requests[0] == MPI_REQUEST_NULL);
    }
    MPI_Irecv(&one, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[0]);
    MPI_Send(two, 2, MPI_INT, 0, 3, MPI_COMM_SELF);
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&requests[0], &status));
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void handlers(void) {
    MPI_Errhandler mine, got;
    MPI_Comm comm, child;
    int x = 0;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
    FAILS(MPI_ERR_TAG, MPI_Send(&x, 1, MPI_INT, 0, -9, comm));
    CHECK(calls == 1 && last_comm == comm && last_code == MPI_ERR_TAG);
    MPI_Comm_dup(comm, &child); /* inherits */
    CHECK(MPI_Comm_call_errhandler(child, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(calls == 2 && last_comm == child && last_code == MPI_ERR_IO);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
}

static void codes(void) {
    int class_, code, out, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class_);
    MPI_Add_error_code(class_, &code);
    MPI_Add_error_string(code, "a text");
    MPI_Error_class(code, &out);
    CHECK(out == class_);
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "a text") == 0 && length == 6);
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    CHECK((int)strlen(text) == length && length > 0);
    int *last, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last == code);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    wild_handles();
    stale_handles();
    arguments();
    truncation();
    handlers();
    codes();
    return finish();
}
