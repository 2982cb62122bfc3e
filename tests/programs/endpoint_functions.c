/* Functions on a communicator that every_form does not call, on endpoints with a thread each; results follow from the ranks.
 * A function that cannot work says so by its error class. Argument: as many endpoints of each process in turn as a digit says; or
 * "abort", then one of them ends the job. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

/* Some headers tell the compiler of arrays where the standard allows a constant instead. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { MOST = 9 };

static _Thread_local MPI_Comm comm;
static _Thread_local int me, n;
static MPI_Group world_group;

/* As many ranks as it should have, and all are there; then it goes. */
static void use(MPI_Comm *new, int ranks, int rank, const char *made) {
    int s, r, inter, sum = 0, one = 1;
    CHECK(*new != MPI_COMM_NULL, "%s: none", made);
    MPI_Comm_size(*new, &s), MPI_Comm_rank(*new, &r), MPI_Comm_test_inter(*new, &inter);
    CHECK(s == ranks && (rank < 0 || r == rank), "%s: rank %d of %d, not %d of %d", made, r, s, rank, ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *new);
    if (inter) MPI_Comm_remote_size(*new, &s);
    CHECK(sum == s, "%s: %d of %d", made, sum, s);
    MPI_Comm_free(new);
    CHECK(*new == MPI_COMM_NULL, "%s: not freed", made);
}

static void made_of_one(void) {
    MPI_Comm new;
    MPI_Request request;
    MPI_Info info, seen;
    MPI_Group group, odd;
    char value[16];
    int flag, result, range[1][3] = {{1, n - 1, 2}};
    MPI_Comm_dup(comm, &new), MPI_Comm_compare(comm, new, &result);
    CHECK(result == MPI_CONGRUENT, "%d", result);
    use(&new, n, me, "dup");
    MPI_Comm_compare(comm, MPI_COMM_SELF, &result);
    CHECK(result == MPI_UNEQUAL, "%d", result);
    MPI_Comm_idup(comm, &new, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), use(&new, n, me, "idup");
    MPI_Info_create(&info), MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_idup_with_info(comm, info, &new, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), use(&new, n, me, "idup_with_info");
    MPI_Comm_dup_with_info(comm, info, &new), MPI_Comm_get_info(new, &seen);
    MPI_Info_get(seen, "mpi_assert_no_any_tag", 15, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "a hint");
    MPI_Info_free(&seen), MPI_Info_free(&info), use(&new, n, me, "dup_with_info");
    MPI_Comm_split(comm, me / 2, -me, &new), use(&new, me / 2 == n / 2 ? n % 2 : 2, -1, "split");
    MPI_Comm_split(comm, me ? MPI_UNDEFINED : 1, 0, &new);
    CHECK((new != MPI_COMM_NULL) == !me, "split without colour");
    if (!me) use(&new, 1, 0, "split with one");
    MPI_Comm_split_type(comm, MPIX_COMM_TYPE_PROCESS, 0, MPI_INFO_NULL, &new), MPI_Comm_free(&new);
    MPI_Comm_group(comm, &group), MPI_Group_range_incl(group, 1, range, &odd);
    MPI_Comm_create(comm, odd, &new);
    CHECK((new != MPI_COMM_NULL) == me % 2, "create");
    if (me % 2) use(&new, n / 2, me / 2, "create");
    if (me % 2) MPI_Comm_create_group(comm, odd, 11, &new), use(&new, n / 2, me / 2, "create_group");
    for (int turn = 0; turn < 3; turn++) {
        CHECK(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &new) == MPI_SUCCESS, "create_from_group");
        use(&new, n, me, "create_from_group");
        if (me % 2) MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &new), use(&new, n / 2, me / 2, "create_from_group");
    }
    MPI_Group_free(&odd), MPI_Group_free(&group);
    MPI_Comm_dup(comm, &new), MPI_Comm_disconnect(&new);
    CHECK(new == MPI_COMM_NULL, "disconnect");
    MPI_Comm_get_parent(&new);
    CHECK(new == MPI_COMM_NULL, "get_parent");
}

static void between_two(void) {
    MPI_Comm half, inter, merged;
    MPI_Group theirs, halves[2];
    int odd = me % 2, mine = (n + 1 - odd) / 2, size, rank, flag, lead = 1 - odd;
    MPI_Comm_split(comm, odd, me, &half);
    MPI_Comm_test_inter(half, &flag);
    CHECK(!flag, "within");
    MPI_Intercomm_create(half, 0, comm, lead, 3, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &size), MPI_Comm_remote_group(inter, &theirs), MPI_Group_rank(theirs, &rank);
    CHECK(flag && size == n - mine && rank == MPI_UNDEFINED, "%d, rank %d", size, rank);
    MPI_Group_size(theirs, &size);
    CHECK(size == n - mine, "%d", size);
    MPI_Intercomm_merge(inter, odd, &merged), use(&merged, n, odd ? (n + 1) / 2 + me / 2 : me / 2, "merge");
    use(&inter, mine, me / 2, "intercomm_create");
    MPI_Comm_group(half, &halves[0]);
    CHECK(MPI_Intercomm_create_from_groups(halves[0], 0, theirs, 0, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter) == MPI_SUCCESS, "from groups");
    use(&inter, mine, me / 2, "intercomm_create_from_groups");
    MPI_Group_free(&halves[0]), MPI_Group_free(&theirs), MPI_Comm_free(&half);
}

static int copied(MPI_Comm from, int key, void *extra, void *value, void *to, int *flag) {
    (void)from, (void)key, (void)extra;
    *(void **)to = value, *flag = 1;
    return MPI_SUCCESS;
}

static void attributes(int key) {
    int flag, *value, own = me, result;
    void *bound;
    MPI_Comm new;
    MPI_Comm_set_attr(comm, key, &own), MPI_Barrier(comm), MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && *value == me, "the attribute of another");
    MPI_Comm_dup(comm, &new), MPI_Comm_get_attr(new, key, &value, &flag);
    CHECK(flag && value == &own, "a copied attribute");
    MPI_Comm_free(&new), MPI_Comm_delete_attr(comm, key), MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(!flag, "a deleted attribute");
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &bound, &flag);
    CHECK(flag && *(int *)bound >= 32767, "MPI_TAG_UB");
    MPI_Topo_test(comm, &result);
    CHECK(result == MPI_UNDEFINED, "%d", result);
    MPI_Errhandler before, now;
    MPI_Errhandler_get(comm, &before), MPI_Errhandler_set(comm, MPI_ERRORS_RETURN), MPI_Errhandler_get(comm, &now);
    CHECK(now == MPI_ERRORS_RETURN && MPI_Send(&own, 1, MPI_INT, n, 0, comm) == MPI_ERR_RANK, "a handler of its own");
    MPI_Errhandler_set(comm, before);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm, "numbers of handles");
}

static void messages(void) {
    int right = (me + 1) % n, left = (me + n - 1) % n, flag = 0, out = me, in = -1;
    MPI_Status status;
    MPI_Request r[2];
    MPI_Isend(&out, 1, MPI_INT, right, 1, comm, &r[0]);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, &status);
    CHECK(status.MPI_SOURCE == left, "iprobe: %d", status.MPI_SOURCE);
    MPI_Probe(left, MPI_ANY_TAG, comm, &status);
    CHECK(status.MPI_TAG == 1, "probe: %d", status.MPI_TAG);
    MPI_Recv(&in, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE), MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(in == left, "%d", in);
    for (int form = 0; form < 2; form++) {
        int parts[2] = {me, me + 1}, got[2] = {-1, -1};
        if (form) MPI_Psend_init_c(parts, 2, 1, MPI_INT, right, 2, comm, MPI_INFO_NULL, &r[0]), MPI_Precv_init_c(got, 2, 1, MPI_INT, left, 2, comm, MPI_INFO_NULL, &r[1]);
        else MPI_Psend_init(parts, 2, 1, MPI_INT, right, 2, comm, MPI_INFO_NULL, &r[0]), MPI_Precv_init(got, 2, 1, MPI_INT, left, 2, comm, MPI_INFO_NULL, &r[1]);
        MPI_Startall(2, r), MPI_Pready(1, r[0]), MPI_Pready(0, r[0]), MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(got[0] == left && got[1] == left + 1, "partitions %d %d", got[0], got[1]);
        MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
    }
}

static void topologies(void) {
    MPI_Comm grid, line, graph;
    int dims[2] = {n, 1}, periods[2] = {1, 0}, got[3][2], place[2], rank, left = (me + n - 1) % n, right = (me + 1) % n, a, b, w, kind, keep[2] = {1, 0};
    MPI_Cart_create(comm, 2, dims, periods, 1, &grid), MPI_Topo_test(grid, &kind), MPI_Cartdim_get(grid, &a);
    CHECK(kind == MPI_CART && a == 2, "%d", a);
    MPI_Comm_rank(grid, &rank), MPI_Cart_get(grid, 2, got[0], got[1], got[2]), MPI_Cart_coords(grid, rank, 2, place);
    CHECK(got[0][0] == n && got[1][0] && !got[1][1] && place[0] == got[2][0] && place[0] == rank, "place %d", place[0]);
    place[0] = n + 1, MPI_Cart_rank(grid, place, &a), MPI_Cart_shift(grid, 0, 1, &b, &w);
    CHECK(a == 1 % n && b == (rank + n - 1) % n && w == (rank + 1) % n, "%d %d %d", a, b, w);
    MPI_Cart_sub(grid, keep, &line), use(&line, n, rank, "cart_sub"), use(&grid, n, -1, "cart_create");
    CHECK(MPI_Cart_map(comm, 1, dims, periods, &a) == MPI_SUCCESS && a >= 0 && a < n, "cart_map %d", a);
    int *index = need(n * sizeof(int)), *edges = need(2 * n * sizeof(int)), near[2];
    for (int i = 0; i < n; i++) index[i] = 2 * (i + 1), edges[2 * i] = (i + n - 1) % n, edges[2 * i + 1] = (i + 1) % n;
    MPI_Graph_create(comm, n, index, edges, 0, &graph), MPI_Topo_test(graph, &kind), MPI_Graphdims_get(graph, &a, &b);
    CHECK(kind == MPI_GRAPH && a == n && b == 2 * n, "%d %d", a, b);
    MPI_Graph_get(graph, n, 2 * n, index, edges), MPI_Graph_neighbors_count(graph, me, &a), MPI_Graph_neighbors(graph, me, 2, near);
    CHECK(a == 2 && near[0] == left && near[1] == right && index[n - 1] == 2 * n && edges[1] == 1 % n, "%d: %d %d", a, near[0], near[1]);
    CHECK(MPI_Graph_map(comm, n, index, edges, &a) == MPI_SUCCESS && a >= 0 && a < n, "graph_map %d", a);
    use(&graph, n, me, "graph_create");
    free(index), free(edges);
    int degree = 1, weight = 5, in, out;
    for (int form = 0; form < 2; form++) {
        if (form) MPI_Dist_graph_create(comm, 1, &me, &degree, &right, &weight, MPI_INFO_NULL, 0, &graph);
        else MPI_Dist_graph_create_adjacent(comm, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &graph);
        MPI_Dist_graph_neighbors_count(graph, &in, &out, &w), MPI_Topo_test(graph, &kind);
        CHECK(in == 1 && out == 1 && w && kind == MPI_DIST_GRAPH, "%d %d", in, out);
        MPI_Dist_graph_neighbors(graph, 1, &a, &in, 1, &b, &out);
        CHECK(a == left && b == right && in == 5 && out == 5, "%d %d", a, b);
        use(&graph, n, me, "dist_graph");
    }
}

static void windows(void) {
    MPI_Win win;
    MPI_Comm node;
    int own[2], *memory, size, rank, right = (me + 1) % n, left = (me + n - 1) % n;
    for (int form = 0; form < 4; form++) {
        memory = own;
        switch (form) {
        case 0: MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, comm, &win); break;
        case 1: MPI_Win_create_c(own, sizeof own, sizeof(int), MPI_INFO_NULL, comm, &win); break;
        case 2: MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, comm, &memory, &win); break;
        default: MPI_Win_allocate_c(sizeof own, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
        }
        memory[0] = -1;
        MPI_Win_fence(0, win), MPI_Put(&me, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_Win_fence(0, win);
        CHECK(memory[0] == left, "window %d: %d", form, memory[0]);
        MPI_Win_free(&win);
    }
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size), MPI_Comm_rank(node, &rank);
    for (int form = 0; form < 2; form++) {
        if (form) MPI_Win_allocate_shared_c(sizeof own, sizeof(int), MPI_INFO_NULL, node, &memory, &win);
        else MPI_Win_allocate_shared(sizeof own, sizeof(int), MPI_INFO_NULL, node, &memory, &win);
        MPI_Aint bytes;
        int unit, *theirs;
        memory[0] = 10 * rank;
        MPI_Win_fence(0, win), MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &theirs);
        CHECK(theirs[0] == 10 * ((rank + 1) % size), "shared: %d", theirs[0]);
        MPI_Win_fence(0, win), MPI_Win_free(&win);
    }
    MPI_Comm_free(&node);
    MPI_Aint at, all[MOST * 8];
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    own[0] = -1, MPI_Win_attach(win, own, sizeof own), MPI_Get_address(own, &at);
    MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, comm);
    MPI_Win_fence(0, win), MPI_Put(&me, 1, MPI_INT, right, all[right], 1, MPI_INT, win), MPI_Win_fence(0, win);
    CHECK(own[0] == left, "dynamic: %d", own[0]);
    MPI_Win_detach(win, own), MPI_Win_free(&win);
}

/* Functions that fail on endpoints as they do elsewhere. */
static void fail(void) {
    MPI_Comm new;
    MPI_File file;
    MPI_Errhandler before;
    int codes[2], one = 1;
    char *program[] = {(char *)"no/such/program", NULL};
    MPI_Info none = MPI_INFO_NULL;
    MPI_Comm_get_errhandler(comm, &before), MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#define FAILS(call, due)                                            \
    do {                                                            \
        int class, code = call;                                     \
        MPI_Error_class(code, &class);                              \
        CHECK(class == (due), "%s gives class %d", #call, class);   \
    } while (0)
    FAILS(MPI_Comm_accept("a port", MPI_INFO_NULL, 0, comm, &new), MPI_ERR_PORT);
    FAILS(MPI_Comm_connect("a port", MPI_INFO_NULL, 0, comm, &new), MPI_ERR_PORT);
    FAILS(MPI_Comm_join(0, &new), MPI_ERR_ARG);
    FAILS(MPI_Comm_spawn("no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &new, codes), MPI_ERR_SPAWN);
    FAILS(MPI_Comm_spawn_multiple(1, program, MPI_ARGVS_NULL, &one, &none, 0, comm, &new, codes), MPI_ERR_SPAWN);
    FAILS(MPI_File_open(comm, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    MPI_Comm_set_errhandler(comm, before);
}

/* Variables that are bound to a communicator count what one endpoint's has: messages that came before their receives. */
static void counted(void) {
    enum { MESSAGES = 3 };
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm dup;
    int index, count, x = me, to = n - 1;
    unsigned long long value = 99;
    MPI_Comm_dup(comm, &dup);
    CHECK(MPI_T_pvar_get_index("pml_ob1_unexpected_msgs", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "the variable");
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS, "a session");
    CHECK(MPI_T_pvar_handle_alloc(session, index, &dup, &handle, &count) == MPI_SUCCESS && count == 1, "%d elements", count);
    for (int i = 0; me == 0 && i < MESSAGES; i++) MPI_Send(&x, 1, MPI_INT, to, i, dup);
    for (int i = 0; me == to && i < MESSAGES; i++) MPI_Probe(0, i, dup, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "read");
    CHECK(value == (me == to ? MESSAGES : 0), "rank %d: %llu messages came early", me, value);
    for (int i = 0; me == to && i < MESSAGES; i++) MPI_Recv(&x, 1, MPI_INT, 0, i, dup, MPI_STATUS_IGNORE);
    MPI_T_pvar_handle_free(session, &handle), MPI_T_pvar_session_free(&session);
    MPI_Comm_free(&dup);
}

static int key, ends;

static void *work(void *of) {
    comm = *(MPI_Comm *)of;
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &n);
    CHECK(n > 1 && n <= MOST * 8, "%d ranks", n);
    if (ends) {
        if (me == n - 1) MPI_Abort(comm, 7);
        MPI_Barrier(comm);
        return NULL;
    }
    made_of_one();
    between_two();
    attributes(key);
    messages();
    topologies();
    windows();
    fail();
    counted();
    MPI_Comm_free(&comm);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, rank;
    MPI_Comm each[MOST];
    pthread_t threads[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    check_rank_ = rank;
    const char *digits = argc > 1 ? argv[1] : "2";
    if (!strcmp(digits, "abort")) ends = 1, digits = "2";
    int level;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
    int mine = digits[rank % (int)strlen(digits)] - '0';
    /* Of functions that are called on no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, each);
    for (int i = 0; i < mine; i++) CHECK(pthread_create(&threads[i], NULL, work, &each[i]) == 0, "a thread");
    for (int i = 0; i < mine; i++) pthread_join(threads[i], NULL);
    MPI_Comm_free_keyval(&key), MPI_Group_free(&world_group);
    MPI_T_finalize();
    return end();
}
