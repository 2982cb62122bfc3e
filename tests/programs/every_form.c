/* Every form of the functions on communicators: blocking, nonblocking and persistent, in both widths of counts; sends in all modes;
 * names, handlers, groups. At least three ranks. Functions that other programs of this folder look at closely are called here once.
 *
 *   every_form [DIGITS]
 *
 * With digits ranks are endpoints with a thread each: as many of each process in turn as a digit says. */
#include "check.h"

#include <pthread.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { MOST = 64 };

static _Thread_local int me, n, left, right;
static _Thread_local int out[MOST], in[MOST], ones[MOST], steps[MOST], bytes[MOST];
static _Thread_local MPI_Count ones_c[MOST];
static _Thread_local MPI_Aint steps_c[MOST], bytes_c[MOST];
static _Thread_local MPI_Datatype types[MOST];
static _Thread_local MPI_Comm comm, ring;
static _Thread_local MPI_Request request;
/* A rank is not all of its process. */
static int shares;

static void before(void) {
    for (int i = 0; i < MOST; i++) in[i] = -1, out[i] = 100 * me + i;
}

static void must(int right_one, const char *form) { CHECK(right_one, "%s", form); }

/* `LIST (a, b)` is a, b. */
#define LIST(...) __VA_ARGS__
#define NOW(name, arguments, good) (before(), MPI_##name(LIST arguments), must(good, #name))
#define LATER(name, arguments, good) (before(), MPI_I##name(LIST arguments, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), must(good, "I" #name))
#define INIT(name, arguments, good) \
    (before(), MPI_##name(LIST arguments, MPI_INFO_NULL, &request), MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), \
     MPI_Request_free(&request), must(good, #name))
#define FORMS(name, lower, small, large, good) \
    (NOW(name, small, good), NOW(name##_c, large, good), LATER(lower, small, good), LATER(lower##_c, large, good), INIT(name##_init, small, good), \
     INIT(name##_init_c, large, good))

static int all_ranks(int add) {
    for (int i = 0; i < n; i++)
        if (in[i] != 100 * i + add) return 0;
    return 1;
}

static int sum_to(int last) { return 100 * last * (last + 1) / 2; }

static void collectives(void) {
    FORMS(Bcast, bcast, (me ? in : out, 1, MPI_INT, 0, comm), (me ? in : out, 1, MPI_INT, 0, comm), me == 0 || in[0] == 0);
    FORMS(Gather, gather, (out, 1, MPI_INT, in, 1, MPI_INT, 1, comm), (out, 1, MPI_INT, in, 1, MPI_INT, 1, comm), me != 1 || all_ranks(0));
    FORMS(Gatherv, gatherv, (out, 1, MPI_INT, in, ones, steps, MPI_INT, 1, comm), (out, 1, MPI_INT, in, ones_c, steps_c, MPI_INT, 1, comm),
          me != 1 || all_ranks(0));
    FORMS(Scatter, scatter, (out, 1, MPI_INT, in, 1, MPI_INT, 1, comm), (out, 1, MPI_INT, in, 1, MPI_INT, 1, comm), in[0] == 100 + me);
    FORMS(Scatterv, scatterv, (out, ones, steps, MPI_INT, in, 1, MPI_INT, 1, comm), (out, ones_c, steps_c, MPI_INT, in, 1, MPI_INT, 1, comm),
          in[0] == 100 + me);
    FORMS(Allgather, allgather, (out, 1, MPI_INT, in, 1, MPI_INT, comm), (out, 1, MPI_INT, in, 1, MPI_INT, comm), all_ranks(0));
    FORMS(Allgatherv, allgatherv, (out, 1, MPI_INT, in, ones, steps, MPI_INT, comm), (out, 1, MPI_INT, in, ones_c, steps_c, MPI_INT, comm),
          all_ranks(0));
    FORMS(Alltoall, alltoall, (out, 1, MPI_INT, in, 1, MPI_INT, comm), (out, 1, MPI_INT, in, 1, MPI_INT, comm), all_ranks(me));
    FORMS(Alltoallv, alltoallv, (out, ones, steps, MPI_INT, in, ones, steps, MPI_INT, comm),
          (out, ones_c, steps_c, MPI_INT, in, ones_c, steps_c, MPI_INT, comm), all_ranks(me));
    FORMS(Alltoallw, alltoallw, (out, ones, bytes, types, in, ones, bytes, types, comm),
          (out, ones_c, bytes_c, types, in, ones_c, bytes_c, types, comm), all_ranks(me));
    FORMS(Reduce, reduce, (out, in, 1, MPI_INT, MPI_SUM, 1, comm), (out, in, 1, MPI_INT, MPI_SUM, 1, comm), me != 1 || in[0] == sum_to(n - 1));
    FORMS(Allreduce, allreduce, (out, in, 1, MPI_INT, MPI_SUM, comm), (out, in, 1, MPI_INT, MPI_SUM, comm), in[0] == sum_to(n - 1));
    FORMS(Reduce_scatter, reduce_scatter, (out, in, ones, MPI_INT, MPI_SUM, comm), (out, in, ones_c, MPI_INT, MPI_SUM, comm),
          in[0] == sum_to(n - 1) + n * me);
    FORMS(Reduce_scatter_block, reduce_scatter_block, (out, in, 1, MPI_INT, MPI_SUM, comm), (out, in, 1, MPI_INT, MPI_SUM, comm),
          in[0] == sum_to(n - 1) + n * me);
    FORMS(Scan, scan, (out, in, 1, MPI_INT, MPI_SUM, comm), (out, in, 1, MPI_INT, MPI_SUM, comm), in[0] == sum_to(me));
    FORMS(Exscan, exscan, (out, in, 1, MPI_INT, MPI_SUM, comm), (out, in, 1, MPI_INT, MPI_SUM, comm), me == 0 || in[0] == sum_to(me - 1));
    NOW(Barrier, (comm), 1), LATER(barrier, (comm), 1), INIT(Barrier_init, (comm), 1);
}

static void neighbors(void) {
    int period = 1;
    MPI_Cart_create(comm, 1, &n, &period, 0, &ring);
#define GATHERED (in[0] == 100 * left && in[1] == 100 * right)
#define CHANGED (in[0] == 100 * left + 1 && in[1] == 100 * right)
    FORMS(Neighbor_allgather, neighbor_allgather, (out, 1, MPI_INT, in, 1, MPI_INT, ring), (out, 1, MPI_INT, in, 1, MPI_INT, ring), GATHERED);
    FORMS(Neighbor_allgatherv, neighbor_allgatherv, (out, 1, MPI_INT, in, ones, steps, MPI_INT, ring),
          (out, 1, MPI_INT, in, ones_c, steps_c, MPI_INT, ring), GATHERED);
    FORMS(Neighbor_alltoall, neighbor_alltoall, (out, 1, MPI_INT, in, 1, MPI_INT, ring), (out, 1, MPI_INT, in, 1, MPI_INT, ring), CHANGED);
    FORMS(Neighbor_alltoallv, neighbor_alltoallv, (out, ones, steps, MPI_INT, in, ones, steps, MPI_INT, ring),
          (out, ones_c, steps_c, MPI_INT, in, ones_c, steps_c, MPI_INT, ring), CHANGED);
    FORMS(Neighbor_alltoallw, neighbor_alltoallw, (out, ones, bytes_c, types, in, ones, bytes_c, types, ring),
          (out, ones_c, bytes_c, types, in, ones_c, bytes_c, types, ring), CHANGED);
    MPI_Comm_free(&ring);
}

/* The receive is there before the send, as MPI_Rsend asks. */
#define WITH_RECEIVE(receive, send) \
    do { \
        MPI_Request q; \
        before(); \
        MPI_##receive(in, 1, MPI_INT, left, 4, comm, &q); \
        MPI_Barrier(comm); \
        send; \
        MPI_Wait(&q, MPI_STATUS_IGNORE); \
        must(in[0] == 100 * left, #send); \
    } while (0)
#define SENDS(mode, lower) \
    do { \
        WITH_RECEIVE(Irecv, MPI_##mode(out, 1, MPI_INT, right, 4, comm)); \
        WITH_RECEIVE(Irecv_c, MPI_##mode##_c(out, 1, MPI_INT, right, 4, comm)); \
        WITH_RECEIVE(Irecv, (MPI_I##lower(out, 1, MPI_INT, right, 4, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE))); \
        WITH_RECEIVE(Irecv, (MPI_I##lower##_c(out, 1, MPI_INT, right, 4, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE))); \
        WITH_RECEIVE(Irecv, (MPI_##mode##_init(out, 1, MPI_INT, right, 4, comm, &request), MPI_Start(&request), \
                             MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request))); \
        WITH_RECEIVE(Irecv, (MPI_##mode##_init_c(out, 1, MPI_INT, right, 4, comm, &request), MPI_Start(&request), \
                             MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request))); \
    } while (0)

static void messages(void) {
    char buffer[4096];
    void *was;
    int length;
    MPI_Count length_c;
    SENDS(Send, send);
    SENDS(Ssend, ssend);
    SENDS(Rsend, rsend);
    /* A process has one buffer, a communicator another. */
    if (shares) {
        MPI_Comm_attach_buffer(comm, buffer, sizeof buffer);
        SENDS(Bsend, bsend);
        MPI_Comm_flush_buffer(comm), MPI_Comm_iflush_buffer(comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_detach_buffer(comm, &was, &length);
        MPI_Comm_attach_buffer_c(comm, buffer, sizeof buffer), MPI_Comm_detach_buffer_c(comm, &was, &length_c);
    } else {
        MPI_Buffer_attach(buffer, sizeof buffer);
        SENDS(Bsend, bsend);
        MPI_Buffer_flush();
        MPI_Buffer_detach(&was, &length);
        CHECK(was == buffer, "another buffer");
        MPI_Buffer_attach_c(buffer, sizeof buffer), MPI_Buffer_detach_c(&was, &length_c);
    }
    CHECK(was == buffer && length == sizeof buffer && length_c == sizeof buffer, "%d %ld", length, (long)length_c);
#define TO_RIGHT out, 1, MPI_INT, right, 4
#define FROM_LEFT in, 1, MPI_INT, left, 4
#define SENT (in[0] == 100 * left)
    NOW(Sendrecv, (TO_RIGHT, FROM_LEFT, comm, MPI_STATUS_IGNORE), SENT);
    NOW(Sendrecv_c, (TO_RIGHT, FROM_LEFT, comm, MPI_STATUS_IGNORE), SENT);
    LATER(sendrecv, (TO_RIGHT, FROM_LEFT, comm), SENT);
    LATER(sendrecv_c, (TO_RIGHT, FROM_LEFT, comm), SENT);
    NOW(Sendrecv_replace, (out, 1, MPI_INT, right, 4, left, 4, comm, MPI_STATUS_IGNORE), out[0] == 100 * left);
    NOW(Sendrecv_replace_c, (out, 1, MPI_INT, right, 4, left, 4, comm, MPI_STATUS_IGNORE), out[0] == 100 * left);
    LATER(sendrecv_replace, (out, 1, MPI_INT, right, 4, left, 4, comm), out[0] == 100 * left);
    LATER(sendrecv_replace_c, (out, 1, MPI_INT, right, 4, left, 4, comm), out[0] == 100 * left);
    for (int form = 0; form < 8; form++) {
        MPI_Request sent;
        MPI_Message message;
        int flag = 0;
        before();
        MPI_Isend(out, 1, MPI_INT, right, 5, comm, &sent);
        switch (form) {
        case 0: MPI_Recv(in, 1, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE); break;
        case 1: MPI_Recv_c(in, 1, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE); break;
        case 2: MPI_Recv_init(in, 1, MPI_INT, left, 5, comm, &request); break;
        case 3: MPI_Recv_init_c(in, 1, MPI_INT, left, 5, comm, &request); break;
        case 4: MPI_Mprobe(left, 5, comm, &message, MPI_STATUS_IGNORE), MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE); break;
        case 5: MPI_Mprobe(left, 5, comm, &message, MPI_STATUS_IGNORE), MPI_Mrecv_c(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE); break;
        default:
            while (!flag) MPI_Improbe(left, 5, comm, &flag, &message, MPI_STATUS_IGNORE);
            if (form == 6) MPI_Imrecv(in, 1, MPI_INT, &message, &request);
            else MPI_Imrecv_c(in, 1, MPI_INT, &message, &request);
        }
        if (form == 2 || form == 3) MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
        if (form > 5) MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        CHECK(in[0] == 100 * left, "form %d: %d", form, in[0]);
    }
}

static _Thread_local int heard;

static void hears(MPI_Comm *which, int *code, ...) {
    MPI_Error_class(*code, &heard);
    CHECK(*which == comm, "another communicator");
}

static void packing(void) {
    char box[64];
    int at = 0, room, got = 0;
    MPI_Count at_c = 0, room_c;
    MPI_Pack_size(1, MPI_INT, comm, &room), MPI_Pack_size_c(1, MPI_INT, comm, &room_c);
    CHECK(room >= 4 && room_c >= 4 && room <= 64, "%d", room);
    MPI_Pack(&n, 1, MPI_INT, box, sizeof box, &at, comm), at = 0, MPI_Unpack(box, sizeof box, &at, &got, 1, MPI_INT, comm);
    CHECK(got == n, "%d", got);
    MPI_Pack_c(&me, 1, MPI_INT, box, sizeof box, &at_c, comm), at_c = 0, MPI_Unpack_c(box, sizeof box, &at_c, &got, 1, MPI_INT, comm);
    CHECK(got == me, "%d", got);
}

static void objects(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, result, rank, range[1][3] = {{0, n - 1, 1}}, first = 0;
    MPI_Comm_set_name(comm, "a name"), MPI_Comm_get_name(comm, name, &length);
    CHECK(length == 6 && !strcmp(name, "a name"), "%s", name);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm, "numbers of handles");
    MPI_Info info;
    MPI_Info_create(&info), MPI_Comm_set_info(comm, info), MPI_Info_free(&info);
    MPI_Errhandler own, seen;
    MPI_Comm_create_errhandler(hears, &own), MPI_Comm_set_errhandler(comm, own), MPI_Errhandler_free(&own);
    CHECK(own == MPI_ERRHANDLER_NULL, "a freed handle");
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK(heard == MPI_ERR_OTHER, "class %d", heard);
    MPI_Send(&n, 1, MPI_INT, n, 0, comm);
    CHECK(heard == MPI_ERR_RANK, "class %d", heard);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL), MPI_Comm_get_errhandler(comm, &seen);
    CHECK(seen == MPI_ERRORS_ARE_FATAL, "handler");
    MPI_Group all, one, rest, again;
    MPI_Comm_group(comm, &all), MPI_Group_rank(all, &rank);
    CHECK(rank == me, "rank %d", rank);
    MPI_Group_incl(all, 1, &first, &one), MPI_Group_excl(all, 1, &first, &rest);
    MPI_Group_rank(rest, &rank);
    CHECK(rank == (me ? me - 1 : MPI_UNDEFINED), "rank %d", rank);
    MPI_Group_union(one, rest, &again), MPI_Group_compare(all, again, &result);
    CHECK(result == MPI_IDENT, "union %d", result);
    MPI_Group_free(&again);
    MPI_Group_difference(all, rest, &again), MPI_Group_compare(one, again, &result);
    CHECK(result == MPI_IDENT, "difference %d", result);
    MPI_Group_free(&again);
    MPI_Group_range_incl(all, 1, range, &again), MPI_Group_rank(again, &rank);
    CHECK(rank == me, "rank %d", rank);
    MPI_Group_free(&again);
    MPI_Group_range_excl(all, 1, range, &again), MPI_Group_size(again, &rank);
    CHECK(rank == 0, "%d", rank);
    MPI_Group_free(&one), MPI_Group_free(&rest), MPI_Group_free(&all);
    if (again != MPI_GROUP_EMPTY) MPI_Group_free(&again);
}

static _Thread_local int copies, deletes;

static int copies_it(MPI_Comm from, int key, void *extra, void *value, void *to, int *flag) {
    (void)from, (void)key;
    copies++, *(void **)to = (char *)value + 1, *flag = extra == &copies;
    return MPI_SUCCESS;
}

static int deletes_it(MPI_Comm from, int key, void *value, void *extra) {
    (void)from, (void)key, (void)value;
    deletes += extra == &copies;
    return MPI_SUCCESS;
}

/* The functions of MPI-1; a freed key lives as long as its values, and its number is given to no other key. */
static void attributes(void) {
    int key, was, other[32], flag;
    void *value;
    MPI_Comm dup;
    MPI_Keyval_create(copies_it, deletes_it, &key, &copies), was = key;
    MPI_Attr_put(comm, key, in), MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "key %d", key);
    for (int i = 0; i < 32; i++) {
        MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &other[i], NULL);
        CHECK(other[i] != was, "the number of a key in use");
    }
    MPI_Comm_dup(comm, &dup);
    MPI_Attr_get(dup, was, &value, &flag);
    CHECK(flag && value == (char *)in + 1 && copies == 1, "%d copies", copies);
    MPI_Comm_free(&dup);
    CHECK(deletes == 1, "%d deletes", deletes);
    MPI_Attr_delete(comm, was);
    CHECK(deletes == 2, "%d deletes", deletes);
    for (int i = 0; i < 32; i++) MPI_Keyval_free(&other[i]);
}

static void *everything(void *of) {
    comm = *(MPI_Comm *)of;
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &n);
    CHECK(n > 2 && n <= MOST, "%d ranks", n);
    left = (me + n - 1) % n, right = (me + 1) % n;
    for (int i = 0; i < n; i++)
        ones[i] = 1, ones_c[i] = 1, steps[i] = i, steps_c[i] = i, bytes[i] = 4 * i, bytes_c[i] = 4 * i, types[i] = MPI_INT;
    collectives();
    neighbors();
    messages();
    packing();
    objects();
    attributes();
    MPI_Comm_free(&comm);
    return NULL;
}

#ifdef MPIX_HAVE_ENDPOINTS
static void on_endpoints(int mine) {
    MPI_Comm each[10];
    pthread_t threads[10];
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, each);
    shares = 1;
    for (int i = 0; i < mine; i++) CHECK(pthread_create(&threads[i], NULL, everything, &each[i]) == 0, "a thread");
    for (int i = 0; i < mine; i++) pthread_join(threads[i], NULL);
}
#else
static void on_endpoints(int mine) { CHECK(0, "%d endpoints: there are none", mine); }
#endif

int main(int argc, char **argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank_ = rank;
    if (argc > 1) {
        on_endpoints(argv[1][rank % (int)strlen(argv[1])] - '0');
    } else {
        MPI_Comm world;
        MPI_Comm_dup(MPI_COMM_WORLD, &world);
        everything(&world);
    }
    return end();
}
