/* Nonblocking and persistent collectives, beyond what their blocking forms are tested with: many under way at
 * once, completed in any order and by any function, among messages and blocking collectives, on several
 * communicators; types, operations and arrays that are gone before the operation is over; requests that are
 * started a thousand times, in orders that differ between ranks; and what goes wrong. `later THREADS`: so many threads,
 * each on a communicator of its own. `later strict`: also what the standard leaves to the library. */
#include "check.h"
#include <pthread.h>

static int rank, size;
/* Look at what the standard leaves open, too. */
static int strict;
static MPI_Comm world;

/* Chains the operands in the order of ranks: a*x+b after c*x+d. Associative, not commutative. */
typedef struct { unsigned a, b; } Line;

static void then(void *in, void *inout, int *n, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    CHECK(MPI_Type_get_extent(*type, &lb, &extent) == MPI_SUCCESS, "the function's type");
    for (int i = 0; i < *n; i++) {
        Line *first = (Line *)((char *)in + i * extent), *second = (Line *)((char *)inout + i * extent);
        Line both = { first->a * second->a, first->b * second->a + second->b };
        *second = both;
    }
}

static Line line_of(int r, int i) { return (Line){ 3u + 2u * (unsigned)r, (unsigned)(7 * r + i) }; }

static Line chain(int from, int to, int i) {
    Line sum = line_of(from, i);
    for (int r = from + 1; r <= to; r++) {
        Line next = line_of(r, i);
        sum = (Line){ sum.a * next.a, sum.b * next.a + next.b };
    }
    return sum;
}

/* Every kind, `turns` times, all under way at once; waited for in reverse. */
static void many(int turns, int n) {
    enum { KINDS = 8 };
    int *memory = need(sizeof *memory * (size_t)turns * KINDS * (size_t)n * (size_t)(2 * size + 2)), *at = memory;
    MPI_Request *requests = need(sizeof *requests * (size_t)turns * KINDS);
    int **out = need(sizeof *out * (size_t)turns * KINDS);
    for (int t = 0; t < turns; t++)
        for (int kind = 0; kind < KINDS; kind++) {
            MPI_Request *request = &requests[t * KINDS + kind];
            int root = t % size, *in = at, *into = at + n * (size + 1);
            at += n * (2 * size + 2);
            out[t * KINDS + kind] = into;
            for (int i = 0; i < n * (size + 1); i++) in[i] = rank * 1000 + t + i, into[i] = -1;
            switch (kind) {
            case 0: MPI_Ibarrier(world, request); break;
            case 1:
                for (int i = 0; i < n; i++) into[i] = rank == root ? t + i : -1;
                MPI_Ibcast(into, n, MPI_INT, root, world, request);
                break;
            case 2: MPI_Iallreduce(in, into, n, MPI_INT, MPI_SUM, world, request); break;
            case 3: MPI_Iallgather(in, n, MPI_INT, into, n, MPI_INT, world, request); break;
            case 4: MPI_Ialltoall(in, n, MPI_INT, into, n, MPI_INT, world, request); break;
            case 5: MPI_Igather(in, n, MPI_INT, into, n, MPI_INT, root, world, request); break;
            case 6: MPI_Iscan(in, into, n, MPI_INT, MPI_MAX, world, request); break;
            case 7: MPI_Ireduce_scatter_block(in, into, n, MPI_INT, MPI_SUM, world, request); break;
            }
            if ((t + kind) % 5 == 0) {
                int sum, one = 1;
                MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
                CHECK(sum == size, "a blocking one between: %d", sum);
            }
        }
    for (int i = turns * KINDS - 1; i >= 0; i--) {
        MPI_Status status;
        int count;
        MPI_Wait(&requests[i], &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(requests[i] == MPI_REQUEST_NULL, "a request that is complete");
        CHECK(!strict || (count == 0 && status.MPI_SOURCE == MPI_ANY_SOURCE
              && status.MPI_TAG == MPI_ANY_TAG), "the status is empty: %d, %d, %d", count, status.MPI_SOURCE, status.MPI_TAG);
    }
    int ranks = size * (size - 1) / 2 * 1000;
    for (int t = 0; t < turns; t++)
        for (int kind = 1; kind < KINDS; kind++)
            for (int i = 0; i < n; i++) {
                int got = out[t * KINDS + kind][i], last = out[t * KINDS + kind][(size - 1) * n + i], root = t % size;
                switch (kind) {
                case 1: CHECK(got == t + i, "bcast %d: %d", t, got); break;
                case 2: CHECK(got == ranks + size * (t + i), "allreduce %d: %d", t, got); break;
                case 3: CHECK(last == (size - 1) * 1000 + t + i, "allgather %d: %d", t, last); break;
                case 4: CHECK(last == (size - 1) * 1000 + t + rank * n + i, "alltoall %d: %d", t, last); break;
                case 5: CHECK(rank != root || last == (size - 1) * 1000 + t + i, "gather %d: %d", t, last); break;
                case 6: CHECK(got == rank * 1000 + t + i, "scan %d: %d", t, got); break;
                case 7: CHECK(got == ranks + size * (t + rank * n + i), "reduce_scatter_block %d: %d", t, got); break;
                }
            }
    free(out);
    free(requests);
    free(memory);
}

/* Everything the program made for an operation is freed while that is under way. */
static void freed_early(void) {
    enum { N = 5000 };
    Line *in = need(2 * sizeof *in * N), *all = need(2 * sizeof *all * N), *sum = need(2 * sizeof *sum * N), *data = need(2 * sizeof *data * N);
    for (int i = 0; i < N; i++) in[2 * i] = data[2 * i] = line_of(rank, i), all[2 * i] = sum[2 * i] = (Line){ 0, 0 };
    MPI_Datatype pair, apart;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request requests[4];
    MPI_Comm_dup(world, &comm);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_create_resized(pair, 0, 2 * sizeof *in, &apart);
    MPI_Type_commit(&apart);
    MPI_Type_free(&pair);
    MPI_Op_create(then, 0, &op);
    int *counts = need(sizeof *counts * (size_t)size), *displs = need(sizeof *displs * (size_t)size);
    int *bytes = need(sizeof *bytes * (size_t)size), *to = need(sizeof *to * (size_t)size), *from = need(sizeof *from * (size_t)size);
    MPI_Datatype *types = need(sizeof *types * (size_t)size);
    for (int r = 0; r < size; r++) {
        counts[r] = 1;
        displs[r] = (int)sizeof(int) * (size - 1 - r);
        bytes[r] = (int)sizeof(int) * r;
        types[r] = MPI_INT;
        to[r] = 100 * rank + r;
        from[r] = -1;
    }
    MPI_Iallreduce(in, all, N, apart, op, comm, &requests[0]);
    MPI_Iscan(in, sum, N, apart, op, comm, &requests[1]);
    MPI_Ialltoallw(to, counts, bytes, types, from, counts, displs, types, comm, &requests[2]);
    MPI_Ibcast(data, N, apart, 0, comm, &requests[3]);
    MPI_Type_free(&apart);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        Line whole = chain(0, size - 1, i), mine = chain(0, rank, i), first = line_of(0, i);
        CHECK(all[2 * i].a == whole.a && all[2 * i].b == whole.b, "allreduce: element %d", i);
        CHECK(sum[2 * i].a == mine.a && sum[2 * i].b == mine.b, "scan: element %d", i);
        CHECK(data[2 * i].a == first.a && data[2 * i].b == first.b, "bcast: element %d", i);
    }
    for (int r = 0; r < size; r++) CHECK(from[size - 1 - r] == 100 * r + rank, "alltoallw: from %d", r);
    free(types); free(from); free(to); free(bytes); free(displs); free(counts);
    free(data); free(sum); free(all); free(in);
}

/* Among messages: whichever function completes them. */
static void mixed(void) {
    for (int way = 0; way < 5; way++) {
        int in = rank, out = -1, sum = -1, got[2] = { -1, -1 }, done = 0, right = (rank + 1) % size, left = (rank + size - 1) % size;
        MPI_Request requests[5];
        MPI_Status statuses[5];
        MPI_Irecv(&got[0], 1, MPI_INT, left, 5, world, &requests[0]);
        MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, world, &requests[1]);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 6, world, &requests[2]);
        MPI_Iexscan(&in, &out, 1, MPI_INT, MPI_SUM, world, &requests[3]);
        MPI_Ibarrier(world, &requests[4]);
        MPI_Send(&in, 1, MPI_INT, right, 6, world);
        MPI_Send(&in, 1, MPI_INT, right, 5, world);
        int index, flag, indices[5];
        switch (way) {
        case 0: MPI_Waitall(5, requests, statuses); break;
        case 1:
            for (int i = 0; i < 5; i++) {
                MPI_Waitany(5, requests, &index, statuses);
                CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL, "waitany: %d", index);
            }
            break;
        case 2:
            while (done < 5) {
                MPI_Testsome(5, requests, &index, indices, statuses);
                done += index;
            }
            break;
        case 3:
            for (int i = 0; i < 5; i++) {
                for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
                CHECK(requests[i] != MPI_REQUEST_NULL, "get_status does not free");
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
                CHECK(flag, "it was complete");
            }
            break;
        case 4:
            for (flag = 0; !flag;) MPI_Testall(5, requests, &flag, statuses);
            break;
        }
        CHECK(got[0] == left && got[1] == left && sum == size * (size - 1) / 2, "way %d: %d %d %d", way, got[0], got[1], sum);
        CHECK(rank == 0 || out == rank * (rank - 1) / 2, "way %d: %d", way, out);
    }
}

/* One request a thousand times, and several in orders that differ between ranks. */
static void again(void) {
    enum { TIMES = 1000, N = 3 };
    int in[N], out[N], part, all[64];
    MPI_Request requests[4];
    CHECK(size <= 64, "%d ranks", size);
    MPI_Datatype type;
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce_init(in, out, N, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]);
    MPI_Allgather_init(&in[1], 1, MPI_INT, all, 1, type, world, MPI_INFO_NULL, &requests[1]);
    MPI_Exscan_init(&in[2], &part, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[2]);
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[3]);
    MPI_Type_free(&type);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < N; i++) in[i] = rank * (i + 1) + t, out[i] = -1;
        part = -1;
        for (int r = 0; r < size; r++) all[r] = -1;
        if (t % 2) MPI_Startall(4, requests);
        else
            for (int i = 0; i < 4; i++) MPI_Start(&requests[(i + rank + t) % 4]);
        if (t % 3) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        else
            for (int i = 3; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i++) CHECK(requests[i] != MPI_REQUEST_NULL, "a persistent request stays");
        for (int i = 0; i < N; i++)
            CHECK(out[i] == (i + 1) * size * (size - 1) / 2 + size * t, "start %d: sum %d is %d", t, i, out[i]);
        for (int r = 0; r < size; r++) CHECK(all[r] == 2 * r + t, "start %d: from %d came %d", t, r, all[r]);
        CHECK(rank == 0 || part == 3 * rank * (rank - 1) / 2 + rank * t, "start %d: the part is %d", t, part);
    }
    /* Freed while active: it goes on. */
    MPI_Start(&requests[3]);
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Barrier(world);
}

/* An error is told with the right class, and nothing is lost by it. */
static void wrong(void) {
    int class, in = rank, out = -1, code;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#define FAILS(call, expected)                                                            \
    do {                                                                                 \
        code = call;                                                                     \
        MPI_Error_class(code, &class);                                                   \
        CHECK(class == expected, #call " gives class %d", class);                        \
    } while (0)
    FAILS(MPI_Ibcast(&in, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
    FAILS(MPI_Ibcast(&in, 1, MPI_DATATYPE_NULL, 0, comm, &request), MPI_ERR_TYPE);
    FAILS(MPI_Ibcast(&in, 1, MPI_INT, size, comm, &request), MPI_ERR_ROOT);
    FAILS(MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, comm, &request), MPI_ERR_OP);
    FAILS(MPI_Allreduce_init(&in, &in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), MPI_ERR_BUFFER);
    FAILS(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM);
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
    if (strict) FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == size * (size - 1) / 2, "the operation is whole: %d", out);
    MPI_Request_free(&request);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm, &request);
    if (strict) {
        FAILS(MPI_Start(&request), MPI_ERR_REQUEST);
        FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == size - 1, "the operation is whole: %d", out);
    /* A broadcast of another length than the root's: Wait tells everybody who asks for it, and the next operation
     * is right. */
    for (int longer = 0; strict && longer < 2; longer++) {
        int data[2] = { 1, 2 };
        MPI_Ibcast(data, (rank == 0) == longer ? 2 : 1, MPI_INT, 0, comm, &request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        CHECK(class == (rank == 0 ? MPI_SUCCESS : longer ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME), "class %d", class);
        MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(out == size * (size - 1) / 2, "the next one: %d", out);
    }
    MPI_Comm_free(&comm);
}

/* The work of one of several threads on its communicator. */
static void *thread(void *of) {
    MPI_Comm comm = *(MPI_Comm *)of;
    enum { TURNS = 150, N = 400, FLIGHT = 6 };
    int *in = need(sizeof *in * N * FLIGHT), *out = need(sizeof *out * N * FLIGHT), flag, sum, one = 1;
    MPI_Request requests[FLIGHT], again;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Op_create(then, 0, &op);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    Line mine[4], all[4];
    MPI_Allreduce_init(mine, all, 4, type, op, comm, MPI_INFO_NULL, &again);
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < 4; i++) mine[i] = line_of(rank, i + t);
        MPI_Start(&again);
        for (int f = 0; f < FLIGHT; f++) {
            int n = t % 2 ? N : 1 + f;
            for (int i = 0; i < n; i++) in[f * N + i] = rank + t + f + i, out[f * N + i] = -1;
            if (f == 3) MPI_Ibarrier(comm, &requests[f]);
            else MPI_Iallreduce(in + f * N, out + f * N, n, MPI_INT, MPI_SUM, comm, &requests[f]);
        }
        if (t % 4 == 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (t % 3 == 0) MPI_Waitall(FLIGHT, requests, MPI_STATUSES_IGNORE);
        else if (t % 3 == 1)
            for (flag = 0; !flag;) MPI_Testall(FLIGHT, requests, &flag, MPI_STATUSES_IGNORE);
        else
            for (int f = FLIGHT - 1; f >= 0; f--) MPI_Wait(&requests[f], MPI_STATUS_IGNORE);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        for (int f = 0; f < FLIGHT; f++)
            for (int i = 0; f != 3 && i < (t % 2 ? N : 1 + f); i++)
                CHECK(out[f * N + i] == size * (size - 1) / 2 + size * (t + f + i), "turn %d, operation %d: %d", t, f, out[f * N + i]);
        for (int i = 0; i < 4; i++) {
            Line whole = chain(0, size - 1, i + t);
            CHECK(all[i].a == whole.a && all[i].b == whole.b, "turn %d, persistent: element %d", t, i);
        }
    }
    MPI_Request_free(&again);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    free(out);
    free(in);
    return NULL;
}

static int threads(int argc, char **argv, int n) {
    int level;
    pthread_t ids[16];
    MPI_Comm comms[16];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(level == MPI_THREAD_MULTIPLE && n <= 16, "level %d", level);
    for (int i = 0; i < n; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < n; i++) CHECK(pthread_create(&ids[i], NULL, thread, &comms[i]) == 0, "thread %d", i);
    for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
    for (int i = 0; i < n; i++) MPI_Comm_free(&comms[i]);
    return end();
}

int main(int argc, char **argv) {
    strict = argc > 1 && strcmp(argv[1], "strict") == 0;
    if (argc > 1 && !strict) return threads(argc, argv, atoi(argv[1]));
    begin(&argc, &argv, &rank, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    many(1, 0);
    many(20, 1);
    many(6, 700);
    many(2, 20000);
    freed_early();
    mixed();
    again();
    wrong();
    MPI_Comm_free(&world);
    return end();
}
