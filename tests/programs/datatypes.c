/* Messages of non-contiguous data: all protocols by size, other layouts on the other side, types that are
 * freed while messages of them are under way, less room than data, and derived types in persistent requests. */
#include "check.h"

/* Ints 0, 2, 4, ...; rows of boxes; records of an int and a double. All hold `ints` ints or as many bytes. */
static MPI_Datatype spread(int ints) {
    MPI_Datatype t;
    MPI_Type_vector(ints, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype box(int rows) {
    MPI_Datatype t;
    int sizes[] = {rows, 6, 10}, parts[] = {rows, 2, 5}, starts[] = {0, 3, 1};
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype listed(int ints) {
    MPI_Datatype t;
    int *at = need(ints * sizeof(int));
    /* From the back to the front, in pairs. */
    for (int i = 0; i < ints / 2; i++) at[i] = 3 * (ints / 2 - 1 - i);
    MPI_Type_create_indexed_block(ints / 2, 2, at, MPI_INT, &t);
    MPI_Type_commit(&t);
    free(at);
    return t;
}

/* A buffer that holds the packed numbers seed, seed + 1, ... in the layout. */
static void put(int *buffer, MPI_Datatype t, int ints, int seed) {
    int *packed = need(ints * sizeof(int)), at = 0;
    for (int i = 0; i < ints; i++) packed[i] = seed + i;
    MPI_Unpack(packed, ints * (int)sizeof(int), &at, buffer, 1, t, MPI_COMM_SELF);
    free(packed);
}

static void look(const int *buffer, MPI_Datatype t, int ints, int seed, const char *what) {
    int *packed = need(ints * sizeof(int)), at = 0;
    MPI_Pack(buffer, 1, t, packed, ints * (int)sizeof(int), &at, MPI_COMM_SELF);
    for (int i = 0; i < ints; i++) CHECK(packed[i] == seed + i, "%s of %d ints: number %d is %d", what, ints, i, packed[i]);
    free(packed);
}

static void layouts(int rank, int peer, int rows) {
    int ints = 10 * rows;
    MPI_Datatype types[] = {spread(ints), box(rows), listed(ints)};
    int *out = need(70 * rows * sizeof(int)), *in = need(70 * rows * sizeof(int)), *flat = need(ints * sizeof(int));
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            int seed = 1000 * from + 100 * to + rows;
            MPI_Request requests[2];
            memset(in, 0xff, 70 * rows * sizeof(int));
            put(out, types[from], ints, seed + rank);
            MPI_Irecv(in, 1, types[to], peer, to, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out, 1, types[from], peer, to, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            look(in, types[to], ints, seed + peer, "another layout");
            if (to == 0) CHECK(in[1] == -1, "a gap was written");
        }
    for (int t = 0; t < 3; t++) {
        MPI_Status status;
        int got;
        put(out, types[t], ints, rank);
        MPI_Sendrecv(out, 1, types[t], peer, 5, flat, ints, MPI_INT, peer, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK(got == ints && flat[0] == peer && flat[ints - 1] == peer + ints - 1, "%d ints came flat", got);
        for (int i = 0; i < ints; i++) flat[i] = rank + i;
        memset(in, 0, 70 * rows * sizeof(int));
        MPI_Sendrecv(flat, ints, MPI_INT, peer, 6, in, 1, types[t], peer, 6, MPI_COMM_WORLD, &status);
        look(in, types[t], ints, peer, "from flat");
    }
    for (int t = 0; t < 3; t++) MPI_Type_free(&types[t]);
    free(out);
    free(in);
    free(flat);
}

/* A type may go while messages of it are under way. */
static void freed(int rank, int peer, int rows) {
    int ints = 10 * rows;
    int *out = need(70 * rows * sizeof(int)), *in = need(70 * rows * sizeof(int));
    MPI_Datatype t = box(rows), same;
    MPI_Request requests[2], unknown;
    MPI_Type_dup(t, &same);
    put(out, t, ints, rank);
    MPI_Irecv(in, 1, t, peer, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 1, t, peer, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&t);
    /* Something else takes its place. */
    for (int i = 0; i < 20; i++) {
        t = spread(3 + i);
        MPI_Type_free(&t);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    look(in, same, ints, peer, "after its type was freed");
    /* And the request may go, too. */
    MPI_Isend(out, 1, same, peer, 8, MPI_COMM_WORLD, &unknown);
    MPI_Request_free(&unknown);
    MPI_Recv(in, 1, same, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    look(in, same, ints, peer, "of a request that was freed");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send_init(out, 1, same, peer, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 1, same, peer, 9, MPI_COMM_WORLD, &requests[1]);
    t = same;
    MPI_Type_dup(t, &same);
    MPI_Type_free(&t);
    for (int i = 0; i < 3; i++) {
        put(out, same, ints, rank + i);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        look(in, same, ints, peer + i, "of a persistent request");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&same);
    free(out);
    free(in);
}

/* Room for three quarters: those come, and an error. */
static void truncated(int rank, int peer, int rows) {
    int ints = 10 * rows, room = ints * 3 / 4, class = MPI_SUCCESS;
    int *out = need(70 * rows * sizeof(int)), *in = need(70 * rows * sizeof(int));
    MPI_Datatype t = box(rows), less = spread(room);
    MPI_Request request;
    put(out, t, ints, rank);
    memset(in, 0xff, 70 * rows * sizeof(int));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 1, less, peer, 11, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, t, peer, 11, MPI_COMM_WORLD);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_TRUNCATE, "the class is %d", class);
    CHECK(in[2 * room] == -1 && in[2 * room - 1] == -1, "more was written than there is room");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&t);
    MPI_Type_free(&less);
    free(out);
    free(in);
}

/* A part of a type: a record and a half. */
static void elements(int rank, int peer) {
    MPI_Datatype record, bytes[] = {MPI_INT, MPI_DOUBLE};
    struct { int i; double d; } in[2] = {{0, 0}, {0, 0}}, out[2] = {{rank, 0.5}, {rank + 1, 1.5}};
    MPI_Aint at[] = {0, (char *)&in[0].d - (char *)&in[0]};
    MPI_Datatype half;
    MPI_Status status;
    int n;
    MPI_Type_create_struct(2, (int[]){1, 1}, at, bytes, &record);
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, at[1], sizeof out[0]},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_INT}, &half);
    MPI_Type_commit(&record);
    MPI_Type_commit(&half);
    MPI_Sendrecv(out, 1, half, peer, 12, in, 2, record, peer, 12, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, record, &n);
    CHECK(n == 3, "%d elements", n);
    MPI_Get_count(&status, record, &n);
    CHECK(n == MPI_UNDEFINED, "count %d", n);
    CHECK(in[0].i == peer && in[0].d == 0.5 && in[1].i == peer + 1 && in[1].d == 0, "%d %f %d", in[0].i, in[0].d, in[1].i);
    MPI_Type_free(&record);
    MPI_Type_free(&half);
}

int main(int argc, char **argv) {
    int rank, size, rows[] = {1, 20, 150, 1000, 20000};
    begin(&argc, &argv, &rank, &size);
    int peer = rank ^ 1;
    CHECK(size % 2 == 0, "%d ranks", size);
    for (int i = 0; i < 5; i++) {
        layouts(rank, peer, rows[i]);
        freed(rank, peer, rows[i]);
        truncated(rank, peer, 4 * rows[i]);
    }
    elements(rank, peer);
    return end();
}
