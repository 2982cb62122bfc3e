/* Several nodes: who is where, which ranks share memory, messages and collectives between nodes and inside of them.
 * Usage: nodes NAMES, the nodes of all ranks in their order, as in a,a,b. */
#include "check.h"

static int rank, size;
static char names[64][MPI_MAX_PROCESSOR_NAME];

/* The ranks of a communicator are those of this rank's node, in their order. */
static void is_my_node(MPI_Comm comm, const char *what) {
    int here = 0, count, *members = need(sizeof(int) * size);
    CHECK(comm != MPI_COMM_NULL, "%s", what);
    MPI_Comm_size(comm, &count);
    MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        if (strcmp(names[r], names[rank]) == 0) {
            CHECK(here < count && members[here] == r, "%s: place %d of %d", what, here, count);
            here++;
        }
    CHECK(here == count, "%s: %d of %d", what, count, here);
    free(members);
}

static MPI_Comm split(int type, const char *resource) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (resource) MPI_Info_set(info, "mpi_hw_resource_type", resource);
    MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static void shared_memory(MPI_Comm node, int nodes) {
    int me, count, code, class;
    long *own, *other;
    MPI_Win win;
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &count);
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, node, &own, &win);
    *own = 1000 + rank;
    MPI_Barrier(node);
    MPI_Aint bytes;
    int unit, there;
    MPI_Win_shared_query(win, (me + 1) % count, &bytes, &unit, &other);
    MPI_Allgather(&rank, 1, MPI_INT, (int[64]){0}, 1, MPI_INT, node);
    MPI_Sendrecv(&rank, 1, MPI_INT, (me + count - 1) % count, 5, &there, 1, MPI_INT, (me + 1) % count, 5, node,
                 MPI_STATUS_IGNORE);
    CHECK(*other == 1000 + there, "%ld instead of %d", *other, 1000 + there);
    MPI_Barrier(node);
    MPI_Win_free(&win);
    if (nodes < 2) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_RMA_SHARED, "memory of all nodes: class %d", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void messages(void) {
    static const int sizes[] = {0, 1, 8, 200, 4000, 30000, 200000, 1 << 20};
    for (unsigned n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        int bytes = sizes[n];
        char *out = need(bytes), *in = need((size_t)bytes * size);
        MPI_Request requests[128];
        fill(out, bytes, rank * 100 + n);
        for (int r = 0; r < size; r++) {
            MPI_Irecv(in + (size_t)r * bytes, bytes, MPI_BYTE, r, n, MPI_COMM_WORLD, &requests[r]);
            MPI_Isend(out, bytes, MPI_BYTE, r, n, MPI_COMM_WORLD, &requests[size + r]);
        }
        MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
        for (int r = 0; r < size; r++)
            CHECK(differs(in + (size_t)r * bytes, bytes, r * 100 + n) < 0, "%d bytes from %d", bytes, r);
        free(out);
        free(in);
    }
}

static void collectives(void) {
    for (int turn = 0; turn < 50; turn++) {
        long mine = rank + turn, sum, root = turn % size, word = rank == root ? turn : -1;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == (long)size * turn + size * (size - 1) / 2, "turn %d: %ld", turn, sum);
        MPI_Bcast(&word, 1, MPI_LONG, (int)root, MPI_COMM_WORLD);
        CHECK(word == turn, "turn %d: %ld", turn, word);
    }
}

/* Sessions rest and wake; the set of processes that share memory is the node. */
static void sessions(int named) {
    for (int turn = 0; turn < 3; turn++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpix://SHARED", &group);
        MPI_Comm_create_from_group(group, "nodes", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Barrier(comm);
        if (named) is_my_node(comm, "mpix://SHARED");
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
}

int main(int argc, char **argv) {
    int length, nodes = 0, local = 0, here = 0;
    /* Before the world nobody has asked for the names. */
    sessions(0);
    begin(&argc, &argv, &rank, &size);
    CHECK(argc == 2 && size <= 64, "usage");
    char own[MPI_MAX_PROCESSOR_NAME] = {0}, *rest = argv[1];
    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, sizeof own, MPI_CHAR, names, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        char *wanted = strsep(&rest, ",");
        CHECK(wanted && strcmp(names[r], wanted) == 0, "rank %d is on %s", r, names[r]);
        int first = 1;
        for (int q = 0; q < r; q++) first &= strcmp(names[q], names[r]) != 0;
        nodes += first;
        here += strcmp(names[r], own) == 0;
        local += r < rank && strcmp(names[r], own) == 0;
    }
    CHECK(rest == NULL, "more names");
    CHECK(atoi(getenv("OMPI_COMM_WORLD_LOCAL_RANK")) == local, "%s", getenv("OMPI_COMM_WORLD_LOCAL_RANK"));
    CHECK(atoi(getenv("OMPI_COMM_WORLD_NODE_RANK")) == local, "%s", getenv("OMPI_COMM_WORLD_NODE_RANK"));
    CHECK(atoi(getenv("OMPI_COMM_WORLD_LOCAL_SIZE")) == here, "%s", getenv("OMPI_COMM_WORLD_LOCAL_SIZE"));

    MPI_Comm shared = split(MPI_COMM_TYPE_SHARED, NULL);
    is_my_node(shared, "shared");
    MPI_Comm guided = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_shared_memory");
    is_my_node(guided, "guided");
    MPI_Comm resource = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "hwloc://Machine");
    is_my_node(resource, "by machine");
    /* Of all that ranks do not share the node is the coarsest. */
    MPI_Comm unguided = split(MPI_COMM_TYPE_HW_UNGUIDED, NULL);
    if (nodes > 1) is_my_node(unguided, "unguided");
    shared_memory(shared, nodes);
    messages();
    collectives();
    sessions(1);
    MPI_Comm *made[] = {&shared, &guided, &resource, &unguided};
    for (int i = 0; i < 4; i++)
        if (*made[i] != MPI_COMM_NULL) MPI_Comm_free(made[i]);
    return end();
}
