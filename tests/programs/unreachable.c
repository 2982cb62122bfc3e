/* Calls that need a process which no transport reaches. argv[1]: the call; argv[2]: "fatal" (the job ends in it) or
 * "return" (the call returns its error, and a second one does, too). */
#include "check.h"

static int rank, size, in[64], out[64];
static MPI_Comm comm = MPI_COMM_WORLD;

/* Starts, and waits for, one call of the kind; gives its error. */
static int made(const char *what) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm other = MPI_COMM_NULL;
    void *base;
    int error = MPI_SUCCESS;
    if (!strcmp(what, "barrier")) return MPI_Barrier(comm);
    if (!strcmp(what, "allreduce")) return MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "bcast")) return MPI_Bcast(in, 1, MPI_INT, 0, comm);
    if (!strcmp(what, "reduce")) return MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, comm);
    if (!strcmp(what, "gather")) return MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
    if (!strcmp(what, "scatter")) return MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
    if (!strcmp(what, "allgather")) return MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    if (!strcmp(what, "alltoall")) return MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    if (!strcmp(what, "reduce_scatter"))
        return MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "scan")) return MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "sendrecv"))
        return MPI_Sendrecv(in, 1, MPI_INT, next, 1, out, 1, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE);
    if (!strcmp(what, "half")) /* The receive is from a process that is reached, and nobody sends. */
        return MPI_Sendrecv(in, 1, MPI_INT, next, 1, out, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    if (!strcmp(what, "split")) return MPI_Comm_split(comm, 0, rank, &other);
    if (!strcmp(what, "win_allocate")) return MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &win);
    if (!strcmp(what, "win_create")) return MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, comm, &win);
    if (!strcmp(what, "win_dynamic")) return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    if (!strcmp(what, "intercomm"))
        return MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, 1 - rank, 5, &other);
    if (!strcmp(what, "neighbor")) {
        static MPI_Comm ring = MPI_COMM_NULL;
        if (ring == MPI_COMM_NULL) {
            error = MPI_Cart_create(comm, 1, &size, (int[]){1}, 0, &ring);
            if (error) return error;
            MPI_Errhandler handler;
            MPI_Comm_get_errhandler(comm, &handler);
            MPI_Comm_set_errhandler(ring, handler);
            MPI_Errhandler_free(&handler);
        }
        return MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring);
    }
    if (!strcmp(what, "isendrecv"))
        error = MPI_Isendrecv(in, 1, MPI_INT, next, 1, out, 1, MPI_INT, before, 1, comm, &request);
    else if (!strcmp(what, "ibarrier"))
        error = MPI_Ibarrier(comm, &request);
    else if (!strcmp(what, "iallreduce"))
        error = MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &request);
    else if (!strcmp(what, "persistent")) {
        error = MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        if (error == MPI_SUCCESS) error = MPI_Start(&request);
    } else
        CHECK(0, "no call %s", what);
    if (error != MPI_SUCCESS) return error;
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return error;
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    CHECK(argc > 2, "no call named");
    int returns = !strcmp(argv[argc - 1], "return");
    /* Errors of a window's creation go to the communicator it is made of. */
    if (returns) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    for (int i = 1; i < argc - 1; i++)
        for (int turn = 0; turn < 2; turn++) {
            int error = made(argv[i]), class = MPI_SUCCESS;
            CHECK(returns, "%s has returned", argv[i]);
            if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
            CHECK(class == MPI_ERR_OTHER, "%s, call %d: class %d", argv[i], turn, class);
        }
    return end();
}
