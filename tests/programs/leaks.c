/* Objects of every kind that are never freed; and errors before, during and after MPI that come back
 * where the initial error handler says so ("return" as argument). */
#include "check.h"

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)in, (void)inout, (void)n, (void)type;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    ++*(int *)value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, size, key, deleted = 0, returns = argc > 1 && strcmp(argv[1], "return") == 0;
    MPI_Session no_session = MPI_SESSION_NULL;
    if (returns && MPI_Session_finalize(&no_session) == MPI_SUCCESS) return 1;
    begin(&argc, &argv, &rank, &size);
    if (returns) {
        int code = MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), class = 0;
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_COUNT, "%d", class);
    }
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Group group;
    MPI_Info info;
    MPI_Request request;
    MPI_Win win;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "forgotten");
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Win_create(&rank, sizeof rank, 1, MPI_INFO_NULL, comm, &win);
    MPI_Send_init(&rank, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &deleted);
    MPI_Finalize();
    if (deleted != 1) return 2;
    int length; /* Info objects may be used after the end. */
    MPI_Info_get_nkeys(info, &length);
    if (length != 0) return 3;
    if (returns && MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS) return 4;
    puts("ok");
    return 0;
}
