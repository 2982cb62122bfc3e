/* Calls that need a process which no transport reaches. Arguments: the calls, and behind them "fatal" (the job ends in the first),
 * "return" (each call returns its error, and a second one does, too) or "nodes" (as "return", with ranks 0 and 1 on one node and 2 and 3
 * on another). */
#include "check.h"

static int rank, size, in[64], out[64];
static MPI_Comm comm = MPI_COMM_WORLD;
static int handled;

static void count(MPI_Comm *where, int *error, ...) {
    (void)where, (void)error;
    handled++;
}

/* Whether all that this rank says and hears in a call goes to and comes from its own node, where ranks 0 and 2 speak for the others
 * and rank 0 is the root: it has its part then. */
static int has_its_part(const char *what) {
    static const char *down[] = {"bcast", "scatter", "ibcast", "create_group"}, *up[] = {"reduce", "gather"};
    for (unsigned i = 0; i < sizeof down / sizeof *down; i++)
        if (!strcmp(what, down[i])) return rank == 1;
    for (unsigned i = 0; i < sizeof up / sizeof *up; i++)
        if (!strcmp(what, up[i])) return rank % 2 == 1;
    return 0;
}

/* An inter-communicator of the first half and the second, which is made without a message; and one call on it. */
static int between(const char *what) {
    MPI_Session session;
    MPI_Group all, mine, theirs;
    MPI_Errhandler handler;
    MPI_Comm inter = MPI_COMM_NULL, one = MPI_COMM_NULL;
    int half = size / 2, lower = rank < half;
    int low[1][3] = {{0, half - 1, 1}}, high[1][3] = {{half, size - 1, 1}};
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_range_incl(all, 1, lower ? low : high, &mine);
    MPI_Group_range_incl(all, 1, lower ? high : low, &theirs);
    MPI_Comm_get_errhandler(comm, &handler);
    int error = MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "unreachable", MPI_INFO_NULL, handler, &inter);
    if (error == MPI_SUCCESS) {
        if (!strcmp(what, "merge")) error = MPI_Intercomm_merge(inter, lower, &one);
        else if (!strcmp(what, "inter_split")) error = MPI_Comm_split(inter, 0, rank, &one);
        else if (!strcmp(what, "inter_allgather")) error = MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, inter);
        else error = MPI_Barrier(inter);
    }
    if (one != MPI_COMM_NULL) MPI_Comm_free(&one);
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    MPI_Session_finalize(&session);
    MPI_Errhandler_free(&handler);
    return error;
}

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
    if (!strcmp(what, "dup")) { /* Sends nothing; what it makes is as its parent. */
        error = MPI_Comm_dup(comm, &other);
        CHECK(error == MPI_SUCCESS, "a duplicate, error %d", error);
        MPI_Errhandler handler;
        MPI_Comm_get_errhandler(comm, &handler);
        MPI_Comm_set_errhandler(other, handler);
        MPI_Errhandler_free(&handler);
        error = MPI_Barrier(other);
        MPI_Comm_free(&other);
        return error;
    }
    if (!strcmp(what, "create_group")) {
        MPI_Group all;
        MPI_Comm_group(comm, &all);
        error = MPI_Comm_create_group(comm, all, 3, &other);
        MPI_Group_free(&all);
        if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
        return error;
    }
    if (!strcmp(what, "session")) { /* Errors go to the handler that the new communicator is to have. */
        MPI_Session session;
        MPI_Group all;
        MPI_Errhandler handler;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
        MPI_Comm_get_errhandler(comm, &handler);
        error = MPI_Comm_create_from_group(all, "unreachable", MPI_INFO_NULL, handler, &other);
        if (error == MPI_SUCCESS) error = MPI_Barrier(other);
        if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
        MPI_Group_free(&all);
        MPI_Session_finalize(&session);
        MPI_Errhandler_free(&handler);
        return error;
    }
    if (!strcmp(what, "merge") || !strncmp(what, "inter_", 6)) return between(what);
    if (!strcmp(what, "create")) { /* All in another order. */
        MPI_Group all, turned;
        int range[1][3] = {{size - 1, 0, -1}};
        MPI_Comm_group(comm, &all);
        MPI_Group_range_incl(all, 1, range, &turned);
        error = MPI_Comm_create(comm, turned, &other);
        MPI_Group_free(&all);
        MPI_Group_free(&turned);
        if (error == MPI_SUCCESS) {
            MPI_Errhandler handler;
            MPI_Comm_get_errhandler(comm, &handler);
            MPI_Comm_set_errhandler(other, handler);
            MPI_Errhandler_free(&handler);
            error = MPI_Barrier(other);
        }
        if (other != MPI_COMM_NULL) MPI_Comm_free(&other);
        return error;
    }
    if (!strcmp(what, "handler")) { /* A function of the user is called once, and the call returns. */
        MPI_Errhandler ours, before;
        MPI_Comm_get_errhandler(comm, &before);
        MPI_Comm_create_errhandler(count, &ours);
        MPI_Comm_set_errhandler(comm, ours);
        handled = 0;
        error = MPI_Barrier(comm);
        CHECK(handled == 1, "the handler was called %d times", handled);
        MPI_Comm_set_errhandler(comm, before);
        MPI_Errhandler_free(&ours);
        MPI_Errhandler_free(&before);
        return error;
    }
    if (!strcmp(what, "leaders")) { /* Groups of ranks 0, 1 and of 2, 3, whose leaders do not meet. */
        static MPI_Comm half = MPI_COMM_NULL;
        if (half == MPI_COMM_NULL) {
            MPI_Group all, mine;
            int range[1][3] = {{rank / 2 * 2, rank / 2 * 2 + 1, 1}};
            MPI_Comm_group(comm, &all);
            MPI_Group_range_incl(all, 1, range, &mine);
            CHECK(MPI_Comm_create_group(comm, mine, 4, &half) == MPI_SUCCESS, "a communicator of a node");
            MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
            MPI_Group_free(&all);
            MPI_Group_free(&mine);
        }
        return MPI_Intercomm_create(half, 0, comm, rank < 2 ? 2 : 0, 6, &other);
    }
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
    else if (!strcmp(what, "ibcast"))
        error = MPI_Ibcast(in, 1, MPI_INT, 0, comm, &request);
    else if (!strcmp(what, "iscan"))
        error = MPI_Iscan(in, out, 1, MPI_INT, MPI_SUM, comm, &request);
    else if (!strcmp(what, "ialltoall"))
        error = MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request);
    else if (!strcmp(what, "started")) { /* A persistent one fails at each of its starts. */
        static MPI_Request again = MPI_REQUEST_NULL;
        if (again == MPI_REQUEST_NULL) error = MPI_Barrier_init(comm, MPI_INFO_NULL, &again);
        CHECK(error == MPI_SUCCESS, "a persistent barrier, error %d", error);
        error = MPI_Start(&again);
        return error != MPI_SUCCESS ? error : MPI_Wait(&again, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "iallreduce"))
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
    int nodes = !strcmp(argv[argc - 1], "nodes");
    int returns = nodes || !strcmp(argv[argc - 1], "return");
    /* Errors of a window's creation go to the communicator it is made of. */
    if (returns) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    for (int i = 1; i < argc - 1; i++)
        for (int turn = 0; turn < 2; turn++) {
            in[0] = rank == 0 ? 5 : 0;
            in[1] = 5;
            out[0] = 0;
            int error = made(argv[i]), class = MPI_SUCCESS;
            CHECK(returns, "%s has returned", argv[i]);
            if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
            int has_all = nodes && has_its_part(argv[i]);
            CHECK(class == (has_all ? MPI_SUCCESS : MPI_ERR_OTHER), "%s, call %d: class %d", argv[i], turn, class);
            if (has_all && strstr(argv[i], "bcast")) CHECK(in[0] == 5, "%s: %d", argv[i], in[0]);
            if (has_all && !strcmp(argv[i], "scatter")) CHECK(out[0] == 5, "scatter: %d", out[0]);
        }
    return end();
}
