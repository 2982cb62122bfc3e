/* Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw, Scan, Exscan, Reduce_scatter and
 * Reduce_scatter_block on one group: lengths that differ (some are 0), gaps, in place, types that differ,
 * an operation that does not commute, the large-count forms. */
#include "check.h"

static int rank, size;
static int *counts, *displs, *in, *out;
static MPI_Count *large_counts;
static MPI_Aint *large_displs;

/* Rank r has r % 3 elements; they stand in reverse order with a gap of one. */
static int layout(void) {
    int at = 0;
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = r % 3;
        displs[r] = at;
        at += counts[r] + 1;
        large_counts[r] = counts[r];
        large_displs[r] = displs[r];
    }
    return at;
}

static int element(int r, int i) { return 1000 * r + i; }

static void whole(const int *data, int gap, const char *what) {
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            CHECK(data[displs[r] + i] == element(r, i), "%s: element %d of rank %d", what, i, r);
        CHECK(data[displs[r] + counts[r]] == gap, "%s: the gap behind rank %d", what, r);
    }
}

#if MPI_VERSION < 4
/* No large-count forms: the plain ones once more. */
#define MPI_Gatherv_c(a, b, c, d, counts_, displs_, e, f, g) MPI_Gatherv(a, b, c, d, counts, displs, e, f, g)
#define MPI_Scatterv_c(a, counts_, displs_, b, c, d, e, f, g) MPI_Scatterv(a, counts, displs, b, c, d, e, f, g)
#define MPI_Allgatherv_c(a, b, c, d, counts_, displs_, e, f) MPI_Allgatherv(a, b, c, d, counts, displs, e, f)
#endif

static void gathers(int large) {
    int all = layout(), n = rank % 3;
    for (int root = 0; root < size; root++)
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < all; i++) out[i] = -7;
            for (int i = 0; i < n; i++) in[i] = element(rank, i);
            int here = in_place && rank == root;
            if (here) memcpy(out + displs[rank], in, sizeof *in * (size_t)n);
            const void *from = here ? MPI_IN_PLACE : (void *)in;
            if (large) MPI_Gatherv_c(from, n, MPI_INT, out, large_counts, large_displs, MPI_INT, root, MPI_COMM_WORLD);
            else MPI_Gatherv(from, n, MPI_INT, out, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
            if (rank == root) whole(out, -7, "gatherv");
            for (int i = 0; i < n; i++) in[i] = -1;
            void *to = here ? MPI_IN_PLACE : (void *)in;
            if (large) MPI_Scatterv_c(out, large_counts, large_displs, MPI_INT, to, n, MPI_INT, root, MPI_COMM_WORLD);
            else MPI_Scatterv(out, counts, displs, MPI_INT, to, n, MPI_INT, root, MPI_COMM_WORLD);
            for (int i = 0; !here && i < n; i++) CHECK(in[i] == element(rank, i), "scatterv: %d", in[i]);
        }
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int i = 0; i < all; i++) out[i] = -7;
        for (int i = 0; i < n; i++) in[i] = element(rank, i);
        if (in_place) memcpy(out + displs[rank], in, sizeof *in * (size_t)n);
        const void *from = in_place ? MPI_IN_PLACE : (void *)in;
        if (large) MPI_Allgatherv_c(from, n, MPI_INT, out, large_counts, large_displs, MPI_INT, MPI_COMM_WORLD);
        else MPI_Allgatherv(from, n, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
        whole(out, -7, "allgatherv");
    }
}

/* Rank a sends rank b (a + b) % 3 elements: as many as it gets. */
static void alltoalls(void) {
    int at = 0;
    int *bytes = need(sizeof *bytes * (size_t)size);
    MPI_Datatype *types = need(sizeof *types * (size_t)size), other;
    MPI_Type_contiguous(1, MPI_INT, &other);
    MPI_Type_commit(&other);
    for (int r = 0; r < size; r++) {
        counts[r] = (rank + r) % 3;
        displs[r] = at;
        bytes[r] = at * (int)sizeof *in;
        at += counts[r] + 1;
        types[r] = r % 2 ? other : MPI_INT;
    }
    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < at; i++) in[i] = out[i] = -7;
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++) in[displs[r] + i] = element(rank, 10 * r + i);
        if (way % 2) memcpy(out, in, sizeof *in * (size_t)at);
        const void *from = way % 2 ? MPI_IN_PLACE : (void *)in;
        if (way < 2) MPI_Alltoallv(from, counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
        else MPI_Alltoallw(from, counts, bytes, types, out, counts, bytes, types, MPI_COMM_WORLD);
        for (int r = 0; r < size; r++) {
            for (int i = 0; i < counts[r]; i++)
                CHECK(out[displs[r] + i] == element(r, 10 * rank + i), "way %d: element %d of rank %d", way, i, r);
            CHECK(out[displs[r] + counts[r]] == -7, "way %d: the gap behind rank %d", way, r);
        }
    }
    MPI_Type_free(&other);
    free(bytes);
    free(types);
}

/* x -> a x + b, one after the other: associative, and the order matters. */
static void compose(void *left, void *right, int *n, MPI_Datatype *type) {
    unsigned *l = left, *r = right;
    (void)type;
    for (int i = 0; i < *n; i++, l += 2, r += 2) {
        unsigned a = l[0] * r[0], b = l[0] * r[1] + l[1];
        r[0] = a;
        r[1] = b;
    }
}

static void model(int last, unsigned i, unsigned *result) {
    result[0] = 2u * (unsigned)last + 3u + i;
    result[1] = (unsigned)last + i;
    for (int r = last - 1; r >= 0; r--) {
        unsigned left[2] = { 2u * (unsigned)r + 3u + i, (unsigned)r + i };
        int one = 1;
        compose(left, result, &one, NULL);
    }
}

static void reductions(void) {
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    int n = 2 * size + 5;
    unsigned *mine = need(sizeof *mine * 2 * (size_t)n), *got = need(sizeof *got * 2 * (size_t)n), expected[2];
    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < n; i++) {
            mine[2 * i] = 2u * (unsigned)rank + 3u + (unsigned)i;
            mine[2 * i + 1] = (unsigned)(rank + i);
        }
        if (way % 2) memcpy(got, mine, sizeof *mine * 2 * (size_t)n);
        const void *from = way % 2 ? MPI_IN_PLACE : (void *)mine;
        if (way < 2) MPI_Scan(from, got, n, pair, op, MPI_COMM_WORLD);
        else MPI_Exscan(from, got, n, pair, op, MPI_COMM_WORLD);
        for (int i = 0; i < n && (way < 2 || rank > 0); i++) {
            model(way < 2 ? rank : rank - 1, (unsigned)i, expected);
            CHECK(!memcmp(got + 2 * i, expected, sizeof expected), "scan, way %d, element %d", way, i);
        }
        if (way % 2) memcpy(got, mine, sizeof *mine * 2 * (size_t)n);
        int first = 2 * rank, len = 2;
        if (way < 2) {
            MPI_Reduce_scatter_block(from, got, 2, pair, op, MPI_COMM_WORLD);
        } else {
            /* Rank 0 gets the five that are over, the last one nothing of its own but if it is alone. */
            for (int r = 0; r < size; r++) counts[r] = r == 0 ? 5 + 2 * size : 0;
            first = 0;
            len = rank == 0 ? n : 0;
            MPI_Reduce_scatter(from, got, counts, pair, op, MPI_COMM_WORLD);
        }
        for (int i = 0; i < len; i++) {
            model(size - 1, (unsigned)(first + i), expected);
            CHECK(!memcmp(got + 2 * i, expected, sizeof expected), "reduce_scatter, way %d, element %d", way, i);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(mine);
    free(got);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    counts = need(sizeof *counts * (size_t)size);
    displs = need(sizeof *displs * (size_t)size);
    large_counts = need(sizeof *large_counts * (size_t)size);
    large_displs = need(sizeof *large_displs * (size_t)size);
    in = need(sizeof *in * 4 * (size_t)size + 64);
    out = need(sizeof *out * 4 * (size_t)size + 64);
    gathers(0);
    gathers(1);
    alltoalls();
    reductions();
    free(counts);
    free(displs);
    free(large_counts);
    free(large_displs);
    free(in);
    free(out);
    return end();
}
