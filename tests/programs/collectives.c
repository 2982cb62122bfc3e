/* Barrier, Bcast, Reduce, Allreduce, Allgather, Gather, Scatter, Alltoall: every root, several
 * lengths, several types and operations, in place, on the world and on parts of it, against results
 * that can be written down. */
#include "check.h"
#include <stdint.h>

static MPI_Comm comm;
static int rank, size;

static const int lengths[] = { 0, 1, 3, 17, 1000, 70000 };
enum { LENGTHS = sizeof lengths / sizeof *lengths, LONGEST = 70000 };

static long *in, *out;

static void bcast(int root, int n) {
    for (int i = 0; i < n; i++) in[i] = rank == root ? i * 3L + root : -1;
    MPI_Bcast(in, n, MPI_LONG, root, comm);
    for (int i = 0; i < n; i++) CHECK(in[i] == i * 3L + root, "bcast root %d element %d: %ld", root, i, in[i]);
}

/* Sum over the ranks r of (r+1)*(i+1). */
static long sum(int i) { return (long)size * (size + 1) / 2 * (i + 1); }

static void reduce(int root, int n, int in_place) {
    for (int i = 0; i < n; i++) { in[i] = (rank + 1L) * (i + 1); out[i] = in_place ? in[i] : -1; }
    if (root < 0) MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_LONG, MPI_SUM, comm);
    else if (rank == root) MPI_Reduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_LONG, MPI_SUM, root, comm);
    else MPI_Reduce(in, NULL, n, MPI_LONG, MPI_SUM, root, comm);
    for (int i = 0; (root < 0 || rank == root) && i < n; i++)
        CHECK(out[i] == sum(i), "reduce root %d element %d of %d: %ld instead of %ld", root, i, n, out[i], sum(i));
}

static void gather(int root, int n, int in_place) {
    int here = root < 0 || rank == root;
    for (int i = 0; i < n; i++) in[i] = rank * 1000000L + i;
    for (int i = 0; i < n * size; i++) out[i] = -1;
    if (in_place && here) memcpy(out + (size_t)rank * n, in, (size_t)n * sizeof *in);
    const void *from = in_place && here ? MPI_IN_PLACE : (void *)in;
    if (root < 0) MPI_Allgather(from, n, MPI_LONG, out, n, MPI_LONG, comm);
    else MPI_Gather(from, n, MPI_LONG, here ? out : NULL, n, MPI_LONG, root, comm);
    for (int r = 0; here && r < size; r++)
        for (int i = 0; i < n; i++)
            CHECK(out[(size_t)r * n + i] == r * 1000000L + i, "gather root %d: element %d of rank %d", root, i, r);
}

static void scatter(int root, int n) {
    for (int i = 0; i < n * size; i++) in[i] = rank == root ? i + root : -1;
    for (int i = 0; i < n; i++) out[i] = -1;
    MPI_Scatter(rank == root ? in : NULL, n, MPI_LONG, out, n, MPI_LONG, root, comm);
    for (int i = 0; i < n; i++) CHECK(out[i] == (long)rank * n + i + root, "scatter root %d element %d", root, i);
}

static void alltoall(int n, int in_place) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) {
            in[(size_t)r * n + i] = rank * 1000000L + r * 1000L + i % 1000;
            out[(size_t)r * n + i] = in_place ? in[(size_t)r * n + i] : -1;
        }
    MPI_Alltoall(in_place ? MPI_IN_PLACE : (void *)in, n, MPI_LONG, out, n, MPI_LONG, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            CHECK(out[(size_t)r * n + i] == r * 1000000L + rank * 1000L + i % 1000, "alltoall: element %d from %d", i, r);
}

/* Each predefined operation on types it is for, on one element per rank that shows an error. */
static void operations(void) {
    int i = rank + 1, r;
    long factorial = 1, all_or = 0, all_xor = 0;
    for (int k = 1; k <= size; k++) { factorial *= k; all_or |= k; all_xor ^= k; }
#define EXPECT(type, ctype, op, value, wanted)                                                        \
    do {                                                                                              \
        ctype from_ = (ctype)(value), to_ = 0;                                                        \
        MPI_Allreduce(&from_, &to_, 1, type, op, comm);                                               \
        CHECK(to_ == (ctype)(wanted), #op " of " #type);                                              \
    } while (0)
    EXPECT(MPI_INT, int, MPI_MAX, i, size);
    EXPECT(MPI_INT, int, MPI_MIN, -i, -size);
    EXPECT(MPI_LONG, long, MPI_PROD, i, factorial);
    EXPECT(MPI_UNSIGNED, unsigned, MPI_BOR, i, all_or);
    EXPECT(MPI_UNSIGNED_CHAR, unsigned char, MPI_BXOR, i, all_xor);
    EXPECT(MPI_INT, int, MPI_BAND, -(1 << rank), -(1 << (size - 1)));
    EXPECT(MPI_INT, int, MPI_LAND, rank != 0, size == 0);
    EXPECT(MPI_INT, int, MPI_LOR, rank == size - 1, 1);
    EXPECT(MPI_INT, int, MPI_LXOR, 1, size % 2);
    EXPECT(MPI_DOUBLE, double, MPI_SUM, i * 0.5, size * (size + 1) / 4.0);
    EXPECT(MPI_FLOAT, float, MPI_MAX, i * 0.25f, size * 0.25f);
    EXPECT(MPI_SHORT, short, MPI_SUM, i, size * (size + 1) / 2);
    EXPECT(MPI_INT64_T, int64_t, MPI_SUM, (int64_t)i << 40, (int64_t)size * (size + 1) / 2 << 40);
    EXPECT(MPI_UINT8_T, uint8_t, MPI_SUM, 1, size);
#undef EXPECT
    struct { double value; int index; } pair = { rank == size / 2 ? 9.5 : 1.0, rank }, most;
    MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    CHECK(most.value == 9.5 && most.index == size / 2, "MPI_MAXLOC gives %g at %d", most.value, most.index);
    struct { int value, index; } least, same = { 4, rank };
    MPI_Allreduce(&same, &least, 1, MPI_2INT, MPI_MINLOC, comm);
    CHECK(least.value == 4 && least.index == 0, "MPI_MINLOC gives %d at %d", least.value, least.index);
    r = -1;
    MPI_Reduce(&i, &r, 1, MPI_INT, MPI_SUM, size - 1, comm);
    CHECK(rank != size - 1 || r == size * (size + 1) / 2, "sum at the last rank: %d", r);
}

/* Nobody leaves a barrier before everybody has come to it: the last to come is each in turn. */
static void barriers(void) {
    for (int late = 0; late < size; late++) {
        int word = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0 && late != 0) MPI_Irecv(&word, 1, MPI_INT, late, 11, comm, &request);
        if (rank == late && late != 0) {
            word = 1;
            /* Synchronous: rank 0 has matched it when this returns. */
            MPI_Ssend(&word, 1, MPI_INT, 0, 11, comm);
        }
        MPI_Barrier(comm);
        if (rank == 0 && late != 0) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(word == 1, "rank %d came later than its barrier", late);
        }
    }
    for (int i = 0; i < 500; i++) MPI_Barrier(comm);
}

static void all(void) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    in = need(sizeof *in * (size_t)LONGEST * (size_t)size);
    out = need(sizeof *out * (size_t)LONGEST * (size_t)size);
    barriers();
    operations();
    for (int l = 0; l < LENGTHS; l++) {
        int n = lengths[l];
        for (int root = 0; root < size; root++) {
            bcast(root, n);
            reduce(root, n, root % 2);
            gather(root, n, root % 2);
            scatter(root, n);
        }
        for (int in_place = 0; in_place < 2; in_place++) {
            reduce(-1, n, in_place);
            gather(-1, n, in_place);
            alltoall(n, in_place);
        }
    }
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    int world_rank, world_size;
    begin(&argc, &argv, &world_rank, &world_size);
    comm = MPI_COMM_WORLD;
    all();
    comm = MPI_COMM_SELF;
    all();
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
    all();
    /* Keys run backwards: the highest world rank of each half comes first. */
    int last = world_size - 1 - (world_size - 1 - world_rank % 2) % 2;
    CHECK(rank == (last - world_rank) / 2, "rank %d after the split", rank);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL, "the freed communicator");
    return end();
}
