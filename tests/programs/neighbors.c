/* Neighborhood collectives with checked data: grids of every small shape, graphs with loops and several edges, blocks of different
 * lengths and types, large ones. The data that travels is a function of the edge, so a block over the wrong edge is seen. */
#include "check.h"

/* Some libraries' headers tell the compiler of arrays where the standard allows a constant instead. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

enum { MOST = 40 };

static int rank, size;

/* The edges at this rank in the order of the blocks: the rank at the other end and the name of the edge. */
struct around {
    int ins, outs;
    int source[MOST], in_name[MOST], dest[MOST], out_name[MOST];
};

static long bytes_of(int name, int turn) { return name < 0 ? 8 : (name * 7 + turn * 3) % 5 * (turn == 3 ? 30000 : 12); }

/* A collective in one of its three forms: blocking, nonblocking, persistent and started twice. */
static int form;
#define RUN(name, ...)                                              \
    do {                                                            \
        MPI_Request request_;                                       \
        if (form == 0) {                                            \
            MPI_Neighbor_##name(__VA_ARGS__);                       \
        } else if (form == 1) {                                     \
            MPI_Ineighbor_##name(__VA_ARGS__, &request_);           \
            MPI_Wait(&request_, MPI_STATUS_IGNORE);                 \
        } else {                                                    \
            MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
            for (int i_ = 0; i_ < 2; i_++) {                        \
                MPI_Start(&request_);                               \
                MPI_Wait(&request_, MPI_STATUS_IGNORE);             \
            }                                                       \
            MPI_Request_free(&request_);                            \
        }                                                           \
    } while (0)

static void alltoall(MPI_Comm comm, const struct around *a, int each) {
    unsigned char *out = need((long)a->outs * each), *in = need((long)a->ins * each);
    memset(in, 0xee, (long)a->ins * each);
    for (int i = 0; i < a->outs; i++) fill(out + (long)i * each, each, a->out_name[i]);
    RUN(alltoall, out, each, MPI_BYTE, in, each, MPI_BYTE, comm);
    for (int i = 0; i < a->ins; i++)
        if (a->source[i] != MPI_PROC_NULL)
            CHECK(differs(in + (long)i * each, each, a->in_name[i]) < 0, "block %d of %d from %d", i, a->ins, a->source[i]);
        else
            CHECK(each == 0 || in[(long)i * each] == 0xee, "block %d comes from nobody", i);
    free(out), free(in);
}

static void allgather(MPI_Comm comm, const struct around *a, int each) {
    unsigned char *out = need(each), *in = need((long)a->ins * each);
    int counts[MOST], displs[MOST];
    fill(out, each, rank);
    for (int v = 0; v < 2; v++) {
        memset(in, 0xee, (long)a->ins * each);
        for (int i = 0; i < a->ins; i++) counts[i] = each, displs[i] = (a->ins - 1 - i) * each;
        if (v)
            RUN(allgatherv, out, each, MPI_BYTE, in, counts, displs, MPI_BYTE, comm);
        else
            RUN(allgather, out, each, MPI_BYTE, in, each, MPI_BYTE, comm);
        for (int i = 0; i < a->ins; i++) {
            unsigned char *at = in + (long)(v ? displs[i] : i * each);
            if (a->source[i] != MPI_PROC_NULL)
                CHECK(differs(at, each, a->source[i]) < 0, "block %d from %d", i, a->source[i]);
            else
                CHECK(each == 0 || *at == 0xee, "block %d comes from nobody", i);
        }
    }
    free(out), free(in);
}

/* Blocks of different lengths, with gaps; then each with a type of its own, sent as ints and received as bytes. */
static void varying(MPI_Comm comm, const struct around *a, int turn) {
    int sendcounts[MOST], sdispls[MOST], recvcounts[MOST], rdispls[MOST];
    MPI_Aint sbytes[MOST], rbytes[MOST];
    MPI_Datatype sendtypes[MOST], recvtypes[MOST];
    long to = 0, from = 0;
    for (int i = 0; i < a->outs; i++) {
        sendcounts[i] = bytes_of(a->out_name[i], turn) / 4 * 4, sdispls[i] = to, to += sendcounts[i] + 8;
        sendtypes[i] = MPI_INT, sbytes[i] = sdispls[i];
    }
    for (int i = 0; i < a->ins; i++) {
        recvcounts[i] = bytes_of(a->in_name[i], turn) / 4 * 4, rdispls[i] = from, from += recvcounts[i] + 4;
        recvtypes[i] = MPI_INT, rbytes[i] = rdispls[i];
    }
    unsigned char *out = need(to), *in = need(from);
    for (int i = 0; i < a->outs; i++) fill(out + sdispls[i], sendcounts[i], a->out_name[i]);
    for (int w = 0; w < 2; w++) {
        memset(in, 0xee, from);
        if (w) {
            for (int i = 0; i < a->outs; i++) sendcounts[i] /= 4;
            for (int i = 0; i < a->ins; i++) recvcounts[i] /= 4;
            RUN(alltoallw, out, sendcounts, sbytes, sendtypes, in, recvcounts, rbytes, recvtypes, comm);
        } else
            RUN(alltoallv, out, sendcounts, sdispls, MPI_BYTE, in, recvcounts, rdispls, MPI_BYTE, comm);
        for (int i = 0; i < a->ins; i++) {
            long len = (long)recvcounts[i] * (w ? 4 : 1);
            if (a->source[i] != MPI_PROC_NULL)
                CHECK(differs(in + rdispls[i], len, a->in_name[i]) < 0, "form %d.%d: block %d from %d", form, w, i, a->source[i]);
            CHECK(in[rdispls[i] + len] == 0xee && (a->source[i] != MPI_PROC_NULL || in[rdispls[i]] == 0xee), "behind block %d", i);
        }
    }
    free(out), free(in);
}

static int forms;

static void all(MPI_Comm comm, const struct around *a) {
    for (int turn = 0; turn < 4; turn++) {
        form = (turn + forms) % 3;
        alltoall(comm, a, (int[]){0, 8, 2000, 70000}[turn]);
        allgather(comm, a, (int[]){0, 12, 3000, 40000}[turn]);
        varying(comm, a, turn);
    }
}

/* A block that is sent down in a dimension arrives in the block of the neighbor above, also where both are one rank. */
static void grids(void) {
    for (int x = 1; x <= 4; x++)
        for (int y = 1; y <= 3; y++)
            for (int bits = 0; bits < 4; bits++) {
                int dims[2] = {x, y}, periods[2] = {bits & 1, bits & 2};
                struct around a = {0};
                MPI_Comm grid;
                if (x * y > size) continue;
                MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
                if (grid == MPI_COMM_NULL) continue;
                for (int d = 0; d < 2; d++) {
                    int peer[2];
                    MPI_Cart_shift(grid, d, 1, &peer[0], &peer[1]);
                    for (int up = 0; up < 2; up++) {
                        a.source[a.ins] = a.dest[a.outs] = peer[up];
                        a.out_name[a.outs++] = peer[up] < 0 ? -1 : rank * 4 + d * 2 + up;
                        a.in_name[a.ins++] = peer[up] < 0 ? -1 : peer[up] * 4 + d * 2 + !up;
                    }
                }
                all(grid, &a);
                MPI_Comm_free(&grid);
            }
}

/* Several edges between two ranks are told apart by their order at both ends. */
static void add(struct around *a, int from, int to, int name) {
    if (to == rank) a->source[a->ins] = from, a->in_name[a->ins++] = name;
    if (from == rank) a->dest[a->outs] = to, a->out_name[a->outs++] = name;
}

static void graphs(void) {
    for (int turn = 0; turn < 4; turn++) {
        struct around a = {0};
        MPI_Comm graph;
        int n = (int[]){0, 3, 12, 30}[turn];
        for (int e = 0; e < n; e++) {
            int from = e * 5 % size, to = (e * e + turn) % size;
            add(&a, from, to, e);
            if (e % 4 == 0) add(&a, from, from, 100 + e);
        }
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, a.ins, a.source, MPI_UNWEIGHTED, a.outs, a.dest, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &graph);
        all(graph, &a);
        MPI_Comm copy;
        MPI_Comm_dup(graph, &copy);
        alltoall(copy, &a, 100);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&graph);
    }
    /* Everybody is everybody's neighbor, oneself among them. */
    int index[8], edges[64], n = 0;
    if (size > 8) return;
    struct around a = {0};
    for (int r = 0; r < size; r++) {
        for (int other = 0; other < size; other++) edges[n++] = (r + other) % size;
        index[r] = n;
    }
    for (int i = 0; i < size; i++) {
        int other = (rank + i) % size;
        a.source[a.ins] = a.dest[a.outs] = other;
        a.in_name[a.ins++] = other * 10 + rank, a.out_name[a.outs++] = rank * 10 + other;
    }
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    all(graph, &a);
    MPI_Comm_free(&graph);
}

/* More neighbors than a collective has requests at hand. */
static void crowd(void) {
    enum { EDGES = 500 };
    int *ranks = need(EDGES * sizeof(int)), *out = need(EDGES * sizeof(int)), *in = need(EDGES * sizeof(int));
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm graph;
    for (int i = 0; i < EDGES; i++) ranks[i] = before, out[i] = next;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, EDGES, ranks, MPI_UNWEIGHTED, EDGES, out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    for (int i = 0; i < EDGES; i++) out[i] = rank * EDGES + i;
    RUN(alltoall, out, 1, MPI_INT, in, 1, MPI_INT, graph);
    for (int i = 0; i < EDGES; i++) CHECK(in[i] == before * EDGES + i, "%d: %d", i, in[i]);
    MPI_Comm_free(&graph);
    free(ranks), free(out), free(in);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    for (forms = 0; forms < 3; forms++) {
        grids();
        graphs();
        form = forms;
        crowd();
    }
    return end();
}
