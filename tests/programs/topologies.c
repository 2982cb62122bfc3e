/* Process topologies: what is told of grids and graphs against a plain model, who copies them, and what is refused. */
#include "check.h"

/* Some libraries' headers tell the compiler of arrays where the standard allows a constant instead. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static int rank, size, strict;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
#define REFUSED(call, wanted)                                                   \
    do {                                                                        \
        int got_ = class_of(call);                                              \
        CHECK(got_ == (wanted), "class %d instead of %d", got_, (int)(wanted)); \
    } while (0)

static int kind_of(MPI_Comm comm) {
    int kind;
    MPI_Topo_test(comm, &kind);
    return kind;
}

/* The rank at a place, counted up in row-major order; periodic dimensions wrap. */
static int model_rank(int n, const int *dims, const int *periods, const int *place) {
    int at = 0;
    for (int d = 0; d < n; d++) {
        int c = place[d];
        if (periods[d]) c = ((c % dims[d]) + dims[d]) % dims[d];
        if (c < 0 || c >= dims[d]) return MPI_PROC_NULL;
        at = at * dims[d] + c;
    }
    return at;
}

static void model_place(int n, const int *dims, int of, int *place) {
    for (int d = n - 1; d >= 0; d--) place[d] = of % dims[d], of /= dims[d];
}

static void check_grid(MPI_Comm grid, int n, const int *dims, const int *periods) {
    int me, places = 1, ndims, got[3][8], place[8], there[8];
    for (int d = 0; d < n; d++) places *= dims[d];
    MPI_Comm_rank(grid, &me);
    MPI_Cartdim_get(grid, &ndims);
    CHECK(ndims == n && kind_of(grid) == MPI_CART, "%d", ndims);
    MPI_Cart_get(grid, 8, got[0], got[1], got[2]);
    model_place(n, dims, me, place);
    for (int d = 0; d < n; d++)
        CHECK(got[0][d] == dims[d] && !got[1][d] == !periods[d] && got[2][d] == place[d], "dimension %d", d);
    for (int r = 0; r < places; r++) {
        int back;
        MPI_Cart_coords(grid, r, 8, got[0]);
        model_place(n, dims, r, there);
        CHECK(n == 0 || memcmp(got[0], there, n * sizeof(int)) == 0, "rank %d", r);
        MPI_Cart_rank(grid, there, &back);
        CHECK(back == r, "%d", back);
        for (int d = 0; d < n; d++)
            if (periods[d]) there[d] += (r % 5 - 2) * dims[d];
        MPI_Cart_rank(grid, there, &back);
        CHECK(back == r, "%d", back);
    }
    for (int d = 0; d < n; d++)
        for (int disp = -4; disp <= 4; disp++) {
            int source, dest, wanted[2];
            MPI_Cart_shift(grid, d, disp, &source, &dest);
            for (int way = 0; way < 2; way++) {
                memcpy(there, place, sizeof there);
                there[d] += way ? disp : -disp;
                wanted[way] = model_rank(n, dims, periods, there);
            }
            CHECK(source == wanted[0] && dest == wanted[1], "%d by %d: %d %d", d, disp, source, dest);
        }
    /* Coordinates outside of one dimension that is not periodic belong to no rank. */
    for (int d = 0; d < n; d++)
        if (!periods[d]) {
            memcpy(there, place, sizeof there);
            there[d] = dims[d];
            REFUSED(MPI_Cart_rank(grid, there, &me), MPI_ERR_ARG);
        }
}

/* All ways to keep some dimensions and drop the others. */
static void check_parts(MPI_Comm grid, int n, const int *dims, const int *periods) {
    int me, place[8];
    MPI_Comm_rank(grid, &me);
    model_place(n, dims, me, place);
    for (int bits = 0; bits < 1 << n; bits++) {
        int keep[8], inner[8], inner_dims[8], inner_periods[8], m = 0, inner_rank, inner_size = 1, part_rank, part_size;
        for (int d = 0; d < n; d++)
            if ((keep[d] = bits >> d & 1)) {
                inner[m] = place[d], inner_dims[m] = dims[d], inner_periods[m] = periods[d], m++;
                inner_size *= dims[d];
            }
        MPI_Comm part;
        MPI_Cart_sub(grid, keep, &part);
        CHECK(part != MPI_COMM_NULL, "kept %d", bits);
        MPI_Comm_rank(part, &part_rank);
        MPI_Comm_size(part, &part_size);
        inner_rank = model_rank(m, inner_dims, inner_periods, inner);
        CHECK(part_rank == inner_rank && part_size == inner_size, "%d of %d", part_rank, part_size);
        check_grid(part, m, inner_dims, inner_periods);
        int sum = 1, total;
        MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, part);
        CHECK(total == inner_size, "%d", total);
        MPI_Comm_free(&part);
    }
}

static void grids(void) {
    int n = 0;
    for (int x = 1; x <= 3; x++)
        for (int y = 1; y <= 3; y++)
            for (int bits = 0; bits < 4; bits++) {
                int dims[3] = {x, y, 2}, periods[3] = {bits & 1, bits & 2, 1};
                int ndims = 2 + (x * y * 2 <= size && bits == 1);
                int places = x * y * (ndims == 3 ? 2 : 1), newrank;
                if (places > size) continue;
                MPI_Comm grid;
                MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, n++ % 2, &grid);
                MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &newrank);
                CHECK(!strict || (grid == MPI_COMM_NULL) == (newrank == MPI_UNDEFINED), "%d", newrank);
                if (grid == MPI_COMM_NULL) continue;
                check_grid(grid, ndims, dims, periods);
                if (bits == 2 || ndims == 3) check_parts(grid, ndims, dims, periods);
                MPI_Comm_free(&grid);
            }
    /* A grid without dimensions has one place. */
    MPI_Comm point, part;
    int key, flag;
    void *value;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point);
    CHECK((point != MPI_COMM_NULL) == (rank == 0), "rank %d", rank);
    if (point != MPI_COMM_NULL) {
        check_grid(point, 0, NULL, NULL);
        MPI_Cart_sub(point, NULL, &part);
        check_grid(part, 0, NULL, NULL);
        MPI_Comm_get_attr(point, key, &value, &flag);
        CHECK(!flag, "a new topology has no attributes of the old communicator");
        MPI_Comm_free(&part);
        MPI_Comm_free(&point);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}

/* Every duplicate has the topology, nothing else that is made of a communicator. */
static void copies(MPI_Comm comm, int kind) {
    MPI_Comm made[4], other;
    MPI_Request requests[2];
    int me;
    MPI_Group group;
    CHECK(kind_of(comm) == kind, "%d", kind_of(comm));
    MPI_Comm_rank(comm, &me);
    MPI_Comm_dup(comm, &made[0]);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made[1]);
    MPI_Comm_idup(comm, &made[2], &requests[0]);
    MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made[3], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++) {
        CHECK(kind_of(made[i]) == kind, "%d: %d", i, kind_of(made[i]));
        MPI_Comm_free(&made[i]);
    }
    MPI_Comm_split(comm, 0, me, &other);
    CHECK(kind_of(other) == MPI_UNDEFINED, "%d", kind_of(other));
    MPI_Comm_free(&other);
    MPI_Comm_group(comm, &group);
    MPI_Comm_create(comm, group, &other);
    CHECK(kind_of(other) == MPI_UNDEFINED, "%d", kind_of(other));
    MPI_Comm_free(&other);
    MPI_Group_free(&group);
}

/* Node i leads to i+1, i+2, ..., in some order, twice to itself where i is odd. */
static int describe(int nodes, int *index, int *edges) {
    int n = 0;
    for (int i = 0; i < nodes; i++) {
        for (int j = nodes - 1; j > 0; j -= 2) edges[n++] = (i + j) % nodes;
        if (i % 2) edges[n++] = i, edges[n++] = i;
        index[i] = n;
    }
    return n;
}

static void graphs(void) {
    int *index = need(3 * size * sizeof *index), *edges = need(size * (size + 4) * sizeof *edges);
    int *got = need(size * (size + 4) * sizeof *got);
    for (int nodes = 0; nodes <= size; nodes++) {
        int n = describe(nodes, index, edges), newrank, nnodes, nedges;
        MPI_Comm graph;
        MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, nodes % 2, &graph);
        MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &newrank);
        CHECK((graph == MPI_COMM_NULL) == (rank >= nodes), "%d nodes", nodes);
        CHECK(!strict || (graph == MPI_COMM_NULL) == (newrank == MPI_UNDEFINED), "%d", newrank);
        if (graph == MPI_COMM_NULL) continue;
        MPI_Graphdims_get(graph, &nnodes, &nedges);
        CHECK(nnodes == nodes && nedges == n, "%d %d", nnodes, nedges);
        MPI_Graph_get(graph, nodes, n, got, got + nodes);
        CHECK(!memcmp(got, index, nodes * sizeof(int)) && !memcmp(got + nodes, edges, n * sizeof(int)), "%d", nodes);
        for (int i = 0; i < nodes; i++) {
            int start = i ? index[i - 1] : 0, count;
            MPI_Graph_neighbors_count(graph, i, &count);
            CHECK(count == index[i] - start, "%d", count);
            MPI_Graph_neighbors(graph, i, count, got);
            CHECK(!memcmp(got, edges + start, count * sizeof(int)), "node %d", i);
        }
        copies(graph, MPI_GRAPH);
        if (strict) REFUSED(MPI_Graph_neighbors_count(graph, nodes, &n), MPI_ERR_RANK);
        REFUSED(MPI_Cartdim_get(graph, &n), MPI_ERR_TOPOLOGY);
        MPI_Comm_free(&graph);
    }
    free(index), free(edges), free(got);
}

/* The weight of the nth edge that `by` names, from one rank to another. */
static int weight(int by, int n) { return by * 1000 + n; }

/* Every rank names edges between others, some of them twice, and loops: how many, and which. */
static int named(int by) { return by % 3 == 2 ? 0 : 2 * size + 3; }
static void edge(int by, int n, int *from, int *to) {
    *from = (by + n * n) % size;
    *to = n < 3 ? *from : (n / 2 + by) % size;
}

static void distributed(int weighted) {
    MPI_Comm graph, adjacent;
    int n = named(rank), most = size * (2 * size + 3), ins = 0, outs = 0, got[3];
    int *from = need(n * sizeof(int)), *to = need(n * sizeof(int)), *degree = need(n * sizeof(int));
    int *weights = need(n * sizeof(int)), *list = need(8 * most * sizeof(int));
    int *source = list, *source_weight = list + most, *dest = list + 2 * most, *dest_weight = list + 3 * most;
    for (int i = 0; i < n; i++) edge(rank, i, &from[i], &to[i]), degree[i] = 1, weights[i] = weight(rank, i);
    const int *given = !weighted ? MPI_UNWEIGHTED : n ? weights : MPI_WEIGHTS_EMPTY;
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degree, to, given, MPI_INFO_NULL, weighted, &graph);
    /* The edges at this rank, by who named them: which edges there are is told, not in what order. */
    for (int by = 0; by < size; by++)
        for (int i = 0; i < named(by); i++) {
            int f, t;
            edge(by, i, &f, &t);
            if (t == rank) source[ins] = f, source_weight[ins++] = weight(by, i);
            if (f == rank) dest[outs] = t, dest_weight[outs++] = weight(by, i);
        }
    MPI_Dist_graph_neighbors_count(graph, &got[0], &got[1], &got[2]);
    CHECK(got[0] == ins && got[1] == outs && !got[2] == !weighted, "%d of %d, %d of %d", got[0], ins, got[1], outs);
    int *s = list + 4 * most, *sw = list + 5 * most, *d = list + 6 * most, *dw = list + 7 * most;
    for (int i = 0; i < 4 * most; i++) s[i] = -7;
    if (weighted)
        MPI_Dist_graph_neighbors(graph, ins, s, sw, outs, d, dw);
    else
        MPI_Dist_graph_neighbors(graph, ins, s, MPI_UNWEIGHTED, outs, d, MPI_UNWEIGHTED);
    for (int side = 0; side < 2; side++) {
        int count = side ? outs : ins, *here = side ? d : s, *heavy = side ? dw : sw;
        int *wanted = side ? dest : source, *wanted_weight = side ? dest_weight : source_weight;
        for (int i = 0; i < count; i++) {
            int j = 0;
            while (j < count && (here[j] != wanted[i] || (weighted && heavy[j] != wanted_weight[i]))) j++;
            CHECK(j < count, "edge %d of side %d was lost", i, side);
            here[j] = -9;
        }
    }
    copies(graph, MPI_DIST_GRAPH);
    /* The same, told by each rank of its own edges; a shorter array gets what fits (MPICH refuses it). */
    int few = strict ? ins / 2 : ins;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, source, weighted ? (ins ? source_weight : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED,
                                   outs, dest, weighted ? (outs ? dest_weight : MPI_WEIGHTS_EMPTY) : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
    MPI_Dist_graph_neighbors_count(adjacent, &got[0], &got[1], &got[2]);
    CHECK(got[0] == ins && got[1] == outs && !got[2] == !weighted, "%d of %d, %d of %d", got[0], ins, got[1], outs);
    for (int i = 0; i < 4 * most; i++) s[i] = -7;
    MPI_Dist_graph_neighbors(adjacent, few, s, weighted ? sw : MPI_UNWEIGHTED, outs, d, weighted ? dw : MPI_UNWEIGHTED);
    CHECK(!memcmp(s, source, few * sizeof(int)) && (few == ins || s[few] == -7), "sources");
    CHECK(!memcmp(d, dest, outs * sizeof(int)), "destinations");
    CHECK(!weighted || (!memcmp(sw, source_weight, few * sizeof(int)) && !memcmp(dw, dest_weight, outs * sizeof(int))), "weights");
    REFUSED(MPI_Graphdims_get(adjacent, &got[0], &got[1]), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&adjacent);
    MPI_Comm_free(&graph);
    free(from), free(to), free(degree), free(weights), free(list);
}

/* Errors and their classes; libraries agree on few. */
static void refused(void) {
    MPI_Comm comm = MPI_COMM_NULL, inter, half;
    int dims[2] = {size, 2}, none[2] = {0, 0}, n, list[4] = {0, 0, 0, 0}, index[2] = {2, 1}, edges[2] = {0, 7777};
    int big[2] = {2, 2};
    REFUSED(MPI_Cart_create(MPI_COMM_NULL, 1, dims, none, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_sub(MPI_COMM_WORLD, list, &comm), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &n), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &n), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &n, &n), MPI_ERR_TOPOLOGY);
    if (!strict) return; /* Some crash. */
    REFUSED(MPI_Cart_get(MPI_COMM_WORLD, 1, list, list, list), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Neighbor_allgather(list, 1, MPI_INT, list + 1, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &comm), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, none, 0, &comm), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 2, none, none, 0, &comm), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, none, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Dims_create(size, -1, dims), MPI_ERR_DIMS);
    REFUSED(MPI_Dims_create(0, 2, none), MPI_ERR_ARG);
    REFUSED(MPI_Dims_create(3, 2, big), MPI_ERR_DIMS);
    REFUSED(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &comm), MPI_ERR_ARG);
    index[0] = 2;
    REFUSED(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, list, MPI_UNWEIGHTED, 1, list, list, MPI_INFO_NULL, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, edges + 1, MPI_UNWEIGHTED, 0, list, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm), MPI_ERR_RANK);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, none, 0, &comm);
    REFUSED(MPI_Cart_coords(comm, size, 1, list), MPI_ERR_RANK);
    REFUSED(MPI_Cart_shift(comm, 1, 1, &n, &n), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_get(comm, -1, list, list, list), MPI_ERR_ARG);
    REFUSED(MPI_Neighbor_alltoall(list, -1, MPI_INT, list + 2, 1, MPI_INT, comm), MPI_ERR_COUNT);
    REFUSED(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, list, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    MPI_Comm_free(&comm);
    if (size == 1) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK(kind_of(inter) == MPI_UNDEFINED, "%d", kind_of(inter));
    REFUSED(MPI_Cart_create(inter, 1, dims, none, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_create_adjacent(inter, 0, list, MPI_UNWEIGHTED, 0, list, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    strict = argc > 1 && !strcmp(argv[1], "strict");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    grids();
    graphs();
    for (int weighted = 0; weighted < 2; weighted++) distributed(weighted);
    refused();
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &grid);
    copies(grid, MPI_CART);
    MPI_Comm_free(&grid);
    return end();
}
